# SPDX-License-Identifier: GPL-3.0-or-later
"""A walk laid along a path: its cycle again and again, bent the way the path goes, until it stands at the path's end.

A cycle goes its own way, in a period a turn and a shift in the plane (cycle.py). Seen from a frame that glides along
that way evenly, hips sway and arms swing about one place. Each of its samples is set into a frame that glides along the
path instead. A foot that stands is set into it as it is in the middle of its stance, and keeps that place; inverse
kinematics brings its sole there. That is only a target: the lean into a curve is the spacetime optimiser's.

It ends with a stance at the path's end. The frame comes to rest while that foot takes over, the other foot comes down
beside it, and the body moves over both.
"""

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ..character import Character
from ..dynamics import center_of_mass
from . import quaternions
from .cycle import Cycle
from .cycles import GaitCycle
from .fit import Trajectory, pose_at, velocities
from .inverse_kinematics import Targets, reach
from .path import Path
from .planting import Sole, find_soles
from .quaternions import Array
from .schedule import ContactSchedule, contact_points, runs
from .tracks import point_places

STANDS_FOR = 0.8  # s, at the end
LONGER_STEPS = 0.5  # power of a speed's share that longer steps take; quicker ones take the rest
STRETCHED = 1.6  # times the speed, or so much less, at most, for a stance to fall on the path's end
FITTINGS = 4
SLOWEST = 0.2  # m/s: a slower cycle goes nowhere
LAST_SPEED = 1.2  # m/s, from which a step stops
SLOWS_DOWN = 1.5  # m/s², until then
SLACK = 1e-4  # m², of soles
ROOT_MOBILITY, TURN_MOBILITY = 0.01, 0.01  # m² and rad²; joints have 1 rad²


@dataclass(frozen=True)
class Laid:
    """A cycle along a path."""

    trajectory: Trajectory
    schedule: ContactSchedule
    sample: Array  # (nf,) of laps in a row, the first of which is one before the walk begins


class Glide(NamedTuple):
    """A frame that glides over the ground, at n moments."""

    place: Array  # (n, 2)
    heading: Array  # (n,)


class Stance(NamedTuple):
    """A foot's, in samples of laps in a row; between two of them it swings."""

    sole: int
    start: float
    stop: float

    @property
    def middle(self) -> float:
        """When its place in the frame counts."""
        return 0.5 * (self.start + self.stop)


class Timing(NamedTuple):
    """Frame by frame, where the walk is in its laps and on the path; and the two stances with which it ends."""

    sample: Array  # (nf,) of laps in a row
    distance: Array  # (nf,) m
    last: Stance  # at the path's end
    beside: Stance


def lay_along(character: Character, cycle: GaitCycle, row: Trajectory, schedule: ContactSchedule, path: Path) -> Laid:
    """Laps of a cycle in a row and their contacts along a path; ValueError where it is too short to be walked.

    The first lap is the one before, the last are more than the path needs; the second begins where the path does.
    """
    feet = [point.foot for point in schedule.points]
    if schedule.active[:, ~np.array(feet, dtype=np.bool_)].any():
        raise ValueError("Only a walk that stands on its feet alone can follow a path.")
    soles = [sole for sole in find_soles(character, contact_points(character)) if sole.corners]
    own = _OwnWay(cycle)
    stances = _stances(schedule, soles)
    timing = time_steps(stances, path, own.speed, row.rate, float(len(cycle.trajectory.q) - 1))

    def path_at(sample: Array) -> Glide:
        return Glide(*path.at(np.interp(sample, timing.sample, timing.distance)))

    q = np.array([pose_at(character, row.q, x) for x in timing.sample])
    _move(q, own.at(timing.sample), path_at(timing.sample))
    active = schedule.active[np.rint(timing.sample).astype(np.int64)].copy()
    place = np.zeros((len(q), len(schedule.points), 3))
    bodies, local, wanted = [], [], []
    for number, sole in enumerate(soles):
        columns = [i for i, point in enumerate(schedule.points) if point.foot and point.body == sole.body]
        sample = timing.sample
        if number == timing.last.sole:  # it stays in the middle of its stance
            sample = np.minimum(sample, timing.last.middle)
            active[:, columns] |= (timing.sample > sample)[:, None] & schedule.active[
                round(timing.last.middle), columns
            ]
        held = _held(sample, [stance for stance in stances if stance.sole == number])
        there, here = path_at(held), own.at(held)
        bodies += [sole.body] * len(sole.corners)
        local += [corner.position for corner in sole.corners]
        wanted.append(_set_into(_at_fractions(point_places(character, row.q, sole.corners), sample), here, there))
        place[:, columns] = _set_into(schedule.place[np.rint(sample).astype(np.int64)][:, columns], here, there)
    place[~active] = 0.0
    coming = _coming_to_rest(timing)
    q[:, 3:7] = _turned(q[:, 3:7], coming * own.askew(row.q[round(timing.beside.middle)], timing.beside.middle))
    q[:, :2] += coming[:, None] * _over_both(
        character, q[-1], [wanted[one.sole][-1] for one in (timing.last, timing.beside)]
    )
    goals = np.ascontiguousarray(np.concatenate(wanted, axis=1))
    aims = Targets(np.array(bodies, dtype=np.int64), np.array(local), goals, np.full(goals.shape, SLACK))
    mobility = np.ones(character.nv)
    mobility[:3], mobility[3:6] = ROOT_MOBILITY, TURN_MOBILITY
    q = reach(character, q, aims, mobility)
    return Laid(
        Trajectory(row.rate, q, velocities(character, q, row.rate), row.first_frame, row.frames_per_sample),
        ContactSchedule(schedule.points, active, place),
        timing.sample,
    )


