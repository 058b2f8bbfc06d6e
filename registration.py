# SPDX-License-Identifier: GPL-3.0-or-later
"""What Blender is told when the extension is enabled, in order, and takes back in the mirror of that order.

The one module that knows every room, so it stands above them all.
"""

import bpy

from .blender_addon.overlay import draw as overlay
from .blender_addon.properties import action as action_properties
from .blender_addon.properties import armature as armature_properties
from .operators import add_grab, add_mannequin, add_prop, add_push, mark_terrain, set_up
from .panels import character, scene, system

CLASSES = (
    *action_properties.CLASSES,
    *armature_properties.CLASSES,
    add_mannequin.HEFT_OT_add_mannequin,
    set_up.HEFT_OT_set_up,
    set_up.HEFT_OT_edit_role,
    mark_terrain.HEFT_OT_mark_terrain,
    add_push.HEFT_OT_add_push,
    add_grab.HEFT_OT_add_grab,
    add_prop.HEFT_OT_add_prop,
    character.HEFT_PT_character,
    character.HEFT_PT_roles,
    character.HEFT_PT_joints,
    scene.HEFT_PT_scene,
    system.HEFT_PT_system,
)


def register() -> None:
    """Register every class, then the properties and the menu entries."""
    for cls in CLASSES:
        bpy.utils.register_class(cls)
    action_properties.register()
    armature_properties.register()
    overlay.register()
    bpy.types.VIEW3D_MT_armature_add.append(add_mannequin.draw_in_add_menu)


def unregister() -> None:
    """Undo `register`, last things first."""
    bpy.types.VIEW3D_MT_armature_add.remove(add_mannequin.draw_in_add_menu)
    overlay.unregister()
    armature_properties.unregister()
    action_properties.unregister()
    for cls in reversed(CLASSES):
        bpy.utils.unregister_class(cls)
