# SPDX-License-Identifier: GPL-3.0-or-later
"""Exact derivatives of inverse dynamics, and of forces at contacts.

Positions are varied in the tangent space, q (+) d. Varying velocity k's coordinate moves everything after joint k by
its motion S_k, seen from outside: inertias, axes and forces are carried along, and so are velocities, except that the
part of the velocity that joint k's own base has is not. That gives (Carpentier and Mansard, "Analytical derivatives of
rigid body dynamics algorithms", 2018; in closed form by Singh, Russell and Wensing, "Efficient analytical derivatives
of rigid-body dynamics using spatial vector algebra", 2022)

    d tau_i / d q_k = S_i . (2 B_i P_k + I_i Q_k)               k before i, or turning together with it
    d tau_k / d q_i = S_k . (2 B_i P_i + I_i Q_i + S_i x* f_i)  k before i
    d tau_i / d v_k = S_i . (2 B_i S_k + I_i (P_k + S_k'))
    d tau_k / d v_i = S_k . (2 B_i S_i + I_i (P_i + S_i'))

with the composite inertia I_i and force f_i of the subtree that i moves, P_k = (velocity before k) x S_k,
Q_k = (acceleration before k) x S_k + (velocity before k) x P_k, S_k' the rate of S_k, and 2 B = I' + (I v) x*, the rate
of the inertia and the matrix of m -> m x* (I v), summed over the subtree. In world axes about one point, 2 B of a
motion (s, w) needs three vectors only: with the linear momentum p, the angular momentum l and the rate R of the
rotational inertia, 2 B (s, w) = (2 w x p, R w + w x l).
"""

import numpy as np
from numpy.typing import NDArray

from ..character.tree import BALL, FREE, UNIVERSAL, VELOCITIES_OF_JOINT, Tree
from ..maths.kernel import inlined_kernel, kernel
from ..maths.spatial import force_cross, inertia_momentum, motion_cross, row_dot, symmetric_vector
from ..maths.structure import Structure
from ..maths.vectors import (
    Vector,
    add,
    add_scaled,
    cross,
    dot,
    matrix_vector,
    row,
    row_angular,
    scale,
    set_row,
    set_row_angular,
    subtract,
    transposed_vector,
)
from .kinematics import vector_at, world_point
from .workspace import Workspace


class DerivativeWorkspace(Structure):
    """Arrays of `bodies` rows (nb) or of velocities (nv) that only derivatives need."""

    acceleration: NDArray[np.float64]  # (nb, 6) of the body, gravity as an upward acceleration
    force: NDArray[np.float64]  # (nb, 6) f: sum over the subtree
    momentum: NDArray[np.float64]  # (nb, 6) I v: sum over the subtree
    inertia_rate: NDArray[np.float64]  # (nb, 6) R, xx xy xz yy yz zz: sum over the subtree
    contact_force: NDArray[np.float64]  # (nb, 6) contact forces and their moments about o: sum over the subtree
    contact_turn: NDArray[np.float64]  # (nb, 9) sum of [f][r], row by row: how those moments change, over the subtree
    motion_acceleration: NDArray[np.float64]  # (nv, 6) Q
    axis_rate: NDArray[np.float64]  # (nv, 6) P + S'
    momentum_by_position: NDArray[np.float64]  # (nv, 6) d P_k / d q_k, about the centre of mass
    momentum_by_velocity: NDArray[np.float64]  # (nv, 6) d P_k / d v_k, about the centre of mass
    momentum_after: NDArray[np.float64]  # (nv, 6) d P_{k+1} / d q_{k+1}, about the root's origin
    by_position: NDArray[np.float64]  # (nv, nv) of the equations' residual
    by_velocity: NDArray[np.float64]  # (nv, nv) of the equations' residual
    root_by_position: NDArray[np.float64]  # (6, nv) what the balance of momentum adds to it on a free root's rows
    root_by_velocity: NDArray[np.float64]  # (6, nv) the same
    root_change: NDArray[np.float64]  # (6, 2 nv) the same, by the state before the step
    turn_by_position: NDArray[np.float64]  # (nb, 9) d (q (+) dt v) / d q of the body's ball or free rotation
    turn_by_velocity: NDArray[np.float64]  # (nb, 9) d (q (+) dt v) / d v of the same
    joint_acceleration: NDArray[np.float64]  # (nv,) (v_{k+1} - v_k) / dt


