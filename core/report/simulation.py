# SPDX-License-Identifier: GPL-3.0-or-later
"""What every method hands over for judgement: a recording, and the motion that it was to follow."""

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from ..character import Character
from ..contact.terrain import Terrain
from ..simulation import Recording

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Followed:
    """Where the character was to be at each of the n + 1 states of a recording, in the world."""

    q: Array  # (n + 1, nq)
    v: Array  # (n + 1, nv)
    frame: NDArray[np.int64]  # (n + 1,) of the reference
    lap: NDArray[np.int64]  # (n + 1,) how often the reference had begun anew


@dataclass(frozen=True, eq=False)
class Simulation:
    """A recording of n steps and what belongs to it."""

    character: Character  # as it was simulated, loads included; props follow it in the recording
    terrain: Terrain
    recording: Recording
    followed: Followed
    cancelled: bool
    lost: int | None  # the state at which it had fallen
    step_seconds: Array  # (n,) of computation, for each step
    help: Array = field(default_factory=lambda: np.zeros((0, 6)))  # (n, 6) force and moment on the root from nowhere
    notes: tuple[str, ...] = ()  # what the method did on its own account, in sentences

    @property
    def upright(self) -> int:
        """Steps before it fell."""
        return self.recording.steps if self.lost is None else self.lost

    @property
    def seconds(self) -> float:
        """Of the motion, as far as it was simulated."""
        return self.recording.steps / self.recording.rate
