# SPDX-License-Identifier: GPL-3.0-or-later
"""Steps at a clock's pace, which may be slowed; where the machine is too slow, time slips and is not caught up."""

import math
from collections.abc import Callable

SLIPS = 0.1  # s behind, from which on what is lost is lost


class Metronome:
    """Says how long to wait before the step from a state on."""

    def __init__(self, dt: float, clock: Callable[[], float]) -> None:
        self._dt, self._clock = dt, clock
        self._speed = 1.0
        self._state, self._time = 0, clock()
        self.slipped = 0.0  # s

    def set_speed(self, speed: float, state: int) -> None:
        """Go on from a state at another speed; 0: stand still."""
        self._begin(state)
        self._speed = speed

    def begin(self) -> None:
        """The first state is now."""
        self._begin(0)

    def wait(self, state: int) -> float:
        """Seconds until the step from a state on is due; infinite while time stands still."""
        if self._speed == 0.0:
            return math.inf
        left = self._time + (state - self._state) * self._dt / self._speed - self._clock()
        if left < -SLIPS:
            self.slipped -= left
            self._begin(state)
        return left

    def _begin(self, state: int) -> None:
        self._state, self._time = state, self._clock()