def make_derivative_workspace(tree: Tree) -> DerivativeWorkspace:
    """Allocate for `tree`."""
    nb, nv = len(tree.parent), len(tree.velocity_body)
    return DerivativeWorkspace(
        acceleration=np.zeros((nb, 6)),
        force=np.zeros((nb, 6)),
        momentum=np.zeros((nb, 6)),
        inertia_rate=np.zeros((nb, 6)),
        contact_force=np.zeros((nb, 6)),
        contact_turn=np.zeros((nb, 9)),
        motion_acceleration=np.zeros((nv, 6)),
        axis_rate=np.zeros((nv, 6)),
        momentum_by_position=np.zeros((nv, 6)),
        momentum_by_velocity=np.zeros((nv, 6)),
        momentum_after=np.zeros((nv, 6)),
        by_position=np.zeros((nv, nv)),
        by_velocity=np.zeros((nv, nv)),
        root_by_position=np.zeros((6, nv)),
        root_by_velocity=np.zeros((6, nv)),
        root_change=np.zeros((6, 2 * nv)),
        turn_by_position=np.zeros((nb, 9)),
        turn_by_velocity=np.zeros((nb, 9)),
        joint_acceleration=np.zeros(nv),
    )


@inlined_kernel
def add_row(array: NDArray[np.float64], target: int, source: int) -> None:
    """Row target += row source."""
    for j in range(array.shape[1]):
        array[target, j] += array[source, j]


