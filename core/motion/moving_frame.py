# SPDX-License-Identifier: GPL-3.0-or-later
"""The frame that moves along with a walk, and the walk set into one that moves otherwise.

A cycle goes its own way, in a period a turn and a shift in the plane (cycle.py). Seen from a frame that glides along
that way evenly, hips sway and arms swing about one place. Each of its samples may be set into a frame that glides
elsewhere. A foot that stands is set into it as it is at one moment of its stance, and keeps that place.
"""

import math
from typing import NamedTuple

import numpy as np

from ..character import Character
from ..dynamics import center_of_mass
from . import quaternions
from .cycle import Cycle
from .planting import Sole
from .quaternions import Array
from .schedule import ContactSchedule, runs

SLOWEST = 0.2  # m/s: a slower cycle goes nowhere


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


class OwnWay:
    """The way of a cycle: a screw in the plane, which its root keeps to on average."""

    def __init__(self, q: Array, step: Cycle, rate: float) -> None:
        """Of a cycle's frames 0 to N, the last of which is the first moved on by the step."""
        self._period = len(q) - 1
        self._turn, self._shift = step.turn, np.array(step.shift)
        self._center = np.zeros(2)
        if abs(self._turn) > 1e-6:
            self._center = np.linalg.solve(np.eye(2) - step.rotation[:2, :2], self._shift)
        share = np.arange(self._period) / self._period
        self._start = np.mean([self._moved(q[k, :2], -share[k]) for k in range(self._period)], axis=0)
        arm = self._start - self._center
        way = self._turn * np.array([-arm[1], arm[0]]) if abs(self._turn) > 1e-6 else self._shift
        self.speed = float(np.hypot(*way)) * rate / self._period
        if self.speed < SLOWEST:
            raise ValueError("The action goes nowhere, so it cannot follow a path: use a walk or a run.")
        self._heading = float(np.arctan2(way[1], way[0]))
        seen = np.array([yaw_of(q[k]) for k in range(self._period)]) - (self._heading + share * self._turn)
        self._facing = float(np.arctan2(np.sin(seen).mean(), np.cos(seen).mean()))

    def _moved(self, place: Array, share: float) -> Array:
        """A place that share of a period later."""
        if abs(self._turn) <= 1e-6:
            result: Array = place + share * self._shift
            return result
        turn = Cycle((0.0, 0.0), share * self._turn).rotation[:2, :2]
        moved: Array = self._center + turn @ (place - self._center)
        return moved

    def askew(self, q: Array, sample: float) -> float:
        """By how much hips there are turned away from where they face on average, rad."""
        apart = (self._facing - (yaw_of(q) - float(self.at(np.array([sample])).heading[0])) + np.pi) % (2.0 * np.pi)
        return float(apart - np.pi)

    def at(self, sample: Array) -> Glide:
        """The frame that glides along it."""
        share = sample / self._period
        return Glide(np.array([self._moved(self._start, x) for x in share]), self._heading + share * self._turn)


def yaw_of(q: Array) -> float:
    """Where a root faces, seen from above, rad."""
    w, x, y, z = q[3:7].tolist()
    return math.atan2(2.0 * (w * z + x * y), 1.0 - 2.0 * (y * y + z * z))


def stances_of(schedule: ContactSchedule, soles: list[Sole]) -> list[Stance]:
    """In order of their middles."""
    found = []
    for number, sole in enumerate(soles):
        columns = [i for i, point in enumerate(schedule.points) if point.foot and point.body == sole.body]
        found += [
            Stance(number, float(first), float(stop - 1))
            for first, stop in runs(np.asarray(schedule.active[:, columns].any(axis=1)))
        ]
    return sorted(found, key=lambda stance: stance.middle)


def held_at(sample: Array, stances: list[Stance]) -> Array:
    """The sample whose frame a foot is set into: its stance's middle while it stands, going over while it swings."""
    known, there = [], []
    for stance in stances:
        known += [stance.start - 0.5, stance.stop + 0.5]
        there += [stance.middle, stance.middle]
    return eased(sample, known, there)


def eased(sample: Array, known: list[float], there: list[float]) -> Array:
    """What is known at rising samples, and goes over smoothly between them."""
    at = np.searchsorted(known, sample)
    before, after = np.clip(at - 1, 0, len(known) - 1), np.clip(at, 0, len(known) - 1)
    gap = np.maximum(np.take(known, after) - np.take(known, before), 1e-9)
    share = np.clip((sample - np.take(known, before)) / gap, 0.0, 1.0)
    share = share * share * (3.0 - 2.0 * share)
    result: Array = (1.0 - share) * np.take(there, before) + share * np.take(there, after)
    return result


def at_fractions(tracks: Array, sample: Array) -> Array:
    """Tracks (samples, n, 3) at samples (nf,), fractions allowed."""
    low, high = np.floor(sample).astype(np.int64), np.ceil(sample).astype(np.int64)
    part: Array = (sample - low)[:, None, None]
    result: Array = tracks[low] + part * (tracks[high] - tracks[low])
    return result


def set_into(spots: Array, here: Glide, there: Glide) -> Array:
    """Spots (nf, n, 3) in the other frame."""
    turn = there.heading - here.heading
    c, s = np.cos(turn)[:, None], np.sin(turn)[:, None]
    x, y = (spots[..., axis] - here.place[:, axis, None] for axis in range(2))
    return np.stack(
        [c * x - s * y + there.place[:, 0, None], s * x + c * y + there.place[:, 1, None], spots[..., 2]], axis=2
    )


def move(q: Array, here: Glide, there: Glide) -> None:
    """Set roots into the other frame, in place."""
    q[:, :3] = set_into(q[:, None, :3], here, there)[:, 0]
    q[:, 3:7] = turned(q[:, 3:7], there.heading - here.heading)


def over_both(character: Character, q: Array, soles: list[Array]) -> Array:
    """By what (2,) a body must move for its centre of mass to be over the middle of both soles."""
    result: Array = (np.mean([sole.mean(axis=0) for sole in soles], axis=0) - center_of_mass(character, q))[:2]
    return result


def turned(turn: Array, angle: Array) -> Array:
    """Orientations (nf, 4) turned about the vertical, rad."""
    spin = np.column_stack([np.cos(0.5 * angle), np.zeros((len(angle), 2)), np.sin(0.5 * angle)])
    return quaternions.continuous(quaternions.multiply(spin, turn))
