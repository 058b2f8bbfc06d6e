# SPDX-License-Identifier: GPL-3.0-or-later
"""Precompute: make the reference and the controller's gains, so that the next bake only simulates."""

from __future__ import annotations

import bpy

from ..blender_addon.baking.session import Session
from ..blender_addon.slices import Work
from .status import Status
from .working import Working


class HEFT_OT_precompute(Working):
    """Prepare the reference and the controller, so that the next bake only simulates. Bake does it if needed"""

    bl_idname = "heft.precompute"
    bl_label = "Prepare Controller"
    bl_options = {"INTERNAL"}

    task = "precompute"

    def finish(self, _context: bpy.types.Context, ended: Session) -> Work[Status]:
        """Report the outcome."""
        yield 0.0
        for turn in ended.turns:
            if turn.why:
                self.report({"ERROR"}, f"{turn.name}: {turn.why}")
            else:
                self.report({"INFO"}, f"{turn.name}: ready to bake. {turn.said.get('quality', '')}")
        return {"CANCELLED"} if any(turn.why for turn in ended.turns) else {"FINISHED"}
