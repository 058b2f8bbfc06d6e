# SPDX-License-Identifier: GPL-3.0-or-later
"""Add Supports: make what the last bake rested on and the scene lacks."""

import bpy

from ..blender_addon.baking import outcome
from ..blender_addon.scene import supports
from ..blender_addon.scene.choosing import chosen_character, needs_character
from .status import Status


class HEFT_OT_add_supports(bpy.types.Operator):
    """Add the steps, seats, walls and bars that the last bake rested on, as ground and grabs for the next one"""

    bl_idname = "heft.add_supports"
    bl_label = "Add Supports"
    bl_options = {"REGISTER", "UNDO"}

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        """Only for a character."""
        return needs_character(cls, context)

    def execute(self, context: bpy.types.Context) -> Status:
        """Add meshes and grabs."""
        armature = chosen_character(context)
        report = outcome.shown(armature)
        missing = supports.missing(report)
        if not missing:
            done = "bake it first" if not report else "its last bake rested on nothing that the scene lacks"
            self.report({"INFO"}, f"There is nothing to add for {armature.name}: {done}")
            return {"CANCELLED"}
        try:
            added = supports.add(context, armature, missing)
        except ValueError as error:
            self.report({"ERROR"}, str(error))
            return {"CANCELLED"}
        outcome.note_done(armature, report, supports.ADDED)
        self.report({"INFO"}, f"Added {', '.join(added)}")
        return {"FINISHED"}