def laps_needed(cycle: GaitCycle, path: Path) -> int:
    """How many laps of a cycle a path takes at most, with the one before and what is left over at its end."""
    own = _OwnWay(cycle)
    slowest = min([own.speed, *path.speed.tolist()])
    longer = float((slowest / own.speed) ** LONGER_STEPS)
    return math.ceil(STRETCHED * path.length / (own.speed * longer * cycle.period)) + 4


def time_steps(stances: list[Stance], path: Path, own: float, rate: float, start: float) -> Timing:
    """When which step is where: at the path's speed, all of it a little more or less, so that a stance ends it."""
    scale, length = 1.0, path.length
    for _ in range(FITTINGS):
        sample, distance = _marched(path, scale, own, rate, start, max(stance.stop for stance in stances))
        ends = [
            (abs(_end(stance, sample, distance) - length), stance)
            for stance in stances
            if start < stance.start and stance.stop < sample[-1]
        ]
        last = min(ends)[1] if ends else stances[0]
        scale *= length / max(_end(last, sample, distance), 1e-6)
    if not ends or not 1.0 / STRETCHED < scale < STRETCHED:
        raise ValueError(f"A path of {length:.1f} m is too short to be walked: draw a longer one.")
    beside = next(one for one in stances if one.sole != last.sole and one.middle > last.middle)
    sample, distance = _marched(path, scale, own, rate, start, beside.start)
    down, middle = (float(np.interp(x, sample, distance)) for x in (last.start, last.middle))
    share = np.clip((sample - last.start) / (last.middle - last.start), 0.0, 1.0)
    slowing = down + (middle - down) * (share - 0.5 * share**2)
    distance = np.where(sample > last.start, slowing, distance)
    left, pace = beside.middle - beside.start, sample[-1] - sample[-2]
    count = max(round(2.0 * left / pace), 2)
    share = np.minimum(np.arange(1, count + round(STANDS_FOR * rate) + 1) / count, 1.0)
    sample = np.concatenate([sample, sample[-1] + (beside.middle - sample[-1]) * (2.0 * share - share**2)])
    distance = np.concatenate([distance, np.full(len(share), distance[-1])])
    return Timing(sample, distance, last, beside)


def _marched(path: Path, scale: float, own: float, rate: float, start: float, stop: float) -> tuple[Array, Array]:
    """Samples and distances frame by frame, until the sample `stop`."""
    samples, distances = [start], [0.0]
    while samples[-1] < stop:
        left = max(path.length - distances[-1], 0.0)
        wanted = min(path.speed_at(len(samples) / rate, own), math.sqrt(LAST_SPEED**2 + 2.0 * SLOWS_DOWN * left))
        speed = scale * wanted
        samples.append(samples[-1] + (speed / own) ** (1.0 - LONGER_STEPS))
        distances.append(distances[-1] + speed / rate)
    return np.array(samples), np.array(distances)


def _end(stance: Stance, sample: Array, distance: Array) -> float:
    """How far the frame comes that comes to rest from when this foot is down to the middle of its stance."""
    down, middle = (float(np.interp(x, sample, distance)) for x in (stance.start, stance.middle))
    return 0.5 * (down + middle)


