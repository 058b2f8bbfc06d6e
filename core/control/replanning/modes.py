# SPDX-License-Identifier: GPL-3.0-or-later
"""Modes of a character linearised at a pose, Jain and Liu 2011, sections 3 and 4.

    M q'' + K q = b + f,    K phi = omega^2 M phi,    Phi^T M Phi = 1,    Phi^T K Phi = Omega

K [K] is diagonal: the stiffness of each joint is the mass of all that it carries (section 7; kilograms are read as
N m/rad), and none holds the root. So six modes are rigid: the whole body moves as one. An eigensolver would mix them
with each other; here they are written down. With the root's rows r and the joints' rows j of M, and M_rr = L L^T,

    Phi = | L^-T   -L^-T V Phi_j |      V = L^-1 M_rj,    M^ = M_jj - V^T V,    K_j Phi_j = M^ Phi_j Omega
          |  0         Phi_j     |

The columns of L^-T are translations, and rotations made orthogonal to them: about the centre of mass. With
Phi_j = K^(-1/2) Y Omega^(1/2) what is left is a symmetric eigenproblem, K^(-1/2) M^ K^(-1/2) Y = Y Omega^-1.
"""

import math

import numpy as np
from numpy.typing import NDArray

from ...character.tree import Tree, carried_mass
from ...maths.dense import cholesky
from ...maths.kernel import kernel
from ...maths.structure import Structure
from ...maths.symmetric_eigen import symmetric_eigen

Array = NDArray[np.float64]

RIGID = 6


class Modes(Structure):
    """Modes (nv), rigid ones first, then by frequency; as rows, so that a row times J^T is a mode's answer."""

    shape: Array  # (nv, nv) Phi^T: row m is mode m in velocities
    square: Array  # (nv,) omega^2, (rad/s)^2
    joint: Array  # (nv - 6, nv - 6) scratch: M^, then scaled
    vectors: Array  # (nv - 6, nv - 6) scratch: Y^T
    inverse: Array  # (nv - 6,) scratch: 1 / omega^2
    root: Array  # (6, 6) scratch: L, then its inverse
    coupling: Array  # (6, nv - 6) scratch: V
    scratch: Array  # (2, nv - 6)


def make_modes(nv: int) -> Modes:
    """Allocate."""
    joints = nv - RIGID
    return Modes(
        shape=np.zeros((nv, nv)),
        square=np.zeros(nv),
        joint=np.zeros((joints, joints)),
        vectors=np.zeros((joints, joints)),
        inverse=np.zeros(joints),
        root=np.zeros((RIGID, RIGID)),
        coupling=np.zeros((RIGID, joints)),
        scratch=np.zeros((2, joints)),
    )


def subtree_stiffness(tree: Tree) -> Array:
    """Stiffness (nv,) of each velocity: the mass that its joint carries, in N m/rad; none at the root."""
    stiffness = carried_mass(tree)
    stiffness[tree.velocity_body == 0] = 0.0
    return stiffness


@kernel
def update_modes(mass_matrix: Array, stiffness: Array, modes: Modes) -> bool:
    """Fill `modes`; the mass matrix may be larger than the modes. False if it is not positive definite."""
    nv = modes.square.shape[0]
    joints = nv - RIGID
    L, V, joint, shape = modes.root, modes.coupling, modes.joint, modes.shape
    if not cholesky(mass_matrix[:RIGID, :RIGID], L):
        return False
    for i in range(RIGID):
        for j in range(joints):
            V[i, j] = mass_matrix[i, RIGID + j]
        for k in range(i):
            for j in range(joints):
                V[i, j] -= L[i, k] * V[k, j]
        for j in range(joints):
            V[i, j] /= L[i, i]
    _invert_lower(L)
    for i in range(joints):
        for j in range(joints):
            joint[i, j] = mass_matrix[RIGID + i, RIGID + j]
        for k in range(RIGID):
            for j in range(joints):
                joint[i, j] -= V[k, i] * V[k, j]
        for j in range(joints):
            joint[i, j] /= math.sqrt(stiffness[RIGID + i] * stiffness[RIGID + j])
    if not symmetric_eigen(joint, modes.vectors, modes.inverse, modes.scratch) or not modes.inverse[0] > 0.0:
        return False
    for m in range(RIGID):
        modes.square[m] = 0.0
        shape[m, :] = 0.0
        for i in range(m + 1):
            shape[m, i] = L[m, i]
    for m in range(joints):
        e = joints - 1 - m
        square = 1.0 / modes.inverse[e]
        modes.square[RIGID + m] = square
        mode = shape[RIGID + m]
        for j in range(joints):
            mode[RIGID + j] = modes.vectors[e, j] * math.sqrt(square / stiffness[RIGID + j])
        _follow_with_root(L, V, mode)
    return True


@kernel
def _follow_with_root(inverse: Array, V: Array, mode: Array) -> None:
    """The root's part of a mode whose joints' is known: -L^-T V Phi_j."""
    mode[:RIGID] = 0.0
    for i in range(RIGID):
        s = 0.0
        for j in range(V.shape[1]):
            s += V[i, j] * mode[RIGID + j]
        for k in range(i + 1):
            mode[k] -= inverse[i, k] * s


@kernel
def _invert_lower(L: Array) -> None:
    """Replace a lower triangle by its inverse."""
    for j in range(L.shape[0]):
        L[j, j] = 1.0 / L[j, j]
        for i in range(j + 1, L.shape[0]):
            s = 0.0
            for k in range(j, i):
                s -= L[i, k] * L[k, j]
            L[i, j] = s / L[i, i]


@kernel
def low_modes(square: Array, threshold: float) -> int:
    """The first of the high-frequency modes (section 4): those from six on to there are low."""
    first = RIGID
    while first < square.shape[0] and square[first] < threshold:
        first += 1
    return first


@kernel
def to_modes(modes: Modes, generalized: Array, out: Array) -> None:
    """What each mode (nv,) is pushed by under a generalised force (nv,): Phi^T f."""
    for m in range(out.shape[0]):
        s = 0.0
        for i in range(out.shape[0]):
            s += modes.shape[m, i] * generalized[i]
        out[m] = s


@kernel
def displacement_to_modes(mass_matrix: Array, modes: Modes, change: Array, scratch: Array, out: Array) -> None:
    """Modal coordinates (nv,) of a displacement or velocity (nv,): Phi^-1 = Phi^T M."""
    for i in range(out.shape[0]):
        s = 0.0
        for j in range(out.shape[0]):
            s += mass_matrix[i, j] * change[j]
        scratch[i] = s
    to_modes(modes, scratch, out)
