# SPDX-License-Identifier: GPL-3.0-or-later
"""Skip Rehearsals: simulate with the best settings that were found so far."""

import bpy

from ..blender_addon.typed import progress_on
from .status import Status


class HEFT_OT_skip_rehearsals(bpy.types.Operator):
    """Try no more settings, and go on with those that stayed up longest so far"""

    bl_idname = "heft.skip_rehearsals"
    bl_label = "Use Best So Far"
    bl_options = {"INTERNAL"}

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        """Only while there are any."""
        if not progress_on(context.window_manager).rehearses:
            cls.poll_message_set("Nothing is rehearsed")
            return False
        return True

    def execute(self, context: bpy.types.Context) -> Status:
        """Set the flag; the bake polls it many times a second."""
        progress_on(context.window_manager).skip = True
        return {"FINISHED"}
