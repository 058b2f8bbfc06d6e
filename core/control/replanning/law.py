# SPDX-License-Identifier: GPL-3.0-or-later
"""One plan and its first step, Jain and Liu 2011, section 5, as a kernel that allocates nothing.

All is linearised at the simulator's q_{k+1} with its mass matrix and bias, Coriolis forces included (eq. 11 drops
them, and a tumbling body would lose its angular momentum). Springs are slack where the character is, so K enters by the
modes alone. Step 0 of the window is the one about to be taken: impulses change v_k to v_{k+1}, by which q_{k+1} moves
to q_{k+2}.

    rigid modes    contact impulses f* over the window        contact_plan.py   eq. 12 to 16
    low modes      actuation that leads to the window's end   response.py       eq. 17 to 21
    high modes     actuation that leads to the next frame                       eq. 22
    correction     actuation's answer to forces that differ from f*             eq. 24 to 34
"""

import numpy as np
from numpy.typing import NDArray

from ...character.tree import Tree
from ...contact.detection import Contacts
from ...contact.friction import first_tangent
from ...dynamics.kinematics import difference_positions, world_point
from ...dynamics.workspace import Workspace
from ...maths.kernel import kernel
from ...maths.products import add_transposed_product
from ...maths.structure import Structure
from ...maths.vectors import Vector, add, add_scaled, cross, dot, row, row_angular, scale, set_row, subtract
from .contact_plan import ContactProblem, ContactWork, make_contact_problem, make_contact_work, plan_contacts
from .correction import CorrectionWork, make_correction_work, update_answer
from .modes import RIGID, Modes, displacement_to_modes, low_modes, make_modes, to_modes, update_modes
from .response import Response, first_impulse, free_response, make_response, update_response

Array = NDArray[np.float64]
Mask = NDArray[np.bool_]

# A contact nearer than this is there when the plan is made, m. 20 mm halves the pushes that are survived.
PRESENT = 0.004


class Points(Structure):
    """Points (np) of the character that the reference puts its weight on."""

    body: NDArray[np.int64]  # (np,)
    local: Array  # (np, 3) in the body's frame, m
    grip: Mask  # (np,) may pull as well as push


class Weights(Structure):
    """Numbers of the settings, for kernels."""

    threshold: float
    position_low: float
    velocity_low: float
    effort_low: float
    force: float  # on squares of N s
    effort_correction: float
    bracing: float
    friction: float


class Goal(Structure):
    """Where the character is to be, written before each step. `felt` is where it takes itself to be."""

    q_next: Array  # (nq,) after this step
    q_before_end: Array  # (nq,) one step before the window's end
    q_end: Array  # (nq,) there
    q_felt: Array  # (nq,) by rigid and low-frequency modes
    v_felt: Array  # (nv,)
    loaded: Mask  # (n, np) points that carry force in the window's steps, the first of which counts for grips alone
    normal: Array  # (np, 3) of the ground under them


class Scratch(Structure):
    """Arrays of one plan, and the law; flat ones are used in the size that the step needs."""

    modes: Modes
    response: Response
    problem: ContactProblem
    contacts: ContactWork
    correction: CorrectionWork
    basis: Array  # (nv, nv) Phi
    columns: Array  # (nv 3 (nc + np),) J^T of candidates, then of the reference's points, in the world's axes
    answered: Array  # (nv 3 (nc + np),) Phi^T J^T
    axes: Array  # (nc + np, 3, 3) rows: normal and two tangents of the plan's forces
    effect: Array  # (nv, motors) rows: joint torque that pushes each mode by one, M Phi; zero for rigid modes
    change: Array  # (nv,)
    product: Array  # (nv,)
    bias: Array  # (nv,) modal -Phi^T h
    felt_rate: Array  # (nv,) modal velocity as felt
    rate: Array  # (nv,) the true one
    aim: Array  # (nv,) modal way to the window's end
    aim_rate: Array  # (nv,) modal velocity there
    aim_next: Array  # (nv,) modal way to the next frame
    actuation: Array  # (nv,) modal impulses of the first step [I_0^a]
    planned: Array  # (3 nc,) forces at the candidates in the world [f*_0], N
    torque: Array  # (motors,)
    gain: Array  # (motors 3 nc,)


