# SPDX-License-Identifier: GPL-3.0-or-later
"""Pictures of the Scene panel: empty, then with a staircase, a push, a grab and props; and the push's keys.

python3 run.py build --bare
blender-gui run tests/gui/scene_panel.py -o out/gui dist/heft-*-bare.zip tests/gui/window.py
"""

import bpy
import guikit
import window
from window import rig, select


def stairs():
    """Three steps in front of the mannequin, marked as ground."""
    with guikit.override():
        bpy.ops.mesh.primitive_cube_add(size=1.0, location=(0.0, -2.5, 0.05))
        step = bpy.context.active_object
        step.name, step.scale = "Stairs", (1.2, 0.35, 0.1)
        array = step.modifiers.new("Array", "ARRAY")
        array.count, array.use_relative_offset, array.use_constant_offset = 3, False, True
        array.constant_offset_displace = (0.0, -1.0, 1.0)
        select(step, rig())
        assert bpy.ops.heft.mark_terrain() == {"FINISHED"}


def things():
    """A push on the chest, a hand that holds on, a ball and a rucksack."""
    with guikit.override():
        bpy.context.scene.frame_set(30)
        for bone, operator in (("chest", bpy.ops.heft.add_push), ("hand.L", bpy.ops.heft.add_grab)):
            select(rig())
            rig().data.bones.active = rig().data.bones[bone]
            assert operator() == {"FINISHED"}
        bpy.ops.mesh.primitive_uv_sphere_add(radius=0.12, location=(0.5, -1.0, 0.12))
        bpy.context.active_object.name = "Ball"
        select(bpy.context.active_object, rig())
        assert bpy.ops.heft.add_prop(shape="SPHERE", mass=0.5) == {"FINISHED"}
        bpy.ops.mesh.primitive_cube_add(size=0.25, location=(0.0, -1.3, 1.2))
        bpy.context.active_object.name = "Rucksack"
        rig().data.bones.active = rig().data.bones["chest"]
        select(bpy.context.active_object, rig())
        assert bpy.ops.heft.add_prop(carried=True, mass=8.0) == {"FINISHED"}
        select(rig())
        bpy.ops.view3d.view_all()


def active(name):
    """A step: select one object."""

    def choose():
        with guikit.override():
            select(bpy.data.objects[name])

    return choose


def dope_sheet():
    """The timeline as a Dope Sheet."""
    for area in bpy.context.window.screen.areas:
        if area.type == "DOPESHEET_EDITOR":
            area.spaces.active.mode = "DOPESHEET"


guikit.steps(
    window.install,
    window.clear,
    window.tab,
    window.add_mannequin,
    window.set_up,
    window.panels_alone("HEFT_PT_scene"),
    1.0,
    guikit.shot("scene_empty"),
    stairs,
    things,
    1.0,
    guikit.shot("scene_things"),
    dope_sheet,
    active("Push chest"),
    1.0,
    guikit.shot("scene_push"),
    active("Grab hand.L"),
    guikit.shot("scene_grab"),
    active("Rucksack"),
    guikit.shot("scene_weight"),
    active("Stairs"),
    guikit.shot("scene_stairs"),
)
