# SPDX-License-Identifier: GPL-3.0-or-later
"""Actions keyed in steps: a swing of which every few frames are held, against the swing itself."""

from dataclasses import replace

import numpy as np
import pytest
from heft.core.motion import quaternions
from heft.core.motion.clip import LocalPoses, from_local, to_local
from heft.core.motion.prepare import prepare
from heft.core.motion.stepped import filled_in

from tests.core.motion.skeletons import still, waving, wooden, wooden_roles

FPS = 24.0


def held(clip, frames):
    """Every pose for so many frames."""
    sample = np.arange(len(clip.position)) // frames * frames
    return replace(clip, position=clip.position[sample], orientation=clip.orientation[sample])


def swinging(seconds=4.0):
    """An arm that swings by a radian once in two seconds."""
    clip = still(wooden(), round(seconds * FPS), FPS)
    local = to_local(clip)
    angle = np.cos(np.pi * np.arange(len(clip.position)) / FPS)
    arm = clip.skeleton.index("upper_arm.L")
    turn = local.orientation.copy()
    turn[:, arm] = quaternions.multiply(turn[:, arm], quaternions.exp(angle[:, None] * np.array([1.0, 0.0, 0.0])))
    return from_local(clip, LocalPoses(local.position, turn))


@pytest.mark.parametrize("frames", [2, 3, 4])
def test_what_is_keyed_on_twos_flows(frames):
    clip = swinging()
    found, line = filled_in(held(clip, frames))
    assert f"steps of about {frames} frames" in line
    hand = clip.skeleton.index("hand.L")
    places = [each.position[frames:-frames, hand] for each in (clip, held(clip, frames), found)]
    wiggles = [np.abs(np.diff(place, 2, axis=0)).max() for place in places]
    assert wiggles[2] < 0.5 * wiggles[1]
    late = 0.5 * (frames - 1) / FPS  # a pose is reached in the middle of the frames that hold it
    assert np.abs(places[2] - places[0]).max() < 1.2 * late * np.pi * 0.75


def test_poses_are_reached_in_the_middle_and_never_overshot():
    clip = held(swinging(), 3)
    found, _ = filled_in(clip)
    assert found.position[4:-3:3] == pytest.approx(clip.position[4:-3:3], abs=1e-9)
    arm = clip.skeleton.index("upper_arm.L")
    before, after, turn = (each.orientation[:, arm] for each in (clip, clip, found))
    step = quaternions.angle(before[4:-6:3], after[7:-3:3])
    for part in (5, 6):
        for pose in (before[4:-6:3], after[7:-3:3]):
            assert (quaternions.angle(pose, turn[part : part + 3 * len(step) : 3]) <= step + 1e-6).all()


def test_a_long_hold_is_held():
    clip = held(swinging(), 24)  # a second each
    found, _ = filled_in(clip)
    assert found.position[30:42] == pytest.approx(clip.position[30:42], abs=1e-9)
    ways = [np.diff(each.position[:, clip.skeleton.index("hand.L")], axis=0) for each in (clip, found)]
    leap, quickest = (np.linalg.norm(way, axis=1).max() for way in ways)
    assert 0.1 < quickest < 0.5 * leap


def test_what_flows_or_rests_stays_as_it_is():
    flowing = swinging()
    paused = replace(flowing, orientation=flowing.orientation.copy(), position=flowing.position.copy())
    paused.position[30:50], paused.orientation[30:50] = paused.position[30], paused.orientation[30]
    for clip in (flowing, paused, still(wooden(), 48, FPS), waving(wooden())):
        found, line = filled_in(clip)
        assert found is clip
        assert line == ""


def test_frames_that_are_missing_are_left_to_others():
    clip = held(swinging(), 2)
    clip.position[20] = np.nan
    assert filled_in(clip)[0] is clip


def test_the_report_says_so():
    performance = prepare(held(swinging(), 2), wooden_roles())
    assert any("keyed in steps of about 2 frames" in line for line in performance.lines)
