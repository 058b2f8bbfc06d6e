# SPDX-License-Identifier: GPL-3.0-or-later
"""Which points touch when: labels from height and speed over the ground.

A point comes to touch where it is low and slow, and touches until it is high or fast: two pairs of thresholds, so that
noise between them does not flicker. A run that this gives is then trimmed at both ends to where the point is about as
low as in the middle of the run, or hardly moves: a heel that is still coming down carries nothing yet, and a contact
force on it would have to jump. Times are in seconds and speeds are taken over the same span at any rate.

A low and slow hand is not a hand that carries weight: it may be picking up a box. Points other than the feet's count
where the feet alone could not hold the body: where the zero moment point, at which the ground's force must act, lies
outside their support.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ..character import Character
from ..contact.terrain import Plane, Terrain, make_terrain
from .fit import Trajectory
from .quaternions import Array
from .resample import smoothed
from .rolling import touch_velocities
from .schedule import ContactPoint, ContactSchedule, Interval, Mask, contact_points, from_intervals, runs
from .strides import pushing
from .tracks import center_of_mass_path, ground_under, point_places, velocities

DIRECTIONS = 64  # in which the outline of a support is sampled
ACCELERATION_CUTOFF = 6.0  # Hz
MOVING_CUTOFF = 6.0  # Hz, of what a point holds on to
SAME_PLACE = 0.1  # m: a point so near to one that rests on something is part of it
LONGEST_UNSUPPORTED = 0.25  # s that a body may be held up by nothing: so much an optimiser bridges by a leap
SLOW = 0.05  # m/s: slower than this, all samples of a stance count alike for its place


@dataclass(frozen=True)
class LabelSettings:
    """Thresholds, in SI units."""

    on_height: float = 0.035
    on_speed: float = 0.4
    off_height: float = 0.06
    off_speed: float = 0.9
    on_smear: float = 0.1  # of what a body goes faster than `walks`: so much quicker feet seem that few frames show
    off_smear: float = 0.2
    walks: float = 2.0  # m/s
    full_rate: float = 120.0  # frames per second, at which nothing is smeared
    shortest: float = 5.0 / 120.0  # s, of a contact
    shortest_other: float = 0.15  # s, of a contact of anything but a foot
    longest_gap: float = 5.0 / 120.0  # s, within a contact
    trim_height: float = 0.013  # above the contact's median height
    trim_slow_height: float = 0.026  # the same for a point slower than
    trim_speed: float = 0.3
    held_up: float = 5.8  # m/s²: something pushes up a body whose centre of mass does not fall at more than g less this
    held_height: float = 0.11  # m: in deep squats the feet of captures float as high as this
    held_way: float = 0.08  # m along the ground, which a foot that holds the body may stray meanwhile
    floats: float = 0.25  # s: a foot that holds the body from in the air for so long is one that the capture lets float
    float_height: float = 0.13  # m, of its lower end
    float_way: float = 0.12  # m along the ground
    flat: float = 0.055  # m from end to end: one that is tilted by more stands on its lower end, if that is down there
    skims: float = 0.3  # m/s up or down: a foot that glides on the ground goes along it
    mostly_skims: float = 0.5  # of the time without any other support feet skim the ground
    longest_leap: float = LONGEST_UNSUPPORTED  # s
    mostly: float = 0.8  # of the time without any other support a foot that sweeps over the ground is near it
    shortest_sweep: float = 0.1  # s: for less than that a body without support is one that has just left, or will land
    hand_height: float = 0.16  # m over the ground, and m/s: the middle of a hand that the body stands on
    hand_speed: float = 1.0
    hands_mostly: float = 0.6  # of the time without any other support hands are there that carry
    reach: float = 0.05  # m beyond the feet's support, where the weight must be for other points to carry it


@dataclass(frozen=True)
class Grab:
    """A point that holds on during given frames, by the source's numbers."""

    point: ContactPoint
    start_frame: float
    end_frame: float
    pulls: bool = True  # or only pushes, within friction, as on a cushion


class Contact(NamedTuple):
    """Frames by the source's numbers, both included, in which a point touches: what an animator sees and edits."""

    point: str
    first_frame: float
    last_frame: float