def make_scratch(nv: int, candidates: int, points: int, steps: int) -> Scratch:
    """Allocate for up to `candidates` contacts, `points` of the reference and a window of `steps`."""
    motors, count = nv - RIGID, candidates + points
    return Scratch(
        modes=make_modes(nv),
        response=make_response(nv, steps),
        problem=make_contact_problem(count, steps),
        contacts=make_contact_work(count, steps),
        correction=make_correction_work(motors, candidates),
        basis=np.zeros((nv, nv)),
        columns=np.zeros(nv * 3 * count),
        answered=np.zeros(nv * 3 * count),
        axes=np.zeros((count, 3, 3)),
        effect=np.zeros((nv, motors)),
        change=np.zeros(nv),
        product=np.zeros(nv),
        bias=np.zeros(nv),
        felt_rate=np.zeros(nv),
        rate=np.zeros(nv),
        aim=np.zeros(nv),
        aim_rate=np.zeros(nv),
        aim_next=np.zeros(nv),
        actuation=np.zeros(nv),
        planned=np.zeros(3 * candidates),
        torque=np.zeros(motors),
        gain=np.zeros(motors * 3 * candidates),
    )


class Machine(Structure):
    """All that a plan reads and writes."""

    tree: Tree
    bodies: Workspace
    contacts: Contacts
    points: Points
    stiffness: Array  # (nv,) modes.subtree_stiffness
    weights: Weights
    goal: Goal
    work: Scratch


@kernel
def update_law(machine: Machine, q_next: Array, v: Array, dt: float) -> int:
    """Fill `work.torque` and `work.gain`; returns iterations of the contact plan, -1 where there is no answer."""
    bodies, contacts, points = machine.bodies, machine.contacts, machine.points
    weights, goal, work = machine.weights, machine.goal, machine.work
    nv, steps = v.shape[0], goal.loaded.shape[0]
    modes = work.modes
    if not update_modes(bodies.mass_matrix, machine.stiffness, modes):
        return -1
    high = low_modes(modes.square, weights.threshold)
    count = contacts.filled[0] + points.body.shape[0]
    _update_points(machine)
    for i in range(nv):
        for m in range(nv):
            work.basis[i, m] = modes.shape[m, i]
    columns = work.columns[: nv * 3 * count].reshape((nv, 3 * count))
    Y = work.answered[: nv * 3 * count].reshape((nv, 3 * count))
    Y[:] = 0.0
    add_transposed_product(work.basis, columns, Y, nv, nv, 3 * count)

    _update_aims(machine, q_next, v, dt)
    update_response(modes.square, high, steps, dt, work.response)
    iterations = _plan_rigid(machine, Y, count, dt)
    if iterations < 0:
        return -1
    _plan_low(machine, Y, count, high, dt)
    _plan_high(work, Y, count, high, dt)

    n = contacts.filled[0]
    for m in range(RIGID, nv):
        for j in range(nv - RIGID):
            # M phi, which is K phi / omega^2, and zero at the root
            work.effect[m, j] = machine.stiffness[RIGID + j] * modes.shape[m, RIGID + j] / modes.square[m]
    update_answer(Y, n, high, dt, weights.effort_correction, weights.bracing, work.correction)
    motors = nv - RIGID
    gain = work.gain[: motors * 3 * n].reshape((motors, 3 * n))
    gain[:] = 0.0
    answer = work.correction.answer[: motors * 3 * n].reshape((motors, 3 * n))
    add_transposed_product(work.effect[RIGID:], answer, gain, motors, motors, 3 * n)
    _update_planned_forces(work, n, dt)
    for j in range(motors):
        torque = 0.0
        for m in range(RIGID, nv):
            torque += work.effect[m, j] * work.actuation[m] / dt
        for c in range(3 * n):
            torque -= gain[j, c] * work.planned[c]
        work.torque[j] = torque
    return iterations


