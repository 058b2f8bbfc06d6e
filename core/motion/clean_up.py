# SPDX-License-Identifier: GPL-3.0-or-later
"""Feet held still and on the ground while they stand, with what moved written down.

Each stance of a foot gets one planted pose (planting.py). Then

    1. the clip is low-passed at 8 Hz without lag;
    2. the whole body is shifted by what the planted feet ask for, low-passed at 1.5 Hz;
    3. what is left at each point, its planted place less where it is, is faded out over a twelfth of a second before
       and after it stands; the end that stands takes the rest of a foot along; what is under the ground is lifted;
    4. inverse kinematics brings the points there: heel and toe exactly while they stand, and their corners to the
       ground, so that a sole does not roll; along the ground, which is the foot's turn, only as far as it costs little.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from scipy.ndimage import gaussian_filter1d, maximum_filter1d

from ..character import Character
from ..character.tree import BALL, FREE, VELOCITIES_OF_JOINT
from ..contact.terrain import Terrain
from ..dynamics.kinematics import difference_positions
from . import fit
from .fit import Trajectory
from .inverse_kinematics import Targets, reach
from .labels import level_ground
from .planting import Planted, Sole, find_soles, plant
from .quaternions import Array
from .resample import smoothed
from .rolling import is_ball, without_missed
from .rolling import planted as planted_balls
from .schedule import ContactPoint, ContactSchedule, Mask, runs
from .tracks import Ground, ground_under, point_places

CUTOFF = 8.0  # Hz, of the motion
SHIFT_CUTOFF = 1.5  # Hz, of the whole body's shift
FADE = 10.0 / 120.0  # s
STANDS = 1e-7  # m²: slack of points that stand
ROLLS = 3e-4  # m²: of balls on the ground, of which a body that lies has more than it has joints to lay them down
LEVEL = 3e-4  # m²: of the height of corners whose end of the sole stands, and of those that were under the ground
TILTED = 1e-3  # m²: the same where the ankle cannot roll, and a level sole would bend the whole leg
LIKES = 1e-2  # m²: of all others, which keep a foot's turn and its way through the air
PASSES = 3  # of inverse kinematics, after each of which what is under the ground is lifted
DEEP = 2e-4  # m: less than this under the ground is on it
ROOT_MOBILITY, TURN_MOBILITY = 0.1, 0.02  # of the root, m² and rad²; a leg's joints have 1 rad²


class Move(NamedTuple):
    """How far the trajectory was moved from the clip."""

    change: Array  # (nf, nv) after (-) before
    joints: Array  # (nf, bodies) angle of each joint, rad; of a free root its rotation
    root: Array  # (nf, 3) of a free root's place, m
    shift: Array  # (nf, 3) that part of it in which the whole body was shifted, m

    @property
    def joint_rms(self) -> float:
        """RMS change over all frames and joint coordinates, a free root's left out, rad."""
        angles = self.change[:, 6:] if self.root.any() else self.change
        return float(np.sqrt(np.mean(angles**2))) if angles.size else 0.0

    @property
    def root_rms(self) -> float:
        """RMS way of the root, m."""
        return float(np.sqrt(np.mean(np.sum(self.root**2, axis=1))))


class Slide(NamedTuple):
    """A contact, and how far its point strays from its mean place along the ground and below it."""

    point: str
    start_frame: int
    end_frame: int
    before: float  # m
    after: float  # m


@dataclass(frozen=True)
class CleanMotion:
    """A trajectory whose feet stand, and how it came about."""

    trajectory: Trajectory
    schedule: ContactSchedule  # with planted places
    held: ContactSchedule  # the same at the corners of soles, as a reference is to hold them
    moved: Move
    slides: tuple[Slide, ...]
    penetration_before: float  # m, of corners
    penetration_after: float  # m
    lines: tuple[str, ...]  # pivots and glides, for the report


