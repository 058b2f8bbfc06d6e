# SPDX-License-Identifier: GPL-3.0-or-later
"""Predicted contact forces that the ground can give: it pushes, and friction holds no more than its share of that.

The idealised system "neglects to consider any nonpenetration and frictional constraints" (Muico et al. 2009, section
4). Pushed backwards, its policy counts on the ground to pull at the toes; what the ground does instead is let the foot
roll onto its heel, where it stays. So the minimum [u~] of eq. 11, of a quadratic function of Hessian H = L L^T, is
sought among possible forces: those of each point satisfy C chi >= 0, |f_x| + |f_y| <= mu f_z, as appendix A has it. A
hand that grips may pull: its forces are free.

Torques come before forces in u, and adapt to whatever forces there are. So the forces alone minimise a quadratic
function of Hessian S = L_22 L_22^T about their free minimum, and with multipliers y of the cones' faces

    chi = chi* + S^-1 C^T y,      0 <= C chi* + C S^-1 C^T y   complementary to   y >= 0.
"""

import math

import numpy as np
from numpy.typing import NDArray

from ...contact import lcp
from ...contact.detection import Contacts
from ...contact.lcp import LcpWorkspace
from ...contact.lcp.workspace import SOLVED
from ...maths.dense import copy_into, solve_lower, solve_lower_transposed
from ...maths.kernel import kernel
from ...maths.products import add_transposed_product
from ...maths.structure import Structure
from .policy import Policy

Array = NDArray[np.float64]

FACES = 4
FRICTION = 1.0  # [mu] of ground that is not near yet


class Cones(Structure):
    """Arrays for up to np points; flat ones are used in the size that the frame's points need."""

    friction: Array  # (np,) [mu] of the frame's points; infinite of those that grip
    half: Array  # (m,) L^-1 times the right-hand side
    faces: Array  # (12 np^2,) [L_22^-1 C^T]
    matrix: Array  # (16 np^2,) [C S^-1 C^T]
    vector: Array  # (4 np,) [C chi*]
    problem: LcpWorkspace


def make_cones(motors: int, points: int) -> Cones:
    """Allocate."""
    return Cones(
        friction=np.full(points, FRICTION),
        half=np.zeros(motors + 3 * points),
        faces=np.zeros(3 * FACES * points**2),
        matrix=np.zeros((FACES * points) ** 2),
        vector=np.zeros(FACES * points),
        problem=lcp.make_workspace(FACES * points),
    )


@kernel
def find_friction(contacts: Contacts, policy: Policy, k: int, out: Array) -> None:
    """What each of frame k's points may count on: the least friction of the terrain that is near its body."""
    for c in range(policy.points[k]):
        p = policy.point[k, c]
        least = np.inf
        if policy.grip[p] == 0:
            for i in range(contacts.filled[0]):
                if contacts.other[i] < 0 and contacts.body[i] == policy.body[p]:
                    least = min(least, contacts.friction[i])
            if math.isinf(least):
                least = FRICTION
        out[c] = least


@kernel
def _along(face: int) -> tuple[float, float]:
    """Components x and y of a face's inward normal; its z is mu."""
    return (1.0 if face % 2 else -1.0), (1.0 if face > 1 else -1.0)


@kernel
def solve_within_cones(factor: Array, motors: int, points: int, cones: Cones, control: Array) -> None:
    """Replace the right-hand side in `control` (m,) by the best possible torques and forces; `factor` (m, m) is L."""
    m = motors + 3 * points
    half = cones.half[:m]
    solve_lower(factor, control)
    copy_into(control, half)
    solve_lower_transposed(factor, control)
    vector, impossible = cones.vector, False
    for p in range(points):
        x, y, z = control[motors + 3 * p], control[motors + 3 * p + 1], control[motors + 3 * p + 2]
        for face in range(FACES):
            along = _along(face)
            # where there is no cone, no multiplier has anything to push
            free = math.isinf(cones.friction[p])
            vector[FACES * p + face] = 1.0 if free else along[0] * x + along[1] * y + cones.friction[p] * z
            impossible |= vector[FACES * p + face] < 0.0
    if not impossible:
        return
    n, rows = FACES * points, 3 * points
    faces = cones.faces[: rows * n].reshape((rows, n))
    _fill_faces(factor, motors, points, cones.friction, faces)
    matrix = cones.matrix[: n * n].reshape((n, n))
    for i in range(n):
        for j in range(n):
            matrix[i, j] = 0.0
    add_transposed_product(faces, faces, matrix, n, rows, n)
    status, _, _ = lcp.solve(cones.problem, matrix, vector, n, lcp.AUTO, False)
    if status != SOLVED:
        return
    # the forces' part of L^T u is that of the free minimum plus the multipliers'; the torques' part stays
    for i in range(rows):
        for j in range(n):
            half[motors + i] += faces[i, j] * cones.problem.z[j]
    copy_into(half, control)
    solve_lower_transposed(factor, control)


@kernel
def _fill_faces(factor: Array, motors: int, points: int, friction: Array, out: Array) -> None:
    """L_22^-1 C^T, without the faces of points that grip."""
    rows, n = out.shape
    for i in range(rows):
        for j in range(n):
            out[i, j] = 0.0
    for p in range(points):
        if math.isinf(friction[p]):
            continue
        for face in range(FACES):
            along = _along(face)
            out[3 * p, FACES * p + face] = along[0]
            out[3 * p + 1, FACES * p + face] = along[1]
            out[3 * p + 2, FACES * p + face] = friction[p]
    for i in range(rows):
        # columns of later points have nothing in this row yet
        end = FACES * (i // 3 + 1)
        for k in range(i):
            a = factor[motors + i, motors + k]
            for j in range(end):
                out[i, j] -= a * out[k, j]
        a = 1.0 / factor[motors + i, motors + i]
        for j in range(end):
            out[i, j] *= a
