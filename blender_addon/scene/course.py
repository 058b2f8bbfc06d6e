# SPDX-License-Identifier: GPL-3.0-or-later
"""The course of a walk: its keyed speeds and heading, read at whole frames as Blender evaluates them."""

from __future__ import annotations

import bpy
import numpy as np

from ...core.motion.quaternions import Array
from ...core.simulation import Course
from ..typed import settings_on


class CourseReader:
    """Speeds and heading, while the frames go by."""

    def __init__(self, armature: bpy.types.Object, frames: int) -> None:
        """Make room."""
        self._armature = armature
        self._found: Array = np.zeros((frames, 3))

    def look(self, row: int, graph: bpy.types.Depsgraph) -> None:
        """Read frame `row`."""
        course = settings_on(self._armature.evaluated_get(graph)).course
        self._found[row] = course.forward, course.left, course.heading

    def course(self, rate: float, start: int) -> Course:
        """Return the course, whose time begins at row `start`."""
        time = (np.arange(len(self._found)) - start) / rate
        return Course(time, *(np.ascontiguousarray(curve) for curve in self._found.T))
