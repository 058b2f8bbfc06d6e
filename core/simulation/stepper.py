# SPDX-License-Identifier: GPL-3.0-or-later
"""One time step: Stewart and Trinkle (1996), Anitescu and Potra (1997), as in Muico et al. 2009, eq. 16 and 19.

    q_{k+1} = q_k (+) dt v_k                                                   everything below is at q_{k+1}
    M (v_{k+1} - v_k) = dt (tau - h) + N^T p + D^T b + H^T l + limits
    0 <= N v_{k+1} + gap / dt          complementary to  p >= 0                normal impulses
    0 <= D v_{k+1} + c / dt + s e      complementary to  b >= 0                friction along the pyramid's edges
    0 <= mu p - e^T b                  complementary to  s >= 0                cone; s is the sliding speed
    H v_{k+1} = c                                                              grabs; c is their anchors' pace
    tau = torque + gain f,  f = (N^T p + D^T b) / dt in the world              the law, eq. 14 and 20; see strength.py

A row's point moves by dt times its velocity only to first order: while a leg swings over a foot, the rest is a tenth of
a millimetre a step. The gap takes it back along the normal; along the ground it would add up. So friction holds a
corner to where it stuck: c is how far it has come from there, or, where it only comes to press, how far the others of
its body have.

A gap below zero counts as zero here; positions are mended apart (correction.py). With a restitution e, the first row of
a contact that approaches and would touch in this step is N v_{k+1} + e N v_k >= 0 (Newton's law). The discrete bias h
and the implicit parts of M are dynamics.stepping's. The step has two halves, because a controller's law is formed at
q_{k+1}, from the contacts there: `begin_step` leads to q_{k+1}, `solve` finds v_{k+1}. The latter's first part, `pose`,
may be had alone: forecast.py asks by it what forces a law would meet.
"""

import numpy as np
from numpy.typing import NDArray

from ..contact.detection import detect
from ..contact.detection.contacts import move_contact
from ..contact.lcp.workspace import NOT_FINITE as LCP_NOT_FINITE
from ..contact.lcp.workspace import SOLVED
from ..contact.terrain import pose_terrain
from ..dynamics.centroidal import update_momentum
from ..dynamics.inertia import factorize, update_mass_matrix
from ..dynamics.kinematics import integrate_positions, update_kinematics, update_positions, world_point
from ..dynamics.stepping import keep_momentum, update_discrete_equation
from ..maths.dense import copy_into
from ..maths.kernel import kernel
from ..maths.vectors import (
    Vector,
    add,
    add_scaled,
    cross,
    dot,
    row,
    row_angular,
    scale,
    set_row,
    set_row_angular,
    subtract,
)
from .choice import remember_basis
from .correction import needs_correction, update_repair
from .equations import (
    impulse_to_y,
    update_delassus,
    update_root,
    velocity_from_y,
    velocity_to_y,
)
from .grabs import SLIDES, across_slide
from .holding import (
    lead_held,
    orthonormalize,
    remove_held,
    update_grab_repair,
    update_held_impulse,
    update_held_rows,
)
from .impulses import find_impulses
from .own_contact import FELT, PUSHED, UNHEEDED, find_own_contacts, let_go_of_own_contacts
from .pushes import mean_force
from .reach import FASTEST, fastest_of, is_near
from .rows import update_contact_rows, update_limit_rows
from .strength import brake_joints, exceeds, hold_joints, hold_law, is_torn, without_brakes
from .workspace import Machine

Array = NDArray[np.float64]
Indices = NDArray[np.int64]

STEPPED, UNSOLVED, MISSED, NOT_FINITE = range(4)

# An answer counts if no row misses by more than this, plus the same share of the largest speed, m/s or rad/s.
ACCEPTED = 1e-6


@kernel
def begin_step(machine: Machine) -> None:
    """From (q_k, v_k) to q_{k+1}: kinematics, equation of motion and contact candidates there."""
    move_bodies(machine)
    pose_terrain(machine.system.terrain, machine.memory.clock[0] + machine.system.settings.dt, machine.scratch.pose)
    reach = _find_contacts(machine)
    _drop_distant(machine)
    if machine.memory.heeded[0] > 0:
        find_own_contacts(machine, reach)


@kernel
def move_bodies(machine: Machine) -> None:
    """Kinematics and equation of motion at q_{k+1}."""
    system, memory, scratch = machine.system, machine.memory, machine.scratch
    dt = system.settings.dt
    if not memory.moving[0]:
        _begin_moving(machine)
    integrate_positions(system.tree, memory.q, memory.v, dt, scratch.q_next)
    update_discrete_equation(system.tree, scratch.bodies, scratch.q_next, memory.v, memory.momentum, dt, scratch.zero)


