# SPDX-License-Identifier: GPL-3.0-or-later
"""Where the bodies are and how they move; and the manifold that positions live on.

The forward pass of Featherstone, Rigid Body Dynamics Algorithms (2008), table 5.1, in world axes.
"""

import math

import numpy as np
from numpy.typing import NDArray

from ..character.tree import BALL, FIXED, FREE, HINGE, POSITIONS_OF_JOINT, UNIVERSAL, VELOCITIES_OF_JOINT, Tree
from ..maths.kernel import inlined_kernel, kernel
from ..maths.rotations import (
    Quaternion,
    quaternion_conjugate,
    quaternion_exp,
    quaternion_log,
    quaternion_matrix,
    quaternion_multiply,
    quaternion_normalize,
    quaternion_rotate,
    quaternion_row,
)
from ..maths.spatial import motion_cross
from ..maths.vectors import (
    Vector,
    add,
    add_scaled,
    cross,
    matrix_at,
    matrix_vector,
    row,
    row_angular,
    set_matrix,
    set_row,
    set_row_angular,
    subtract,
)
from .workspace import Workspace


@inlined_kernel
def quaternion_at(q: NDArray[np.float64], i: int) -> Quaternion:
    """Entries i to i + 3."""
    return q[i], q[i + 1], q[i + 2], q[i + 3]


@inlined_kernel
def vector_at(q: NDArray[np.float64], i: int) -> Vector:
    """Entries i to i + 2."""
    return q[i], q[i + 1], q[i + 2]


@inlined_kernel
def _set_rotation_axis(motion: NDArray[np.float64], i: int, axis: Vector, arm: Vector) -> None:
    """Velocity i turns about `axis` through the point o + arm; the point at o then moves with axis x (-arm)."""
    set_row(motion, i, cross(arm, axis))
    set_row_angular(motion, i, axis)


@inlined_kernel
def _turn(axis: NDArray[np.float64], b: int, k: int, angle: float) -> Quaternion:
    """Rotation by `angle` about the unit axis k of body b."""
    s = math.sin(0.5 * angle)
    return math.cos(0.5 * angle), s * axis[b, k, 0], s * axis[b, k, 1], s * axis[b, k, 2]


@inlined_kernel
def _set_inertia(
    out: NDArray[np.float64], b: int, mass: float, c: Vector, R: NDArray[np.float64], I: NDArray[np.float64]
) -> None:
    """Body b's inertia in world axes about o: R I R^T about its centre of mass o + c, by the parallel-axis theorem."""
    out[b, 0], out[b, 1], out[b, 2], out[b, 3] = mass, mass * c[0], mass * c[1], mass * c[2]
    square = c[0] * c[0] + c[1] * c[1] + c[2] * c[2]
    entry = 4
    for i in range(3):
        # row i of R I
        x = R[b, i, 0] * I[b, 0, 0] + R[b, i, 1] * I[b, 1, 0] + R[b, i, 2] * I[b, 2, 0]
        y = R[b, i, 0] * I[b, 0, 1] + R[b, i, 1] * I[b, 1, 1] + R[b, i, 2] * I[b, 2, 1]
        z = R[b, i, 0] * I[b, 0, 2] + R[b, i, 1] * I[b, 1, 2] + R[b, i, 2] * I[b, 2, 2]
        for j in range(i, 3):
            out[b, entry] = x * R[b, j, 0] + y * R[b, j, 1] + z * R[b, j, 2] - mass * c[i] * c[j]
            if i == j:
                out[b, entry] += mass * square
            entry += 1


@kernel
def update_positions(tree: Tree, work: Workspace, q: NDArray[np.float64]) -> None:
    """Place every body, its joint's axes and its inertia in the world."""
    for b in range(tree.parent.shape[0]):
        parent = tree.parent[b]
        joint = tree.joint[b]
        i = tree.position_start[b]
        k = tree.velocity_start[b]
        place = row(tree.offset_position, b)
        turn = quaternion_row(tree.offset_quaternion, b)
        if parent >= 0:
            base = quaternion_row(work.quaternion, parent)
            place = add(row(work.position, parent), quaternion_rotate(base, place))
            turn = quaternion_multiply(base, turn)
        if joint == FREE:  # only a root: its positions are the world's, as in MuJoCo
            place = vector_at(q, i)
            turn = quaternion_normalize(quaternion_at(q, i + 3))
        elif joint == BALL:
            turn = quaternion_multiply(turn, quaternion_normalize(quaternion_at(q, i)))
        set_row(work.position, b, place)
        arm = subtract(place, row(work.position, 0))

        if joint in (HINGE, UNIVERSAL):
            _set_rotation_axis(work.motion, k, quaternion_rotate(turn, row(tree.axis[b], 0)), arm)
            turn = quaternion_multiply(turn, _turn(tree.axis, b, 0, q[i]))
            if joint == UNIVERSAL:
                _set_rotation_axis(work.motion, k + 1, quaternion_rotate(turn, row(tree.axis[b], 1)), arm)
                turn = quaternion_multiply(turn, _turn(tree.axis, b, 1, q[i + 1]))
        work.quaternion[b, 0], work.quaternion[b, 1] = turn[0], turn[1]
        work.quaternion[b, 2], work.quaternion[b, 3] = turn[2], turn[3]
        m = quaternion_matrix(turn)
        set_matrix(work.rotation, b, m)
        if joint == FREE:
            for j in range(3):
                work.motion[k + j, j] = 1.0
            k += 3
        if joint in (FREE, BALL):
            _set_rotation_axis(work.motion, k, (m[0], m[3], m[6]), arm)
            _set_rotation_axis(work.motion, k + 1, (m[1], m[4], m[7]), arm)
            _set_rotation_axis(work.motion, k + 2, (m[2], m[5], m[8]), arm)
        center = add(arm, matrix_vector(m, row(tree.center_of_mass, b)))
        _set_inertia(work.inertia, b, tree.mass[b], center, work.rotation, tree.inertia)


