# SPDX-License-Identifier: GPL-3.0-or-later
"""Eigenvalues and eigenvectors of a small symmetric matrix, into arrays that the caller keeps.

Householder's reduction to tridiagonal form and the implicit QL method with Wilkinson's shift (Golub and Van Loan,
Matrix Computations, sections 8.3.1 and 8.3.5). Vectors are kept as rows, where rotations run along memory.
"""

import math

import numpy as np
from numpy.typing import NDArray

from .kernel import kernel

Array = NDArray[np.float64]

MOST_ROUNDS = 50  # for one eigenvalue; two are usual


@kernel
def symmetric_eigen(matrix: Array, vectors: Array, values: Array, scratch: Array) -> bool:
    """Ascending `values` (n,) and unit eigenvectors in the rows of `vectors` (n, n); False if it does not converge.

    `matrix` (n, n), of which both triangles are read, is destroyed; `scratch` is (2, n).
    """
    _tridiagonalize(matrix, vectors, values, scratch)
    return _diagonalize(values, scratch[0], vectors) and _sort(values, vectors)


@kernel
def _tridiagonalize(A: Array, Q: Array, diagonal: Array, scratch: Array) -> None:
    """A = Q^T T Q with the diagonal of T and, in `scratch[0]`, what lies beside it."""
    n = A.shape[0]
    beside, product = scratch[0], scratch[1]
    for i in range(n):
        Q[i, :] = 0.0
        Q[i, i] = 1.0
    for k in range(n - 2):
        x = A[k]  # the column below the diagonal, which by symmetry is the row right of it
        norm = 0.0
        for i in range(k + 1, n):
            norm += x[i] * x[i]
        norm = math.sqrt(norm)
        beside[k] = -norm if x[k + 1] >= 0.0 else norm
        if norm == 0.0:
            continue
        x[k + 1] -= beside[k]
        scale = 1.0 / (norm * abs(x[k + 1]))  # 2 / v^T v
        along = 0.0
        product[k + 1 :] = 0.0
        for i in range(k + 1, n):
            for j in range(k + 1, n):
                product[j] += scale * x[i] * A[i, j]
        for i in range(k + 1, n):
            along += product[i] * x[i]
        for i in range(k + 1, n):
            product[i] -= 0.5 * scale * along * x[i]
        for i in range(k + 1, n):
            for j in range(k + 1, n):
                A[i, j] -= x[i] * product[j] + product[i] * x[j]
        product[:] = 0.0
        for i in range(k + 1, n):
            for j in range(n):
                product[j] += scale * x[i] * Q[i, j]
        for i in range(k + 1, n):
            for j in range(n):
                Q[i, j] -= x[i] * product[j]
    for i in range(n):
        diagonal[i] = A[i, i]
    if n > 1:
        beside[n - 2] = A[n - 1, n - 2]
    beside[n - 1] = 0.0


@kernel
def _diagonalize(d: Array, e: Array, Q: Array) -> bool:
    """Turn the tridiagonal matrix into a diagonal one, and Q's rows with it."""
    n = d.shape[0]
    for first in range(n):
        for _ in range(MOST_ROUNDS):
            last = first
            while last < n - 1 and abs(e[last]) > np.finfo(np.float64).eps * (abs(d[last]) + abs(d[last + 1])):
                last += 1
            if last == first:
                break
            shift = (d[first + 1] - d[first]) / (2.0 * e[first])
            size = math.hypot(shift, 1.0)
            g = d[last] - d[first] + e[first] / (shift + (size if shift >= 0.0 else -size))
            s, c, p = 1.0, 1.0, 0.0
            whole = True
            for i in range(last - 1, first - 1, -1):
                f, b = s * e[i], c * e[i]
                r = math.hypot(f, g)
                e[i + 1] = r
                if r == 0.0:
                    d[i + 1] -= p
                    e[last] = 0.0
                    whole = False
                    break
                s, c = f / r, g / r
                g = d[i + 1] - p
                r = (d[i] - g) * s + 2.0 * c * b
                p = s * r
                d[i + 1] = g + p
                g = c * r - b
                for j in range(n):
                    x, y = Q[i, j], Q[i + 1, j]
                    Q[i, j], Q[i + 1, j] = c * x - s * y, s * x + c * y
            if whole:
                d[first] -= p
                e[first] = g
                e[last] = 0.0
        else:
            return False
    return True


@kernel
def _sort(values: Array, vectors: Array) -> bool:
    """Ascending; False where a value is not finite."""
    n = values.shape[0]
    for i in range(n):
        least = i
        for j in range(i + 1, n):
            if values[j] < values[least]:
                least = j
        if not np.isfinite(values[least]):
            return False
        if least != i:
            values[i], values[least] = values[least], values[i]
            for j in range(n):
                vectors[i, j], vectors[least, j] = vectors[least, j], vectors[i, j]
    return True
