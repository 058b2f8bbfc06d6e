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

    Reads the lower triangle of `matrix` and writes that of `factor`; the two may be the same array.
    """
    n = matrix.shape[0]
    for i in range(n):
        for j in range(i + 1):
            s = matrix[i, j]
            for k in range(j):
                s -= factor[i, k] * factor[j, k]
            if i > j:
                factor[i, j] = s / factor[j, j]
            elif s > 0.0:
                factor[i, i] = math.sqrt(s)
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
    """Solve L L^T X = B; `x` (n, m) holds B and receives X. The inner loop runs along rows, where memory is dense."""
    n, m = x.shape
    for i in range(n):
        for k in range(i):
            a = factor[i, k]
            for j in range(m):
                x[i, j] -= a * x[k, j]
        a = 1.0 / factor[i, i]
        for j in range(m):
            x[i, j] *= a
    for i in range(n - 1, -1, -1):
        a = 1.0 / factor[i, i]
        for j in range(m):
            x[i, j] *= a
        for k in range(i):
            a = factor[i, k]
            for j in range(m):
                x[k, j] -= a * x[i, j]
