# SPDX-License-Identifier: GPL-3.0-or-later
"""How far a bake is, in Blender's status bar, which is seen whatever editors there are."""

import bpy

from ..blender_addon.typed import progress_on
from ..operators.cancel import HEFT_OT_cancel


def draw(header: bpy.types.Header, context: bpy.types.Context) -> None:
    """Whose turn it is, a bar, and a button to cancel."""
    state = progress_on(context.window_manager)
    if not state.running:
        return
    row = header.layout.row(align=True)
    row.label(text=state.line, translate=False)
    row.progress(factor=state.fraction, type="BAR", text=f"{100.0 * state.fraction:.0f} %")
    row.operator(HEFT_OT_cancel.bl_idname, text="", icon="CANCEL")


def register() -> None:
    """Add it to the status bar."""
    bpy.types.STATUSBAR_HT_header.append(draw)  # type: ignore[arg-type]


def unregister() -> None:
    """Take it out."""
    bpy.types.STATUSBAR_HT_header.remove(draw)  # type: ignore[arg-type]
