# SPDX-License-Identifier: GPL-3.0-or-later
"""Rotations: unit quaternions w-x-y-z, rotation vectors, and the derivative of one with respect to the other.

A rotation vector is axis times angle. Small changes are multiplied on the right, q -> q exp(d), so d lives in the
rotated body's frame. Formulas after Sola, Deray and Atchuthan, "A micro Lie theory" (2018), section on SO(3) and S^3;
each is evaluated in a form that loses no digits near an angle of zero or of pi.
"""

import math

import numpy as np
from numpy.typing import NDArray

from .kernel import inlined_kernel
from .vectors import Matrix, Vector

Quaternion = tuple[float, float, float, float]

# Below this angle, squared, closed forms that subtract nearly equal numbers give way to their power series.
SERIES_BELOW = 0.25


@inlined_kernel
def quaternion_row(array: NDArray[np.float64], i: int) -> Quaternion:
    """Row i of (n, 4)."""
    return array[i, 0], array[i, 1], array[i, 2], array[i, 3]


@inlined_kernel
def quaternion_multiply(a: Quaternion, b: Quaternion) -> Quaternion:
    """Hamilton product a b: the rotation b, then a, seen from outside."""
    return (
        a[0] * b[0] - a[1] * b[1] - a[2] * b[2] - a[3] * b[3],
        a[0] * b[1] + a[1] * b[0] + a[2] * b[3] - a[3] * b[2],
        a[0] * b[2] - a[1] * b[3] + a[2] * b[0] + a[3] * b[1],
        a[0] * b[3] + a[1] * b[2] - a[2] * b[1] + a[3] * b[0],
    )


@inlined_kernel
def quaternion_conjugate(a: Quaternion) -> Quaternion:
    """The inverse rotation."""
    return a[0], -a[1], -a[2], -a[3]


@inlined_kernel
def quaternion_normalize(a: Quaternion) -> Quaternion:
    """The unit quaternion along `a`."""
    s = 1.0 / math.sqrt(a[0] * a[0] + a[1] * a[1] + a[2] * a[2] + a[3] * a[3])
    return s * a[0], s * a[1], s * a[2], s * a[3]


@inlined_kernel
def quaternion_rotate(a: Quaternion, b: Vector) -> Vector:
    """The vector b turned by the unit quaternion a: b + 2 u x (u x b + w b)."""
    x = a[2] * b[2] - a[3] * b[1] + a[0] * b[0]
    y = a[3] * b[0] - a[1] * b[2] + a[0] * b[1]
    z = a[1] * b[1] - a[2] * b[0] + a[0] * b[2]
    return (
        b[0] + 2.0 * (a[2] * z - a[3] * y),
        b[1] + 2.0 * (a[3] * x - a[1] * z),
        b[2] + 2.0 * (a[1] * y - a[2] * x),
    )


@inlined_kernel
def quaternion_matrix(a: Quaternion) -> Matrix:
    """The rotation matrix of the unit quaternion a, row by row."""
    w, x, y, z = a[0], a[1], a[2], a[3]
    return (
        1.0 - 2.0 * (y * y + z * z),
        2.0 * (x * y - w * z),
        2.0 * (x * z + w * y),
        2.0 * (x * y + w * z),
        1.0 - 2.0 * (x * x + z * z),
        2.0 * (y * z - w * x),
        2.0 * (x * z - w * y),
        2.0 * (y * z + w * x),
        1.0 - 2.0 * (x * x + y * y),
    )


@inlined_kernel
def quaternion_from_matrix(m: Matrix) -> Quaternion:
    """The unit quaternion, w >= 0, of a rotation matrix; by the largest of its four squares (Shepperd 1978)."""
    trace = m[0] + m[4] + m[8]
    if trace >= m[0] and trace >= m[4] and trace >= m[8]:
        a = (1.0 + trace, m[7] - m[5], m[2] - m[6], m[3] - m[1])
    elif m[0] >= m[4] and m[0] >= m[8]:
        a = (m[7] - m[5], 1.0 + m[0] - m[4] - m[8], m[1] + m[3], m[2] + m[6])
    elif m[4] >= m[8]:
        a = (m[2] - m[6], m[1] + m[3], 1.0 + m[4] - m[0] - m[8], m[5] + m[7])
    else:
        a = (m[3] - m[1], m[2] + m[6], m[5] + m[7], 1.0 + m[8] - m[0] - m[4])
    s = 1.0 / math.sqrt(a[0] * a[0] + a[1] * a[1] + a[2] * a[2] + a[3] * a[3])
    if a[0] < 0.0:
        s = -s
    return s * a[0], s * a[1], s * a[2], s * a[3]


