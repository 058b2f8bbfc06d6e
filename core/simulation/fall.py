# SPDX-License-Identifier: GPL-3.0-or-later
"""When a character has fallen: compared with its reference, so that squats, jumps and hanging are not falls."""

import math

import numpy as np
from numpy.typing import NDArray

from ..character import Character
from ..character.tree import FREE
from ..dynamics import body_poses

Array = NDArray[np.float64]

SUNK = 0.18  # of the character's height: a root as far below or above its reference has fallen
LEANING = math.radians(60.0)  # from where the root should lean
SPINNING = 60.0  # rad/s: no joint turns as fast under control
LASTING = 0.1  # s, for which any of these must hold
STRAYS = 0.4  # of SUNK and LEANING, from which on it no longer moves as its reference does
WILD = 120.0  # rad/s or m/s: a fall at once; twice the largest seen in any that stayed up


class FallDetector:
    """Told every state in turn, it knows from which on the character was lost."""

    def __init__(self, character: Character, rate: float) -> None:
        self._free = character.tree.joint[0] == FREE
        self._height = SUNK * height_of(character)
        self._steps = max(1, round(LASTING * rate))
        self._since: int | None = None
        self.lost: int | None = None  # the first state of the loss
        self.strays = False  # it is on its way there, or comes back

    def update(self, state: int, q: Array, v: Array, wanted: Array) -> bool:
        """Whether it has fallen by this state, with positions `q`, velocities `v` and reference positions `wanted`."""
        if self.lost is None and self._free:
            speed, away = float(np.abs(v).max()), self._away(q, wanted)
            self.strays = away > STRAYS
            if speed < SPINNING and away <= 1.0:
                self._since = None
            elif self._since is None:
                self._since = state
            if self._since is not None and (speed > WILD or state - self._since >= self._steps):
                self.lost = self._since
        return self.lost is not None

    @property
    def doubtful(self) -> bool:
        """Whether it may have begun to fall."""
        return self._since is not None

    def end(self) -> int | None:
        """The first state of the loss, when there are no more; a loss that has just begun counts too."""
        return self._since if self.lost is None else self.lost

    def _away(self, q: Array, wanted: Array) -> float:
        """How far, as a share of what is a fall."""
        return max(abs(float(q[2] - wanted[2])) / self._height, lean(q, wanted) / LEANING)


def lean(q: Array, wanted: Array) -> float:
    """Angle between the vertical and what should be vertical in the root's frame, rad."""
    cosine = sum(a * b for a, b in zip(_up(q), _up(wanted), strict=True))
    return math.acos(min(max(cosine, -1.0), 1.0))


def _up(q: Array) -> tuple[float, float, float]:
    """The vertical in a free root's frame: the last row of its rotation."""
    w, x, y, z = q[3:7].tolist()
    return 2.0 * (x * z - w * y), 2.0 * (y * z + w * x), 1.0 - 2.0 * (x * x + y * y)


def height_of(character: Character) -> float:
    """From the lowest to the highest joint in the neutral pose, m: a measure of a character's size."""
    position, _ = body_poses(character, character.neutral())
    return max(float(np.ptp(position[:, 2])), float(np.ptp(position, axis=0).max()))
