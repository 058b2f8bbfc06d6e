# SPDX-License-Identifier: GPL-3.0-or-later
"""Pushes as they are felt: when one ends, which act now, and what one that acts is still going to give."""

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...character import Character
from ...motion.outside import Outside
from ...motion.schedule import ContactPoint
from ...simulation import Push

Array = NDArray[np.float64]

FELT = 10.0  # N, of a push that counts
SOONEST = 0.1  # s after it has begun, from when on it may be answered while it lasts


class _Span(NamedTuple):
    push: Push
    begin: float  # s
    end: float


class Pushing:
    """Follows time from one push to the next."""

    def __init__(self, pushes: Sequence[Push]) -> None:
        self._spans: list[_Span] = []
        for push in pushes:
            strong = np.flatnonzero(np.linalg.norm(push.force, axis=1) > FELT)
            if len(strong):
                first, last = max(int(strong[0]) - 1, 0), min(int(strong[-1]) + 1, len(push.force) - 1)
                self._spans.append(_Span(push, push.start + first / push.rate, push.start + last / push.rate))
        self._ends = sorted(span.end for span in self._spans)

    def ended(self, time: float, dt: float) -> bool:
        """Whether one has ended since it was asked last."""
        before = len(self._ends)
        while self._ends and time >= self._ends[0] - 0.5 * dt:
            self._ends.pop(0)
        return len(self._ends) < before

    def begun(self, time: float) -> bool:
        """Whether any has begun, and none has only just."""
        if any(span.begin < time < min(span.begin + SOONEST, span.end) for span in self._spans):
            return False
        return any(span.begin < time for span in self._spans)

    def acting(self, time: float, dt: float) -> tuple[Push, ...]:
        """Those that have begun and go on."""
        return tuple(span.push for span in self._spans if span.begin < time < span.end - 0.5 * dt)

    def to_come(self, time: float, dt: float, growth: float) -> Array:
        """What those are still going to give, along x and y (2,), N s, as if it came now.

        What comes t later has so much less time to grow, by exp(-growth t): capture.py.
        """
        total = np.zeros(2)
        for push in self.acting(time, dt):
            force = push.mean_forces(time, dt, steps_until_end(push, time, dt))
            total += dt * (force[:, :2] * np.exp(-growth * dt * (np.arange(len(force)) + 0.5))[:, None]).sum(axis=0)
        return total


def steps_until_end(push: Push, time: float, dt: float) -> int:
    """From `time` on."""
    end = push.start + (len(push.force) - 1) / push.rate
    return max(0, math.ceil((end - time) / dt - 1e-6))


def outside(character: Character, pushes: Sequence[Push], time: float, dt: float, steps: int) -> Outside | None:
    """What they give in each of so many steps from then on; None where that is nothing."""
    own = [push for push in pushes if push.body in {body.name for body in character.bodies}]
    if not own:
        return None
    points = tuple(
        ContactPoint(f"push_{i}", character.index(push.body), push.point, grab=True) for i, push in enumerate(own)
    )
    return Outside.of_forces(points, np.stack([push.mean_forces(time, dt, steps) for push in own], axis=1))
