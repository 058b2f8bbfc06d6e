# SPDX-License-Identifier: GPL-3.0-or-later
"""The quadratic program of da Silva 2010, eq. 3.9, with accelerations eliminated.

    minimise over a, x   w_s |a_s - a|^2 + w_b |b - J_c a|^2 + w_p |p - J_p a|^2 + e |x|^2,   w_s heavier for the root
    such that            M_r a + h_r = P x,   x >= 0

Torques follow from a and x by the rows of the joints; only the root's six rows [M_r, h_r] are left, on which contact
forces act by the edges of friction's pyramids, P = J_p,r^T V. The paper's contact rows are equalities; four corners of
a sole make them redundant, and inconsistent once the foot tilts, so here they are the third square. For given x

    a = H^-1 (g + M_r^T y),   H = W_s + w_b J_c^T J_c + w_p J_p^T J_p,   g = W_s a_s + w_b J_c^T b + w_p J_p^T p
    y = S^-1 (P x - r),       S = M_r H^-1 M_r^T,                          r = h_r + M_r H^-1 g

and what is left is to find x >= 0 with the least (P x - r)^T S^-1 (P x - r) + e |x|^2, whose optimality conditions are
a linear complementarity problem. Where two feet stand, the last square decides how they share the load.
"""

import numpy as np
from numpy.typing import NDArray

from ...contact import lcp
from ...contact.lcp.workspace import SOLVED, LcpWorkspace, make_workspace
from ...maths.dense import cholesky, cholesky_solve, cholesky_solve_rows, solve_lower
from ...maths.kernel import kernel
from ...maths.products import add_symmetric_product
from ...maths.structure import Structure

Array = NDArray[np.float64]

ROOT = 6
# [e], of the mean of P^T S^-1 P's diagonal. A hundred times as much and feet roll less well than they could.
EVENNESS = 1e-6


class Program(Structure):
    """A program of nv accelerations, up to nr rows of targets and nx shares of forces; the first ones are used."""

    target: Array  # (nv,) [a_s]
    style: Array  # (nv,) [w_s] of each, the diagonal of W_s; that of a joint is one
    rows: Array  # (nr, nv) [J_c] and [J_p]
    aim: Array  # (nr,) [b] and [p]
    weight: Array  # (nr,) [w_b / w_s] and [w_p / w_s]
    edges: Array  # (6, nx) [P]
    acceleration: Array  # (nv,) [a], the answer
    share: Array  # (nx,) [x], the answer
    scaled: Array  # (nr, nv) rows by the square roots of their weights
    square: Array  # (nv, nv) [H] and its factor
    solved: Array  # (nv, 7) H^-1 of M_r^T and of g
    root: Array  # (6, 6) [S] and its factor
    miss: Array  # (6,) [r], then what belongs to it
    whitened: Array  # (6, nx) L^-1 P, S = L L^T
    column: Array  # (6,)
    matrix: Array  # (nx^2,)
    vector: Array  # (nx,)
    lcp: LcpWorkspace


def make_program(nv: int, rows: int, edges: int) -> Program:
    """Allocate."""
    return Program(
        target=np.zeros(nv),
        style=np.ones(nv),
        rows=np.zeros((rows, nv)),
        aim=np.zeros(rows),
        weight=np.zeros(rows),
        edges=np.zeros((ROOT, edges)),
        acceleration=np.zeros(nv),
        share=np.zeros(edges),
        scaled=np.zeros((rows, nv)),
        square=np.zeros((nv, nv)),
        solved=np.zeros((nv, ROOT + 1)),
        root=np.zeros((ROOT, ROOT)),
        miss=np.zeros(ROOT),
        whitened=np.zeros((ROOT, edges)),
        column=np.zeros(ROOT),
        matrix=np.zeros(edges * edges),
        vector=np.zeros(edges),
        lcp=make_workspace(edges),
    )


@kernel
def solve_program(program: Program, M: Array, bias: Array, rows: int, n: int) -> bool:
    """Fill `acceleration` and `share` for that many rows and edges; False where there is no answer.

    M (nv, nv) and `bias` (nv,) are the equation of motion's, of which the first six rows count.
    """
    nv = program.target.shape[0]
    H, X, S, r = program.square, program.solved, program.root, program.miss
    for k in range(rows):
        size = np.sqrt(program.weight[k])
        for j in range(nv):
            program.scaled[k, j] = size * program.rows[k, j]
    for i in range(nv):
        for j in range(nv):
            H[i, j] = 0.0
        H[i, i] = program.style[i]
        total = program.style[i] * program.target[i]
        for k in range(rows):
            total += program.weight[k] * program.rows[k, i] * program.aim[k]
        X[i, ROOT] = total
        for j in range(ROOT):
            X[i, j] = M[j, i]
    add_symmetric_product(program.scaled, program.scaled, H, nv, rows, 1.0)
    if not cholesky(H, H):
        return False
    cholesky_solve_rows(H, X)
    for i in range(ROOT):
        for j in range(ROOT):
            S[i, j] = 0.0
            for k in range(nv):
                S[i, j] += M[i, k] * X[k, j]
        r[i] = bias[i]
        for k in range(nv):
            r[i] += M[i, k] * X[k, ROOT]
    if not cholesky(S, S):
        return False
    if n > 0 and not _find_shares(program, n):
        return False
    # y, in the place of r
    for i in range(ROOT):
        r[i] = -r[i]
        for k in range(n):
            r[i] += program.edges[i, k] * program.share[k]
    cholesky_solve(S, r)
    for i in range(nv):
        program.acceleration[i] = X[i, ROOT]
        for j in range(ROOT):
            program.acceleration[i] += X[i, j] * r[j]
    return True


@kernel
def _find_shares(program: Program, n: int) -> bool:
    """x: non-negative least squares as z >= 0, M z + q >= 0, z (M z + q) = 0."""
    W, column = program.whitened, program.column
    matrix = program.matrix[: n * n].reshape((n, n))
    for k in range(n):
        for i in range(ROOT):
            column[i] = program.edges[i, k]
        solve_lower(program.root, column)
        for i in range(ROOT):
            W[i, k] = column[i]
    for i in range(ROOT):
        column[i] = program.miss[i]
    solve_lower(program.root, column)
    mean = 0.0
    for k in range(n):
        program.vector[k] = 0.0
        for i in range(ROOT):
            program.vector[k] -= W[i, k] * column[i]
        for l in range(k + 1):
            total = 0.0
            for i in range(ROOT):
                total += W[i, k] * W[i, l]
            matrix[k, l] = matrix[l, k] = total
        mean += matrix[k, k] / n
    for k in range(n):
        matrix[k, k] += EVENNESS * mean
    status, _, _ = lcp.solve(program.lcp, matrix, program.vector, n, lcp.AUTO, False)
    if status != SOLVED:
        return False
    for k in range(n):
        program.share[k] = program.lcp.z[k]
    return True
