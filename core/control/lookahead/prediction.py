# SPDX-License-Identifier: GPL-3.0-or-later
"""The predicted controls [u~] of step k: eq. 10, or the minimum of eq. 11 at the simulated state.

The step is affine in the controls (Muico et al. 2009, eq. 5): positions q_{k+1} are given, and velocities are

    v_{k+1} = [v_k - dt M^-1 h] + G u,    G = dt R M^-1 X,    X = [motors, J~^T],    u = (tau, chi),

with M, h and J~ at the simulated q_{k+1}, and R, which turns the root's velocity into the reference's axes. What a
generalised impulse costs, V = M^-1 R^T S_vv R M^-1, comes first: G^T S G = dt^2 X^T V X then only picks its motors'
rows and columns, and adds up a few where a contact acts, those of the joints between it and the root.

Positions and world-axes components are first brought into the reference's coordinates by the anchor, a shift and a turn
about the vertical.
"""

import math

import numpy as np
from numpy.typing import NDArray

from ...character.tree import FREE, Tree
from ...dynamics.inertia import solve
from ...dynamics.kinematics import difference_positions
from ...maths.dense import cholesky_solve, copy_into
from ...maths.kernel import kernel
from ...maths.products import (
    add_symmetric_product,
    add_transposed_product,
    add_transposed_vector,
    add_vector,
    factor_cholesky,
    mirror,
)
from .cones import find_friction, solve_within_cones
from .workspace import Machine

Array = NDArray[np.float64]


@kernel
def _to_reference(tree: Tree, anchor: Array, q: Array, out: Array) -> None:
    """Positions (nq,) in the reference's coordinates: the free root moved back by the anchor (x, y, z, yaw)."""
    for i in range(out.shape[0]):
        out[i] = q[i]
    if tree.joint[0] != FREE:
        return
    c, s = math.cos(anchor[3]), math.sin(anchor[3])
    x, y = q[0] - anchor[0], q[1] - anchor[1]
    out[0], out[1], out[2] = c * x + s * y, c * y - s * x, q[2] - anchor[2]
    c, s = math.cos(0.5 * anchor[3]), math.sin(0.5 * anchor[3])
    out[3], out[4] = c * q[3] + s * q[6], c * q[4] + s * q[5]
    out[5], out[6] = c * q[5] - s * q[4], c * q[6] - s * q[3]


@kernel
def _turn_back(tree: Tree, yaw: float, v: Array) -> None:
    """Rows 0 and 1, a free root's horizontal velocity, into the reference's coordinates; `v` (nv, m), in place."""
    if tree.joint[0] != FREE:
        return
    c, s = math.cos(yaw), math.sin(yaw)
    for j in range(v.shape[1]):
        x, y = v[0, j], v[1, j]
        v[0, j], v[1, j] = c * x + s * y, c * y - s * x


@kernel
def predict_linear(machine: Machine, k: int, anchor: Array, q: Array, v: Array) -> None:
    """u~ of eq. 10."""
    tree, policy, work = machine.tree, machine.policy, machine.work
    nv, motors = v.shape[0], policy.torque.shape[1]
    _to_reference(tree, anchor, q, work.position)
    difference_positions(tree, policy.q_before[k], work.position, work.error_position)
    for i in range(nv):
        work.error_velocity[i] = v[i]
    _turn_back(tree, anchor[3], work.error_velocity.reshape((nv, 1)))
    for i in range(nv):
        work.error_velocity[i] -= policy.v_before[k, i]
    for j in range(motors + 3 * policy.points[k]):
        u = -policy.feedforward[k, j]
        for i in range(nv):
            u -= policy.gain[k, j, i] * work.error_position[i] + policy.gain[k, j, nv + i] * work.error_velocity[i]
        if j < motors:
            work.control[j] = policy.torque[k, j] + u
        else:
            c = (j - motors) // 3
            work.control[j] = policy.force[k, policy.point[k, c], (j - motors) % 3] + u


