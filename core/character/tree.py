# SPDX-License-Identifier: GPL-3.0-or-later
"""The character as kernels see it: a tree of bodies in flat arrays.

Body `b` hangs from body `parent[b]` by one joint at its own frame's origin; bodies are ordered so that a parent comes
before its children. At rest the frame sits at `offset_position[b]`, turned by `offset_quaternion[b]`, in the parent's
frame; the joint moves it from there. A free body has no offset: its coordinates are its pose in the world. Positions
and velocities are laid out as MuJoCo's qpos and qvel:

    joint      positions                                velocities
    fixed      -                                        -
    hinge      angle about axis[b, 0]                   its rate
    universal  angle about axis[b, 0], then axis[b, 1]  their rates; the second axis rides on the first rotation
    ball       quaternion w-x-y-z                       angular velocity in the body's frame
    free       position, then quaternion w-x-y-z        linear velocity in the world's frame, then angular in the body's
"""

import numpy as np
from numpy.typing import NDArray

from ..maths.structure import Structure

FIXED, HINGE, UNIVERSAL, BALL, FREE = range(5)
POSITIONS_OF_JOINT = (0, 1, 2, 4, 7)
VELOCITIES_OF_JOINT = (0, 1, 2, 3, 6)


class Tree(Structure):
    """Arrays of `bodies` rows (nb) or of velocities (nv); C-contiguous float64 and int64."""

    parent: NDArray[np.int64]  # (nb,) index of the parent body, -1 for a root
    joint: NDArray[np.int64]  # (nb,) FIXED, HINGE, UNIVERSAL, BALL or FREE
    position_start: NDArray[np.int64]  # (nb,) first entry of the joint in q
    velocity_start: NDArray[np.int64]  # (nb,) first entry of the joint in v
    offset_position: NDArray[np.float64]  # (nb, 3) frame at rest, in the parent's frame, m
    offset_quaternion: NDArray[np.float64]  # (nb, 4) the same, w-x-y-z
    axis: NDArray[np.float64]  # (nb, 2, 3) unit axes of hinge and universal joints in the body's frame at rest
    mass: NDArray[np.float64]  # (nb,) kg
    center_of_mass: NDArray[np.float64]  # (nb, 3) in the body's frame, m
    inertia: NDArray[np.float64]  # (nb, 3, 3) about the centre of mass, in the body's frame, kg m^2
    velocity_body: NDArray[np.int64]  # (nv,) body that velocity i moves
    velocity_parent: NDArray[np.int64]  # (nv,) next velocity towards the root, -1 at its end: M's sparsity
    stiffness: NDArray[np.float64]  # (nv,) passive spring towards `rest`, N m/rad
    damping: NDArray[np.float64]  # (nv,) passive damper, N m s/rad
    rest: NDArray[np.float64]  # (nq,) positions at which the passive springs are slack
    gravity: NDArray[np.float64]  # (3,) m/s^2


def carried_mass(tree: Tree) -> NDArray[np.float64]:
    """Mass (nv,) that hangs from the joint of each velocity, its own body included, kg."""
    carried = tree.mass.copy()
    for b in range(len(tree.parent) - 1, -1, -1):
        if tree.parent[b] >= 0:
            carried[tree.parent[b]] += carried[b]
    result: NDArray[np.float64] = carried[tree.velocity_body]
    return result
