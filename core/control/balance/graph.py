# SPDX-License-Identifier: GPL-3.0-or-later
"""An action graph (da Silva 2010, figure 3-7) whose transitions are found: motions, and bridges from one to another.

The thesis allows transitions by hand. Here frames of two cycles are compared by poses and velocities, the nearest are
joined and made possible, with the ends of the bridge on the two motions exactly; what a trial simulation then walks
over is allowed. How far it strays from the bridge there tells more than that it did not fall: a course with short
visits comes to the next bridge with what is left of it. A course through the graph is one track, for one controller.
"""

from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise, permutations
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...character import Character
from ...dynamics import difference
from ...motion.cycle import Cycle
from ...motion.cycles import VELOCITY_WEIGHT, planar_step, power
from ...motion.editing import joined
from ...motion.fit import Trajectory
from ...motion.make_reference import make_reference
from ...motion.spacetime import Ends, NoReferenceError
from ...simulation import DivergedError, World
from ..law import NoLawError
from ..track import Track
from .balance import Balance

Array = NDArray[np.float64]

EVERY = 4  # frames, of those that are compared
APART = 12  # frames between candidates, on either motion: all frames of one that stands still are alike
TRIES = 5  # candidates that are made possible, for each length of the blend
BLENDS = (0.5, 0.9)  # s
MARGIN = 0.1  # s of both motions around the blend
TRIAL = 3.0  # s that the next motion is followed after a bridge
STEADY = 0.02  # m from the course at which no better bridge is looked for
STRAYED = 0.25  # m from the course: fallen


class Bridge(NamedTuple):
    """From a frame of one cycle to a frame of another."""

    leave: int
    enter: int
    distance: float  # RMS of poses and velocities in the middle
    track: Track  # begins at `leave`, ends a step before `enter`; in the first one's coordinates
    step: Cycle  # moves the second motion's first lap to where the bridge ends


@dataclass(frozen=True, eq=False)
class ActionGraph:
    """Cyclic motions of a character by name, and the bridges between them; standing is a cycle too, of any length."""

    character: Character
    tracks: Mapping[str, Track]
    bridges: Mapping[tuple[str, str], Bridge]

    def way(self, source: str, target: str) -> list[str]:
        """The fewest motions in between, both ends included; ValueError where there is no way."""
        before, waiting = {source: source}, deque([source])
        while waiting:
            name = waiting.popleft()
            for first, second in self.bridges:
                if first == name and second not in before:
                    before[second] = name
                    waiting.append(second)
        if target not in before:
            raise ValueError(f"There is no way from '{source}' to '{target}'.")
        found = [target]
        while found[-1] != source:
            found.append(before[found[-1]])
        return found[::-1]

    def course(self, choices: Sequence[tuple[str, float]]) -> Track:
        """Motions in a row, each for at least its seconds: it is left where its bridge begins. The last one ends."""
        for name, seconds in choices:
            if name not in self.tracks:
                raise ValueError(f"There is no motion '{name}'; there are {', '.join(self.tracks)}.")
            if not 0.0 <= seconds < np.inf:
                raise ValueError(f"A motion lasts for a finite time, not {seconds:g} s.")
        if not choices:
            raise ValueError("A course needs at least one motion.")
        steps = list(choices[:1])
        for (name, _), (following, seconds) in pairwise(choices):
            steps += [(between, 0.0) for between in self.way(name, following)[1:-1]]
            steps += [(following, seconds)] if following != name else []
        return _joined(self.character, list(self._pieces(steps)))

    def _pieces(self, steps: Sequence[tuple[str, float]]) -> Iterator[tuple[Track, range, Cycle]]:
        """Frames of tracks, moved."""
        way, frame = Cycle((0.0, 0.0)), 0
        for (name, seconds), following in zip(steps, [*steps[1:], None], strict=True):
            track = self.tracks[name]
            until = frame + round(seconds / track.dt)
            if following is None:
                yield track, range(frame, until + 1), way
                return
            bridge = self.bridges[name, following[0]]
            until += (bridge.leave - until) % len(track.q)
            yield track, range(frame, until), way
            way = _then(way, _laps(track, until))
            yield bridge.track, range(len(bridge.track.q)), way
            way, frame = _then(way, bridge.step), bridge.enter


def make_graph(character: Character, tracks: Mapping[str, Track]) -> ActionGraph:
    """The graph of cyclic tracks of the same step of time, with every bridge that was found."""
    for name, track in tracks.items():
        if track.cycle is None:
            raise ValueError(f"A motion of an action graph repeats, which '{name}' does not.")
    pairs = permutations(tracks, 2)
    found = {pair: find_bridge(character, *(tracks[name] for name in pair)) for pair in pairs}
    bridges = {pair: bridge for pair, bridge in found.items() if bridge is not None}
    return ActionGraph(character, dict(tracks), bridges)


def find_bridge(character: Character, source: Track, target: Track) -> Bridge | None:
    """The nearest whose trial keeps to the course, or else the one that strays least of those that do not fall."""
    best, least = None, STRAYED
    for distance, *middle in _candidates(character, source, target):
        for seconds in BLENDS:
            try:
                bridge = _bridge(character, source, target, middle, seconds, distance)
            except (ValueError, NoReferenceError):
                continue  # there is no possible motion near this one
            strayed = _strays(character, source, target, bridge)
            if strayed < least:
                best, least = bridge, strayed
            if least < STEADY:
                return best
    return best


