# SPDX-License-Identifier: GPL-3.0-or-later
"""Clear Cache: delete the references and gains that were kept."""

import bpy

from ..blender_addon.worker.kernels import cache_folder
from ..core import cache
from .status import Status


class HEFT_OT_clear_cache(bpy.types.Operator):
    """Delete the references and controllers kept from earlier bakes; the next bake prepares them again"""

    bl_idname = "heft.clear_cache"
    bl_label = "Clear Cache"
    bl_options = {"INTERNAL"}

    def execute(self, _context: bpy.types.Context) -> Status:
        """Delete them, and report how much was freed."""
        folder = cache_folder()
        try:
            size = cache.size(folder)
            cache.clear(folder)
        except OSError as error:
            self.report({"ERROR"}, f"The cache could not be cleared: {error.strerror}.")
            return {"CANCELLED"}
        self.report({"INFO"}, f"Cleared {size / 1e6:.1f} MB")
        return {"FINISHED"}
