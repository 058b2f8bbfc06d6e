# SPDX-License-Identifier: GPL-3.0-or-later
"""Several armatures baked in one world: as alone where they do not touch, pushed aside where they do, one undo step."""

import json
import math

import bpy
import numpy as np
import pytest
from heft.blender_addon.baking.gather import gather
from heft.blender_addon.baking.joining import company_of

from tests.blender.bake.test_bake import poses

LAST = 60


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
    """Poses of each, baked alone; then all plays its source again."""
    bpy.context.scene.heft.together = False
    assert bpy.ops.heft.bake() == {"FINISHED"}
    found = [poses(rig, range(1, LAST + 1)) for rig in rigs]
    reports = [json.loads(rig.heft.report) for rig in rigs]
    for rig in rigs:
        rig.animation_data.action = rig.heft.source_action
        rig.animation_data.action_slot = rig.heft.source_action.slots[0]
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
    first, second = two
    second.location = (-0.45, -3.0, 0.0)
    second.rotation_euler.z = math.pi
    alone, _ = baked_alone(two)
    assert bpy.ops.heft.bake() == {"FINISHED"}
    for rig, before in zip(two, alone, strict=True):
        report = json.loads(rig.heft.report)
        assert report["outcome"] == "completed"
        assert any("Other characters touched it" in note for note in report["notes"])
        hips = rig.data.bones.find("hips")
        off = poses(rig, range(1, LAST + 1))[:, hips, :3, 3] - before[:, hips, :3, 3]
        assert np.abs(off[:10]).max() == 0.0  # nothing is foreseen
        assert np.linalg.norm(off, axis=1).max() > 0.02


def test_one_that_cannot_be_baked_does_not_keep_the_other_from_it(two):
    first, second = two
    second.heft.help = "NONE"
    second.heft.controller, second.heft.optimise = "LOOKAHEAD", True
    for bone in second.pose.bones:
        bone.bone.hide = False
    second.heft.frame_start = second.heft.frame_end = 1
    second.heft.frame_end = 2
    assert bpy.ops.heft.bake() == {"FINISHED"}
    assert json.loads(first.heft.report)["outcome"] == "completed"


def test_a_grab_of_the_other_character_is_a_hold(two):
    """The held body is the one nearest to the hand; baked alone, the place is held."""
    first, second = two
    bpy.context.view_layer.objects.active = first
    bpy.context.scene.frame_set(5)
    bpy.ops.heft.set_up()
    first.data.bones.active = first.data.bones["hand.L"]
    assert bpy.ops.heft.add_grab(duration=20) == {"FINISHED"}
    empty = next(o for o in bpy.data.objects if o.type == "EMPTY")
    assert empty.heft.grab.target == second
    found = gather(bpy.context, two, together=True)
    company = company_of([(rig.session_uid, one) for rig, one in zip(two, found, strict=True)])
    (hold,) = company.holds
    assert (hold.member, hold.other) == (0, 1)
    assert hold.grab.body == "left_hand"
    assert hold.body in {"left_hand", "right_hand"}
    assert hold.grab.start == pytest.approx(4 / 24)
    assert not company.jobs[0].scene.grabs
    alone = gather(bpy.context, two)
    assert len(alone[0].job.scene.grabs) == 1
