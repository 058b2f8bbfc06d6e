# SPDX-License-Identifier: GPL-3.0-or-later
"""Time stepping of dz/dt = M z from the last time backwards: da Silva 2010, section 5.3.1.

Each method takes M and the step h and gives what takes z(t + h) to z(t) = R(w) z(t + h), w = -h M; what is implicit is
factorised once. All are linear, so that solutions add up: z may be (nodes,) or (nodes, solutions).
"""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import scipy.linalg
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.sparse.linalg import splu

Array = NDArray[np.float64]
Step = Callable[[Array], Array]
Method = Callable[[sp.csr_array, float], Step]

SPARSE = 0.2  # share of entries above which a matrix is factorised as a dense one
ROOT = 2.0 + 1j * np.sqrt(2.0)  # of 1 - 2 w / 3 + w^2 / 6
RESIDUE = (1.0 + ROOT / 3.0) / (-2.0 / 3.0 + ROOT / 3.0)


def forward_euler(M: sp.csr_array, h: float) -> Step:
    """R = 1 + w: first order; stable only for steps in proportion to the square of the grid's spacing."""
    return lambda z: z - h * (M @ z)


def backward_euler(M: sp.csr_array, h: float) -> Step:
    """R = 1 / (1 - w): first order, stable, and positive with upwind differences."""
    return _solver(_identity(M) + h * M)


def crank_nicolson(M: sp.csr_array, h: float) -> Step:
    """R = (1 + w / 2) / (1 - w / 2): second order, stable, but does not damp what is rough."""
    solve: Step = _solver(_identity(M) + 0.5 * h * M)
    return lambda z: solve(z - 0.5 * h * (M @ z))


def runge_kutta_3(M: sp.csr_array, h: float) -> Step:
    """R = 1/3 + 2/3 E (3/4 + 1/4 E E), E = 1 + w: third order.

    The thesis calls it implicit, "IRK3"; it is the explicit strong-stability-preserving scheme.
    """
    euler = forward_euler(M, h)
    return lambda z: z / 3.0 + 2.0 / 3.0 * euler(0.75 * z + 0.25 * euler(euler(z)))


def radau(M: sp.csr_array, h: float) -> Step:
    """R = (1 + w / 3) / (1 - 2 w / 3 + w^2 / 6): Radau IIA with two stages, third order, implicit.

    In partial fractions it is the real part of 2 c / (w - r), r one of the denominator's two roots: one complex system.
    """
    solve = _solver(h * M + ROOT * _identity(M))

    def step(z: Array) -> Array:
        return np.real(-2.0 * RESIDUE * solve(z.astype(np.complex128)))

    return step


def march(step: Step, last: Array, steps: int) -> Array:
    """Rewards z at each time, (steps + 1, *last.shape), from the last one backwards."""
    found = np.empty((steps + 1, *last.shape))
    found[-1] = last
    for k in range(steps - 1, -1, -1):
        found[k] = step(found[k + 1])
    return found


def _identity(M: sp.csr_array) -> sp.csr_array:
    return sp.csr_array(sp.eye_array(M.shape[0]))


def _solver(A: sp.csr_array) -> Callable[[NDArray[Any]], NDArray[Any]]:
    if A.nnz < SPARSE * A.shape[0] ** 2:
        solve: Callable[[NDArray[Any]], NDArray[Any]] = splu(sp.csc_array(A)).solve
        return solve
    return partial(scipy.linalg.lu_solve, scipy.linalg.lu_factor(A.toarray()))
