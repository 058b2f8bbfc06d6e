# SPDX-License-Identifier: GPL-3.0-or-later
"""Damage: made on purpose and found again; real clips mended in the frames that are broken, and nowhere else."""

import dataclasses
from dataclasses import replace

import numpy as np
import pytest
from heft.core.motion import quaternions
from heft.core.motion.bvh import read_bvh
from heft.core.motion.clip import LocalPoses, from_local, to_local
from heft.core.motion.damage import DamagedClip, repair
from scipy.ndimage import maximum_filter1d

from tests.core.motion.skeletons import (
    CMU_ROLES,
    CMU_UNIT,
    DAMAGED,
    GOOD,
    HARD,
    needs_clips,
    still,
    waving,
    wooden,
    wooden_roles,
)


@pytest.fixture(scope="module")
def clean():
    clip = waving(wooden())
    return dataclasses.replace(clip, first_frame=1.0)


def turned(clip, bone, frames, axis, angle):
    """The clip with a bone turned in its parent in samples `frames`."""
    local = to_local(clip)
    turn = local.orientation.copy()
    index = clip.skeleton.index(bone)
    turn[frames, index] = quaternions.multiply(turn[frames, index], quaternions.exp(angle * np.array(axis)))
    return from_local(clip, LocalPoses(local.position, turn))


def farthest(a, b):
    return np.degrees(quaternions.angle(a.orientation, b.orientation).max())


def test_a_clean_clip_comes_back_untouched(clean):
    clip, repairs = repair(clean, wooden_roles())
    assert clip is clean
    assert repairs == []


def test_fast_keyframed_motion_at_24_frames_per_second_is_no_damage():
    clip = waving(wooden(), frames=48, rate=24.0, size=0.8)
    assert repair(clip, wooden_roles())[1] == []


def test_a_flip_of_one_frame_is_interpolated_and_named(clean):
    broken = turned(clean, "shin.L", [40], [1, 0, 0], np.pi)
    clip, repairs = repair(broken, wooden_roles())
    assert [(one.kind, one.frames, one.bones) for one in repairs] == [("flip", (41.0,), ("shin.L",))]
    assert "frame 41" in repairs[0].text
    assert farthest(clip, clean) < 0.5
    assert clip.position == pytest.approx(clean.position, abs=2e-3)


def test_a_spike_of_the_root_is_interpolated(clean):
    local = to_local(clean)
    place = local.position.copy()
    place[70, 0] += [0.0, 0.5, 0.0]
    clip, repairs = repair(from_local(clean, LocalPoses(place, local.orientation)))
    assert [(one.kind, one.frames) for one in repairs] == [("root spike", (71.0,))]
    assert np.abs(clip.position - clean.position).max() < 0.005


@pytest.mark.parametrize("rate", [24.0, 30.0, 120.0])
def test_what_runs_at_the_ends_of_its_clip_does_not_jump(rate):
    clip = still(wooden(), round(1.5 * rate), rate)
    way = 6.0 * np.arange(len(clip.position))[:, None, None] / rate * np.array([0.6, -0.8, 0.0])
    running = replace(clip, position=clip.position + way)
    assert repair(running, wooden_roles())[1] == []
    place = running.position.copy()
    place[0] += [0.0, 0.0, 0.5]
    mended, repairs = repair(replace(running, position=place), wooden_roles())
    assert [(one.kind, one.frames) for one in repairs] == [("root spike", (0.0,))]
    assert np.abs(mended.position[1:] - running.position[1:]).max() < 1e-9


@pytest.mark.parametrize("rate", [24.0, 30.0])
def test_a_quick_hop_keeps_its_top(rate):
    clip = still(wooden(), round(rate), rate)
    time = np.arange(len(clip.position)) / rate
    way = 0.49 * np.maximum(1.0 - (np.abs(time - 0.5) / 0.12) ** 2, 0.0)
    hop = replace(clip, position=clip.position + way[:, None, None] * np.array([0.0, 0.0, 1.0]))
    mended, repairs = repair(hop, wooden_roles())
    assert repairs == []
    assert np.array_equal(mended.position, hop.position)


def test_frames_far_apart_are_named_one_by_one(clean):
    broken = turned(turned(clean, "shin.L", [20], [1, 0, 0], np.pi), "shin.L", [90], [1, 0, 0], np.pi)
    assert "frames 21, 91: bone 'shin.L'" in repair(broken, wooden_roles())[1][0].text


