# SPDX-License-Identifier: GPL-3.0-or-later
"""The strength of a character's joints: read at whole frames as Blender evaluates it."""

from __future__ import annotations

import bpy
import numpy as np

from ...core.motion.quaternions import Array
from ...core.simulation import Strength
from ..typed import settings_on


class StrengthReader:
    """The strength, while the frames go by."""

    def __init__(self, armature: bpy.types.Object, frames: int) -> None:
        """Make room."""
        self._armature = armature
        self._found: Array = np.full(frames, settings_on(armature).strength)

    def look(self, row: int, graph: bpy.types.Depsgraph) -> None:
        """Read frame `row`."""
        self._found[row] = settings_on(self._armature.evaluated_get(graph)).strength

    def strength(self, rate: float, start: int) -> Strength | None:
        """Return what is keyed, whose time begins at row `start`; None where it stays the same."""
        if np.ptp(self._found) == 0.0:
            return None
        return Strength((np.arange(len(self._found)) - start) / rate, self._found.copy())
