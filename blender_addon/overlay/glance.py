# SPDX-License-Identifier: GPL-3.0-or-later
"""What physics says of the action that plays, before any bake: lines and words of plain data, by frame.

They are found in the background when keys or surroundings have changed (`baking/following.py`), so that a frame only
draws what is known. They are of the running Blender, by the armatures' session numbers, and in no file.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import bpy
import numpy as np

from ...core.motion.quaternions import Array
from ...core.motion.schedule import runs
from ...core.report.glance import FAST, FAULTS, HIGH
from ..typed import notes_on, settings_on
from ..words import interface as _
from .data import CENTER, FOOT, Color, Lines, joined

BAD: Color = (1.0, 0.25, 0.15, 1.0)
ARC: Color = (1.0, 0.85, 0.3, 1.0)
PATH: Color = (1.0, 0.3, 0.3, 0.7)
COLORS: dict[str, Color] = {
    "departs": (0.95, 0.25, 0.20, 0.9),
    "falls": (0.95, 0.55, 0.15, 0.9),
    "sinks": (0.60, 0.35, 0.90, 0.9),
    "floats": (0.30, 0.60, 0.95, 0.9),
    "slides": (0.90, 0.80, 0.25, 0.9),
}
WORDS = {
    "departs": "Off its arc in the air",
    "falls": "Out of balance",
    "sinks": "Foot in the ground",
    "floats": "Foot off the ground",
    "slides": "Foot slides",
}
CROSS = 0.05  # m
SMALL = 0.02  # m
MILLIMETRES = 1e3


@dataclass(frozen=True, eq=False)
class Shown:
    """`Glance` as it comes from the worker."""

    frames: Array
    center: Array
    arc: Array
    flight: Array
    balance: Array
    support_start: Array
    support: Array
    place: Array
    touches: Array
    height: Array
    sinks: Array
    slide: Array
    fault: Array
    fps: float

    @classmethod
    def of(cls, said: Mapping[str, Any], fps: float) -> Shown:
        """From the worker's answer; None stands for what is not a number."""
        count, feet = len(said["frames"]), len(said["feet"])
        shapes = {"support": (-1, 3), "place": (count, feet, 3)}
        shapes |= dict.fromkeys(("touches", "height", "sinks", "slide"), (count, feet))
        names = [name for name in cls.__dataclass_fields__ if name != "fps"]
        found = {
            name: np.array(said[name], dtype=np.float64).reshape(shapes.get(name, np.shape(said[name])))
            for name in names
        }
        return cls(**found, fps=fps)

    def row(self, frame: float) -> int | None:
        """The row of a frame, None outside."""
        row = round(frame - self.frames[0]) if len(self.frames) else -1
        return row if 0 <= row < len(self.frames) else None

    def faults(self) -> dict[str, list[tuple[float, float]]]:
        """First and last frame of every run of each fault."""
        return self._faults

    @cached_property
    def _faults(self) -> dict[str, list[tuple[float, float]]]:
        """Looked for once: they are drawn with every frame."""
        return {
            name: [(self.frames[start], self.frames[stop - 1]) for start, stop in runs(self.fault == number)]
            for number, name in enumerate(FAULTS)
            if name in WORDS
        }


shown: dict[int, Shown] = {}
"""By the armatures' session numbers."""


def glance_of(armature: bpy.types.Object) -> Shown | None:
    """Return what is known of what an armature plays, if that is wanted and no bake."""
    if not settings_on(armature).show_physics:
        return None
    action = armature.animation_data.action if armature.animation_data is not None else None
    return None if action is not None and notes_on(action).report else shown.get(armature.session_uid)


def summary(glance: Shown) -> str:
    """Return how many frames are impossible and why, in a sentence for the panel."""
    counts = {name: int(sum(last - first + 1.0 for first, last in found)) for name, found in glance.faults().items()}
    told = ", ".join(f"{_(WORDS[name])} {count}" for name, count in counts.items() if count)
    if not told:
        return _("All frames are possible")
    return _("{} of {} frames are impossible: {}").format(sum(counts.values()), len(glance.frames), told)


def lines_at(glance: Shown, frame: float) -> Lines | None:
    """Return what is drawn at a frame, in metres: the centre of mass and its arc, support and balance, the feet."""
    row = glance.row(frame)
    if row is None:
        return None
    fault = FAULTS[int(glance.fault[row])]
    segments = cross(glance.center[row], CROSS, BAD if fault == "departs" else CENTER)
    if glance.flight[row] >= 0:
        flight = np.flatnonzero(glance.flight == glance.flight[row])
        segments += [(glance.arc[flight], ARC), (glance.center[flight], PATH)]
        segments.append((np.array([glance.center[row], glance.arc[row]]), BAD))
    outline = glance.support[int(glance.support_start[row]) : int(glance.support_start[row + 1])]
    color = BAD if fault == "falls" else FOOT
    if len(outline) > 1:
        segments.append((np.concatenate([outline, outline[:1]]), color))
    if np.isfinite(glance.balance[row]).all():
        segments += cross(glance.balance[row], CROSS, color)
    for place, text in zip(glance.place[row], foot_words(glance, row), strict=True):
        segments += cross(place, SMALL, BAD if text else FOOT)
    return joined(segments)


def cross(place: Array, size: float, color: Color) -> list[tuple[Array, Color]]:
    """Return three strokes through a place."""
    return [(np.array([place - size * axis, place + size * axis]), color) for axis in np.eye(3)]


def foot_words(glance: Shown, row: int) -> list[str]:
    """Return what is wrong with each point of the feet at a row, in millimetres; empty where nothing is."""
    found = []
    ends = (glance.height[row], glance.sinks[row], glance.slide[row], glance.touches[row])
    for height, sinks, slide, touches in zip(*ends, strict=True):
        if sinks:
            found.append(_("{:.0f} mm in the ground").format(-MILLIMETRES * height))
        elif touches and height > HIGH:
            found.append(_("{:.0f} mm off the ground").format(MILLIMETRES * height))
        elif slide * glance.fps > FAST:
            found.append(_("slides {:.0f} mm").format(MILLIMETRES * slide))
        else:
            found.append("")
    return found


def labels_at(glance: Shown, frame: float) -> list[tuple[Array, str]]:
    """Return places in metres, and what is written beside them."""
    row = glance.row(frame)
    if row is None:
        return []
    found = [(place, text) for place, text in zip(glance.place[row], foot_words(glance, row), strict=True) if text]
    away = float(np.linalg.norm(glance.center[row] - glance.arc[row]))
    if FAULTS[int(glance.fault[row])] == "departs":
        found.append((glance.center[row], _("{:.0f} mm off its arc").format(MILLIMETRES * away)))
    return found