@kernel
def _begin_moving(machine: Machine) -> None:
    """Before the first step, the momentum that the next steps carry on."""
    system, memory, scratch = machine.system, machine.memory, machine.scratch
    tree, bodies = system.tree, scratch.bodies
    update_kinematics(tree, bodies, memory.q, memory.v)
    update_mass_matrix(tree, bodies)
    update_momentum(bodies, memory.v)
    copy_into(bodies.momentum, memory.momentum)
    memory.moving[0] = True


@kernel
def _find_contacts(machine: Machine) -> float:
    """Whatever is within the margin, or within reach of the fastest thing in this step; returns that reach, m."""
    system, scratch = machine.system, machine.scratch
    settings, bodies, contacts = system.settings, scratch.bodies, scratch.contacts
    fastest = fastest_of(machine)
    for s in range(scratch.pose.velocity.shape[0]):
        fastest = max(fastest, np.sqrt(dot(row(scratch.pose.velocity, s), row(scratch.pose.velocity, s))))
    reach = settings.margin + settings.dt * min(fastest, FASTEST)
    detect(
        system.shapes,
        system.terrain,
        scratch.pose,
        bodies.position,
        bodies.quaternion,
        reach,
        settings.depth,
        contacts,
    )
    return reach


@kernel
def _drop_distant(machine: Machine) -> None:
    """Keep candidates that are near."""
    contacts = machine.scratch.contacts
    count = 0
    for i in range(contacts.filled[0]):
        if not is_near(machine, i):
            continue
        if count < i:
            move_contact(contacts, i, count)
        count += 1
    contacts.filled[0] = count


@kernel
def pose(machine: Machine, torque: Array, implicit: Array) -> tuple[int, int, int]:
    """The equation of motion under a law and the rows of all groups; returns the rows of grabs, limits and groups.

    torque (nv,); implicit (nv,), or empty, is added to the equation's diagonal.
    """
    system, memory, scratch = machine.system, machine.memory, machine.scratch
    tree, bodies, held = system.tree, scratch.bodies, scratch.held
    L, root = bodies.factor, scratch.root
    dt = system.settings.dt
    if implicit.shape[0] > 0:
        for i in range(implicit.shape[0]):
            bodies.diagonal[i] += implicit[i]
        factorize(tree, bodies)
    update_root(L, root)
    _update_load(machine, torque)
    rows = update_held_rows(machine, memory.clock[0] + dt)
    orthonormalize(held, rows)
    copy_into(scratch.load, scratch.free)
    remove_held(held, rows, scratch.free)
    lead_held(held, rows, scratch.free)
    update_grab_repair(held, rows, dt, scratch.repair)

    limits = update_limit_rows(machine, rows)
    active = limits + scratch.contacts.filled[0]
    update_contact_rows(machine, limits, rows)
    return rows, limits, active


@kernel
def solve(machine: Machine, torque: Array, gain: Array, implicit: Array) -> int:
    """Find v_{k+1} and move on; returns STEPPED, or why not, and then the state is as it was.

    torque (nv,); gain (motors, 3 n) for n candidates, or without columns; implicit (nv,), or empty.
    """
    scratch = machine.scratch
    copy_into(scratch.bodies.diagonal, scratch.weak.diagonal)
    status, rows, limits, active = _try(machine, torque, gain, implicit)
    if status != STEPPED and let_go_of_own_contacts(machine):
        copy_into(scratch.weak.diagonal, scratch.bodies.diagonal)
        status, rows, limits, active = _try(machine, torque, gain, implicit)
    if status != STEPPED:
        return status
    remember_basis(machine, limits, active)
    update_momentum(scratch.bodies, scratch.v_next)
    if needs_correction(scratch.groups, active, scratch.held, rows):
        _correct_positions(machine, active)
    for i in range(scratch.q_next.shape[0]):
        if not np.isfinite(scratch.q_next[i]):
            return NOT_FINITE
    _move_on(machine)
    return STEPPED


@kernel
def _try(machine: Machine, torque: Array, gain: Array, implicit: Array) -> tuple[int, int, int, int]:
    """`v_next` with no joint beyond its strength; returns STEPPED or why not, and rows of grabs, limits and groups."""
    if machine.system.limited.first.shape[0] == 0:
        return _find(machine, torque, gain, implicit)
    return _find_within(machine, torque, gain, implicit)


