# SPDX-License-Identifier: GPL-3.0-or-later
"""Spatial vectors: (linear, angular) pairs of motions and of forces about one common point, and rigid inertias.

Featherstone, Rigid Body Dynamics Algorithms (2008), chapter 2, with the linear part first. An inertia is a row of ten
numbers: mass, first moment (mass times centre of mass), and xx xy xz yy yz zz of the rotational inertia.
"""

import numpy as np
from numpy.typing import NDArray

from .kernel import inlined_kernel
from .vectors import Vector, add, cross, dot, row, row_angular, scale

Symmetric = tuple[float, float, float, float, float, float]


@inlined_kernel
def symmetric_vector(m: Symmetric, a: Vector) -> Vector:
    """Product of the symmetric matrix xx xy xz yy yz zz with a vector."""
    return (
        m[0] * a[0] + m[1] * a[1] + m[2] * a[2],
        m[1] * a[0] + m[3] * a[1] + m[4] * a[2],
        m[2] * a[0] + m[4] * a[1] + m[5] * a[2],
    )


@inlined_kernel
def symmetric_solve(m: Symmetric, a: Vector) -> Vector:
    """The x with m x = a, by Cramer's rule."""
    x, y, z = (m[0], m[1], m[2]), (m[1], m[3], m[4]), (m[2], m[4], m[5])
    yz = cross(y, z)
    s = 1.0 / dot(x, yz)
    return s * dot(a, yz), s * dot(a, cross(z, x)), s * dot(a, cross(x, y))


@inlined_kernel
def inertia_momentum(inertia: NDArray[np.float64], b: int, linear: Vector, angular: Vector) -> tuple[Vector, Vector]:
    """Momentum I m, about the common point, of row b's inertia moving with m = (linear, angular)."""
    moment = (inertia[b, 1], inertia[b, 2], inertia[b, 3])
    rotational = (inertia[b, 4], inertia[b, 5], inertia[b, 6], inertia[b, 7], inertia[b, 8], inertia[b, 9])
    return (
        add(scale(inertia[b, 0], linear), cross(angular, moment)),
        add(symmetric_vector(rotational, angular), cross(moment, linear)),
    )


@inlined_kernel
def motion_cross(a_linear: Vector, a_angular: Vector, linear: Vector, angular: Vector) -> tuple[Vector, Vector]:
    """Rate of the motion vector m = (linear, angular) carried along by the motion a: a x m."""
    return add(cross(a_angular, linear), cross(a_linear, angular)), cross(a_angular, angular)


@inlined_kernel
def force_cross(a_linear: Vector, a_angular: Vector, force: Vector, moment: Vector) -> tuple[Vector, Vector]:
    """Rate of the force vector (force, moment) carried along by the motion a: a x* f."""
    return cross(a_angular, force), add(cross(a_linear, force), cross(a_angular, moment))


@inlined_kernel
def row_dot(array: NDArray[np.float64], i: int, linear: Vector, angular: Vector) -> float:
    """Inner product of row i of (n, 6) with (linear, angular): power, if one is a motion and the other a force."""
    return dot(row(array, i), linear) + dot(row_angular(array, i), angular)
