# SPDX-License-Identifier: GPL-3.0-or-later
"""The quadratic model of one iteration: dynamics to first order, cost to second (Gauss-Newton), inequalities.

The dynamics are the simulator's own step and its exact derivatives (dynamics.stepping, dynamics.linearization). Held
points are an augmented Lagrangian: weight / 2 |p - place|^2 + multiplier . (p - place). What states should not exceed
(clearance, joints' ranges) is a squared hinge. What controls must not exceed (friction, torques) is an interior point:
a slack s > 0 and a multiplier z > 0 with s z = barrier for each inequality g(u) = s, eliminated from the step as in
J. Nocedal and S. Wright, "Numerical Optimization", 2006, section 19.3:

    z_+ = (barrier - z (g - s)) / s        hessian += (z / s) g' g'^T        gradient -= z_+ g'

The ground, which states must not enter, is one too, but elastic, since places and clip may ask for the impossible:
g(x) = s - t, at a price of `most` per metre of t > 0, whose multiplier is w = most - z with t w = barrier:

    D = 1 / (s / z + t / w)    z_+ = z + D (barrier / z - barrier / w - g)    hessian += D g' g'^T    gradient -= z_+ g'

Slacks and multipliers are kept positive one by one, so that one force at the edge of its cone does not shorten the
step of all others; a slack that could not follow its g catches up in the next iteration.
"""

import numpy as np
from numpy.typing import NDArray

from ...character.tree import Tree
from ...dynamics.derivatives import DerivativeWorkspace, make_derivative_workspace
from ...dynamics.kinematics import difference_positions, integrate_positions, update_positions, world_point
from ...dynamics.limits import UPPER, limit_gap
from ...dynamics.linearization import linearize
from ...dynamics.stepping import advance
from ...dynamics.workspace import Workspace, make_workspace
from ...maths.kernel import inlined_kernel, kernel, wide_kernel
from ...maths.structure import Structure
from ...maths.vectors import Vector, add, cross, dot, row, row_angular, subtract
from .problem import Iterate, Problem
from .riccati import QuadraticProgramme

Array = NDArray[np.float64]

# A slack or multiplier loses at most this share of itself in one iteration: fraction to the boundary.
BOUNDARY = 0.97
# Heights count in metres: a smaller barrier, so that it does not lift what is near the ground.
GROUND_BARRIER = 0.01
# How deep a point of a sole may be in the ground: a flat foot on its places would else have no room at all, m.
DEPTH_ALLOWED = 5e-4
# Points higher than this have nothing to do with the ground, m.
FAR = 0.05


class ModelWorkspace(Structure):
    """Scratch of one frame."""

    dynamics: Workspace
    derivatives: DerivativeWorkspace
    A: Array  # (n, n)
    B: Array  # (n most,) flat; its width changes with the contacts
    q_next: Array  # (nq,)
    v_next: Array  # (nv,)
    change: Array  # (nv,)
    generalized: Array  # (nv,) motors' torques, after a free root's zeros
    implicit: Array  # (nv,) zero: no controller's gains
    body: NDArray[np.int64]  # (np,)
    local: Array  # (np, 3)
    world_force: Array  # (np, 3)
    chain: NDArray[np.int64]  # (nv,) velocities that move a point
    column: Array  # (nv, 3) how they move it


def make_model_workspace(tree: Tree, points: int) -> ModelWorkspace:
    """Allocate."""
    nq, nv = len(tree.rest), len(tree.velocity_body)
    return ModelWorkspace(
        dynamics=make_workspace(tree),
        derivatives=make_derivative_workspace(tree),
        A=np.zeros((2 * nv, 2 * nv)),
        B=np.zeros(2 * nv * (nv + 3 * points)),
        q_next=np.zeros(nq),
        v_next=np.zeros(nv),
        change=np.zeros(nv),
        generalized=np.zeros(nv),
        implicit=np.zeros(nv),
        body=np.zeros(points, np.int64),
        local=np.zeros((points, 3)),
        world_force=np.zeros((points, 3)),
        chain=np.zeros(nv, np.int64),
        column=np.zeros((nv, 3)),
    )


@kernel
def _gather_controls(problem: Problem, iterate: Iterate, work: ModelWorkspace, k: int) -> int:
    """Torques and world forces of step k into the workspace; the number of forces."""
    start = problem.motors_start
    for i in range(iterate.torque.shape[1]):
        work.generalized[start + i] = iterate.torque[k, i]
    count: int = problem.force_count[k]
    for c in range(count):
        p = problem.force_point[k, c]
        work.body[c] = problem.point_body[p]
        for x in range(3):
            work.local[c, x] = problem.point_local[k + 1, p, x]
            work.world_force[c, x] = 0.0
            for j in range(3):
                work.world_force[c, x] += problem.force_axes[k + 1, p, j, x] * iterate.force[k, p, j]
    return count


