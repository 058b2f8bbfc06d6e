# SPDX-License-Identifier: GPL-3.0-or-later
"""One step back of the Riccati recursion for tracking with a defect (Muico et al. 2009, section 3.4).

The linearised problem of eq. 8 is to minimise, over xi and eta,

    |xi_N|^2_Q + sum |xi_k|^2_Q + |eta_k|^2_R + |u_k + eta_k|^2_P    with  xi_{k+1} = A xi_k + B eta_k + d.

Its costate is s_k + S_k xi_k (eq. 9). The paper's form inverts S; this one, after the matrix inversion lemma, only
factors R + P + B^T S B, which is positive definite whatever S is.
"""

from typing import NamedTuple

import numpy as np
import scipy.linalg
from numpy.typing import NDArray

Array = NDArray[np.float64]


class Regulator(NamedTuple):
    """The law of one step, eta = -gain xi - offset (eq. 10), and the costate before it."""

    gain: Array  # (m, n)
    offset: Array  # (m,)
    slope: Array  # (n, n) [S_k]
    costate: Array  # (n,) [s_k]


def step_back(
    A: Array, B: Array, defect: Array, Q: Array, effort: Array, pull: Array, slope: Array, costate: Array
) -> Regulator:
    """From S_{k+1}, s_{k+1} to S_k, s_k. `Q` (n,) and `effort` (m,) [R + P] are diagonals; `pull` (m,) is P u_k."""
    SB = slope @ B
    H = B.T @ SB
    H[np.diag_indices_from(H)] += effort
    factor = scipy.linalg.cho_factor(H, lower=True, overwrite_a=True, check_finite=False)
    gain = scipy.linalg.cho_solve(factor, SB.T @ A, check_finite=False)
    ahead = costate + slope @ defect
    offset = scipy.linalg.cho_solve(factor, pull + B.T @ ahead, check_finite=False)
    before = A.T @ (slope @ (A - B @ gain))
    before += before.T
    before *= 0.5
    before[np.diag_indices_from(before)] += Q
    return Regulator(gain, offset, before, A.T @ (ahead - SB @ offset))
