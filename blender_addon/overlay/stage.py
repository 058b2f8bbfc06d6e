# SPDX-License-Identifier: GPL-3.0-or-later
"""What is drawn over a view while a character is on the stage: the pull with its newtons, balls, what keys do."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import blf
import bpy
import numpy as np
from bpy_extras.view3d_utils import location_3d_to_region_2d

from ...core.motion.quaternions import Array
from ..typed import settings_on
from ..words import interface as _
from .data import Color, Lines, joined
from .draw import draw_lines

if TYPE_CHECKING:
    from ..stage.playing import Playing

Line = tuple[Array, Color]  # through places

PULL: Color = (1.0, 0.75, 0.1, 1.0)
BALL: Color = (0.9, 0.35, 0.2, 1.0)
TEXT: Color = (1.0, 1.0, 1.0, 0.9)
SIDES = 24
COILS, COIL = 8, 0.02  # of the spring, and its radius, m
RADIUS = 0.125  # m, of a ball
SIZE, BESIDE, LINE = 13.0, 10.0, 20.0  # pixels at scale 1
HELP = (
    "Drag a part: pull     Click: throw a ball     S: shove the part under the mouse",
    "1 2 3 4: real time, half, quarter, tenth     Space: pause     F: follow with the view",
    "R: again     Esc: end the take",
)
PACES = {
    1.0: "real time",
    0.5: "half as fast",
    0.25: "a quarter as fast",
    0.1: "a tenth as fast",
    0.0: "paused",
}
STEERS = "Arrow keys: turn left and right, walk faster and slower"
WAITS = "Setting the stage"
ASKS = "Keep the take?     Enter: keep     X: drop     R: again     Esc: go on"


def lines_of(playing: Playing) -> Lines | None:
    """Return the spring and the balls, in metres."""
    segments: list[Line] = []
    if playing.grip is not None:
        segments += spring(playing.grip[0], playing.grip[1])
    for ball in playing.balls:
        segments += globe(ball)
    return joined(segments) if segments else None


def spring(start: Array, end: Array) -> list[Line]:
    """Return a zigzag from one place to another."""
    way = end - start
    aside = np.cross(way, [0.0, 0.0, 1.0])
    aside = aside / max(float(np.linalg.norm(aside)), 1e-9) * COIL
    share = np.linspace(0.0, 1.0, 2 * COILS + 1)[:, None]
    sign = np.where(np.arange(2 * COILS + 1) % 2 == 0, 1.0, -1.0)[:, None]
    sign[[0, -1]] = 0.0
    points = start + share * way + sign * aside
    return [(points, PULL)]


def globe(center: Array) -> list[Line]:
    """Return three circles."""
    angle = np.linspace(0.0, 2.0 * np.pi, SIDES + 1)
    found = []
    for a, b in ((0, 1), (1, 2), (2, 0)):
        points = np.tile(center, (SIDES + 1, 1))
        points[:, a] += RADIUS * np.cos(angle)
        points[:, b] += RADIUS * np.sin(angle)
        found.append((points, BALL))
    return found


def draw(playing: Playing) -> None:
    """Draw it in a view."""
    armature = playing.turns[0].armature() if playing.turns else None
    lines = lines_of(playing)
    if lines is not None and armature is not None:
        unit = bpy.context.scene.unit_settings.scale_length * settings_on(armature).scale
        draw_lines(bpy.context, Lines(lines.vertices / unit, lines.colors))


def write(playing: Playing, *, asking: bool) -> None:
    """Write newtons beside the spring, and what can be done at the bottom of the view."""
    context = bpy.context
    scale = context.preferences.system.ui_scale
    armature = playing.turns[0].armature() if playing.turns else None
    if playing.grip is not None and armature is not None:
        unit = context.scene.unit_settings.scale_length * settings_on(armature).scale
        at = location_3d_to_region_2d(context.region, context.region_data, playing.grip[1] / unit)
        if at is not None:
            newtons = float(np.linalg.norm(playing.grip[2]))
            line(f"{newtons:.0f} N", at.x + BESIDE * scale, at.y, PULL)
    if not playing.plays:
        rows: tuple[str, ...] = (_(WAITS),)
    elif asking:
        rows = (_(ASKS),)
    else:
        pace = _(PACES[playing.pace])
        rows = (*map(_, HELP), f"{playing.seconds:.1f} s  {pace}")
        walks = playing.walks
        if walks is not None:
            told = f"{walks.forward:.1f} m/s  {math.degrees(walks.heading):.0f}°"
            rows = (_(STEERS), *rows[:-1], f"{rows[-1]}  {told}")
    for number, text in enumerate(reversed(rows)):
        line(text, LINE * scale, (1.5 + number) * LINE * scale, TEXT)


def line(text: str, x: float, y: float, color: Color) -> None:
    """Write a line at a place of the region."""
    scale, font = bpy.context.preferences.system.ui_scale, 0
    blf.size(font, SIZE * scale)
    blf.color(font, *color)
    blf.enable(font, blf.SHADOW)
    blf.shadow(font, 5, 0.0, 0.0, 0.0, 0.8)
    blf.position(font, x, y, 0.0)
    blf.draw(font, text)
    blf.disable(font, blf.SHADOW)
