# SPDX-License-Identifier: GPL-3.0-or-later
"""Rotations of whole clips: the formulas of `maths.rotations` over arrays (..., 4), w-x-y-z."""

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


def multiply(a: Array, b: Array) -> Array:
    """Hamilton product a b: the rotation b, then a."""
    aw, ax, ay, az = (a[..., i] for i in range(4))
    bw, bx, by, bz = (b[..., i] for i in range(4))
    return np.stack(
        [
            aw * bw - ax * bx - ay * by - az * bz,
            aw * bx + ax * bw + ay * bz - az * by,
            aw * by - ax * bz + ay * bw + az * bx,
            aw * bz + ax * by - ay * bx + az * bw,
        ],
        axis=-1,
    )


def conjugate(a: Array) -> Array:
    """The inverse rotation."""
    result: Array = a * np.array([1.0, -1.0, -1.0, -1.0])
    return result


def normalize(a: Array) -> Array:
    """Unit quaternions along `a`."""
    result: Array = a / np.linalg.norm(a, axis=-1, keepdims=True)
    return result


def rotate(a: Array, vector: Array) -> Array:
    """Vectors (..., 3) turned by `a`: v + 2 u x (u x v + w v)."""
    u, w = a[..., 1:], a[..., :1]
    result: Array = vector + 2.0 * cross(u, cross(u, vector) + w * vector)
    return result


def cross(a: Array, b: Array) -> Array:
    """Cross products (..., 3), to the bits of numpy's, which takes five times as long for a single one."""
    ax, ay, az = a[..., 0], a[..., 1], a[..., 2]
    bx, by, bz = b[..., 0], b[..., 1], b[..., 2]
    result = np.empty(np.broadcast_shapes(a.shape, b.shape))
    result[..., 0] = ay * bz - az * by
    result[..., 1] = az * bx - ax * bz
    result[..., 2] = ax * by - ay * bx
    return result


def exp(d: Array) -> Array:
    """Unit quaternions of rotation vectors (..., 3)."""
    angle = np.linalg.norm(d, axis=-1, keepdims=True)
    # sin(a / 2) / a without a division by zero: numpy's sinc(x) is sin(pi x) / (pi x)
    return np.concatenate([np.cos(0.5 * angle), 0.5 * np.sinc(angle / (2.0 * np.pi)) * d], axis=-1)


def log(a: Array) -> Array:
    """Rotation vectors (..., 3), of angles of at most pi."""
    sine = np.linalg.norm(a[..., 1:], axis=-1, keepdims=True)
    angle = 2.0 * np.arctan2(sine, np.abs(a[..., :1]))
    factor = np.divide(angle, sine, out=np.full_like(sine, 2.0), where=sine > 0.0)
    result: Array = np.where(a[..., :1] < 0.0, -factor, factor) * a[..., 1:]
    return result


def angle(a: Array, b: Array) -> Array:
    """Angle (...) between two rotations."""
    between = multiply(conjugate(a), b)
    result: Array = 2.0 * np.arctan2(np.linalg.norm(between[..., 1:], axis=-1), np.abs(between[..., 0]))
    return result


def matrix(a: Array) -> Array:
    """Rotation matrices (..., 3, 3)."""
    w, x, y, z = (a[..., i] for i in range(4))
    rows = [
        [1.0 - 2.0 * (y * y + z * z), 2.0 * (x * y - w * z), 2.0 * (x * z + w * y)],
        [2.0 * (x * y + w * z), 1.0 - 2.0 * (x * x + z * z), 2.0 * (y * z - w * x)],
        [2.0 * (x * z - w * y), 2.0 * (y * z + w * x), 1.0 - 2.0 * (x * x + y * y)],
    ]
    return np.stack([np.stack(row, axis=-1) for row in rows], axis=-2)


def from_matrix(m: Array) -> Array:
    """Unit quaternions of rotation matrices (..., 3, 3), by the largest of their four squares (Shepperd 1978)."""
    xx, yy, zz = m[..., 0, 0], m[..., 1, 1], m[..., 2, 2]
    wx, wy, wz = m[..., 2, 1] - m[..., 1, 2], m[..., 0, 2] - m[..., 2, 0], m[..., 1, 0] - m[..., 0, 1]
    xy, xz, yz = m[..., 0, 1] + m[..., 1, 0], m[..., 0, 2] + m[..., 2, 0], m[..., 1, 2] + m[..., 2, 1]
    # row i is 4 q_i q, so the longest row is the one that divides by the largest number
    rows = np.stack(
        [
            np.stack([1.0 + xx + yy + zz, wx, wy, wz], axis=-1),
            np.stack([wx, 1.0 + xx - yy - zz, xy, xz], axis=-1),
            np.stack([wy, xy, 1.0 - xx + yy - zz, yz], axis=-1),
            np.stack([wz, xz, yz, 1.0 - xx - yy + zz], axis=-1),
        ],
        axis=-2,
    )
    largest = np.argmax(np.diagonal(rows, axis1=-2, axis2=-1), axis=-1)
    return normalize(np.take_along_axis(rows, largest[..., None, None], axis=-2)[..., 0, :])


def continuous(a: Array) -> Array:
    """The same rotations with signs such that successive ones along the first axis lie in one hemisphere."""
    agrees = np.sum(a[1:] * a[:-1], axis=-1) >= 0.0
    sign = np.ones(a.shape[:-1])
    sign[1:] = np.cumprod(np.where(agrees, 1.0, -1.0), axis=0)
    result: Array = a * sign[..., None]
    return result


def between(start: Array, end: Array) -> Array:
    """The shortest rotation (4,) that turns the direction `start` (3,) into `end` (3,)."""
    a, b = start / np.linalg.norm(start), end / np.linalg.norm(end)
    axis, cosine = np.cross(a, b), float(a @ b)
    if cosine < -1.0 + 1e-12:  # opposite: half a turn about any axis across
        axis = np.cross(a, np.eye(3)[np.argmin(np.abs(a))])
        return np.concatenate([[0.0], axis / np.linalg.norm(axis)])
    return normalize(np.concatenate([[1.0 + cosine], axis]))


def mean(a: Array) -> Array:
    """The mean (4,) of rotations (n, 4), whatever their signs: the leading eigenvector of sum q q^T.

    F. L. Markley et al., "Averaging Quaternions", Journal of Guidance, Control, and Dynamics 30(4), 2007.
    """
    vector: Array = np.linalg.eigh(a.T @ a)[1][:, -1]
    return vector if vector[0] >= 0.0 else -vector
