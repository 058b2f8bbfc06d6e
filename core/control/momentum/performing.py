# SPDX-License-Identifier: GPL-3.0-or-later
"""One step of momentum control: Ye and Liu 2010, figure 2, in the order of the house's integrator.

    q' = q (+) h v                                   then everything is at q'
    t_c from the state, forces F~ from the law at t_c        (timing, policy)
    forces F^ at the contacts of t_d that do the same        (eq. 12)
    P' = P + h (F^ + push + M g),  L' likewise               (eq. 1)
    v' whose momentum at q' is P', L', near the reference    (eq. 13; eq. 14 under a push)

Contacts act at the body's own points, so that momentum changes by exactly these forces. Joint torques are found
afterwards, by the integrator's equation of motion: the method does not limit them, they are there to be seen.
"""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...character.tree import Tree
from ...dynamics.centroidal import center_of_mass_from_root
from ...dynamics.inertia import factorize, solve, update_mass_matrix
from ...dynamics.jacobians import add_point_force, fill_jacobian
from ...dynamics.kinematics import (
    difference_positions,
    integrate_positions,
    update_kinematics,
    update_positions,
    world_point,
)
from ...dynamics.limits import JointLimits
from ...dynamics.stepping import update_discrete_bias
from ...dynamics.workspace import Workspace
from ...maths.dense import copy_into
from ...maths.kernel import inner_kernel, kernel
from ...maths.rotations import (
    quaternion_conjugate,
    quaternion_exp,
    quaternion_log,
    quaternion_multiply,
    quaternion_rotate,
    quaternion_row,
)
from ...maths.vectors import Vector, add, add_scaled, cross, dot, row, scale, subtract
from ...simulation.pushes import Pushes, mean_force
from .course import Course
from .forces import ForceWork, correct_forces, set_ray
from .model import ANGULAR, CENTER, LINEAR, STATE, TURNED, part, set_part
from .policy import Policy
from .pose import FOLLOW, PoseWork, solve_velocities
from .timing import find_index, pace, split

Array = NDArray[np.float64]

GOING, OVER, FAILED = range(3)
LET_GO = 8  # steps before its end at which a segment hands over to the next: the gains grow without bound there


class Memory(NamedTuple):
    """The state. A step's outcome depends on nothing else."""

    q: Array  # (nq,)
    v: Array  # (nv,)
    x: Array  # (12,) the abstract model's
    segment: NDArray[np.int64]  # (1,)
    step: NDArray[np.int64]  # (1,) of the reference, whose contacts the last step had
    # (4,) [t] steps since the segment's begin; [t_d] the reference's frame; [t_c] the gains', from the segment's first
    # on; s since the beginning
    clock: Array


class Outcome(NamedTuple):
    """What the last step found."""

    force: Array  # (np, 3) at each point, N
    place: Array  # (np, 3) of each point, m
    wrench: Array  # (2, 6) force and moment that the law asked for, and what the contacts gave
    torque: Array  # (nv,) zero in a free root's rows, but for rounding
    wanted: Array  # (nq,) the reference's pose at t_d


class Machine(NamedTuple):
    """All that a step reads and writes."""

    tree: Tree
    limits: JointLimits
    pushes: Pushes
    policy: Policy
    course: Course
    flexible: bool  # whether the final time may change
    strongest: float  # N: more the law may not ask for
    bodies: Workspace
    next: Workspace  # one step ahead
    forces: ForceWork
    pose: PoseWork
    memory: Memory
    outcome: Outcome
    local: Array  # (12,) the state as the segment sees it
    goal: Array  # (12,) change of the segment's final state
    momentum: Array  # (6,) before the step
    before: Array  # (nv,) the velocities before the step
    difference: Array  # (nv,) scratch
    ahead: Array  # (nq,) scratch


