# SPDX-License-Identifier: GPL-3.0-or-later
"""What every method hands over for judgement: a recording, and the motion that it was to follow."""

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Literal, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from ..character import Character
from ..contact.terrain import Terrain
from .recording import Recording
from .strength import TorqueLimits

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Followed:
    """Where the character was to be at each of the n + 1 states of a recording, in the world."""

    q: Array  # (n + 1, nq)
    frame: NDArray[np.int64]  # (n + 1,) of the reference
    lap: NDArray[np.int64]  # (n + 1,) how often the reference had begun anew


class Recovery(NamedTuple):
    """A disturbance that was answered by steps that the motion does not have."""

    time: float  # s
    # the way of the steps; "caught": without others; "home": back towards the path; "rises" from the ground until "up"
    what: Literal["ahead", "back", "left", "right", "caught", "home", "rises", "up"]
    distance: float  # m, from where the motion's steps would have led to where these did
    added: int = 0  # steps, where the motion stands and has none


@dataclass(frozen=True, eq=False)
class Simulation:
    """A recording of n steps and what belongs to it."""

    character: Character  # as it was simulated, loads included; props follow it in the recording
    terrain: Terrain
    recording: Recording
    followed: Followed
    cancelled: bool
    lost: int | None  # the state at which it had fallen, and stayed down
    step_seconds: Array  # (n,) of computation, for each step
    help: Array = field(default_factory=lambda: np.zeros((0, 6)))  # (n, 6) force and moment on the root from nowhere
    torque_limits: TorqueLimits | None = None  # of the joints
    falls: tuple[int, ...] = ()  # the states of those from which it got up, or tried to
    recoveries: tuple[Recovery, ...] = ()
    notes: tuple[str, ...] = ()  # what the method did on its own account, in sentences

    @property
    def upright(self) -> int:
        """Steps before it first fell."""
        first = (*self.falls, self.recording.steps if self.lost is None else self.lost)
        return first[0]

    @property
    def seconds(self) -> float:
        """Of the motion, as far as it was simulated."""
        return self.recording.steps / self.recording.rate

    def with_notes(self, notes: Iterable[str], recoveries: Iterable[Recovery]) -> Self:
        """The same with what the method has to say."""
        return replace(self, notes=tuple(notes), recoveries=tuple(recoveries))
