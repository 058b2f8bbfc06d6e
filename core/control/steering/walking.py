# SPDX-License-Identifier: GPL-3.0-or-later
"""Walking along a path: at each step's end the action that keeps to it best, and stands where it ends."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ...motion.cycle import Cycle
from ...motion.path import Path
from ...planning import Ahead, Errand, Pose, Trials, Way, fit
from ...simulation.law import State
from .repertoire import Act
from .steering import Choice, Steering

Array = NDArray[np.float64]

STANDS_FOR = 0.8  # s, at the end


class Walker:
    """Goes along a path, leg by leg; it stands where each of them ends."""

    def __init__(self, acts: Sequence[Act], trials: Trials, dearest: Array, errand: Errand) -> None:
        self._actions = tuple(act.action for act in acts)
        self._trials, self._dearest, self._errand = trials, dearest, errand
        self._speeds = sorted({act.level for act in acts if act.level})
        self._usual = acts[0].action.speed
        self._ahead: dict[float, Ahead] = {}
        self._still = next((k for k, action in enumerate(self._actions) if action.speed == 0.0), None)
        self._legs: list[Way] = []

    @property
    def stands(self) -> bool:
        """Whether it can: a way along which nobody can stop goes on for ever."""
        return self._still is not None

    def go(self, path: Path) -> None:
        """Along a path from now on."""
        self._path = path
        self._legs = [Way(places, heading, self.stands) for places, heading in path.legs()]
        self._leg, self._place, self._stood = 0, 0, 0.0

    def begins(self) -> tuple[int, Cycle]:
        """The action to begin with, and where the frame that moves with the walk is and heads then: it walks already."""
        way = self._legs[0]
        (x, y), heading = way.places[0].tolist(), float(way.heading[0])
        before = next(k for k, action in enumerate(self._actions) if action.target == self._actions[0].source)
        ahead, free = self._towards(self._path.speed_at(0.0, self._usual)), np.zeros(len(self._actions))
        return ahead.best(before, Pose(x, y, heading), way, 0, free).number, Cycle((x, y), heading)

    @property
    def over(self) -> bool:
        """Whether it has stood at the last leg's end for long enough."""
        return self._leg == len(self._legs) - 1 and self._stood >= STANDS_FOR

    def choose(self, last: int, state: State, steering: Steering) -> Choice:
        """The best of the actions that may follow."""
        stands = self._still is not None and self._actions[last].target == self._actions[self._still].source
        if stands and self._waits(last):
            assert self._still is not None
            return Choice(self._still)
        frame, height = steering.frame, steering.height
        lags = state.q[:2] - steering.reference_state()[0][:2]
        pose = Pose(frame.shift[0] + float(lags[0]), frame.shift[1] + float(lags[1]), frame.turn)
        way = self._legs[self._leg]
        self._place = way.along(self._place, pose.x, pose.y)
        extra = np.zeros(len(self._actions))
        for number, action in enumerate(self._actions):
            if action.source == self._actions[last].target:
                # whoever is farther off than any who came through it takes a risk
                off = steering.cost(number, state, frame, height) / max(self._dearest[number], 1e-9)
                extra[number] = self._errand.fall * min(max(off - 1.0, 0.0), 1.0)
        speed = self._path.speed_at(state.time, self._usual)
        found = self._towards(speed).best(last, pose, way, self._place, extra)
        return Choice(found.number, found.trim)

    def _waits(self, last: int) -> bool:
        """Whether who stands stays there; if not, the next leg begins."""
        self._stood += self._actions[last].seconds if last == self._still else 0.0
        if self._leg == len(self._legs) - 1 or self._stood < self._path.wait:
            return True
        self._leg, self._place, self._stood = self._leg + 1, 0, 0.0
        return False

    def _towards(self, speed: float) -> Ahead:
        """The search for the nearest of its speeds."""
        near = min(self._speeds, key=lambda one: abs(one - speed))
        if near not in self._ahead:
            values = fit(self._actions, self._trials, near, self._usual, self._errand)
            self._ahead[near] = Ahead(self._actions, values, near, self._usual, self._errand)
        return self._ahead[near]
