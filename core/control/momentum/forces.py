# SPDX-License-Identifier: GPL-3.0-or-later
"""Contact forces that do what control asked for, at the contacts that there are: Ye and Liu 2010, eq. 12."""

import numpy as np
from numpy.typing import NDArray

from ...contact import lcp
from ...contact.lcp import LcpWorkspace
from ...contact.lcp.workspace import SOLVED
from ...maths.kernel import kernel
from ...maths.structure import Structure
from ...maths.vectors import Vector, cross

Array = NDArray[np.float64]

EVEN = 1e-5  # weight of each ray's square: of all rays that give the same force and moment, the most even


class ForceWork(Structure):
    """Arrays for m rays."""

    spread: Array  # (6, m) force and moment of each ray
    weighted: Array  # (6, m) the same by the metric
    matrix: Array  # (m, m)
    vector: Array  # (m,)
    ray: Array  # (m,) the answer
    lcp: LcpWorkspace


def make_force_work(rays: int) -> ForceWork:
    """For up to so many rays."""
    return ForceWork(
        spread=np.zeros((6, rays)),
        weighted=np.zeros((6, rays)),
        matrix=np.zeros((rays, rays)),
        vector=np.zeros(rays),
        ray=np.zeros(rays),
        lcp=lcp.make_workspace(rays),
    )


@kernel
def set_ray(work: ForceWork, j: int, arm: Vector, direction: Vector) -> None:
    """What ray j does to the momentum about the centre of mass."""
    moment = cross(arm, direction)
    for i in range(3):
        work.spread[i, j], work.spread[3 + i, j] = direction[i], moment[i]


@kernel
def solve_rays(work: ForceWork, count: int) -> bool:
    """Rays of at least zero that minimise 1/2 r^T matrix r + vector r, into `ray`."""
    if count == 0:
        return True
    for j in range(count):
        work.lcp.basis[j] = work.ray[j] > 0.0
    status, _, _ = lcp.solve(work.lcp, work.matrix, work.vector, count, lcp.AUTO, True)
    if status != SOLVED:
        return False
    for j in range(count):
        work.ray[j] = work.lcp.z[j]
    return True


@kernel
def correct_forces(work: ForceWork, count: int, wrench: Array, metric: Array) -> bool:
    """Eq. 12: lengths of `count` rays whose force and moment are nearest to a `wrench` (6,), by a metric (6, 6)."""
    for i in range(count):
        for k in range(6):
            s = 0.0
            for l in range(6):
                s += metric[k, l] * work.spread[l, i]
            work.weighted[k, i] = s
    for i in range(count):
        s = 0.0
        for k in range(6):
            s -= work.weighted[k, i] * wrench[k]
        work.vector[i] = s
        for j in range(i + 1):
            s = 0.0
            for k in range(6):
                s += work.weighted[k, i] * work.spread[k, j]
            work.matrix[i, j] = s
            work.matrix[j, i] = s
        work.matrix[i, i] += EVEN
    return solve_rays(work, count)
