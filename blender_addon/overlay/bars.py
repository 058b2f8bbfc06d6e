# SPDX-License-Identifier: GPL-3.0-or-later
"""Coloured bars along the bottom of the Dope Sheet and the Timeline.

Contacts have a row for each point that touches; above them is where the motion was damaged.
"""

from __future__ import annotations

from typing import Any

import blf
import bpy
import gpu
from gpu_extras.batch import batch_for_shader

from ...core.report.glance import FAULTS
from ..contacts import intervals_of_keys, keyed
from ..damage import damage_of
from ..properties.contacts import POINTS
from ..typed import as_kind, settings_on
from ..words import interface
from . import glance
from .data import Color

ROW, GAP = 13.0, 2.0  # pixels at scale 1
LOW_ROW, LOW_GAP = 3.0, 1.0  # in the Timeline, which is low
LABEL_SIZE = 11.0
SCRUB, STRIP = 24.0, 5.0  # the height of the frame numbers, and of the strip below them
LEFT: Color = (0.90, 0.35, 0.35, 0.85)
RIGHT: Color = (0.35, 0.75, 0.40, 0.85)
MIDDLE: Color = (0.40, 0.60, 0.95, 0.85)
DAMAGE: dict[str, tuple[str, Color]] = {
    "mended": ("Damage: mended", (0.95, 0.75, 0.25, 0.85)),
    "guessed": ("Damage: only a guess", (0.90, 0.45, 0.10, 0.95)),
}
INK: Color = (0.9, 0.9, 0.9, 0.9)
HALF_FRAME = 0.5  # so that a single frame is seen
DARKER = 0.7  # the rear of a foot


def color_of(point: str) -> Color:
    """Red on the left, green on the right as Blender's axes and its bones' sides; heels darker than toes."""
    red, green, blue, alpha = LEFT if point.startswith("left_") else RIGHT if point.startswith("right_") else MIDDLE
    share = DARKER if point.endswith("_heel") else 1.0
    return share * red, share * green, share * blue, alpha


def draw() -> None:
    """Draw the active armature's contacts in the region at hand."""
    context = bpy.context
    armature = context.active_object
    if armature is None or armature.type != "ARMATURE":
        return
    draw_faults(context, armature)
    settings = settings_on(armature)
    damage = damage_of(settings.found_damage) if settings.show_damage else {}
    if not settings.show_contacts and not damage:
        return
    found = {point: intervals_of_keys(curve) for point, curve in keyed(armature).items() if point in POINTS}
    rows = sorted((point for point in found if found[point] and settings.show_contacts), key=order_of)
    labelled = as_kind(context.space_data, bpy.types.SpaceDopeSheetEditor).mode != "TIMELINE"
    scale = context.preferences.system.ui_scale
    row, gap = (scale * size for size in ((ROW, GAP) if labelled else (LOW_ROW, LOW_GAP)))
    last = armature.animation_data.action.curve_frame_range[1] if rows else 0.0
    bars, labels = Bars(context.region), []
    for number, point in enumerate(reversed(rows)):
        low = number * (row + gap) + gap
        bars.add(found[point], last, low, low + row, color_of(point))
        labels.append((POINTS[point], low))
    for number, (kind, intervals) in enumerate(damage.items(), len(rows)):
        label, color = DAMAGE[kind]
        low = number * (row + gap) + gap
        whole = [(start - HALF_FRAME, end + HALF_FRAME) for start, end in intervals]
        bars.add(whole, float("inf"), low, low + row, color)
        labels.append((label, low))
    bars.draw()
    for label, low in labels if labelled else ():
        draw_label(label, low, scale)


def draw_faults(context: bpy.types.Context, armature: bpy.types.Object) -> None:
    """Draw a strip below the frame numbers: which frames of the action are impossible; in words, why the current is."""
    known = glance.glance_of(armature)
    if known is None:
        return
    scale, region = context.preferences.system.ui_scale, context.region
    low = region.height - scale * (SCRUB + STRIP)
    bars, last = Bars(region), float(known.frames[-1]) + HALF_FRAME
    for name, found in known.faults().items():
        ends = [(first - HALF_FRAME, end + HALF_FRAME) for first, end in found]
        bars.add(ends, last, low, low + scale * STRIP, glance.COLORS[name])
    bars.draw()
    row = known.row(context.scene.frame_current_final)
    fault = "" if row is None else FAULTS[int(known.fault[row])]
    if fault in glance.WORDS:
        draw_label(glance.WORDS[fault], low - scale * (LABEL_SIZE + GAP), scale)


def order_of(point: str) -> tuple[bool, bool, int]:
    """Feet first, left before right, heel before toe."""
    return "_foot" not in point, point.startswith("right_"), list(POINTS).index(point)


class Bars:
    """Rows of bars, drawn all at once: each call of the graphics card's driver takes longer than a hundred bars."""

    def __init__(self, region: bpy.types.Region) -> None:
        self._to_pixels: Any = region.view2d.view_to_region
        self._width = region.width
        self._corners: list[tuple[float, float]] = []
        self._colors: list[Color] = []
        self._triangles: list[tuple[int, int, int]] = []

    def add(self, intervals: list[tuple[float, float]], last: float, low: float, high: float, color: Color) -> None:
        """A row; what never ends does at the last frame."""
        for start, end in intervals:
            left = max(self._to_pixels(start, 0.0, clip=False)[0], 0)
            right = min(self._to_pixels(min(end, last), 0.0, clip=False)[0], self._width)
            if right > left:
                first = len(self._corners)
                self._corners += [(left, low), (right, low), (right, high), (left, high)]
                self._colors += [color] * 4
                self._triangles += [(first, first + 1, first + 2), (first, first + 2, first + 3)]

    def draw(self) -> None:
        """All of them."""
        if not self._corners:
            return
        shader = gpu.shader.from_builtin("FLAT_COLOR")
        attributes: dict[str, Any] = {"pos": self._corners, "color": self._colors}
        gpu.state.blend_set("ALPHA")
        batch_for_shader(shader, "TRIS", attributes, indices=self._triangles).draw(shader)
        gpu.state.blend_set("NONE")


def draw_label(text: str, low: float, scale: float) -> None:
    """Write a row's name at its left."""
    font = 0
    blf.size(font, LABEL_SIZE * scale)
    blf.color(font, *INK)
    blf.position(font, 6.0 * scale, low + 3.0 * scale, 0.0)
    blf.draw(font, interface(text))


_handles: list[object] = []


def register() -> None:
    """Have Blender call `draw` with every Dope Sheet."""
    if not bpy.app.background:
        _handles.append(bpy.types.SpaceDopeSheetEditor.draw_handler_add(draw, (), "WINDOW", "POST_PIXEL"))


def unregister() -> None:
    """Have it stop."""
    while _handles:
        bpy.types.SpaceDopeSheetEditor.draw_handler_remove(_handles.pop(), "WINDOW")
