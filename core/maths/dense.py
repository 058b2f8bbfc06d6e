# SPDX-License-Identifier: GPL-3.0-or-later
"""Small dense linear algebra into arrays that the caller keeps: nothing is allocated."""

import math

import numpy as np
from numpy.typing import NDArray

from .kernel import inlined_kernel, kernel


@inlined_kernel
def copy_into(source: NDArray[np.float64], target: NDArray[np.float64]) -> None:
    """Entry by entry. An assignment of arrays would be ready to allocate, should they overlap."""
    for i in range(target.shape[0]):
        target[i] = source[i]


@kernel
def cholesky(matrix: NDArray[np.float64], factor: NDArray[np.float64]) -> bool:
    """Factor a symmetric matrix (n, n) as L L^T; False if it is not positive definite.

    Reads the lower triangle of `matrix` and writes that of `factor`; the two may be the same array. Four rows at a
    time: of four sums none need wait for the one before it.
    """
    n = matrix.shape[0]
    for i in range(0, n, 4):
        last = min(i + 4, n)
        if last == i + 4:
            for j in range(i):
                s0, s1, s2, s3 = matrix[i, j], matrix[i + 1, j], matrix[i + 2, j], matrix[i + 3, j]
                for k in range(j):
                    x = factor[j, k]
                    s0 -= factor[i, k] * x
                    s1 -= factor[i + 1, k] * x
                    s2 -= factor[i + 2, k] * x
                    s3 -= factor[i + 3, k] * x
                d = factor[j, j]
                factor[i, j], factor[i + 1, j], factor[i + 2, j], factor[i + 3, j] = s0 / d, s1 / d, s2 / d, s3 / d
        for r in range(i, last):
            for j in range(i if last == i + 4 else 0, r + 1):
                s = matrix[r, j]
                for k in range(j):
                    s -= factor[r, k] * factor[j, k]
                if r > j:
                    factor[r, j] = s / factor[j, j]
                elif s > 0.0:
                    factor[r, r] = math.sqrt(s)
                else:
                    return False
    return True


@kernel
def solve_lower(factor: NDArray[np.float64], x: NDArray[np.float64]) -> None:
    """Solve L x = b for the lower triangle L of `factor` (n, n); `x` (n,) holds b and receives the answer."""
    for i in range(x.shape[0]):
        s = x[i]
        for k in range(i):
            s -= factor[i, k] * x[k]
        x[i] = s / factor[i, i]


@kernel
def solve_lower_transposed(factor: NDArray[np.float64], x: NDArray[np.float64]) -> None:
    """Solve L^T x = b for the lower triangle L of `factor` (n, n); `x` (n,) holds b and receives the answer."""
    for i in range(x.shape[0] - 1, -1, -1):
        x[i] /= factor[i, i]
        for k in range(i):
            x[k] -= factor[i, k] * x[i]


@kernel
def cholesky_solve(factor: NDArray[np.float64], x: NDArray[np.float64]) -> None:
    """Solve L L^T x = b with the factor from `cholesky`; `x` (n,) holds b and receives the answer."""
    solve_lower(factor, x)
    solve_lower_transposed(factor, x)


@kernel
def cholesky_solve_rows(factor: NDArray[np.float64], x: NDArray[np.float64]) -> None:
    """Solve L L^T X = B; `x` (n, m) holds B and receives X.

    The inner loops run along rows, where memory is dense, and take four rows at a time: each is then read for four
    products, not one.
    """
    n, m = x.shape
    for i in range(n):
        for k in range(0, i - i % 4, 4):
            a0, a1, a2, a3 = factor[i, k], factor[i, k + 1], factor[i, k + 2], factor[i, k + 3]
            for j in range(m):
                x[i, j] -= a0 * x[k, j] + a1 * x[k + 1, j] + a2 * x[k + 2, j] + a3 * x[k + 3, j]
        for k in range(i - i % 4, i):
            a = factor[i, k]
            for j in range(m):
                x[i, j] -= a * x[k, j]
        a = 1.0 / factor[i, i]
        for j in range(m):
            x[i, j] *= a
    for i in range(n - 1, -1, -1):
        first = n - (n - 1 - i) % 4
        for k in range(i + 1, first, 4):
            a0, a1, a2, a3 = factor[k, i], factor[k + 1, i], factor[k + 2, i], factor[k + 3, i]
            for j in range(m):
                x[i, j] -= a0 * x[k, j] + a1 * x[k + 1, j] + a2 * x[k + 2, j] + a3 * x[k + 3, j]
        for k in range(first, n):
            a = factor[k, i]
            for j in range(m):
                x[i, j] -= a * x[k, j]
        a = 1.0 / factor[i, i]
        for j in range(m):
            x[i, j] *= a
