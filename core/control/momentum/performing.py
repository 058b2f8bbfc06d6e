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

import numpy as np

from ...dynamics.centroidal import center_of_mass_from_root
from ...dynamics.inertia import factorize, solve, update_mass_matrix
from ...dynamics.jacobians import add_point_force
from ...dynamics.kinematics import integrate_positions, update_kinematics, world_point
from ...dynamics.stepping import update_discrete_bias
from ...maths.dense import copy_into
from ...maths.kernel import kernel
from ...maths.vectors import Vector, add, add_scaled, cross, dot, row, scale, subtract
from ...simulation.pushes import mean_force
from .forces import correct_forces, set_ray
from .joint_targets import aim, straighten, turned
from .machine import Machine
from .model import ANGULAR, CENTER, LINEAR, STATE, TURNED, set_part
from .pose import solve_velocities
from .recovery import move_limbs, move_steps, moved_in, update_base
from .timing import find_index, pace, split

GOING, OVER, FAILED = range(3)
LET_GO = 8  # steps before its end at which a segment hands over to the next: the gains grow without bound there


@kernel
def step(machine: Machine) -> int:
    """From memory to memory; whether it goes on, is over, or failed to find forces or velocities."""
    memory, route, bodies, policy = machine.memory, machine.route, machine.bodies, machine.policy
    tree, x, dt = machine.tree, memory.x, route.dt
    update_base(machine)
    _look_up(machine)
    if machine.aside:
        move_steps(machine, _advance(machine))
    k, _ = split(memory.clock[1] + 1e-9, route.loaded.shape[0])
    memory.step[0] = k
    copy_into(memory.v, machine.before)
    integrate_positions(tree, memory.q, memory.v, dt, memory.q)
    update_kinematics(tree, bodies, memory.q, memory.v)
    update_mass_matrix(tree, bodies)
    center = add(row(bodies.position, 0), center_of_mass_from_root(bodies.composite))
    rays = _set_rays(machine, k, center)
    wrench = machine.outcome.wrench
    _ask(machine, center)
    if not correct_forces(machine.forces, rays, wrench[0], policy.metric[_row(machine)]):
        return FAILED
    # the momentum to come, without the rays
    pushed = _push(machine, center)
    momentum = machine.pose.momentum
    for i in range(3):
        machine.momentum[i], machine.momentum[3 + i] = x[LINEAR + i], x[ANGULAR + i]
        momentum[i] = x[LINEAR + i] + dt * (momentum[i] + machine.tree.gravity[i] * bodies.composite[0, 0])
        momentum[3 + i] = x[ANGULAR + i] + dt * momentum[3 + i]
    forward = _advance(machine)
    move_limbs(machine, forward)
    aim(machine, forward)
    yielding = rays if pushed else 0
    if not pushed:
        for i in range(6):
            for j in range(rays):
                momentum[i] += dt * machine.forces.spread[i, j] * machine.forces.ray[j]
    if not _solve(machine, yielding):
        return FAILED
    straighten(machine)
    if not _solve(machine, 0):
        return FAILED
    set_part(x, CENTER, center)
    set_part(x, TURNED, turned(machine, memory.clock[1] + forward))
    for i in range(3):
        x[LINEAR + i], x[ANGULAR + i] = momentum[i], momentum[3 + i]
    _tell(machine, rays, k)
    for speed in memory.v:
        if not np.isfinite(speed):
            return FAILED
    memory.clock[0] += 1.0
    memory.clock[1] += forward
    memory.clock[3] += dt
    return GOING if memory.clock[1] < route.q.shape[0] - 1 else OVER


@kernel
def _look_up(machine: Machine) -> None:
    """The segment, the state as it sees it, and t_c; where there is none in it, those of a segment beside it."""
    memory, route = machine.memory, machine.route
    s = memory.segment[0]
    while s + 1 < route.first.shape[0] and memory.clock[1] >= route.last[s] - LET_GO:
        memory.clock[0] = memory.clock[1] - route.first[s + 1]
        s += 1
    memory.segment[0], memory.segment[1] = s, s
    _see(machine, s)
    if not machine.flexible:
        memory.clock[2] = min(max(route.first[s] + round(memory.clock[0]), route.first[s]), route.last[s] - 1)
        return
    index, found = _search(machine, s)
    for beside in (s - 1, s + 1):
        if not found and 0 <= beside < route.first.shape[0]:
            _see(machine, beside)
            other, found = _search(machine, beside)
            if found:
                index, memory.segment[1] = other, beside
    if memory.segment[1] == s:
        _see(machine, s)
    memory.clock[2] = index


@kernel
def _see(machine: Machine, s: int) -> None:
    """The state and the change of the final state as a segment sees them."""
    memory, route = machine.memory, machine.route
    for i in range(STATE):
        machine.local[i] = memory.x[i]
        machine.goal[i] = 0.0
    for i in range(3):
        machine.local[CENTER + i] -= route.origin[s, i] + memory.base[i]
        machine.goal[CENTER + i] = route.origin[s + 1, i] - route.origin[s, i]


@kernel
def _search(machine: Machine, s: int) -> tuple[int, bool]:
    """t_c of a segment, a frame of the reference; and whether eq. 11 has a solution there."""
    memory, route = machine.memory, machine.route
    begin = route.first[s]
    elapsed = memory.clock[0] + route.first[memory.segment[0]] - begin
    at = memory.clock[1] - begin
    index, found = find_index(machine.policy, s, elapsed, at, route.dt, machine.local, machine.goal)
    return begin + index, found


