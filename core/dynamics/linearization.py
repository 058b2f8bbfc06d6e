# SPDX-License-Identifier: GPL-3.0-or-later
"""Exact derivatives of the discrete step (stepping.py) by state and control, from those of inverse dynamics."""

import numpy as np
from numpy.typing import NDArray

from ..character.tree import BALL, FREE, VELOCITIES_OF_JOINT, Tree
from ..maths.kernel import kernel
from ..maths.rotations import (
    quaternion_conjugate,
    quaternion_exp,
    quaternion_matrix,
    right_jacobian,
    right_jacobian_inverse,
)
from ..maths.spatial import force_cross, inertia_momentum
from ..maths.vectors import (
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
from .centroidal import center_of_mass_from_root, momentum_about_root
from .derivatives import DerivativeWorkspace, add_row, subtract_contact_derivatives, update_inverse_dynamics_derivatives
from .inertia import solve_columns, update_mass_matrix
from .kinematics import update_kinematics, update_velocities, vector_at, world_point
from .stepping import locked_acceleration, weight_about_root
from .workspace import Workspace


@kernel
def _update_momentum_derivative(
    tree: Tree, work: Workspace, more: DerivativeWorkspace, out: NDArray[np.float64]
) -> None:
    """Momentum by position (nv, 6), about the root's origin held fixed: S_i x* (momentum of i's subtree) + I_i P_i.

    After `update_velocities` and `update_mass_matrix`. Its counterpart d P / d v is `momentum_map`.
    """
    for b in range(tree.parent.shape[0]):
        p, l = inertia_momentum(work.inertia, b, row(work.velocity, b), row_angular(work.velocity, b))
        set_row(more.momentum, b, p)
        set_row_angular(more.momentum, b, l)
    for b in range(tree.parent.shape[0] - 1, -1, -1):
        start = tree.velocity_start[b]
        for i in range(start, start + VELOCITIES_OF_JOINT[tree.joint[b]]):
            x_linear, x_angular = force_cross(
                row(work.motion, i), row_angular(work.motion, i), row(more.momentum, b), row_angular(more.momentum, b)
            )
            y_linear, y_angular = inertia_momentum(
                work.composite, b, row(work.motion_rate, i), row_angular(work.motion_rate, i)
            )
            set_row(out, i, add(x_linear, y_linear))
            set_row_angular(out, i, add(x_angular, y_angular))
        parent = tree.parent[b]
        if parent >= 0:
            add_row(more.momentum, parent, b)


@kernel
def _update_momentum_before(tree: Tree, work: Workspace, more: DerivativeWorkspace, v: NDArray[np.float64]) -> None:
    """What becomes of P(q_k, v_k), linear and about the centre of mass, when q_k or v_k change."""
    _update_momentum_derivative(tree, work, more, more.momentum_by_position)
    center = center_of_mass_from_root(work.composite)
    velocity = scale(1.0 / work.composite[0, 0], momentum_about_root(work.momentum_map, v)[0])
    for i in range(v.shape[0]):
        # about the moving centre: L - c x p, and m dc is the linear part of the momentum map
        linear, mapped = row(more.momentum_by_position, i), row(work.momentum_map, i)
        moved = add(cross(center, linear), cross(mapped, velocity))
        set_row_angular(more.momentum_by_position, i, subtract(row_angular(more.momentum_by_position, i), moved))
        set_row(more.momentum_by_velocity, i, mapped)
        set_row_angular(
            more.momentum_by_velocity, i, subtract(row_angular(work.momentum_map, i), cross(center, mapped))
        )


@kernel
def _update_root_rows(
    tree: Tree, work: Workspace, more: DerivativeWorkspace, v_next: NDArray[np.float64], dt: float
) -> None:
    """`root_by_position` and `root_by_velocity`: balance of momentum minus continuous equation, on a free root's rows.

    The balance is S^T W, W = (P_{k+1} - P_k) / dt - G. Derivatives are with respect to q_{k+1} and v_k here; what q_k
    does by itself, through P_k, is added later.
    """
    update_velocities(tree, work, v_next)
    _update_momentum_derivative(tree, work, more, more.momentum_after)
    p_before = vector_at(work.momentum, 0)
    center = center_of_mass_from_root(work.composite)
    # what acts at the centre of mass, per unit of mass: moving the centre moves its moment
    carried = add_scaled(vector_at(tree.gravity, 0), 1.0 / (dt * work.composite[0, 0]), p_before)
    for i in range(v_next.shape[0]):
        linear = scale(1.0 / dt, row(more.momentum_after, i))
        angular = scale(1.0 / dt, row_angular(more.momentum_after, i))
        angular = subtract(angular, cross(row(work.momentum_map, i), carried))
        before = scale(-1.0 / dt, row(more.momentum_by_velocity, i))
        before_angular = add(scale(-1.0 / dt, row_angular(more.momentum_by_velocity, i)), cross(center, before))
        for j in range(3):
            axis = row_angular(work.motion, 3 + j)
            more.root_by_position[j, i] = linear[j] - more.by_position[j, i]
            more.root_by_position[3 + j, i] = dot(axis, angular) - more.by_position[3 + j, i]
            more.root_by_velocity[j, i] = before[j] - more.by_velocity[j, i]
            more.root_by_velocity[3 + j, i] = dot(axis, before_angular) - more.by_velocity[3 + j, i]
    # S itself moves with the root: its point o by the slides, its axes by the rotation
    p, l = momentum_about_root(work.momentum_map, v_next)
    l_before = add(vector_at(work.momentum, 3), cross(center, p_before))
    weight, weight_moment = weight_about_root(tree.gravity, work.composite)
    force = subtract(scale(1.0 / dt, subtract(p, p_before)), weight)
    moment = subtract(scale(1.0 / dt, subtract(l, l_before)), weight_moment)
    for j in range(3):
        axis = row_angular(work.motion, 3 + j)
        by_slide = cross(axis, force)  # -axis . (e_i x force) = e_i . (axis x force)
        for i in range(3):
            more.root_by_position[3 + j, i] += by_slide[i]
            more.root_by_position[3 + j, 3 + i] += dot(cross(row_angular(work.motion, 3 + i), axis), moment)


@kernel
def _update_turns(tree: Tree, more: DerivativeWorkspace, v: NDArray[np.float64], dt: float) -> None:
    """How q (+) dt v of ball and free joints depends on q, exp(dt w)^T, and on v, dt J_r(dt w)."""
    for b in range(tree.parent.shape[0]):
        joint = tree.joint[b]
        if joint in (BALL, FREE):
            k = tree.velocity_start[b] + VELOCITIES_OF_JOINT[joint] - 3
            d = (dt * v[k], dt * v[k + 1], dt * v[k + 2])
            by_position = quaternion_matrix(quaternion_conjugate(quaternion_exp(d)))
            by_velocity = right_jacobian(d)
            for j in range(9):
                more.turn_by_position[b, j] = by_position[j]
                more.turn_by_velocity[b, j] = dt * by_velocity[j]


@kernel
def _add_passive_derivatives(tree: Tree, work: Workspace, more: DerivativeWorkspace, dt: float) -> None:
    """Of k (stretch + dt v) + d v + diagonal (v_{k+1} - v) / dt with respect to q_{k+1} and v = v_k."""
    for b in range(tree.parent.shape[0]):
        joint = tree.joint[b]
        k = tree.velocity_start[b]
        for i in range(k, k + VELOCITIES_OF_JOINT[joint]):
            more.by_velocity[i, i] += tree.damping[i] + dt * tree.stiffness[i] - work.diagonal[i] / dt
            if joint == BALL:
                J = right_jacobian_inverse(vector_at(work.stretch, k))
                for j in range(3):
                    more.by_position[i, k + j] += tree.stiffness[i] * J[3 * (i - k) + j]
            elif joint != FREE:
                more.by_position[i, i] += tree.stiffness[i]


@kernel
def linearize(
    tree: Tree,
    work: Workspace,
    more: DerivativeWorkspace,
    q: NDArray[np.float64],
    v: NDArray[np.float64],
    contact_body: NDArray[np.int64],
    contact_point: NDArray[np.float64],
    contact_force: NDArray[np.float64],
    dt: float,
    q_next: NDArray[np.float64],
    v_next: NDArray[np.float64],
    A: NDArray[np.float64],
    B: NDArray[np.float64],
) -> None:
    """Derivatives of the step that `advance` has just made with the same workspace: x_{k+1} = A x_k + B u_k.

    Both x = (q, v) and its change are in tangent space; u = (motors, contacts). A is (2 nv, 2 nv). B is
    (2 nv, motors + 3 nc): a column per velocity that a motor can drive (all but a free root's six), then three per
    contact force, in world axes. The step is the root of a residual,

        r = M (v_{k+1} - v_k) / dt + diagonal (...) + h - tau - J^T f = 0,

    so d v_{k+1} = -dt (M + diagonal)^-1 dr at fixed v_{k+1}; q_k enters through q_{k+1} = q_k (+) dt v_k. With a free
    root this gives the joints' part of the step with the continuous bias; the root's velocities then follow from the
    balance of momentum, and there q_k enters once more through its own momentum.
    """
    n = v.shape[0]
    floating = tree.joint[0] == FREE
    if floating:
        update_kinematics(tree, work, q, v)
        update_mass_matrix(tree, work)
        _update_momentum_before(tree, work, more, v)
    update_kinematics(tree, work, q_next, v)
    update_mass_matrix(tree, work)

    for i in range(n):
        more.joint_acceleration[i] = (v_next[i] - v[i]) / dt
    if floating:  # to where the continuous equation alone would have led
        for j in range(3):
            more.joint_acceleration[j] += work.correction[j]
            more.joint_acceleration[3 + j] += dot(row_angular(work.motion, 3 + j), vector_at(work.correction, 3))
    update_inverse_dynamics_derivatives(tree, work, more, v, more.joint_acceleration)
    for i in range(n):
        for k in range(n):
            more.by_velocity[i, k] -= work.mass_matrix[i, k] / dt
    if floating:
        _update_root_rows(tree, work, more, v_next, dt)
    if contact_body.shape[0] > 0:
        subtract_contact_derivatives(tree, work, more, contact_body, contact_point, contact_force)
    _add_passive_derivatives(tree, work, more, dt)
    _update_turns(tree, more, v, dt)
    _fill_state_matrix(tree, work, more, dt, A)
    _fill_control_matrix(tree, work, contact_body, contact_point, dt, B)


@kernel
def _fill_state_matrix(
    tree: Tree, work: Workspace, more: DerivativeWorkspace, dt: float, A: NDArray[np.float64]
) -> None:
    """A = [D1, D2; -dt M^-1 (r_q D1, r_q D2 + r_v)] with D1, D2 of q (+) dt v; then a free root's own correction."""
    n = work.bias.shape[0]
    for i in range(n):
        for j in range(2 * n):
            A[i, j] = 0.0
    for b in range(tree.parent.shape[0]):
        start = tree.velocity_start[b]
        end = start + VELOCITIES_OF_JOINT[tree.joint[b]]
        if tree.joint[b] in (BALL, FREE):
            end -= 3
            for i in range(3):
                for j in range(3):
                    A[end + i, end + j] = more.turn_by_position[b, 3 * i + j]
                    A[end + i, n + end + j] = more.turn_by_velocity[b, 3 * i + j]
        for k in range(start, end):
            A[k, k] = 1.0
            A[k, n + k] = dt
    _chain(tree, more, more.by_position, more.by_velocity, dt, A, n)
    solve_columns(tree, work, A, n)
    if tree.joint[0] == FREE:
        _chain(tree, more, more.root_by_position, more.root_by_velocity, dt, more.root_change, 0)
        _add_root_change(work, more, A)


@kernel
def _chain(
    tree: Tree,
    more: DerivativeWorkspace,
    by_position: NDArray[np.float64],
    by_velocity: NDArray[np.float64],
    dt: float,
    out: NDArray[np.float64],
    first: int,
) -> None:
    """Rows of `out` from `first` on: -dt (r_q D1, r_q D2 + r_v), from derivatives at q_{k+1} to those at (q_k, v_k)."""
    rows, n = by_position.shape
    for b in range(tree.parent.shape[0]):
        start = tree.velocity_start[b]
        end = start + VELOCITIES_OF_JOINT[tree.joint[b]]
        if tree.joint[b] in (BALL, FREE):
            end -= 3
            T, U = more.turn_by_position, more.turn_by_velocity
            for i in range(rows):
                x, y, z = by_position[i, end], by_position[i, end + 1], by_position[i, end + 2]
                for j in range(3):
                    position = x * T[b, j] + y * T[b, 3 + j] + z * T[b, 6 + j]
                    velocity = x * U[b, j] + y * U[b, 3 + j] + z * U[b, 6 + j] + by_velocity[i, end + j]
                    out[first + i, end + j] = -dt * position
                    out[first + i, n + end + j] = -dt * velocity
        for k in range(start, end):
            for i in range(rows):
                out[first + i, k] = -dt * by_position[i, k]
                out[first + i, n + k] = -dt * (dt * by_position[i, k] + by_velocity[i, k])


@kernel
def _add_root_change(work: Workspace, more: DerivativeWorkspace, A: NDArray[np.float64]) -> None:
    """Root's velocities of A: what mends the change of momentum moves the whole character as one rigid body."""
    n = work.bias.shape[0]
    change = more.root_change
    center = center_of_mass_from_root(work.composite)
    x, y, z = row_angular(work.motion, 3), row_angular(work.motion, 4), row_angular(work.motion, 5)
    for k in range(2 * n):
        force = (change[0, k], change[1, k], change[2, k])
        moment = add_scaled(add_scaled(scale(change[3, k], x), change[4, k], y), change[5, k], z)
        if k < n:  # P_k depends on q_k
            p = row(more.momentum_by_position, k)
            force = add(force, p)
            moment = add(moment, add(row_angular(more.momentum_by_position, k), cross(center, p)))
        linear, angular = locked_acceleration(work.composite, force, moment)
        A[n, k] += linear[0]
        A[n + 1, k] += linear[1]
        A[n + 2, k] += linear[2]
        A[n + 3, k] += dot(x, angular)
        A[n + 4, k] += dot(y, angular)
        A[n + 5, k] += dot(z, angular)


@kernel
def _fill_control_matrix(
    tree: Tree,
    work: Workspace,
    contact_body: NDArray[np.int64],
    contact_point: NDArray[np.float64],
    dt: float,
    B: NDArray[np.float64],
) -> None:
    """B = [0; dt M^-1 (motors, J^T)]."""
    n = work.bias.shape[0]
    for i in range(2 * n):
        for j in range(B.shape[1]):
            B[i, j] = 0.0
    first = 6 if tree.joint[0] == FREE else 0
    for i in range(first, n):
        B[n + i, i - first] = dt
    for c in range(contact_body.shape[0]):
        b = contact_body[c]
        arm = subtract(world_point(work, b, row(contact_point, c)), row(work.position, 0))
        i = work.last_velocity[b]
        while i >= 0:
            moved = add(row(work.motion, i), cross(row_angular(work.motion, i), arm))
            for j in range(3):
                B[n + i, n - first + 3 * c + j] = dt * moved[j]
            i = tree.velocity_parent[i]
    solve_columns(tree, work, B, n)
