# SPDX-License-Identifier: GPL-3.0-or-later
"""Damage: made on purpose and found again; real clips repaired or refused by the frames that are broken."""

import dataclasses

import numpy as np
import pytest
from heft.core.motion import quaternions
from heft.core.motion.bvh import read_bvh
from heft.core.motion.clip import LocalPoses, from_local, to_local
from heft.core.motion.damage import DamagedClip, repair

from tests.core.motion.skeletons import (
    CMU_ROLES,
    CMU_UNIT,
    DAMAGED,
    GOOD,
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


def test_a_limb_that_turns_over_and_stays_is_refused_by_frame_and_bone(clean):
    broken = turned(clean, "foot.R", slice(60, None), [0, 0, 1], np.pi)
    with pytest.raises(DamagedClip, match=r"In frame 61 bone 'foot\.R' flips over"):
        repair(broken, wooden_roles())


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


def test_missing_samples_are_filled_and_long_gaps_refused(clean):
    place = clean.position.copy()
    place[30:33, 5] = np.nan
    clip, repairs = repair(dataclasses.replace(clean, position=place), wooden_roles())
    name = clean.skeleton.names[5]
    assert [(one.kind, one.frames, one.bones) for one in repairs] == [("missing", (31.0, 32.0, 33.0), (name,))]
    assert farthest(clip, clean) < 1.5
    place[30:60, 5] = np.nan
    with pytest.raises(DamagedClip, match=f"In frame 31 bone '{name}' is missing up to frame 60"):
        repair(dataclasses.replace(clean, position=place))
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
def test_cmu_138_05_is_refused_for_its_feet():
    clip = read_bvh(next(DAMAGED.glob("138_05*")), CMU_UNIT)
    with pytest.raises(DamagedClip) as refusal:
        repair(clip, CMU_ROLES)
    text = str(refusal.value)
    assert "'LeftFoot' (frames 30-34, 71-76, 177-180, 218-222, 320-323, 358-363)" in text
    assert "'RightFoot' (frames 106-110, 131-136, 249-253, 276-285)" in text
    assert "\n" not in text


@needs_clips
@pytest.mark.parametrize("path", GOOD, ids=lambda path: path.stem)
def test_good_cmu_clips_lose_their_first_pose_and_are_not_refused(path):
    clip, repairs = repair(read_bvh(path, CMU_UNIT), CMU_ROLES)
    assert clip.first_frame == 2.0
    core = [one for one in repairs if one.kind not in {"noise", "first pose"}]
    if not path.name.startswith(("05_11", "43_02")):  # whose core joints flip, as the index of the clips says
        assert core == []
