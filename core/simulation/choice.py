# SPDX-License-Identifier: GPL-3.0-or-later
"""Which groups take part in a step's contact problem, and what is remembered of its answer for the next.

Most candidates are near and yet not touched. So the problem is that of the groups which had an impulse one step ago, or
which would be missed without any; others are added if the answer misses them. That is an answer of all of them, with
half the unknowns: a contact that takes no part has a normal impulse of zero, and its row holds.
"""

import numpy as np
from numpy.typing import NDArray

from ..maths.dense import copy_into
from ..maths.kernel import kernel
from .equations import rows_times
from .workspace import Groups, Machine, Memory

Array = NDArray[np.float64]
Indices = NDArray[np.int64]

# A group that takes no part may be missed by this, m/s or rad/s.
UNHEEDED = 1e-10
# What slides no faster than this sticks, m/s. Of redundant corners some have a sliding speed that is basic and zero.
STILL = 1e-7


@kernel
def choose_groups(machine: Machine, limits: int, active: int, everything: bool) -> tuple[int, bool]:
    """Who takes part. Returns the number of unknowns, and whether there is a guess which of them are basic.

    The guess: those that were for the same contact or limit one step ago.
    """
    memory, scratch = machine.memory, machine.scratch
    groups, key, problem = scratch.groups, scratch.contacts.key, scratch.lcp
    known = memory.known[0]
    guessed = False
    at = n = 0
    for g in range(active):
        name = key[g - limits] if g >= limits else -1 - groups.limit[g]
        found = -1
        # order seldom changes, so the search begins where the last one ended
        for step in range(known):
            other = at + step if at + step < known else at + step - known
            if memory.key[other] == name:
                found = other
                at = other + 1
                break
        groups.first[g] = -1
        pressed = found >= 0 and memory.basis[found, 0]
        if not (everything or pressed or not groups.speed[g, 0] + groups.allowed[g] >= 0.0):
            continue
        groups.first[g] = n
        for k in range(_width(g, limits, memory)):
            problem.basis[n] = found >= 0 and memory.basis[found, k]
            n += 1
        guessed = guessed or found >= 0
    return n, guessed


@kernel
def add_missed(machine: Machine, limits: int, active: int, n: int) -> int:
    """Let groups take part that the impulses of others would push too far; returns the number of unknowns then."""
    memory, scratch = machine.memory, machine.scratch
    groups, change, problem = scratch.groups, scratch.change, scratch.lcp
    for g in range(active):
        if groups.first[g] < 0 and slack(groups, g, change) < -UNHEEDED:
            groups.first[g] = n
            for _ in range(_width(g, limits, memory)):
                problem.basis[n] = False
                n += 1
    return n


@kernel
def _width(g: int, limits: int, memory: Memory) -> int:
    """A limit has one unknown; a contact its normal, the pyramid's edges and the cone."""
    return 1 if g < limits else memory.basis.shape[1]


@kernel
def slack(groups: Groups, g: int, change: Array) -> float:
    """How far a group's first row is from being missed, as a speed."""
    moved = rows_times(groups.support[g, : groups.support_length[g]], groups.rows[g], change)
    result: float = groups.speed[g, 0] + moved[0] + groups.allowed[g]
    return result


@kernel
def remember_basis(machine: Machine, limits: int, active: int) -> None:
    """For the next step: the basis by contact and limit, and where the points stuck that did not slide."""
    memory, scratch = machine.memory, machine.scratch
    groups, key, problem = scratch.groups, scratch.contacts.key, scratch.lcp
    sides = memory.basis.shape[1] - 2
    memory.known[0] = active
    for g in range(active):
        memory.key[g] = key[g - limits] if g >= limits else -1 - groups.limit[g]
        memory.basis[g, :] = False
        memory.stuck[g, :] = np.nan
        i = groups.first[g]
        if i < 0:
            continue
        for k in range(_width(g, limits, memory)):
            memory.basis[g, k] = problem.basis[i + k]
        if g >= limits and problem.basis[i] and not problem.z[i + sides + 1] > STILL:
            copy_into(groups.stuck[g - limits], memory.stuck[g])
