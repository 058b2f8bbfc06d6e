# SPDX-License-Identifier: GPL-3.0-or-later
"""Turns about the vertical, and of balls."""

import math

import numpy as np
from numpy.typing import NDArray

from ...maths.kernel import inlined_kernel
from ...maths.rotations import Quaternion
from ...maths.vectors import Vector

Array = NDArray[np.float64]


@inlined_kernel
def turned(a: Vector, angle: float) -> Vector:
    """Turned about the vertical."""
    c, s = math.cos(angle), math.sin(angle)
    return c * a[0] - s * a[1], s * a[0] + c * a[1], a[2]


@inlined_kernel
def twist(a: Quaternion, axis: Vector) -> float:
    """The part of a turn that is about a unit axis."""
    return 2.0 * math.atan2(a[1] * axis[0] + a[2] * axis[1] + a[3] * axis[2], a[0])


@inlined_kernel
def set_ball(goal: Array, i: int, a: Quaternion) -> None:
    """Write a quaternion from entry i on."""
    goal[i], goal[i + 1], goal[i + 2], goal[i + 3] = a[0], a[1], a[2], a[3]
