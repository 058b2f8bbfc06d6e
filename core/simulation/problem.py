# SPDX-License-Identifier: GPL-3.0-or-later
"""A step's groups as a linear complementarity problem, and its answer as impulses.

A limit has one unknown, its impulse; a contact has those of its normal and of the pyramid's edges, and the sliding
speed. Which of them were not zero is remembered by contact and limit for the next step.
"""

import numpy as np
from numpy.typing import NDArray

from ..contact.lcp import LcpWorkspace
from ..maths.dense import copy_into
from ..maths.kernel import inner_kernel
from ..maths.vectors import Vector, row, set_row
from .equations import rows_times, update_block
from .workspace import Groups, Memory

Array = NDArray[np.float64]
Indices = NDArray[np.int64]


@inner_kernel
def first_unknown(g: int, limits: int, sides: int) -> int:
    """A limit has one unknown; a contact its normal, the pyramid's edges and the cone."""
    return g if g < limits else limits + (g - limits) * (sides + 2)


@inner_kernel
def assemble(
    groups: Groups,
    limits: int,
    active: int,
    with_gain: bool,
    side: Array,
    friction: Array,
    matrix: Array,
    q: Array,
) -> int:
    """Matrix and vector of the LCP; returns its size."""
    sides = side.shape[0]
    n = first_unknown(active, limits, sides)
    M = matrix[: n * n].reshape(n, n)
    B = groups.block
    for g in range(active):
        i = first_unknown(g, limits, sides)
        for h in range(active):
            j = first_unknown(h, limits, sides)
            update_block(groups, g, h, with_gain and h >= limits)
            M[i, j] = B[0]
            if h >= limits:
                for k in range(sides):
                    M[i, j + 1 + k] = side[k, 0] * B[1] + side[k, 1] * B[2]
                M[i, j + 1 + sides] = 0.0
            if g >= limits:
                for k in range(sides):
                    M[i + 1 + k, j] = side[k, 0] * B[3] + side[k, 1] * B[6]
                M[i + 1 + sides, j] = 0.0
            if g >= limits and h >= limits:
                for l in range(sides):
                    t = side[l, 0] * B[4] + side[l, 1] * B[7]
                    s = side[l, 0] * B[5] + side[l, 1] * B[8]
                    for k in range(sides):
                        M[i + 1 + l, j + 1 + k] = t * side[k, 0] + s * side[k, 1]
                    M[i + 1 + l, j + 1 + sides] = 0.0
                    M[i + 1 + sides, j + 1 + l] = 0.0
                M[i + 1 + sides, j + 1 + sides] = 0.0
        set_speed(row(groups.speed, g), g < limits, side, q[i:])
        q[i] += groups.allowed[g]
        if g >= limits:
            cone = i + 1 + sides
            for k in range(sides):
                M[i + 1 + k, cone] = 1.0
                M[cone, i + 1 + k] = -1.0
            M[cone, i] = friction[g - limits]
    return n


@inner_kernel
def set_speed(speed: Vector, limit: bool, side: Array, q: Array) -> None:
    """A group's entries of the vector, from its rows' speeds: along the normal, the pyramid's edges, and the cone."""
    q[0] = speed[0]
    if not limit:
        for k in range(side.shape[0]):
            q[1 + k] = side[k, 0] * speed[1] + side[k, 1] * speed[2]
        q[1 + side.shape[0]] = 0.0


@inner_kernel
def recall_basis(memory: Memory, groups: Groups, key: Indices, limits: int, active: int, problem: LcpWorkspace) -> bool:
    """Guess which unknowns are basic: those that were for the same contact or limit one step ago."""
    sides = memory.basis.shape[1] - 2
    known = memory.known[0]
    found = False
    at = 0
    for g in range(active):
        name = key[g - limits] if g >= limits else -1 - groups.limit[g]
        i = first_unknown(g, limits, sides)
        width = 1 if g < limits else sides + 2
        for k in range(width):
            problem.basis[i + k] = False
        # order seldom changes, so the search begins where the last one ended
        for step in range(known):
            other = at + step if at + step < known else at + step - known
            if memory.key[other] == name:
                for k in range(width):
                    problem.basis[i + k] = memory.basis[other, k]
                found = True
                at = other + 1
                break
    return found


@inner_kernel
def remember_basis(
    memory: Memory, groups: Groups, key: Indices, limits: int, active: int, problem: LcpWorkspace
) -> None:
    """For the next step: the basis by contact and limit, and where the points stuck that did not slide."""
    sides = memory.basis.shape[1] - 2
    memory.known[0] = active
    for g in range(active):
        memory.key[g] = key[g - limits] if g >= limits else -1 - groups.limit[g]
        i = first_unknown(g, limits, sides)
        for k in range(1 if g < limits else sides + 2):
            memory.basis[g, k] = problem.basis[i + k]
        memory.stuck[g, :] = np.nan
        if g >= limits and problem.basis[i] and not problem.basis[i + sides + 1]:
            copy_into(groups.stuck[g - limits], memory.stuck[g])


@inner_kernel
def update_impulses(groups: Groups, limits: int, active: int, side: Array, z: Array) -> None:
    """From the LCP's unknowns to normal and tangents."""
    sides = side.shape[0]
    for g in range(active):
        i = first_unknown(g, limits, sides)
        t = s = 0.0
        if g >= limits:
            for k in range(sides):
                t += side[k, 0] * z[i + 1 + k]
                s += side[k, 1] * z[i + 1 + k]
        set_row(groups.impulse, g, (z[i], t, s))


@inner_kernel
def worst_miss(
    groups: Groups, limits: int, active: int, side: Array, friction: Array, z: Array, change: Array
) -> float:
    """Largest violation of a normal row, a limit or a cone, as a speed; from velocities, not from the LCP's matrix."""
    sides = side.shape[0]
    worst = 0.0
    for g in range(active):
        speed = (
            groups.speed[g, 0] + rows_times(groups.support[g, : groups.support_length[g]], groups.rows[g], change)[0]
        )
        slack = speed + groups.allowed[g]
        inverse_mass = groups.delassus[g, g, 0]
        miss = abs(min(slack, inverse_mass * groups.impulse[g, 0]))
        if g >= limits:
            i = first_unknown(g, limits, sides)
            room = friction[g - limits] * groups.impulse[g, 0]
            for k in range(sides):
                room -= z[i + 1 + k]
            miss = max(miss, -inverse_mass * room)
        if not miss < np.inf:
            return np.inf
        worst = max(worst, miss)
    return worst
