# SPDX-License-Identifier: GPL-3.0-or-later
"""One evaluation of the policy and of its adaptation to contact, as a kernel that allocates nothing.

The step is affine in the controls (Muico et al. 2009, eq. 5): positions q_{k+1} are given, and velocities are

    v_{k+1} = [v_k - dt M^-1 h] + dt M^-1 [motors, J~^T] u,    u = (tau, chi),

with M, h and J~ at the simulated q_{k+1}. Positions and world-axes components are first brought into the reference's
coordinates by the anchor, a shift and a turn about the vertical.
"""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...character.tree import FREE, Tree
from ...contact.detection import Contacts
from ...dynamics.inertia import solve, solve_columns
from ...dynamics.kinematics import difference_positions, world_point
from ...dynamics.workspace import Workspace
from ...maths.dense import cholesky_solve, cholesky_solve_rows
from ...maths.kernel import inner_kernel
from ...maths.vectors import Vector, add, cross, row, row_angular, subtract
from ...motion.spacetime.products import add_symmetric_product, add_transposed_product, factor_cholesky
from .cones import Cones, find_friction, make_cones, solve_within_cones
from .precompute import Policy

Array = NDArray[np.float64]


class Scratch(NamedTuple):
    """Arrays of one evaluation; flat ones are used in the size that the frame's contacts need."""

    inverse: Array  # (nv, nv) M^-1
    jacobian: Array  # (nv 3 np,) J~^T of the idealised contacts, in the world's axes
    response: Array  # (nv m,) [G] velocities after the step, by controls
    weighted: Array  # (nv m,) [S_vv G]
    hessian: Array  # (m m,) [R + P + G^T S G]
    control: Array  # (m,) [u~]
    position: Array  # (nq,) in the reference's coordinates
    error_position: Array  # (nv,)
    error_velocity: Array  # (nv,)
    free: Array  # (nv,) velocity after the step without controls; then [s + S (h^ - x)] of the velocities
    features: Array  # (nf, nv) square root of W times J_phi M^-1
    square: Array  # (nv, nv) their square
    answer: Array  # (motors, nv) how torque answers to a generalised force [-C J_phi M^-1]
    adaptation: Array  # (motors, motors) [1 + gamma B_m^T W B_m]
    generalized: Array  # (nv,) of the predicted contact forces
    torque: Array  # (motors,)
    gain: Array  # (motors 3 nc,)
    cones: Cones


def make_scratch(tree: Tree, policy: Policy, contacts: int) -> Scratch:
    """Allocate for up to `contacts` candidates."""
    nq, nv = len(tree.rest), len(tree.velocity_body)
    motors = policy.torque.shape[1]
    most = int(policy.points.max())
    m = motors + 3 * most
    return Scratch(
        inverse=np.zeros((nv, nv)),
        jacobian=np.zeros(nv * 3 * most),
        response=np.zeros(nv * m),
        weighted=np.zeros(nv * m),
        hessian=np.zeros(m * m),
        control=np.zeros(m),
        position=np.zeros(nq),
        error_position=np.zeros(nv),
        error_velocity=np.zeros(nv),
        free=np.zeros(nv),
        features=np.zeros((motors + 3 * len(policy.feature_body), nv)),
        square=np.zeros((nv, nv)),
        answer=np.zeros((motors, nv)),
        adaptation=np.zeros((motors, motors)),
        generalized=np.zeros(nv),
        torque=np.zeros(motors),
        gain=np.zeros(motors * 3 * contacts),
        cones=make_cones(motors, most),
    )


@inner_kernel
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


@inner_kernel
def _turn_back(tree: Tree, yaw: float, v: Array) -> None:
    """Rows 0 and 1, a free root's horizontal velocity, into the reference's coordinates; `v` (nv, m), in place."""
    if tree.joint[0] != FREE:
        return
    c, s = math.cos(yaw), math.sin(yaw)
    for j in range(v.shape[1]):
        x, y = v[0, j], v[1, j]
        v[0, j], v[1, j] = c * x + s * y, c * y - s * x


@inner_kernel
def _fill_columns(tree: Tree, bodies: Workspace, b: int, point: Vector, out: Array, first: int) -> None:
    """Add J^T of a point of body b, three columns of `out` (nv, ...) from `first` on."""
    arm = subtract(point, row(bodies.position, 0))
    i = bodies.last_velocity[b]
    while i >= 0:
        moved = add(row(bodies.motion, i), cross(row_angular(bodies.motion, i), arm))
        out[i, first], out[i, first + 1], out[i, first + 2] = moved[0], moved[1], moved[2]
        i = tree.velocity_parent[i]


