# SPDX-License-Identifier: GPL-3.0-or-later
"""Infeasible interior point method with Mehrotra's predictor and corrector, for monotone problems and near ones.

Each iteration factorises M' + diag(w / z) once and uses it twice (Wright, Primal-Dual Interior-Point Methods, chapter
8 and 10). It does not care about redundant corners, so it stands behind Lemke's method.
"""

from ...maths.kernel import kernel
from .factorisation import factorise, substitute
from .workspace import PIVOT_LIMIT, SOLVED, LcpWorkspace

LIMIT = 60
# Complementarity and equation residual, in scaled units, at which nothing more is to be gained.
GAP_TOLERANCE = 1e-22
TO_THE_BOUNDARY = 0.995


@kernel
def interior_point(workspace: LcpWorkspace, n: int) -> tuple[int, int]:
    """Fill point[0] and the basis that it suggests; return status and iterations."""
    A = workspace.matrix[: n * n].reshape(n, n)
    q = workspace.vector
    exchanges = workspace.indices[1]
    z = workspace.point[0]
    w = workspace.point[1]
    step_z = workspace.point[2]
    step_w = workspace.point[3]
    miss = workspace.point[4]
    diagonal = workspace.point[5]
    for i in range(n):
        z[i] = 1.0
        w[i] = 1.0
    iterations = 0
    while iterations < LIMIT:
        worst = 0.0
        gap = 0.0
        for i in range(n):
            total = q[i] - w[i]
            for j in range(n):
                total += A[i, j] * z[j]
            miss[i] = total
            worst = max(worst, abs(total))
            gap += z[i] * w[i]
        gap /= n
        if not gap < 1e30:
            return PIVOT_LIMIT, iterations
        if gap <= GAP_TOLERANCE and worst <= 1e-11:
            break
        iterations += 1
        B = workspace.tableau[: n * n].reshape(n, n)
        for i in range(n):
            for j in range(n):
                B[i, j] = A[i, j]
            diagonal[i] = w[i] / z[i]
            B[i, i] += diagonal[i]
        if not factorise(B, exchanges, n, 0.0, workspace.row):
            break

        # Predictor: complementarity to zero.
        for i in range(n):
            step_z[i] = -w[i] - miss[i]
        substitute(B, exchanges, n, step_z)
        for i in range(n):
            step_w[i] = -w[i] - diagonal[i] * step_z[i]
        length = _length(workspace, n)
        affine_gap = 0.0
        for i in range(n):
            affine_gap += (z[i] + length * step_z[i]) * (w[i] + length * step_w[i])
        affine_gap /= n
        centering = (max(affine_gap, 0.0) / gap) ** 3

        # Corrector: aim at the centred point, with the predictor's second-order term.
        for i in range(n):
            aim = (centering * gap - step_z[i] * step_w[i]) / z[i] - w[i]
            step_w[i] = aim
            step_z[i] = aim - miss[i]
        substitute(B, exchanges, n, step_z)
        for i in range(n):
            step_w[i] -= diagonal[i] * step_z[i]
        length = min(1.0, TO_THE_BOUNDARY * _length(workspace, n))
        if length < 1e-10:
            break
        for i in range(n):
            z[i] += length * step_z[i]
            w[i] += length * step_w[i]

    for i in range(n):
        workspace.basis[i] = z[i] > w[i]
    # A stall at the limits of double precision may well be an answer: the caller's check decides.
    return SOLVED, iterations


@kernel
def _length(workspace: LcpWorkspace, n: int) -> float:
    """Longest step up to 1 / TO_THE_BOUNDARY that keeps z and w nonnegative."""
    z = workspace.point[0]
    w = workspace.point[1]
    step_z = workspace.point[2]
    step_w = workspace.point[3]
    length = 1.0 / TO_THE_BOUNDARY
    for i in range(n):
        if step_z[i] < 0.0:
            length = min(length, -z[i] / step_z[i])
        if step_w[i] < 0.0:
            length = min(length, -w[i] / step_w[i])
    return length
