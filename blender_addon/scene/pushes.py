# SPDX-License-Identifier: GPL-3.0-or-later
"""Pushes: arrow empties with a keyed strength. The force acts along the arrow, where the arrow is when it begins.

Strength and direction are read at whole frames, with whatever moves them: keys, drivers, modifiers of a curve, the NLA.
In between they go in straight lines, so the impulse is the sum of the frames' strengths over the frame rate.
"""

from __future__ import annotations

from dataclasses import dataclass

import bpy
import numpy as np

from ...core.motion.clip import Clip
from ...core.motion.quaternions import Array
from ...core.simulation import Push
from ..typed import settings_on
from .attachment import attach, place_of


@dataclass
class Arrow:
    """One push, while the frames go by."""

    empty: bpy.types.Object
    matrix: Array  # (nf, 4, 4) in the world
    strength: Array  # (nf,) N

    def look(self, row: int, graph: bpy.types.Depsgraph) -> None:
        """Read frame `row`."""
        evaluated = self.empty.evaluated_get(graph)
        self.matrix[row] = np.array(evaluated.matrix_world)
        self.strength[row] = settings_on(evaluated).push.strength


def find_arrows(view_layer: bpy.types.ViewLayer, armature: bpy.types.Object, frames: int) -> list[Arrow]:
    """Return the pushes of a character that are shown."""
    return [
        Arrow(other, np.zeros((frames, 4, 4)), np.zeros(frames))
        for other in view_layer.objects
        if other.type == "EMPTY"
        and settings_on(other).push.armature == armature
        and not settings_on(other).push.taken
        and other.visible_get(view_layer=view_layer)
    ]


def push_of(arrow: Arrow, armature: bpy.types.Object, clip: Clip, unit: float, start: int) -> Push | None:
    """Return the push, whose time begins at row `start`; None where it never has any strength."""
    pushing = np.flatnonzero(arrow.strength)
    if len(pushing) == 0 or len(arrow.strength) < 2:
        return None
    name = arrow.empty.name
    if not np.isfinite(arrow.strength).all():
        raise ValueError(f"The strength of {name} is not finite: check its keys and drivers.")
    axis = arrow.matrix[:, :3, 2]
    length = np.linalg.norm(axis, axis=1)
    if length[pushing].min() < 1e-9:
        raise ValueError(f"{name} is scaled to zero, so its push has no direction: scale it up.")
    direction = axis / np.maximum(length, 1e-9)[:, None]
    attachment = attach(armature, settings_on(arrow.empty).push.bone, clip, name)
    first = int(pushing[0])
    point = attachment.local(clip, first, place_of(arrow.matrix[first], unit))
    x, y, z = point.tolist()
    return Push(attachment.body, arrow.strength[:, None] * direction, clip.rate, -start / clip.rate, (x, y, z))
