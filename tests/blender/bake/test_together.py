# SPDX-License-Identifier: GPL-3.0-or-later
"""Several armatures baked in one world: as alone where they do not touch, pushed aside where they do, one undo step."""

import json
import math

import bpy
import numpy as np
import pytest
from heft.blender_addon.baking.gather import gather
from heft.blender_addon.baking.joining import company_of
from heft.blender_addon.writer import assigned_curves

from tests.blender.bake.test_bake import poses

LAST = 45


@pytest.fixture
def two(heft_enabled):
    """Two mannequins that walk one way, two metres apart, both selected; the second is active."""
    bpy.context.scene.render.fps = 24
    found = []
    for aside in (0.0, 2.0):
        bpy.ops.heft.add_mannequin()
        rig = bpy.context.active_object
        rig.location.x = aside
        rig.heft.use_frame_range, rig.heft.frame_start, rig.heft.frame_end = True, 1, LAST
        found.append(rig)
    for rig in found:
        rig.select_set(True)
    return found


def baked_alone(rigs):
    """Poses of each, baked alone, and their reports."""
    bpy.context.scene.heft.together = False
    assert bpy.ops.heft.bake() == {"FINISHED"}
    found = [poses(rig, range(1, LAST + 1)) for rig in rigs]
    reports = [json.loads(rig.heft.report) for rig in rigs]
    bpy.context.scene.heft.together = True
    return found, reports


def test_two_who_do_not_touch_are_baked_as_alone(two):
    assert bpy.context.scene.heft.together
    alone, reports = baked_alone(two)
    assert bpy.ops.heft.bake() == {"FINISHED"}
    for rig, before, report in zip(two, alone, reports, strict=True):
        np.testing.assert_array_equal(poses(rig, range(1, LAST + 1)), before)
        again = json.loads(rig.heft.report)
        assert again["outcome"] == "completed"
        assert again["why"] == report["why"]
        assert again["notes"] == report["notes"]


def test_two_who_walk_into_one_another_push_each_other_aside(two):
    _, second = two
    second.location = (-0.45, -2.0, 0.0)
    second.rotation_euler.z = math.pi
    for rig in two:
        rig.heft.recovery = False
    alone, _ = baked_alone(two)
    assert bpy.ops.heft.bake() == {"FINISHED"}
    for rig, before in zip(two, alone, strict=True):
        report = json.loads(rig.heft.report)
        assert any("Other characters touched it" in note for note in report["notes"])
        hips = rig.data.bones.find("pelvis")
        off = poses(rig, range(1, LAST + 1))[:, hips, :3, 3] - before[:, hips, :3, 3]
        assert np.abs(off[:10]).max() < 1e-6  # nothing is foreseen; keys are of single precision
        assert np.linalg.norm(off, axis=1).max() > 0.02


def test_one_that_cannot_be_baked_does_not_keep_the_other_from_it(two):
    first, second = two
    second.heft.help = "NONE"
    for frame, height in ((1, 0.0), (10, 3.0)):
        second.location.z = height
        second.keyframe_insert("location", frame=frame)
    with pytest.raises(RuntimeError, match="No physically correct motion"):
        bpy.ops.heft.bake()
    assert json.loads(first.heft.report)["outcome"] == "completed"
    assert first.animation_data.action.name == "Walk Simulated"
    assert json.loads(second.heft.report)["outcome"] == "failed"
    assert second.animation_data.action.name == "Walk.001"


def test_a_grab_of_the_other_character_is_a_hold(two):
    """The held body is the one nearest to the hand; baked alone, the place is held."""
    first, second = two
    bpy.context.view_layer.objects.active = first
    bpy.context.scene.frame_set(5)
    bpy.ops.heft.set_up()
    hands = [rig.matrix_world @ rig.pose.bones[f"hand.{side}"].tail for rig, side in zip(two, "LR", strict=True)]
    second.location += hands[0] - hands[1]
    bpy.context.view_layer.update()
    first.data.bones.active = first.data.bones["hand.L"]
    assert bpy.ops.heft.add_grab(duration=20) == {"FINISHED"}
    empty = next(o for o in bpy.data.objects if o.type == "EMPTY")
    assert empty.heft.grab.target == second
    found = gather(bpy.context, two, together=True)
    company = company_of([(rig.session_uid, one) for rig, one in zip(two, found, strict=True)])
    (hold,) = company.holds
    assert (hold.member, hold.other) == (0, 1)
    assert hold.grab.body == "left_hand"
    assert hold.body == "right_hand"
    assert hold.grab.start == pytest.approx(4 / 24)
    assert not company.jobs[0].scene.grabs
    alone = gather(bpy.context, two)
    assert len(alone[0].job.scene.grabs) == 1


def test_a_prop_of_both_is_simulated_once(two):
    """A ball in both characters' collection falls once, and is keyed once."""
    bpy.ops.mesh.primitive_uv_sphere_add(radius=0.1, location=(5.0, 0.0, 1.0))
    ball = bpy.context.active_object
    things = bpy.data.collections.new("Things")
    things.objects.link(ball)
    for rig in two:
        rig.heft.props = things
        rig.heft.frame_end = 8
        rig.select_set(True)
    bpy.context.view_layer.objects.active = two[1]
    bpy.ops.rigidbody.world_add()
    with bpy.context.temp_override(object=ball, active_object=ball):
        bpy.ops.rigidbody.object_add(type="ACTIVE")
    ball.rigid_body.collision_shape = "SPHERE"
    assert bpy.ops.heft.bake() == {"FINISHED"}
    assert ball.animation_data.action.name == f"{ball.name} Simulated"
    curves = assigned_curves(ball, ball.animation_data.action)
    (height,) = [curve for curve in curves if (curve.data_path, curve.array_index) == ("location", 2)]
    fallen = height.evaluate(1) - height.evaluate(8)
    assert fallen == pytest.approx(0.5 * 9.81 * (7 / 24) ** 2, rel=0.05)
    assert len([action for action in bpy.data.actions if action.name.startswith(ball.name)]) == 1
