# SPDX-License-Identifier: GPL-3.0-or-later
"""Linear complementarity problems: find z >= 0 with w = M z + q >= 0 and z.w = 0.

Python calls `solve_lcp`. The stepper, itself compiled, calls `solve` on an `LcpWorkspace` made once.
"""

from .cascade import AUTO, BLOCK_PIVOTING, INTERIOR_POINT, LEMKE, solve
from .solution import LcpSolution, solve_lcp
from .workspace import LcpStatus, LcpWorkspace, make_workspace

__all__ = [
    "AUTO",
    "BLOCK_PIVOTING",
    "INTERIOR_POINT",
    "LEMKE",
    "LcpSolution",
    "LcpStatus",
    "LcpWorkspace",
    "make_workspace",
    "solve",
    "solve_lcp",
]