@kernel
def _find(machine: Machine, torque: Array, gain: Array, implicit: Array) -> tuple[int, int, int, int]:
    """`v_next` and the step's outcome; returns STEPPED or why not, and rows of grabs, limits and groups."""
    rows, limits, active = pose(machine, torque, implicit)
    status = find_impulses(machine, limits, active, rows, gain)
    if status != SOLVED:
        return (NOT_FINITE if status == LCP_NOT_FINITE else UNSOLVED), rows, limits, active
    fastest = _update_velocity(machine)
    if not fastest < np.inf:
        return NOT_FINITE, rows, limits, active
    if not machine.scratch.outcome.residual[0] <= ACCEPTED * (1.0 + fastest):
        return MISSED, rows, limits, active
    _update_outcome(machine, limits, active, rows, torque, gain, implicit)
    return STEPPED, rows, limits, active


@kernel
def _find_within(machine: Machine, torque: Array, gain: Array, implicit: Array) -> tuple[int, int, int, int]:
    """The same with no joint beyond its strength, and none torn (strength.py)."""
    system, scratch = machine.system, machine.scratch
    limited, weak, given, v = system.limited, scratch.weak, scratch.outcome.torque, scratch.v_next
    diagonal, time = scratch.bodies.diagonal, machine.memory.clock[0]
    before, dt = machine.memory.v, system.settings.dt
    motors, columns = gain.shape
    copy_into(diagonal, weak.diagonal)
    status, rows, limits, active = _find(machine, torque, gain, implicit)
    own, begun = implicit.shape[0], False
    while status == STEPPED:
        strained = exceeds(limited, given, v, time)
        if not (strained or is_torn(limited, weak, v)):
            break
        if not begun:
            hold_law(weak, torque, gain, implicit)
            begun = True
        if strained:
            hold_joints(limited, weak, given, before, v, dt, time, system.motors[0], columns)
        else:
            brake_joints(limited, weak, scratch.bodies.factor, before, v, dt)
            own = weak.implicit.shape[0]
        copy_into(weak.diagonal, diagonal)
        own_gain = weak.gain[: motors * columns].reshape(motors, columns)
        status, rows, limits, active = _find(machine, weak.torque, own_gain, weak.implicit[:own])
        without_brakes(weak, v, given)
    weak.braked[:] = 0.0
    return status, rows, limits, active


@kernel
def step(machine: Machine, torque: Array, gain: Array, implicit: Array) -> int:
    """Both, for a law that is known beforehand."""
    begin_step(machine)
    return solve(machine, torque, gain, implicit)


@kernel
def _update_load(machine: Machine, torque: Array) -> None:
    """`start` and `load`: y of v_k, and of what v_{k+1} would be without contacts, limits and grabs."""
    system, memory, scratch = machine.system, machine.memory, machine.scratch
    bodies, load = scratch.bodies, scratch.load
    parent, L, root = system.tree.velocity_parent, bodies.factor, scratch.root
    dt, time = system.settings.dt, memory.clock[0]
    for i in range(load.shape[0]):
        load[i] = dt * (torque[i] - bodies.bias[i])
    for p in range(system.pushes.body.shape[0]):
        force = mean_force(system.pushes, p, time, time + dt)
        if dot(force, force) > FELT * FELT and memory.heeded[0] == UNHEEDED and system.inside.shape[0] > 0:
            memory.heeded[0] = PUSHED
        if dot(force, force) > 0.0:
            b = system.pushes.body[p]
            arm = subtract(world_point(bodies, b, row(system.pushes.point, p)), row(bodies.position, 0))
            chain = system.chain[b, : system.chain_length[b]]
            _add_wrench(bodies.motion, chain, scale(dt, force), scale(dt, cross(arm, force)), load)
    for b in range(memory.impulse.shape[0]):
        linear, angular = row(memory.impulse, b), row_angular(memory.impulse, b)
        if dot(linear, linear) + dot(angular, angular) > 0.0:
            arm = subtract(row(bodies.position, b), row(bodies.position, 0))
            chain = system.chain[b, : system.chain_length[b]]
            _add_wrench(bodies.motion, chain, linear, add(angular, cross(arm, linear)), load)
    velocity_to_y(parent, L, root, memory.v, scratch.start)
    impulse_to_y(parent, L, root, load)
    for i in range(load.shape[0]):
        load[i] += scratch.start[i]


@kernel
def _add_wrench(motion: Array, chain: Indices, linear: Vector, moment: Vector, out: Array) -> None:
    """Add the generalised impulse of one about o."""
    for c in range(chain.shape[0]):
        i = chain[c]
        out[i] += dot(row(motion, i), linear) + dot(row_angular(motion, i), moment)