def clean_up(
    character: Character,
    trajectory: Trajectory,
    schedule: ContactSchedule,
    terrain: Terrain | None = None,
    *,
    cutoff: float | None = CUTOFF,
) -> CleanMotion:
    """The trajectory with its feet planted where and when the schedule says they stand; None for no low-pass."""
    ground = terrain or level_ground()
    rate, clip = trajectory.rate, np.array(trajectory.q, order="C")
    soles = find_soles(character, schedule.points)
    planted, lines = plant(character, trajectory, schedule, soles, ground)
    q = clip if cutoff is None else low_passed(character, clip, rate, cutoff)
    goals = _goals(character, soles, planted)
    points, bound = goals.points, goals.bound
    radius = np.array([point.radius for point in points])
    places = point_places(character, q, points)
    shift = _shift(goals.stands, goals.place - places, rate)
    free = character.tree.joint[0] == FREE
    if free:
        q[:, :3] += shift
        places += shift[:, None]
    missing = goals.place - places
    carried, along = _carried(goals, missing, rate)
    target = places + faded(along, carried, rate) + faded(bound, missing - carried, rate)
    slack = np.where(
        np.repeat(goals.stands[:, :, None], 3, axis=2), np.where(goals.firm, STANDS, ROLLS)[:, :, None], LIKES
    )
    slack[..., 2] = np.where(bound[..., 2], np.minimum(slack[..., 2], goals.level), slack[..., 2])
    mobility = np.ones(character.nv)
    if free:
        mobility[:3], mobility[3:6] = ROOT_MOBILITY, TURN_MOBILITY
    shifted = q
    found = target
    for _ in range(PASSES):
        # what is deep in the ground where it would like to be, or where it came to be, is to be lifted out of there
        lift = _lift(goals.stands, ground_under(ground, found, radius, rate), rate)
        if not lift.any() and found is not target:
            break
        raised = np.asarray(lift.any(axis=2))
        target = (
            np.where(raised[:, :, None], np.stack([target[..., 0], target[..., 1], found[..., 2]], axis=2), target)
            + lift
        )
        slack[..., 2] = np.where(raised, np.minimum(slack[..., 2], goals.level), slack[..., 2])
        q = reach(character, shifted, _targets(points, target, slack), mobility)
        found = point_places(character, q, points)
    v = fit.velocities(character, q, rate)
    result = Trajectory(rate, q, v, trajectory.first_frame, trajectory.frames_per_sample)
    before, after = point_places(character, clip, points), point_places(character, q, points)
    return CleanMotion(
        result,
        planted.schedule,
        without_missed(character, q, rate, planted.held, ground),
        moved_by(character, clip, q, shift if free else np.zeros_like(shift)),
        slides(character, clip, q, planted.schedule),
        max(0.0, -float(ground_under(ground, before, radius, rate).height.min(initial=0.0))),
        max(0.0, -float(ground_under(ground, after, radius, rate).height.min(initial=0.0))),
        tuple(lines),
    )


def low_passed(character: Character, q: Array, rate: float, cutoff: float) -> Array:
    """Positions through a Butterworth filter of fourth order in all, run forwards and backwards.

    Its pass band is flat, where a Gaussian of that cutoff would take a tenth off a runner's swing. Quaternions are
    filtered by components, which for turns this slow differs from the manifold's mean by the cube of their angles.
    """
    if cutoff >= 0.45 * rate or len(q) < 4:
        return q.copy()
    from scipy.signal import butter, sosfiltfilt  # a third of a second, which a bake saves whose reference is at hand

    # Forwards and backwards the gain is squared: this factor keeps -3 dB at the cutoff (Winter 2009, section 2.2.4.4).
    corrected = min(cutoff / (np.sqrt(2.0) - 1.0) ** 0.25, 0.49 * rate)
    sections = butter(2, corrected, fs=rate, output="sos")
    result: Array = sosfiltfilt(sections, q, axis=0, padlen=min(len(q) - 1, round(rate / cutoff * 3.0)))
    tree = character.tree
    for body, joint in enumerate(tree.joint):
        if joint in {BALL, FREE}:
            first = tree.position_start[body] + (3 if joint == FREE else 0)
            part = result[:, first : first + 4]
            part /= np.linalg.norm(part, axis=1, keepdims=True)
    return np.ascontiguousarray(result)