@kernel
def _advance(tree: Tree, problem: Problem, iterate: Iterate, work: ModelWorkspace, k: int, count: int) -> None:
    """Make step k."""
    advance(
        tree,
        work.dynamics,
        iterate.q[k],
        iterate.v[k],
        work.generalized,
        work.body[:count],
        work.local[:count],
        work.world_force[:count],
        problem.dt,
        work.implicit,
        work.q_next,
        work.v_next,
    )


@kernel
def _set_defect(tree: Tree, iterate: Iterate, work: ModelWorkspace, k: int, out: Array) -> None:
    """Where step k leads, minus the state at k + 1."""
    n = iterate.v.shape[1]
    difference_positions(tree, iterate.q[k + 1], work.q_next, out[:n])
    for i in range(n):
        out[n + i] = work.v_next[i] - iterate.v[k + 1, i]


@wide_kernel
def fill_defects(
    tree: Tree, problem: Problem, iterate: Iterate, work: ModelWorkspace, out: Array, first: int, last: int
) -> None:
    """Defects (N, n) of an iterate, in the steps from `first` up to `last`."""
    for k in range(first, last):
        count = _gather_controls(problem, iterate, work, k)
        _advance(tree, problem, iterate, work, k, count)
        _set_defect(tree, iterate, work, k, out[k])


@wide_kernel
def fill_programme(
    tree: Tree,
    problem: Problem,
    iterate: Iterate,
    work: ModelWorkspace,
    programme: QuadraticProgramme,
    barrier: float,
    damping: Array,
    first: int,
    last: int,
) -> None:
    """Everything of the quadratic programme, at the iterate: steps from `first` up to `last`; the end with the last."""
    steps = programme.lower.shape[0]
    if last == steps:
        _fill_frame(tree, problem, iterate, work, programme, barrier, damping, steps)
    for k in range(last - 1, first - 1, -1):
        _fill_dynamics(tree, problem, iterate, work, programme, k)
        _fill_control_cost(problem, iterate, programme, barrier, k)
        _fill_frame(tree, problem, iterate, work, programme, barrier, damping, k)


@kernel
def _fill_frame(
    tree: Tree,
    problem: Problem,
    iterate: Iterate,
    work: ModelWorkspace,
    programme: QuadraticProgramme,
    barrier: float,
    damping: Array,
    k: int,
) -> None:
    """Q and q of frame k, damped."""
    _fill_state_cost(tree, problem, iterate, work, programme, barrier, k)
    for i in range(iterate.v.shape[1]):
        programme.curvature[k, i, i] += damping[k]


@kernel
def _fill_dynamics(
    tree: Tree, problem: Problem, iterate: Iterate, work: ModelWorkspace, programme: QuadraticProgramme, k: int
) -> None:
    """A, B and defect of step k; forces along the contacts' own axes."""
    nv = iterate.v.shape[1]
    motors = iterate.torque.shape[1]
    count = _gather_controls(problem, iterate, work, k)
    width = motors + 3 * count
    B = work.B[: 2 * nv * width].reshape((2 * nv, width))
    _advance(tree, problem, iterate, work, k, count)
    linearize(
        tree,
        work.dynamics,
        work.derivatives,
        iterate.q[k],
        iterate.v[k],
        work.body[:count],
        work.local[:count],
        work.world_force[:count],
        problem.dt,
        work.q_next,
        work.v_next,
        work.A,
        B,
    )
    _set_defect(tree, iterate, work, k, programme.defect[k])
    for i in range(nv):
        first = programme.group[i, 0]
        for j in range(programme.group[i, 1] - first + 1):
            programme.upper[k, i, j] = work.A[i, first + j]
            programme.upper[k, i, 3 + j] = work.A[i, nv + first + j]
        for j in range(2 * nv):
            programme.lower[k, i, j] = work.A[nv + i, j]
        for j in range(motors):
            programme.control[k, i, j] = B[nv + i, j]
        for c in range(count):
            p = problem.force_point[k, c]
            start = motors + 3 * c
            b = (B[nv + i, start], B[nv + i, start + 1], B[nv + i, start + 2])
            for j in range(3):
                programme.control[k, i, start + j] = dot(b, row(problem.force_axes[k + 1, p], j))


