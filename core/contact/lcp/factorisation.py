# SPDX-License-Identifier: GPL-3.0-or-later
"""LU factorisation with row exchanges of the small unsymmetric matrices that bases give."""

import numpy as np
from numpy.typing import NDArray

from ...maths.kernel import kernel


@kernel
def factorise(
    A: NDArray[np.float64], exchanges: NDArray[np.int64], n: int, tolerance: float, pivot_row: NDArray[np.float64]
) -> bool:
    """P A = L U in place; False as soon as no pivot exceeds `tolerance`. `pivot_row` is scratch of n entries."""
    for k in range(n):
        best = k
        largest = abs(A[k, k])
        for i in range(k + 1, n):
            size = abs(A[i, k])
            if size > largest:
                largest = size
                best = i
        if not largest > tolerance:
            return False
        exchanges[k] = best
        for j in range(n):
            pivot_row[j] = A[best, j]
        if best != k:
            for j in range(n):
                A[best, j] = A[k, j]
                A[k, j] = pivot_row[j]
        inverse = 1.0 / pivot_row[k]
        for i in range(k + 1, n):
            factor = A[i, k] * inverse
            A[i, k] = factor
            if factor != 0.0:
                for j in range(k + 1, n):
                    A[i, j] -= factor * pivot_row[j]
    return True


@kernel
def substitute(A: NDArray[np.float64], exchanges: NDArray[np.int64], n: int, x: NDArray[np.float64]) -> None:
    """Solve with the factors; x is the right-hand side and becomes the solution."""
    for k in range(n):
        other = exchanges[k]
        kept = x[k]
        x[k] = x[other]
        x[other] = kept
    for i in range(1, n):
        total = x[i]
        for j in range(i):
            total -= A[i, j] * x[j]
        x[i] = total
    for i in range(n - 1, -1, -1):
        total = x[i]
        for j in range(i + 1, n):
            total -= A[i, j] * x[j]
        x[i] = total / A[i, i]
