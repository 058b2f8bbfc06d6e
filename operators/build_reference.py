# SPDX-License-Identifier: GPL-3.0-or-later
"""Build Reference: the physically correct motion nearest to the action, with its contacts and changes."""

from __future__ import annotations

import bpy

from ..blender_addon import reference, words
from ..blender_addon.baking.session import CANCELLED, Session, Turn
from ..blender_addon.baking.source import playing
from ..blender_addon.slices import Work
from .status import Status
from .working import Working


class Keying(Working):
    """Not registered itself: keys what the worker finds in an action into that action, by `show`."""

    def finish(self, _context: bpy.types.Context, ended: Session) -> Work[Status]:
        """Write everything in one undo step, and report."""
        yield 0.0
        written = [turn for turn in ended.turns if not turn.why and self.write(turn)]
        for turn in ended.turns:
            if turn.why:
                self.report({"INFO" if turn.why == CANCELLED else "ERROR"}, f"{turn.name}: {turn.why}")
        return {"FINISHED"} if written else {"CANCELLED"}

    def write(self, turn: Turn) -> bool:
        """Write one; False if its armature is gone."""
        armature = turn.armature()
        if armature is None:
            self.report({"WARNING"}, f"{turn.name} was deleted in the meantime: nothing was written")
            return False
        try:
            with playing(armature, turn.gathered.source):
                self.show(armature, turn)
        except ValueError as error:
            self.report({"ERROR"}, str(error))
            return False
        for note in turn.gathered.notes:
            self.report({"INFO"}, f"{armature.name}: {note}")
        return True

    def show(self, armature: bpy.types.Object, turn: Turn) -> None:
        """Write the worker's answer for an armature, which plays its source."""
        raise NotImplementedError


class HEFT_OT_build_reference(Keying):
    """Find the physically correct motion nearest to the action, with its contacts and forces"""

    bl_idname = "heft.build_reference"
    bl_label = "Build Reference"
    bl_options = {"UNDO"}

    task = "reference"

    def show(self, armature: bpy.types.Object, turn: Turn) -> None:
        """Key contacts and changes, and report the quality."""
        reference.show(armature, turn.gathered.job, turn.said, turn.gathered.sampling.unit)
        found = turn.said["summary"]
        self.report({"INFO" if found["fit_for_control"] else "WARNING"}, f"{armature.name}: {words.why(found)}")