@kernel
def _fill_control_cost(
    problem: Problem, iterate: Iterate, programme: QuadraticProgramme, barrier: float, k: int
) -> None:
    """R and r of step k: magnitude, smoothness, effort, friction, torque limits."""
    motors = iterate.torque.shape[1]
    R, r = programme.control_curvature[k], programme.control_gradient[k]
    for i in range(programme.controls[k]):
        for j in range(programme.controls[k]):
            R[i, j] = 0.0
    for i in range(motors):
        u = iterate.torque[k, i]
        spared = problem.effort_weight[i]
        R[i, i] = problem.torque_weight + problem.torque_smoothing + spared
        r[i] = problem.torque_weight * u + problem.torque_smoothing * (u - iterate.torque_target[k, i])
        r[i] += spared * (u - problem.effort_torque[k, i])
        beyond = abs(u) - problem.strength[i]
        if beyond > 0.0:
            R[i, i] += problem.strength_weight
            r[i] += problem.strength_weight * (beyond if u > 0.0 else -beyond)
        if problem.torque_limit < np.inf:
            for side in range(2):
                sign = -1.0 if side == 0 else 1.0
                s, z = iterate.torque_slack[k, i, side], iterate.torque_multiplier[k, i, side]
                R[i, i] += z / s
                r[i] += sign * (z * (problem.torque_limit + sign * u - s) - barrier) / s
    for c in range(problem.force_count[k]):
        p = problem.force_point[k, c]
        start = motors + 3 * c
        f = row(iterate.force[k], p)
        for j in range(3):
            weight = problem.force_weight[p, j] if p < problem.help_first else iterate.help_weight[k]
            R[start + j, start + j] = weight + problem.force_smoothing
            r[start + j] = weight * f[j]
            r[start + j] += problem.force_smoothing * (f[j] - iterate.force_target[k, p, j])
        if not problem.grab[p]:
            for face in range(problem.faces.shape[0]):
                g = row(problem.faces, face)
                s, z = iterate.slack[k, p, face], iterate.multiplier[k, p, face]
                pull = (z * (dot(g, f) - s) - barrier) / s
                for i in range(3):
                    r[start + i] += pull * g[i]
                    for j in range(i + 1):
                        R[start + i, start + j] += z / s * g[i] * g[j]


@kernel
def _fill_state_cost(
    tree: Tree,
    problem: Problem,
    iterate: Iterate,
    work: ModelWorkspace,
    programme: QuadraticProgramme,
    barrier: float,
    k: int,
) -> None:
    """Q (lower triangle) and q of frame k."""
    nv = iterate.v.shape[1]
    Q, gradient = programme.curvature[k], programme.state_gradient[k]
    for i in range(2 * nv):
        gradient[i] = 0.0
        for j in range(2 * nv):
            Q[i, j] = 0.0
    share = problem.frame_weight[k]
    if share == 0.0:
        return
    # Weights are the same in all directions of a ball, so the gradient of its half squared angle is the angle itself.
    difference_positions(tree, problem.clip_q[k], iterate.q[k], work.change)
    for i in range(nv):
        Q[i, i] = problem.pose_weight[i]
        gradient[i] = problem.pose_weight[i] * work.change[i]
        Q[nv + i, nv + i] = problem.velocity_weight[i]
        gradient[nv + i] = problem.velocity_weight[i] * (iterate.v[k, i] - problem.clip_v[k, i])
    _add_limits(problem, iterate.q[k], Q, gradient)
    update_positions(tree, work.dynamics, iterate.q[k])
    if problem.place_weight > 0.0:
        _add_places(tree, problem, work, k, Q, gradient)
    for p in range(problem.point_body.shape[0]):
        if not (problem.held[k, p] or problem.watched[p]):
            continue
        b = problem.point_body[p]
        point = world_point(work.dynamics, b, row(problem.point_local[k], p))
        off = subtract(point, row(problem.place[k], p))
        if problem.held[k, p] and problem.glides[k, p]:
            _add_gliding(tree, problem, iterate, work, k, p, point, off, Q, gradient)
        elif problem.held[k, p]:
            count = _fill_columns(tree, work, b, point)
            for x in range(3):
                pull = problem.held_weight * off[x] + iterate.place_multiplier[k, p, x]
                for i in range(count):
                    a = work.column[i, x]
                    gradient[work.chain[i]] += pull * a
                    for j in range(i, count):  # the chain runs from the point to the root: columns fall
                        Q[work.chain[i], work.chain[j]] += problem.held_weight * a * work.column[j, x]
        else:
            normal = row(problem.axes[k, p], 2)
            height = dot(normal, off)
            if height < problem.radius[p] + FAR:
                g = height - problem.radius[p] + DEPTH_ALLOWED
                stiffness, lift = _ground_model(problem, iterate, k, p, g, GROUND_BARRIER * barrier)
                below = problem.clearance[k, p] - height
                if below > 0.0:
                    stiffness += problem.clearance_weight
                    lift += problem.clearance_weight * below
                count = _fill_columns(tree, work, b, point)
                for i in range(count):
                    a = dot(normal, row(work.column, i))
                    gradient[work.chain[i]] -= lift * a
                    for j in range(i, count):
                        Q[work.chain[i], work.chain[j]] += stiffness * a * dot(normal, row(work.column, j))


