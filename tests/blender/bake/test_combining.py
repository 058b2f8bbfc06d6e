# SPDX-License-Identifier: GPL-3.0-or-later
"""Two actions of one rig, combined by a keyed slider."""

import json

import bpy
import numpy as np
import pytest
from heft.blender_addon.baking.gather import gather
from heft.blender_addon.writer import assigned_curves

SLOWER = 1.15


@pytest.fixture
def slower(rig):
    """The walk in more time."""
    action = rig.animation_data.action.copy()
    action.name = "Walk Slower"
    for curve in assigned_curves(rig, action):
        for key in curve.keyframe_points:
            for point in (key.co, key.handle_left, key.handle_right):
                point.x = 1.0 + SLOWER * (point.x - 1.0)
    rig.heft.controller = "COMBINATION"
    return action


def test_a_walk_goes_from_one_action_to_the_other(rig, slower):
    assert bpy.ops.heft.add_action() == {"FINISHED"}
    rig.heft.others[0].action = slower
    rig.heft.loop, rig.heft.loop_seconds = True, 4.5
    for frame, place in ((1, 0.0), (36, 0.0), (49, 1.0)):
        rig.heft.slider = place
        rig.heft.keyframe_insert("slider", frame=frame)
    source = rig.animation_data.action
    job = gather(bpy.context, [rig])[0].job
    assert rig.animation_data.action == source
    assert (job.method, len(job.others), job.loop) == ("combination", 1, True)
    assert len(job.others[0].position) == round(1.0 + SLOWER * (len(job.clip.position) - 1))
    assert job.scene.slider.at(1.0) == 0.0
    assert 0.0 < job.scene.slider.at(1.7) < 1.0
    assert job.scene.slider.at(4.0) == 1.0
    assert bpy.ops.heft.bake() == {"FINISHED"}
    report = json.loads(rig.heft.report)
    assert (report["method"], report["outcome"]) == ("combination", "completed")
    baked = rig.animation_data.action
    assert baked != source
    curves = [c for c in assigned_curves(rig, baked) if c.data_path.endswith('thigh.L"].rotation_quaternion')]
    assert np.ptp([curves[1].evaluate(frame) for frame in range(80, 109)]) > 0.1  # it still walks


def test_there_must_be_something_to_combine(rig, slower):
    with pytest.raises(ValueError, match="has no other action to combine with Walk: add one in the Controller panel"):
        gather(bpy.context, [rig])
    rig.heft.others.add().action = rig.animation_data.action
    with pytest.raises(ValueError, match="Walk is the source"):
        gather(bpy.context, [rig])
    assert bpy.ops.heft.remove_action(index=0) == {"FINISHED"}
    assert len(rig.heft.others) == 0
    assert bpy.ops.heft.remove_action(index=0) == {"CANCELLED"}
