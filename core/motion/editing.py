# SPDX-License-Identifier: GPL-3.0-or-later
"""Edits of a trajectory, as an animator makes them: timing, a joint, a limb's end, a transition to another motion.

All are pure functions from trajectory to trajectory. The results need not be physically correct: `make_reference` or
the replanning controllers see to that. Edits at a frame fade in and out over a span around it.
"""

import numpy as np
from numpy.typing import ArrayLike

from ..character import Character
from ..character.tree import BALL, FREE
from ..dynamics import difference, integrate
from . import fit
from .cycle import Cycle
from .cycles import planar_step
from .fit import Trajectory
from .inverse_kinematics import Targets, reach
from .quaternions import Array, continuous
from .schedule import ContactPoint, contact_points
from .tracks import point_places

SLACK = 1e-8  # m², of a point that is put somewhere
ROOT_MOBILITY, TURN_MOBILITY = 0.1, 0.02  # of the root, m² and rad²; joints have 1 rad²


def warped(character: Character, trajectory: Trajectory, at: ArrayLike) -> Trajectory:
    """What the trajectory does at samples `at` (n,), which need not be whole: a time warp.

    Where these are evenly spaced, frames keep the source's numbers, so contacts by frames stay right.
    """
    samples = np.asarray(at, dtype=np.float64)
    last = len(trajectory.q) - 1
    if samples.ndim != 1 or len(samples) < 2 or not (samples.min() >= 0.0 and samples.max() <= last + 1e-9):
        raise ValueError(f"A time warp needs at least two samples between 0 and {last}.")
    before = np.minimum(samples.astype(np.int64), last - 1)
    q = np.array(
        [
            integrate(character, trajectory.q[k], difference(character, trajectory.q[k], trajectory.q[k + 1]), share)
            for k, share in zip(before, samples - before, strict=True)
        ]
    )
    step = float(samples[-1] - samples[0]) / (len(samples) - 1)
    return _made(character, q, trajectory, trajectory.frame(float(samples[0])), step)


def turned_joint(
    character: Character, trajectory: Trajectory, body: str, turn: ArrayLike, frame: float, span: float
) -> Trajectory:
    """The joint of `body` turned further by `turn` (rad, one for each of its velocities) at a frame: an FK edit.

    The edit fades over `span` seconds on either side.
    """
    index = character.index(body)
    start = int(character.tree.velocity_start[index])
    angles = np.atleast_1d(np.asarray(turn, dtype=np.float64))
    ends = [*character.tree.velocity_start.tolist(), character.nv]
    count = min(end for end in ends if end > start) - start if start < character.nv else 0
    if len(angles) != count:
        raise ValueError(f"The joint of '{body}' has {count} angles, not {len(angles)}.")
    change = np.zeros(character.nv)
    change[start : start + count] = angles
    fade = _fade(trajectory, frame, span)
    q = np.array([integrate(character, q, change, share) for q, share in zip(trajectory.q, fade, strict=True)])
    return _made(character, q, trajectory, trajectory.first_frame)


def moved_point(
    character: Character, trajectory: Trajectory, point: ContactPoint, place: ArrayLike, frame: float, span: float
) -> Trajectory:
    """A point of a body moved to a position (3,) at a frame, with the least change of pose: an IK edit.

    Feet other than the body's own stay where they are.
    """
    target = np.asarray(place, dtype=np.float64)
    if target.shape != (3,) or not np.isfinite(target).all():
        raise ValueError("A position needs three finite numbers.")
    fade = _fade(trajectory, frame, span)
    edited = np.asarray(fade > 0.0)
    points = [point, *(one for one in contact_points(character) if one.foot and one.body != point.body)]
    wanted = point_places(character, trajectory.q, points)
    sample = min(max(trajectory.sample(frame), 0), len(trajectory.q) - 1)
    wanted[:, 0] += fade[:, None] * (target - wanted[sample, 0])
    wanted = np.ascontiguousarray(wanted[edited])
    targets = Targets(
        np.array([one.body for one in points], dtype=np.int64),
        np.array([one.position for one in points], dtype=np.float64),
        wanted,
        np.full(wanted.shape, SLACK),
    )
    mobility = np.ones(character.nv)
    if character.tree.joint[0] == FREE:
        mobility[:3], mobility[3:6] = ROOT_MOBILITY, TURN_MOBILITY
    q = trajectory.q.copy()
    q[edited] = reach(character, trajectory.q[edited], targets, mobility)
    return _made(character, q, trajectory, trajectory.first_frame)


def joined(character: Character, first: Trajectory, second: Trajectory, seconds: float) -> Trajectory:
    """One motion after another, blended over an interval: the end of the first with the start of the second.

    The second is brought to where the first ends, turned about the vertical; frames are numbered as the first's.
    """
    if character.tree.joint[0] != FREE:
        raise ValueError("Only a character with a free root can make a transition between motions.")
    if first.rate != second.rate:
        raise ValueError(
            f"Motions of {first.rate:g} and {second.rate:g} samples per second cannot be joined: resample one of them."
        )
    overlap = round(seconds * first.rate) + 1
    if not 2 <= overlap <= min(len(first.q), len(second.q)):
        raise ValueError(
            f"A transition of {seconds:g} s does not fit: it must be longer than 0 s and shorter than both motions."
        )
    # where both are half-way through the transition they meet
    middle = overlap // 2
    step: Cycle = planar_step(second.q[middle], first.q[len(first.q) - overlap + middle])
    still = np.zeros(character.nv)
    moved = np.array([step.move_state(character, q, still)[0] for q in second.q])
    x = np.linspace(0.0, 1.0, overlap)
    blended = [
        integrate(character, a, difference(character, a, b), share)
        for a, b, share in zip(first.q[-overlap:], moved[:overlap], x * x * (3.0 - 2.0 * x), strict=True)
    ]
    q = np.concatenate([first.q[:-overlap], np.array(blended), moved[overlap:]])
    return _made(character, q, first, first.first_frame)


def _fade(trajectory: Trajectory, frame: float, span: float) -> Array:
    """A share (nf,): 1 at the frame, 0 from `span` seconds away on."""
    if not span > 0.0:
        raise ValueError(f"An edit must fade over more than 0 s, not {span} s.")
    away = np.abs(np.arange(len(trajectory.q)) - trajectory.sample(frame)) / (span * trajectory.rate)
    x = np.clip(1.0 - away, 0.0, 1.0)
    result: Array = x * x * (3.0 - 2.0 * x)
    return result


def _made(character: Character, q: Array, like: Trajectory, first_frame: float, step: float = 1.0) -> Trajectory:
    """Positions as a trajectory, their quaternions without jumps of sign."""
    tree = character.tree
    for start, joint in zip(tree.position_start, tree.joint, strict=True):
        if joint in {BALL, FREE}:
            turn = slice(start + 3, start + 7) if joint == FREE else slice(start, start + 4)
            q[:, turn] = continuous(q[:, turn])
    q = np.ascontiguousarray(q)
    v = fit.velocities(character, q, like.rate)
    return Trajectory(like.rate, q, v, first_frame, like.frames_per_sample * step)
