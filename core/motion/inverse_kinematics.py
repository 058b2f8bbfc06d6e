# SPDX-License-Identifier: GPL-3.0-or-later
"""Points brought to targets with the least change of pose: regularised least squares on the manifold.

For the change e of the pose, q = q_0 (+) e, and the residuals r of all points, minimise

    sum_i e_i^2 / W_i + sum_j r_j^2 / D_j

where W (mobility) says how willingly a velocity moves, and D (slack) how near a point must come. One Gauss-Newton step:

    e <- W J^T (J W J^T + D)^-1 (r + J e)

A system as large as the residuals, not the pose; as D goes to zero the targets are met exactly, by the least change.
(S. R. Buss, "Introduction to Inverse Kinematics with Jacobian Transpose, Pseudoinverse and Damped Least Squares
methods", 2004, section 6, has the step from e = 0.)
"""

import numpy as np
from numpy.typing import NDArray

from ..character import Character
from ..character.parts import Range
from ..character.tree import HINGE, UNIVERSAL, VELOCITIES_OF_JOINT, Tree
from ..dynamics.jacobians import fill_jacobian
from ..dynamics.kinematics import integrate_positions, update_positions, world_point
from ..dynamics.workspace import Workspace, make_workspace
from ..maths.dense import cholesky, cholesky_solve, copy_into
from ..maths.kernel import kernel
from ..maths.structure import Structure
from ..maths.vectors import row
from .quaternions import Array

ITERATIONS = 20
CONVERGED = 1e-5  # rad or m
LONGEST_STEP = 0.2  # rad or m, of any velocity in one iteration


class Targets(Structure):
    """Points (np) of bodies and where they should be in every frame (nf)."""

    body: NDArray[np.int64]  # (np,)
    position: Array  # (np, 3) in the body's frame, m
    place: Array  # (nf, np, 3) in the world, m
    slack: Array  # (nf, np, 3) D along the world's axes, m²


def reach(character: Character, q: Array, targets: Targets, mobility: Array) -> Array:
    """Positions (nf, nq) near q that bring the points to their targets, as far as joints with ranges allow.

    `mobility` (nv,) is W; zero for velocities that shall not move.
    """
    tree, rows = character.tree, 3 * len(targets.body)
    lower, upper = np.full(character.nq, -np.inf), np.full(character.nq, np.inf)
    for index, joint in enumerate(character.joints):
        if isinstance(joint.limits, tuple):
            for axis, limit in enumerate(joint.limits):
                assert isinstance(limit, Range)
                entry = tree.position_start[index] + axis
                # a pose that is beyond already may stay there
                lower[entry] = min(limit.lower, float(q[:, entry].min()))
                upper[entry] = max(limit.upper, float(q[:, entry].max()))
    result = np.array(q, order="C")
    _reach(
        tree,
        make_workspace(tree),
        result,
        targets,
        np.ascontiguousarray(mobility),
        lower,
        upper,
        *_chains(tree, targets),
        np.zeros((rows, character.nv)),
        np.zeros((6, character.nv)),
        np.zeros((rows, rows)),
        np.zeros(rows),
        np.zeros(character.nv),
        np.zeros(character.nv),
        np.zeros(character.nv),
        np.zeros(character.nv),
        np.zeros(character.nq),
    )
    return result


def _chains(tree: Tree, targets: Targets) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Which velocities move each of the points: how many (np,), and which (np, nv), from the root on."""
    last = make_workspace(tree).last_velocity
    count = np.zeros(len(targets.body), dtype=np.int64)
    chain = np.zeros((len(targets.body), len(tree.velocity_parent)), dtype=np.int64)
    for i, body in enumerate(targets.body):
        found, velocity = [], int(last[body])
        while velocity >= 0:
            found.append(velocity)
            velocity = int(tree.velocity_parent[velocity])
        count[i] = len(found)
        chain[i, : len(found)] = found[::-1]
    return count, chain


@kernel
def _reach(
    tree: Tree,
    work: Workspace,
    q: Array,
    targets: Targets,
    mobility: Array,
    lower: Array,
    upper: Array,
    count: NDArray[np.int64],
    chain: NDArray[np.int64],
    jacobian: Array,
    body_jacobian: Array,
    matrix: Array,
    right: Array,
    step: Array,
    wanted: Array,
    change: Array,
    free: Array,
    start: Array,
) -> None:
    rows, nv = jacobian.shape
    for frame in range(q.shape[0]):
        now = q[frame]
        copy_into(now, start)
        change[:] = 0.0
        copy_into(mobility, free)
        for _ in range(ITERATIONS):
            update_positions(tree, work, now)
            for i in range(targets.body.shape[0]):
                place = world_point(work, targets.body[i], row(targets.position, i))
                fill_jacobian(tree, work, targets.body[i], place, body_jacobian)
                for k in range(3):
                    s = targets.place[frame, i, k] - place[k]
                    for j in range(nv):
                        jacobian[3 * i + k, j] = body_jacobian[k, j]
                        if free[j] > 0.0:  # what has met its range stays there and is part of the pose
                            s += body_jacobian[k, j] * change[j]
                    right[3 * i + k] = s
            for i in range(rows):
                moving = chain[i // 3, : count[i // 3]]
                for k in moving:
                    step[k] = jacobian[i, k] * free[k]
                # four sums at a time: none need wait for the one before it
                for j in range(0, i + 1, 4):
                    if j + 4 <= rows:
                        s0 = s1 = s2 = s3 = 0.0
                        for k in moving:
                            s0 += step[k] * jacobian[j, k]
                            s1 += step[k] * jacobian[j + 1, k]
                            s2 += step[k] * jacobian[j + 2, k]
                            s3 += step[k] * jacobian[j + 3, k]
                        matrix[i, j], matrix[i, j + 1], matrix[i, j + 2], matrix[i, j + 3] = s0, s1, s2, s3
                        continue
                    for other in range(j, i + 1):
                        s = 0.0
                        for k in moving:
                            s += step[k] * jacobian[other, k]
                        matrix[i, other] = s
                matrix[i, i] += targets.slack[frame, i // 3, i % 3]
            if not cholesky(matrix, matrix):
                break
            cholesky_solve(matrix, right)
            largest = 0.0
            wanted[:] = 0.0
            for i in range(rows):
                for k in range(nv):
                    wanted[k] += jacobian[i, k] * right[i]
            for k in range(nv):
                wanted[k] *= mobility[k]
                step[k] = wanted[k] - change[k] if free[k] > 0.0 else 0.0
                largest = max(largest, abs(step[k]))
            share = min(1.0, LONGEST_STEP / max(largest, 1e-300))
            for k in range(nv):
                change[k] += share * step[k]
            integrate_positions(tree, start, change, 1.0, now)
            released = False
            for b in range(tree.joint.shape[0]):
                if tree.joint[b] in (HINGE, UNIVERSAL):
                    for axis in range(VELOCITIES_OF_JOINT[tree.joint[b]]):
                        i, k = tree.position_start[b] + axis, tree.velocity_start[b] + axis
                        if free[k] == 0.0 and lower[i] < start[i] + wanted[k] < upper[i]:
                            free[k] = mobility[k]
                            released = free[k] > 0.0
                        elif now[i] < lower[i] or now[i] > upper[i]:
                            now[i] = min(max(now[i], lower[i]), upper[i])
                            change[k] = now[i] - start[i]
                            free[k] = 0.0
            if largest < CONVERGED and not released:
                break