def level_ground() -> Terrain:
    """The plane z = 0."""
    return make_terrain([Plane()])


def label(
    character: Character,
    trajectory: Trajectory,
    terrain: Terrain | None = None,
    *,
    settings: LabelSettings | None = None,
    grabs: Sequence[Grab] = (),
    start: float = 0.0,
) -> ContactSchedule:
    """The contacts of a trajectory with the ground (z = 0 unless given), and its grabs.

    `start` is the time of the first sample, for ground that moves. Planned places are where each point is in its
    slowest moments; `clean_up` plans them with care for whole feet.
    """
    use = settings or LabelSettings()
    points = contact_points(character)
    rate = trajectory.rate
    places = point_places(character, trajectory.q, points)
    radius = np.array([point.radius for point in points])
    ground = ground_under(terrain or level_ground(), places, radius, rate, start)
    moves = touch_velocities(character, trajectory.q, points, places, ground.normal, rate)
    speed = np.linalg.norm(moves - ground.velocity, axis=2)
    active = np.zeros(speed.shape, dtype=np.bool_)
    path = center_of_mass_path(character, trajectory.q)
    faster = _smeared(path, trajectory, use)
    for i in range(len(points)):
        active[:, i] = _touching(ground.height[:, i], speed[:, i], rate, use, faster)
    foot = np.array([point.foot for point in points], dtype=np.bool_)
    push = upward_push(path, rate, float(character.gravity[2]))
    held = from_intervals([grab.point for grab in grabs], _grabbed(trajectory, grabs), len(active)).any(axis=1)
    nothing = np.asarray((push[:, 2] > use.held_up) & ~active.any(axis=1) & ~held)
    bodies = [point.body for point in points if point.foot]
    active[:, foot] = _holding(
        active[:, foot], bodies, places[:, foot], ground.height[:, foot], speed[:, foot], nothing, rate, use
    )
    active[:, foot] = pushing(active[:, foot], bodies, ground.height[:, foot], speed[:, foot], path, push, rate)
    still_nothing = nothing & ~active[:, foot].any(axis=1)
    active[:, foot] |= _sweeping(ground.height[:, foot], still_nothing, rate, use)
    hands = [i for i, point in enumerate(points) if point.name.endswith("_hand")]
    still_nothing = nothing & ~active[:, foot].any(axis=1)
    active[:, hands] |= _on_hands(ground.height[:, hands], speed[:, hands], still_nothing, rate, use)
    outside = distance_from_support(places, active & foot, zero_moment_point(path, push, places, active & foot))
    for i in np.flatnonzero(~foot):
        for first, stop in runs(active[:, i]):
            bears = np.mean(outside[first:stop] > use.reach) > 0.5
            active[first:stop, i] = bears and stop - first >= use.shortest_other * rate
    if grabs:
        points, active, places, speed = _with_grabs(character, trajectory, grabs, points, active, places, speed)
        active = _without_covered(points, active, places)
    return ContactSchedule(points, active, _planned(points, active, places, speed, rate))


def contacts_of(trajectory: Trajectory, schedule: ContactSchedule) -> list[Contact]:
    """A schedule's contacts by the source's frames."""
    return [Contact(point, trajectory.frame(start), trajectory.frame(end)) for point, start, end in schedule.intervals]


def relabel(
    character: Character,
    trajectory: Trajectory,
    schedule: ContactSchedule,
    contacts: Iterable[tuple[str, float, float]],
) -> ContactSchedule:
    """The schedule after an animator's edit of its contacts; grabs, which are said elsewhere, stay."""
    intervals = _intervals(trajectory, contacts)
    active = from_intervals(schedule.points, intervals, len(schedule.active))
    grabs = [i for i, point in enumerate(schedule.points) if point.grab or point.moves or point.rests]
    active[:, grabs] = schedule.active[:, grabs]
    places = point_places(character, trajectory.q, schedule.points)
    speed = np.linalg.norm(velocities(places, trajectory.rate), axis=2)
    return ContactSchedule(schedule.points, active, _planned(schedule.points, active, places, speed, trajectory.rate))


