# SPDX-License-Identifier: GPL-3.0-or-later
"""Have parts of Blender's window drawn anew, and no more than need be: a viewport takes far longer than its sidebar."""

from collections.abc import Iterator

import bpy


def views() -> None:
    """Draw all 3D Viewports with their sidebars."""
    for area in _viewports():
        area.tag_redraw()


def panels() -> None:
    """Draw the sidebars of all 3D Viewports, where Heft's panels are, and the status bar."""
    for area in _viewports():
        for region in area.regions:
            if region.type == "UI":
                region.tag_redraw()
    status_bars()


def status_bars() -> None:
    """Draw the status bars: drawing views does not."""
    for window in bpy.context.window_manager.windows:
        window.workspace.status_text_set_internal(None)  # to say nothing there has it drawn


def dope_sheets() -> None:
    """Draw all Dope Sheets and Timelines."""
    for window in bpy.context.window_manager.windows:
        for area in window.screen.areas:
            if area.type == "DOPESHEET_EDITOR":
                area.tag_redraw()


def _viewports() -> Iterator[bpy.types.Area]:
    for window in bpy.context.window_manager.windows:
        for area in window.screen.areas:
            if area.type == "VIEW_3D":
                yield area