@kernel
def _update_points(machine: Machine) -> None:
    """Jacobians, axes, friction and times of all points: contacts as they are now, and as the reference has them."""
    bodies, contacts, points, weights = machine.bodies, machine.contacts, machine.points, machine.weights
    goal, work = machine.goal, machine.work
    nv, n, steps = work.bias.shape[0], contacts.filled[0], goal.loaded.shape[0]
    count = n + points.body.shape[0]
    problem = work.problem
    columns = work.columns[: nv * 3 * count].reshape((nv, 3 * count))
    columns[:] = 0.0
    friction = 0.0
    for c in range(n):
        point = row(contacts.point, c)
        _add_columns(machine, contacts.body[c], 1.0, point, columns, 3 * c)
        if contacts.other[c] >= 0:
            _add_columns(machine, contacts.other[c], -1.0, point, columns, 3 * c)
        _set_axes(work.axes[c], row(contacts.normal, c))
        problem.friction[c] = weights.friction * contacts.friction[c]
        friction = max(friction, problem.friction[c])
        for k in range(steps):
            problem.active[k, c] = k == 0 and contacts.gap[c] < PRESENT and _expected(machine, contacts.body[c], point)
    if friction == 0.0:  # nothing tells what the ground will be like
        friction = weights.friction
    for p in range(points.body.shape[0]):
        i = n + p
        b = points.body[p]
        _add_columns(machine, b, 1.0, world_point(bodies, b, row(points.local, p)), columns, 3 * i)
        _set_axes(work.axes[i], row(goal.normal, p))
        problem.friction[i] = np.inf if points.grip[p] else friction
        for k in range(steps):
            problem.active[k, i] = goal.loaded[k, p] and (k > 0 or points.grip[p])


@kernel
def _expected(machine: Machine, b: int, place: Vector) -> bool:
    """Whether the reference's point nearest to a contact bears weight now; what it never puts weight on may.

    A foot that is about to leave is near the ground still. What the plan then lets it push there it will not find, and
    a light foot flies off.
    """
    bodies, points, goal = machine.bodies, machine.points, machine.goal
    nearest, loaded = np.inf, True
    for p in range(points.body.shape[0]):
        if points.body[p] == b:
            way = subtract(world_point(bodies, b, row(points.local, p)), place)
            distance = dot(way, way)
            if distance < nearest:
                nearest, loaded = distance, goal.loaded[0, p]
    return loaded


@kernel
def _add_columns(machine: Machine, b: int, sign: float, point: Vector, out: Array, first: int) -> None:
    """Add sign J^T of a point of body b to three columns of `out` (nv, ...); props have no part in it."""
    tree, bodies = machine.tree, machine.bodies
    if b >= tree.parent.shape[0]:
        return
    arm = subtract(point, row(bodies.position, 0))
    i = bodies.last_velocity[b]
    while i >= 0:
        moved = scale(sign, add(row(bodies.motion, i), cross(row_angular(bodies.motion, i), arm)))
        out[i, first] += moved[0]
        out[i, first + 1] += moved[1]
        out[i, first + 2] += moved[2]
        i = tree.velocity_parent[i]


@kernel
def _set_axes(axes: Array, normal: Vector) -> None:
    tangent = first_tangent(normal, (0.0, 0.0, 0.0))
    set_row(axes, 0, normal)
    set_row(axes, 1, tangent)
    set_row(axes, 2, cross(normal, tangent))


