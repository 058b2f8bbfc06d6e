# SPDX-License-Identifier: GPL-3.0-or-later
"""The two-sided part of the equations: grabs are solved exactly, and the rest on what they leave free.

In y coordinates (equations.py) the rows H of all grabs are made orthonormal by modified Gram-Schmidt, twice for good
measure: H^T = Q^T R. Velocities then split into a part along Q, which H y = c fixes (c is the anchors' pace), and the
rest, where contacts act: that is the Schur complement of the KKT system without ever forming H H^T, whose condition
number would be squared. A row that follows from earlier ones leaves nothing after the projection and is dropped: it is
met because they are.
"""

import math

import numpy as np
from numpy.typing import NDArray

from ..maths.dense import copy_into
from ..maths.kernel import kernel
from ..maths.vectors import Vector, add, add_scaled, cross, dot, row, row_angular, set_row, subtract
from .equations import impulse_to_y
from .grabs import SLIDES, across_slide, grab_error, update_anchor
from .workspace import Groups, Held, Machine

Array = NDArray[np.float64]
Indices = NDArray[np.int64]

# A row shorter than this share of itself, once the others are taken out of it, follows from them.
FOLLOWS = 1e-7
# Fastest correction of a grab's error, m/s or rad/s.
FASTEST_REPAIR = 2.0


@kernel
def update_held_rows(machine: Machine, time: float) -> int:
    """Rows and errors of the grabs that hold at `time`; returns how many rows."""
    system, memory, scratch = machine.system, machine.memory, machine.scratch
    grabs, bodies, held = system.grabs, scratch.bodies, scratch.held
    parent, L = system.tree.velocity_parent, bodies.factor
    count = 0
    for g in range(grabs.body.shape[0]):
        if not grabs.start[g] <= time < grabs.end[g]:
            continue
        update_anchor(grabs, g, bodies, memory.frame, memory.anchor, memory.orientation)
        point, miss, turn = grab_error(grabs, g, bodies, memory.frame, memory.anchor, memory.orientation)
        spin = row(memory.spin, g)
        pace = add(row(memory.pace, g), cross(spin, subtract(point, miss)))
        arm = subtract(point, row(bodies.position, 0))
        rows = grabs.rows[g]
        H = held.rows[count : count + rows]
        H[:] = 0.0
        b, other = grabs.body[g], grabs.other[g]
        t, s = across_slide(grabs, g, bodies)
        _add_rows(bodies.motion, system.chain[b, : system.chain_length[b]], 1.0, arm, t, s, H)
        if other >= 0:
            _add_rows(bodies.motion, system.chain[other, : system.chain_length[other]], -1.0, arm, t, s, H)
        if rows == SLIDES:
            held.error[count], held.error[count + 1] = dot(t, miss), dot(s, miss)
            held.speed[count], held.speed[count + 1] = dot(t, pace), dot(s, pace)
        else:
            for k in range(3):
                held.error[count + k], held.speed[count + k] = miss[k], pace[k]
        if rows > 3:
            for k in range(3):
                held.error[count + rows - 3 + k], held.speed[count + rows - 3 + k] = turn[k], spin[k]
        for k in range(rows):
            impulse_to_y(parent, L, scratch.root, H[k])
        count += rows
    return count


@kernel
def _add_rows(motion: Array, chain: Indices, sign: float, arm: Vector, t: Vector, s: Vector, H: Array) -> None:
    """Add to H, (3, 5 or 6, nv), the velocity of a body's point o + arm in world axes, and its angular velocity.

    Of one that slides only the velocities along t and s, across its axis.
    """
    turning = H.shape[0] - 3
    for c in range(chain.shape[0]):
        i = chain[c]
        angular = row_angular(motion, i)
        linear = add(row(motion, i), cross(angular, arm))
        if H.shape[0] == SLIDES:
            H[0, i] += sign * dot(t, linear)
            H[1, i] += sign * dot(s, linear)
        else:
            for k in range(3):
                H[k, i] += sign * linear[k]
        if turning > 0:
            for k in range(3):
                H[turning + k, i] += sign * angular[k]


@kernel
def orthonormalize(held: Held, count: int) -> None:
    """`orthonormal` and `triangle`; dropped rows are zero in both."""
    Q, R = held.orthonormal, held.triangle
    for k in range(count):
        copy_into(held.rows[k], Q[k])
        size = math.sqrt(_dot(Q[k], Q[k]))
        for l in range(k):
            R[l, k] = 0.0
        for _ in range(2):
            for l in range(k):
                along = _dot(Q[l], Q[k])
                R[l, k] += along
                for i in range(Q.shape[1]):
                    Q[k, i] -= along * Q[l, i]
        length = math.sqrt(_dot(Q[k], Q[k]))
        if length <= FOLLOWS * size:
            length = 0.0
        R[k, k] = length
        scale = 1.0 / length if length > 0.0 else 0.0
        for i in range(Q.shape[1]):
            Q[k, i] *= scale