@kernel
def step(machine: Machine) -> int:
    """From memory to memory; whether it goes on, is over, or failed to find forces or velocities."""
    memory, course, bodies, policy = machine.memory, machine.course, machine.bodies, machine.policy
    tree, x, dt = machine.tree, memory.x, course.dt
    _look_up(machine)
    k, _ = split(memory.clock[1] + 1e-9, course.loaded.shape[0])
    memory.step[0] = k
    copy_into(memory.v, machine.before)
    integrate_positions(tree, memory.q, memory.v, dt, memory.q)
    update_kinematics(tree, bodies, memory.q, memory.v)
    update_mass_matrix(tree, bodies)
    center = add(row(bodies.position, 0), center_of_mass_from_root(bodies.composite))
    rays = _set_rays(machine, k, center)
    wrench = machine.outcome.wrench
    _ask(machine, center)
    row_now = policy.row[memory.segment[0]] + int(memory.clock[2])
    if not correct_forces(machine.forces, rays, wrench[0], policy.metric[row_now]):
        return FAILED
    # the momentum to come, without the rays
    pushed = _push(machine, center)
    momentum = machine.pose.momentum
    for i in range(3):
        machine.momentum[i], machine.momentum[3 + i] = x[LINEAR + i], x[ANGULAR + i]
        momentum[i] = x[LINEAR + i] + dt * (momentum[i] + machine.tree.gravity[i] * bodies.composite[0, 0])
        momentum[3 + i] = x[ANGULAR + i] + dt * momentum[3 + i]
    forward = _advance(machine)
    _wish(machine, forward)
    yielding = rays if pushed else 0
    if not pushed:
        for i in range(6):
            for j in range(rays):
                momentum[i] += dt * machine.forces.spread[i, j] * machine.forces.ray[j]
    if not _solve(machine, yielding):
        return FAILED
    _straighten(machine)
    if not _solve(machine, 0):
        return FAILED
    set_part(x, CENTER, center)
    set_part(x, TURNED, add_scaled(part(x, TURNED), dt, part(x, ANGULAR)))
    for i in range(3):
        x[LINEAR + i], x[ANGULAR + i] = momentum[i], momentum[3 + i]
    _tell(machine, rays, k)
    for speed in memory.v:
        if not np.isfinite(speed):
            return FAILED
    memory.clock[0] += 1.0
    memory.clock[1] += forward
    memory.clock[3] += dt
    return GOING if memory.clock[1] < course.q.shape[0] - 1 else OVER


@inner_kernel
def _look_up(machine: Machine) -> None:
    """The segment, the state as it sees it, and t_c."""
    memory, course = machine.memory, machine.course
    s = memory.segment[0]
    while s + 1 < course.first.shape[0] and memory.clock[1] >= course.last[s] - LET_GO:
        memory.clock[0] = memory.clock[1] - course.first[s + 1]
        s += 1
    memory.segment[0] = s
    for i in range(STATE):
        machine.local[i] = memory.x[i]
        machine.goal[i] = 0.0
    for i in range(3):
        machine.local[CENTER + i] -= course.origin[s, i]
        machine.goal[CENTER + i] = course.origin[s + 1, i] - course.origin[s, i]
    elapsed, at = memory.clock[0], memory.clock[1] - course.first[s]
    if machine.flexible:
        memory.clock[2] = find_index(machine.policy, s, elapsed, at, course.dt, machine.local, machine.goal)
    else:
        memory.clock[2] = min(max(round(elapsed), 0), course.last[s] - course.first[s] - 1)


@inner_kernel
def _advance(machine: Machine) -> float:
    """By how much t_d moves on."""
    memory, course = machine.memory, machine.course
    s = memory.segment[0]
    if not machine.flexible:
        return 1.0
    return pace(course.last[s] - course.first[s], memory.clock[1] - course.first[s], memory.clock[2])


@inner_kernel
def _set_rays(machine: Machine, k: int, center: Vector) -> int:
    """The rays of step k at the body's own points; how many there are."""
    rays, course = machine.policy.rays, machine.course
    for p in range(course.body.shape[0]):
        place = world_point(machine.bodies, course.body[p], row(course.local, p))
        set_part(machine.outcome.place[p], 0, place)
    for j in range(rays.number[k]):
        arm = subtract(row(machine.outcome.place, rays.point[k, j]), center)
        set_ray(machine.forces, j, arm, row(rays.direction[k], j))
    return int(rays.number[k])


