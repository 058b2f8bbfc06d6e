# SPDX-License-Identifier: GPL-3.0-or-later
"""An action graph (da Silva 2010, figure 3-7) whose transitions are found: motions, and bridges from one to another.

The thesis allows transitions by hand. Here frames of two cycles are compared by poses and velocities, the nearest are
joined and made possible, with the ends of the bridge on the two motions exactly; what a trial simulation then walks
over is allowed. How far it strays from the bridge there tells more than that it did not fall: a course with short
visits comes to the next bridge with what is left of it. A course through the graph is one track, for one controller.
"""

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise, permutations
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...dynamics import difference
from ...motion.cycle import Cycle
from ...motion.cycles import VELOCITY_WEIGHT, planar_step, power
from ...motion.editing import joined
from ...motion.fit import Trajectory
from ...motion.in_a_row import NOWHERE, Choice, Piece, in_a_row, laps, row_of, then
from ...motion.make_reference import make_reference
from ...motion.reference import Reference
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
    reference: Reference  # its first frame is `leave`, its last `enter`; in the first one's coordinates
    step: Cycle  # moves the second motion's first lap to where the bridge ends


@dataclass(frozen=True, eq=False)
class ActionGraph:
    """Cyclic motions of a character by name, and the bridges between them; standing is a cycle too, of any length."""

    motions: Mapping[str, Reference]
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
            raise ValueError(
                f"No transition was found from '{source}' to '{target}': use actions whose poses are more alike."
            )
        found = [target]
        while found[-1] != source:
            found.append(before[found[-1]])
        return found[::-1]

    def sequence(self, choices: Sequence[Choice], seconds: float) -> list[Piece]:
        """Frames of motions and bridges, so many seconds in all: what is chosen is gone to at the next occasion."""
        self._check(choices, seconds)
        rate = self.motions[choices[0].motion].rate
        steps = list(choices[:1])
        for before, after in pairwise(choices):
            between = self.way(before.motion, after.motion)[1:]
            steps += [Choice(name, after.start) for name in between]
        left = round(seconds * rate) + 1
        pieces = []
        for piece in self._pieces(steps, rate):
            pieces.append(piece._replace(frames=piece.frames[:left]))
            left -= len(pieces[-1].frames)
            if left == 0:
                return pieces
        last = pieces.pop()
        return [*pieces, last._replace(frames=range(last.frames.start, last.frames.stop + left))]

    def _check(self, choices: Sequence[Choice], seconds: float) -> None:
        if not choices:
            raise ValueError("A course needs at least one motion.")
        for name, start in choices:
            if name not in self.motions:
                raise ValueError(f"There is no motion '{name}'; choose from {', '.join(self.motions)}.")
            if not np.isfinite(start):
                raise ValueError(f"A motion must be chosen at a finite time, not {start:g} s.")
        if any(after.start < before.start for before, after in pairwise(choices)):
            raise ValueError("The motions of a course must be chosen in order of time.")
        if not 0.0 < seconds < np.inf:
            raise ValueError(f"A course must last longer than 0 s, not {seconds:g} s.")

    def _pieces(self, steps: Sequence[Choice], rate: float) -> Iterator[Piece]:
        """In turn; of the last motion one frame."""
        way, frame, gone = NOWHERE, 0, 0
        for (name, _), (following, start) in pairwise(steps):
            motion, bridge = self.motions[name], self.bridges[name, following]
            until = frame + max(round(start * rate) - gone, 0)
            until += (bridge.leave - until) % motion.steps
            yield Piece(name, motion, range(frame, until), way)
            way = then(way, laps(motion, until))
            yield Piece(f"{name} to {following}", bridge.reference, range(bridge.reference.steps), way)
            gone += until - frame + bridge.reference.steps
            way, frame = then(way, bridge.step), bridge.enter
        yield Piece(steps[-1].motion, self.motions[steps[-1].motion], range(frame, frame + 1), way)


def _tell_nobody() -> None:
    """For who waits in silence."""


