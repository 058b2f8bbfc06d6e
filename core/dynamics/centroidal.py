# SPDX-License-Identifier: GPL-3.0-or-later
"""Centre of mass, momentum, and energy.

The centroidal map after Orin, Goswami and Lee, "Centroidal dynamics of a humanoid robot" (2013): its column i is the
momentum of the whole character when velocity i is one and all others are zero, in world axes.
"""

import numpy as np
from numpy.typing import NDArray

from ..character.tree import Tree
from ..maths.kernel import inlined_kernel, kernel
from ..maths.spatial import inertia_momentum
from ..maths.vectors import Vector, add, add_scaled, cross, dot, row, row_angular, scale, subtract
from .forces import update_stretch
from .kinematics import vector_at
from .workspace import Workspace


@inlined_kernel
def center_of_mass_from_root(composite: NDArray[np.float64]) -> Vector:
    """Centre of mass of the whole seen from o, given the workspace's composite inertias from the root on."""
    return composite[0, 1] / composite[0, 0], composite[0, 2] / composite[0, 0], composite[0, 3] / composite[0, 0]


@inlined_kernel
def momentum_about_root(momentum_map: NDArray[np.float64], v: NDArray[np.float64]) -> tuple[Vector, Vector]:
    """Linear momentum and angular momentum about o, given the workspace's momentum map."""
    linear, angular = (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
    for i in range(v.shape[0]):
        linear = add_scaled(linear, v[i], row(momentum_map, i))
        angular = add_scaled(angular, v[i], row_angular(momentum_map, i))
    return linear, angular


@kernel
def update_momentum(work: Workspace, v: NDArray[np.float64]) -> None:
    """`work.momentum`: linear, and angular about the centre of mass, of each tree; after `update_mass_matrix`."""
    for r in range(work.root.shape[0]):
        first, last = work.root_velocity[r], work.root_velocity[r + 1]
        linear, angular = momentum_about_root(work.momentum_map[first:last], v[first:last])
        angular = subtract(angular, cross(center_of_mass_from_root(work.composite[work.root[r] :]), linear))
        for j in range(3):
            work.momentum[6 * r + j] = linear[j]
            work.momentum[6 * r + 3 + j] = angular[j]


@kernel
def fill_centroidal_map(work: Workspace, out: NDArray[np.float64]) -> None:
    """A (6, nv): A v is the linear momentum, then the angular momentum about the centre of mass."""
    center = center_of_mass_from_root(work.composite)
    for i in range(out.shape[1]):
        linear = row(work.momentum_map, i)
        angular = subtract(row_angular(work.momentum_map, i), cross(center, linear))
        for j in range(3):
            out[j, i] = linear[j]
            out[3 + j, i] = angular[j]


@kernel
def kinetic_energy_of(tree: Tree, work: Workspace) -> float:
    """Half the sum of v . I v; after `update_kinematics`."""
    energy = 0.0
    for b in range(tree.parent.shape[0]):
        v_linear, v_angular = row(work.velocity, b), row_angular(work.velocity, b)
        p, l = inertia_momentum(work.inertia, b, v_linear, v_angular)
        energy += 0.5 * (dot(v_linear, p) + dot(v_angular, l))
    return energy


@kernel
def potential_energy_of(tree: Tree, work: Workspace, q: NDArray[np.float64]) -> float:
    """Gravity's energy, zero at the world's origin, and that of the passive springs; after `update_positions`."""
    energy = 0.0
    gravity = vector_at(tree.gravity, 0)
    for b in range(tree.parent.shape[0]):
        moment = (work.inertia[b, 1], work.inertia[b, 2], work.inertia[b, 3])
        energy -= dot(gravity, add(moment, scale(work.inertia[b, 0], row(work.position, 0))))
    stretch = work.stretch
    update_stretch(tree, work, q)
    for i in range(stretch.shape[0]):
        energy += 0.5 * tree.stiffness[i] * stretch[i] * stretch[i]
    return energy
