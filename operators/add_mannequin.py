# SPDX-License-Identifier: GPL-3.0-or-later
"""Add a walking mannequin, to try Heft on before you have a rig of your own."""

from typing import ClassVar

import bpy
from mathutils import Matrix

from .adding import Adding


class HEFT_OT_add_mannequin(Adding, bpy.types.Operator):
    """Add a rigged mannequin with a hand-keyed walk, ready to try Heft on"""

    bl_idname = "heft.add_mannequin"
    bl_label = "Walking Mannequin"
    bl_options: ClassVar[set[str]] = {"REGISTER", "UNDO"}

    def execute(self, context: bpy.types.Context) -> set[str]:
        """Add it at the 3D cursor and make it the active object."""
        from ..examples import mannequin, walk

        armature = mannequin.make_mannequin(context)
        action = walk.key_walk(armature, frame_start=context.scene.frame_start)
        armature.matrix_world = Matrix.Translation(context.scene.cursor.location)
        self.choose(context, armature)
        self.report({"INFO"}, f"Added {armature.name} with the action {action.name}")
        return {"FINISHED"}


def draw_in_add_menu(menu: bpy.types.Menu, _context: bpy.types.Context) -> None:
    """An entry of Add ▸ Armature."""
    menu.layout.operator(HEFT_OT_add_mannequin.bl_idname, icon="ARMATURE_DATA")
