# SPDX-License-Identifier: GPL-3.0-or-later
"""How a motion is played while it is followed: the speed of its parts, and the transitions to it.

Time warping and motion transitions of Jain and Liu 2011, section 6, for controllers that compute nothing beforehand.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field, replace

import numpy as np

from .quaternions import Array

SLOWEST, FASTEST = 0.05, 20.0  # of a speed


def _once() -> Array:
    return np.zeros(1)


def _as_keyed() -> Array:
    return np.ones(1)


@dataclass(frozen=True, eq=False)
class Playback:
    """Speeds at moments of a motion and evenly between them; before the first and after the last they stay.

    A moment is a time in the motion as it is keyed, in s from its start. As keyed by default.
    """

    moment: Array = field(default_factory=_once)  # (n,) s, rising
    speed: Array = field(default_factory=_as_keyed)  # (n,) s of the motion in a second
    transitions: tuple[float, ...] = ()  # moments at which the body's own way begins to give way to the motion, s

    def __post_init__(self) -> None:
        for name in ("moment", "speed"):
            values = np.array(getattr(self, name), dtype=np.float64)
            if values.shape != (len(self.moment),) or len(values) == 0 or not np.isfinite(values).all():
                raise ValueError("A motion's speeds must be finite, one for each time.")
            object.__setattr__(self, name, values)
        if (np.diff(self.moment) <= 0.0).any():
            raise ValueError("The times of a motion's speeds must increase.")
        if self.speed.min() < SLOWEST or self.speed.max() > FASTEST:
            raise ValueError(
                f"The speed must stay between {SLOWEST:g} and {FASTEST:g}, not reach from {self.speed.min():g} to "
                f"{self.speed.max():g}."
            )
        moments = tuple(sorted(float(moment) for moment in self.transitions))
        if not np.isfinite(moments).all():
            raise ValueError("A transition must begin at a finite time.")
        object.__setattr__(self, "transitions", moments)

    @property
    def changes(self) -> bool:
        """Whether the motion is played in any other way than it is keyed."""
        return bool(self.transitions) or bool((self.speed != 1.0).any())

    def speed_at(self, moment: float) -> float:
        """At a moment of the motion."""
        return float(np.interp(moment, self.moment, self.speed))

    def played(self, moment: float) -> float:
        """When a moment of the motion comes, s from the start: the integral of its time over the speed."""
        return _beyond(moment, self.moment, self._times(), 1.0 / self.speed) - self._begun()

    def shown(self, time: float) -> float:
        """The moment of the motion that comes at a time: the inverse of `played`."""
        return _beyond(time + self._begun(), self._times(), self.moment, self.speed)

    def shifted(self, seconds: float) -> "Playback":
        """The same of the motion from some moment on."""
        moments = tuple(moment - seconds for moment in self.transitions)
        return replace(self, moment=self.moment - seconds, transitions=moments)

    def _times(self) -> Array:
        """(n,) s from the first of the moments to each."""
        growth = np.diff(self.speed) / self.speed[:-1]
        # the integral of 1 / (1 + growth x) over x from 0 to 1
        passed = np.divide(np.log1p(growth), growth, out=np.ones_like(growth), where=growth != 0.0)
        return np.concatenate(([0.0], np.cumsum(passed * np.diff(self.moment) / self.speed[:-1])))

    def _begun(self) -> float:
        return _beyond(0.0, self.moment, self._times(), 1.0 / self.speed)


def rising(switch: Iterable[bool]) -> list[int]:
    """The rows at which a switch is turned on."""
    on = np.concatenate(([False], np.asarray(list(switch), dtype=np.bool_)))
    return [int(row) for row in np.flatnonzero(on[1:] & ~on[:-1])]


def _beyond(x: float, at: Array, values: Array, slopes: Array) -> float:
    """Interpolation that goes on along the first and the last slope."""
    if x < at[0]:
        return float(values[0] + slopes[0] * (x - at[0]))
    if x > at[-1]:
        return float(values[-1] + slopes[-1] * (x - at[-1]))
    return float(np.interp(x, at, values))
