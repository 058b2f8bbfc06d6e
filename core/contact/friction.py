# SPDX-License-Identifier: GPL-3.0-or-later
"""Friction pyramids: the directions in which friction may act at a contact.

Friction is a sum of nonnegative impulses along four directions d_k, a tangent, that at right angles to it, and their
opposites; together they are at most mu times the normal impulse. That is Coulomb's cone inscribed with a pyramid whose
edges are the d_k: exact along an edge, short of it by 1 - cos(pi / 4), 29 %, half-way between. It is therefore turned
so that an edge opposes the sliding, where the bound is reached and its size matters; a contact that does not slide gets
a default that depends on its normal alone, so that it does not turn from step to step.
"""

import math

import numpy as np

from ..maths.kernel import kernel
from ..maths.vectors import Vector, add_scaled, dot, scale

# Tangential speed below which a contact counts as sticking, m/s.
SLIDING_SPEED = 1e-3


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
