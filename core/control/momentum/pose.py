# SPDX-License-Identifier: GPL-3.0-or-later
"""A pose that has the model's momentum: Ye and Liu 2010, eq. 13 and 14.

Velocities v of the next step minimise

    w1 |v_joints - g1|^2 + w2 sum over limbs |J v - g2|^2     subject to  A v = momentum

with the centroidal map A. A limb is a body that ever bears weight; J is its motion at the middle of the points that do,
turning weighted by the square of LEVER. With v eliminated, (b - b0)^T (A H^-1 A^T)^-1 (b - b0) is left of the
objective for a momentum b, so that eq. 14, in which contact forces may give way to a push, is a small program in the
forces alone.

The paper prints the position terms of g1 and g2 with the sign that leads away from the reference, and w2 = 5, at which
standing feet drift by millimetres; see FOLLOW and FEET.
"""

import numpy as np
from numpy.typing import NDArray

from ...character.tree import Tree
from ...dynamics.centroidal import fill_centroidal_map
from ...dynamics.jacobians import fill_jacobian
from ...dynamics.kinematics import world_point
from ...dynamics.limits import LOWER, UPPER, JointLimits
from ...dynamics.workspace import Workspace
from ...maths.dense import cholesky, cholesky_solve, cholesky_solve_rows, solve_lower
from ...maths.kernel import kernel
from ...maths.structure import Structure
from ...maths.vectors import row
from .forces import ForceWork, solve_rays

Array = NDArray[np.float64]

FOLLOW = 0.2  # share of the joints' way to the reference that each step asks for
FEET = 1e5  # [w2] against [w1] = 1
LEVER = 0.1  # m
FORCES = 0.01  # [w3], 1/N²
LEAST = 1e-6  # weight of the root's velocities, which the limbs and momentum determine
STOP = 5e4  # weight of a joint at the end of its range
ROUNDS = 3  # in which joints are found to reach it


class PoseWork(Structure):
    """Arrays for nv velocities."""

    weight: Array  # (nv, nv) [H], then its factor
    joint: Array  # (nv,) [w1], or LEAST
    target: Array  # (nv,) velocities that the joints should have [g1]
    free: Array  # (nv,) the velocities if nothing held momentum
    jacobian: Array  # (6, nv)
    map: Array  # (6, nv) [A]
    answer: Array  # (nv, 6) H^-1 A^T
    schur: Array  # (6, 6) A H^-1 A^T, then its factor
    free_momentum: Array  # (6,) theirs
    momentum: Array  # (6,) asked for
    push: Array  # (6,) scratch
    limb: Array  # (nl, 6) [g2]
    limb_point: Array  # (nl, 3) in its frame, whose velocity it is
    spread: Array  # (m, 6) rays of eq. 14
    stopped: Array  # (nv,) velocity at which a joint is stopped, NaN where it is not


def make_pose_work(nv: int, limbs: int, rays: int, root: int) -> PoseWork:
    """Allocate; so many velocities are a free root's."""
    joint = np.ones(nv)
    joint[:root] = LEAST
    return PoseWork(
        weight=np.zeros((nv, nv)),
        joint=joint,
        target=np.zeros(nv),
        free=np.zeros(nv),
        jacobian=np.zeros((6, nv)),
        map=np.zeros((6, nv)),
        answer=np.zeros((nv, 6)),
        schur=np.zeros((6, 6)),
        free_momentum=np.zeros(6),
        momentum=np.zeros(6),
        push=np.zeros(6),
        limb=np.zeros((limbs, 6)),
        limb_point=np.zeros((limbs, 3)),
        spread=np.zeros((rays, 6)),
        stopped=np.zeros(nv),
    )


@kernel
def solve_velocities(
    tree: Tree,
    bodies: Workspace,
    limits: JointLimits,
    limb_body: NDArray[np.int64],
    work: PoseWork,
    forces: ForceWork,
    yielding: int,
    dt: float,
    q: Array,
    v: Array,
) -> bool:
    """Fill `v` with eq. 13's answer at the pose q; after `update_mass_matrix`.

    If rays are `yielding` it is eq. 14's: so many of them are changed, and `work.momentum`, which came without theirs,
    is completed. A joint that would leave its range is stopped at its end.
    """
    fill_centroidal_map(bodies, work.map)
    for i in range(v.shape[0]):
        work.stopped[i] = np.nan
    for attempt in range(ROUNDS):
        if not _factor(tree, bodies, limb_body, work):
            return False
        if attempt == 0 and yielding > 0 and not _give_way(work, forces, yielding, dt):
            return False
        # v = free + H^-1 A^T (A H^-1 A^T)^-1 (b - A free)
        for k in range(6):
            work.push[k] = work.momentum[k] - work.free_momentum[k]
        cholesky_solve(work.schur, work.push)
        for i in range(v.shape[0]):
            v[i] = work.free[i]
            for k in range(6):
                v[i] += work.answer[i, k] * work.push[k]
        if not _stop(limits, dt, q, v, work):
            break
    return True


