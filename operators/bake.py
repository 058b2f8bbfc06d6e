# SPDX-License-Identifier: GPL-3.0-or-later
"""Bake: simulate the selected armatures and write the results as new actions."""

from __future__ import annotations

import bpy

from ..blender_addon import redraw
from ..blender_addon.baking.following import following
from ..blender_addon.baking.outcome import note_failure
from ..blender_addon.baking.output import writing_all
from ..blender_addon.baking.session import Session
from ..blender_addon.slices import Work
from .status import Status
from .working import Working, chosen_armatures


class HEFT_OT_bake(Working):
    """Simulate the selected armatures and bake each to an action; an earlier bake of it is replaced unless pinned"""

    bl_idname = "heft.bake"
    bl_label = "Bake"
    bl_options = {"UNDO"}

    task = "bake"
    can_be_together = True

    def refuse(self, context: bpy.types.Context, why: str) -> None:
        """Say why it does not begin, also where the last bake's report is shown."""
        for armature in chosen_armatures(context):
            note_failure(armature, why)
        redraw.panels()
        super().refuse(context, why)

    def finish(self, context: bpy.types.Context, ended: Session) -> Work[Status]:
        """Write all results in one undo step, and report."""
        written, lines = yield from writing_all(context, ended.turns)
        following.note_baked(ended.turns)
        for level, text in lines:
            self.report({level}, text)
        return {"FINISHED"} if written else {"CANCELLED"}
