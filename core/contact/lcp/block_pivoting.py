# SPDX-License-Identifier: GPL-3.0-or-later
"""Block principal pivoting: solve for a guessed basis, exchange every unknown of the wrong sign, repeat.

Júdice and Pires, Computers and Operations Research 21 (1994), with Murty's least-index rule as the safeguard. On a
contact problem whose basis is that of the step before, one linear system is the whole solution.
"""

import numpy as np
from numpy.typing import NDArray

from ...maths.kernel import kernel
from .factorisation import factorise, substitute
from .workspace import PIVOT_LIMIT, SINGULAR, SOLVED, LcpWorkspace

SINGULAR_TOLERANCE = 1e-9
SIGN_TOLERANCE = 1e-10
# Block exchanges allowed without a new least number of wrong signs.
PATIENCE = 3


@kernel
def block_pivoting(
    workspace: LcpWorkspace, q: NDArray[np.float64], n: int, regularisation: float, limit: int
) -> tuple[int, int]:
    """Solve for M' + regularisation I and q from the guess in `basis`, by at most `limit` factorisations.

    Fill basis and point[0]; return status and the number of factorisations.
    """
    z = workspace.point[0]
    w = workspace.point[1]
    basis = workspace.basis
    fewest = n + 1
    patience = PATIENCE
    for count in range(1, limit + 1):
        if not solve_basis(workspace, q, n, regularisation, 0):
            return SINGULAR, count
        wrong = 0
        last_wrong = -1
        for i in range(n):
            if (z[i] if basis[i] else w[i]) < -SIGN_TOLERANCE:
                wrong += 1
                last_wrong = i
        if wrong == 0:
            for i in range(n):
                z[i] = max(z[i], 0.0)
            return SOLVED, count
        if wrong < fewest:
            fewest = wrong
            patience = PATIENCE
        else:
            patience -= 1
        if patience >= 0:
            for i in range(n):
                if (z[i] if basis[i] else w[i]) < -SIGN_TOLERANCE:
                    basis[i] = not basis[i]
        else:
            basis[last_wrong] = not basis[last_wrong]
    return PIVOT_LIMIT, limit


@kernel
def solve_basis(
    workspace: LcpWorkspace, q: NDArray[np.float64], n: int, regularisation: float, refinements: int
) -> bool:
    """Leave the basis's z' in point[0] and its w' in point[1]; False if the basis matrix is singular.

    w' is that of M' + regularisation I too. Refinements are steps of iterative refinement against that matrix.
    """
    A = workspace.matrix[: n * n].reshape(n, n)
    index = workspace.indices[0]
    exchanges = workspace.indices[1]
    z = workspace.point[0]
    w = workspace.point[1]
    x = workspace.point[2]
    total = workspace.point[3]
    m = 0
    for i in range(n):
        z[i] = 0.0
        if workspace.basis[i]:
            index[m] = i
            m += 1
    B = workspace.tableau[: m * m].reshape(m, m)
    for k in range(m):
        i = index[k]
        for l in range(m):
            B[k, l] = A[i, index[l]]
        B[k, k] += regularisation
        x[k] = -q[index[k]]
        total[k] = 0.0
    if not factorise(B, exchanges, m, SINGULAR_TOLERANCE, workspace.row):
        return False
    for refinement in range(refinements + 1):
        if refinement > 0:
            for k in range(m):
                i = index[k]
                miss = -q[i]
                for l in range(m):
                    miss -= A[i, index[l]] * total[l]
                miss -= regularisation * total[k]
                x[k] = miss
        substitute(B, exchanges, m, x)
        for k in range(m):
            total[k] += x[k]
    for k in range(m):
        z[index[k]] = total[k]
    for i in range(n):
        even = q[i]
        odd = 0.0
        k = 0
        while k + 1 < m:
            even += A[i, index[k]] * total[k]
            odd += A[i, index[k + 1]] * total[k + 1]
            k += 2
        if k < m:
            even += A[i, index[k]] * total[k]
        w[i] = even + odd + regularisation * z[i]
    return True
