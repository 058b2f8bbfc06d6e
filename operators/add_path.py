# SPDX-License-Identifier: GPL-3.0-or-later
"""Add Path: a curve to walk along."""

import bpy

from ..blender_addon.scene.choosing import chosen_character, needs_character
from ..blender_addon.scene.ways import draw_ahead
from ..blender_addon.typed import settings_on
from .status import Status


class HEFT_OT_add_path(bpy.types.Operator):
    """Add a curve to walk along, ahead of the character: edit it as you like, and bake"""

    bl_idname = "heft.add_path"
    bl_label = "Add Path"
    bl_options = {"REGISTER", "UNDO"}

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        """Only for a character."""
        return needs_character(cls, context)

    def execute(self, context: bpy.types.Context) -> Status:
        """Add the curve."""
        armature = chosen_character(context)
        curve = draw_ahead(context, armature)
        settings_on(armature).path = curve
        self.report({"INFO"}, f"Added {curve.name}: edit its points, then press Bake")
        return {"FINISHED"}