def _candidates(character: Character, source: Track, target: Track) -> Iterator[tuple[float, int, int]]:
    """Distance and frames of both motions where a blend may have its middle, nearest first."""
    states = [_states(character, track, range(0, len(track.q), EVERY)) for track in (source, target)]
    pairs = []
    for i, (q, v) in enumerate(states[0]):
        for j, (p, w) in enumerate(states[1]):
            there, moved = planar_step(p, q).move_state(character, p, w)
            pose = np.sqrt(np.mean(difference(character, q, there) ** 2))
            pairs.append((float(pose + VELOCITY_WEIGHT * np.sqrt(np.mean((moved - v) ** 2))), EVERY * i, EVERY * j))
    taken: list[tuple[int, int]] = []
    for distance, i, j in sorted(pairs):
        if all(min(abs(i - a), abs(j - b)) >= APART for a, b in taken):
            taken.append((i, j))
            yield distance, i, j
        if len(taken) == TRIES:
            return


def _bridge(
    character: Character, source: Track, target: Track, middle: Sequence[int], seconds: float, distance: float
) -> Bridge:
    """Blended about the middle, and made possible; ValueError or NoReferenceError where it cannot be."""
    half, margin = round(0.5 * seconds / source.dt), round(MARGIN / source.dt)
    i, j = middle
    # whole laps later, so that no frame is negative
    i += len(source.q) * -(-(half + margin) // len(source.q))
    j += len(target.q) * -(-(half + margin) // len(target.q))
    first = _cut(character, source, range(i - half - margin, i + half + 1))
    second = _cut(character, target, range(j - half, j + half + margin + 1))
    whole = joined(character, first, second, 2 * half * source.dt)
    leave, enter = i - half - margin, j + half + margin
    (start,), (end,) = (_states(character, track, [at]) for track, at in ((source, leave), (target, enter)))
    step = planar_step(end[0], whole.q[-1])
    bounds = Ends(start=start, end=step.move_state(character, *end))
    track = Track.of(make_reference(character, whole, bounds=bounds).reference)
    # back by the laps that were gone forward on the first motion, and on by those of the second
    back = power(source.cycle or Cycle((0.0, 0.0)), -(leave // len(source.q)))
    frames = range(len(track.q) - 1)
    moved = _joined(character, [(track, frames, back)])
    step = _then(_then(back, step), _laps(target, enter))
    return Bridge(leave % len(source.q), enter % len(target.q), distance, moved, step)


def _strays(character: Character, source: Track, target: Track, bridge: Bridge) -> float:
    """How far a simulation comes from the course, from half a lap or more before the bridge over it and on, m."""
    graph = ActionGraph(character, {"source": source, "target": target}, {("source", "target"): bridge})
    course = graph.course([("source", 0.5 * len(source.q) * source.dt), ("target", TRIAL)])
    controller, world = Balance(character, course), World(character, rate=1.0 / course.dt)
    world.reset(*controller.reference_state())
    farthest = 0.0
    for _ in range(len(course.q) - 1):
        try:
            world.step(controller)
        except (DivergedError, NoLawError):
            return np.inf
        error = difference(character, controller.reference_state()[0], world.q)
        farthest = max(farthest, float(np.linalg.norm(error[:3])))
        if farthest > STRAYED:
            return np.inf
    return farthest


def _states(character: Character, track: Track, frames: Sequence[int]) -> list[tuple[Array, Array]]:
    """Positions, and the velocities that lead on from them."""
    poses = [(track.pose(character, k), track.pose(character, k + 1)) for k in frames]
    return [(q, difference(character, q, after) / track.dt) for q, after in poses]


def _cut(character: Character, track: Track, frames: range) -> Trajectory:
    q, v = (np.array(part) for part in zip(*_states(character, track, frames), strict=True))
    return Trajectory(1.0 / track.dt, q, v)


def _laps(track: Track, frame: int) -> Cycle:
    """All laps before a frame."""
    return power(track.cycle or Cycle((0.0, 0.0)), track.lap(frame))


def _then(way: Cycle, step: Cycle) -> Cycle:
    """One move, seen from where another leads: first the step, then the way."""
    x, y, _ = way.move_points(np.array([*step.shift, 0.0])).tolist()
    return Cycle((x, y), way.turn + step.turn)


def _joined(character: Character, pieces: Sequence[tuple[Track, range, Cycle]]) -> Track:
    """Frames of tracks in a row; points that are the same are one."""
    names = [[(int(b), *p) for b, p in zip(t.point_body, t.point_local.tolist(), strict=True)] for t, _, _ in pieces]
    points = list(dict.fromkeys(name for own in names for name in own))
    still = np.zeros(character.nv)
    q, loaded, normal, grip = [], [], [], np.zeros(len(points), np.bool_)
    for (track, frames, way), own in zip(pieces, names, strict=True):
        columns = [points.index(name) for name in own]
        rows = np.array([track.row(k) for k in frames], dtype=np.int64)
        q += [way.move_state(character, track.pose(character, k), still)[0] for k in frames]
        bears = np.zeros((len(rows), len(points)), np.bool_)
        bears[:, columns] = track.loaded[rows]
        facing = np.tile((0.0, 0.0, 1.0), (len(rows), len(points), 1))
        turns = [_then(way, _laps(track, k)).rotation for k in frames]
        facing[:, columns] = np.einsum("kij,kpj->kpi", np.array(turns).reshape(-1, 3, 3), track.normal[rows])
        loaded.append(bears)
        normal.append(facing)
        grip[columns] |= track.grip
    return Track(
        dt=pieces[0][0].dt,
        q=np.array(q),
        loaded=np.concatenate(loaded),
        normal=np.concatenate(normal),
        point_body=np.array([name[0] for name in points], dtype=np.int64),
        point_local=np.array([name[1:] for name in points]).reshape(-1, 3),
        grip=grip,
    )
