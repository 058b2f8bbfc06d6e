# SPDX-License-Identifier: GPL-3.0-or-later
"""Bakes onto the controls of rigs of no known family, and of Rigify's animals: a kind of constraint each, and layouts.

What stands in for the physics is the keyed motion with the character's joints turned smoothly by five degrees.
"""

import json

import bpy
import heft
import numpy as np
import pytest
from heft.blender_addon.baking.gather import gather
from heft.blender_addon.baking.keyed_motion import motion_of
from heft.blender_addon.baking.output import write
from heft.blender_addon.controls.mapping import map_for, mapping
from heft.blender_addon.rig.reading import rotations_of, sample_armatures
from heft.blender_addon.slices import whole
from heft.blender_addon.writer import assigned_curves
from heft.core.motion import quaternions

from tests.blender.bake.keyed import disturbed
from tests.blender.rig import control_rigs, rigs

LAST = 24
MECHANISMS = ("MCH", "mch", "nostr", "pole", "POLE", "roll", "DEF", "mixamorig", "_stretch")


@pytest.fixture(autouse=True)
def empty():
    bpy.ops.wm.read_factory_settings(use_empty=True)
    heft.register()
    yield
    heft.unregister()
    bpy.ops.wm.read_factory_settings(use_empty=True)


def key(bone, frame, part, value):
    setattr(bone, part, value)
    bone.keyframe_insert(part, frame=frame)


def animate(rig, seed=2):
    """Key what an animator would: FK controls turn, hands and feet on IK go inwards and up, the body sinks."""
    rng = np.random.default_rng(seed)
    for frame in (1, 9, 17, LAST):
        for bone in rig.pose.bones:
            name = bone.name.lower()
            if any(part in bone.name for part in MECHANISMS) or bone.constraints or bone.parent is None:
                continue
            local = np.array(bone.bone.matrix_local.to_3x3().inverted())
            on_root = bone.parent.parent is None
            if on_root and ("hand" in name or "foot" in name):
                inwards = -np.sign(bone.bone.head_local.x) * 0.15
                up = [inwards, -0.15, 0.0] if "hand" in name else [0.0, 0.0, 0.12]
                key(bone, frame, "location", local @ (np.array(up) + rng.normal(scale=0.03, size=3)))
            elif on_root:
                key(bone, frame, "location", local @ (rng.normal(scale=0.03, size=3) - [0.0, 0.0, 0.08]))
            elif bone.rotation_mode == "QUATERNION":
                key(bone, frame, "rotation_quaternion", [1.0, *rng.normal(scale=0.05, size=3)])
            else:
                key(bone, frame, "rotation_euler", rng.normal(scale=0.05, size=3))
    return rig.animation_data.action


def poses(rig):
    frames = np.arange(1.0, LAST + 1)
    (found,) = sample_armatures(bpy.context.scene, bpy.context.view_layer, [rig], frames)
    return found.pose


def bake(rig):
    """Bake; return the worst distance of bones that have roles, in millimetres and degrees, and what is told."""
    bpy.context.view_layer.objects.active = rig
    rig.select_set(True)
    rig.heft.output = "CONTROLS"
    (found,) = gather(bpy.context, [rig])
    result = disturbed(found.job)
    asked = motion_of(rig, found, result, None).pose
    write(bpy.context, rig, found, result)
    names = [bone.name for bone in rig.data.bones]
    columns = [names.index(name) for bones in rig.heft.chosen_roles().values() for name in bones]
    there, asked = (pose[:, columns] for pose in (poses(rig), asked))
    before = found.sampling.pose[:, columns]
    assert np.abs(asked - before)[..., :3, 3].max() > 0.03
    away = np.linalg.norm(there[..., :3, 3] - asked[..., :3, 3], axis=-1)
    turns = [quaternions.from_matrix(rotations_of(pose[..., :3, :3])) for pose in (there, asked)]
    return 1e3 * away.max(), np.degrees(quaternions.angle(*turns).max()), json.loads(rig.heft.report)["notes"]


def keyed(action, rig):
    rig.animation_data.action = action
    return {curve.data_path.split('"')[1] for curve in assigned_curves(rig, action) if '"' in curve.data_path}


@pytest.mark.parametrize("kind", control_rigs.KINDS)
def test_deforming_bones_follow_whatever_constrains_them(kind):
    rig = control_rigs.constrained(kind, seed=control_rigs.KINDS.index(kind))
    animate(rig)
    millimetres, degrees, notes = bake(rig)
    assert (millimetres < 1.0, degrees < 0.5, notes) == (True, True, [])


