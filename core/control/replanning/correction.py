# SPDX-License-Identifier: GPL-3.0-or-later
"""What actuation answers to contact forces that differ from the plan's: Jain and Liu 2011, eq. 25 to 27.

The difference df is found by the simulator's contact problem, with gaps in the rows of eq. 30; the answer is linear,
dI = X df. With Z = dt Phi^T J^T, of rigid and of low-frequency modes, and A(dt) = dt,

    low   minimise |P dI + Q df|^2 + W_a |dI|^2, the gradient of E (eq. 25) in dI and in df:
          P = dt^2 (1; Z_l^T),  Q = dt^2 (Z_l; Z_r^T Z_r + Z_l^T Z_l),  so with R = Z_l Z_l^T, w = W_a / dt^4
          X = -(1 + R + w)^-1 [(1 + R) Z_l + (Z_l Z_r^T) Z_r]
    high  X = -s Z: they resist by a share s; with the paper's 1 contact does not move them
"""

import numpy as np
from numpy.typing import NDArray

from ...maths.dense import cholesky, cholesky_solve_rows
from ...maths.kernel import kernel
from ...maths.structure import Structure
from .modes import RIGID

Array = NDArray[np.float64]


class CorrectionWork(Structure):
    """Scratch, and the answer; flat arrays are used in the size that the step needs."""

    answer: Array  # (motors 3 nc,) X / dt by forces: of all modes but rigid ones
    square: Array  # (motors motors,) 1 + R + w
    own: Array  # (motors motors,) 1 + R
    across: Array  # (motors, 6) Z_l Z_r^T


def make_correction_work(motors: int, candidates: int) -> CorrectionWork:
    """Allocate."""
    return CorrectionWork(
        answer=np.zeros(motors * 3 * candidates),
        square=np.zeros(motors * motors),
        own=np.zeros(motors * motors),
        across=np.zeros((motors, RIGID)),
    )


@kernel
def update_answer(Y: Array, n: int, high: int, dt: float, effort: float, bracing: float, work: CorrectionWork) -> None:
    """Fill `work.answer` for the first n points of Y = Phi^T J^T (nv, 3 ...); modes up to `high` are low."""
    nv, low, forces = Y.shape[0], high - RIGID, 3 * n
    X = work.answer[: (nv - RIGID) * forces].reshape((nv - RIGID, forces))
    for m in range(low, nv - RIGID):
        for c in range(forces):
            X[m, c] = -bracing * Y[RIGID + m, c]
    own = work.own[: low * low].reshape((low, low))
    square = work.square[: low * low].reshape((low, low))
    for a in range(low):
        for b in range(low):
            own[a, b] = dt * dt * _product(Y[RIGID + a], Y[RIGID + b], forces)
        own[a, a] += 1.0
        for b in range(low):
            square[a, b] = own[a, b]
        square[a, a] += effort / dt**4
        for r in range(RIGID):
            work.across[a, r] = dt * dt * _product(Y[RIGID + a], Y[r], forces)
    for a in range(low):
        for c in range(forces):
            X[a, c] = 0.0
        for b in range(low):
            for c in range(forces):
                X[a, c] -= own[a, b] * Y[RIGID + b, c]
        for r in range(RIGID):
            for c in range(forces):
                X[a, c] -= work.across[a, r] * Y[r, c]
    if low > 0 and cholesky(square, square):
        cholesky_solve_rows(square, X[:low])


@kernel
def _product(a: Array, b: Array, count: int) -> float:
    total = 0.0
    for c in range(count):
        total += a[c] * b[c]
    return total
