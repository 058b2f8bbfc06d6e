# SPDX-License-Identifier: GPL-3.0-or-later
"""`solve_lcp`: one linear complementarity problem from Python."""

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .cascade import AUTO, BLOCK_PIVOTING, INTERIOR_POINT, LEMKE, solve
from .workspace import LcpStatus, LcpWorkspace, make_workspace

METHODS = {"auto": AUTO, "lemke": LEMKE, "block_pivoting": BLOCK_PIVOTING, "interior_point": INTERIOR_POINT}


class LcpSolution(NamedTuple):
    """z >= 0, w = M z + q >= 0, z.w = 0; or a status that says why not, and then z, w and basis are None."""

    z: NDArray[np.float64] | None  # (n,)
    w: NDArray[np.float64] | None  # (n,)
    status: LcpStatus
    residual: float  # max |min(z', w')| of the scaled problem (see scaling.py); infinite without an answer
    pivots: int  # pivots, factorisations and iterations of every method tried
    basis: NDArray[np.bool_] | None = None  # (n,) which z are basic: the `guess` of the next, similar problem


def solve_lcp(
    M: ArrayLike,
    q: ArrayLike,
    method: str = "auto",
    *,
    guess: ArrayLike | None = None,
    workspace: LcpWorkspace | None = None,
) -> LcpSolution:
    """Find z >= 0 with w = M z + q >= 0 and z.w = 0.

    method
        "auto": the fastest that works, checked, with the others behind it; "lemke": the reference; "block_pivoting";
        "interior_point".
    guess
        Which z are expected to be basic (a previous solution's `basis`): makes "auto" and "block_pivoting" start there.
    workspace
        From `make_workspace`, to be used again and again.

    M or q that are not finite give the status NOT_FINITE; shapes that do not fit raise ValueError.
    """
    matrix = np.ascontiguousarray(M, dtype=np.float64)
    vector = np.ascontiguousarray(q, dtype=np.float64)
    if vector.ndim != 1:
        raise ValueError(f"q must be a vector, not an array of shape {vector.shape}")
    n = vector.shape[0]
    if matrix.shape != (n, n) and not (n == 0 and matrix.size == 0):
        raise ValueError(f"M must have the shape ({n}, {n}) to go with q, not {matrix.shape}")
    if method not in METHODS:
        raise ValueError(f"method must be one of {', '.join(METHODS)}, not {method!r}")
    if n == 0:
        return LcpSolution(np.zeros(0), np.zeros(0), LcpStatus.SOLVED, 0.0, 0, np.zeros(0, dtype=np.bool_))
    if workspace is None:
        workspace = make_workspace(n)
    elif workspace.z.shape[0] < n:
        raise ValueError(f"the workspace holds {workspace.z.shape[0]} unknowns, the problem has {n}")
    if guess is not None:
        start = np.asarray(guess, dtype=np.bool_)
        if start.shape != (n,):
            raise ValueError(f"guess must have the shape ({n},), not {start.shape}")
        workspace.basis[:n] = start
    code, residual, pivots = solve(workspace, matrix, vector, n, METHODS[method], guess is not None)
    status = LcpStatus(code)
    if status is not LcpStatus.SOLVED:
        return LcpSolution(None, None, status, float(residual), int(pivots))
    return LcpSolution(
        workspace.z[:n].copy(), workspace.w[:n].copy(), status, float(residual), int(pivots), workspace.basis[:n].copy()
    )