def upward_push(path: Array, rate: float, gravity: float) -> Array:
    """What the ground gives the centre of mass, as an acceleration (nf, 3): its own less gravity."""
    acceleration = np.zeros_like(path)
    if len(path) > 2:
        acceleration[1:-1] = (path[2:] - 2.0 * path[1:-1] + path[:-2]) * rate**2
        acceleration[0], acceleration[-1] = acceleration[1], acceleration[-2]
        acceleration = smoothed(acceleration, rate, ACCELERATION_CUTOFF)
    result: Array = acceleration - np.array([0.0, 0.0, gravity])
    return result


def zero_moment_point(path: Array, push: Array, places: Array, active: Mask) -> Array:
    """Where on the ground a force along `push` through the centre of mass acts (nf, 2).

    The body's own angular momentum is left out. The ground is as high as the lowest of the points that touch.
    """
    height = np.where(active, places[..., 2], np.inf).min(axis=1, initial=np.inf)
    known = np.isfinite(height)
    if not known.any():
        return path[:, :2]
    frame = np.arange(len(path))
    height = np.interp(frame, frame[known], height[known])
    lean = push[:, :2] / np.maximum(push[:, 2:], 1.0)
    result: Array = path[:, :2] - (path[:, 2] - height)[:, None] * lean
    return result


def distance_from_support(places: Array, active: Mask, point: Array) -> Array:
    """How far (nf,) a point of the ground (nf, 2) lies outside the convex hull of what touches; infinite without any.

    The distance to a convex set is the largest, over all directions, of the point's advance on the set's outline.
    """
    angle = 2.0 * np.pi * np.arange(DIRECTIONS) / DIRECTIONS
    direction = np.stack([np.cos(angle), np.sin(angle)])
    outline = np.where(active[:, :, None], places[:, :, :2] @ direction, -np.inf).max(axis=1, initial=-np.inf)
    result: Array = np.maximum((point @ direction - outline).max(axis=1), 0.0)
    return result


def _smeared(path: Array, trajectory: Trajectory, use: LabelSettings) -> Array:
    """By how much (nf,) a body goes faster than it walks, m/s, as far as its source has too few frames to show it.

    Between two of few frames a runner's foot hardly stops.
    """
    few = max(1.0 - trajectory.rate * trajectory.frames_per_sample / use.full_rate, 0.0)
    if few == 0.0 or len(path) < 3:
        return np.zeros(len(path))
    going = np.gradient(smoothed(path[:, :2], trajectory.rate, ACCELERATION_CUTOFF), axis=0) * trajectory.rate
    result: Array = few * np.maximum(np.linalg.norm(going, axis=1) - use.walks, 0.0)
    return result


def _touching(height: Array, speed: Array, rate: float, use: LabelSettings, faster: Array) -> Mask:
    """The contacts (nf,) of one point."""
    on = (height < use.on_height) & (speed < use.on_speed + use.on_smear * faster)
    stays = (height < use.off_height) & (speed < use.off_speed + use.off_smear * faster)
    active = np.zeros(len(height), dtype=np.bool_)
    for start, stop in runs(stays):
        first = np.flatnonzero(on[start:stop])
        if len(first):
            active[start + first[0] : stop] = True
    active = regular(active, rate, use)
    for start, stop in runs(active):
        middle = float(np.median(height[start:stop]))
        good = (height[start:stop] < middle + use.trim_height) | (
            (speed[start:stop] < use.trim_speed) & (height[start:stop] < middle + use.trim_slow_height)
        )
        inner = np.flatnonzero(good)
        active[start:stop] = False
        active[start + inner[0] : start + inner[-1] + 1] = True
    return regular(active, rate, use)


def regular(active: Mask, rate: float, use: LabelSettings) -> Mask:
    """Without short gaps, then without short runs. At the ends of the clip a run may have begun before or go on."""
    result = active.copy()
    gap, shortest = round(use.longest_gap * rate), round(use.shortest * rate)
    for start, stop in runs(~result):
        if start > 0 and stop < len(result) and stop - start <= gap:
            result[start:stop] = True
    for start, stop in runs(result):
        if start > 0 and stop < len(result) and stop - start < shortest:
            result[start:stop] = False
    return result