def moved_by(character: Character, before: Array, after: Array, shift: Array) -> Move:
    """How far positions (nf, nq) were moved, joint by joint."""
    tree = character.tree
    joints, root = np.zeros((len(before), len(tree.joint))), np.zeros((len(before), 3))
    change = np.zeros((len(before), character.nv))
    for frame, way in enumerate(change):
        difference_positions(tree, before[frame], after[frame], way)
    for body, joint in enumerate(tree.joint):
        first = int(tree.velocity_start[body])
        last = first + VELOCITIES_OF_JOINT[joint]
        joints[:, body] = np.linalg.norm(change[:, first + (3 if joint == FREE else 0) : last], axis=1)
    if tree.joint[0] == FREE:
        root[:] = change[:, :3]
    return Move(change, joints, root, shift)


def slides(character: Character, before: Array, after: Array, schedule: ContactSchedule) -> tuple[Slide, ...]:
    """Every contact of a foot, with what its point does along the ground."""
    feet = [i for i, point in enumerate(schedule.points) if point.foot]
    old, new = (point_places(character, q, [schedule.points[i] for i in feet]) for q in (before, after))
    found = []
    for column, i in enumerate(feet):
        for start, stop in runs(schedule.active[:, i]):
            for first, last in _constant(schedule.place[start:stop, i], start):
                strays = [
                    float(
                        np.linalg.norm(
                            places[first:last, column] - places[first:last, column].mean(axis=0), axis=1
                        ).max()
                    )
                    for places in (old, new)
                ]
                found.append(Slide(schedule.points[i].name, first, last - 1, strays[0], strays[1]))
    return tuple(found)


class _Goals(NamedTuple):
    """Points (n): heels, toes and whatever else bears weight, then the corners of the soles."""

    points: tuple[ContactPoint, ...]
    stands: Mask  # (nf, n) when they stand; never, for corners
    bound: Mask  # (nf, n, 3) when `place` is meant, along the world's axes
    place: Array  # (nf, n, 3)
    level: Array  # (n,) slack in height of corners on the ground
    firm: Mask  # (nf, n) when that must be exact


def _goals(character: Character, soles: list[Sole], planted: Planted) -> _Goals:
    """What is planted, point by point."""
    schedule = planted.schedule
    used = [i for i, point in enumerate(schedule.points) if point.foot or schedule.active[:, i].any()]
    points = [schedule.points[i] for i in used]
    stands = [schedule.active[:, i] for i in used]
    bound = [np.repeat(one[:, None], 3, axis=1) for one in stands]
    place = [schedule.place[:, i] for i in used]
    level = [LEVEL] * len(used)
    balls = np.array([is_ball(point) for point in points], dtype=np.bool_)
    exact = ~balls | planted_balls(character, schedule.points, schedule.place, schedule.active)[:, used]
    firm = list(exact.T)
    for sole in soles:
        flat = schedule.active[:, list(sole.points)].all(axis=1)
        for corner, end in zip(sole.corners, sole.end, strict=True):
            arm = np.array(corner.position) - sole.middle
            points.append(corner)
            level.append(LEVEL if sole.rolls else TILTED)
            firm.append(np.ones_like(flat))
            stands.append(np.zeros_like(flat))
            bound.append(np.stack([flat, flat, schedule.active[:, end]], axis=1))
            place.append(planted.middle[sole.body] + planted.rotation[sole.body] @ arm)
    return _Goals(
        tuple(points),
        np.stack(stands, axis=1),
        np.stack(bound, axis=1),
        np.stack(place, axis=1),
        np.array(level),
        np.stack(firm, axis=1),
    )


