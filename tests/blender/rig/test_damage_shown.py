# SPDX-License-Identifier: GPL-3.0-or-later
"""Where a motion was damaged, as Set Up keeps it and the Dope Sheet shows it."""

import bpy
import pytest
from heft.blender_addon.damage import damage_of, damage_text, stretches
from heft.core.motion.damage import Repair
from heft.examples import mannequin, walk


def test_stretches_are_frames_that_follow_each_other():
    assert stretches([3.0, 4.0, 5.0, 9.0, 12.0, 13.0]) == [(3.0, 5.0), (9.0, 9.0), (12.0, 13.0)]
    assert stretches([]) == []
    assert stretches([7.0]) == [(7.0, 7.0)]


def test_what_is_only_a_guess_is_kept_apart():
    repairs = [
        Repair("flip", (3.0, 4.0, 9.0), ("shin.L",), "flips"),
        Repair("filled", (9.0, 10.0, 11.0), ("foot.L",), "flips", is_guess=True),
    ]
    text = damage_text(repairs)
    assert damage_of(text) == {"mended": [(3.0, 4.0)], "guessed": [(9.0, 11.0)]}
    assert damage_text([]) == ""
    assert damage_of("") == {}


@pytest.mark.usefixtures("heft_registered")
def test_set_up_keeps_where_a_bone_flips():
    bpy.context.scene.render.fps = 24
    rig = mannequin.make_mannequin(bpy.context)
    action = walk.key_walk(rig)
    bpy.context.view_layer.objects.active = rig
    assert bpy.ops.heft.set_up() == {"FINISHED"}
    assert rig.heft.found_damage == ""
    assert "The floor was found" in rig.heft.found_floor
    for frame, turn in ((49, None), (50, (0.0, 1.0, 0.0, 0.0)), (51, None)):
        bpy.context.scene.frame_set(frame)
        bone = rig.pose.bones["shin.L"]
        if turn is not None:
            bone.rotation_quaternion = turn
        bone.keyframe_insert("rotation_quaternion", frame=frame)
    assert rig.animation_data.action == action
    assert bpy.ops.heft.set_up() == {"FINISHED"}
    (first, last) = damage_of(rig.heft.found_damage)["mended"][0]
    assert first <= 50.0 <= last


@pytest.mark.usefixtures("heft_registered")
def test_levelling_is_a_switch_each():
    rig = mannequin.make_mannequin(bpy.context)
    walk.key_walk(rig)
    rig.location.z = 0.1
    bpy.context.view_layer.objects.active = rig
    bpy.context.view_layer.update()
    assert bpy.ops.heft.set_up() == {"FINISHED"}
    assert "found at 10.0 cm" in rig.heft.found_floor or "found at 10.1 cm" in rig.heft.found_floor
    rig.heft.level_height = rig.heft.level_tilt = rig.heft.level_drift = False
    assert bpy.ops.heft.set_up() == {"FINISHED"}
    assert rig.heft.found_floor == ""


@pytest.mark.usefixtures("heft_registered")
def test_facing_is_told_and_can_be_reversed():
    rig = mannequin.make_mannequin(bpy.context)
    walk.key_walk(rig)
    bpy.context.view_layer.objects.active = rig
    assert bpy.ops.heft.set_up() == {"FINISHED"}
    assert rig.heft.found_facing == "-Y"
    assert rig.heft.chosen_roles()["thigh.L"] == ("thigh.L",)
    rig.heft.facing = "REVERSED"
    assert bpy.ops.heft.set_up() == {"FINISHED"}
    assert rig.heft.found_facing == "Y"
    assert rig.heft.chosen_roles()["thigh.L"] == ("thigh.R",)
    assert not any(role.is_by_hand() for role in rig.heft.roles)
