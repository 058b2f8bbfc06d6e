# SPDX-License-Identifier: GPL-3.0-or-later
"""Flights that are too slow or too quick for gravity: another timing, or another height.

Whoever leaves the ground falls: from take-off at a height z_0 over a top at z to a landing at z_1 a flight takes

    T = sqrt(2 (z - z_0) / g) + sqrt(2 (z - z_1) / g)

whatever the body does meanwhile. Played n times too slowly, it is possible at n times the speed, and so is what leads
to it and what follows on it: the body takes off and lands that much faster. So the keyed height takes another timing,
in which what stands before and after is stretched, and the motion stays as long as it was; and the keyed timing takes
another height, of a parabola from take-off to landing. Poses stay as they are.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Literal, NamedTuple

import numpy as np
from scipy.ndimage import gaussian_filter1d

from ..character import Character
from ..character.tree import FREE
from ..contact.terrain import Terrain
from ..sentences import in_frames
from .fit import Trajectory, body_poses, pose_at, velocities
from .labels import level_ground
from .quaternions import Array
from .schedule import ContactSchedule, runs
from .tracks import center_of_mass_path, ground_under, point_places

Flights = Literal["auto", "timing", "height", "as_keyed"]

LIFTED = 0.04  # m: who is lower still touches, or might
ROLLS = 0.25  # m: whose hands, head or back come lower turns over on them
SHORTEST = 0.15  # s: a shorter flight is one of a run's, whose moments of take-off and landing are not that sure
LEAST_RISE = 0.08  # m over the lower of its ends
PARABOLIC = 0.15  # of the way up and down: who flies and not hangs keeps as near as that to some parabola, RMS
ALIKE = (0.85, 1.18)  # times too slow: between these a flight is taken to be one of gravity's
UNLIKE = (1.0 / 3.0, 3.0)  # beyond these it is another thing than a flight
AROUND = 0.1  # s before and after, which are played at the flight's speed
BLUR = 0.04  # s, within which the speed changes
REACH = 1.2  # s before and after, in which what stands is stretched
STRETCHED, QUICKEST = 2.0, 0.25  # of its length, by which that may grow on average, and what must be left of it
OVER = 0.1  # m: to go higher than that, or less high, takes other legs than the keyed ones
NEAR = 0.03  # m from what was keyed, on average over the motion, up to which flights are mended unasked


class Flight(NamedTuple):
    """Samples from the first to the last in the air."""

    start: int
    stop: int
    slow: float  # times too slow for the height that it reaches; below one it is too quick
    over: float  # m by which it would rise higher at the timing that it has


class Mended(NamedTuple):
    """A motion whose flights are possible."""

    trajectory: Trajectory
    sample: Array  # (nf,) of the motion that was keyed
    lines: tuple[str, ...]  # what was done, or could be, for the report

    def mended_frame(self, frame: float) -> float:
        """Where a frame of the motion that was keyed is now; the same beyond its ends."""
        return self._moved(frame, self.sample, np.linspace(0.0, len(self.sample) - 1, len(self.sample)))

    def keyed_frame(self, frame: float) -> float:
        """Which frame of it was keyed where one is now."""
        return self._moved(frame, np.linspace(0.0, len(self.sample) - 1, len(self.sample)), self.sample)

    def _moved(self, frame: float, before: Array, after: Array) -> float:
        at = (frame - self.trajectory.first_frame) / self.trajectory.frames_per_sample
        inside = 0.0 <= at <= len(self.sample) - 1
        return self.trajectory.frame(float(np.interp(at, before, after))) if inside else frame


def mend_flights(
    character: Character,
    trajectory: Trajectory,
    schedule: ContactSchedule,
    how: Flights,
    terrain: Terrain | None = None,
) -> Mended:
    """The motion with its flights at another timing or height; `auto`: by what changes least, if that is little."""
    flights = find_flights(character, trajectory, schedule, terrain) if how != "as_keyed" else []
    chosen = [_nearest(character, trajectory, flight) if how == "auto" else how for flight in flights]
    mended = _mended(character, trajectory, flights, chosen)
    if how == "auto" and _distance(character, trajectory, mended.trajectory) > NEAR:
        return _mended(character, trajectory, flights, ["as_keyed"] * len(flights))
    return mended


def _nearest(character: Character, trajectory: Trajectory, flight: Flight) -> Flights:
    """What changes least of what can be done: another timing, or another height if it is nearly the same.

    Too quick are those of clips that play too fast as a whole, and dives: they are mended where that is asked for.
    """
    if flight.slow < 1.0:
        return "as_keyed"
    ways: list[Flights] = ["timing", "height"] if abs(flight.over) <= OVER else ["timing"]
    away: dict[Flights, float] = {}
    for way in ways:
        other = _mended(character, trajectory, [flight], [way]).trajectory
        if other is not trajectory:
            away[way] = _distance(character, trajectory, other)
    return min(away, key=lambda way: away[way], default="as_keyed")


def _mended(
    character: Character, trajectory: Trajectory, flights: Sequence[Flight], chosen: Sequence[Flights]
) -> Mended:
    """With flights mended as chosen for each; those for whose timing there is too little around them stay."""
    sample = np.arange(len(trajectory.q), dtype=np.float64)
    timed = [one for one, way in zip(flights, chosen, strict=True) if way == "timing"]
    paced = _paced(trajectory, timed) if timed else sample
    done = ["as_keyed" if way == "timing" and paced is None else way for way in chosen]
    lines = tuple(_line(trajectory, one, way) for one, way in zip(flights, done, strict=True))
    result = trajectory
    if timed and paced is not None:
        sample = paced
        result = _at_pace(character, trajectory, sample, timed)
    raised = [one for one, way in zip(flights, done, strict=True) if way == "height"]
    if raised:
        result = _at_height(character, result, _moved(raised, sample))
    return Mended(result, sample, lines)


def find_flights(
    character: Character, trajectory: Trajectory, schedule: ContactSchedule, terrain: Terrain | None = None
) -> list[Flight]:
    """Flights between two contacts that are plainly too slow or too quick for the height that they reach."""
    if character.tree.joint[0] != FREE or not schedule.points:
        return []
    height, gravity = center_of_mass_path(character, trajectory.q)[:, 2], -float(character.gravity[2])
    places = point_places(character, trajectory.q, schedule.points)
    radius = np.array([point.radius for point in schedule.points])
    over = ground_under(terrain or level_ground(), places, radius, trajectory.rate).height
    foot = np.array([point.foot for point in schedule.points], dtype=np.bool_)
    lowest, other = over.min(axis=1), over[:, ~foot].min(axis=1, initial=np.inf)
    found = []
    for start, after in runs(np.asarray(~schedule.active.any(axis=1) & (lowest > LIFTED))):
        stop = after - 1
        seconds = (stop - start) / trajectory.rate
        if start == 0 or after == len(height) or seconds < SHORTEST or other[start:after].min() < ROLLS:
            continue
        z = height[start : stop + 1]
        top, rise = float(z.max()), float(z.max() - min(z[0], z[-1]))
        if rise < LEAST_RISE or not _is_flight(z, rise):
            continue
        needs = np.sqrt(2.0 * (top - z[0]) / gravity) + np.sqrt(2.0 * (top - z[-1]) / gravity)
        slow = float(seconds / needs)
        if UNLIKE[0] < slow < UNLIKE[1] and not ALIKE[0] < slow < ALIKE[1]:
            found.append(Flight(start, stop, slow, float(_parabola(z, seconds, gravity).max()) - top))
    return found


def _is_flight(height: Array, rise: float) -> bool:
    """Whether heights (n,) go up and down in one bow."""
    time = np.linspace(-1.0, 1.0, len(height))
    bow = np.polyfit(time, height, 2)
    off = float(np.sqrt(np.mean((np.polyval(bow, time) - height) ** 2)))
    return float(bow[0]) < 0.0 and off < PARABOLIC * rise


def _parabola(height: Array, seconds: float, gravity: float) -> Array:
    """A fall from the first of heights (n,) to the last within that time."""
    x = np.linspace(0.0, 1.0, len(height))
    result: Array = height[0] + x * (height[-1] - height[0]) + 0.5 * gravity * seconds**2 * x * (1.0 - x)
    return result


def _paced(trajectory: Trajectory, flights: Sequence[Flight]) -> Array | None:
    """The keyed sample (nf,) of each with flights as quick as they have to be; None where too little stands around."""
    steps, rate = len(trajectory.q) - 1, trajectory.rate
    edge, blur, reach = (round(seconds * rate) for seconds in (AROUND, 3.0 * BLUR, REACH))
    quicker = np.zeros(steps)  # the logarithm of how much shorter each step from sample to sample is to last
    for one in flights:
        quicker[max(one.start - edge, 0) : one.stop + edge] = np.log(one.slow)
    lasts = np.exp(-gaussian_filter1d(quicker, BLUR * rate, mode="nearest"))
    changed = [(max(one.start - edge - blur, 0), min(one.stop + edge + blur, steps)) for one in flights]
    more = np.zeros(steps)
    for k, (first, last) in enumerate(changed):
        before = changed[k - 1][1] if k > 0 else 0
        after = changed[k + 1][0] if k + 1 < len(changed) else steps
        window = np.zeros(steps)
        for a, b in ((max(before, first - reach), first), (last, min(after, last + reach))):
            if b - a >= edge:
                window[a:b] = np.minimum((np.minimum(np.arange(b - a), np.arange(b - a)[::-1]) + 0.5) / edge, 1.0)
        lacks = (last - first) - float(lasts[first:last].sum())
        if abs(lacks) > STRETCHED * np.count_nonzero(window):
            return None
        more += lacks * window / max(float(window.sum()), 1.0)
    lasts += more
    if lasts.min(initial=1.0) < min(QUICKEST, *(1.0 / one.slow for one in flights)):
        return None
    passed = np.concatenate(([0.0], np.cumsum(lasts)))
    result: Array = np.interp(np.arange(steps + 1), passed * steps / passed[-1], np.arange(steps + 1))
    return result


def _at_pace(character: Character, trajectory: Trajectory, sample: Array, flights: Sequence[Flight]) -> Trajectory:
    """The poses at other samples, and the flights as falls."""
    q = np.array([pose_at(character, trajectory.q, at) for at in sample])
    return _at_height(character, replace(trajectory, q=q), _moved(flights, sample))


def _moved(flights: Sequence[Flight], sample: Array) -> list[Flight]:
    """Flights of a motion in the same at other samples."""
    there = np.interp([(one.start, one.stop) for one in flights], sample, np.arange(len(sample)))
    return [one._replace(start=round(a), stop=round(b)) for one, (a, b) in zip(flights, there, strict=True)]


def _at_height(character: Character, trajectory: Trajectory, flights: Sequence[Flight]) -> Trajectory:
    """The bodies moved so that their centre of mass falls, from where it takes off to where it lands."""
    q, path, gravity = trajectory.q.copy(), center_of_mass_path(character, trajectory.q), -float(character.gravity[2])
    for one in flights:
        own = path[one.start : one.stop + 1]
        x = np.linspace(0.0, 1.0, len(own))[:, None]
        falls = own[0] + x * (own[-1] - own[0])
        falls[:, 2] = _parabola(own[:, 2], (len(own) - 1) / trajectory.rate, gravity)
        q[one.start : one.stop + 1, :3] += falls - own
    return replace(trajectory, q=q, v=velocities(character, q, trajectory.rate))


def _distance(character: Character, trajectory: Trajectory, other: Trajectory) -> float:
    """Of the bodies' places on average, m."""
    ways = body_poses(character, trajectory.q)[0] - body_poses(character, other.q)[0]
    return float(np.linalg.norm(ways, axis=2).mean())


def _line(trajectory: Trajectory, flight: Flight, done: Flights) -> str:
    """What was done, or what would be."""
    when = in_frames(trajectory.frame(flight.start), trajectory.frame(flight.stop))
    pace = f"{flight.slow:.1f} times too slow" if flight.slow > 1.0 else f"{1.0 / flight.slow:.1f} times too quick"
    higher = f"{100.0 * abs(flight.over):.0f} cm {'higher' if flight.over > 0.0 else 'lower'}"
    said = f"The flight in {when} is {pace} for its height"
    if done == "height":
        return f"{said}: it goes {higher}."
    alone = _paced(trajectory, [flight])
    if done == "timing" or alone is not None:
        assert alone is not None
        (other,) = _moved([flight], alone)
        then = in_frames(trajectory.frame(other.start), trajectory.frame(other.stop))
        if done == "timing":
            return f"{said}: it is in {then} now."
        return f"{said}: set Flights to Timing to have it in {then}, or to Height to have it go {higher}."
    return f"{said}: set Flights to Height to have it go {higher}, or give it another timing."
