# SPDX-License-Identifier: GPL-3.0-or-later
"""Several actions on one armature, gone to as the keys of one property say."""

import json

import bpy
import numpy as np
import pytest
from heft.blender_addon.baking.gather import gather
from heft.blender_addon.writer import assigned_curves
from heft.core.job import MotionChoice

from tests.blender.bake.test_bake import poses


@pytest.fixture
def stopping(rig):
    """The mannequin, whose other motion is to stand still."""
    walk, slot = rig.animation_data.action, rig.animation_data.action_slot
    standing = bpy.data.actions.new("Standing")
    rig.animation_data.action = standing
    for bone in rig.pose.bones:
        bone.matrix_basis.identity()
        for frame in (1, 25):
            bone.keyframe_insert("location", frame=frame)
            path = "rotation_quaternion" if bone.rotation_mode == "QUATERNION" else "rotation_euler"
            bone.keyframe_insert(path, frame=frame)
    rig.animation_data.action, rig.animation_data.action_slot = walk, slot
    rig.heft.controller, rig.heft.loop, rig.heft.loop_seconds = "BALANCE", True, 6.0
    assert bpy.ops.heft.add_action() == {"FINISHED"}
    rig.heft.others[0].action = standing
    for frame, motion in ((1, 0), (60, 1)):
        rig.heft.motion = motion
        rig.keyframe_insert("heft.motion", frame=frame)
    return rig


def test_keys_choose_among_actions(stopping):
    walk = stopping.animation_data.action
    assert "heft.motion" in {curve.data_path for curve in assigned_curves(stopping, walk)}
    (found,) = gather(bpy.context, [stopping])
    assert found.job.choices == (MotionChoice(0.0, 0), MotionChoice(59 / 24, 1))
    assert [len(clip.position) for clip in found.job.others] == [25]
    assert stopping.animation_data.action == walk
    assert bpy.ops.heft.bake() == {"FINISHED"}
    report = json.loads(stopping.heft.report)
    assert report["outcome"] == "completed", report["why"]
    assert any(line.startswith("From motion 0 to motion 1 in frames") for line in report["notes"])
    heads = poses(stopping, (1, 40, 120, 145))[:, 0, :3, 3]
    assert np.linalg.norm(heads[1] - heads[0]) > 1.0  # it walks
    assert np.linalg.norm(heads[3] - heads[2]) < 0.02  # and stands


def test_without_walking_on_or_another_method_there_is_one_motion(stopping):
    for name, value in (("loop", False), ("controller", "LOOKAHEAD")):
        before = getattr(stopping.heft, name)
        setattr(stopping.heft, name, value)
        (found,) = gather(bpy.context, [stopping])
        assert found.job.others == found.job.choices == ()
        setattr(stopping.heft, name, before)


def test_a_list_with_a_gap_would_shift_the_numbers_and_is_refused(stopping):
    assert bpy.ops.heft.add_action() == {"FINISHED"}
    with pytest.raises(ValueError, match="without an action among those"):
        gather(bpy.context, [stopping])
    assert bpy.ops.heft.remove_action(index=1) == {"FINISHED"}
    (found,) = gather(bpy.context, [stopping])
    assert len(found.job.others) == 1
