# SPDX-License-Identifier: GPL-3.0-or-later
"""Motion in place: told from motion that travels, and carried along at the speed of the standing foot."""

from dataclasses import replace
from math import cos, sin

import numpy as np
import pytest
from heft.core.motion.clip import Clip
from heft.core.motion.damage import repair
from heft.core.motion.travel import carry_along

from tests.core.job.beginners import clip as jumping
from tests.core.motion.skeletons import CMU_ROLES, GOOD, cmu, needs_clips, read_bvh, still, wooden, wooden_roles
from tests.core.motion.skeletons import CMU_UNIT as UNIT

RATE, PERIOD, STEP = 60.0, 1.0, 0.6  # Hz, s, s of a foot's stance
SPEED = 1.1  # m/s


def treadmill(heading=0.0, seconds=4.0, speed=SPEED):
    """The mannequin's hips stay; each foot glides back at one speed while it stands, and swings forward over an arc."""
    some = wooden()
    clip = still(some, round(seconds * RATE), RATE)
    position = clip.position.copy()
    time = np.arange(len(position)) / RATE
    forward = np.array([sin(heading), -cos(heading), 0.0])
    for side, offset in (("L", 0.0), ("R", 0.5 * PERIOD)):
        phase = ((time + offset) % PERIOD) / PERIOD
        stance = STEP / PERIOD
        along = np.where(phase < stance, 0.5 - phase / stance, -0.5 + (phase - stance) / (1.0 - stance)) * speed * STEP
        up = np.where(phase < stance, 0.0, 0.12 * np.sin(np.pi * (phase - stance) / (1.0 - stance)))
        for name, share in (("shin", 0.5), ("foot", 1.0), ("toe", 1.0)):
            bone = some.index(f"{name}.{side}")
            position[:, bone] += share * (along[:, None] * forward + up[:, None] * [0.0, 0.0, 1.0])
    return Clip(some, RATE, position, clip.orientation)


@pytest.mark.parametrize("heading", [0.0, 0.7, 3.0])
def test_the_speed_is_that_of_the_standing_foot(heading):
    carried = carry_along(treadmill(heading), wooden_roles())
    assert carried.speed == pytest.approx(SPEED, rel=0.02)
    seconds = (len(carried.way) - 1) / RATE
    assert carried.way[-1] == pytest.approx(SPEED * seconds * np.array([sin(heading), -cos(heading)]), abs=0.08)


def test_what_travels_is_left_alone():
    clip = treadmill()
    way = np.zeros((len(clip.position), 1, 3))
    way[:, 0, 1] = -SPEED * np.arange(len(clip.position)) / RATE
    assert carry_along(replace(clip, position=clip.position + way), wooden_roles()) is None
    assert carry_along(clip, wooden_roles(), "travelling") is None


def test_what_swings_to_and_fro_is_left_alone():
    """Hips that stay, and feet that glide back and forth under them."""
    clip = treadmill(seconds=8.0)
    there_and_back = np.abs(np.arange(len(clip.position)) - len(clip.position) // 2)
    back = replace(clip, position=clip.position[there_and_back], orientation=clip.orientation[there_and_back])
    assert carry_along(back, wooden_roles()) is None
    assert carry_along(back, wooden_roles(), "in_place") is not None


def test_what_stands_is_left_alone():
    assert carry_along(still(wooden(), 200), wooden_roles()) is None
    assert carry_along(treadmill(speed=0.1), wooden_roles()) is None


@needs_clips
@pytest.mark.parametrize("path", GOOD[::2], ids=lambda path: path.stem)
def test_captured_clips_travel_by_themselves(path):
    assert carry_along(repair(read_bvh(path, UNIT), CMU_ROLES)[0], CMU_ROLES) is None


@needs_clips
@pytest.mark.parametrize(
    ("name", "within"), [("02_01", 0.1), ("07_04", 0.1), ("16_18", 0.13), ("35_17", 0.15), ("09_02", 0.2)]
)
def test_a_captured_clip_put_in_place_is_carried_along_as_it_went(name, within):
    """`within` is of its velocity, m/s RMS; a captured foot slides some centimetres in every step by itself."""
    clip, _ = repair(cmu(name), CMU_ROLES)
    hips = clip.position[:, clip.skeleton.index("Hips"), :2]
    position = clip.position.copy()
    position[..., :2] -= hips[:, None]
    carried = carry_along(replace(clip, position=position), CMU_ROLES)
    off = np.gradient(carried.way - hips, axis=0) * clip.rate
    assert np.sqrt(np.mean(np.sum(off**2, axis=1))) < within
    assert carried.clip.orientation is clip.orientation


def test_who_jumps_on_the_spot_stays_there():
    """Feet that are drawn up and put down together glide a little, but take no steps."""
    assert carry_along(jumping("floaty jump"), wooden_roles()) is None
