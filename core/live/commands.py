# SPDX-License-Identifier: GPL-3.0-or-later
"""How fast to walk, and where to, said as a world runs, in the course that its walk looks at.

A course is straight lines between frames, so a command has to be there before the frame that leads to it; it is written
into the course's own arrays, from that frame on. It is in single precision, as keys in Blender are: so what is keyed
afterwards is what was walked by, to the last bit.
"""

import math

import numpy as np

from ..simulation import Course
from .inputs import Command


class Commands:
    """Writes into a course, whose times count from the start of the simulation."""

    def __init__(self, course: Course) -> None:
        self._course = course

    def give(self, command: Command, seconds: float) -> None:
        """Walk so from now on. What the walk may have looked at already stays as it is."""
        course = self._course
        first = int(np.searchsorted(course.time, seconds)) + 1
        for curve, value in (
            (course.forward, command.forward),
            (course.left, command.left),
            (course.heading, command.heading),
        ):
            curve[first:] = np.float32(value)

    def taken(self, seconds: float, fps: float) -> Course:
        """The course until then, counted from the job's first frame on."""
        course, frames = self._course, min(math.ceil(seconds * fps) + 2, len(self._course.time))
        curves = (curve[:frames].copy() for curve in (course.forward, course.left, course.heading))
        return Course(np.arange(frames) / fps, *curves)


def room_for(course: Course, seconds: float, fps: float) -> Course:
    """The same course at whole frames, for so long."""
    time = np.arange(math.ceil(seconds * fps) + 3) / fps
    curves = (np.interp(time, course.time, curve) for curve in (course.forward, course.left, course.heading))
    return Course(time, *(curve.astype(np.float32).astype(np.float64) for curve in curves))