@kernel
def _update_velocity(machine: Machine) -> float:
    """`v_next` by the impulses that were found; returns its greatest entry, infinite where one is no finite number."""
    system, memory, scratch = machine.system, machine.memory, machine.scratch
    change, v = scratch.change, scratch.v_next
    for i in range(change.shape[0]):
        change[i] += scratch.free[i] - scratch.start[i]
    velocity_from_y(system.tree.velocity_parent, scratch.bodies.factor, scratch.root, change, v)
    fastest = 0.0
    for i in range(v.shape[0]):
        v[i] += memory.v[i]
        fastest = max(fastest, abs(v[i]))
        if not np.isfinite(v[i]):
            return np.inf
    return fastest


@kernel
def _correct_positions(machine: Machine, active: int) -> None:
    """`q_next` where nothing is too deep or beyond its limit (correction.py)."""
    system, scratch = machine.system, machine.scratch
    tree, bodies, groups = system.tree, scratch.bodies, scratch.groups
    dt, change = system.settings.dt, scratch.change
    update_delassus(groups, active, True)
    update_repair(machine, active)
    velocity_from_y(tree.velocity_parent, bodies.factor, scratch.root, scratch.repair, change)
    integrate_positions(tree, scratch.q_next, change, dt, scratch.q_next)
    scratch.outcome.counts[3] = 1
    # to be put elsewhere is no motion, and does not change the momentum that a body carries
    update_positions(tree, bodies, scratch.q_next)
    update_mass_matrix(tree, bodies)
    keep_momentum(tree, bodies, scratch.v_next)


@kernel
def _move_on(machine: Machine) -> None:
    """The next state becomes the state."""
    system, memory, scratch = machine.system, machine.memory, machine.scratch
    copy_into(scratch.q_next, memory.q)
    copy_into(scratch.v_next, memory.v)
    copy_into(scratch.bodies.momentum, memory.momentum)
    memory.impulse[:] = 0.0
    memory.steps[0] += 1
    memory.clock[0] = memory.steps[0] * system.settings.dt


@kernel
def _update_outcome(
    machine: Machine, limits: int, active: int, rows: int, torque: Array, gain: Array, implicit: Array
) -> None:
    """Forces of the step."""
    system, memory, scratch = machine.system, machine.memory, machine.scratch
    outcome, contacts, groups, grabs = scratch.outcome, scratch.contacts, scratch.groups, system.grabs
    bodies = scratch.bodies
    dt = system.settings.dt
    rate = 1.0 / dt
    first, last = system.motors[0], system.motors[1]
    outcome.limit_torque[:] = 0.0
    for g in range(limits):
        outcome.limit_torque[groups.limit[g]] = rate * groups.impulse[g, 0]
    for i in range(torque.shape[0]):
        outcome.torque[i] = torque[i]
        if implicit.shape[0] > 0:
            outcome.torque[i] -= implicit[i] * rate * (scratch.v_next[i] - memory.v[i])
    outcome.wrench[:] = 0.0
    for c in range(contacts.filled[0]):
        n, t = row(contacts.normal, c), row(groups.tangent, c)
        p = row(groups.impulse, limits + c)
        force = add_scaled(add_scaled(scale(rate * p[0], n), rate * p[1], t), rate * p[2], cross(n, t))
        set_row(outcome.contact_force, c, force)
        _add_moved(outcome.wrench, contacts.body[c], 1.0, bodies.position, row(contacts.point, c), force)
        if contacts.other[c] >= 0:
            _add_moved(outcome.wrench, contacts.other[c], -1.0, bodies.position, row(contacts.point, c), force)
        if gain.shape[1] > 0:
            for i in range(first, last):
                for k in range(3):
                    outcome.torque[i] += gain[i - first, 3 * c + k] * force[k]
    update_held_impulse(scratch.held, rows, groups, active, scratch.load)
    outcome.grab_force[:] = 0.0
    at = 0
    time = memory.clock[0] + dt
    for g in range(grabs.body.shape[0]):
        if grabs.start[g] <= time < grabs.end[g]:
            count = grabs.rows[g]
            if count == SLIDES:
                t, s = across_slide(grabs, g, bodies)
                force = add_scaled(scale(scratch.held.impulse[at], t), scratch.held.impulse[at + 1], s)
                set_row(outcome.grab_force, g, scale(rate, force))
            else:
                for k in range(3):
                    outcome.grab_force[g, k] = rate * scratch.held.impulse[at + k]
            if count > 3:
                for k in range(3):
                    outcome.grab_force[g, 3 + k] = rate * scratch.held.impulse[at + count - 3 + k]
            at += count


@kernel
def _add_moved(wrench: Array, b: int, sign: float, position: Array, point: Vector, force: Vector) -> None:
    """Add a force at a point to the wrench about a body's origin."""
    force = scale(sign, force)
    moment = cross(subtract(point, row(position, b)), force)
    set_row(wrench, b, add(row(wrench, b), force))
    set_row_angular(wrench, b, add(row_angular(wrench, b), moment))
