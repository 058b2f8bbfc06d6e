# SPDX-License-Identifier: GPL-3.0-or-later
"""Clean Folder: every clip of a folder made possible, beside what is being done in Blender."""

from __future__ import annotations

from pathlib import Path

import bpy

from ..blender_addon import redraw
from ..blender_addon.folder_run import keeper, words_for
from ..blender_addon.typed import shared_by
from .status import Status


class HEFT_OT_clean_folder(bpy.types.Operator):
    """Make every clip of the folder possible, with forces and torques. Goes on with what an earlier run has left"""

    bl_idname = "heft.clean_folder"
    bl_label = "Clean Folder"

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        """One at a time, and with a folder."""
        if keeper.running:
            cls.poll_message_set("A folder is being cleaned: wait for it, or stop it")
            return False
        if not shared_by(context.scene).folder.source:
            cls.poll_message_set("Choose a folder of clips first")
            return False
        return True

    def execute(self, context: bpy.types.Context) -> Status:
        """Start it; in background mode wait for its end."""
        asked = shared_by(context.scene).folder
        folder = Path(bpy.path.abspath(asked.source)).resolve()
        if not folder.is_dir():
            self.report({"ERROR"}, f"There is no folder {folder}: choose another")
            return {"CANCELLED"}
        out = folder.with_name(f"{folder.name} cleaned")
        if asked.target:
            out = Path(bpy.path.abspath(asked.target)).resolve()
        words = words_for(folder, out, simulate=asked.simulate, opensim=asked.opensim, workers=asked.workers)
        try:
            run = keeper.begin(words)
        except OSError as error:
            self.report({"ERROR"}, f"Blender could not be started once more: {error.strerror or error}")
            return {"CANCELLED"}
        redraw.panels()
        if bpy.app.background:
            run.wait()
            self.report({"INFO"}, run.line)
        return {"FINISHED"}


class HEFT_OT_stop_cleaning(bpy.types.Operator):
    """Stop cleaning the folder. What is done stays; Clean Folder goes on with the rest"""

    bl_idname = "heft.stop_cleaning"
    bl_label = "Stop"
    bl_options = {"INTERNAL"}

    @classmethod
    def poll(cls, _context: bpy.types.Context) -> bool:
        """Only while there is something to stop."""
        if not keeper.running:
            cls.poll_message_set("No folder is being cleaned")
            return False
        return True

    def execute(self, _context: bpy.types.Context) -> Status:
        """End it."""
        keeper.stop()
        redraw.panels()
        return {"FINISHED"}
