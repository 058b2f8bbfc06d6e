# SPDX-License-Identifier: GPL-3.0-or-later
"""Footholds: empties where a foot is to be set down. Read once, where they are when the simulation begins."""

from __future__ import annotations

from dataclasses import dataclass, field

import bpy
import numpy as np

from ...core.motion.clip import Clip
from ...core.motion.quaternions import Array
from ...core.simulation import Foothold
from ..typed import settings_on
from .attachment import attach, place_of


@dataclass
class Mark:
    """One foothold."""

    empty: bpy.types.Object
    matrix: Array = field(default_factory=lambda: np.eye(4))  # in the world

    def look(self, graph: bpy.types.Depsgraph) -> None:
        """Read it."""
        self.matrix = np.array(self.empty.evaluated_get(graph).matrix_world)


def find_marks(view_layer: bpy.types.ViewLayer, armature: bpy.types.Object) -> list[Mark]:
    """Return the footholds of a character that are shown."""
    return [
        Mark(other)
        for other in view_layer.objects
        if other.type == "EMPTY"
        and settings_on(other).foothold.armature == armature
        and other.visible_get(view_layer=view_layer)
    ]


def foothold_of(mark: Mark, armature: bpy.types.Object, clip: Clip, unit: float) -> Foothold:
    """Return the foothold in metres."""
    attachment = attach(armature, settings_on(mark.empty).foothold.bone, clip, mark.empty.name)
    x, y, z = place_of(mark.matrix, unit).tolist()
    return Foothold(attachment.body, (x, y, z))
