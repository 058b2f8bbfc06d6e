# SPDX-License-Identifier: GPL-3.0-or-later
"""Simulated states as poses of the source's bones, at the times of the scene's frames."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..character.tree import Tree
from ..dynamics.kinematics import difference_positions, integrate_positions, update_positions
from ..dynamics.workspace import make_workspace
from ..motion import quaternions
from ..motion.body_plan import BodyPlan
from ..motion.cycles import power
from ..motion.fit import Trajectory
from ..motion.lay_back import lay_back, move_on
from ..motion.quaternions import Array
from .preparing import Motion


class Moment(NamedTuple):
    """Where a frame lies: between states `state` and the next, and the reference's frame there."""

    state: int
    share: float  # of the way to the next state


def moment(frame: int, fps: float, rate: float, last: int) -> Moment:
    """That of a frame counted from the first; it does not lie beyond state `last`."""
    place = min(frame / fps * rate, float(last))
    state = min(int(place + 1e-9), max(last - 1, 0))
    return Moment(state, max(place - state, 0.0))


def between(tree: Tree, before: Array, after: Array, share: float) -> Array:
    """Positions on the geodesic from one state's to the next's."""
    way, q = np.zeros(len(tree.velocity_body)), np.zeros(len(before))
    difference_positions(tree, before, after, way)
    integrate_positions(tree, before, way, share, q)
    return q


def bone_poses(motion: Motion, q: Array, sample: Array, lap: NDArray[np.int64]) -> Array:
    """Poses (nf, nb, 4, 4) of the bones for positions (nf, nq), with what the character lacks at the given samples.

    Bones that no body carries go where the clip has them: over the scene's ground, and on by a cycle in each lap.
    """
    like = Trajectory(motion.reference.rate, np.ascontiguousarray(q), np.zeros((len(q), 0)))
    clip = lay_back(motion.plan, like, motion.residuals.at(sample))
    place, turn = clip.position, clip.orientation
    loose = motion.plan.body < 0
    place[:, loose, 2] += motion.lift
    if motion.reference.cycle is not None:
        move_on(place, turn, lap, motion.reference.cycle, loose)
    return matrices(place, turn)


def source_poses(motion: Motion, sample: Array, lap: NDArray[np.int64]) -> Array:
    """The source's own positions (nf, nq) at samples of the reference, in the laps that they are walked in."""
    tree, reference = motion.plan.character.tree, motion.reference
    last = len(motion.source) - 1
    found = np.zeros((len(sample), motion.source.shape[1]))
    for q, at, number in zip(found, np.clip(sample, 0.0, last), lap.tolist(), strict=True):
        before = int(at)
        q[:] = between(tree, motion.source[before], motion.source[min(before + 1, last)], float(at) - before)
        if reference.cycle is not None and number != 0:
            q[:] = power(reference.cycle, number).move_state(reference.character, q, np.zeros(reference.v.shape[1]))[0]
    if reference.character.bodies[0].joint.kind == "free":
        found[:, 2] += motion.lift
    return found


def carried_lines(plan: BodyPlan) -> NDArray[np.int64]:
    """Pairs (n, 2) of a bone and its parent, both carried by bodies: the lines of a stick figure."""
    parent = plan.skeleton.parent
    bones = [b for b in range(len(parent)) if parent[b] >= 0 and plan.body[b] >= 0 and plan.body[parent[b]] >= 0]
    return np.array([(parent[b], b) for b in bones], dtype=np.int64).reshape(-1, 2)


def prop_poses(tree: Tree, first: int, q: Array) -> Array:
    """Poses (nf, np, 4, 4) of the bodies from `first` on, for the whole system's positions (nf, nq)."""
    work = make_workspace(tree)
    places, turns = [], []
    for row in q:
        update_positions(tree, work, np.ascontiguousarray(row))
        places.append(work.position[first:].copy())
        turns.append(work.quaternion[first:].copy())
    count = len(tree.parent) - first
    place, turn = np.array(places).reshape(len(q), count, 3), np.array(turns).reshape(len(q), count, 4)
    return matrices(place, turn)


def matrices(place: Array, turn: Array) -> Array:
    """Rigid transforms (..., 4, 4)."""
    result = np.zeros((*place.shape[:-1], 4, 4))
    result[..., :3, :3] = quaternions.matrix(turn)
    result[..., :3, 3] = place
    result[..., 3, 3] = 1.0
    return result