@inner_kernel
def update_law(
    tree: Tree,
    bodies: Workspace,
    contacts: Contacts,
    policy: Policy,
    work: Scratch,
    k: int,
    anchor: Array,
    q: Array,
    v: Array,
    q_next: Array,
    dt: float,
    adaptation: float,
    linear: bool,
    about_reference: bool,
    possible_forces: bool,
) -> bool:
    """Fill `work.torque` and `work.gain` for step k; False where a matrix that must be positive definite is not.

    `tree` is the character's; `bodies` the world's workspace at q_{k+1}, of which the character comes first.
    """
    nv = v.shape[0]
    for i in range(nv):
        for j in range(nv):
            work.inverse[i, j] = 0.0
        work.inverse[i, i] = 1.0
    solve_columns(tree, bodies, work.inverse, 0)
    count = policy.points[k]
    J = work.jacobian[: nv * 3 * count].reshape((nv, 3 * count))
    for i in range(nv):
        for j in range(3 * count):
            J[i, j] = 0.0
    for c in range(count):
        p = policy.point[k, c]
        b = policy.body[p]
        _fill_columns(tree, bodies, b, world_point(bodies, b, row(policy.local, p)), J, 3 * c)
    if linear:
        _predict_linear(tree, policy, work, k, anchor, q, v)
    elif not _predict(
        tree, bodies, contacts, policy, work, J, k, anchor, v, q_next, dt, about_reference, possible_forces
    ):
        return False
    return _adapt(tree, bodies, contacts, policy, work, J, count, anchor[3], adaptation)


@inner_kernel
def _predict_linear(tree: Tree, policy: Policy, work: Scratch, k: int, anchor: Array, q: Array, v: Array) -> None:
    """u~ of eq. 10."""
    nv, motors = v.shape[0], policy.torque.shape[1]
    _to_reference(tree, anchor, q, work.position)
    difference_positions(tree, policy.q_before[k], work.position, work.error_position)
    for i in range(nv):
        work.error_velocity[i] = v[i]
    _turn_back(tree, anchor[3], work.error_velocity.reshape((nv, 1)))
    for i in range(nv):
        work.error_velocity[i] -= policy.v_before[k, i]
    for j in range(motors + 3 * policy.points[k]):
        u = -policy.offset[k, j]
        for i in range(nv):
            u -= policy.gain[k, j, i] * work.error_position[i] + policy.gain[k, j, nv + i] * work.error_velocity[i]
        if j < motors:
            work.control[j] = policy.torque[k, j] + u
        else:
            c = (j - motors) // 3
            work.control[j] = policy.force[k, policy.point[k, c], (j - motors) % 3] + u


