# SPDX-License-Identifier: GPL-3.0-or-later
"""The greedy policy: at each step's end the action that costs least, by the value function and the actual state."""

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ...motion.cycle import Cycle
from ...planning import Trials, Trim, Wishes, Worth, iterate
from ...simulation import Course
from ...simulation.law import State
from .costs import Numbers
from .library import STAND
from .repertoire import Act
from .steering import LED_TURN, Choice, Steering

Array = NDArray[np.float64]

STANDS_BELOW = 0.5  # of the slowest walk: who is to go slower than that is to stand


def risk(off: float) -> float:
    """From 0 to 1, of who is so many times as far off as any who came through an action."""
    over = max(off - 1.0, 0.0)
    return over / (1.0 + over)


class Planner:
    """Goes along a course of speeds and headings."""

    def __init__(self, acts: Sequence[Act], trials: Trials, dearest: Array, wishes: Wishes) -> None:
        self._actions = tuple(act.action for act in acts)
        self._dearest, self._caution = np.maximum(dearest, 1e-9), wishes.fall
        speeds = {act.level for act in acts if act.level is not None}
        usual = acts[0].action.speed
        self._slowest = min(speed for speed in speeds if speed > 0.0)
        self._worth: dict[float, Worth] = {
            speed: iterate(self._actions, trials, speed, usual, wishes) for speed in sorted(speeds)
        }
        self.course = Course()
        self._facing = 0.0  # what a heading of 0 is, rad

    def head(self, course: Course, facing: float) -> None:
        """Go along a course, whose headings count from where the character faces then (rad)."""
        self.course, self._facing = course, facing

    def begins(self) -> int:
        """The action to begin with."""
        speed = self.wanted(0.0)[0]
        return next(k for k, action in enumerate(self._actions) if (action.speed == 0.0) == (speed == 0.0))

    def wanted(self, time: float) -> tuple[float, float]:
        """The speed among those that there are, and the heading (rad): who is to go sideways heads there."""
        forward, left, heading = self.course.at(time)
        speed = math.hypot(forward, left)
        way = math.atan2(left, forward) if speed > 0.0 else 0.0
        if 0.0 in self._worth and speed < STANDS_BELOW * self._slowest:
            return 0.0, self._facing + heading
        near = min((one for one in self._worth if one > 0.0), key=lambda one: abs(one - speed))
        return near, self._facing + heading + way

    def foresee(self, last: int, frame: Cycle, time: float) -> int:
        """The action that would come next at a time, s, if nothing happened until then."""
        able, cost = self._worth_of(last, *self.wanted(time), frame.turn)[:2]
        return int(able[int(np.argmin(cost))])

    def _worth_of(self, last: int, speed: float, heading: float, turn: float) -> tuple[Numbers, Array, float]:
        """The actions that may follow one that ends so, what each costs, and by how much it is off its heading, rad."""
        error = math.remainder(heading - turn, 2.0 * math.pi)
        able, cost = self._worth[speed].after(last, error)
        if speed == 0.0:
            for place, number in enumerate(able.tolist()):
                if self._actions[number].target == STAND:  # it is to stand as it heads, if it can
                    cost[place] += abs(math.remainder(error - self._actions[number].turn, 2.0 * math.pi))
        return able, cost, error

    def choose(self, last: int, state: State, steering: Steering) -> Choice:
        """The best of the actions that may follow."""
        speed, heading = self.wanted(state.time)
        able, cost, error = self._worth_of(last, speed, heading, steering.frame.turn)
        away = steering.costs(able, state) / self._dearest[able]
        cost += [self._caution * risk(off) for off in away.tolist()]
        chosen = int(able[int(np.argmin(cost))])
        action = self._actions[chosen]
        if speed == 0.0 or action.speed == 0.0 or action.turn != 0.0:
            return Choice(chosen)  # a turn that is led farther still may fall
        # what turns leave over, as far as the walk follows where it is led
        left = math.remainder(error, 2.0 * math.pi)
        most = LED_TURN * action.seconds
        return Choice(chosen, Trim(max(-most, min(most, left))))
