# SPDX-License-Identifier: GPL-3.0-or-later
"""The door for compiled callers: scale, solve by one method or by all in turn, check, give back in the caller's units.

AUTO tries, and takes the first answer that passes the check:

1. the guessed basis, if there is one, by a few block pivots: one linear system when contacts have not changed
2. Lemke's method on M
3. Lemke's method along other paths
4. Lemke's method on M + regularisation I, more and more of it; its basis solved for M itself, or proximal steps from it
5. the interior point method

If none passes, the best of all counts when it misses by little; at rest on dozens of points, where hundreds of unknowns
are zero or nearly so, rounding leaves no more. Where it misses by more, as may happen where hundreds of rows have a
rank of a dozen:

6. proximal steps from the best of all
7. Lemke's method on M, and then its proximal steps on M + regularisation I, with numbers of twice the digits

The check belongs to none of them: natural residual of M and q themselves, in scaled units.
"""

import numpy as np
from numpy.typing import NDArray

from ...maths.kernel import kernel
from .block_pivoting import block_pivoting, solve_basis
from .interior_point import interior_point
from .lemke import lemke
from .scaling import scale_problem, scaled_residual
from .workspace import NOT_FINITE, RESIDUAL, SOLVED, LcpWorkspace

AUTO, LEMKE, BLOCK_PIVOTING, INTERIOR_POINT = range(4)

# An answer counts below this scaled residual, the best of AUTO's below TOLERATED; one good to GOOD needs no polishing.
ACCEPTED = 1e-9
TOLERATED = 1e-8
GOOD = 1e-12
WARM_LIMIT = 3
PATHS = 6
# Less regularisation than this only turns rounding errors into pivots.
REGULARISATIONS = (1e-2, 1e-1, 1.0)
# The proximal steps need less of it, and less and less.
PROXIMAL_REGULARISATIONS = (1e-3, 1e-4, 1e-5, 1e-6, 1e-6, 1e-6, 1e-7, 1e-7)
PROXIMAL_LIMIT = 20
PROXIMAL_GOOD = 1e-11
# With twice the digits.
PRECISE_REGULARISATION = 1e-10
PRECISE_STEPS = 16
PRECISE_PATHS = 24


@kernel
def solve(
    workspace: LcpWorkspace, M: NDArray[np.float64], q: NDArray[np.float64], n: int, method: int, warm: bool
) -> tuple[int, float, int]:
    """Solve the leading n by n problem of M and q; return status, scaled residual and pivots (or factorisations).

    On SOLVED the answer is in workspace.z, .w and .basis (first n entries), otherwise z and w are NaN. With `warm`,
    workspace.basis holds a guess: which z were basic, usually the previous step's; AUTO and BLOCK_PIVOTING use it.
    Nothing is allocated.
    """
    s = scale_problem(workspace, M, q, n)
    if np.isnan(s):
        _invalidate(workspace, n)
        return NOT_FINITE, np.nan, 0
    if not warm:
        for i in range(n):
            workspace.basis[i] = False

    status = RESIDUAL
    residual = np.inf
    pivots = 0
    bound = TOLERATED if method == AUTO else ACCEPTED
    if method == LEMKE:
        status, pivots = lemke(workspace, workspace.vector, n, 0.0, 0, False)
        residual = _polished_residual(workspace, n, status)
    elif method == BLOCK_PIVOTING:
        status, pivots = block_pivoting(workspace, workspace.vector, n, 0.0, 10 * n + 10)
        residual = _polished_residual(workspace, n, status)
    elif method == INTERIOR_POINT:
        status, pivots = interior_point(workspace, n)
        residual = _polished_residual(workspace, n, status)
    else:
        status, residual, pivots = _in_turn(workspace, n, warm)

    if status == SOLVED and not residual <= bound:
        status = RESIDUAL
    if status != SOLVED:
        _invalidate(workspace, n)
        return status, residual, pivots
    for i in range(n):
        workspace.z[i] = s * workspace.column_scale[i] * workspace.point[0, i]
        workspace.w[i] = s * max(workspace.point[1, i], 0.0) / workspace.row_scale[i]
        if not workspace.z[i] < np.inf:
            _invalidate(workspace, n)
            return NOT_FINITE, residual, pivots
    return SOLVED, residual, pivots


@kernel
def _in_turn(workspace: LcpWorkspace, n: int, warm: bool) -> tuple[int, float, int]:
    """AUTO: status of Lemke's method unless another one succeeds."""
    total = 0
    least = np.inf
    if warm:
        status, pivots = block_pivoting(workspace, workspace.vector, n, 0.0, WARM_LIMIT)
        total += pivots
        if status == SOLVED:
            residual = scaled_residual(workspace, n)
            if residual <= ACCEPTED:
                return SOLVED, residual, total
            least = _keep(workspace, n, residual, least)
    verdict, pivots = lemke(workspace, workspace.vector, n, 0.0, 0, False)
    total += pivots
    residual = _polished_residual(workspace, n, verdict)
    if residual <= ACCEPTED:
        return SOLVED, residual, total
    least = _keep(workspace, n, residual, least)
    if verdict == SOLVED:
        verdict = RESIDUAL
    for path in range(1, PATHS):
        status, pivots = lemke(workspace, workspace.vector, n, 0.0, path, False)
        total += pivots
        least = _keep(workspace, n, _polished_residual(workspace, n, status), least)
        if least <= ACCEPTED:
            break
    for regularisation in REGULARISATIONS:
        if least <= ACCEPTED:
            break
        status, pivots = lemke(workspace, workspace.vector, n, regularisation, 0, False)
        total += pivots
        if status == SOLVED:
            least, pivots = _proximal_steps(workspace, n, least)
            total += pivots
    if least > ACCEPTED:
        status, pivots = interior_point(workspace, n)
        total += pivots
        least = _keep(workspace, n, _polished_residual(workspace, n, status), least)
    if least > TOLERATED:
        least, pivots = _last_steps(workspace, n, least)
        total += pivots
    if least <= TOLERATED:
        for i in range(n):
            workspace.point[0, i] = workspace.kept[i]
            workspace.basis[i] = workspace.kept[i] > 0.0
        return SOLVED, scaled_residual(workspace, n), total
    return verdict, least, total


