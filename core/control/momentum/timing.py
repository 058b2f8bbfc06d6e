# SPDX-License-Identifier: GPL-3.0-or-later
"""Where in its segment a motion is, by its state: the index search of Ye and Liu 2010, eq. 9 and 11.

A change of the final time by (t - t_c) h is a change of the index t_c from which gains are read. The paper divides by
1 + K_d x', which crosses zero on the way; multiplied out, t_c is where this is nearest to zero:

    (1 + K_d x'*) (t - t_c) h - K_d (x - x*) - K_c dPsi,    all at t_c
"""

import math

import numpy as np
from numpy.typing import NDArray

from ...maths.kernel import kernel
from .model import STATE
from .policy import Policy

Array = NDArray[np.float64]

FASTEST, SLOWEST = 2.0, 0.5  # times as fast as the reference that the rest of a segment is played


@kernel
def miss(policy: Policy, row: int, late: float, x: Array, goal: Array) -> float:
    """Eq. 11 multiplied out, s: `late` is (t - t_c) h in this row."""
    along, off = 0.0, 0.0
    for i in range(STATE):
        along += policy.time_gain[row, i] * policy.rate[row, i]
        off += policy.time_gain[row, i] * (x[i] - policy.x[row, i]) + policy.time_goal[row, i] * goal[i]
    return (1.0 + along) * late - off


@kernel
def find_index(
    policy: Policy, segment: int, elapsed: float, near: float, dt: float, x: Array, goal: Array
) -> tuple[int, bool]:
    """t_c (steps of the segment), `elapsed` steps after its begin: where eq. 11 changes sign, the place next to `near`.

    And whether it does; where not, t_c is the place at which it is nearest to zero.
    """
    first, count = policy.row[segment], policy.row[segment + 1] - policy.row[segment] - 1
    least, best, nearest, chosen = np.inf, 0, np.inf, -1
    before = 0.0
    for k in range(count):
        off = miss(policy, first + k, (elapsed - k) * dt, x, goal)
        if abs(off) < least:
            least, best = abs(off), k
        crossing = k > 0 and (off > 0.0) != (before > 0.0)
        if k == 1 and 3.0 * abs(before) < abs(off):  # less than half a step before the begin
            crossing = True
        if crossing:
            at = k if abs(off) < abs(before) else k - 1
            if abs(at - near) < nearest:
                nearest, chosen = abs(at - near), at
        before = off
    return (chosen, True) if chosen >= 0 else (best, False)


@kernel
def pace(count: int, at: float, index: float) -> float:
    """Delta of section 4.3: how much further the motion goes in a step, to end when the index says that it ends."""
    left, wanted = count - at, count - index
    if wanted < 1.0 or left < 1.0:
        return 1.0
    return min(max(left / wanted, SLOWEST), FASTEST)


@kernel
def split(at: float, last: int) -> tuple[int, float]:
    """The frame before a place among frames 0 to `last`, and the share of the way to the next."""
    k = min(max(math.floor(at), 0), last - 1)
    return k, min(max(at - k, 0.0), 1.0)
