# SPDX-License-Identifier: GPL-3.0-or-later
"""Bring a problem to a common scale, and judge an answer there.

Contact problems mix inverse masses (1e-3 ... 1e3) with friction coefficients and ones, so no absolute tolerance fits
M itself. Solvers and the check see

    M' = diag(r) M diag(c),   q' = diag(r) q / s,   z = s diag(c) z',   w = s diag(r)^-1 w'

with r = c = M_ii^(-1/2) where the diagonal is positive. That keeps a positive semidefinite or copositive block what it
is and bounds its entries by one. Rows with an empty diagonal (friction cones) are divided by their largest entry
instead, and so are their columns. s makes the largest entry of q' one. Positive r and c leave the meaning of
complementarity alone.
"""

import numpy as np
from numpy.typing import NDArray

from ...maths.kernel import kernel
from .workspace import LcpWorkspace

# A diagonal entry below this share of its column's largest counts as zero.
EMPTY_DIAGONAL = 1e-12
# So do entries below this share of their row's or column's largest where there is no diagonal to scale by.
ROUNDING = 1e-12
# Beyond this size of z', M' z' + q' is known to no better than 1e-9, and the residual says nothing.
LARGEST_JUDGED = 4e6


@kernel
def scale_problem(workspace: LcpWorkspace, M: NDArray[np.float64], q: NDArray[np.float64], n: int) -> float:
    """Fill row_scale, column_scale, matrix and vector; return s, or NaN where M or q is not finite."""
    r = workspace.row_scale
    c = workspace.column_scale
    largest = workspace.point[0]
    poison = workspace.point[1]
    for j in range(n):
        largest[j] = 0.0
        poison[j] = 0.0 * q[j]
    for i in range(n):
        for j in range(n):
            largest[j] = max(largest[j], abs(M[i, j]))
            poison[j] += 0.0 * M[i, j]
    spoiled = 0.0
    for j in range(n):
        spoiled += poison[j]
    if np.isnan(spoiled):
        return np.nan

    all_diagonal = True
    for i in range(n):
        diagonal = M[i, i]
        if diagonal > EMPTY_DIAGONAL * largest[i]:
            r[i] = 1.0 / np.sqrt(diagonal)
        else:
            r[i] = 0.0
            all_diagonal = False
        c[i] = r[i]
    if not all_diagonal:
        _scale_empty_diagonals(M, n, r, c)

    s = 0.0
    for i in range(n):
        s = max(s, r[i] * abs(q[i]))
    inverse = 1.0 / s if s > 0.0 else 1.0
    A = workspace.matrix[: n * n].reshape(n, n)
    for i in range(n):
        factor = r[i]
        for j in range(n):
            A[i, j] = factor * M[i, j] * c[j]
        workspace.vector[i] = factor * inverse * q[i]
    return s if s > 0.0 else 1.0


@kernel
def _scale_empty_diagonals(M: NDArray[np.float64], n: int, r: NDArray[np.float64], c: NDArray[np.float64]) -> None:
    """Rows and columns without a diagonal: one over the largest entry that meets a scaled column or row.

    What is nothing but rounding beside the largest entry of all gives no scale: along an axle a prop cannot move, and
    friction's rows of such a direction hold 1e-18 where they ought to be empty. Zero in r or c marks what has no scale
    yet; negative values are those given here, so that they do not take part.
    """
    for i in range(n):
        if r[i] != 0.0:
            continue
        row_largest = raw_row_largest = 0.0
        column_largest = raw_column_largest = 0.0
        for j in range(n):
            row_largest = max(row_largest, abs(M[i, j]) * max(c[j], 0.0))
            column_largest = max(column_largest, abs(M[j, i]) * max(r[j], 0.0))
            raw_row_largest = max(raw_row_largest, abs(M[i, j]))
            raw_column_largest = max(raw_column_largest, abs(M[j, i]))
        if not row_largest > ROUNDING * raw_row_largest:
            row_largest = raw_row_largest if raw_row_largest > 0.0 else 1.0
        if not column_largest > ROUNDING * raw_column_largest:
            column_largest = 1.0
        r[i], c[i] = -1.0 / row_largest, -1.0 / column_largest
    for i in range(n):
        r[i] = abs(r[i])
        c[i] = abs(c[i])


@kernel
def scaled_residual(workspace: LcpWorkspace, n: int) -> float:
    """Natural residual max |min(z', w')| of the scaled point z', with w' = M' z' + q' computed here.

    z' is taken from point[0] and w' is left in point[1]. NaN, or a z' too large to judge, gives infinity.
    """
    z = workspace.point[0]
    w = workspace.point[1]
    A = workspace.matrix[: n * n].reshape(n, n)
    support = workspace.indices[0]
    count = 0
    residual = 0.0
    for j in range(n):
        if not abs(z[j]) <= LARGEST_JUDGED:
            return np.inf
        if z[j] != 0.0:
            support[count] = j
            count += 1
    for i in range(n):
        even = workspace.vector[i]
        odd = 0.0
        k = 0
        while k + 1 < count:
            even += A[i, support[k]] * z[support[k]]
            odd += A[i, support[k + 1]] * z[support[k + 1]]
            k += 2
        if k < count:
            even += A[i, support[k]] * z[support[k]]
        w[i] = even + odd
        miss = abs(min(z[i], w[i]))
        if not miss < np.inf:
            return np.inf
        residual = max(residual, miss)
    return residual