def _holding(
    active: Mask,
    bodies: Sequence[int],
    places: Array,
    height: Array,
    speed: Array,
    nothing: Mask,
    rate: float,
    use: LabelSettings,
) -> Mask:
    """The feet's contacts (nf, points) with those that there must be where `nothing` touches and yet it does not fall.

    `active` says what touches of the feet, whose `bodies` are given. Where nothing does, the lower end of every foot
    must that is near the ground and hardly moves. Where nothing does for long, in a deep squat, the capture lets feet
    float and its heights say nothing: those that rest lie flat, from their first touch to their last in that place. A
    foot that is tilted was not meant to, and tells by its lower end.
    """
    result = active.copy()
    for start, stop in runs(nothing):
        part = slice(start, stop)
        middle, tilted = np.median(height[part], axis=0), np.zeros(len(bodies), dtype=np.bool_)
        for body in set(bodies):
            both = np.array([i for i, other in enumerate(bodies) if other == body])
            tilted[both] = np.ptp(middle[both]) > use.flat
            if stop - start < use.floats * rate or tilted[both].any():
                continue
            first, last = _resting(places[:, both], height[:, both], speed[:, both], start, stop, use)
            if last > first:
                touches = first + np.flatnonzero(active[first:last, both].any(axis=1))
                flat = np.concatenate([touches, [start, stop - 1]])
                result[flat.min() : flat.max() + 1, both] = True
        way = np.linalg.norm(places[part, :, :2] - np.median(places[part, :, :2], axis=0), axis=2).max(axis=0)
        highest = height[part].max(axis=0)
        stays = (way < use.held_way) & (np.median(speed[part], axis=0) < use.off_speed) & (highest < use.held_height)
        stays &= ~tilted | (middle < use.off_height)
        for body in set(bodies):
            ends = [i for i, other in enumerate(bodies) if other == body and stays[i]]
            if ends:
                result[part, min(ends, key=lambda i: float(highest[i]))] = True
    for i in range(active.shape[1]):
        result[:, i] = regular(result[:, i], rate, use)
    return result


def _sweeping(height: Array, nothing: Mask, rate: float, use: LabelSettings) -> Mask:
    """The feet's contacts (nf, points) where `nothing` touches and yet it does not fall: those of feet on the ground.

    Where feet skim the ground for most of the time, as who skates or slides on them, those that do. Else a foot that is
    near it: however fast it goes along the ground, turns or trembles, it is on it and stays there, for nothing else
    carries.
    """
    lowest: Array = height.min(axis=1, initial=np.inf)
    rising = np.abs(velocities(height, rate))
    near = np.asarray(height < use.on_height)
    skims = np.asarray(near & (height < lowest[:, None] + use.trim_height) & (rising < use.skims))
    result: Mask = np.zeros(height.shape, dtype=np.bool_)
    for start, stop in runs(nothing):
        part = slice(start, stop)
        if stop - start >= use.longest_leap * rate and skims[part].any(axis=1).mean() > use.mostly_skims:
            result[part] = skims[part]
            for column in result.T:
                column[part] = regular(column[part], rate, use)
        elif stop - start >= use.shortest_sweep * rate:
            result[part] = _lone(height[part], near[part], use)
    return result


def _lone(height: Array, near: Mask, use: LabelSettings) -> Mask:
    """Of a stretch without any other support the contacts (n, points) that are near the ground nearly all the time."""
    low = np.asarray(near.mean(axis=0) >= use.mostly)
    if not low.any():
        return np.zeros(height.shape, dtype=np.bool_)
    middle = np.median(height, axis=0)
    came = np.maximum.accumulate(near, axis=0) & np.maximum.accumulate(near[::-1], axis=0)[::-1]
    return np.asarray(came & low & (middle < middle[low].min() + use.trim_height))


