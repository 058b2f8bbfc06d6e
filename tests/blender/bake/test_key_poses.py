# SPDX-License-Identifier: GPL-3.0-or-later
"""Scenes of key poses, added and baked in Blender: nothing is optimised, hands hold on, the keys are kept."""

import json

import bpy
import numpy as np
import pytest
from heft.blender_addon import writer
from heft.blender_addon.baking.gather import gather
from heft.blender_addon.rig.reading import sample_armatures
from heft.examples import mannequin

HAND = mannequin.STATURE * mannequin.HAND_LENGTH


def wrists(rig, frames):
    """Places (nf, 2, 3) of the hands' bones in the world."""
    context = bpy.context
    (sampling,) = sample_armatures(context.scene, context.view_layer, [rig], np.asarray(frames, dtype=float))
    columns = [rig.data.bones.find(f"hand.{side}") for side in "LR"]
    return (sampling.object_matrix[:, None] @ sampling.pose)[:, columns][..., :3, 3]


def where_at(thing, frame):
    bpy.context.scene.frame_set(frame)
    return thing.matrix_world.translation.copy()


@pytest.fixture(params=["CHIN_UP", "SQUAT", "JUMP_TO_BAR", "PICK_UP_BOX"])
def keyed(heft_enabled, request):
    bpy.context.scene.cursor.location = (0.5, -1.0, 0.0)
    bpy.context.scene.frame_start = 5
    assert bpy.ops.heft.add_key_poses(scene=request.param) == {"FINISHED"}
    return request.param, bpy.context.active_object


def test_key_poses_are_baked_as_they_are(keyed):
    name, rig = keyed
    source = rig.animation_data.action
    before = wrists(rig, range(5, 102, 8))
    assert bpy.ops.heft.bake() == {"FINISHED"}
    report = json.loads(rig.heft.report)
    assert report["outcome"] == "completed", report["why"]
    assert "physics was not corrected" in report["reference"]
    assert rig.animation_data.action != source
    after = wrists(rig, range(5, 102, 8))
    if name == "CHIN_UP":
        assert np.abs(after - after[:1]).max() < 0.1  # wrists turn about what the hands hold
        assert report["max_foot_slide_m"] == 0.0, report["notes"]
        assert report["joint_rms_deg"] < 4.0
    elif name == "SQUAT":
        assert np.abs(after - before).max() < 0.05
        assert report["max_foot_slide_m"] < 0.003
    elif name == "JUMP_TO_BAR":
        assert rig.heft.replanning.transition == 0.5
        caught = round(1.24 * 24 / 8)  # of the frames that are looked at
        assert np.abs(after - before)[: caught + 1].max() < 0.15  # nothing pulls it there: it flies
        assert np.ptp(after[caught + 1 :], axis=0).max() < HAND  # wrists turn about what the hands hold
        assert after[-1, 0, 2] > after[0, 0, 2] + 1.0
    else:
        box = bpy.data.objects["Box"]
        heights = [where_at(box, frame).z for frame in (5, 43, 101)]
        np.testing.assert_allclose(heights[:2], 0.2, atol=0.02)
        assert heights[2] > 0.7
        assert report["max_foot_slide_m"] < 0.003


def heights(rig, frames):
    """Of the pelvis in the world."""
    context = bpy.context
    (sampling,) = sample_armatures(context.scene, context.view_layer, [rig], np.asarray(frames, dtype=float))
    return (sampling.object_matrix @ sampling.pose[:, rig.data.bones.find("pelvis")])[:, 2, 3]


def test_speed_keys_lie_beside_the_actions_and_warp_its_time(heft_enabled):
    """From the middle on at half its speed: what takes half of the action takes as long as all of it."""
    assert bpy.ops.heft.add_key_poses(scene="CHIN_UP") == {"FINISHED"}
    rig = bpy.context.active_object
    source = rig.animation_data.action
    first, last = source.frame_range
    middle = round(0.5 * (first + last))
    keyed = heights(rig, np.arange(first, last + 1))
    for frame, speed in ((middle, 1.0), (middle + 1, 0.5)):
        rig.heft.playback.speed = speed
        assert rig.heft.playback.keyframe_insert("speed", frame=frame)
    for frame, on in ((first, False), (middle, True)):
        rig.heft.playback.go_over = on
        assert rig.heft.playback.keyframe_insert("go_over", frame=frame)
    paths = {curve.data_path for curve in writer.only_bag(source).fcurves}
    assert {"heft.playback.speed", "heft.playback.go_over"} <= paths  # where the Dope Sheet shows them
    made = gather(bpy.context, [rig])[0]
    playback = made.job.playback
    assert playback.transitions == pytest.approx(((middle - first) / 24.0,))
    assert playback.speed[[0, middle - int(first), -1]] == pytest.approx([1.0, 1.0, 0.5])
    rig.heft.controller = "LOOKAHEAD"
    assert not gather(bpy.context, [rig])[0].job.playback.changes
    rig.heft.controller = "REPLANNING"

    assert bpy.ops.heft.bake() == {"FINISHED"}
    report = json.loads(rig.heft.report)
    assert report["outcome"] == "completed", report["why"]
    end = middle + 2.0 * (last - middle)
    assert rig.animation_data.action.frame_range[1] == pytest.approx(end, abs=2.0)
    baked = heights(rig, np.arange(first, round(end) + 1))
    played = [first + 24.0 * playback.shown(k / 24.0) for k in range(len(baked))]
    assert np.abs(baked - np.interp(played, np.arange(first, last + 1), keyed)).max() < 0.05


def test_key_poses_are_followed_as_they_are_unless_the_method_cannot(heft_enabled):
    bpy.ops.heft.add_key_poses(scene="SQUAT")
    rig = bpy.context.active_object
    assert rig.heft.controller == "REPLANNING"
    (made,) = gather(bpy.context, [rig])
    assert not made.job.optimise
    rig.heft.controller = "LOOKAHEAD"
    (made,) = gather(bpy.context, [rig])
    assert made.job.optimise  # which cannot do without