@kernel
def _advance(machine: Machine) -> float:
    """By how much t_d moves on."""
    memory, route = machine.memory, machine.route
    s = memory.segment[0]
    begin, end = route.first[s], route.last[s]
    return pace(end - begin, memory.clock[1] - begin, memory.clock[2] - begin) if machine.flexible else 1.0


@kernel
def _row(machine: Machine) -> int:
    """The policy's row at t_c."""
    memory = machine.memory
    s = memory.segment[1]
    return int(machine.policy.row[s] + int(memory.clock[2]) - machine.route.first[s])


@kernel
def _set_rays(machine: Machine, k: int, center: Vector) -> int:
    """The rays of step k at the body's own points; how many there are."""
    rays, route = machine.policy.rays, machine.route
    for p in range(route.body.shape[0]):
        place = world_point(machine.bodies, route.body[p], row(route.local, p))
        set_part(machine.outcome.place[p], 0, place)
    for j in range(rays.number[k]):
        arm = subtract(row(machine.outcome.place, rays.point[k, j]), center)
        set_ray(machine.forces, j, arm, row(rays.direction[k], j))
    return int(rays.number[k])


@kernel
def _ask(machine: Machine, center: Vector) -> None:
    """F~ of eq. 4 as force and moment about the centre of mass, at the contacts of t_c; into `wrench`."""
    memory, route, policy = machine.memory, machine.route, machine.policy
    r, k = _row(machine), int(memory.clock[2])
    force, moment = (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
    for j in range(policy.rays.number[k]):
        length = policy.ray[r, j]
        for i in range(STATE):
            length += policy.gain[r, j, i] * (machine.local[i] - policy.x[r, i])
            length += policy.goal_gain[r, j, i] * machine.goal[i]
        direction = row(policy.rays.direction[k], j)
        p = policy.rays.point[k, j]
        place = add(row(route.place[k + 1], p), moved_in(machine, route.limb[p], k))
        arm = subtract(place, center)
        force = add_scaled(force, length, direction)
        moment = add_scaled(moment, length, cross(arm, direction))
    strength = math.sqrt(dot(force, force))
    share = min(1.0, machine.strongest / strength) if strength > 0.0 else 1.0
    set_part(machine.outcome.wrench[0], 0, scale(share, force))
    set_part(machine.outcome.wrench[0], 3, scale(share, moment))


@kernel
def _push(machine: Machine, center: Vector) -> bool:
    """The pushes' force and moment into the pose's momentum, and what they do to the joints into `target`."""
    momentum, target, pushes, bodies = machine.pose.momentum, machine.pose.target, machine.pushes, machine.bodies
    momentum[:] = 0.0
    target[:] = 0.0
    begin = machine.memory.clock[3]
    pushed = False
    for n in range(pushes.body.shape[0]):
        force = mean_force(pushes, n, begin, begin + machine.route.dt)
        if dot(force, force) > 0.0:
            pushed = True
            point = world_point(bodies, pushes.body[n], row(pushes.point, n))
            moment = cross(subtract(point, center), force)
            for i in range(3):
                momentum[i] += force[i]
                momentum[3 + i] += moment[i]
            add_point_force(machine.tree, bodies, pushes.body[n], point, force, target)
    if pushed:
        for i in range(target.shape[0]):
            bodies.diagonal[i] = 0.0
            target[i] *= machine.route.dt
        factorize(machine.tree, bodies)
        solve(machine.tree, bodies, target)
    return pushed


@kernel
def _solve(machine: Machine, yielding: int) -> bool:
    """Eq. 13, or eq. 14 if rays are yielding: the velocities."""
    return solve_velocities(
        machine.tree,
        machine.bodies,
        machine.limits,
        machine.route.limb_body,
        machine.pose,
        machine.forces,
        yielding,
        machine.route.dt,
        machine.memory.q,
        machine.memory.v,
    )


@kernel
def _tell(machine: Machine, rays: int, k: int) -> None:
    """The forces at each point, and the torques with which the step obeys the equation of motion."""
    policy, route, outcome, bodies, tree = (
        machine.policy,
        machine.route,
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
    for p in range(route.body.shape[0]):
        force = scale(-1.0, row(outcome.force, p))
        add_point_force(tree, bodies, route.body[p], row(outcome.place, p), force, torque)
    begin = machine.memory.clock[3]
    for n in range(machine.pushes.body.shape[0]):
        force = scale(-1.0, mean_force(machine.pushes, n, begin, begin + route.dt))
        b = machine.pushes.body[n]
        add_point_force(tree, bodies, b, world_point(bodies, b, row(machine.pushes.point, n)), force, torque)
    update_discrete_bias(tree, bodies, machine.memory.q, machine.before, machine.momentum, route.dt)
    for i in range(v.shape[0]):
        torque[i] += bodies.bias[i]
        for j in range(v.shape[0]):
            torque[i] += bodies.mass_matrix[i, j] * (v[j] - machine.before[j]) / route.dt
        passive = tree.damping[i] + route.dt * tree.stiffness[i]
        torque[i] += passive * (v[i] - machine.before[i])
