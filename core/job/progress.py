# SPDX-License-Identifier: GPL-3.0-or-later
"""How a run reports its progress, and how it is cancelled."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, Protocol

import numpy as np

from .. import trace
from ..motion.quaternions import Array

StageName = Literal["fit", "reference", "policy", "rehearse", "simulate", "measure"]
WORDS: dict[StageName, str] = {
    "fit": "Fitting the character to the motion",
    "reference": "Correcting the motion's physics",
    "policy": "Preparing the controller",
    "rehearse": "Rehearsing",
    "simulate": "Simulating",
    "measure": "Measuring",
}
# Fractions of the whole, as they are for a few seconds of walking: the reference takes most of the time. Rehearsals are
# needed where a character falls, and then take as long as they take.
FRACTIONS: dict[StageName, float] = {
    "fit": 0.1,
    "reference": 0.6,
    "policy": 0.06,
    "rehearse": 0.0,
    "simulate": 0.2,
    "measure": 0.04,
}
NO_POSES = np.zeros((0, 0, 4, 4))


class CancelledError(Exception):
    """Raised by a callback of progress, or in its name when it returns False: the run stops and keeps what it has."""


class Finished(Protocol):
    """Frames that a simulation has finished; their poses are made only for those who ask."""

    def __len__(self) -> int:
        """How many."""

    def poses(self, rows: slice) -> Array:
        """Of some of them (n, nb, 4, 4), as in BakeResult.poses."""


class Nothing:
    """No frames."""

    def __len__(self) -> int:
        return 0

    def poses(self, rows: slice) -> Array:
        """None."""
        return NO_POSES[rows]


NOTHING = Nothing()
Sketch = Callable[[], Array]
"""Makes, for those who ask, where the heads of all bones are (nf, nb, 3) in each of the range's frames."""


@dataclass(frozen=True, eq=False)
class Progress:
    """Where a run is. While it simulates, frames that are finished come along once each, in order."""

    stage: StageName
    fraction: float  # of the stage, 0 to 1
    first: int = 0  # row of the first of the frames among all of the result's
    finished: Finished = NOTHING
    sketch: Sketch | None = None  # of the motion that is being optimised, as it is by now

    @cached_property
    def poses(self) -> Array:
        """Of the frames (n, nb, 4, 4), as in BakeResult.poses."""
        return self.finished.poses(slice(None))

    @cached_property
    def last_pose(self) -> Array | None:
        """Of the last of the frames (nb, 4, 4), made alone; None where there is none."""
        return self.finished.poses(slice(-1, None))[0] if len(self.finished) else None

    @property
    def text(self) -> str:
        """The stage in words."""
        return WORDS[self.stage]

    @property
    def timed(self) -> bool:
        """Whether the fraction of the whole tells how long it takes: nobody knows how many rehearsals are needed."""
        return FRACTIONS[self.stage] > 0.0

    @property
    def rehearses(self) -> bool:
        """Whether it tries out what there is more than one of, and could go on with the best so far."""
        return self.stage == "rehearse"

    @property
    def whole(self) -> float:
        """Fraction of the whole run, 0 to 1."""
        stages = list(FRACTIONS)
        before = sum(FRACTIONS[stage] for stage in stages[: stages.index(self.stage)])
        return min(before + FRACTIONS[self.stage] * self.fraction, 1.0)


Callback = Callable[[Progress], bool | None]


class ProgressReporter:
    """Calls back, and raises CancelledError when told to stop."""

    def __init__(self, callback: Callback | None) -> None:
        self._callback = callback

    def __call__(
        self,
        stage: StageName,
        fraction: float,
        first: int = 0,
        finished: Finished = NOTHING,
        sketch: Sketch | None = None,
    ) -> None:
        """Report progress in a stage."""
        if self._callback is not None and self._callback(Progress(stage, fraction, first, finished, sketch)) is False:
            raise CancelledError


class Clock:
    """Seconds spent in each stage."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = dict.fromkeys(FRACTIONS, 0.0)

    def begin(self, name: StageName) -> float:
        """Tell the trace of the stage; the time now."""
        trace.note("stage", stage=name)
        return time.perf_counter()

    def spent(self, name: StageName, seconds: float) -> None:
        """Add to the stage."""
        self.seconds[name] += seconds
        trace.note("spent", stage=name, seconds=round(seconds, 6))

    @contextmanager
    def stage(self, name: StageName) -> Iterator[None]:
        """Everything in the block belongs to the stage."""
        begun = self.begin(name)
        try:
            yield
        finally:
            self.spent(name, time.perf_counter() - begun)
