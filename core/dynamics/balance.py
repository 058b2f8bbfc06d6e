# SPDX-License-Identifier: GPL-3.0-or-later
"""Accelerations under which the forces of a motion's steps balance, as others' inverse dynamics ask for them."""

import numpy as np
from numpy.typing import NDArray

from ..character.tree import FREE, Tree
from ..maths.dense import cholesky, cholesky_solve
from ..maths.kernel import kernel
from ..maths.vectors import row, scale
from .forces import update_bias_force
from .inertia import update_mass_matrix
from .jacobians import add_point_force
from .kinematics import update_positions, update_velocities
from .workspace import Workspace

Array = NDArray[np.float64]

ROOT = 6  # velocities of a free root


@kernel
def fill_accelerations(
    tree: Tree,
    work: Workspace,
    q: Array,
    v: Array,
    rate: float,
    help_given: Array,
    start: NDArray[np.int64],
    body: NDArray[np.int64],
    point: Array,
    force: Array,
    block: Array,
    lacks: Array,
    out: Array,
) -> None:
    """Accelerations (n, nv) of the steps between states q (n + 1, nq) and v (n + 1, nv), in the continuous equation.

    That is taken at the positions that a step leads to and the velocities that it begins with. The integrator adds to
    it what keeps momentum over a whole step, a motion of the character as one rigid body (stepping.py, x); so
    velocities change by a little else, and only the root's. Here that is taken off again: the root's rows balance help
    (n, 6) and contacts, of which step k has the rows from `start[k]` up to `start[k + 1]`, forces on points of bodies,
    all in the world. `block` (6, 6) and `lacks` (nv,) are scratch.
    """
    for k in range(out.shape[0]):
        for i in range(out.shape[1]):
            out[k, i] = (v[k + 1, i] - v[k, i]) * rate
        if tree.joint[0] != FREE:
            continue
        update_positions(tree, work, q[k + 1])
        update_velocities(tree, work, v[k])
        update_mass_matrix(tree, work)
        update_bias_force(tree, work)
        for i in range(lacks.shape[0]):
            lacks[i] = work.bias[i]
        for c in range(start[k], start[k + 1]):
            add_point_force(tree, work, body[c], row(point, c), scale(-1.0, row(force, c)), lacks)
        for i in range(ROOT):
            lacks[i] -= help_given[k, i]
            for j in range(out.shape[1]):
                lacks[i] += work.mass_matrix[i, j] * out[k, j]
            for j in range(ROOT):
                block[i, j] = work.mass_matrix[i, j]
        cholesky(block, block)
        cholesky_solve(block, lacks[:ROOT])
        for i in range(ROOT):
            out[k, i] -= lacks[i]