@kernel
def predict(machine: Machine, J: Array, k: int, anchor: Array, v: Array, q_next: Array, dt: float) -> bool:
    """u~ of eq. 11; `J` (nv, 3 np) is J~^T. False where the Hessian is not positive definite."""
    policy, choices, work = machine.policy, machine.choices, machine.work
    motors = policy.torque.shape[1]
    m = motors + J.shape[1]
    _update_gradient(machine, k, anchor, v, q_next, dt)
    _update_impulse_value(machine, k, anchor[3])
    quu = work.quu[: m * m].reshape((m, m))
    _fill_controls(machine, J, k, dt, quu)
    for j in range(m):
        if j < motors:
            quu[j, j] += policy.change[j] + policy.effort[j]
            work.control[j] += (
                policy.change[j] + (policy.effort[j] if choices.about_reference else 0.0)
            ) * policy.torque[k, j]
        else:
            point = policy.point[k, (j - motors) // 3]
            quu[j, j] += policy.force_effort[point]
            if choices.about_reference:
                work.control[j] += policy.force_effort[point] * policy.force[k, point, (j - motors) % 3]
    if not factor_cholesky(quu, m):
        return False
    if choices.possible_forces:
        find_friction(machine.contacts, policy, k, work.cones.friction)
        solve_within_cones(quu, motors, policy.points[k], work.cones, work.control[:m])
    else:
        cholesky_solve(quu, work.control[:m])
    return True


@kernel
def _update_gradient(machine: Machine, k: int, anchor: Array, v: Array, q_next: Array, dt: float) -> None:
    """`gradient`: how the cost-to-go grows with the velocities, where the step leads to without controls."""
    tree, bodies, policy, work = machine.tree, machine.bodies, machine.policy, machine.work
    nv = v.shape[0]
    _to_reference(tree, anchor, q_next, work.position)
    difference_positions(tree, policy.q[k], work.position, work.error_position)
    copy_into(bodies.bias, work.impulse_gradient)
    solve(tree, bodies, work.impulse_gradient)
    for i in range(nv):
        work.error_velocity[i] = v[i] - dt * work.impulse_gradient[i]
    _turn_back(tree, anchor[3], work.error_velocity.reshape((nv, 1)))
    for i in range(nv):
        work.error_velocity[i] -= policy.v[k, i]
    copy_into(policy.gradient[k], work.gradient)
    add_vector(policy.curvature_position[k], work.error_position, work.gradient, nv, nv)
    add_transposed_vector(policy.curvature_velocity[k], work.error_velocity, work.gradient, nv, nv)  # symmetric


@kernel
def _update_impulse_value(machine: Machine, k: int, yaw: float) -> None:
    """`impulse_curvature` V and `impulse_gradient`, after `inverse` and `gradient`. M and S_vv are symmetric."""
    tree, policy, work = machine.tree, machine.policy, machine.work
    nv = work.inverse.shape[0]
    for i in range(nv):
        for j in range(nv):
            work.turned[i, j] = work.inverse[i, j]
            work.weighted[i, j] = work.impulse_curvature[i, j] = 0.0
        work.impulse_gradient[i] = 0.0
    _turn_back(tree, yaw, work.turned)
    add_transposed_product(policy.curvature_velocity[k], work.turned, work.weighted, nv, nv, nv)
    add_symmetric_product(work.turned, work.weighted, work.impulse_curvature, nv, nv, 1.0)
    mirror(work.impulse_curvature)
    add_transposed_vector(work.turned, work.gradient, work.impulse_gradient, nv, nv)


@kernel
def _fill_controls(machine: Machine, J: Array, k: int, dt: float, quu: Array) -> None:
    """The lower triangle of G^T S G, and -G^T times the gradient in `control`."""
    tree, bodies, policy, work = machine.tree, machine.bodies, machine.policy, machine.work
    nv, motors = work.inverse.shape[0], policy.torque.shape[1]
    start = nv - motors
    V = work.impulse_curvature
    for i in range(motors):
        work.control[i] = -dt * work.impulse_gradient[start + i]
        for j in range(i + 1):
            quu[i, j] = dt * dt * V[start + i, start + j]
    for p in range(policy.points[k]):
        last = bodies.last_velocity[policy.body[policy.point[k, p]]]
        for r in range(3 * p, 3 * p + 3):
            Y = work.force_curvature[r]
            Y[:] = 0.0
            force_gradient = 0.0
            i = last
            while i >= 0:
                x = J[i, r]
                force_gradient += x * work.impulse_gradient[i]
                for j in range(nv):
                    Y[j] += x * V[i, j]
                i = tree.velocity_parent[i]
            work.control[motors + r] = -dt * force_gradient
            for j in range(motors):
                quu[motors + r, j] = dt * dt * Y[start + j]
        # against the forces of this point and of those before it
        for o in range(p + 1):
            for r in range(3 * p, 3 * p + 3):
                x = y = z = 0.0
                i = bodies.last_velocity[policy.body[policy.point[k, o]]]
                while i >= 0:
                    a = work.force_curvature[r, i]
                    x += a * J[i, 3 * o]
                    y += a * J[i, 3 * o + 1]
                    z += a * J[i, 3 * o + 2]
                    i = tree.velocity_parent[i]
                quu[motors + r, motors + 3 * o] = dt * dt * x
                quu[motors + r, motors + 3 * o + 1] = dt * dt * y
                quu[motors + r, motors + 3 * o + 2] = dt * dt * z
