# SPDX-License-Identifier: GPL-3.0-or-later
"""`heft.set_up`: a character for every rig, choices that are kept, and refusals that change nothing."""

import json

import bpy
import pytest
from heft.blender_addon.rig import setting_up
from heft.core.character import storage
from heft.examples import mannequin, walk

from tests.blender.rig import rigs
from tests.blender.rig.test_reading_and_writing import chain_rig, make_rig

pytestmark = pytest.mark.usefixtures("heft_registered")


def walking_mannequin():
    rig = mannequin.make_mannequin(bpy.context)
    walk.key_walk(rig, frame_start=1)
    return rig


def activate(rig):
    bpy.context.view_layer.objects.active = rig
    return rig


def assign_first_action(rig):
    data = rig.animation_data or rig.animation_data_create()
    data.action = bpy.data.actions[0]
    data.action_slot = data.action.slots[0]
    return rig


def character_of(rig):
    return storage.parse(rig.heft.character.encode(), "the armature's character")


def state(rig):
    """All that Set Up could change."""
    kept = {role.name: role.names() for role in rig.heft.roles}
    return (
        kept,
        rig.heft.character,
        rig.heft.unsure,
        rig.heft.scale,
        bpy.context.scene.frame_current,
        len(bpy.data.actions),
    )


def check_refused(rig, message):
    activate(rig)
    before = state(rig)
    with pytest.raises(RuntimeError, match=message):
        bpy.ops.heft.set_up()
    roles, character, _, *others = state(rig)
    assert (character, others) == (before[1], list(before[3:]))
    assert before[0] in ({}, roles)  # where there were none, they are offered to be chosen


def test_mannequin():
    rig = walking_mannequin()
    assert bpy.ops.heft.set_up() == {"FINISHED"}
    simple = character_of(rig)
    assert 23 <= simple.nv <= 31
    assert rig.heft.chosen_roles()["thigh.L"] == ("thigh.L",)
    assert rig.heft.unsure == ""
    rig.heft.detail = "FULL"
    rig.heft.use_total_mass, rig.heft.total_mass = True, 60.0
    bpy.ops.heft.set_up()
    assert character_of(rig).nv > simple.nv
    assert character_of(rig).total_mass == pytest.approx(60.0)


@pytest.mark.parametrize(
    "name",
    [
        "gltf/CesiumMan.glb",
        "gltf/RiggedFigure.glb",
        "gltf/Fox.glb",
        "mesh2motion/human-base-animations_rigify-DEF-names.glb",
    ],
)
def test_rigs_of_the_clips_folder(clips, name):
    rig = assign_first_action(activate(rigs.import_gltf(name)))
    assert bpy.ops.heft.set_up() == {"FINISHED"}
    character = character_of(rig)
    assert character.nv >= 20
    assert rig.heft.scale == pytest.approx(0.01 if "Fox" in name else 1.0)  # the fox was built in centimetres


def test_motion_capture(clips):
    rig = activate(rigs.import_bvh())
    bpy.context.scene.render.fps = 120
    assert bpy.ops.heft.set_up() == {"FINISHED"}
    assert 50.0 < character_of(rig).total_mass < 110.0


def test_a_capture_that_plays_too_slowly_is_told(clips):
    rig = activate(rigs.import_bvh())
    bpy.context.scene.render.fps = 24
    assert bpy.ops.heft.set_up() == {"FINISHED"}
    assert "times as slow as a walker's" in rig.heft.unsure
    bpy.context.scene.render.fps = 120
    bpy.ops.heft.set_up()
    assert rig.heft.unsure == ""


def test_choices_by_hand_are_kept_until_told_otherwise():
    rig = walking_mannequin()
    bpy.ops.heft.set_up()
    role = rig.heft.roles["spine"]
    assert not role.is_by_hand()
    role.bones[0].bone = ""
    assert role.is_by_hand()
    bpy.ops.heft.set_up()
    assert rig.heft.roles["spine"].names() == ()
    bpy.ops.heft.set_up(forget=True)
    assert rig.heft.roles["spine"].names() == ("spine",)
    bpy.ops.heft.edit_role(role="neck", action="ADD")
    assert len(rig.heft.roles["neck"].bones) == 2
    bpy.ops.heft.edit_role(role="neck", action="REMOVE", index=0)
    bpy.ops.heft.edit_role(role="neck", action="REMOVE")
    assert rig.heft.roles["neck"].names() == ()


def test_a_chosen_kind_of_joint():
    rig = walking_mannequin()
    bpy.ops.heft.set_up()
    (knee,) = [j for j in rig.heft.joints if "knee" in j.name.lower() and j.name.lower().startswith("left")]
    before = character_of(rig).nv
    name, knee.kind = knee.name, "BALL"
    bpy.ops.heft.set_up()
    assert character_of(rig).nv > before
    assert rig.heft.joints[name].kind == "BALL"


def test_settings_survive_saving_and_appending(tmp_path):
    rig = walking_mannequin()
    bpy.ops.heft.set_up()
    kept = state(rig)[:4]
    path = tmp_path / "rig.blend"
    bpy.ops.wm.save_as_mainfile(filepath=str(path))
    bpy.ops.wm.open_mainfile(filepath=str(path))
    assert state(bpy.data.objects["Mannequin"])[:4] == kept
    bpy.ops.wm.read_factory_settings(use_empty=True)
    bpy.ops.wm.append(filepath=str(path / "Object" / "Mannequin"), directory=str(path / "Object"), filename="Mannequin")
    assert state(bpy.data.objects["Mannequin"])[:4] == kept
    json.loads(bpy.data.objects["Mannequin"].heft.character)