def test_what_is_only_a_guess_says_so(clean):
    position = clean.position.copy()
    position[40:70] = np.nan
    repairs = repair(replace(clean, position=position), wooden_roles())[1]
    assert [one.is_guess for one in repairs] == [True]
    assert not any(one.is_guess for one in repair(turned(clean, "shin.L", [40], [1, 0, 0], np.pi), wooden_roles())[1])


@pytest.mark.parametrize("bone", ["foot.R", "thigh.L", "shin.R", "upper_arm.L"])
@pytest.mark.parametrize("axis", [[0, 0, 1], [0, 1, 0], [0.6, 0.8, 0]])
def test_a_limb_that_turns_over_and_stays_is_turned_back(clean, bone, axis):
    clip, repairs = repair(turned(clean, bone, slice(70, None), axis, np.pi), wooden_roles())
    assert [(one.kind, one.frames[0], one.frames[-1], one.bones) for one in repairs] == [
        ("turned back", 71.0, 120.0, (bone,))
    ]
    assert repairs[0].degrees == pytest.approx(180.0, abs=3.0)
    assert farthest(clip, clean) < 3.0  # by as much as it moves within the frame of the turn


def test_a_limb_that_turns_over_for_a_while_and_in_some_frames_is_turned_back(clean):
    broken = clean
    for sample, angle in zip(range(30, 34), (0.8, 1.6, 2.4, np.pi), strict=True):
        broken = turned(broken, "thigh.L", [sample], [0, 0, 1], angle)
    broken = turned(broken, "thigh.L", slice(34, 90), [0, 0, 1], np.pi)
    clip, repairs = repair(broken, wooden_roles())
    assert {one.kind for one in repairs} <= {"turned back", "filled"}
    assert farthest(clip, clean) < 6.0


def test_what_turns_over_to_and_fro_is_filled_in_and_told(clean):
    broken = turned(clean, "foot.L", [40, 41, 44, 45], [0, 0, 1], np.pi)
    broken = turned(broken, "foot.L", [42, 43, 46, 47], [1, 0, 0], np.pi)
    clip, repairs = repair(broken, wooden_roles())
    assert {bone for one in repairs for bone in one.bones} == {"foot.L"}
    assert all(41.0 <= frame <= 49.0 for one in repairs for frame in one.frames)
    assert farthest(clip, clean) < 6.0


@pytest.mark.parametrize("rate", [24.0, 60.0, 120.0])
@pytest.mark.parametrize("bone", ["thigh.L", "shin.R", "pelvis", "upper_arm.R"])
def test_moves_at_25_rad_per_second_are_left_alone(bone, rate):
    """A kick there and back over 115 degrees, a spin of two rounds."""
    time = np.arange(int(2.0 * rate)) / rate
    kick = np.clip(1.0 - np.cos(25.0 * (time - 0.5)), 0.0, None) * ((time > 0.5) & (time < 0.5 + 2.0 * np.pi / 25.0))
    spin = 25.0 * np.clip(time - 1.0, 0.0, 4.0 * np.pi / 25.0)
    some = wooden()
    for angle, axis in ((kick, [1.0, 0.0, 0.0]), (spin, [0.0, 0.0, 1.0])):
        clip = still(some, len(time), rate)
        for sample in range(len(time)):
            clip = turned(clip, bone, [sample], axis, float(angle[sample]))
        assert repair(clip, wooden_roles())[0] is clip


def test_a_hand_that_turns_over_and_stays_is_smoothed_over(clean):
    broken = turned(clean, "hand.R", slice(60, None), [0, 0, 1], 2.5)
    clip, repairs = repair(broken, wooden_roles())
    assert [(one.kind, one.frames, one.bones) for one in repairs] == [("noise", (61.0,), ("hand.R",))]
    hand = clip.skeleton.index("hand.R")
    assert np.degrees(quaternions.angle(clip.orientation[1:, hand], clip.orientation[:-1, hand])).max() < 25.0


def test_a_pose_inserted_before_the_motion_is_left_out(clean):
    arms_out = turned(
        turned(still(clean.skeleton, 1), "upper_arm.L", [0], [0, 1, 0], 1.0), "spine", [0], [1, 0, 0], 0.2
    )
    broken = dataclasses.replace(
        clean,
        position=np.concatenate([arms_out.position, clean.position[40:]]),
        orientation=np.concatenate([arms_out.orientation, clean.orientation[40:]]),
    )
    clip, repairs = repair(broken, wooden_roles())
    assert len(clip.position) == 80
    assert clip.first_frame == 2.0
    assert [(one.kind, one.frames) for one in repairs] == [("first pose", (1.0,))]