def make_graph(
    motions: Mapping[str, Reference],
    wanted: Iterable[tuple[str, str]] | None = None,
    told: Callable[[], object] = _tell_nobody,
) -> ActionGraph:
    """The graph of cyclic motions of one character at one rate, with every bridge that is found, or those wanted.

    Where one that is wanted is not found, all others are looked for: there may be a way round. `told` is called before
    each trial, and may raise.
    """
    for name, motion in motions.items():
        if motion.cycle is None:
            raise ValueError(f"'{name}' is not cyclic: all motions of an action graph must be.")
    every = list(permutations(motions, 2))
    bridges: dict[tuple[str, str], Bridge] = {}
    for pairs in (every if wanted is None else list(wanted), every):
        for first, second in pairs:
            if (first, second) not in bridges:
                bridge = find_bridge(motions[first], motions[second], told)
                if bridge is not None:
                    bridges[first, second] = bridge
        if all(pair in bridges for pair in pairs):
            break
    return ActionGraph(dict(motions), bridges)


def find_bridge(source: Reference, target: Reference, told: Callable[[], object] = _tell_nobody) -> Bridge | None:
    """The nearest whose trial keeps to the course, or else the one that strays least of those that do not fall."""
    best, least = None, STRAYED
    for distance, *middle in candidates(source, target):
        for seconds in BLENDS:
            told()
            try:
                bridge = _bridge(source, target, middle, seconds, distance)
            except (ValueError, NoReferenceError):
                continue  # there is no possible motion near this one
            strayed = _strays(source, target, bridge)
            if strayed < least:
                best, least = bridge, strayed
            if least < STEADY:
                return best
    return best


def candidates(source: Reference, target: Reference) -> Iterator[tuple[float, int, int]]:
    """Distance and frames of both motions where a blend may have its middle, nearest first."""
    character = source.character
    states = [_states(motion, range(0, motion.steps, EVERY)) for motion in (source, target)]
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


def _bridge(source: Reference, target: Reference, middle: Sequence[int], seconds: float, distance: float) -> Bridge:
    """Blended about the middle, and made possible; ValueError or NoReferenceError where it cannot be."""
    character, rate = source.character, source.rate
    half, margin = round(0.5 * seconds * rate), round(MARGIN * rate)
    i, j = middle
    # whole laps later, so that no frame is negative
    i += source.steps * -(-(half + margin) // source.steps)
    j += target.steps * -(-(half + margin) // target.steps)
    first = _cut(source, range(i - half - margin, i + half + 1))
    second = _cut(target, range(j - half, j + half + margin + 1))
    whole = joined(character, first, second, 2 * half / rate)
    leave, enter = i - half - margin, j + half + margin
    (start,), (end,) = (_states(motion, [at]) for motion, at in ((source, leave), (target, enter)))
    step = planar_step(end[0], whole.q[-1])
    bounds = Ends(start=start, end=step.move_state(character, *end))
    made = make_reference(character, whole, bounds=bounds).reference
    # back by the laps that were gone forward on the first motion, and on by those of the second
    back = power(source.cycle or NOWHERE, -(leave // source.steps))
    moved = in_a_row([Piece("bridge", made, range(made.steps + 1), back)])
    step = then(then(back, step), laps(target, enter))
    return Bridge(row_of(source, leave), row_of(target, enter), distance, moved, step)


def _strays(source: Reference, target: Reference, bridge: Bridge) -> float:
    """How far a simulation comes from the course, from half a lap or more before the bridge over it and on, m."""
    character, rate = source.character, source.rate
    graph = ActionGraph({"source": source, "target": target}, {("source", "target"): bridge})
    half = source.steps // 2
    over = half + (bridge.leave - half) % source.steps + bridge.reference.steps
    course = in_a_row(graph.sequence([Choice("source", 0.0), Choice("target", half / rate)], over / rate + TRIAL))
    controller, world = Balance(character, Track.of(course)), World(character, rate=rate)
    world.reset(*controller.reference_state())
    farthest = 0.0
    for _ in range(course.steps):
        try:
            world.step(controller)
        except (DivergedError, NoLawError):
            return np.inf
        error = difference(character, controller.reference_state()[0], world.q)
        farthest = max(farthest, float(np.linalg.norm(error[:3])))
        if farthest > STRAYED:
            return np.inf
    return farthest


def _states(motion: Reference, frames: Sequence[int]) -> list[tuple[Array, Array]]:
    """Positions and velocities, over laps."""
    rows = [(row_of(motion, k), laps(motion, k)) for k in frames]
    return [way.move_state(motion.character, motion.q[row], motion.v[row]) for row, way in rows]


def _cut(motion: Reference, frames: range) -> Trajectory:
    q, v = (np.array(part) for part in zip(*_states(motion, frames), strict=True))
    return Trajectory(motion.rate, q, v)
