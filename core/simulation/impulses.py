# SPDX-License-Identifier: GPL-3.0-or-later
"""Impulses of contacts and limits: the contact problem of those that take part, solved until none is missed.

Under a law that answers to contacts, every contact costs many times what it does without one, and most are left out
(choice.py). Without such a law all take part, as in the forecast of one (forecast.py), which gives the same bits. With
grabs they do too: rows that grabs leave nothing of are to be found first.
"""

import numpy as np
from numpy.typing import NDArray

from ..contact import lcp
from ..contact.lcp.workspace import NOT_FINITE, SOLVED
from ..maths.kernel import kernel
from ..maths.vectors import row
from .choice import add_missed, choose_groups
from .equations import add_impulse, update_delassus
from .holding import release_held_rows, remove_held
from .problem import assemble, update_gain, update_impulses, worst_miss
from .workspace import Groups, Machine, Scratch

Array = NDArray[np.float64]

# If the contact problem finds no answer, contacts may yield by these shares of their inverse mass in turn; rows are
# still held to what is accepted.
YIELDING = (1e-7, 1e-6, 1e-5)


@kernel
def find_impulses(machine: Machine, limits: int, active: int, rows: int, gain: Array) -> int:
    """Impulses and `change`, what they and the law's answer to them add to y on what the grabs leave free.

    `rows` are those of grabs. Returns the status of the contact problem; fills the outcome's residual, miss and counts.
    """
    scratch = machine.scratch
    groups, outcome = scratch.groups, scratch.outcome
    everything = rows > 0 or gain.shape[1] == 0
    n, warm = choose_groups(machine, limits, active, everything)
    status, residual, pivots, columns, solved = SOLVED, 0.0, 0, 0, -1
    while status == SOLVED and solved < n:
        columns = pose_problem(machine, limits, active, rows, n, gain)
        status, residual, more = _solve_problem(scratch, n, warm)
        pivots += more
        update_impulses(machine, limits, active)
        scratch.change[:] = 0.0
        for g in range(active):
            support = groups.support[g, : groups.support_length[g]]
            add_impulse(support, groups.rows[g], row(groups.impulse, g), scratch.change)
        _add_answer(groups, limits, active, columns, scratch.change)
        remove_held(scratch.held, rows, scratch.change)
        solved, warm = n, True
        n = add_missed(machine, limits, active, n)
    outcome.lcp_residual[0], outcome.residual[0] = residual, np.inf
    outcome.counts[0], outcome.counts[1], outcome.counts[2], outcome.counts[3] = status, solved, pivots, 0
    if status == SOLVED:
        _add_answer(groups, limits, active, columns, scratch.load)
        outcome.residual[0] = worst_miss(machine, limits, active)
    return status


@kernel
def pose_problem(machine: Machine, limits: int, active: int, rows: int, n: int, gain: Array) -> int:
    """Matrix and vector of those that take part, of n unknowns; returns the columns of the law's answer."""
    groups = machine.scratch.groups
    update_delassus(groups, active, False)
    if rows > 0:
        release_held_rows(groups, active)
    columns = 0
    if gain.shape[1] > 0:
        columns = update_gain(machine, limits, active, gain)
    assemble(machine, limits, active, n, columns)
    return columns


@kernel
def _solve_problem(scratch: Scratch, n: int, warm: bool) -> tuple[int, float, int]:
    """Status, residual and pivots of the contact problem."""
    status, residual, pivots = SOLVED, 0.0, 0
    if n > 0:
        M = scratch.matrix[: n * n].reshape(n, n)
        status, residual, pivots = lcp.solve(scratch.lcp, M, scratch.vector, n, lcp.AUTO, warm)
        for share in YIELDING:
            if status in (SOLVED, NOT_FINITE):
                break
            for i in range(n):
                M[i, i] *= 1.0 + share
            status, residual, more = lcp.solve(scratch.lcp, M, scratch.vector, n, lcp.AUTO, False)
            pivots += more
    return status, residual, pivots


@kernel
def _add_answer(groups: Groups, limits: int, active: int, columns: int, y: Array) -> None:
    """Add what the law answers to the contacts' impulses."""
    X = groups.gain[: y.shape[0] * columns].reshape(y.shape[0], columns)
    column = 0
    for g in range(limits, active):
        if columns > 0 and groups.first[g] >= 0:
            for k in range(3):
                p = groups.impulse[g, k]
                for i in range(y.shape[0]):
                    y[i] += X[i, column + k] * p
            column += 3
