# SPDX-License-Identifier: GPL-3.0-or-later
"""A slider over time, between motions that are combined."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Slider:
    """Where it stands at some times and evenly between them; before the first and after the last it stays."""

    time: Array  # (n,) s, not falling
    place: Array  # (n,) 0 the first motion, 1 the last

    def __post_init__(self) -> None:
        for name in ("time", "place"):
            values = np.array(getattr(self, name), dtype=np.float64)
            if values.shape != (len(self.time),) or len(values) == 0 or not np.isfinite(values).all():
                raise ValueError(f"The {name} of a slider must be finite, one for each time.")
            object.__setattr__(self, name, values)
        if (np.diff(self.time) < 0.0).any():
            raise ValueError("The times of a slider must not decrease.")
        if self.place.min() < 0.0 or self.place.max() > 1.0:
            raise ValueError("A slider must stay between 0 (the first motion) and 1 (the last).")

    def at(self, time: float) -> float:
        """Where it stands."""
        return float(np.interp(time, self.time, self.place))