@kernel
def _add_places(tree: Tree, problem: Problem, work: ModelWorkspace, k: int, Q: Array, gradient: Array) -> None:
    """Half the squares of the bodies' distances from their places in the clip."""
    weight = problem.place_weight
    for b in range(problem.clip_place.shape[1]):
        point = row(work.dynamics.position, b)
        off = subtract(point, row(problem.clip_place[k], b))
        count = _fill_columns(tree, work, b, point)
        for i in range(count):
            a = row(work.column, i)
            gradient[work.chain[i]] += weight * dot(off, a)
            for j in range(i, count):
                Q[work.chain[i], work.chain[j]] += weight * dot(a, row(work.column, j))


@kernel
def _add_gliding(
    tree: Tree,
    problem: Problem,
    iterate: Iterate,
    work: ModelWorkspace,
    k: int,
    p: int,
    point: Vector,
    off: Vector,
    Q: Array,
    gradient: Array,
) -> None:
    """A held point that glides: bound to the ground, and along it drawn to where it is planned to be."""
    count = _fill_columns(tree, work, problem.point_body[p], point)
    for axis in range(3):
        along = row(problem.axes[k, p], axis)
        weight = problem.held_weight if axis == 2 else problem.glide_weight
        pull = weight * dot(along, off)
        if axis == 2:
            pull += dot(along, row(iterate.place_multiplier[k], p))
        for i in range(count):
            a = dot(along, row(work.column, i))
            gradient[work.chain[i]] += pull * a
            for j in range(i, count):
                Q[work.chain[i], work.chain[j]] += weight * a * dot(along, row(work.column, j))


@kernel
def _add_limits(problem: Problem, q: Array, Q: Array, gradient: Array) -> None:
    """Half the squares of what gaps of joint limits are short of their margins."""
    for l in range(problem.limits.kind.shape[0]):
        gap, rate = limit_gap(problem.limits, l, q)
        short = problem.limit_margin[l] - gap
        if short > 0.0:
            first = problem.limits.velocity[l]
            for i in range(1 if problem.limits.kind[l] <= UPPER else 3):
                gradient[first + i] -= problem.limit_weight * short * rate[i]
                for j in range(i + 1):
                    Q[first + i, first + j] += problem.limit_weight * rate[i] * rate[j]


@kernel
def _fill_columns(tree: Tree, work: ModelWorkspace, b: int, point: Vector) -> int:
    """The point's Jacobian along the chain to the root; its length."""
    dynamics = work.dynamics
    arm = subtract(point, row(dynamics.position, 0))
    count = 0
    i = dynamics.last_velocity[b]
    while i >= 0:
        moved = add(row(dynamics.motion, i), cross(row_angular(dynamics.motion, i), arm))
        work.chain[count] = i
        for x in range(3):
            work.column[count, x] = moved[x]
        count += 1
        i = tree.velocity_parent[i]
    return count


@kernel
def move(
    tree: Tree,
    problem: Problem,
    base: Iterate,
    programme: QuadraticProgramme,
    work: ModelWorkspace,
    share: float,
    out: Iterate,
) -> None:
    """Fill states and controls of `out` with those of `base`, moved by a share of the programme's answer."""
    frames, nv = base.v.shape
    motors = base.torque.shape[1]
    for k in range(frames):
        for i in range(nv):
            work.change[i] = share * programme.dx[k, i]
            out.v[k, i] = base.v[k, i] + share * programme.dx[k, nv + i]
        integrate_positions(tree, base.q[k], work.change, 1.0, out.q[k])
    for k in range(frames - 1):
        for i in range(motors):
            out.torque[k, i] = base.torque[k, i] + share * programme.du[k, i]
        for c in range(problem.force_count[k]):
            p = problem.force_point[k, c]
            for j in range(3):
                out.force[k, p, j] = base.force[k, p, j] + share * programme.du[k, motors + 3 * c + j]