def _on_hands(height: Array, speed: Array, nothing: Mask, rate: float, use: LabelSettings) -> Mask:
    """The hands' contacts (nf, hands) where nothing else touches and yet it does not fall: of cartwheels, handstands.

    A hand's point is its middle: who stands on the palm or on the fingers has it a hand's length over the ground.
    """
    near = np.asarray((height < use.hand_height) & (speed < use.hand_speed) & nothing[:, None])
    for start, stop in runs(nothing):
        if near[start:stop].any(axis=1).mean() < use.hands_mostly:
            near[start:stop] = False
    return np.stack([regular(one, rate, use) for one in near.T], axis=1) if near.size else near


def _resting(places: Array, height: Array, speed: Array, start: int, stop: int, use: LabelSettings) -> tuple[int, int]:
    """Around frames start to stop - 1, those in which a foot of these ends (nf, ends) is where it is then.

    None where it is not at rest.
    """
    middle = np.median(places[start:stop, :, :2], axis=0)
    way = np.linalg.norm(places[:, :, :2] - middle, axis=2).max(axis=1)
    there = np.asarray((way < use.float_way) & (height.min(axis=1) < use.float_height))
    if np.median(speed[start:stop], axis=0).max() >= use.off_speed:
        return start, start
    return next(((first, last) for first, last in runs(there) if first <= start and stop <= last), (start, start))


def _with_grabs(
    character: Character,
    trajectory: Trajectory,
    grabs: Sequence[Grab],
    points: tuple[ContactPoint, ...],
    active: Mask,
    places: Array,
    speed: Array,
) -> tuple[tuple[ContactPoint, ...], Mask, Array, Array]:
    """The same with a point for every grab."""
    held = tuple(grab.point._replace(grab=grab.pulls, rests=not grab.pulls, foot=False) for grab in grabs)
    unique = tuple(dict.fromkeys(held))
    taken = {point.name for point in points}
    for point in unique:
        if point.name in taken:
            raise ValueError(f"A grab cannot have the name of the contact point '{point.name}'.")
    intervals = _grabbed(trajectory, grabs)
    there = point_places(character, trajectory.q, unique)
    fast = np.linalg.norm(velocities(there, trajectory.rate), axis=2)
    return (
        points + unique,
        np.concatenate([active, from_intervals(unique, intervals, len(active))], axis=1),
        np.concatenate([places, there], axis=1),
        np.concatenate([speed, fast], axis=1),
    )


def _without_covered(points: Sequence[ContactPoint], active: Mask, places: Array) -> Mask:
    """The contacts without those of points that are where another rests on something: they are the same contact."""
    known = np.array([point.foot or point.grab for point in points], dtype=np.bool_)
    rests = np.array([point.rests for point in points], dtype=np.bool_)
    result = active.copy()
    for i in np.flatnonzero(~known & ~rests):
        for j in np.flatnonzero(rests):
            same = np.linalg.norm(places[:, i] - places[:, j], axis=1) < SAME_PLACE
            result[:, i] &= ~(active[:, j] & same)
    return result


def _grabbed(trajectory: Trajectory, grabs: Sequence[Grab]) -> list[Interval]:
    return _intervals(trajectory, [(grab.point.name, grab.start_frame, grab.end_frame) for grab in grabs])


def _intervals(trajectory: Trajectory, contacts: Iterable[tuple[str, float, float]]) -> list[Interval]:
    """Contacts by samples."""
    return [Interval(point, trajectory.sample(first), trajectory.sample(last)) for point, first, last in contacts]


def _planned(points: Sequence[ContactPoint], active: Mask, places: Array, speed: Array, rate: float) -> Array:
    """One place per contact: the mean, weighted towards slow samples; the way of a point that moves, low-passed."""
    place = np.zeros_like(places)
    for i, point in enumerate(points):
        if point.moves:
            place[:, i] = np.where(active[:, i, None], smoothed(places[:, i], rate, MOVING_CUTOFF), 0.0)
            continue
        for start, stop in runs(active[:, i]):
            weight = 1.0 / (speed[start:stop, i] + SLOW) ** 2
            place[start:stop, i] = weight @ places[start:stop, i] / weight.sum()
    return place
