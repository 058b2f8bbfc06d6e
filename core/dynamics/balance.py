# SPDX-License-Identifier: GPL-3.0-or-later
"""What motions lack: the generalised forces that their steps ask for, less contacts and springs."""

import numpy as np
from numpy.typing import NDArray

from ..character.tree import Tree
from ..maths.kernel import kernel
from ..maths.vectors import row, scale
from .forces import update_bias_force, update_stretch
from .inertia import update_mass_matrix
from .jacobians import add_point_force
from .kinematics import update_positions, update_velocities
from .workspace import Workspace

Array = NDArray[np.float64]


@kernel
def fill_lacking(
    tree: Tree,
    work: Workspace,
    q: Array,
    v: Array,
    rate: float,
    start: NDArray[np.int64],
    body: NDArray[np.int64],
    point: Array,
    force: Array,
    out: Array,
) -> None:
    """M a + h - passive forces - J^T f (n, nv) of the steps between states q (n + 1, nq) and v (n + 1, nv).

    At the positions that a step leads to, and the velocities that it begins with. Contacts of step k are the rows from
    `start[k]` up to `start[k + 1]`: forces on points of bodies, all in the world.
    """
    for k in range(out.shape[0]):
        lacks = out[k]
        update_positions(tree, work, q[k + 1])
        update_velocities(tree, work, v[k])
        update_mass_matrix(tree, work)
        update_bias_force(tree, work)
        update_stretch(tree, work, q[k + 1])
        for i in range(lacks.shape[0]):
            total = work.bias[i] + tree.stiffness[i] * work.stretch[i] + tree.damping[i] * v[k, i]
            for j in range(lacks.shape[0]):
                total += work.mass_matrix[i, j] * (v[k + 1, j] - v[k, j]) * rate
            lacks[i] = total
        for c in range(start[k], start[k + 1]):
            add_point_force(tree, work, body[c], row(point, c), scale(-1.0, row(force, c)), lacks)
