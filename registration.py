# SPDX-License-Identifier: GPL-3.0-or-later
"""What Blender is told when the extension is enabled, in order, and takes back in the mirror of that order.

The one module that knows every room, so it stands above them all.
"""

import bpy

from .operators import add_mannequin
from .panels import character, system

CLASSES = (
    add_mannequin.HEFT_OT_add_mannequin,
    character.HEFT_PT_character,
    system.HEFT_PT_system,
)


def register() -> None:
    """Register every class, then the menu entries."""
    for cls in CLASSES:
        bpy.utils.register_class(cls)
    bpy.types.VIEW3D_MT_armature_add.append(add_mannequin.draw_in_add_menu)


def unregister() -> None:
    """Undo `register`, last things first."""
    bpy.types.VIEW3D_MT_armature_add.remove(add_mannequin.draw_in_add_menu)
    for cls in reversed(CLASSES):
        bpy.utils.unregister_class(cls)
