# SPDX-License-Identifier: GPL-3.0-or-later
"""Inverse kinematics of a leg, in closed form: a ball at the hip, a hinge at the knee.

Bones may lie anywhere beside the knee's axis a: with the knee bent by t, the ankle is at u + R(a, t) w in the thigh's
frame. Its distance from the hip gives t; which way the whole then has to point, and where the axis, gives the thigh.
"""

import math

from ...maths.kernel import inlined_kernel
from ...maths.rotations import Quaternion, quaternion_exp, quaternion_from_matrix, quaternion_rotate
from ...maths.vectors import Matrix, Vector, add, add_scaled, cross, dot, matrix_product, scale

# The leg stays this share short of straight, where the knee's rate would grow beyond all bounds.
STRAIGHT = 1e-3


@inlined_kernel
def bend_knee(thigh: Vector, shank: Vector, axis: Vector, distance: float, forward: float) -> float:
    """Angle [t] of the knee that puts the ankle that far from the hip, or as near to it as it reaches.

    |u + R w|² = |u|² + |w|² + 2 (c + x cos t + y sin t), c and x and y by Rodrigues' formula. `forward` 1 takes the
    solution on the positive side of the straight leg, -1 the other.
    """
    along = dot(thigh, axis) * dot(shank, axis)
    x = dot(thigh, shank) - along
    y = dot(thigh, cross(axis, shank))
    size = math.sqrt(x * x + y * y)
    middle = dot(thigh, thigh) + dot(shank, shank) + 2.0 * along
    longest = (1.0 - STRAIGHT) ** 2 * (middle + 2.0 * size)
    cosine = (min(distance * distance, longest) - middle) / (2.0 * size)
    return math.atan2(y, x) + forward * math.acos(min(max(cosine, -1.0), 1.0))


@inlined_kernel
def aim_thigh(thigh: Vector, shank: Vector, axis: Vector, knee: float, target: Vector, side: Vector) -> Quaternion:
    """Orientation of the thigh that points the ankle at `target`, seen from the hip, the knee's axis near `side`."""
    ankle = add(thigh, quaternion_rotate(quaternion_exp(scale(knee, axis)), shank))
    there, here = _frame(target, side), _frame(ankle, axis)
    back = (here[0], here[3], here[6], here[1], here[4], here[7], here[2], here[5], here[8])
    return quaternion_from_matrix(matrix_product(there, back))


@inlined_kernel
def _frame(first: Vector, second: Vector) -> Matrix:
    """Columns: along `first`, `second` made orthogonal to it, and their cross product."""
    x = scale(1.0 / math.sqrt(dot(first, first)), first)
    y = add_scaled(second, -dot(second, x), x)
    y = scale(1.0 / math.sqrt(dot(y, y)), y)
    z = cross(x, y)
    return x[0], y[0], z[0], x[1], y[1], z[1], x[2], y[2], z[2]