@kernel
def update_velocities(tree: Tree, work: Workspace, v: NDArray[np.float64]) -> None:
    """Velocity of every body, rates of the joints' axes, and accelerations at zero joint acceleration.

    An axis is carried along by whatever moves before it: S_i' = (velocity before joint i) x S_i. For the three axes of
    a ball, which turn with the joint itself, the sum over the joint S' v is the same.
    """
    for b in range(tree.parent.shape[0]):
        parent = tree.parent[b]
        linear, angular = (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
        rate_linear, rate_angular = (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
        if parent >= 0:
            linear, angular = row(work.velocity, parent), row_angular(work.velocity, parent)
            rate_linear, rate_angular = row(work.acceleration, parent), row_angular(work.acceleration, parent)
        joint = tree.joint[b]
        k = tree.velocity_start[b]
        if joint == FREE:
            # the axes along the world's do not turn, and their rates stay zero
            linear = vector_at(v, k)
            k += 3
        before_linear, before_angular = linear, angular
        for i in range(k, tree.velocity_start[b] + VELOCITIES_OF_JOINT[joint]):
            if joint == UNIVERSAL:
                before_linear, before_angular = linear, angular
            s_linear, s_angular = row(work.motion, i), row_angular(work.motion, i)
            d_linear, d_angular = motion_cross(before_linear, before_angular, s_linear, s_angular)
            set_row(work.motion_rate, i, d_linear)
            set_row_angular(work.motion_rate, i, d_angular)
            linear, angular = add_scaled(linear, v[i], s_linear), add_scaled(angular, v[i], s_angular)
            rate_linear = add_scaled(rate_linear, v[i], d_linear)
            rate_angular = add_scaled(rate_angular, v[i], d_angular)
        set_row(work.velocity, b, linear)
        set_row_angular(work.velocity, b, angular)
        set_row(work.acceleration, b, rate_linear)
        set_row_angular(work.acceleration, b, rate_angular)


@kernel
def update_kinematics(tree: Tree, work: Workspace, q: NDArray[np.float64], v: NDArray[np.float64]) -> None:
    """Positions and velocities both."""
    update_positions(tree, work, q)
    update_velocities(tree, work, v)


@inlined_kernel
def world_point(work: Workspace, b: int, local: Vector) -> Vector:
    """Where the point `local` of body b is in the world."""
    return add(row(work.position, b), matrix_vector(matrix_at(work.rotation, b), local))


@inlined_kernel
def point_velocity(work: Workspace, b: int, point: Vector) -> Vector:
    """Velocity of body b's material point at `point`, a place in the world."""
    arm = subtract(point, row(work.position, 0))
    return add(row(work.velocity, b), cross(row_angular(work.velocity, b), arm))


@inlined_kernel
def _set_quaternion(out: NDArray[np.float64], i: int, a: Quaternion) -> None:
    out[i], out[i + 1], out[i + 2], out[i + 3] = a[0], a[1], a[2], a[3]


@kernel
def integrate_positions(
    tree: Tree, q: NDArray[np.float64], v: NDArray[np.float64], dt: float, out: NDArray[np.float64]
) -> None:
    """Fill `out`, maybe `q` itself, with q (+) dt v: angles add, quaternions multiply by exp(dt w) on the right."""
    for b in range(tree.parent.shape[0]):
        joint = tree.joint[b]
        i = tree.position_start[b]
        k = tree.velocity_start[b]
        if joint == FREE:
            for j in range(3):
                out[i + j] = q[i + j] + dt * v[k + j]
            i += 3
            k += 3
        if joint in (FREE, BALL):
            step = quaternion_exp((dt * v[k], dt * v[k + 1], dt * v[k + 2]))
            # normalized, so that rounding does not build up over a long simulation
            _set_quaternion(out, i, quaternion_normalize(quaternion_multiply(quaternion_at(q, i), step)))
        elif joint != FIXED:
            for j in range(POSITIONS_OF_JOINT[joint]):
                out[i + j] = q[i + j] + dt * v[k + j]


@kernel
def difference_positions(
    tree: Tree, q0: NDArray[np.float64], q1: NDArray[np.float64], out: NDArray[np.float64]
) -> None:
    """Fill `out` (nv,) with q1 (-) q0: the velocity that leads there in unit time, quaternions by the shorter way."""
    for b in range(tree.parent.shape[0]):
        joint = tree.joint[b]
        i = tree.position_start[b]
        k = tree.velocity_start[b]
        if joint == FREE:
            for j in range(3):
                out[k + j] = q1[i + j] - q0[i + j]
            i += 3
            k += 3
        if joint in (FREE, BALL):
            a = quaternion_normalize(quaternion_at(q0, i))
            d = quaternion_log(quaternion_multiply(quaternion_conjugate(a), quaternion_normalize(quaternion_at(q1, i))))
            out[k], out[k + 1], out[k + 2] = d[0], d[1], d[2]
        elif joint != FIXED:
            for j in range(POSITIONS_OF_JOINT[joint]):
                out[k + j] = q1[i + j] - q0[i + j]
