# SPDX-License-Identifier: GPL-3.0-or-later
"""One step back of the Riccati recursion for tracking with a defect (Muico et al. 2009, section 3.4).

The linearised problem of eq. 8 is to minimise, over xi and eta,

    |xi_N|^2_Q + sum |xi_k|^2_Q + |eta_k|^2_R + |u_k + eta_k|^2_P    with  xi_{k+1} = A xi_k + B eta_k + d.

What is still to come costs 1/2 xi^T S_k xi + s_k^T xi, so that its costate is s_k + S_k xi_k (eq. 9). The paper's form
inverts S; this one, after the matrix inversion lemma, only factors R + P + B^T S B (`quu`), which is positive definite
whatever S is.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...maths.dense import cholesky, cholesky_solve, cholesky_solve_rows
from ...maths.kernel import kernel, wide_allocating_kernel
from ...maths.products import add_transposed_product

Array = NDArray[np.float64]

DEARER = (1e-12, 1e-10, 1e-8, 1e-6, 1e-4)


class Regulator(NamedTuple):
    """The law of one step, eta = -gain xi - feedforward (eq. 10), and the cost to go before it."""

    gain: Array  # (m, n) [K]
    feedforward: Array  # (m,)
    curvature: Array  # (n, n) [S_k]
    gradient: Array  # (n,) [s_k]


@wide_allocating_kernel
def step_back(
    A: Array, B: Array, defect: Array, Q: Array, effort: Array, pull: Array, curvature: Array, gradient: Array
) -> Regulator:
    """From S_{k+1}, s_{k+1} to S_k, s_k. `Q` (n,) and `effort` (m,) [R + P] are diagonals; `pull` (m,) is P u_k.

    Over light limbs with much to say, rounding leaves S_{k+1} a little less than positive, and `quu` without a factor:
    then effort costs a little more, by `DEARER` shares of the largest entry in turn. Where that is of no use, or what
    is given is not finite, numbers that are not finite show it.
    """
    n, m = B.shape
    still = _first_driven(B)
    moved = n - still
    PB = np.zeros((n, m))
    add_transposed_product(curvature[still:], B[still:], PB, n, moved, m)  # S is symmetric
    quu = np.zeros((m, m))
    add_transposed_product(B[still:], PB[still:], quu, m, moved, m)
    for i in range(m):
        quu[i, i] += effort[i]
    gain = np.zeros((m, n))
    add_transposed_product(PB, A, gain, m, n, n)
    ahead = gradient.copy()
    for i in range(n):
        for j in range(n):
            ahead[i] += curvature[i, j] * defect[j]
    feedforward = pull.copy()
    for j in range(n):
        for i in range(m):
            feedforward[i] += B[j, i] * ahead[j]
    factor = np.zeros((m, m))
    factored = cholesky(quu, factor)
    largest = 0.0
    for i in range(m):
        largest = max(largest, abs(quu[i, i]))
    for share in DEARER:
        if factored:
            break
        for i in range(m):
            quu[i, i] += share * largest
        factored = cholesky(quu, factor)
    if not factored:
        gain[:] = np.nan
    cholesky_solve_rows(factor, gain)
    cholesky_solve(factor, feedforward)
    # S_k = Q + A^T S (A - B gain), s_k = A^T (s + S (d - B feedforward))
    closed = np.zeros((n, n))
    add_transposed_product(-np.ascontiguousarray(B[still:].T), gain, closed[still:], moved, m, n)
    closed += A
    carried = np.zeros((n, n))
    add_transposed_product(curvature, closed, carried, n, n, n)
    before = np.zeros((n, n))
    add_transposed_product(A, carried, before, n, n, n)
    for i in range(n):
        for j in range(i):
            before[i, j] = before[j, i] = 0.5 * (before[i, j] + before[j, i])
        before[i, i] += Q[i]
        for j in range(m):
            ahead[i] -= PB[i, j] * feedforward[j]
    earlier = np.zeros(n)
    for i in range(n):
        for j in range(n):
            earlier[j] += A[i, j] * ahead[i]
    return Regulator(gain, feedforward, before, earlier)


@kernel
def _first_driven(B: Array) -> int:
    """The first row that controls act on, or up to three before it: products take four at a time.

    Positions of a step are given before its controls are, so the upper half of B is zero.
    """
    n, m = B.shape
    for i in range(n):
        for j in range(m):
            if B[i, j] != 0.0:
                return i - i % 4
    return 0
