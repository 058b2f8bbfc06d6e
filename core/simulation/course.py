# SPDX-License-Identifier: GPL-3.0-or-later
"""A course: the speed and heading of a walk over time, for methods that need no clip."""

from dataclasses import dataclass, field
from typing import Self

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

FASTEST = 10.0  # m/s


def _still() -> Array:
    return np.zeros(1)


@dataclass(frozen=True, eq=False)
class Course:
    """Commands at given times, linear in between, constant before the first and after the last; zero by default."""

    time: Array = field(default_factory=_still)  # (n,) s, not falling; of two at one time the later counts from there
    forward: Array = field(default_factory=_still)  # (n,) speed, m/s
    left: Array = field(default_factory=_still)  # (n,) speed sideways, m/s
    heading: Array = field(default_factory=_still)  # (n,) rad to the left of where the character faces at the start

    def __post_init__(self) -> None:
        for name in ("time", "forward", "left", "heading"):
            values = np.array(getattr(self, name), dtype=np.float64)
            if values.shape != (len(self.time),) or len(values) == 0 or not np.isfinite(values).all():
                raise ValueError(f"The {name} of a course must be finite, one for each time.")
            object.__setattr__(self, name, values)
        if (np.diff(self.time) < 0.0).any():
            raise ValueError("The times of a course must not decrease.")
        if max(np.abs(self.forward).max(), np.abs(self.left).max()) > FASTEST:
            raise ValueError(f"A course can ask for at most {FASTEST:g} m/s.")

    @classmethod
    def straight(cls, speed: float) -> Self:
        """Ahead."""
        return cls(forward=np.full(1, speed))

    def at(self, time: float) -> tuple[float, float, float]:
        """Speed forward and to the left, and heading."""
        forward, left, heading = (
            float(np.interp(time, self.time, wish)) for wish in (self.forward, self.left, self.heading)
        )
        return forward, left, heading