@pytest.mark.parametrize("switch", [0.0, 1.0])
@pytest.mark.parametrize("make", [control_rigs.auto_rig_pro_like, control_rigs.mixamo_control_rig_like])
def test_three_chains_and_a_switch_as_the_animator_left_it(make, switch):
    rig = make()
    for bone in rig.pose.bones:
        if "ik_fk_switch" in bone:
            bone["ik_fk_switch"] = switch
    source = animate(rig)
    millimetres, degrees, notes = bake(rig)
    assert (millimetres < 1.0, degrees < 0.51, len(notes) < 2) == (True, True, True)
    added = keyed(rig.animation_data.action, rig) - keyed(source, rig)
    assert not any(name.startswith("mixamorig") or name.endswith("_stretch") for name in added)


def test_a_hand_made_rig_is_moved_by_what_an_animator_takes_hold_of():
    rig = control_rigs.hand_made()
    source = animate(rig)
    bpy.context.view_layer.objects.active = rig
    bpy.ops.heft.set_up()
    drives = {drive.bone: (drive.control, drive.does) for drive in reversed(map_for(rig).drives()) if not drive.after}
    assert drives["hips"] == ("COG", "PLACE")
    assert drives["foot.L"] == ("foot_ctrl.L", "PLACE")
    assert drives["hand.R"] == ("hand_ctrl.R", "PLACE")
    assert drives["toe.L"] == ("toe_ctrl.L", "TURN")
    assert drives["shin.L"] == ("knee_pole.L", "POLE")
    assert drives["chest"] == ("chest", "TURN")
    millimetres, degrees, notes = bake(rig)
    assert (millimetres < 1.0, degrees < 0.5, notes) == (True, True, [])
    touched = keyed(rig.animation_data.action, rig) - keyed(source, rig)
    assert not any("roll" in name or "root" in name for name in touched), touched


def test_controls_are_tried_bit_by_bit_and_again_on_another_copy_if_the_first_is_gone():
    rig = control_rigs.hand_made()
    animate(rig)
    bpy.context.view_layer.objects.active = rig
    bpy.ops.heft.set_up()
    expected, before = map_for(rig), len(bpy.data.objects)
    steps = mapping(rig)
    fractions = [next(steps) for _ in range(10)]
    assert 0.0 == fractions[0] < fractions[-1] < 0.5
    bpy.data.scenes.remove(bpy.data.scenes["Heft Controls"])  # as an undo does
    assert whole(steps) == expected
    assert (len(bpy.data.objects), len(bpy.data.scenes)) == (before, 1)


def test_a_rig_that_is_deleted_while_it_is_tried_is_told():
    rig = control_rigs.hand_made()
    animate(rig)
    bpy.context.view_layer.objects.active = rig
    bpy.ops.heft.set_up()
    steps = mapping(rig)
    next(steps)
    bpy.data.scenes.remove(bpy.data.scenes["Heft Controls"])
    bpy.data.objects.remove(rig)
    with pytest.raises(ValueError, match="deleted"):
        whole(steps)


def test_what_a_limit_keeps_from_its_place_is_told():
    rig = control_rigs.constrained("COPY_TRANSFORMS")
    animate(rig)
    limit = rig.pose.bones["CTRL-forearm.L"].constraints.new("LIMIT_ROTATION")
    limit.use_limit_x = limit.use_limit_y = limit.use_limit_z = True
    limit.owner_space = "LOCAL"
    _, degrees, notes = bake(rig)
    assert degrees > 0.5
    assert any("its controls do not reach further" in note for note in notes)


@pytest.mark.parametrize("kind", ["cat", "wolf"])
def test_rigifys_animals(tmp_path, kind):
    path = tmp_path / "animal.blend"
    rigs.generate_rigify(path, kind)
    for switch in (0.0, 1.0):
        rig = rigs.open_rigify(path)
        rng = np.random.default_rng(3)
        for bone in rig.pose.bones:
            if "IK_FK" in bone:
                bone["IK_FK"] = switch
            for frame in (1, 12, LAST):
                some = rng.normal(scale=0.03, size=3)
                name = bone.name.split(".")[0]
                if name == "torso" or name.endswith(("foot_ik", "hand_ik")):
                    key(bone, frame, "location", some)
                elif bone.name in {"neck", "head"} or name.endswith("_fk"):
                    key(bone, frame, "rotation_quaternion", [1.0, *some])
        millimetres, degrees, _ = bake(rig)
        assert (millimetres < 0.1, degrees < 0.2) == (True, True)
