# SPDX-License-Identifier: GPL-3.0-or-later
"""What the kernels of this room read and write: one `Workspace`, allocated once for a character.

All spatial quantities are in the world's axes about one point, the root's origin o, taken as fixed in space at the
instant of evaluation. Then velocities, forces and composite inertias of different bodies simply add, without
transforms between them (Featherstone, Rigid Body Dynamics Algorithms, 2008, chapters 2 and 5). A motion vector is
(linear velocity of the point at o, angular velocity); a force vector is (force, moment about o). An inertia is ten
numbers: mass, mass times centre of mass from o, and xx xy xz yy yz zz of the rotational inertia about o.
"""

import numpy as np
from numpy.typing import NDArray

from ..character.tree import BALL, FREE, VELOCITIES_OF_JOINT, Tree
from ..maths.structure import Structure


class Workspace(Structure):
    """Arrays of `bodies` rows (nb) or of velocities (nv), each filled by the kernel named in brackets."""

    root: NDArray[np.int64]  # (nr,) bodies without a parent: one, or several where a forest is simulated; constant
    root_velocity: NDArray[np.int64]  # (nr + 1,) first velocity of each root's tree, then nv; constant
    last_velocity: NDArray[np.int64]  # (nb,) last velocity that moves body b, -1 if none; constant
    group_first: NDArray[np.int64]  # (nv,) first velocity of those whose axes turn together with i's; constant
    group_last: NDArray[np.int64]  # (nv,) last of them: ball joints and the free root's rotation; constant
    position: NDArray[np.float64]  # (nb, 3) origin of the body in the world [update_positions]
    quaternion: NDArray[np.float64]  # (nb, 4) body to world, unit [update_positions]
    rotation: NDArray[np.float64]  # (nb, 3, 3) the same as a matrix [update_positions]
    motion: NDArray[np.float64]  # (nv, 6) motion of a unit of velocity i: the joints' subspaces [update_positions]
    inertia: NDArray[np.float64]  # (nb, 10) of one body [update_positions]
    velocity: NDArray[np.float64]  # (nb, 6) motion of the body [update_velocities]
    motion_rate: NDArray[np.float64]  # (nv, 6) velocity before joint i x motion i [update_velocities]
    acceleration: NDArray[np.float64]  # (nb, 6) at zero joint acceleration, without gravity [update_velocities]
    composite: NDArray[np.float64]  # (nb, 10) inertia of the subtree that starts at b [update_mass_matrix]
    momentum_map: NDArray[np.float64]  # (nv, 6) the character's momentum at unit velocity i [update_mass_matrix]
    mass_matrix: NDArray[np.float64]  # (nv, nv) M [update_mass_matrix]
    force: NDArray[np.float64]  # (nb, 6) force through joint b [update_bias_force]
    bias: NDArray[np.float64]  # (nv,) h [update_bias_force, update_discrete_bias]
    stretch: NDArray[np.float64]  # (nv,) q (-) rest, for the passive springs [update_stretch]
    diagonal: NDArray[np.float64]  # (nv,) what implicit terms add to M's diagonal [update_discrete_equation]
    factor: NDArray[np.float64]  # (nv, nv) L below and 1 / D on the diagonal of M + diagonal = L^T D L [factorize]
    correction: NDArray[np.float64]  # (6 nr,) acceleration, about o, that conserves momentum [update_discrete_bias]
    momentum: NDArray[np.float64]  # (6 nr,) of each tree, linear and about its centre of mass [update_momentum]


def make_workspace(tree: Tree) -> Workspace:
    """Allocate for `tree`. Entries that a kernel never writes (M between branches) are zero from the start."""
    nb, nv = len(tree.parent), len(tree.velocity_body)
    last_velocity = np.full(nb, -1, np.int64)
    group_first = np.arange(nv, dtype=np.int64)
    group_last = np.arange(nv, dtype=np.int64)
    for b in range(nb):
        start, count = int(tree.velocity_start[b]), VELOCITIES_OF_JOINT[tree.joint[b]]
        if count > 0:
            last_velocity[b] = start + count - 1
        elif tree.parent[b] >= 0:
            last_velocity[b] = last_velocity[tree.parent[b]]
        if tree.joint[b] in {BALL, FREE}:
            turning = slice(start + count - 3, start + count)
            group_first[turning] = start + count - 3
            group_last[turning] = start + count - 1
    root = np.flatnonzero(tree.parent < 0).astype(np.int64)
    return Workspace(
        root=root,
        root_velocity=np.append(tree.velocity_start[root], nv),
        last_velocity=last_velocity,
        group_first=group_first,
        group_last=group_last,
        position=np.zeros((nb, 3)),
        quaternion=np.zeros((nb, 4)),
        rotation=np.zeros((nb, 3, 3)),
        motion=np.zeros((nv, 6)),
        inertia=np.zeros((nb, 10)),
        velocity=np.zeros((nb, 6)),
        motion_rate=np.zeros((nv, 6)),
        acceleration=np.zeros((nb, 6)),
        composite=np.zeros((nb, 10)),
        momentum_map=np.zeros((nv, 6)),
        mass_matrix=np.zeros((nv, nv)),
        force=np.zeros((nb, 6)),
        bias=np.zeros(nv),
        stretch=np.zeros(nv),
        diagonal=np.zeros(nv),
        factor=np.zeros((nv, nv)),
        correction=np.zeros(6 * len(root)),
        momentum=np.zeros(6 * len(root)),
    )