@inlined_kernel
def _ground_model(problem: Problem, iterate: Iterate, k: int, p: int, g: float, barrier: float) -> tuple[float, float]:
    """D and z_+ of a point over the ground."""
    s, t, z = iterate.ground_slack[k, p], iterate.ground_excess[k, p], iterate.ground_multiplier[k, p]
    w = problem.ground_price - z
    stiffness = 1.0 / (s / z + t / w)
    return stiffness, z + stiffness * (barrier / z - barrier / w - g)


@kernel
def _move_ground(tree: Tree, problem: Problem, iterate: Iterate, work: ModelWorkspace, barrier: float, k: int) -> None:
    """Multipliers of frame k's points over the ground to z_+, and their slacks with them."""
    least = 1.0 - BOUNDARY
    update_positions(tree, work.dynamics, iterate.q[k])
    for p in range(problem.point_body.shape[0]):
        if problem.held[k, p] or not problem.watched[p]:
            continue
        point = world_point(work.dynamics, problem.point_body[p], row(problem.point_local[k], p))
        height = dot(row(problem.axes[k, p], 2), subtract(point, row(problem.place[k], p)))
        g = height - problem.radius[p] + DEPTH_ALLOWED
        s, t, z = iterate.ground_slack[k, p], iterate.ground_excess[k, p], iterate.ground_multiplier[k, p]
        if g > FAR:  # as if it had always been there
            iterate.ground_slack[k, p] = g
            iterate.ground_multiplier[k, p] = barrier / g
            iterate.ground_excess[k, p] = barrier / problem.ground_price
            continue
        w = problem.ground_price - z
        change = _ground_model(problem, iterate, k, p, g, barrier)[1] - z
        iterate.ground_slack[k, p] = max((barrier - s * change) / z, least * s)
        iterate.ground_excess[k, p] = max((barrier + t * change) / w, least * t)
        iterate.ground_multiplier[k, p] = min(max(z + change, least * z), z + BOUNDARY * w)


@kernel
def move_multipliers(tree: Tree, problem: Problem, iterate: Iterate, work: ModelWorkspace, barrier: float) -> None:
    """Slacks and multipliers after a step to the iterate's present states and controls."""
    for k in range(problem.held.shape[0]):
        _move_ground(tree, problem, iterate, work, GROUND_BARRIER * barrier, k)
    for k in range(problem.force_count.shape[0]):
        for c in range(problem.force_count[k]):
            p = problem.force_point[k, c]
            if not problem.grab[p]:
                for face in range(problem.faces.shape[0]):
                    g = dot(row(problem.faces, face), row(iterate.force[k], p))
                    _move_pair(iterate.slack[k, p], iterate.multiplier[k, p], face, g, barrier)
        if problem.torque_limit < np.inf:
            for i in range(iterate.torque.shape[1]):
                u = iterate.torque[k, i]
                _move_pair(
                    iterate.torque_slack[k, i], iterate.torque_multiplier[k, i], 0, problem.torque_limit - u, barrier
                )
                _move_pair(
                    iterate.torque_slack[k, i], iterate.torque_multiplier[k, i], 1, problem.torque_limit + u, barrier
                )


@kernel
def _move_pair(slack: Array, multiplier: Array, i: int, g: float, barrier: float) -> None:
    """To s = g, z = (barrier - z (g - s)) / s, but not all the way to zero."""
    s, z = slack[i], multiplier[i]
    slack[i] = max(g, (1.0 - BOUNDARY) * s)
    multiplier[i] = max((barrier - z * (g - s)) / s, (1.0 - BOUNDARY) * z)


@kernel
def fill_held_offsets(tree: Tree, problem: Problem, iterate: Iterate, work: ModelWorkspace, out: Array) -> None:
    """Points minus their places (N + 1, np, 3) along the contacts' axes, of those that are held or watched."""
    for k in range(out.shape[0]):
        update_positions(tree, work.dynamics, iterate.q[k])
        for p in range(problem.point_body.shape[0]):
            if not (problem.held[k, p] or problem.watched[p]):
                continue
            point = world_point(work.dynamics, problem.point_body[p], row(problem.point_local[k], p))
            off = subtract(point, row(problem.place[k], p))
            for j in range(3):
                out[k, p, j] = dot(off, row(problem.axes[k, p], j))