@kernel
def _factor(tree: Tree, bodies: Workspace, limb_body: NDArray[np.int64], work: PoseWork) -> bool:
    """H and its factor, the velocities that would be best without the constraint, and A H^-1 A^T."""
    nv = work.joint.shape[0]
    H, J = work.weight, work.jacobian
    H[:] = 0.0
    for i in range(nv):
        stop = 0.0 if np.isnan(work.stopped[i]) else STOP
        H[i, i] = work.joint[i] + stop
        work.free[i] = work.joint[i] * work.target[i]
        if stop > 0.0:
            work.free[i] += stop * work.stopped[i]
    for limb in range(limb_body.shape[0]):
        b = limb_body[limb]
        fill_jacobian(tree, bodies, b, world_point(bodies, b, row(work.limb_point, limb)), J)
        for k in range(6):
            weight = FEET if k < 3 else FEET * LEVER * LEVER
            i = bodies.last_velocity[b]
            while i >= 0:
                s = weight * J[k, i]
                work.free[i] += s * work.limb[limb, k]
                j = i
                while j >= 0:
                    H[i, j] += s * J[k, j]
                    j = tree.velocity_parent[j]
                i = tree.velocity_parent[i]
    if not cholesky(H, H):
        return False
    cholesky_solve(H, work.free)
    for i in range(nv):
        for k in range(6):
            work.answer[i, k] = work.map[k, i]
    cholesky_solve_rows(H, work.answer)
    for k in range(6):
        s = 0.0
        for i in range(nv):
            s += work.map[k, i] * work.free[i]
        work.free_momentum[k] = s
        for l in range(k + 1):
            s = 0.0
            for i in range(nv):
                s += work.map[k, i] * work.answer[i, l]
            work.schur[k, l] = s
    return cholesky(work.schur, work.schur)


@kernel
def _give_way(work: PoseWork, forces: ForceWork, rays: int, dt: float) -> bool:
    """Eq. 14: rays near those that control wants with which pose and limbs come nearer to what they are to be."""
    for k in range(6):
        work.push[k] = work.momentum[k] - work.free_momentum[k]
    solve_lower(work.schur, work.push)
    for j in range(rays):
        for k in range(6):
            work.spread[j, k] = dt * forces.spread[k, j]
        solve_lower(work.schur, work.spread[j])
    for i in range(rays):
        s = -FORCES * forces.ray[i]
        for k in range(6):
            s += work.spread[i, k] * work.push[k]
        forces.vector[i] = s
        for j in range(i + 1):
            s = 0.0
            for k in range(6):
                s += work.spread[i, k] * work.spread[j, k]
            forces.matrix[i, j] = s
            forces.matrix[j, i] = s
        forces.matrix[i, i] += FORCES
    if not solve_rays(forces, rays):
        return False
    for k in range(6):
        for j in range(rays):
            work.momentum[k] += dt * forces.spread[k, j] * forces.ray[j]
    return True


@kernel
def _stop(limits: JointLimits, dt: float, q: Array, v: Array, work: PoseWork) -> bool:
    """Whether some joint has now to be stopped; one that is beyond its range already may stay there."""
    found = False
    for n in range(limits.kind.shape[0]):
        i, k, bound = limits.position[n], limits.velocity[n], limits.bound[n]
        if limits.kind[n] not in (LOWER, UPPER) or not np.isnan(work.stopped[k]):
            continue
        bound = min(bound, q[i]) if limits.kind[n] == LOWER else max(bound, q[i])
        after = q[i] + dt * v[k]
        if (after < bound) if limits.kind[n] == LOWER else (after > bound):
            work.stopped[k] = (bound - q[i]) / dt
            found = True
    return found
