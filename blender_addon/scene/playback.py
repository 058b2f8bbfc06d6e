# SPDX-License-Identifier: GPL-3.0-or-later
"""Time warp and transitions of an action: their keys, read at whole frames as Blender evaluates them."""

from __future__ import annotations

import bpy
import numpy as np

from ...core.motion.playback import Playback, rising
from ...core.motion.quaternions import Array
from ..typed import settings_on


class Tempo:
    """Speed and switch, while the frames go by."""

    def __init__(self, armature: bpy.types.Object, frames: int) -> None:
        """Make room."""
        self._armature = armature
        self._speed: Array = np.ones(frames)
        self._over = np.zeros(frames, dtype=np.bool_)

    def look(self, row: int, graph: bpy.types.Depsgraph) -> None:
        """Read frame `row`."""
        playback = settings_on(self._armature.evaluated_get(graph)).playback
        self._speed[row], self._over[row] = playback.speed, playback.go_over

    def playback(self, rate: float, start: int) -> Playback:
        """Return how the action is played, whose time begins at row `start`."""
        moment = (np.arange(len(self._speed)) - start) / rate
        return Playback(moment, self._speed.copy(), tuple(float(moment[row]) for row in rising(self._over)))