@inner_kernel
def _ask(machine: Machine, center: Vector) -> None:
    """F~ of eq. 4 as force and moment about the centre of mass, at the contacts of t_c; into `wrench`."""
    memory, course, policy = machine.memory, machine.course, machine.policy
    s, c = memory.segment[0], int(memory.clock[2])
    r, k = policy.row[s] + c, course.first[s] + c
    force, moment = (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
    for j in range(policy.rays.number[k]):
        length = policy.ray[r, j]
        for i in range(STATE):
            length += policy.gain[r, j, i] * (machine.local[i] - policy.x[r, i])
            length += policy.goal_gain[r, j, i] * machine.goal[i]
        direction = row(policy.rays.direction[k], j)
        arm = subtract(row(course.place[k + 1], policy.rays.point[k, j]), center)
        force = add_scaled(force, length, direction)
        moment = add_scaled(moment, length, cross(arm, direction))
    strength = math.sqrt(dot(force, force))
    share = min(1.0, machine.strongest / strength) if strength > 0.0 else 1.0
    set_part(machine.outcome.wrench[0], 0, scale(share, force))
    set_part(machine.outcome.wrench[0], 3, scale(share, moment))


@inner_kernel
def _push(machine: Machine, center: Vector) -> bool:
    """The pushes' force and moment into the pose's momentum, and what they do to the joints into `wish`."""
    momentum, wish, pushes, bodies = machine.pose.momentum, machine.pose.wish, machine.pushes, machine.bodies
    momentum[:] = 0.0
    wish[:] = 0.0
    begin = machine.memory.clock[3]
    pushed = False
    for n in range(pushes.body.shape[0]):
        force = mean_force(pushes, n, begin, begin + machine.course.dt)
        if dot(force, force) > 0.0:
            pushed = True
            point = world_point(bodies, pushes.body[n], row(pushes.point, n))
            moment = cross(subtract(point, center), force)
            for i in range(3):
                momentum[i] += force[i]
                momentum[3 + i] += moment[i]
            add_point_force(machine.tree, bodies, pushes.body[n], point, force, wish)
    if pushed:
        for i in range(wish.shape[0]):
            bodies.diagonal[i] = 0.0
            wish[i] *= machine.course.dt
        factorize(machine.tree, bodies)
        solve(machine.tree, bodies, wish)
    return pushed


@inner_kernel
def _reference_pose(machine: Machine, at: float, out: Array) -> None:
    """The reference's positions between two frames, where nothing is moved."""
    course = machine.course
    k, share = split(at, course.q.shape[0] - 1)
    difference_positions(machine.tree, course.q[k], course.q[k + 1], machine.difference)
    integrate_positions(machine.tree, course.q[k], machine.difference, share, out)


@inner_kernel
def _wish(machine: Machine, forward: float) -> None:
    """Add the joints' velocities [g1] to `wish`, and fill the limbs' [g2]: those of the reference as it is warped."""
    course, bodies, pose = machine.course, machine.bodies, machine.pose
    dt, at = course.dt, machine.memory.clock[1] + forward
    _reference_pose(machine, at + forward, machine.ahead)
    _reference_pose(machine, at, machine.outcome.wanted)
    difference_positions(machine.tree, machine.outcome.wanted, machine.ahead, machine.difference)
    for i in range(pose.wish.shape[0]):
        pose.wish[i] += machine.difference[i] / dt
    difference_positions(machine.tree, machine.memory.q, machine.outcome.wanted, machine.difference)
    for i in range(pose.wish.shape[0]):
        pose.wish[i] += FOLLOW * machine.difference[i] / dt
    k, share = split(at + forward, course.q.shape[0] - 1)
    for n in range(course.limb_body.shape[0]):
        b = course.limb_body[n]
        place = add(scale(1.0 - share, row(course.limb_place[k], n)), scale(share, row(course.limb_place[k + 1], n)))
        begin, end = quaternion_row(course.limb_turn[k], n), quaternion_row(course.limb_turn[k + 1], n)
        way = quaternion_log(quaternion_multiply(quaternion_conjugate(begin), end))
        wanted = quaternion_multiply(begin, quaternion_exp(scale(share, way)))
        now = quaternion_row(bodies.quaternion, b)
        turn = quaternion_rotate(now, quaternion_log(quaternion_multiply(quaternion_conjugate(now), wanted)))
        point = row(course.limb_point[k], n)
        place = add(place, quaternion_rotate(wanted, point))
        set_part(pose.limb_point[n], 0, point)
        set_part(pose.limb[n], 0, scale(1.0 / dt, subtract(place, world_point(bodies, b, point))))
        set_part(pose.limb[n], 3, scale(1.0 / dt, turn))


@inner_kernel
def _solve(machine: Machine, yielding: int) -> bool:
    """Eq. 13, or eq. 14 if rays are yielding: the velocities."""
    return solve_velocities(
        machine.tree,
        machine.bodies,
        machine.limits,
        machine.course.limb_body,
        machine.pose,
        machine.forces,
        yielding,
        machine.course.dt,
        machine.memory.q,
        machine.memory.v,
    )


@inner_kernel
def _straighten(machine: Machine) -> None:
    """Change the limbs' velocities by what the joints' arcs take them off the straight way in a step: Newton's step.

    Without it the feet in stance are off their places by up to half a millimetre, the square of a step.
    """
    course, bodies, pose, dt = machine.course, machine.bodies, machine.pose, machine.course.dt
    integrate_positions(machine.tree, machine.memory.q, machine.memory.v, dt, machine.ahead)
    update_positions(machine.tree, machine.next, machine.ahead)
    for n in range(course.limb_body.shape[0]):
        b = course.limb_body[n]
        point = row(pose.limb_point, n)
        now, then = world_point(bodies, b, point), world_point(machine.next, b, point)
        fill_jacobian(machine.tree, bodies, b, now, pose.jacobian)
        for i in range(3):
            chord = 0.0
            for j in range(machine.memory.v.shape[0]):
                chord += pose.jacobian[i, j] * machine.memory.v[j]
            pose.limb[n, i] += chord - (then[i] - now[i]) / dt


@inner_kernel
def _tell(machine: Machine, rays: int, k: int) -> None:
    """The forces at each point, and the torques with which the step obeys the equation of motion."""
    policy, course, outcome, bodies, tree = (
        machine.policy,
        machine.course,
        machine.outcome,
        machine.bodies,
        machine.tree,
    )
    outcome.force[:] = 0.0
    for j in range(rays):
        p = policy.rays.point[k, j]
        for i in range(3):
            outcome.force[p, i] += machine.forces.ray[j] * policy.rays.direction[k, j, i]
    for i in range(6):
        s = 0.0
        for j in range(rays):
            s += machine.forces.spread[i, j] * machine.forces.ray[j]
        outcome.wrench[1, i] = s
    # M (v' - v) / h + bias = torque + J^T f
    torque, v = outcome.torque, machine.memory.v
    torque[:] = 0.0
    for p in range(course.body.shape[0]):
        force = scale(-1.0, row(outcome.force, p))
        add_point_force(tree, bodies, course.body[p], row(outcome.place, p), force, torque)
    begin = machine.memory.clock[3]
    for n in range(machine.pushes.body.shape[0]):
        force = scale(-1.0, mean_force(machine.pushes, n, begin, begin + course.dt))
        b = machine.pushes.body[n]
        add_point_force(tree, bodies, b, world_point(bodies, b, row(machine.pushes.point, n)), force, torque)
    update_discrete_bias(tree, bodies, machine.memory.q, machine.before, machine.momentum, course.dt)
    for i in range(v.shape[0]):
        torque[i] += bodies.bias[i]
        for j in range(v.shape[0]):
            torque[i] += bodies.mass_matrix[i, j] * (v[j] - machine.before[j]) / course.dt
        passive = tree.damping[i] + course.dt * tree.stiffness[i]
        torque[i] += passive * (v[i] - machine.before[i])
