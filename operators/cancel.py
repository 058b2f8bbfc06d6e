# SPDX-License-Identifier: GPL-3.0-or-later
"""Cancel: stop the running bake."""

import bpy
from bpy.app.translations import pgettext_rpt
from bpy.props import BoolProperty

from ..blender_addon.typed import progress_on
from .status import Status


class HEFT_OT_cancel(bpy.types.Operator):
    """Cancel the bake. Nothing is written, and the pose returns to what it was"""

    bl_idname = "heft.cancel"
    bl_label = "Cancel"
    bl_options = {"INTERNAL"}

    ask: BoolProperty(description="Ask first", options={"SKIP_SAVE", "HIDDEN"})

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        """Only while there is one."""
        if not progress_on(context.window_manager).running:
            cls.poll_message_set("No bake is running")
            return False
        return True

    def invoke(self, context: bpy.types.Context, event: bpy.types.Event) -> Status:
        """Ask first if that is wanted."""
        if not self.ask:
            return self.execute(context)
        text = pgettext_rpt("Stop the bake? Nothing would be written.")
        return context.window_manager.invoke_confirm(self, event, title=text, confirm_text="Stop")

    def execute(self, context: bpy.types.Context) -> Status:
        """Set the flag; the bake polls it many times a second."""
        progress_on(context.window_manager).stop = True
        return {"FINISHED"}