@kernel
def _last_steps(workspace: LcpWorkspace, n: int, least: float) -> tuple[float, int]:
    """Proximal steps from the best answer, then twice the digits, until an answer counts; residual and pivots."""
    total = 0
    if least < np.inf:
        for i in range(n):
            workspace.point[0, i] = workspace.kept[i]
            workspace.basis[i] = workspace.kept[i] > 0.0
        least, total = _proximal_steps(workspace, n, least)
    for path in range(PRECISE_PATHS):
        if least <= TOLERATED:
            break
        status, pivots = lemke(workspace, workspace.vector, n, 0.0, path, True)
        total += pivots
        if status == SOLVED:
            least = _keep(workspace, n, scaled_residual(workspace, n), least)
    for i in range(n):
        workspace.point[0, i] = 0.0
    for path in range(PRECISE_STEPS):  # a step that fails leaves the point, and the next takes another path from there
        if least <= TOLERATED:
            break
        for i in range(n):
            workspace.shifted[i] = workspace.vector[i] - PRECISE_REGULARISATION * workspace.point[0, i]
        status, pivots = lemke(workspace, workspace.shifted, n, PRECISE_REGULARISATION, path, True)
        total += pivots
        if status == SOLVED:
            least = _keep(workspace, n, scaled_residual(workspace, n), least)
    return least, total


@kernel
def _keep(workspace: LcpWorkspace, n: int, residual: float, least: float) -> float:
    """Put the answer in point[0] aside if it is the best so far; returns the least residual so far."""
    if not residual < least:
        return least
    for i in range(n):
        workspace.kept[i] = workspace.point[0, i]
    return residual


@kernel
def _polished_residual(workspace: LcpWorkspace, n: int, status: int) -> float:
    """Residual of a method's answer; where rounding shows, the better of it and its basis solved afresh."""
    if status != SOLVED:
        return np.inf
    residual = scaled_residual(workspace, n)
    if residual <= GOOD:
        return residual
    for i in range(n):
        workspace.point[4, i] = workspace.point[0, i]
    if _solve_found_basis(workspace, n):
        polished = scaled_residual(workspace, n)
        if polished < residual:
            return polished
    for i in range(n):
        workspace.point[0, i] = workspace.point[4, i]
    return scaled_residual(workspace, n)


@kernel
def _solve_found_basis(workspace: LcpWorkspace, n: int) -> bool:
    """Factorise the basis afresh and remove negative rounding; False where it is singular."""
    if not solve_basis(workspace, workspace.vector, n, 0.0, 1):
        return False
    for i in range(n):
        workspace.point[0, i] = max(workspace.point[0, i], 0.0)
    return True


@kernel
def _proximal_steps(workspace: LcpWorkspace, n: int, least: float) -> tuple[float, int]:
    """From a regularised answer z to one of M itself: solve for M + a I and q - a z, again and again.

    The proximal point method (Rockafellar 1976; Cottle, Pang and Stone, algorithm 5.6.2 for LCPs). Bases that are
    redundant, where M_aa is singular, are no obstacle. Each step starts from the last basis, with Lemke's method behind
    it where the basis changes a lot. Keeps the best answer; returns its residual for M and q, and pivots.
    """
    total = 1
    for i in range(n):
        workspace.shifted[i] = workspace.point[0, i]
    if _solve_found_basis(workspace, n):
        least = _keep(workspace, n, scaled_residual(workspace, n), least)
        if least <= ACCEPTED:
            return least, total
    for i in range(n):
        workspace.point[0, i] = workspace.shifted[i]
    before = np.inf
    for a in PROXIMAL_REGULARISATIONS:
        for i in range(n):
            workspace.shifted[i] = workspace.vector[i] - a * workspace.point[0, i]
        status, pivots = block_pivoting(workspace, workspace.shifted, n, a, PROXIMAL_LIMIT)
        total += pivots
        if status != SOLVED:
            status, pivots = lemke(workspace, workspace.shifted, n, a, 0, False)
            total += pivots
        if status != SOLVED:
            break
        residual = scaled_residual(workspace, n)
        least = _keep(workspace, n, residual, least)
        if residual <= PROXIMAL_GOOD or TOLERATED < residual > 0.9 * before:
            break
        before = residual
    return least, total


@kernel
def _invalidate(workspace: LcpWorkspace, n: int) -> None:
    """Overwrite the answer with NaN."""
    for i in range(n):
        workspace.z[i] = np.nan
        workspace.w[i] = np.nan
        workspace.basis[i] = False
