# SPDX-License-Identifier: GPL-3.0-or-later
"""A motion as it is keyed, with the least help: every motion has this answer, and no iteration is needed for it.

The states are given, so each step asks for one generalised force, by the step's own equation (dynamics/stepping.py),

    F = (M + D)(q_{k+1}) (v_{k+1} - v_free) / dt,        v_free: where the step leads to without any force.

Contact forces within friction's pyramid take as much of its root's part as they can, by non-negative least squares over
the pyramids' edges; help takes the rest of the root's part, motors that of the joints.
"""

from itertools import pairwise

import numpy as np
import scipy.linalg
import scipy.optimize
from numpy.typing import NDArray

from ...character import Character
from ...dynamics import difference, mass_matrix, point_jacobian, step
from ..cycle import Cycle
from .help import HELPERS, weight_of
from .problem import Iterate, Problem

Array = NDArray[np.float64]

ARM = 0.3  # m: a moment counts as a force at its end
EFFORT = 0.03  # of a newton of contact force against one of help


def fill_as_keyed(character: Character, problem: Problem, iterate: Iterate, cycle: Cycle | None) -> None:
    """States of the clip, with the torques, contact forces and help that lead from each to the next."""
    q, v = iterate.q, iterate.v
    q[:] = problem.clip_q
    ways = np.array([difference(character, a, b) for a, b in pairwise(q)]) / problem.dt
    v[:-1] = ways
    v[-1] = ways[-1] if cycle is None else cycle.move_state(character, q[0], ways[0])[1]
    iterate.force[:] = 0.0
    start, dt = problem.motors_start, problem.dt
    diagonal = dt * (character.tree.damping + dt * character.tree.stiffness)
    none = np.zeros(character.nv - start)
    for k in range(len(q) - 1):
        free = step(character, q[k], v[k], none, dt)[1]
        force = (mass_matrix(character, q[k + 1]) + np.diag(diagonal)) @ (v[k + 1] - free) / dt
        used = problem.force_point[k, : problem.force_count[k]]
        for p, along in _contact_forces(character, problem, k, used[used < problem.outside_first], q[k + 1], force):
            iterate.force[k, p] = along
            J = problem.force_axes[k + 1, p] @ point_jacobian(
                character, q[k + 1], int(problem.point_body[p]), problem.point_local[k + 1, p]
            )
            force -= J.T @ along
        iterate.torque[k] = force[start:]
        if start:
            iterate.force[k, problem.help_first :] = _given_by_helpers(character, q[k + 1], force[:start])


def _contact_forces(
    character: Character, problem: Problem, k: int, used: NDArray[np.int64], q: Array, force: Array
) -> list[tuple[int, Array]]:
    """Points and their forces along the contacts' axes, which take as much as can be of the root's force (6,)."""
    if len(used) == 0 or problem.motors_start == 0:
        return []
    scale = np.array([1.0, 1.0, 1.0, 1.0 / ARM, 1.0 / ARM, 1.0 / ARM])
    friction, sides = float(problem.faces[0, 2]), len(problem.faces)
    angle = 2.0 * np.pi * np.arange(sides) / sides
    edges = np.column_stack((friction * np.cos(angle), friction * np.sin(angle), np.ones(sides)))
    pulls = np.concatenate((np.eye(3), -np.eye(3)))
    spread, wrench = [], []
    for p in used:
        directions: Array = pulls if problem.grab[p] else edges
        J = point_jacobian(character, q, int(problem.point_body[p]), problem.point_local[k + 1, p])[:, :6]
        spread.append(directions)
        wrench.append((scale * (directions @ problem.force_axes[k + 1, p] @ J)).T)
    columns = np.concatenate(wrench, axis=1)
    system = np.concatenate((columns, EFFORT * np.eye(columns.shape[1])))
    target = np.concatenate((scale * force[:6], np.zeros(columns.shape[1])))
    try:
        share, _ = scipy.optimize.nnls(system / weight_of(character), target / weight_of(character))
    except RuntimeError:  # it went round in circles: help can carry this step too
        return []
    found = scipy.linalg.block_diag(*spread).T @ share
    return [(int(p), found[3 * i : 3 * i + 3]) for i, p in enumerate(used)]


def _given_by_helpers(character: Character, q: Array, force: Array) -> Array:
    """The least forces (helpers, 3) at the helpers' points that add up to the root's generalised force (6,)."""
    J = np.concatenate([point_jacobian(character, q, point.body, np.array(point.position))[:, :6] for point in HELPERS])
    found: Array = np.linalg.lstsq(J.T, force, rcond=None)[0]
    return found.reshape(-1, 3)