@kernel
def _update_bodies(
    tree: Tree, work: Workspace, more: DerivativeWorkspace, v: NDArray[np.float64], a: NDArray[np.float64]
) -> None:
    """Q and P + S' of every velocity; acceleration, force, momentum and inertia's rate of every body by itself."""
    gravity = vector_at(tree.gravity, 0)
    for b in range(tree.parent.shape[0]):
        parent = tree.parent[b]
        joint = tree.joint[b]
        v_linear, v_angular = (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
        a_linear, a_angular = scale(-1.0, gravity), (0.0, 0.0, 0.0)
        if parent >= 0:
            v_linear, v_angular = row(work.velocity, parent), row_angular(work.velocity, parent)
            a_linear, a_angular = row(more.acceleration, parent), row_angular(more.acceleration, parent)
        k = tree.velocity_start[b]
        end = k + VELOCITIES_OF_JOINT[joint]
        if joint == FREE:
            # slides along the world's axes, with nothing that turns before them: their Q, P and S' stay zero
            v_linear, a_linear = vector_at(v, k), add(a_linear, vector_at(a, k))
            k += 3
        before_linear, before_angular, base_linear, base_angular = v_linear, v_angular, a_linear, a_angular
        for i in range(k, end):
            if joint == UNIVERSAL:
                before_linear, before_angular, base_linear, base_angular = v_linear, v_angular, a_linear, a_angular
            s_linear, s_angular = row(work.motion, i), row_angular(work.motion, i)
            p_linear, p_angular = row(work.motion_rate, i), row_angular(work.motion_rate, i)
            x_linear, x_angular = motion_cross(base_linear, base_angular, s_linear, s_angular)
            y_linear, y_angular = motion_cross(before_linear, before_angular, p_linear, p_angular)
            set_row(more.motion_acceleration, i, add(x_linear, y_linear))
            set_row_angular(more.motion_acceleration, i, add(x_angular, y_angular))
            v_linear, v_angular = add_scaled(v_linear, v[i], s_linear), add_scaled(v_angular, v[i], s_angular)
            a_linear = add(a_linear, add_scaled(scale(a[i], s_linear), v[i], p_linear))
            a_angular = add(a_angular, add_scaled(scale(a[i], s_angular), v[i], p_angular))
        for i in range(k, end):
            p_linear, p_angular = row(work.motion_rate, i), row_angular(work.motion_rate, i)
            d_linear, d_angular = p_linear, p_angular
            if joint in (BALL, FREE):
                # these axes turn with the body itself
                d_linear, d_angular = motion_cross(
                    v_linear, v_angular, row(work.motion, i), row_angular(work.motion, i)
                )
            set_row(more.axis_rate, i, add(p_linear, d_linear))
            set_row_angular(more.axis_rate, i, add(p_angular, d_angular))
        set_row(more.acceleration, b, a_linear)
        set_row_angular(more.acceleration, b, a_angular)

        p, l = inertia_momentum(work.inertia, b, v_linear, v_angular)
        set_row(more.momentum, b, p)
        set_row_angular(more.momentum, b, l)
        force, moment = inertia_momentum(work.inertia, b, a_linear, a_angular)
        cross_force, cross_moment = force_cross(v_linear, v_angular, p, l)
        set_row(more.force, b, add(force, cross_force))
        set_row_angular(more.force, b, add(moment, cross_moment))
        _set_inertia_rate(work.inertia, more.inertia_rate, b, v_linear, v_angular)


@inlined_kernel
def _set_inertia_rate(
    I: NDArray[np.float64], out: NDArray[np.float64], b: int, linear: Vector, angular: Vector
) -> None:
    """R = [w] I - I [w] + 2 (m c . s) 1 - s (m c)^T - (m c) s^T for a body that moves with (s, w)."""
    x = cross(angular, (I[b, 4], I[b, 5], I[b, 6]))  # columns of [w] I; -I [w] is its transpose
    y = cross(angular, (I[b, 5], I[b, 7], I[b, 8]))
    z = cross(angular, (I[b, 6], I[b, 8], I[b, 9]))
    c = (I[b, 1], I[b, 2], I[b, 3])
    trace = 2.0 * dot(c, linear)
    out[b, 0] = 2.0 * (x[0] - c[0] * linear[0]) + trace
    out[b, 1] = y[0] + x[1] - c[0] * linear[1] - c[1] * linear[0]
    out[b, 2] = z[0] + x[2] - c[0] * linear[2] - c[2] * linear[0]
    out[b, 3] = 2.0 * (y[1] - c[1] * linear[1]) + trace
    out[b, 4] = z[1] + y[2] - c[1] * linear[2] - c[2] * linear[1]
    out[b, 5] = 2.0 * (z[2] - c[2] * linear[2]) + trace


@kernel
def update_inverse_dynamics_derivatives(
    tree: Tree, work: Workspace, more: DerivativeWorkspace, v: NDArray[np.float64], a: NDArray[np.float64]
) -> None:
    """`by_position`, `by_velocity`: of tau = M(q) a + h(q, v); after `update_kinematics` and `update_mass_matrix`."""
    _update_bodies(tree, work, more, v, a)
    for b in range(tree.parent.shape[0] - 1, -1, -1):
        p, l = row(more.momentum, b), row_angular(more.momentum, b)
        f, n = row(more.force, b), row_angular(more.force, b)
        R = more.inertia_rate
        rate = (R[b, 0], R[b, 1], R[b, 2], R[b, 3], R[b, 4], R[b, 5])
        start = tree.velocity_start[b]
        for i in range(start, start + VELOCITIES_OF_JOINT[tree.joint[b]]):
            s_linear, s_angular = row(work.motion, i), row_angular(work.motion, i)
            # i turns the subtree, k comes before: coefficients of P_k (angular only), of Q_k and of S_k
            turning = add(scale(2.0, cross(p, s_linear)), add(symmetric_vector(rate, s_angular), cross(l, s_angular)))
            m_linear, m_angular = row(work.momentum_map, i), row_angular(work.momentum_map, i)
            k = work.group_last[i]
            while k >= 0:
                more.by_position[i, k] = dot(turning, row_angular(work.motion_rate, k)) + row_dot(
                    more.motion_acceleration, k, m_linear, m_angular
                )
                more.by_velocity[i, k] = dot(turning, row_angular(work.motion, k)) + row_dot(
                    more.axis_rate, k, m_linear, m_angular
                )
                k = tree.velocity_parent[k]
            # i changes, k before it feels it through the subtree's force
            k = tree.velocity_parent[work.group_first[i]]
            if k >= 0:
                p_angular = row_angular(work.motion_rate, i)
                x_linear, x_angular = inertia_momentum(
                    work.composite, b, row(more.motion_acceleration, i), row_angular(more.motion_acceleration, i)
                )
                y_linear, y_angular = force_cross(s_linear, s_angular, f, n)
                x_linear = add(add(x_linear, y_linear), scale(2.0, cross(p_angular, p)))
                x_angular = add(add(x_angular, y_angular), add(symmetric_vector(rate, p_angular), cross(p_angular, l)))
                z_linear, z_angular = inertia_momentum(
                    work.composite, b, row(more.axis_rate, i), row_angular(more.axis_rate, i)
                )
                z_linear = add(z_linear, scale(2.0, cross(s_angular, p)))
                z_angular = add(z_angular, add(symmetric_vector(rate, s_angular), cross(s_angular, l)))
                while k >= 0:
                    more.by_position[k, i] = row_dot(work.motion, k, x_linear, x_angular)
                    more.by_velocity[k, i] = row_dot(work.motion, k, z_linear, z_angular)
                    k = tree.velocity_parent[k]
        parent = tree.parent[b]
        if parent >= 0:
            add_row(more.momentum, parent, b)
            add_row(more.force, parent, b)
            add_row(more.inertia_rate, parent, b)


@kernel
def subtract_contact_derivatives(
    tree: Tree,
    work: Workspace,
    more: DerivativeWorkspace,
    contact_body: NDArray[np.int64],
    contact_point: NDArray[np.float64],
    contact_force: NDArray[np.float64],
) -> None:
    """`by_position` -= d (J^T f) / d q for forces that stay constant in the world, on points that move with bodies.

    A force f at o + r gives tau_i = S_i . (f, r x f). Moving k carries the point by s_k + w_k x r, and axis i by
    S_k x S_i if k comes before i (or turns together with it). Summed over the subtree's contacts, F = sum f,
    L = sum r x f and N = sum [f][r] = sum r f^T - (f . r) 1:

        d tau_i / d q_k = w_k . (s_i x F + w_i x L + N^T w_i)      d tau_k / d q_i = w_k . (N w_i - F x s_i)
    """
    for b in range(tree.parent.shape[0]):
        for j in range(6):
            more.contact_force[b, j] = 0.0
        for j in range(9):
            more.contact_turn[b, j] = 0.0
    for c in range(contact_body.shape[0]):
        b = contact_body[c]
        f = row(contact_force, c)
        r = subtract(world_point(work, b, row(contact_point, c)), row(work.position, 0))
        moment = cross(r, f)
        along = dot(f, r)
        for j in range(3):
            more.contact_force[b, j] += f[j]
            more.contact_force[b, 3 + j] += moment[j]
            more.contact_turn[b, 4 * j] -= along
            for k in range(3):
                more.contact_turn[b, 3 * j + k] += r[j] * f[k]
    for b in range(tree.parent.shape[0] - 1, -1, -1):
        f, n = row(more.contact_force, b), row_angular(more.contact_force, b)
        N = more.contact_turn
        turn = (N[b, 0], N[b, 1], N[b, 2], N[b, 3], N[b, 4], N[b, 5], N[b, 6], N[b, 7], N[b, 8])
        start = tree.velocity_start[b]
        for i in range(start, start + VELOCITIES_OF_JOINT[tree.joint[b]]):
            s_linear, s_angular = row(work.motion, i), row_angular(work.motion, i)
            by_base = add(add(cross(s_linear, f), cross(s_angular, n)), transposed_vector(turn, s_angular))
            k = work.group_last[i]
            while k >= 0:
                more.by_position[i, k] -= dot(row_angular(work.motion, k), by_base)
                k = tree.velocity_parent[k]
            on_base = subtract(matrix_vector(turn, s_angular), cross(f, s_linear))
            k = tree.velocity_parent[work.group_first[i]]
            while k >= 0:
                more.by_position[k, i] -= dot(row_angular(work.motion, k), on_base)
                k = tree.velocity_parent[k]
        parent = tree.parent[b]
        if parent >= 0:
            add_row(more.contact_force, parent, b)
            add_row(more.contact_turn, parent, b)