def test_undo_takes_all_of_it_back():
    walking_mannequin()
    bpy.ops.ed.undo_push(message="Before")
    bpy.ops.heft.set_up()
    bpy.ops.ed.undo_push(message="After")
    assert bpy.data.objects["Mannequin"].heft.character
    bpy.ops.ed.undo()
    assert not bpy.data.objects["Mannequin"].heft.character
    bpy.ops.ed.redo()
    assert character_of(bpy.data.objects["Mannequin"]).nv > 20


def test_the_preset_of_a_family(rigify_file):
    rig = activate(rigs.open_rigify(rigify_file))
    rig.heft.family = "RIGIFY"
    assert bpy.ops.heft.set_up() == {"FINISHED"}
    assert rig.heft.chosen_roles()["thigh.L"] == ("DEF-thigh.L", "DEF-thigh.L.001")
    rig.heft.family = "DAZ"
    check_refused(rig, "does not use the bone names of Daz")


def test_no_armature():
    bpy.ops.object.empty_add()
    assert not bpy.ops.heft.set_up.poll()


def test_no_action():
    rig = mannequin.make_mannequin(bpy.context)
    check_refused(rig, "has no action")


def test_one_bone():
    check_refused(make_rig([("only", None, (0, 0, 0), (0, 0, 1), False)]), "too few bones")


def test_no_legs():
    rig = chain_rig()
    rig.pose.bones["tip"].keyframe_insert("location", frame=1)
    check_refused(rig, "has no legs")


def test_a_bone_without_length():
    rig = walking_mannequin()
    rig.scale = (1e-8,) * 3
    bpy.context.view_layer.update()
    check_refused(rig, "has no length")


@pytest.mark.parametrize("scale", [0.001, 1000.0])
def test_a_rig_of_a_millimetre_or_a_kilometre(scale):
    rig = walking_mannequin()
    bpy.ops.heft.set_up()
    mass = character_of(rig).total_mass
    rig.scale = (scale,) * 3
    bpy.context.view_layer.update()
    assert bpy.ops.heft.set_up() == {"FINISHED"}
    assert rig.heft.scale == pytest.approx(1.0 / scale)
    assert character_of(rig).total_mass == pytest.approx(mass, rel=1e-3)


@pytest.mark.parametrize("scale", [(-1.0, 1.0, 1.0), (1.0, 1.0, 1.4)])
def test_a_rig_that_is_mirrored_or_scaled_unevenly(scale):
    rig = walking_mannequin()
    rig.scale = scale
    bpy.context.view_layer.update()
    assert bpy.ops.heft.set_up() == {"FINISHED"}
    assert "is mirrored, sheared or scaled unevenly" in rig.heft.unsure
    assert character_of(rig).total_mass == pytest.approx(75.0, rel=1.0)


def test_a_rig_that_its_parent_shears():
    rig = walking_mannequin()
    carrier = bpy.data.objects.new("Carrier", None)
    bpy.context.scene.collection.objects.link(carrier)
    carrier.scale, rig.rotation_euler, rig.parent = (1.0, 1.3, 1.0), (0.0, 0.0, 0.7), carrier
    bpy.context.view_layer.update()
    assert bpy.ops.heft.set_up() == {"FINISHED"}
    assert "sheared" in rig.heft.unsure


def test_a_rig_without_thickness_is_refused():
    rig = walking_mannequin()
    rig.scale = (1.0, 0.0, 1.0)
    bpy.context.view_layer.update()
    check_refused(rig, "scaled to zero")


def test_an_action_without_its_slot():
    rig = walking_mannequin()
    rig.animation_data.action_slot = None
    check_refused(rig, "without a slot")


def test_a_linked_rig(tmp_path):
    walking_mannequin()
    path = tmp_path / "library.blend"
    bpy.ops.wm.save_as_mainfile(filepath=str(path))
    bpy.ops.wm.read_factory_settings(use_empty=True)
    with bpy.data.libraries.load(str(path), link=True) as (_, linked):
        linked.objects = ["Mannequin"]
    (rig,) = linked.objects
    bpy.context.scene.collection.objects.link(rig)
    check_refused(rig, "linked from another file")


def test_a_renamed_bone():
    rig = walking_mannequin()
    bpy.ops.heft.set_up()
    rig.heft.roles["neck"].bones[0].bone = "gone"
    check_refused(rig, "no longer has the bone 'gone'")


def test_every_deforming_bone_of_rigify_goes_along_with_the_character(heft_registered, rigify_file):
    """Its face hangs from controls, which nothing simulates."""
    rig = activate(rigs.open_rigify(rigify_file))
    for name in ("torso", "head", "hand_ik.R"):
        bone = rig.pose.bones[name]
        for frame in (1, 9):
            bone.location = (0.02 * frame, 0.0, -0.01 * frame)
            bone.keyframe_insert("location", frame=frame)
    plan = setting_up.set_up(bpy.context, rig).plan
    names = plan.skeleton.names
    deforming = {bone.name for bone in rig.data.bones if bone.use_deform}
    carried = {names[bone]: plan.character.bodies[body].name for bone, body in enumerate(plan.body) if body >= 0}
    assert deforming <= set(carried)
    assert {carried[name] for name in deforming if "lid" in name or "nose" in name} == {"head"}
    assert "root" not in carried


def test_roles_can_be_chosen_where_nothing_is_found():
    rig = activate(make_rig([("base", None, (0, 0, 0), (0, 0, 1), False), ("arm", "base", (0, 0, 1), (0, 0, 2), True)]))
    rig.keyframe_insert("location", frame=1)
    with pytest.raises(RuntimeError, match="no legs"):
        bpy.ops.heft.set_up()
    assert {"thigh.L", "shin.R", "foot.L"} <= set(rig.heft.roles.keys())
    assert not rig.heft.character