@kernel
def update_grab_repair(held: Held, count: int, dt: float, repair: Array) -> None:
    """`repair`: the velocity, in y, that takes the grabs' errors back in one step."""
    Q, R, target = held.orthonormal, held.triangle, held.impulse
    repair[:] = 0.0
    # H y = c means R^T (Q y) = c
    for k in range(count):
        target[k] = 0.0
        if R[k, k] > 0.0:
            s = -min(max(held.error[k] / dt, -FASTEST_REPAIR), FASTEST_REPAIR)
            for l in range(k):
                s -= R[l, k] * target[l]
            target[k] = s / R[k, k]
            for i in range(repair.shape[0]):
                repair[i] += target[k] * Q[k, i]


@kernel
def lead_held(held: Held, count: int, y: Array) -> None:
    """Add to y, of which nothing lies along the grabs, what takes them along with their anchors: R^T (Q y) = c."""
    Q, R, led = held.orthonormal, held.triangle, held.led
    for k in range(count):
        led[k] = 0.0
        if R[k, k] > 0.0:
            s = held.speed[k]
            for l in range(k):
                s -= R[l, k] * led[l]
            led[k] = s / R[k, k]
        if led[k] != 0.0:
            for i in range(y.shape[0]):
                y[i] += led[k] * Q[k, i]


@kernel
def remove_held(held: Held, count: int, y: Array) -> None:
    """Take out of y what lies along the grabs."""
    for k in range(count):
        along = _dot(held.orthonormal[k], y)
        for i in range(y.shape[0]):
            y[i] -= along * held.orthonormal[k, i]


@kernel
def project_group(held: Held, count: int, groups: Groups, g: int) -> None:
    """Take the grabs out of a group's rows, which then touch every velocity.

    A row of which nothing is left (the sole of a foot that is held) becomes zero: there is nothing it could decide.
    """
    Z, support = groups.rows[g], groups.support[g]
    n = Z.shape[0]
    here = 0
    for i in range(n):
        if here < groups.support_length[g] and support[here] == i:
            here += 1
        else:
            Z[i, 0] = Z[i, 1] = Z[i, 2] = 0.0
    for i in range(n):
        support[i] = i
    groups.support_length[g] = n
    before = _squares(Z)
    for k in range(count):
        along = (0.0, 0.0, 0.0)
        for i in range(n):
            along = add_scaled(along, held.orthonormal[k, i], row(Z, i))
        for i in range(n):
            for j in range(3):
                Z[i, j] -= along[j] * held.orthonormal[k, i]
        set_row(groups.lost[g], k, along)
    after = _squares(Z)
    for j in range(3):
        if after[j] <= FOLLOWS * FOLLOWS * before[j]:
            for i in range(n):
                Z[i, j] = 0.0


@kernel
def release_held_rows(groups: Groups, active: int) -> None:
    """Where the grabs leave nothing to decide, bodies go where they are taken, and contacts and limits let them."""
    for g in range(active):
        if groups.delassus[g, g, 0] == 0.0:
            groups.speed[g, 0] = max(groups.speed[g, 0], -groups.allowed[g])


@kernel
def update_held_impulse(held: Held, count: int, groups: Groups, active: int, load: Array) -> None:
    """`impulse` p: what brings the rest of the world's effect y to the grabs' pace. H^T p = Q c - y, or R p = c - Q y.

    `load` is all of y but what contacts and limits do directly; that part was put aside in `lost`.
    """
    R, p = held.triangle, held.impulse
    for k in range(count - 1, -1, -1):
        p[k] = 0.0
        if R[k, k] > 0.0:
            s = held.led[k] - _dot(held.orthonormal[k], load)
            for g in range(active):
                s -= dot(row(groups.lost[g], k), row(groups.impulse, g))
            for l in range(k + 1, count):
                s -= R[k, l] * p[l]
            p[k] = s / R[k, k]


@kernel
def _dot(a: Array, b: Array) -> float:
    total = 0.0
    for i in range(a.shape[0]):
        total += a[i] * b[i]
    return total


@kernel
def _squares(Z: Array) -> Vector:
    """Squared lengths of three rows (nv, 3)."""
    total = (0.0, 0.0, 0.0)
    for i in range(Z.shape[0]):
        z = row(Z, i)
        total = (total[0] + z[0] * z[0], total[1] + z[1] * z[1], total[2] + z[2] * z[2])
    return total
