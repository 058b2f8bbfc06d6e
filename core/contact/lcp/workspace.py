# SPDX-License-Identifier: GPL-3.0-or-later
"""What the solvers say (`LcpStatus`) and what they write into (`LcpWorkspace`)."""

from enum import IntEnum

import numpy as np
from numpy.typing import NDArray

from ...maths.structure import Structure


class LcpStatus(IntEnum):
    """How a solver ended. Only SOLVED comes with an answer."""

    SOLVED = 0
    RAY = 1  # Lemke's path left to infinity; for a positive semidefinite M no solution exists
    PIVOT_LIMIT = 2
    SINGULAR = 3  # the basis matrix could not be factorised
    RESIDUAL = 4  # a solver thought it had an answer; the check did not agree
    NOT_FINITE = 5  # M or q holds an infinity or a NaN


# Kernels return plain integers.
SOLVED, RAY, PIVOT_LIMIT, SINGULAR, RESIDUAL, NOT_FINITE = (int(status) for status in LcpStatus)


class LcpWorkspace(Structure):
    """Arrays for problems of up to `maximum` (nm) unknowns; the first n entries belong to the problem at hand.

    Matrices are kept in flat arrays and reshaped to n rows, so that a small problem in a large workspace stays in the
    cache. z, w and basis are the answer; basis is also the guess of a warm start.
    """

    z: NDArray[np.float64]  # (nm,) solution, in the caller's units
    w: NDArray[np.float64]  # (nm,) M z + q, in the caller's units
    basis: NDArray[np.bool_]  # (nm,) True where z is basic: w is zero there, elsewhere z is
    row_scale: NDArray[np.float64]  # (nm,) r in M' = diag(r) M diag(c)
    column_scale: NDArray[np.float64]  # (nm,) c
    matrix: NDArray[np.float64]  # (nm^2,) M', n by n
    vector: NDArray[np.float64]  # (nm,) q' = diag(r) q / |diag(r) q|
    kept: NDArray[np.float64]  # (nm,) best z' so far
    shifted: NDArray[np.float64]  # (nm,) q' of a proximal step
    tableau: NDArray[np.float64]  # (nm (nm + 2),) Lemke's tableau, n by n + 2; the other methods' linear systems
    row: NDArray[np.float64]  # (nm + 2,) one row of it
    tableau_low: NDArray[np.float64]  # (nm (nm + 2),) what Lemke's tableau of twice the digits has beyond `tableau`
    row_low: NDArray[np.float64]  # (nm + 2,) and one row of that
    point: NDArray[np.float64]  # (6, nm) z', w' and directions, in scaled units
    basic: NDArray[np.int64]  # (nm,) variable of each row of the tableau
    nonbasic: NDArray[np.int64]  # (nm + 1,) variable of each column
    place: NDArray[np.int64]  # (2 nm + 1,) column of a nonbasic variable, -1 - row of a basic one
    indices: NDArray[np.int64]  # (2, nm) indices of the basic unknowns; row exchanges of a factorisation


def make_workspace(maximum: int) -> LcpWorkspace:
    """Allocate for problems of up to `maximum` unknowns."""
    size = max(int(maximum), 1)
    return LcpWorkspace(
        z=np.zeros(size),
        w=np.zeros(size),
        basis=np.zeros(size, dtype=np.bool_),
        row_scale=np.ones(size),
        column_scale=np.ones(size),
        matrix=np.zeros(size * size),
        vector=np.zeros(size),
        kept=np.zeros(size),
        shifted=np.zeros(size),
        tableau=np.zeros(size * (size + 2)),
        row=np.zeros(size + 2),
        tableau_low=np.zeros(size * (size + 2)),
        row_low=np.zeros(size + 2),
        point=np.zeros((6, size)),
        basic=np.zeros(size, dtype=np.int64),
        nonbasic=np.zeros(size + 1, dtype=np.int64),
        place=np.zeros(2 * size + 1, dtype=np.int64),
        indices=np.zeros((2, size), dtype=np.int64),
    )
