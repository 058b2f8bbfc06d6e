# SPDX-License-Identifier: GPL-3.0-or-later
"""Merge Down: a layer with what lies beneath and above it becomes one action."""

from __future__ import annotations

import bpy

from ..blender_addon.baking.layers import merge_down
from .set_up import active_armature
from .status import Status


class HEFT_OT_merge_down(bpy.types.Operator):
    """Put the source, the baked layer and your keys above it into one new action; the source stays as it is"""

    bl_idname = "heft.merge_down"
    bl_label = "Merge Down"
    bl_options = {"REGISTER", "UNDO"}

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        """Only with an armature."""
        return active_armature(cls, context)

    def execute(self, context: bpy.types.Context) -> Status:
        """Merge, and report."""
        try:
            action = merge_down(context, context.active_object)
        except ValueError as error:
            self.report({"ERROR"}, str(error))
            return {"CANCELLED"}
        self.report({"INFO"}, f"{context.active_object.name}: {action.name}")
        return {"FINISHED"}