def _targets(points: Sequence[ContactPoint], place: Array, slack: Array) -> Targets:
    """For inverse kinematics."""
    return Targets(
        np.array([point.body for point in points], dtype=np.int64),
        np.array([point.position for point in points], dtype=np.float64).reshape(-1, 3),
        np.ascontiguousarray(place),
        np.ascontiguousarray(slack),
    )


def _shift(active: Mask, missing: Array, rate: float) -> Array:
    """The whole body's way (nf, 3) towards its planted corners, slow and smooth."""
    count = active.sum(axis=1)
    known = count > 0
    if not known.any():
        return np.zeros((len(active), 3))
    total = np.where(active[:, :, None], missing, 0.0).sum(axis=1)
    frame = np.arange(len(active))
    mean = np.stack([np.interp(frame, frame[known], total[known, k] / count[known]) for k in range(3)], axis=1)
    return smoothed(mean, rate, SHIFT_CUTOFF)


def _carried(goals: _Goals, missing: Array, rate: float) -> tuple[Array, Mask]:
    """The way (nf, n, 3) on which points are taken along by those of their body that stand, and when (nf, n, 3)."""
    carried, along = np.zeros_like(missing), np.zeros(missing.shape, dtype=np.bool_)
    body = np.array([point.body for point in goals.points])
    for b in np.unique(body):
        own = body == b
        stands = goals.stands & own
        count = stands.sum(axis=1)
        mean = np.where(stands[:, :, None], missing, 0.0).sum(axis=1) / np.maximum(count, 1)[:, None]
        standing = np.asarray(count > 0)
        for start, stop in runs(standing):
            # smooth where one end takes over from the other
            mean[start:stop] = gaussian_filter1d(mean[start:stop], 0.3 * FADE * rate, axis=0, mode="nearest")
        carried[:, own] = mean[:, None]
        along[:, own] = standing[:, None, None]
    return carried, along


def faded(bound: Mask, missing: Array, rate: float) -> Array:
    """What is missing (nf, n, 3) while a place is meant; before and after, its first and last value, faded out."""
    frames = len(bound)
    fade = max(1, round(FADE * rate))
    share = np.arange(1, fade + 1) / (fade + 1)
    ease = 1.0 - share * share * (3.0 - 2.0 * share)
    result = np.where(bound, missing, 0.0)
    for i, k in np.ndindex(bound.shape[1:]):
        free = ~bound[:, i, k]
        for start, stop in runs(bound[:, i, k]):
            before, after = min(fade, start), min(fade, frames - stop)
            for part, weight, value in (
                (slice(start - before, start), ease[:before][::-1], missing[start, i, k]),
                (slice(stop, stop + after), ease[:after], missing[stop - 1, i, k]),
            ):
                result[part, i, k] += np.where(free[part], weight * value, 0.0)
    return result


def _lift(stands: Mask, under: Ground, rate: float) -> Array:
    """The way out of the ground (nf, n, 3) for points that do not stand, spread over neighbouring frames."""
    depth = np.where(stands | (under.height > -DEEP), 0.0, -under.height)
    half = max(1, round(0.3 * FADE * rate))
    widened = maximum_filter1d(depth, 2 * half + 1, axis=0, mode="nearest")
    smooth = gaussian_filter1d(widened, 0.5 * half, axis=0, mode="nearest", truncate=2.0)
    result: Array = np.where(stands, 0.0, smooth)[:, :, None] * under.normal
    return result


def _constant(place: Array, start: int) -> list[tuple[int, int]]:
    """The stretches, from frame `start` on, in which rows (n, 3) stay the same."""
    edges = np.flatnonzero(np.linalg.norm(np.diff(place, axis=0), axis=1) > 1e-9) + 1
    bounds = [0, *edges.tolist(), len(place)]
    return [(start + a, start + b) for a, b in pairwise(bounds)]
