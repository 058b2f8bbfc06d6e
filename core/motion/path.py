# SPDX-License-Identifier: GPL-3.0-or-later
"""A path on the ground, and how fast it is gone along: what a curve or a target in the scene becomes."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise

import numpy as np
from scipy.ndimage import gaussian_filter1d

from .quaternions import Array

LONGEST, SHORTEST = 500.0, 0.5  # m
SLOWEST, FASTEST = 0.1, 10.0  # m/s
SPACING = 0.02  # m, between the places by which it is known
ROUNDING = 0.25  # m: nobody turns on the spot in full walk, so corners are cut
BLEND = 1.0  # m from an end, over which rounding moves it aside
AHEAD = 2  # places that tell which way an end leads
USUAL = 1.2  # m/s, of a walk
STANDS = 1.0  # s, at its end
MOST_WAIT = 60.0  # s
TURNING = 0.6  # m, the radius of the tightest turn to a target


def _at_start() -> Array:
    return np.zeros(1)


@dataclass(frozen=True, eq=False)
class Path:
    """Places to go along, from the first to the last, with corners between them rounded; and speeds over time.

    Speeds are linear between their times and stay before the first and after the last. None of them: as fast as the
    motion goes by itself.
    """

    places: Array  # (n, 2) m; heights (n, 3) are left out, for it goes along on the ground
    time: Array = field(default_factory=_at_start)  # (m,) s, rising
    speed: Array = field(default_factory=lambda: np.zeros(0))  # (m,) m/s
    stops: tuple[int, ...] = ()  # numbers of places at which it stands for a while, by methods that can
    wait: float = 0.0  # s, each time
    # where a target is (k, 2) at times (k,), s, for methods that can wait for it; the places are for others
    target_time: Array = field(default_factory=lambda: np.zeros(0))
    target: Array = field(default_factory=lambda: np.zeros((0, 2)))

    def __post_init__(self) -> None:
        places = np.array(self.places, dtype=np.float64)
        if places.ndim != 2 or len(places) < 2 or places.shape[1] not in {2, 3} or not np.isfinite(places).all():
            raise ValueError("A path needs two or more finite places.")
        places = places[:, :2]
        object.__setattr__(self, "places", places)
        for name in ("time", "speed", "target_time"):
            object.__setattr__(self, name, np.array(getattr(self, name), dtype=np.float64).reshape(-1))
        object.__setattr__(self, "target", np.array(self.target, dtype=np.float64).reshape(-1, 2))
        object.__setattr__(self, "stops", tuple(int(stop) for stop in self.stops))
        if len(self.speed) and (len(self.time) != len(self.speed) or (np.diff(self.time) <= 0.0).any()):
            raise ValueError("The speeds along a path need a time each, and the times must increase.")
        if not np.isfinite(self.time).all() or not ((self.speed >= SLOWEST) & (self.speed <= FASTEST)).all():
            raise ValueError(f"The speed along a path must be {SLOWEST:g} to {FASTEST:g} m/s.")
        length = float(np.linalg.norm(np.diff(places, axis=0), axis=1).sum())
        self._check_waiting()
        if not SHORTEST <= length <= LONGEST:
            raise ValueError(f"A path must be {SHORTEST:g} to {LONGEST:g} m long, not {length:.2f} m.")

    def _check_waiting(self) -> None:
        if self.target.shape != (len(self.target_time), 2) or not np.isfinite(self.target).all():
            raise ValueError("The target of a path needs a finite place for each of its times.")
        if not np.isfinite(self.target_time).all() or (np.diff(self.target_time) <= 0.0).any():
            raise ValueError("The times of a path's target must increase.")
        if not 0.0 <= self.wait <= MOST_WAIT:
            raise ValueError(f"The wait on a path must be 0 to {MOST_WAIT:g} s, not {self.wait:g}.")
        ends = [0, *self.stops, len(self.places) - 1]
        if any(a >= b for a, b in pairwise(ends)):
            raise ValueError("The stops of a path must be places of it in order, neither the first nor the last.")
        for a, b in pairwise(ends):
            leg = float(np.linalg.norm(np.diff(self.places[a : b + 1], axis=0), axis=1).sum())
            if self.stops and leg < SHORTEST:
                raise ValueError(f"Between two stops a path must be at least {SHORTEST:g} m long, not {leg:.2f} m.")

    @cached_property
    def _way(self) -> tuple[Array, Array, Array]:
        """Evenly spaced places, rounded; the distance of each; where each leads, rad."""
        return _rounded_way(self.places)

    @property
    def length(self) -> float:
        """Along the rounded path, m."""
        return float(self._way[1][-1])

    def legs(self) -> list[tuple[Array, Array]]:
        """Evenly spaced places (n, 2) and headings (n,) of each leg from one stop to the next, rounded."""
        ends = [0, *self.stops, len(self.places) - 1]
        found = (_rounded_way(self.places[a : b + 1]) for a, b in pairwise(ends))
        return [(even, heading) for even, _, heading in found]

    @property
    def waits(self) -> bool:
        """Whether somebody is to stand on the way."""
        return self.wait > 0.0 and len(self.stops) > 0

    @property
    def follows(self) -> bool:
        """Whether it is the way of who follows a target."""
        return len(self.target) > 0

    def target_at(self, seconds: float) -> tuple[float, float]:
        """Where the target is at a time."""
        x, y = (float(np.interp(seconds, self.target_time, self.target[:, axis])) for axis in range(2))
        return x, y

    def at(self, distance: Array) -> tuple[Array, Array]:
        """Places (n, 2) and headings (n,) at distances along it; straight on before and after."""
        even, known, heading = self._way
        place = np.column_stack([np.interp(distance, known, even[:, axis]) for axis in range(2)])
        angle = np.interp(distance, known, heading)
        beyond = distance - np.clip(distance, 0.0, known[-1])
        return place + beyond[:, None] * np.column_stack([np.cos(angle), np.sin(angle)]), angle

    def seconds(self) -> float:
        """About how long it takes: at a person's pace where the motion's own is meant."""
        speed = float(self.speed.mean()) if len(self.speed) else USUAL
        return self.length / speed + STANDS + (self.wait + 2.0 * STANDS) * len(self.stops)

    def speed_at(self, seconds: float, own: float) -> float:
        """At a time, for a motion whose own speed that is."""
        return float(np.interp(seconds, self.time, self.speed)) if len(self.speed) else own

    def distance_from(self, place: Array) -> Array:
        """How far places (n, 2) are from what was drawn, m."""
        even = _evenly(self.places)
        found = np.empty(len(place))
        for k, one in enumerate(place):
            found[k] = np.linalg.norm(even - one, axis=1).min()
        return found


def towards(start: Sequence[float], heading: float, target: Array, rate: float, speed: float) -> Array:
    """Places (n, 2), one for each of a target's (n, 2): the way of who goes straight for where it is at each moment.

    It turns no faster than a circle of `TURNING` needs, goes at `speed` at most, and stands once it is there.
    """
    here, ahead = np.array(start, dtype=np.float64)[:2], heading
    found = np.empty((len(target), 2))
    step = speed / rate
    for k, place in enumerate(np.asarray(target, dtype=np.float64)[:, :2]):
        found[k] = here
        way = place - here
        far = float(np.hypot(*way))
        if far < step:
            continue
        turn = (np.arctan2(way[1], way[0]) - ahead + np.pi) % (2.0 * np.pi) - np.pi
        ahead += float(np.clip(turn, -step / TURNING, step / TURNING))
        here = here + step * np.array([np.cos(ahead), np.sin(ahead)])
    return found


def _rounded_way(places: Array) -> tuple[Array, Array, Array]:
    even = _evenly(_rounded(_evenly(places)))
    step = np.gradient(even, axis=0)
    heading = np.unwrap(np.arctan2(step[:, 1], step[:, 0]))
    distance = np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(even, axis=0), axis=1))])
    return even, distance, heading


def _evenly(places: Array) -> Array:
    """Places along the same lines, evenly spaced, both ends kept."""
    distance = np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(places, axis=0), axis=1))])
    keep = np.concatenate([[True], np.diff(distance) > 0.0])
    distance, places = distance[keep], places[keep]
    count = max(2, round(distance[-1] / SPACING) + 1)
    wanted = np.linspace(0.0, distance[-1], count)
    return np.column_stack([np.interp(wanted, distance, places[:, axis]) for axis in range(2)])


def _rounded(even: Array) -> Array:
    """Places (n, 2) low-passed along the way. Its ends stay where they are, and lead where they led.

    Beyond an end it is thought to go on as bent as before it: mirrored through it, a bend of a metre's radius would
    lead 11 degrees aside there.
    """
    sigma = ROUNDING / SPACING
    pad = min(int(4.0 * sigma), len(even) - 1)
    padded = np.concatenate([_beyond(even, pad)[::-1], even, _beyond(even[::-1], pad)])
    result: Array = gaussian_filter1d(padded, sigma, axis=0, mode="nearest")[pad : pad + len(even)]
    faded = min(round(BLEND / SPACING), len(even) - 1)
    fading = np.clip(1.0 - np.arange(len(even)) / faded, 0.0, 1.0)
    fading = (fading * fading * (3.0 - 2.0 * fading))[:, None]
    aside = even[[0, -1]] - result[[0, -1]]
    result += fading * aside[0] + fading[::-1] * aside[1]
    return result


def _beyond(even: Array, count: int) -> Array:
    """So many places (count, 2) before the first, the nearest first: those after it, mirrored across the way."""
    ahead = even[min(AHEAD, len(even) - 1)] - even[0]
    ahead /= max(float(np.linalg.norm(ahead)), 1e-9)
    after = even[1 : 1 + count] - even[0]
    mirrored: Array = even[0] + after - 2.0 * (after @ ahead)[:, None] * ahead
    return mirrored
