# SPDX-License-Identifier: GPL-3.0-or-later
"""Linear quadratic regulators of the three-link model, or that of five: da Silva 2010, eq. 3.3 to 3.7.

The state is (q, v) in tangent space, 18 numbers (30), the control the torques of trunk, hip and shoulders, 6 (12). The
base's turn about its own length is left out: no torque controls it, so that its cost to go would grow without end, and
a foot's friction sees to it.
"""

import numpy as np
import scipy.linalg
from numpy.typing import NDArray

from ...character import Character
from ...dynamics import integrate, step_derivatives
from ..lookahead.riccati import step_back

Array = NDArray[np.float64]

VELOCITIES = 9  # of three links
HIPS = slice(3, None)  # of any model's velocities, those that motors drive
TWIST = 2  # of the base
TRACKING = 0.1  # [c] of eq. 3.4, against torques in N m and the last state
# [Q] of eq. 3.6, against [R] of one. With the thesis's, one on positions and zero on velocities, the slowest mode takes
# twenty seconds, and twists that nothing damps end it before.
STANDING = 100.0


def kept(nv: int) -> NDArray[np.int64]:
    """Which of the 2 nv numbers of a state the regulators know."""
    return np.array([i for i in range(2 * nv) if i not in {TWIST, nv + TWIST}])


KEPT = kept(VELOCITIES)


def linearise(model: Character, q: Array, v: Array, torque: Array, dt: float) -> tuple[Array, Array]:
    """A (16, 16) and B (16, 6), of five links (28, ...), of the step to q at v, which then applies `torque` (nv,)."""
    found, known = step_derivatives(model, integrate(model, q, -v, dt), v, torque, dt), kept(len(v))
    return found.A[np.ix_(known, known)], np.ascontiguousarray(found.B[known, HIPS])


def standing_curvature(A: Array, B: Array) -> Array:
    """Cost to go, x^T S x, of the system that does not change, over an endless time: eq. 3.6."""
    curvature: Array = scipy.linalg.solve_discrete_are(A, B, STANDING * np.eye(len(A)), np.eye(B.shape[1]))
    return curvature


def standing_gain(A: Array, B: Array) -> Array:
    """K (6, 16) of u = -K x over an endless time."""
    return regulate([(A, B)], np.full(len(A), STANDING), standing_curvature(A, B))[0]


def regulate(steps: list[tuple[Array, Array]], cost: Array, curvature: Array) -> list[Array]:
    """K (6, 16) of each step, u = -K x: eq. 3.4, with the diagonal of the states' cost and the last state's cost."""
    gains = []
    for A, B in reversed(steps):
        n, m = B.shape
        found = step_back(
            np.ascontiguousarray(A), B, np.zeros(n), cost, np.ones(m), np.zeros(m), curvature, np.zeros(n)
        )
        gains.append(found.gain)
        curvature = found.curvature
    return gains[::-1]


def full_gain(gain: Array, dt: float) -> Array:
    """K (9, 18) on all of the state, one step of positions later: q_k is q_{k+1} less dt v_k."""
    nv = len(gain) + HIPS.start
    wide = np.zeros((nv, 2 * nv))
    wide[HIPS.start :, kept(nv)] = gain
    wide[:, nv:] -= dt * wide[:, :nv]
    return wide
