# SPDX-License-Identifier: GPL-3.0-or-later
"""Sentences in panels, which Blender does not wrap by itself."""

import textwrap

import bpy

LETTER = 7.0  # mean width of a letter, in pixels at scale 1
MARGIN = 50.0  # for icons and the panel's edges


def sentence(context: bpy.types.Context, layout: bpy.types.UILayout, text: str, icon: str = "NONE") -> None:
    """Show a text in as many lines as the panel's width makes of it, the icon before the first."""
    width = context.region.width / context.preferences.system.ui_scale if context.region else 300.0
    column = layout.column(align=True)
    column.scale_y = 0.8
    letters = max(int((width - MARGIN) / LETTER), 16)
    for number, line in enumerate(textwrap.wrap(text, letters)):
        column.label(text=line, icon=icon if number == 0 else ("BLANK1" if icon != "NONE" else "NONE"), translate=False)
