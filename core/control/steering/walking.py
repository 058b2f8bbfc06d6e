# SPDX-License-Identifier: GPL-3.0-or-later
"""Walking along a path, or to where a target is: at each step's end the action that keeps to the way best.

The way of who follows a target is a straight line to it, drawn anew at each step's end.
"""

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ...motion.cycle import Cycle
from ...motion.path import SPACING, Path
from ...planning import Ahead, Errand, Pose, Trials, Way, fit, follows
from ...simulation.law import State
from .planner import risk
from .repertoire import Act
from .steering import LED_ALONG, LED_PLACE, LED_TURN, Choice, Steering

Array = NDArray[np.float64]

STANDS_FOR = 0.8  # s, at the end
RISKY = 3.0  # times as dear as any state that an action was got through from
NEAR = 1.2  # m from a target, within which who stands stays: to start and to stop leads as far
STAYS = 0.1  # m off a leg's end, up to which who stands there stays as it is; farther off it steps there
TRIES = 2  # times
LEAST = 0.5  # m, of a way


class Walker:
    """Goes along a path, leg by leg, and stands where each of them ends; or follows a target."""

    def __init__(self, acts: Sequence[Act], trials: Trials, dearest: Array, errand: Errand) -> None:
        self._actions = tuple(act.action for act in acts)
        self._acts, self._trials, self._dearest = tuple(acts), trials, dearest
        self._able = [np.flatnonzero(row) for row in follows(self._actions)]
        self._errand = errand._replace(trim_turn=LED_TURN, trim_place=LED_PLACE, trim_along=LED_ALONG)
        self._speeds = sorted({act.level for act in acts if act.level})
        self._usual = acts[0].action.speed
        self._ahead: dict[float, Ahead] = {}
        self._still = next((k for k, action in enumerate(self._actions) if action.speed == 0.0), None)

    def go(self, path: Path, begins: Cycle) -> None:
        """Along a path from now on, or after its target from where the clip begins."""
        self._path, self._begins = path, begins
        stops = self._still is not None
        self._legs = [] if path.follows else [Way(places, heading, stops) for places, heading in path.legs()]
        self._leg, self._place, self._stood, self._settled = 0, 0, 0.0, 0

    def begins(self) -> tuple[int, Cycle]:
        """The action to begin with, and the frame that moves with the walk then: it walks already."""
        if self._path.follows:
            x, y = self._begins.shift
            pose = Pose(x, y, self._begins.turn)
            if self._still is not None and self._far(x, y, 0.0) < NEAR:
                return self._still, self._begins
            way = self._to_target(x, y, 0.0)
        else:
            way = self._legs[0]
            x, y = way.places[0].tolist()
            pose = Pose(x, y, float(way.heading[0]))
        ahead, free = self._towards(self._path.speed_at(0.0, self._usual)), np.zeros(len(self._actions))
        joints = {act.action.target: k for k, act in enumerate(self._acts) if act.level}  # at any of its speeds
        found = [ahead.best(before, pose, way, 0, free) for before in joints.values()]
        return min(found, key=lambda one: one.cost).number, Cycle((x, y), pose.heading)

    @property
    def over(self) -> bool:
        """Whether it has stood at the last leg's end for long enough."""
        return not self._path.follows and self._leg == len(self._legs) - 1 and self._stood >= STANDS_FOR

    def choose(self, last: int, state: State, steering: Steering) -> Choice:
        """The best of the actions that may follow."""
        frame = steering.frame
        lags = state.q[:2] - steering.reference_state()[0][:2]
        x, y = frame.shift[0] + float(lags[0]), frame.shift[1] + float(lags[1])
        if self._still is not None and self._actions[last].target == self._actions[self._still].source:
            waits = self._far(x, y, state.time) < NEAR if self._path.follows else self._waits(last)
            if waits:
                return Choice(self._still)
        if self._path.follows:
            way, self._place = self._to_target(x, y, state.time), 0
        else:
            way = self._legs[self._leg]
            self._place = way.along(self._place, x, y)
        extra = np.zeros(len(self._actions))
        able = self._able[last]
        away = steering.costs(able, state) / np.maximum(RISKY * self._dearest[able], 1e-9)
        extra[able] = [self._errand.fall * risk(off) for off in away.tolist()]
        ahead = self._towards(self._path.speed_at(state.time, self._usual))
        found = ahead.best(last, Pose(x, y, frame.turn), way, self._place, extra)
        return Choice(found.number, found.trim)

    def away(self, root: Array) -> Array | None:
        """By how much (2,) who stands at a leg's end, with the root there, is away from it; None where it may stay."""
        if self._path.follows or self._settled >= TRIES:
            return None
        found: Array = root - self._legs[self._leg].places[-1]
        if float(np.linalg.norm(found)) < STAYS:
            return None
        self._settled += 1
        return found

    def foresee(self, last: int, frame: Cycle, time: float) -> int:
        """The action that would come next at a time, s, if nothing happened until then."""
        if self._still is not None and self._actions[last].target == self._actions[self._still].source:
            return self._still
        x, y = frame.shift
        if self._path.follows:
            way, place = self._to_target(x, y, time), 0
        else:
            way = self._legs[self._leg]
            place = way.along(self._place, x, y)
        ahead = self._towards(self._path.speed_at(time, self._usual))
        return ahead.best(last, Pose(x, y, frame.turn), way, place, np.zeros(len(self._actions))).number

    def _waits(self, last: int) -> bool:
        """Whether who stands stays there; if not, the next leg begins."""
        self._stood += self._actions[last].seconds if last == self._still else 0.0
        if self._leg == len(self._legs) - 1 or self._stood < self._path.wait:
            return True
        self._leg, self._place, self._stood, self._settled = self._leg + 1, 0, 0.0, 0
        return False

    def _far(self, x: float, y: float, seconds: float) -> float:
        """From the target, m."""
        there = self._path.target_at(seconds)
        return math.hypot(there[0] - x, there[1] - y)

    def _to_target(self, x: float, y: float, seconds: float) -> Way:
        """Straight to where it is."""
        there = self._path.target_at(seconds)
        far, heading = self._far(x, y, seconds), math.atan2(there[1] - y, there[0] - x)
        count = max(round(max(far, LEAST) / SPACING), 1) + 1
        along = np.linspace(0.0, max(far, LEAST), count)[:, None]
        places = np.array([x, y]) + along * np.array([math.cos(heading), math.sin(heading)])
        return Way(places, np.full(count, heading), self._still is not None)

    def _towards(self, speed: float) -> Ahead:
        """The search for the nearest of its speeds."""
        near = min(self._speeds, key=lambda one: abs(one - speed))
        if near not in self._ahead:
            values = fit(self._actions, self._trials, near, self._usual, self._errand)
            self._ahead[near] = Ahead(self._actions, values, near, self._usual, self._errand)
        return self._ahead[near]