@inner_kernel
def _predict(
    tree: Tree,
    bodies: Workspace,
    contacts: Contacts,
    policy: Policy,
    work: Scratch,
    J: Array,
    k: int,
    anchor: Array,
    v: Array,
    q_next: Array,
    dt: float,
    about_reference: bool,
    possible_forces: bool,
) -> bool:
    """u~ of eq. 11."""
    nv, motors = v.shape[0], policy.torque.shape[1]
    start, forces = nv - motors, J.shape[1]
    m = motors + forces
    yaw = anchor[3]
    c, s = math.cos(yaw), math.sin(yaw)
    # G = dt M^-1 [motors, J^T R], R from the reference's coordinates to the world's
    G = work.response[: nv * m].reshape((nv, m))
    mapped = work.weighted[: nv * forces].reshape((nv, forces))
    mapped[:] = 0.0
    add_transposed_product(work.inverse, J, mapped, nv, nv, forces)  # M is symmetric, and so is S_vv
    for i in range(nv):
        for j in range(motors):
            G[i, j] = dt * work.inverse[i, start + j]
        for j in range(0, forces, 3):
            x, y = mapped[i, j], mapped[i, j + 1]
            G[i, motors + j] = dt * (c * x + s * y)
            G[i, motors + j + 1] = dt * (c * y - s * x)
            G[i, motors + j + 2] = dt * mapped[i, j + 2]
    _turn_back(tree, yaw, G)
    # errors of the state that the step leads to without controls
    _to_reference(tree, anchor, q_next, work.position)
    difference_positions(tree, policy.q[k], work.position, work.error_position)
    for i in range(nv):
        work.free[i] = bodies.bias[i]
    solve(tree, bodies, work.free)
    for i in range(nv):
        work.error_velocity[i] = v[i] - dt * work.free[i]
    _turn_back(tree, yaw, work.error_velocity.reshape((nv, 1)))
    for i in range(nv):
        work.error_velocity[i] -= policy.v[k, i]
    for i in range(nv):
        y = policy.costate[k, i]
        for j in range(nv):
            y += policy.slope_position[k, i, j] * work.error_position[j]
            y += policy.slope_velocity[k, i, j] * work.error_velocity[j]
        work.free[i] = y

    SG = work.weighted[: nv * m].reshape((nv, m))
    H = work.hessian[: m * m].reshape((m, m))
    SG[:] = 0.0
    add_transposed_product(policy.slope_velocity[k], G, SG, nv, nv, m)
    H[:] = 0.0
    add_symmetric_product(G, SG, H, m, nv, 1.0)  # the factorization reads its lower triangle
    for j in range(m):
        if j < motors:
            H[j, j] += policy.change[j] + policy.effort[j]
            pulling = policy.change[j] + (policy.effort[j] if about_reference else 0.0)
            u = pulling * policy.torque[k, j]
        else:
            H[j, j] += policy.force_effort[0]
            point = policy.point[k, (j - motors) // 3]
            u = policy.force_effort[0] * policy.force[k, point, (j - motors) % 3] if about_reference else 0.0
        for i in range(nv):
            u -= G[i, j] * work.free[i]
        work.control[j] = u
    if not factor_cholesky(H, m):
        return False
    if possible_forces:
        find_friction(contacts, policy, k, work.cones.friction)
        solve_within_cones(H, motors, policy.points[k], work.cones, work.control[:m])
    else:
        cholesky_solve(H, work.control[:m])
    return True


@inner_kernel
def _adapt(
    tree: Tree,
    bodies: Workspace,
    contacts: Contacts,
    policy: Policy,
    work: Scratch,
    J: Array,
    count: int,
    yaw: float,
    adaptation: float,
) -> bool:
    """Eq. 14 and 20 with W_m = 1 / gamma (eq. 17).

    Features accelerate by J_phi M^-1 times a generalised force, so B_m, B_c and B~_c are all columns of one matrix, and

        tau = tau~ - A (J_c^T chi - J~^T chi~),    A = (1 + gamma B_m^T W B_m)^-1 gamma B_m^T W J_phi M^-1.
    """
    nv, motors = work.inverse.shape[0], work.torque.shape[0]
    start = nv - motors
    F, D = work.features, work.answer
    for i in range(motors):
        w = policy.joint_feature[start + i]
        for j in range(nv):
            F[i, j] = w * work.inverse[start + i, j]
    for f in range(policy.feature_body.shape[0]):
        b = policy.feature_body[f]
        arm = subtract(world_point(bodies, b, row(policy.feature_point, f)), row(bodies.position, 0))
        first = motors + 3 * f
        for a in range(3):
            for j in range(nv):
                F[first + a, j] = 0.0
        i = bodies.last_velocity[b]
        while i >= 0:
            moved = add(row(bodies.motion, i), cross(row_angular(bodies.motion, i), arm))
            for a in range(3):
                x = policy.feature_weight[f, a] * moved[a]
                for j in range(nv):
                    F[first + a, j] += x * work.inverse[i, j]
            i = tree.velocity_parent[i]
    work.square[:] = 0.0
    add_transposed_product(F, F, work.square, nv, F.shape[0], nv)
    for i in range(motors):
        for j in range(nv):
            D[i, j] = adaptation * work.square[start + i, j]
        for j in range(motors):
            work.adaptation[i, j] = D[i, start + j]
        work.adaptation[i, i] += 1.0
    if not factor_cholesky(work.adaptation, motors):
        return False
    cholesky_solve_rows(work.adaptation, D)

    cosine, sine = math.cos(yaw), math.sin(yaw)
    for i in range(nv):
        force = 0.0
        for p in range(count):
            u = motors + 3 * p
            x, y = work.control[u], work.control[u + 1]
            force += J[i, 3 * p] * (cosine * x - sine * y) + J[i, 3 * p + 1] * (sine * x + cosine * y)
            force += J[i, 3 * p + 2] * work.control[u + 2]
        work.generalized[i] = force
    for i in range(motors):
        torque = work.control[i]
        for j in range(nv):
            torque += D[i, j] * work.generalized[j]
        work.torque[i] = torque
    n = contacts.filled[0]
    gain = work.gain[: motors * 3 * n].reshape((motors, 3 * n))
    gain[:] = 0.0
    for c in range(n):
        point = row(contacts.point, c)
        _add_gain(tree, bodies, contacts.body[c], -1.0, point, D, gain, 3 * c)
        if contacts.other[c] >= 0:
            _add_gain(tree, bodies, contacts.other[c], 1.0, point, D, gain, 3 * c)
    return True


@inner_kernel
def _add_gain(
    tree: Tree, bodies: Workspace, b: int, sign: float, point: Vector, D: Array, gain: Array, first: int
) -> None:
    """Add sign A J^T of a point of body b to three columns of the gain; props have no say in torques."""
    if b >= tree.parent.shape[0]:
        return
    arm = subtract(point, row(bodies.position, 0))
    i = bodies.last_velocity[b]
    while i >= 0:
        moved = add(row(bodies.motion, i), cross(row_angular(bodies.motion, i), arm))
        for j in range(gain.shape[0]):
            x = sign * D[j, i]
            gain[j, first] += x * moved[0]
            gain[j, first + 1] += x * moved[1]
            gain[j, first + 2] += x * moved[2]
        i = tree.velocity_parent[i]
