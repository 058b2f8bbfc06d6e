# SPDX-License-Identifier: GPL-3.0-or-later
"""Adaptation to contact: torque that answers the contact forces about to be found (Muico et al. 2009, section 4.3).

Eq. 14 and 20 with W_m = 1 / gamma (eq. 17). Features accelerate by J_phi M^-1 times a generalised force, so B_m, B_c
and B~_c are all columns of one matrix, and

    tau = tau~ - answer (J_c^T chi - J~^T chi~),    answer = (1 + gamma B_m^T W B_m)^-1 gamma B_m^T W J_phi M^-1.

Contacts act on the joints between a foot and the root, so of `answer` only those columns are needed.
"""

import numpy as np
from numpy.typing import NDArray

from ...character.tree import Tree
from ...dynamics.kinematics import world_point
from ...dynamics.workspace import Workspace
from ...maths.dense import cholesky_solve_rows
from ...maths.kernel import kernel
from ...maths.products import add_symmetric_product, factor_cholesky
from ...maths.vectors import Vector, add, cross, row, row_angular, subtract
from .policy import HELP
from .workspace import Machine

Array = NDArray[np.float64]


@kernel
def adapt(machine: Machine, J: Array, k: int) -> bool:
    """`torque` and `gain` from `control`; `J` (nv, 3 np) is J~^T. False where a matrix is not positive definite."""
    contacts, work = machine.contacts, machine.work
    policy = machine.policy
    adaptation = machine.choices.adaptation
    nv, motors = work.inverse.shape[0], work.torque.shape[0]
    start = nv - motors
    _fill_features(machine)
    for i in range(nv):
        for j in range(nv):
            work.square[i, j] = 0.0
    add_symmetric_product(work.features, work.features, work.square, nv, work.features.shape[0], 1.0)
    columns = _choose_columns(machine, k)
    answer = work.answer[: motors * columns].reshape((motors, columns))
    for i in range(motors):
        for j in range(nv):
            c = work.column[j]
            if c >= 0:
                answer[i, c] = adaptation * (work.square[start + i, j] if j <= start + i else work.square[j, start + i])
        for j in range(i + 1):
            work.factor[i, j] = adaptation * work.square[start + i, start + j]
        work.factor[i, i] += 1.0
    if not factor_cholesky(work.factor, motors):
        return False
    cholesky_solve_rows(work.factor, answer)

    for i in range(nv):
        c = work.column[i]
        if c >= 0:
            force = 0.0
            for j in range(J.shape[1]):
                # help comes as it is foreseen, so that nothing need answer to it
                if policy.grip[policy.point[k, j // 3]] != HELP:
                    force += J[i, j] * work.control[motors + j]
            work.generalized[c] = force
    for i in range(motors):
        torque = work.control[i]
        for c in range(columns):
            torque += answer[i, c] * work.generalized[c]
        work.torque[i] = torque
    n = contacts.filled[0]
    gain = work.gain[: motors * 3 * n].reshape((motors, 3 * n))
    gain[:] = 0.0
    for c in range(n):
        point = row(contacts.point, c)
        _add_gain(machine, contacts.body[c], -1.0, point, answer, gain, 3 * c)
        if contacts.other[c] >= 0:
            _add_gain(machine, contacts.other[c], 1.0, point, answer, gain, 3 * c)
    return True


@kernel
def _fill_features(machine: Machine) -> None:
    """Joints, then points of bodies, each by its weight."""
    tree, bodies, policy, work = machine.tree, machine.bodies, machine.policy, machine.work
    nv, motors = work.inverse.shape[0], work.torque.shape[0]
    start, F = nv - motors, work.features
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


@kernel
def _choose_columns(machine: Machine, k: int) -> int:
    """Number the velocities that predicted or possible contacts act on, in `column`; returns how many."""
    tree, bodies, contacts, policy = machine.tree, machine.bodies, machine.contacts, machine.policy
    column = machine.work.column
    column[:] = -1
    for p in range(policy.points[k]):
        _mark(tree, bodies, policy.body[policy.point[k, p]], column)
    for c in range(contacts.filled[0]):
        _mark(tree, bodies, contacts.body[c], column)
        if contacts.other[c] >= 0:
            _mark(tree, bodies, contacts.other[c], column)
    count = 0
    for i in range(column.shape[0]):
        if column[i] >= 0:
            column[i] = count
            count += 1
    return count


@kernel
def _mark(tree: Tree, bodies: Workspace, b: int, column: NDArray[np.int64]) -> None:
    """A body's velocities; props have no say in torques."""
    if b < tree.parent.shape[0]:
        i = bodies.last_velocity[b]
        while i >= 0 and column[i] < 0:
            column[i] = 0
            i = tree.velocity_parent[i]


@kernel
def _add_gain(machine: Machine, b: int, sign: float, point: Vector, answer: Array, gain: Array, first: int) -> None:
    """Add sign answer J^T of a point of body b to three columns of the gain; props have no say in torques."""
    tree, bodies, column = machine.tree, machine.bodies, machine.work.column
    if b >= tree.parent.shape[0]:
        return
    arm = subtract(point, row(bodies.position, 0))
    i = bodies.last_velocity[b]
    while i >= 0:
        moved = add(row(bodies.motion, i), cross(row_angular(bodies.motion, i), arm))
        for j in range(gain.shape[0]):
            x = sign * answer[j, column[i]]
            gain[j, first] += x * moved[0]
            gain[j, first + 1] += x * moved[1]
            gain[j, first + 2] += x * moved[2]
        i = tree.velocity_parent[i]
