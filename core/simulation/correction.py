# SPDX-License-Identifier: GPL-3.0-or-later
"""Penetration and violated limits are corrected by positions alone, so that no kinetic energy comes of it.

Velocities of a step leave depth as it is (a row n . v >= 0). Beside them a second velocity u is found that moves the
bodies apart by a share of the depth, with the same rows but without friction and without the law,

    0 <= n . u - correction  complementary to  p >= 0,   u = M^-1 n^T p,

and q_{k+1} = q_k (+) dt v_k is moved on by dt u once the step is done; u is then forgotten. Contacts that are apart
take part too: nothing is pushed into them. Grabs are corrected wholly, and the rest on what they leave free.

A limb that is flung turns by half a radian a step, and rows hold to first order only: it may end its step centimetres
inside of what it was to stop at. What is deeper than `HELD` and was brought there by that very step is taken back
whole.
"""

import numpy as np
from numpy.typing import NDArray

from ..contact import lcp
from ..maths.kernel import kernel
from .equations import add_impulse
from .workspace import Groups, Held, Machine

Array = NDArray[np.float64]

# Share of the depth taken back in one step, and the fastest that may be, m/s or rad/s.
SHARE = 0.2
FASTEST = 0.3
# Depth up to which what a step brings in is parted as slowly, m: feet land without a jolt.
HELD = 0.005
# Depths below this are left alone, m or rad.
LEAVE = 1e-6
# Added to the diagonal, as a share of it: four corners of one foot, and depths that contradict each other.
REGULARISATION = 1e-6


@kernel
def needs_correction(groups: Groups, active: int, held: Held, rows: int) -> bool:
    """Whether anything is too deep, beyond its limit or away from its anchor."""
    needed = False
    for g in range(active):
        needed = needed or groups.gap[g] < -LEAVE
    for k in range(rows):
        needed = needed or held.error[k] != 0.0
    return needed


@kernel
def update_repair(machine: Machine, active: int) -> None:
    """Complete `repair`, which holds the grabs' part. Without an answer of the LCP that part is all."""
    scratch = machine.scratch
    groups, dt, workspace, matrix = scratch.groups, machine.system.settings.dt, scratch.lcp, scratch.repair_matrix
    q, repair = scratch.repair_vector, scratch.repair
    M = matrix[: active * active].reshape(active, active)
    deep = False
    for g in range(active):
        gap = groups.gap[g]
        wanted = min(SHARE * -(gap + LEAVE) / dt, FASTEST) if gap < -LEAVE else -max(gap, 0.0) / dt
        if gap < -HELD:
            wanted = max(wanted, min(-gap - HELD, groups.come[g]) / dt)
        # a row that the grabs have left nothing of is theirs to correct
        q[g] = groups.lean[g] - wanted if groups.delassus[g, g, 0] > 0.0 else 0.0
        deep = deep or q[g] < 0.0
        for h in range(active):
            M[g, h] = groups.delassus[g, h, 0]
        M[g, g] *= 1.0 + REGULARISATION
    if not deep:
        return
    status, _, _ = lcp.solve(workspace, M, q, active, lcp.AUTO, False)
    if status == 0:
        for g in range(active):
            support = groups.support[g, : groups.support_length[g]]
            add_impulse(support, groups.rows[g], (workspace.z[g], 0.0, 0.0), repair)
