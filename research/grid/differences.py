# SPDX-License-Identifier: GPL-3.0-or-later
"""Derivatives on grids as matrices, and the linear Bellman equation as dz/dt = M z: da Silva 2010, section 5.3.2.

Beyond the edge of an axis that is not periodic z is zero, eq. 5.8: to leave the grid costs without bound.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import scipy.linalg
import scipy.sparse as sp
from numpy.typing import NDArray

from .axes import Axis
from .problem import Problem

Array = NDArray[np.float64]


class Stencils(NamedTuple):
    """Derivatives along one axis, (count, count)."""

    rising: sp.csr_array  # the first, where the drift is positive
    falling: sp.csr_array  # the first, where the drift is negative
    second: sp.csr_array


Scheme = Callable[[Axis], Stencils]


def upwind(axis: Axis) -> Stencils:
    """(-1, 1) / dx towards where the drift goes, since time runs backwards; first order."""
    ahead, behind = _shift(axis, 1), _shift(axis, -1)
    one = sp.eye_array(axis.count)
    return Stencils(
        sp.csr_array((ahead - one) / axis.spacing), sp.csr_array((one - behind) / axis.spacing), _second(axis)
    )


def central(axis: Axis) -> Stencils:
    """(-1, 0, 1) / 2 dx; second order, and z < 0 where drift outweighs diffusion from node to node."""
    first = sp.csr_array((_shift(axis, 1) - _shift(axis, -1)) / (2.0 * axis.spacing))
    return Stencils(first, first, _second(axis))


def fourier(axis: Axis) -> Stencils:
    """Differentiates the trigonometric polynomial through all nodes, whose number is even; the axis is periodic.

    The first derivative has (-1)^j / 2 cot(j h / 2), h = 2 pi / count, times 2 pi / length, j nodes below the diagonal.
    It is antisymmetric; the thesis prints the same signs on both sides of the diagonal.
    """
    n = axis.count
    if not axis.periodic or n % 2:
        raise ValueError("Fourier differences need a periodic axis with an even number of nodes.")
    angle = np.pi * np.arange(1, n) / n
    sign = np.where(np.arange(1, n) % 2, -1.0, 1.0)
    scale = 2.0 * np.pi / (axis.high - axis.low)
    first = np.concatenate([[0.0], 0.5 * sign / np.tan(angle)])
    second = np.concatenate([[-(n * n + 2.0) / 12.0], -0.5 * sign / np.sin(angle) ** 2])
    D = sp.csr_array(scale * scipy.linalg.toeplitz(first, -first))
    return Stencils(D, D, sp.csr_array(scale**2 * scipy.linalg.toeplitz(second)))


def generator(problem: Problem, scheme: Scheme) -> sp.csr_array:
    """[M] of dz/dt = M z = q z / lambda - a' grad z - tr(C C' hess z) / 2, over the nodes (flat): eq. 5.1.

    The sign of the last term is that of eq. 5.1 and 6.2; chapter 4 prints plus after the substitution. Second
    derivatives along two axes are products of first ones.
    """
    axes, x = problem.axes, problem.states
    stencils = [scheme(axis) for axis in axes]
    drift, covariance = problem.drift(x), problem.covariance()
    M = _diagonal(problem.running(x) / problem.temperature)
    for i, (rising, falling, second) in enumerate(stencils):
        a = drift[..., i]
        M -= _diagonal(np.maximum(a, 0.0)) @ _along(axes, i, rising)
        M -= _diagonal(np.minimum(a, 0.0)) @ _along(axes, i, falling)
        M -= _diagonal(0.5 * covariance[..., i, i]) @ _along(axes, i, second)
        for j in range(i):
            if np.any(covariance[..., i, j]):
                first_i, first_j = (0.5 * (each.rising + each.falling) for each in (stencils[i], stencils[j]))
                M -= _diagonal(covariance[..., i, j]) @ _along(axes, i, first_i) @ _along(axes, j, first_j)
    return sp.csr_array(M)


def _along(axes: tuple[Axis, ...], k: int, matrix: sp.csr_array) -> sp.csr_array:
    """What acts along one axis, on the values at all nodes."""
    before, after = (int(np.prod([axis.count for axis in part])) for part in (axes[:k], axes[k + 1 :]))
    return sp.csr_array(sp.kron(sp.kron(sp.eye_array(before), matrix), sp.eye_array(after)))


def _diagonal(values: Array) -> sp.csr_array:
    return sp.csr_array(sp.diags_array(values.ravel()))


def _shift(axis: Axis, by: int) -> sp.csr_array:
    """Each node's neighbour."""
    n = axis.count
    return sp.csr_array(np.roll(np.eye(n), by, axis=1) if axis.periodic else np.eye(n, k=by))


def _second(axis: Axis) -> sp.csr_array:
    """(1, -2, 1) / dx^2."""
    return sp.csr_array((_shift(axis, 1) + _shift(axis, -1) - 2.0 * sp.eye_array(axis.count)) / axis.spacing**2)
