# SPDX-License-Identifier: GPL-3.0-or-later
"""Jacobians of bodies and of points on them, in the world's axes, and what their rates of change contribute."""

import numpy as np
from numpy.typing import NDArray

from ..character.tree import Tree
from ..maths.kernel import inlined_kernel, kernel
from ..maths.spatial import row_dot
from ..maths.vectors import Vector, add, cross, row, row_angular, subtract
from .kinematics import point_velocity
from .workspace import Workspace


@kernel
def add_point_force(
    tree: Tree, work: Workspace, b: int, point: Vector, force: Vector, out: NDArray[np.float64]
) -> None:
    """Add J^T f to `out` (nv,) for a force on body b at `point`, both in the world.

    With a unit direction d as the force, and `out` zero before, this is the row d^T J of a contact.
    """
    moment = cross(subtract(point, row(work.position, 0)), force)
    i = work.last_velocity[b]
    while i >= 0:
        out[i] += row_dot(work.motion, i, force, moment)
        i = tree.velocity_parent[i]


@kernel
def fill_jacobian(tree: Tree, work: Workspace, b: int, point: Vector, out: NDArray[np.float64]) -> None:
    """J (6, nv) of body b at `point`, a place in the world, in world axes.

    J v is the linear velocity of the body's material point there, then the body's angular velocity.
    """
    for j in range(6):
        for i in range(out.shape[1]):
            out[j, i] = 0.0
    arm = subtract(point, row(work.position, 0))
    i = work.last_velocity[b]
    while i >= 0:
        a = row_angular(work.motion, i)
        s = add(row(work.motion, i), cross(a, arm))
        out[0, i], out[1, i], out[2, i] = s[0], s[1], s[2]
        out[3, i], out[4, i], out[5, i] = a[0], a[1], a[2]
        i = tree.velocity_parent[i]


@inlined_kernel
def point_acceleration_bias(work: Workspace, b: int, point: Vector) -> Vector:
    """J' v: acceleration of body b's material point at `point` when all joint accelerations are zero.

    From the spatial acceleration (a, alpha) about o: a + alpha x r + omega x (velocity of the point).
    """
    arm = subtract(point, row(work.position, 0))
    spatial = add(row(work.acceleration, b), cross(row_angular(work.acceleration, b), arm))
    return add(spatial, cross(row_angular(work.velocity, b), point_velocity(work, b, point)))