@kernel
def _update_aims(machine: Machine, q: Array, v: Array, dt: float) -> None:
    """Everything about state and goal in modal coordinates."""
    tree, bodies, goal, work = machine.tree, machine.bodies, machine.goal, machine.work
    M, modes = bodies.mass_matrix, work.modes
    for i in range(v.shape[0]):
        work.change[i] = -bodies.bias[i]
    to_modes(modes, work.change, work.bias)
    displacement_to_modes(M, modes, v, work.product, work.rate)
    displacement_to_modes(M, modes, goal.v_felt, work.product, work.felt_rate)
    difference_positions(tree, goal.q_before_end, goal.q_end, work.change)
    for i in range(v.shape[0]):
        work.change[i] /= dt
    displacement_to_modes(M, modes, work.change, work.product, work.aim_rate)
    difference_positions(tree, goal.q_felt, goal.q_end, work.change)
    displacement_to_modes(M, modes, work.change, work.product, work.aim)
    difference_positions(tree, q, goal.q_next, work.change)
    displacement_to_modes(M, modes, work.change, work.product, work.aim_next)


@kernel
def _plan_rigid(machine: Machine, Y: Array, count: int, dt: float) -> int:
    """Eq. 16: contact impulses of the window."""
    work, effort, steps = machine.work, machine.weights.force, machine.goal.loaded.shape[0]
    problem = work.problem
    for m in range(RIGID):
        place, rate = free_response(work.response, m, steps, dt, work.felt_rate[m], work.bias[m])
        problem.miss[m] = place - work.aim[m]
        problem.miss[RIGID + m] = rate - work.aim_rate[m]
        for i in range(count):
            force = (Y[m, 3 * i], Y[m, 3 * i + 1], Y[m, 3 * i + 2])
            for a in range(3):
                problem.columns[i, m, a] = dot(force, row(work.axes[i], a))
    return plan_contacts(problem, count, steps, dt, effort, work.contacts)


@kernel
def _contact_in_world(work: Scratch, k: int, i: int) -> Vector:
    """Planned impulse of a point in step k."""
    f, axes = row(work.contacts.impulse[k], i), work.axes[i]
    return add_scaled(add_scaled(scale(f[0], row(axes, 0)), f[1], row(axes, 1)), f[2], row(axes, 2))


@kernel
def _plan_low(machine: Machine, Y: Array, count: int, high: int, dt: float) -> None:
    """Eq. 17 to 21: the first actuation impulse of each low-frequency mode."""
    work, weights, steps = machine.work, machine.weights, machine.goal.loaded.shape[0]
    response = work.response
    for m in range(RIGID, high):
        place, rate = free_response(response, m, steps, dt, work.felt_rate[m], work.bias[m])
        work.aim[m] = place - work.aim[m]
        work.aim_rate[m] = rate - work.aim_rate[m]
    for k in range(steps):
        for i in range(count):
            if not work.problem.active[k, i]:
                continue
            f = _contact_in_world(work, k, i)
            for m in range(RIGID, high):
                push = Y[m, 3 * i] * f[0] + Y[m, 3 * i + 1] * f[1] + Y[m, 3 * i + 2] * f[2]
                work.aim[m] += response.position[m, steps - k] * push
                work.aim_rate[m] += response.velocity[m, steps - k] * push
    for m in range(RIGID, high):
        work.actuation[m] = first_impulse(
            response,
            m,
            steps,
            work.aim[m],
            work.aim_rate[m],
            weights.position_low,
            weights.velocity_low,
            weights.effort_low,
        )


@kernel
def _plan_high(work: Scratch, Y: Array, count: int, high: int, dt: float) -> None:
    """Eq. 22: each high-frequency mode goes where the reference is after one step."""
    for m in range(high, work.rate.shape[0]):
        pushed = work.rate[m] + dt * work.bias[m]
        for i in range(count):
            if work.problem.active[0, i]:
                f = _contact_in_world(work, 0, i)
                pushed += Y[m, 3 * i] * f[0] + Y[m, 3 * i + 1] * f[1] + Y[m, 3 * i + 2] * f[2]
        work.actuation[m] = work.aim_next[m] / dt - pushed


@kernel
def _update_planned_forces(work: Scratch, n: int, dt: float) -> None:
    """`planned`: f*_0 at the candidates."""
    for c in range(n):
        f = _contact_in_world(work, 0, c)
        for a in range(3):
            work.planned[3 * c + a] = f[a] / dt
