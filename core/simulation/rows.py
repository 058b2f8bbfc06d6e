# SPDX-License-Identifier: GPL-3.0-or-later
"""The rows of a step's contact problem: what may approach what, and how fast it does without impulses.

Groups come in this order: joint limits that are near, one row each; then contact candidates, a normal and two tangents
each. Their rows are in the coordinates of equations.py.
"""

import numpy as np
from numpy.typing import NDArray

from ..contact.detection.ridges import FACE_KEYS
from ..contact.friction import first_tangent
from ..contact.shapes import POINT
from ..dynamics.limits import limit_gap
from ..maths.dense import copy_into
from ..maths.kernel import kernel
from ..maths.vectors import Vector, add, cross, dot, row, scale, set_row, subtract
from .equations import add_point_rows, fill_support, point_velocity, rows_times, rows_to_y
from .holding import project_group
from .workspace import Machine, Memory, Settings

Array = NDArray[np.float64]
Indices = NDArray[np.int64]

# A limit enters if it is nearer than this, plus twice what the joint moves towards it in a step, rad.
LIMIT_MARGIN = 0.05
# Speed of approach above which there is restitution, if any: what comes slower stays, m/s.
BOUNCES = 0.2


@kernel
def update_limit_rows(machine: Machine, rows: int) -> int:
    """The first groups: limits that are near or being approached; returns how many."""
    system, memory, scratch = machine.system, machine.memory, machine.scratch
    limits, settings, groups = system.limits, system.settings, scratch.groups
    count = 0
    for i in range(limits.kind.shape[0]):
        gap, rate = limit_gap(limits, i, scratch.q_next)
        k = limits.velocity[i]
        ball = limits.kind[i] > 1
        speed = rate[0] * memory.v[k]
        if ball:
            speed += rate[1] * memory.v[k + 1] + rate[2] * memory.v[k + 2]
        reach = LIMIT_MARGIN - 2.0 * settings.dt * min(speed, 0.0) if settings.anticipating else 0.0
        if not gap <= reach:
            continue
        b, Z = limits.body[i], groups.rows[count]
        chain = system.chain[b, : system.chain_length[b]]
        groups.support_length[count] = fill_support(chain, chain[:0], groups.support[count], Z)
        groups.limit[count] = i
        groups.gap[count] = gap
        groups.allowed[count] = max(gap, 0.0) / settings.dt
        groups.come[count] = 0.0
        Z[k, 0] = rate[0]
        if ball:
            Z[k + 1, 0], Z[k + 2, 0] = rate[1], rate[2]
        _finish_group(machine, count, rows)
        count += 1
    return count


@kernel
def update_contact_rows(machine: Machine, limits: int, rows: int) -> None:
    """The other groups: normal and two tangents of each candidate, the first along its sliding."""
    system, memory, scratch = machine.system, machine.memory, machine.scratch
    contacts, groups, bodies = scratch.contacts, scratch.groups, scratch.bodies
    dt = system.settings.dt
    for c in range(contacts.filled[0]):
        g = limits + c
        body, other = contacts.body[c], contacts.other[c]
        point, n = row(contacts.point, c), row(contacts.normal, c)
        surface = row(contacts.velocity, c)
        sliding = subtract(point_velocity(bodies.position, bodies.velocity, body, other, point), surface)
        t = first_tangent(n, sliding)
        s = cross(n, t)
        set_row(groups.tangent, c, t)
        groups.gap[g] = contacts.gap[c]
        groups.allowed[g] = _allowed_approach(system.settings, contacts.gap[c], -dot(n, sliding))
        groups.come[g] = -dt * dot(n, sliding)
        arm = subtract(point, row(bodies.position, 0))
        Z = groups.rows[g]
        chain = system.chain[body, : system.chain_length[body]]
        others = system.chain[other, : system.chain_length[other]] if other >= 0 else chain[:0]
        groups.support_length[g] = fill_support(chain, others, groups.support[g], Z)
        add_point_rows(bodies.motion, chain, 1.0, arm, n, t, s, Z)
        add_point_rows(bodies.motion, others, -1.0, arm, n, t, s, Z)
        _finish_group(machine, g, rows)
        groups.speed[g, 0] -= dot(n, surface)
        groups.speed[g, 1] -= dot(t, surface)
        groups.speed[g, 2] -= dot(s, surface)
        if _sticks(machine, c):
            _recall_stuck(memory, contacts.key[c], groups.stuck[c])
            for k in range(3):
                groups.stuck[c, k] += dt * surface[k]
        else:
            groups.stuck[c, :] = np.nan
    _hold_where_stuck(machine, limits)


