# SPDX-License-Identifier: GPL-3.0-or-later
"""Add Foothold: where a foot should step."""

import math

import bpy

from ..blender_addon.scene.choosing import add_empty, chosen_bone, chosen_character, needs_character
from ..blender_addon.typed import settings_on
from .status import Status

MARK = 0.12  # m


class HEFT_OT_add_foothold(bpy.types.Operator):
    """Add a foothold for the active bone, a foot: its nearest step goes there"""

    bl_idname = "heft.add_foothold"
    bl_label = "Add Foothold"
    bl_options = {"REGISTER", "UNDO"}

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        """Only for a character."""
        return needs_character(cls, context)

    def execute(self, context: bpy.types.Context) -> Status:
        """Add the empty."""
        armature = chosen_character(context)
        bone, unit = chosen_bone(armature), context.scene.unit_settings.scale_length * settings_on(armature).scale
        try:
            empty = add_empty(context, armature, bone, f"Foothold {bone}", "CIRCLE", MARK / unit, follows=False)
        except ValueError as error:
            self.report({"ERROR"}, str(error))
            return {"CANCELLED"}
        empty.rotation_euler.x = math.pi / 2.0  # a circle lies in its X and Z
        settings_on(empty).foothold.armature, settings_on(empty).foothold.bone = armature, bone
        self.report({"INFO"}, f"Added {empty.name}")
        return {"FINISHED"}
