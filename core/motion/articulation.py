# SPDX-License-Identifier: GPL-3.0-or-later
"""What kind of joint a motion is: its axes, its centre, and how far the motion strays from them.

R_i, the child's rotation seen from the parent, is given as quaternions (n, 4). A hinge keeps one direction b of the
child on one direction a of the parent, R_i b = a. A universal joint turns about a of the parent, then about b of the
child: the two keep their angle, a . R_i b = const.
"""

from typing import NamedTuple

import numpy as np

from . import quaternions
from .quaternions import Array

MOST_SAMPLES = 400  # of a clip are enough to find an axis
STARTS = np.array(
    [[1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 1, 0], [1, -1, 0], [1, 0, 1], [1, 0, -1], [0, 1, 1], [0, 1, -1]]
)


class Hinge(NamedTuple):
    """An axis in both bodies, and what of the motion is not about it."""

    parent_axis: Array  # (3,)
    child_axis: Array  # (3,)
    stray: float  # RMS angle between the two, rad
    swept: float  # RMS angle of the motion about it, rad


class Universal(NamedTuple):
    """Two axes, the angle that they keep, and what of the motion would change it."""

    parent_axis: Array  # (3,)
    child_axis: Array  # (3,)
    angle: float  # between the two, rad
    stray: float  # RMS change of that angle, rad


def fit_hinge(rotation: Array) -> Hinge:
    """The hinge nearest to the motion.

    The sum of |R_i b - a|² is least where a . (mean R) b is greatest: at the leading singular vectors of the mean.
    """
    matrices = quaternions.matrix(_thinned(rotation))
    left, size, right = np.linalg.svd(matrices.mean(axis=0))
    a, b = left[:, 0], right[0]
    if a @ matrices[0] @ b < 0.0:
        b = -b
    # across the axis, the mean of rotations by angles t is that of cos t (and sin t), of length below one
    swept = np.sqrt(max(0.0, 2.0 - 2.0 * min(1.0, float(size[1]))))
    return Hinge(a, b, hinge_stray(rotation, a, b), float(swept))


def hinge_stray(rotation: Array, parent_axis: Array, child_axis: Array) -> float:
    """RMS angle by which the motion carries the child's axis off the parent's."""
    carried = quaternions.rotate(rotation, child_axis)
    angle = np.arctan2(np.linalg.norm(np.cross(carried, parent_axis), axis=1), carried @ parent_axis)
    return float(np.sqrt(np.mean(angle**2)))


def fit_universal(rotation: Array) -> Universal | None:
    """The universal joint nearest to the motion, or None where only parallel axes would fit.

    The variance of a . R_i b is quadratic in a and in b by turns: each is the last eigenvector of a covariance.
    """
    matrices = quaternions.matrix(_thinned(rotation))
    best: tuple[float, Array, Array] | None = None
    for start in STARTS:
        a = start / np.linalg.norm(start)
        b = a
        for _ in range(40):
            b = _steadiest(np.einsum("nij,i->nj", matrices, a))
            a = _steadiest(np.einsum("nij,j->ni", matrices, b))
        cosines = np.einsum("i,nij,j->n", a, matrices, b)
        if abs(cosines.mean()) < 0.7 and (best is None or cosines.var() < best[0] - 1e-12):
            best = (float(cosines.var()), a, b)
    if best is None:
        return None
    _, a, b = best
    angles = np.arccos(np.clip(quaternions.rotate(rotation, b) @ a, -1.0, 1.0))
    return Universal(a, b, float(angles.mean()), float(angles.std()))


def fit_center(
    parent: tuple[Array, Array], child: tuple[Array, Array], prior: tuple[Array, Array], weight: float
) -> tuple[Array, Array]:
    """The point of both bodies that stays together best: their functional joint centre, in either's frame.

    Least squares of p + R c - (p' + R' c') over all frames, with `weight` of a frame's square on the distance of c and
    c' from a prior place: without it, a motion about one axis would leave the centre free along it. `parent` and
    `child` are positions (n, 3) and orientations (n, 4).
    """
    thin = max(1, len(parent[0]) // MOST_SAMPLES)
    (p, r), (p_child, r_child) = ((place[::thin], turn[::thin]) for place, turn in (parent, child))
    count = len(p)
    rows = np.concatenate([quaternions.matrix(r), -quaternions.matrix(r_child)], axis=2).reshape(3 * count, 6)
    right = (p_child - p).reshape(3 * count)
    strength = np.sqrt(weight * count)
    matrix = np.concatenate([rows, strength * np.eye(6)])
    solution = np.linalg.lstsq(matrix, np.concatenate([right, strength * np.concatenate(prior)]), rcond=None)[0]
    return solution[:3], solution[3:]


def _steadiest(vectors: Array) -> Array:
    """The direction along which vectors (n, 3) vary least."""
    centred = vectors - vectors.mean(axis=0)
    result: Array = np.linalg.eigh(centred.T @ centred)[1][:, 0]
    return result


def _thinned(rotation: Array) -> Array:
    return rotation[:: max(1, len(rotation) // MOST_SAMPLES)]