@kernel
def _sticks(machine: Machine, c: int) -> bool:
    """Whether a candidate is a corner on the terrain, which friction holds in its place."""
    contacts, kinds = machine.scratch.contacts, machine.system.shapes.kind
    sticks: bool = kinds[contacts.shape[c]] == POINT and contacts.other[c] < 0 and contacts.key[c] < FACE_KEYS
    return sticks


@kernel
def _hold_where_stuck(machine: Machine, limits: int) -> None:
    """Friction takes corners back to where they stuck, by their tangents' rows.

    One that comes to press is held less far than where it is by what the other corners of its body are to be taken
    back by. Held where it is it would pull against these, and a body whose weight goes from corner to corner creeps.
    """
    contacts, groups, dt = machine.scratch.contacts, machine.scratch.groups, machine.system.settings.dt
    for c in range(contacts.filled[0]):
        if not _sticks(machine, c):
            continue
        point = row(contacts.point, c)
        if not np.isfinite(groups.stuck[c, 0]):
            set_row(groups.stuck, c, subtract(point, _strayed(machine, contacts.body[c])))
        strayed = subtract(point, row(groups.stuck, c))
        n, t = row(contacts.normal, c), row(groups.tangent, c)
        groups.speed[limits + c, 1] += dot(t, strayed) / dt
        groups.speed[limits + c, 2] += dot(cross(n, t), strayed) / dt


@kernel
def _strayed(machine: Machine, body: int) -> Vector:
    """How far those corners of a body have come on average, m, of which it is known where they stuck."""
    contacts, groups = machine.scratch.contacts, machine.scratch.groups
    total, known = (0.0, 0.0, 0.0), 0
    for c in range(contacts.filled[0]):
        if contacts.body[c] == body and np.isfinite(groups.stuck[c, 0]):
            total = add(total, subtract(row(contacts.point, c), row(groups.stuck, c)))
            known += 1
    return scale(1.0 / known, total) if known > 0 else total


@kernel
def _allowed_approach(settings: Settings, gap: float, approach: float) -> float:
    """As fast as to close the gap in a step; or, where a bounce is due in this one, away at a share of the approach."""
    if settings.restitution > 0.0 and approach > BOUNCES and approach * settings.dt >= gap:
        return -settings.restitution * approach
    return max(gap, 0.0) / settings.dt


@kernel
def _finish_group(machine: Machine, g: int, rows: int) -> None:
    """To y coordinates; speed without impulses; and off the grabs."""
    scratch = machine.scratch
    parent, L, root, free = machine.system.tree.velocity_parent, scratch.bodies.factor, scratch.root, scratch.free
    repair, groups, held = scratch.repair, scratch.groups, scratch.held
    support, Z = groups.support[g, : groups.support_length[g]], groups.rows[g]
    rows_to_y(parent, L, root, support, Z)
    set_row(groups.speed, g, rows_times(support, Z, free))
    groups.lean[g] = 0.0
    if rows > 0:
        groups.lean[g] = rows_times(support, Z, repair)[0]
        project_group(held, rows, groups, g)


@kernel
def _recall_stuck(memory: Memory, key: int, out: Array) -> None:
    """Where the point of this key stuck one step ago, or NaN."""
    out[:] = np.nan
    for g in range(memory.known[0]):
        if memory.key[g] == key:
            copy_into(memory.stuck[g], out)
            return
