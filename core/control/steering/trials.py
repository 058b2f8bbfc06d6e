# SPDX-License-Identifier: GPL-3.0-or-later
"""Every pair of actions tried out, on tours in simulation that go from each action to what has been tried least.

So an action begins as it does later: in whatever state the ones before it have led to.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...character import Character
from ...character.strength import joint_strengths
from ...dynamics import difference
from ...motion.cycle import Cycle
from ...planning import Trials, Trim
from ...simulation import DivergedError, Push, World
from ...simulation.fall import FallDetector
from ...simulation.law import NoLawError, State
from ...simulation.strength import TorqueLimits
from .library import STAND
from .repertoire import Act
from .steering import LED_PLACE, LED_TURN, Choice, Steering

Array = NDArray[np.float64]

LASTS = 30.0  # s, of a tour
TIMES = 2  # that each pair is tried, at least: after one try three walks of nine fell from what the second one shows
MOST = 90  # tours
NOISE = 0.05  # standard deviation of start velocities, m/s and rad/s
PUSH, PUSHED, APART = 80.0, 0.1, 2.5  # N, s and s between them: pushes from any side, on every other tour
STRENGTH = 3.0  # times what people's joints give on average
BLAMED = 0.4  # s into an action, until which a fall is that of the action before


class Tried(NamedTuple):
    """One action after another."""

    first: int
    second: int
    fell: bool
    roughness: float  # degrees RMS
    cost: float  # of the state in which the second began


@dataclass(frozen=True, eq=False)
class Tour:
    """What was tried on it."""

    tried: tuple[Tried, ...]


def make_tour(acts: Sequence[Act], before: Sequence[Tour]) -> Tour:
    """One more tour, along what was tried least on those before."""
    count = np.zeros((len(acts), len(acts)))
    for tour in before:
        for one in tour.tried:
            count[one.first, one.second] += 1
    return _Touring(acts, count, len(before)).go()


def is_enough(acts: Sequence[Act], tours: Sequence[Tour]) -> bool:
    """Whether every pair was tried often enough."""
    return missing(acts, tours) == 0 or len(tours) >= MOST


def missing(acts: Sequence[Act], tours: Sequence[Tour]) -> int:
    """How many trials are left."""
    left = {
        (a, b): TIMES
        for a, one in enumerate(acts)
        for b, other in enumerate(acts)
        if one.action.target == other.action.source
    }
    for tour in tours:
        for tried in tour.tried:
            left[tried.first, tried.second] = max(left[tried.first, tried.second] - 1, 0)
    return sum(left.values())


def table(acts: Sequence[Act], tours: Sequence[Tour]) -> tuple[Trials, Array]:
    """What the planner goes by; and the dearest state (n,) from which each action was got through."""
    size = len(acts)
    count, falls, rough = np.zeros((size, size)), np.zeros((size, size)), np.zeros((size, size))
    dearest = np.zeros(size)
    for tour in tours:
        for first, second, fell, roughness, cost in tour.tried:
            count[first, second] += 1
            falls[first, second] += fell
            rough[first, second] += roughness
            if not fell:
                dearest[second] = max(dearest[second], cost)
    # two trials tell little of a pair: what became of the second after all others counts as much
    of_all = falls.sum(axis=0) / np.maximum(count.sum(axis=0), 1.0)
    share = (falls + TIMES * of_all) / (count + TIMES)
    return Trials(share, rough / np.maximum(count, 1.0)), dearest


class _Touring:
    """A walk from action to action."""

    def __init__(self, acts: Sequence[Act], count: Array, number: int) -> None:
        self._acts, self._count, self._number = acts, count, number
        self._noise = np.random.default_rng(number)
        self._tried: list[Tried] = []
        self._open: tuple[int, int, float] | None = None  # the pair that is being tried
        self._squares, self._steps = 0.0, 0

    def go(self) -> Tour:
        acts = self._acts
        character, rate = acts[0].motion.character, 1.0 / acts[0].motion.track.dt
        noise = self._noise
        pushes = _pushes(character, noise) if self._number % 2 else ()
        strengths = {name: STRENGTH * most for name, most in joint_strengths(character, "male").items()}
        world = World(character, rate=rate, pushes=pushes, torque_limits=TorqueLimits(strengths))
        steering = Steering(acts, self._choose)
        begin = int(np.argmin(self._count.sum(axis=1)))
        steering.begin(begin, Cycle((0.0, 0.0)), 0.0)
        q, v = steering.reference_state()
        world.reset(q, v + noise.normal(scale=NOISE, size=character.nv))
        falls = FallDetector(character, rate)
        for step in range(round(LASTS * rate)):
            try:
                world.step(steering)
            except (DivergedError, NoLawError):
                self._close(fell=True, rate=rate)
                break
            wanted = steering.reference_state()[0]
            if falls.update(step, world.q, world.v, wanted):
                self._close(fell=True, rate=rate)
                break
            error = difference(character, wanted, world.q)[6:]
            self._squares += float(np.mean(error**2))
            self._steps += 1
        return Tour(tuple(self._tried))

    def _choose(self, last: int, state: State, steering: Steering) -> Choice:
        self._close(fell=False, rate=0.0)
        able = [k for k, act in enumerate(self._acts) if act.action.source == self._acts[last].action.target]
        chosen = min(able, key=lambda k: (self._count[last, k], self._count[k].sum(), k))
        self._open = last, chosen, float(steering.costs(np.array([chosen]), state)[0])
        self._count[last, chosen] += 1
        return Choice(chosen, self._trim(chosen))

    def _trim(self, number: int) -> Trim:
        """Led elsewhere at random, as far as it ever is."""
        action = self._acts[number].action
        if action.speed == 0.0:
            return Trim()
        turn, side = self._noise.uniform(-1.0, 1.0), self._noise.uniform(-np.pi, np.pi)
        far = 0.0 if action.target == STAND else LED_PLACE * action.seconds
        return Trim(LED_TURN * action.seconds * turn, far * float(np.cos(side)), far * float(np.sin(side)))

    def _close(self, *, fell: bool, rate: float) -> None:
        """Note what became of the pair."""
        if self._open is None:
            return
        first, second, cost = self._open
        early = fell and self._steps < BLAMED * rate
        if early and self._tried and self._tried[-1].second == first:
            # it was lost before
            self._tried[-1] = self._tried[-1]._replace(fell=True)
        else:
            roughness = float(np.degrees(np.sqrt(self._squares / max(self._steps, 1))))
            self._tried.append(Tried(first, second, fell, roughness, cost))
        self._open, self._squares, self._steps = None, 0.0, 0


def _pushes(character: Character, noise: np.random.Generator) -> tuple[Push, ...]:
    """At the root, one after another."""
    found = []
    for number in range(1, int(LASTS / APART)):
        side = noise.uniform(-np.pi, np.pi)
        force = (PUSH * float(np.cos(side)), PUSH * float(np.sin(side)), 0.0)
        found.append(Push.constant(character.bodies[0].name, force, number * APART, PUSHED))
    return tuple(found)
