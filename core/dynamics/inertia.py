# SPDX-License-Identifier: GPL-3.0-or-later
"""The mass matrix and its sparse factor.

Composite rigid bodies and the L^T D L factorization without fill-in: Featherstone, Rigid Body Dynamics Algorithms
(2008), sections 6.2 and 6.5 (tables 6.2 and 6.3).
"""

import numpy as np
from numpy.typing import NDArray

from ..character.tree import VELOCITIES_OF_JOINT, Tree
from ..maths.kernel import kernel
from ..maths.spatial import inertia_momentum, row_dot
from ..maths.vectors import row, row_angular, set_row, set_row_angular
from .workspace import Workspace


@kernel
def update_mass_matrix(tree: Tree, work: Workspace) -> None:
    """M, composite inertias and the momentum of each unit velocity; after `update_positions`.

    M_ij = S_j . (I^c_i S_i) for j on the way from i to the root, and zero between branches.
    """
    M = work.mass_matrix
    for b in range(tree.parent.shape[0]):
        for c in range(10):
            work.composite[b, c] = work.inertia[b, c]
    for b in range(tree.parent.shape[0] - 1, -1, -1):
        parent = tree.parent[b]
        if parent >= 0:
            for c in range(10):
                work.composite[parent, c] += work.composite[b, c]
        start = tree.velocity_start[b]
        for i in range(start, start + VELOCITIES_OF_JOINT[tree.joint[b]]):
            linear, angular = inertia_momentum(work.composite, b, row(work.motion, i), row_angular(work.motion, i))
            set_row(work.momentum_map, i, linear)
            set_row_angular(work.momentum_map, i, angular)
            j = i
            while j >= 0:
                M[i, j] = row_dot(work.motion, j, linear, angular)
                M[j, i] = M[i, j]
                j = tree.velocity_parent[j]


@kernel
def factorize(tree: Tree, work: Workspace) -> None:
    """Factor M + diagonal = L^T D L in place of `work.factor`, along the tree: no fill-in, no square roots."""
    parent = tree.velocity_parent
    L = work.factor
    n = parent.shape[0]
    for i in range(n):
        j = i
        while j >= 0:
            L[i, j] = work.mass_matrix[i, j]
            j = parent[j]
        L[i, i] += work.diagonal[i]
    for i in range(n - 1, -1, -1):
        inverse = 1.0 / L[i, i]
        j = parent[i]
        while j >= 0:
            a = L[i, j] * inverse
            k = j
            while k >= 0:
                L[j, k] -= a * L[i, k]
                k = parent[k]
            L[i, j] = a
            j = parent[j]
        L[i, i] = inverse


@kernel
def solve(tree: Tree, work: Workspace, x: NDArray[np.float64]) -> None:
    """Solve (M + diagonal) x = b with the factor; `x` (nv,) holds b and receives the answer."""
    parent = tree.velocity_parent
    L = work.factor
    n = parent.shape[0]
    for i in range(n - 1, -1, -1):
        j = parent[i]
        while j >= 0:
            x[j] -= L[i, j] * x[i]
            j = parent[j]
    for i in range(n):
        s = x[i] * L[i, i]
        j = parent[i]
        while j >= 0:
            s -= L[i, j] * x[j]
            j = parent[j]
        x[i] = s


@kernel
def solve_columns(tree: Tree, work: Workspace, x: NDArray[np.float64], first: int) -> None:
    """The same for every column of `x`, whose nv rows from row `first` on hold b; rows are where memory is dense."""
    parent = tree.velocity_parent
    L = work.factor
    n = parent.shape[0]
    m = x.shape[1]
    for i in range(n - 1, -1, -1):
        j = parent[i]
        while j >= 0:
            a = L[i, j]
            for c in range(m):
                x[first + j, c] -= a * x[first + i, c]
            j = parent[j]
    for i in range(n):
        for c in range(m):
            x[first + i, c] *= L[i, i]
        j = parent[i]
        while j >= 0:
            a = L[i, j]
            for c in range(m):
                x[first + i, c] -= a * x[first + j, c]
            j = parent[j]