@inlined_kernel
def quaternion_exp(d: Vector) -> Quaternion:
    """The unit quaternion of a rotation vector."""
    angle = math.sqrt(d[0] * d[0] + d[1] * d[1] + d[2] * d[2])
    s = math.sin(0.5 * angle) / angle if angle > 0.0 else 0.5
    return math.cos(0.5 * angle), s * d[0], s * d[1], s * d[2]


@inlined_kernel
def quaternion_log(a: Quaternion) -> Vector:
    """The rotation vector, of an angle of at most pi, of a unit quaternion (a and -a are the same rotation)."""
    sine = math.sqrt(a[1] * a[1] + a[2] * a[2] + a[3] * a[3])
    # The arc tangent of both keeps its digits at either end, where arc cosine (at 0) or arc sine (at pi) loses half.
    s = 2.0 * math.atan2(sine, abs(a[0])) / sine if sine > 0.0 else 2.0
    if a[0] < 0.0:
        s = -s
    return s * a[1], s * a[2], s * a[3]


@inlined_kernel
def _identity_and_two_powers(d: Vector, first: float, second: float) -> Matrix:
    """I + first [d] + second [d]^2, with [d]^2 = d d^T - (d.d) I."""
    x, y, z = d[0], d[1], d[2]
    return (
        1.0 - second * (y * y + z * z),
        second * x * y - first * z,
        second * x * z + first * y,
        second * x * y + first * z,
        1.0 - second * (x * x + z * z),
        second * y * z - first * x,
        second * x * z - first * y,
        second * y * z + first * x,
        1.0 - second * (x * x + y * y),
    )


@inlined_kernel
def right_jacobian(d: Vector) -> Matrix:
    """J_r with exp(d + e) = exp(d) exp(J_r e) for small e: I - (1 - cos t)/t^2 [d] + (t - sin t)/t^3 [d]^2, t = |d|."""
    t2 = d[0] * d[0] + d[1] * d[1] + d[2] * d[2]
    t = math.sqrt(t2)
    if t2 < SERIES_BELOW:
        second = (
            1.0 - t2 / 20.0 * (1.0 - t2 / 42.0 * (1.0 - t2 / 72.0 * (1.0 - t2 / 110.0 * (1.0 - t2 / 156.0))))
        ) / 6.0
    else:
        second = (t - math.sin(t)) / (t2 * t)
    # 1 - cos t = 2 sin^2(t/2), which does not cancel
    half_sinc = math.sin(0.5 * t) / t if t > 0.0 else 0.5
    return _identity_and_two_powers(d, -2.0 * half_sinc * half_sinc, second)


@inlined_kernel
def right_jacobian_inverse(d: Vector) -> Matrix:
    """J_r^-1, with log(exp(d) exp(e)) = d + J_r^-1 e: I + [d]/2 + (1 - (t/2) cot(t/2))/t^2 [d]^2; for t below 2 pi."""
    t2 = d[0] * d[0] + d[1] * d[1] + d[2] * d[2]
    if t2 < SERIES_BELOW:
        # Bernoulli numbers: |B_2n| t^(2n-2) / (2n)!
        second = 1.0 / 12.0 + t2 * (
            1.0 / 720.0
            + t2
            * (
                1.0 / 30240.0
                + t2 * (1.0 / 1209600.0 + t2 * (1.0 / 47900160.0 + t2 * (691.0 / 1307674368000.0 + t2 / 74724249600.0)))
            )
        )
    else:
        half = 0.5 * math.sqrt(t2)
        second = (1.0 - half * math.cos(half) / math.sin(half)) / t2
    return _identity_and_two_powers(d, 0.5, second)
