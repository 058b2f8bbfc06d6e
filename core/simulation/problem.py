# SPDX-License-Identifier: GPL-3.0-or-later
"""A step's groups as a linear complementarity problem, and its answer as impulses.

A limit has one unknown, its impulse; a contact has those of its normal and of the pyramid's edges, and the sliding
speed. Only groups that take part (choice.py) have any.
"""

import numpy as np
from numpy.typing import NDArray

from ..maths.dense import copy_into
from ..maths.kernel import inlined_kernel, kernel
from ..maths.vectors import Vector, cross, dot, row, set_row
from .choice import slack
from .equations import columns_to_y, rows_times_columns
from .workspace import Machine

Array = NDArray[np.float64]
Indices = NDArray[np.int64]


@kernel
def update_gain(machine: Machine, limits: int, active: int, gain: Array) -> int:
    """`groups.gain` of the law's answer `gain` (motors, 3 nc) to forces in the world; returns its columns.

    `first` is the velocity of the first motor.
    """
    scratch, system = machine.scratch, machine.system
    parent, L, root, groups = system.tree.velocity_parent, scratch.bodies.factor, scratch.root, scratch.groups
    normal, first = scratch.contacts.normal, system.motors[0]
    nv, motors = root.shape[0], gain.shape[0]
    columns = 0
    for g in range(limits, active):
        columns += 3 if groups.first[g] >= 0 else 0
    X = groups.gain[: nv * columns].reshape(nv, columns)
    for i in range(nv):
        for c in range(columns):
            X[i, c] = 0.0
    at = 0
    for g in range(limits, active):
        if groups.first[g] < 0:
            continue
        c = g - limits
        n, t = row(normal, c), row(groups.tangent, c)
        s = cross(n, t)
        for i in range(motors):
            force = (gain[i, 3 * c], gain[i, 3 * c + 1], gain[i, 3 * c + 2])
            X[first + i, at], X[first + i, at + 1], X[first + i, at + 2] = dot(force, n), dot(force, t), dot(force, s)
        at += 3
    columns_to_y(parent, L, root, X)
    return columns


@kernel
def assemble(machine: Machine, limits: int, active: int, n: int, columns: int) -> None:
    """Matrix (n, n) and vector of the LCP; `columns` are those of the law's answer, 0 without one."""
    scratch = machine.scratch
    groups, side, friction, matrix = scratch.groups, machine.system.side, scratch.contacts.friction, scratch.matrix
    q = scratch.vector
    sides = side.shape[0]
    M = matrix[: n * n].reshape(n, n)
    nv = groups.rows.shape[1]
    X = groups.gain[: nv * columns].reshape(nv, columns)
    for g in range(active):
        i = groups.first[g]
        if i < 0:
            continue
        if columns > 0:
            rows_times_columns(groups.support[g, : groups.support_length[g]], groups.rows[g], X, groups.answer)
        column = 0
        for h in range(active):
            j = groups.first[h]
            if j < 0:
                continue
            B = groups.block
            copy_into(groups.delassus[g, h], B)
            if columns > 0 and h >= limits:
                for k in range(3):
                    for l in range(3):
                        B[3 * k + l] += groups.answer[k, column + l]
                column += 3
            _fill_block(g >= limits, h >= limits, B, i, j, side, M)
        set_speed(row(groups.speed, g), g < limits, side, q[i:])
        q[i] += groups.allowed[g]
        if g >= limits:
            cone = i + 1 + sides
            for k in range(sides):
                M[i + 1 + k, cone] = 1.0
                M[cone, i + 1 + k] = -1.0
            M[cone, i] = friction[g - limits]


@kernel
def set_speed(speed: Vector, limit: bool, side: Array, q: Array) -> None:
    """A group's entries of the vector, from its rows' speeds: along the normal, the pyramid's edges, and the cone."""
    q[0] = speed[0]
    if not limit:
        for k in range(side.shape[0]):
            q[1 + k] = side[k, 0] * speed[1] + side[k, 1] * speed[2]
        q[1 + side.shape[0]] = 0.0


@inlined_kernel
def _fill_block(below: bool, beside: bool, B: Array, i: int, j: int, side: Array, M: Array) -> None:
    """How two groups' unknowns from i and j on meet; `below` and `beside` say which of the two are contacts."""
    sides = side.shape[0]
    M[i, j] = B[0]
    if beside:
        for k in range(sides):
            M[i, j + 1 + k] = side[k, 0] * B[1] + side[k, 1] * B[2]
        M[i, j + 1 + sides] = 0.0
    if below:
        for k in range(sides):
            M[i + 1 + k, j] = side[k, 0] * B[3] + side[k, 1] * B[6]
        M[i + 1 + sides, j] = 0.0
    if below and beside:
        for l in range(sides):
            t = side[l, 0] * B[4] + side[l, 1] * B[7]
            s = side[l, 0] * B[5] + side[l, 1] * B[8]
            for k in range(sides):
                M[i + 1 + l, j + 1 + k] = t * side[k, 0] + s * side[k, 1]
            M[i + 1 + l, j + 1 + sides] = 0.0
            M[i + 1 + sides, j + 1 + l] = 0.0
        M[i + 1 + sides, j + 1 + sides] = 0.0


@kernel
def update_impulses(machine: Machine, limits: int, active: int) -> None:
    """From the LCP's unknowns to normal and tangents."""
    groups, side, z = machine.scratch.groups, machine.system.side, machine.scratch.lcp.z
    sides = side.shape[0]
    for g in range(active):
        i = groups.first[g]
        normal = t = s = 0.0
        if i >= 0:
            normal = z[i]
            if g >= limits:
                for k in range(sides):
                    t += side[k, 0] * z[i + 1 + k]
                    s += side[k, 1] * z[i + 1 + k]
        set_row(groups.impulse, g, (normal, t, s))


@kernel
def worst_miss(machine: Machine, limits: int, active: int) -> float:
    """Largest violation of a normal row, a limit or a cone, as a speed; from velocities, not from the LCP's matrix."""
    scratch = machine.scratch
    groups, side, friction, z = scratch.groups, machine.system.side, scratch.contacts.friction, scratch.lcp.z
    change = scratch.change
    sides = side.shape[0]
    worst = 0.0
    for g in range(active):
        room = slack(groups, g, change)
        i = groups.first[g]
        miss = -min(room, 0.0)
        if i >= 0:
            inverse_mass = groups.delassus[g, g, 0]
            miss = abs(min(room, inverse_mass * groups.impulse[g, 0]))
            if g >= limits:
                cone = friction[g - limits] * groups.impulse[g, 0]
                for k in range(sides):
                    cone -= z[i + 1 + k]
                miss = max(miss, -inverse_mass * cone)
        if not miss < np.inf:
            return np.inf
        worst = max(worst, miss)
    return worst