def test_a_frame_of_zeros_is_interpolated(clean):
    some = clean.skeleton
    place, turn = clean.position.copy(), clean.orientation.copy()
    turn[90] = some.orientation
    place[90] = some.head - some.head[0]
    clip, repairs = repair(dataclasses.replace(clean, position=place, orientation=turn), wooden_roles())
    assert [(one.kind, one.frames) for one in repairs] == [("zero pose", (91.0,))]
    assert farthest(clip, clean) < 0.5


def test_missing_samples_are_filled_and_long_gaps_told(clean):
    place = clean.position.copy()
    place[30:33, 5] = np.nan
    clip, repairs = repair(dataclasses.replace(clean, position=place), wooden_roles())
    name = clean.skeleton.names[5]
    assert [(one.kind, one.frames, one.bones) for one in repairs] == [("missing", (31.0, 32.0, 33.0), (name,))]
    assert farthest(clip, clean) < 1.5
    place[30:60, 5] = np.nan
    clip, repairs = repair(dataclasses.replace(clean, position=place))
    assert np.isfinite(clip.position).all()
    assert "filled in over 0.2 s, which is only a guess" in repairs[0].text
    with pytest.raises(DamagedClip, match="No frame of the clip is complete"):
        repair(dataclasses.replace(clean, position=np.full_like(place, np.nan)))


@needs_clips
def test_cmu_07_12_loses_its_first_pose_and_its_frame_of_zeros():
    clip, repairs = repair(read_bvh(next(DAMAGED.glob("07_12*")), CMU_UNIT), CMU_ROLES)
    assert {one.kind: one.frames for one in repairs if one.kind != "noise"} == {
        "zero pose": (2.0,),
        "first pose": (1.0,),
    }
    assert clip.first_frame == 3.0
    assert clip.position[:, 0, 2].min() > 0.8


@needs_clips
def test_cmu_138_05_has_its_feet_turned_back():
    clip, repairs = repair(read_bvh(next(DAMAGED.glob("138_05*")), CMU_UNIT), CMU_ROLES)
    core = [one for one in repairs if one.kind not in {"noise", "first pose"}]
    assert {one.kind for one in core} == {"turned back", "filled"}
    assert {bone for one in core for bone in one.bones} == {"LeftFoot", "RightFoot"}
    assert all(170.0 < one.degrees <= 180.0 for one in core)
    for foot in ("LeftFoot", "RightFoot"):
        turn = to_local(clip).orientation[:, clip.skeleton.index(foot)]
        assert np.degrees(quaternions.angle(turn[1:], turn[:-1])).max() < 12.0


@needs_clips
@pytest.mark.parametrize("path", HARD, ids=lambda path: path.stem)
def test_hard_cmu_clips_are_changed_only_where_they_are_not_smooth(path):
    """Where a bone moves at less than 10 rad/s for an eighth of a second around, and does not stay turned over."""
    whole = read_bvh(path, CMU_UNIT)
    clip, repairs = repair(whole, CMU_ROLES)
    start = round(clip.first_frame - whole.first_frame)
    file = whole.cut(start, start + len(clip.position))
    before, after = to_local(file).orientation, to_local(clip).orientation
    step = np.zeros(before.shape[:2])
    step[1:] = quaternions.angle(before[1:], before[:-1]) * clip.rate
    rough = maximum_filter1d(step, 31, axis=0) > 10.0
    for one in repairs:
        if one.kind in {"turned back", "filled"}:
            frames = np.round(np.array(one.frames) - clip.first_frame).astype(int)
            rough[frames, clip.skeleton.index(one.bones[0])] = True
    away = np.degrees(quaternions.angle(after, before))
    assert away[~rough].max() < 2.0


@needs_clips
@pytest.mark.parametrize("path", GOOD, ids=lambda path: path.stem)
def test_good_cmu_clips_lose_their_first_pose_and_are_not_refused(path):
    clip, repairs = repair(read_bvh(path, CMU_UNIT), CMU_ROLES)
    assert clip.first_frame == 2.0
    core = [one for one in repairs if one.kind not in {"noise", "first pose"}]
    if not path.name.startswith(("05_11", "43_02")):  # whose core joints flip, as the index of the clips says
        assert core == []
