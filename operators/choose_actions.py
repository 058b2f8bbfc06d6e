# SPDX-License-Identifier: GPL-3.0-or-later
"""Add Action, Remove Action: the actions that are combined with the source, or switched to."""

import bpy
from bpy.props import IntProperty

from ..blender_addon.typed import settings_on
from .set_up import active_armature
from .status import Status


class HEFT_OT_add_action(bpy.types.Operator):
    """Add an action to combine with the source, or to switch to"""

    bl_idname = "heft.add_action"
    bl_label = "Add Action"
    bl_options = {"REGISTER", "UNDO"}

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        """Only with an armature."""
        return active_armature(cls, context)

    def execute(self, context: bpy.types.Context) -> Status:
        """At the end of the list."""
        settings_on(context.active_object).others.add()
        return {"FINISHED"}


class HEFT_OT_remove_action(bpy.types.Operator):
    """Remove this action from the list"""

    bl_idname = "heft.remove_action"
    bl_label = "Remove Action"
    bl_options = {"REGISTER", "UNDO"}

    index: IntProperty(name="Number", description="Index of the action, from 0", min=0, options={"SKIP_SAVE"})

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        """Only with an armature."""
        return active_armature(cls, context)

    def execute(self, context: bpy.types.Context) -> Status:
        """Take it off the list."""
        others = settings_on(context.active_object).others
        if self.index >= len(others):
            self.report({"WARNING"}, "There is no such action in the list")
            return {"CANCELLED"}
        others.remove(self.index)
        return {"FINISHED"}
