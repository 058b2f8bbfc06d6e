# SPDX-License-Identifier: GPL-3.0-or-later
"""Bake: simulate the selected armatures and write what came of it as new actions."""

from __future__ import annotations

from typing import ClassVar

import bpy

from ..blender_addon.baking import output
from ..blender_addon.baking.session import CANCELLED, Session, Turn
from .working import Working


class HEFT_OT_bake(Working, bpy.types.Operator):
    """Simulate the selected armatures and bake each as a new action; what is there now is kept. Esc stops it"""

    bl_idname = "heft.bake"
    bl_label = "Bake"
    bl_options: ClassVar[set[str]] = {"UNDO"}

    task = "bake"

    def finish(self, context: bpy.types.Context, ended: Session) -> set[str]:
        """Write all results at once, in one undo step, and say how it went."""
        written = [turn for turn in ended.turns if turn.result is not None and self.write(context, turn)]
        for turn in ended.turns:
            if turn.why == CANCELLED:
                self.report({"INFO"}, f"{turn.name}: {turn.why} Nothing was written")
            elif turn.why:
                self.report({"ERROR"}, f"{turn.name}: {turn.why}")
        return {"FINISHED"} if written else {"CANCELLED"}

    def write(self, context: bpy.types.Context, turn: Turn) -> bool:
        """Write one result; False where that is not possible any more."""
        armature = turn.armature()
        if armature is None:
            self.report({"WARNING"}, f"{turn.name} was deleted while it was baked: nothing was written")
            return False
        try:
            name = output.write(context, armature, turn.gathered, turn.result)
        except ValueError as error:
            self.report({"ERROR"}, str(error))
            return False
        for note in turn.gathered.notes:
            self.report({"INFO"}, f"{armature.name}: {note}")
        level = "INFO" if turn.result.outcome == "completed" else "WARNING"
        self.report({level}, f"{armature.name}: {name}. {turn.result.why}")
        return True
