# SPDX-License-Identifier: GPL-3.0-or-later
"""Bias force and passive joint forces."""

import numpy as np
from numpy.typing import NDArray

from ..character.tree import BALL, HINGE, UNIVERSAL, VELOCITIES_OF_JOINT, Tree
from ..maths.kernel import kernel
from ..maths.rotations import quaternion_conjugate, quaternion_log, quaternion_multiply, quaternion_normalize
from ..maths.spatial import force_cross, inertia_momentum, row_dot
from ..maths.vectors import add, row, row_angular, set_row, set_row_angular, subtract
from .kinematics import quaternion_at, vector_at
from .workspace import Workspace


@kernel
def update_bias_force(tree: Tree, work: Workspace) -> None:
    """Bias force h in M a + h = tau + J^T f, gravity included; after `update_kinematics`.

    Recursive Newton-Euler at zero joint acceleration, gravity as an upward acceleration of the world (Featherstone
    2008, table 5.1): f_b = I_b (a_b - g) + v_b x* I_b v_b, summed towards the root, h_i = S_i . f.
    """
    gravity = vector_at(tree.gravity, 0)
    for b in range(tree.parent.shape[0]):
        v_linear, v_angular = row(work.velocity, b), row_angular(work.velocity, b)
        p, l = inertia_momentum(work.inertia, b, v_linear, v_angular)
        cross_force, cross_moment = force_cross(v_linear, v_angular, p, l)
        force, moment = inertia_momentum(
            work.inertia, b, subtract(row(work.acceleration, b), gravity), row_angular(work.acceleration, b)
        )
        set_row(work.force, b, add(force, cross_force))
        set_row_angular(work.force, b, add(moment, cross_moment))
    for b in range(tree.parent.shape[0] - 1, -1, -1):
        parent = tree.parent[b]
        force, moment = row(work.force, b), row_angular(work.force, b)
        start = tree.velocity_start[b]
        for i in range(start, start + VELOCITIES_OF_JOINT[tree.joint[b]]):
            work.bias[i] = row_dot(work.motion, i, force, moment)
        if parent >= 0:
            set_row(work.force, parent, add(row(work.force, parent), force))
            set_row_angular(work.force, parent, add(row_angular(work.force, parent), moment))


@kernel
def update_stretch(tree: Tree, work: Workspace, q: NDArray[np.float64]) -> None:
    """Stretch of every passive spring, q (-) rest; zero for the free root, which no spring holds."""
    out = work.stretch
    for b in range(tree.parent.shape[0]):
        joint = tree.joint[b]
        i = tree.position_start[b]
        k = tree.velocity_start[b]
        if joint in (HINGE, UNIVERSAL):
            for j in range(VELOCITIES_OF_JOINT[joint]):
                out[k + j] = q[i + j] - tree.rest[i + j]
        elif joint == BALL:
            rest = quaternion_conjugate(quaternion_normalize(quaternion_at(tree.rest, i)))
            d = quaternion_log(quaternion_multiply(rest, quaternion_normalize(quaternion_at(q, i))))
            out[k], out[k + 1], out[k + 2] = d[0], d[1], d[2]
