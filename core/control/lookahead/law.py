# SPDX-License-Identifier: GPL-3.0-or-later
"""One evaluation of the policy and of its adaptation to contact, as a kernel that allocates nothing."""

import math

import numpy as np
from numpy.typing import NDArray

from ...dynamics.inertia import solve_columns
from ...dynamics.kinematics import world_point
from ...maths.kernel import kernel, wide_kernel
from ...maths.vectors import Vector, add, cross, row, row_angular, subtract
from .adaptation import adapt
from .prediction import predict, predict_linear
from .workspace import Machine

Array = NDArray[np.float64]


@wide_kernel
def update_law(machine: Machine, k: int, anchor: Array, q: Array, v: Array, q_next: Array, dt: float) -> bool:
    """Fill `work.torque` and `work.gain` for step k; False where a matrix that must be positive definite is not."""
    tree, bodies, policy, work = machine.tree, machine.bodies, machine.policy, machine.work
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
        _fill_columns(machine, b, world_point(bodies, b, row(policy.local, p)), anchor[3], J, 3 * c)
    if machine.choices.linear:
        predict_linear(machine, k, anchor, q, v)
    elif not predict(machine, J, k, anchor, v, q_next, dt):
        return False
    return adapt(machine, J, k)


@kernel
def _fill_columns(machine: Machine, b: int, point: Vector, yaw: float, out: Array, first: int) -> None:
    """Fill J^T of a point of body b along axes turned by `yaw`, three columns of `out` (nv, ...) from `first` on."""
    tree, bodies = machine.tree, machine.bodies
    arm = subtract(point, row(bodies.position, 0))
    c, s = math.cos(yaw), math.sin(yaw)
    i = bodies.last_velocity[b]
    while i >= 0:
        moved = add(row(bodies.motion, i), cross(row_angular(bodies.motion, i), arm))
        out[i, first], out[i, first + 1] = c * moved[0] + s * moved[1], c * moved[1] - s * moved[0]
        out[i, first + 2] = moved[2]
        i = tree.velocity_parent[i]