class _OwnWay:
    """The way of a cycle: a screw in the plane, which its root keeps to on average."""

    def __init__(self, cycle: GaitCycle) -> None:
        step, q = cycle.step, cycle.trajectory.q
        self._period = len(q) - 1
        self._turn, self._shift = step.turn, np.array(step.shift)
        self._center = np.zeros(2)
        if abs(self._turn) > 1e-6:
            self._center = np.linalg.solve(np.eye(2) - step.rotation[:2, :2], self._shift)
        share = np.arange(self._period) / self._period
        self._start = np.mean([self._moved(q[k, :2], -share[k]) for k in range(self._period)], axis=0)
        arm = self._start - self._center
        way = self._turn * np.array([-arm[1], arm[0]]) if abs(self._turn) > 1e-6 else self._shift
        self.speed = float(np.hypot(*way)) / cycle.period
        if self.speed < SLOWEST:
            raise ValueError("The action goes nowhere, so it cannot follow a path: use a walk or a run.")
        self._heading = float(np.arctan2(way[1], way[0]))
        seen = np.array([_yaw(q[k]) for k in range(self._period)]) - (self._heading + share * self._turn)
        self._facing = float(np.arctan2(np.sin(seen).mean(), np.cos(seen).mean()))

    def _moved(self, place: Array, share: float) -> Array:
        """A place that share of a period later."""
        if abs(self._turn) <= 1e-6:
            result: Array = place + share * self._shift
            return result
        turn = Cycle((0.0, 0.0), share * self._turn).rotation[:2, :2]
        turned: Array = self._center + turn @ (place - self._center)
        return turned

    def askew(self, q: Array, sample: float) -> float:
        """By how much hips there are turned away from where they face on average, rad."""
        apart = (self._facing - (_yaw(q) - float(self.at(np.array([sample])).heading[0])) + np.pi) % (2.0 * np.pi)
        return float(apart - np.pi)

    def at(self, sample: Array) -> Glide:
        """The frame that glides along it."""
        share = sample / self._period
        return Glide(np.array([self._moved(self._start, x) for x in share]), self._heading + share * self._turn)


def _yaw(q: Array) -> float:
    """Where a root faces, seen from above, rad."""
    w, x, y, z = q[3:7].tolist()
    return math.atan2(2.0 * (w * z + x * y), 1.0 - 2.0 * (y * y + z * z))


def _stances(schedule: ContactSchedule, soles: list[Sole]) -> list[Stance]:
    """In order of their middles."""
    found = []
    for number, sole in enumerate(soles):
        columns = [i for i, point in enumerate(schedule.points) if point.foot and point.body == sole.body]
        found += [
            Stance(number, float(first), float(stop - 1))
            for first, stop in runs(np.asarray(schedule.active[:, columns].any(axis=1)))
        ]
    return sorted(found, key=lambda stance: stance.middle)


def _held(sample: Array, stances: list[Stance]) -> Array:
    """The sample whose frame a foot is set into: its stance's middle while it stands, going over while it swings."""
    known, there = [], []
    for stance in stances:
        known += [stance.start - 0.5, stance.stop + 0.5]
        there += [stance.middle, stance.middle]
    at = np.searchsorted(known, sample)
    before, after = np.clip(at - 1, 0, len(known) - 1), np.clip(at, 0, len(known) - 1)
    gap = np.maximum(np.take(known, after) - np.take(known, before), 1e-9)
    share = np.clip((sample - np.take(known, before)) / gap, 0.0, 1.0)
    share = share * share * (3.0 - 2.0 * share)
    result: Array = (1.0 - share) * np.take(there, before) + share * np.take(there, after)
    return result


def _at_fractions(tracks: Array, sample: Array) -> Array:
    """Tracks (samples, n, 3) at samples (nf,), fractions allowed."""
    low, high = np.floor(sample).astype(np.int64), np.ceil(sample).astype(np.int64)
    part: Array = (sample - low)[:, None, None]
    result: Array = tracks[low] + part * (tracks[high] - tracks[low])
    return result


def _set_into(spots: Array, here: Glide, there: Glide) -> Array:
    """Spots (nf, n, 3) in the other frame."""
    turn = there.heading - here.heading
    c, s = np.cos(turn)[:, None], np.sin(turn)[:, None]
    x, y = (spots[..., axis] - here.place[:, axis, None] for axis in range(2))
    return np.stack(
        [c * x - s * y + there.place[:, 0, None], s * x + c * y + there.place[:, 1, None], spots[..., 2]], axis=2
    )


def _move(q: Array, here: Glide, there: Glide) -> None:
    """Set roots into the other frame, in place."""
    q[:, :3] = _set_into(q[:, None, :3], here, there)[:, 0]
    q[:, 3:7] = _turned(q[:, 3:7], there.heading - here.heading)


def _coming_to_rest(timing: Timing) -> Array:
    """From 0 (nf,) while the last foot takes over to 1 when the other stands beside it."""
    share = (timing.sample - timing.last.middle) / (timing.beside.middle - timing.last.middle)
    share = np.clip(share, 0.0, 1.0)
    result: Array = share * share * (3.0 - 2.0 * share)
    return result


def _over_both(character: Character, q: Array, soles: list[Array]) -> Array:
    """By what (2,) a body must move for its centre of mass to be over the middle of both soles."""
    result: Array = (np.mean([sole.mean(axis=0) for sole in soles], axis=0) - center_of_mass(character, q))[:2]
    return result


def _turned(turn: Array, angle: Array) -> Array:
    """Orientations (nf, 4) turned about the vertical, rad."""
    spin = np.column_stack([np.cos(0.5 * angle), np.zeros((len(angle), 2)), np.sin(0.5 * angle)])
    return quaternions.continuous(quaternions.multiply(spin, turn))
