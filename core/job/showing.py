# SPDX-License-Identifier: GPL-3.0-or-later
"""Simulated states as poses of the source's bones, at the times of the scene's frames."""

import re
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from ..character.tree import Tree
from ..dynamics.kinematics import update_positions
from ..dynamics.workspace import make_workspace
from ..motion import quaternions
from ..motion.body_plan import BodyPlan
from ..motion.cycles import power
from ..motion.fit import Trajectory
from ..motion.quaternions import Array
from ..motion.residuals import move_on, with_residuals
from ..simulation.props import Prop
from ..simulation.recording import between
from .motion import Motion


def bone_poses(motion: Motion, q: Array, sample: Array, lap: NDArray[np.int64]) -> Array:
    """Poses (nf, nb, 4, 4) of the bones for positions (nf, nq), with what the character lacks at the given samples.

    Bones that no body carries go where the clip has them: over the scene's ground, and on by a cycle in each lap.
    """
    like = Trajectory(motion.reference.rate, np.ascontiguousarray(q), np.zeros((len(q), 0)))
    clip = with_residuals(motion.plan, like, motion.residuals.at(sample))
    place, turn = clip.position, clip.orientation
    loose = motion.plan.body < 0
    place[:, loose, 2] += motion.lift
    if motion.reference.cycle is not None:
        move_on(place, turn, lap, motion.reference.cycle, loose)
    if len(motion.way):
        place[..., :2] -= way_at(motion, sample, lap)[:, None]
    return matrices(place, turn)


def way_at(motion: Motion, sample: Array, lap: NDArray[np.int64]) -> Array:
    """The way (nf, 2) by which a motion in place has been carried along at the reference's samples."""
    frames = np.arange(len(motion.way))
    way = np.column_stack([np.interp(sample, frames, motion.way[:, k]) for k in range(2)])
    cycle = motion.reference.cycle
    return way if cycle is None else way + lap[:, None] * np.array(cycle.shift)


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
    """Pairs (n, 2) of a bone and its parent, both parts of bodies: the lines of a stick figure."""
    parent = plan.skeleton.parent
    bones = [b for b in range(len(parent)) if parent[b] >= 0 and plan.own[b] and plan.own[parent[b]]]
    return np.array([(parent[b], b) for b in bones], dtype=np.int64).reshape(-1, 2)


def names_in_rig(plan: BodyPlan) -> dict[str, str]:
    """The rig's own names for bodies and their joints: of the bones that they follow."""
    bones = [plan.skeleton.names[bone] for bone in plan.leader]
    bodies = dict(zip((body.name for body in plan.character.bodies), bones, strict=True))
    return {body.joint.name: bodies[body.name] for body in plan.character.bodies} | bodies


def in_names_of_rig(lines: Sequence[str], called: Mapping[str, str]) -> list[str]:
    """Lines in which bodies stand in quotes, with the rig's names for them."""
    return [re.sub(r"'(\w+)'", lambda found: f"'{called.get(found[1], found[1])}'", line) for line in lines]


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


def waiting(props: Sequence[Prop], time: Array, poses: Array, dt: float) -> Array:
    """Poses (nf, np, 4, 4) at times (nf,), but what is still to be thrown waits at the place that it is thrown from."""
    found = poses.copy()
    for number, prop in enumerate(props):
        if prop.thrown is not None:
            # the step that throws it begins there
            before = time < prop.thrown + dt - 1e-9
            found[before, number] = np.eye(4)
            found[before, number, :3, 3] = prop.body.position
    return found


def matrices(place: Array, turn: Array) -> Array:
    """Rigid transforms (..., 4, 4)."""
    result = np.zeros((*place.shape[:-1], 4, 4))
    result[..., :3, :3] = quaternions.matrix(turn)
    result[..., :3, 3] = place
    result[..., 3, 3] = 1.0
    return result
