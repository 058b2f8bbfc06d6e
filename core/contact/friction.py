# SPDX-License-Identifier: GPL-3.0-or-later
"""Friction pyramids: the directions in which friction may act at a contact.

Friction is a sum of nonnegative impulses along `sides` directions d_k, evenly spread in the tangent plane; together
they are at most mu times the normal impulse. That is Coulomb's cone inscribed with a pyramid whose edges are the d_k:
exact along an edge, short of it by 1 - cos(pi / sides) half-way between (29 % for four sides, 13 % for six). It is
therefore turned so that an edge opposes the sliding, where the bound is reached and its size matters; a contact that
does not slide gets a default that depends on its normal alone, so that it does not turn from step to step.
"""

import math

import numpy as np
from numpy.typing import NDArray

from ..maths.kernel import kernel
from ..maths.vectors import Vector, add_scaled, cross, dot, scale, set_row

# Tangential speed below which a contact counts as sticking, m/s.
SLIDING_SPEED = 1e-3
SIDES = (4, 6)


@kernel
def first_tangent(normal: Vector, sliding: Vector) -> Vector:
    """Unit tangent along the sliding velocity, or the default: the world's X (or Y) axis laid into the plane."""
    t = add_scaled(sliding, -dot(sliding, normal), normal)
    speed = math.sqrt(dot(t, t))
    if not SLIDING_SPEED < speed < np.inf:
        axis = (1.0, 0.0, 0.0) if abs(normal[0]) < 0.8 else (0.0, 1.0, 0.0)
        t = add_scaled(axis, -dot(axis, normal), normal)
        speed = math.sqrt(dot(t, t))
    return scale(1.0 / speed, t)


@kernel
def friction_directions(normal: Vector, sliding: Vector, sides: int, out: NDArray[np.float64]) -> None:
    """Fill out (sides, 3) with unit directions, counterclockwise about the normal from the sliding direction on.

    `normal` is a unit vector, `sliding` the relative velocity of the contact before the step. An even number of sides
    has every direction's opposite among the others, so an edge lies along the sliding and one against it.
    """
    t = first_tangent(normal, sliding)
    s = cross(normal, t)
    for k in range(sides):
        if 2 * k >= sides:
            # Opposites are exactly opposite.
            for x in range(3):
                out[k, x] = -out[k - sides // 2, x]
        else:
            angle = 2.0 * math.pi * k / sides
            set_row(out, k, add_scaled(scale(math.cos(angle), t), math.sin(angle), s))
