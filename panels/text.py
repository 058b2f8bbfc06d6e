# SPDX-License-Identifier: GPL-3.0-or-later
"""Sentences in panels, which Blender does not wrap by itself."""

import blf
import bpy

FONT = 0  # Blender's own, in which panels are written
MARGIN = 76.0  # pixels at scale 1, for the panel's edges and a box
ICON = 20.0
NARROWEST = 80.0
NARROW = 285.0  # in which two columns of words have no room


def is_narrow(context: bpy.types.Context) -> bool:
    """Whether the panel is narrower than Blender makes it at first."""
    return context.region is not None and context.region.width / context.preferences.system.ui_scale < NARROW


def sentence(context: bpy.types.Context, layout: bpy.types.UILayout, text: str, icon: str = "NONE") -> None:
    """Show a text in as many lines as the panel's width makes of it, the icon before the first."""
    scale = context.preferences.system.ui_scale
    width = context.region.width / scale if context.region else 300.0
    width = max(width - MARGIN - (ICON if icon != "NONE" else 0.0), NARROWEST)
    blf.size(FONT, context.preferences.ui_styles[0].widget.points * scale)
    column = layout.column(align=True)
    column.scale_y = 0.8
    for number, line in enumerate(wrapped(text, width * scale)):
        column.label(text=line, icon=icon if number == 0 else ("BLANK1" if icon != "NONE" else "NONE"), translate=False)


def wrapped(text: str, width: float) -> list[str]:
    """Return the lines of a text, each as many words as fit into some pixels."""
    lines: list[str] = []
    for word in text.split():
        longer = f"{lines[-1]} {word}" if lines else word
        if lines and blf.dimensions(FONT, longer)[0] <= width:
            lines[-1] = longer
        else:
            lines.append(word)
    return lines
