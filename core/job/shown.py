# SPDX-License-Identifier: GPL-3.0-or-later
"""Frames of a simulation, shown as soon as they are finished."""

import time
from collections.abc import Sequence

import numpy as np

from ..motion.quaternions import Array
from ..simulation.recording import SAME_PLACE, between
from .motion import Motion
from .progress import NOTHING, CancelledError, Finished, ProgressReporter
from .ready import Prepared
from .showing import bone_poses

REPORT_AFTER = 0.05  # s, in which finished frames are gathered before they are shown
Frame = tuple[Array, float, int]  # positions, the reference's sample, the lap


class _Frames:
    """Finished frames, as poses on demand."""

    def __init__(self, motion: Motion, frames: Sequence[Frame]) -> None:
        self._motion, self._frames = motion, frames

    def __len__(self) -> int:
        return len(self._frames)

    def poses(self, rows: slice) -> Array:
        q, sample, lap = zip(*self._frames[rows], strict=True)
        return bone_poses(self._motion, np.array(q), np.array(sample), np.array(lap, dtype=np.int64))


class Shown:
    """Shows finished frames while the simulation runs."""

    def __init__(self, ready: Prepared, reporter: ProgressReporter) -> None:
        self._job, self._motion, self._reporter = ready.job, ready.motion, reporter
        self._tree = ready.stage.character.tree
        self._last = max(ready.steps, 1)
        self._done = 0  # frames finished
        self._shown = 0  # frames reported
        self._waiting: list[Frame] = []
        self._before: tuple[Array, int, int] | None = None
        self.begun = self._reported_at = time.perf_counter()  # when the first state was seen

    def __call__(self, state: int, q: Array, frame: int, lap: int) -> bool:
        """A new state."""
        if state == 0:
            self.begun = time.perf_counter()
        own = np.ascontiguousarray(q[: len(self._tree.rest)])
        while self._done / self._job.fps * self._job.rate <= state + SAME_PLACE:
            self._finish(state, own, frame, lap)
        self._before = (own, frame, lap)
        due = time.perf_counter() - self._reported_at > REPORT_AFTER
        return self._report(state) if due or state in {0, self._last} else True

    def _finish(self, state: int, q: Array, frame: int, lap: int) -> None:
        """The next frame lies at this state or on the way to it."""
        share = self._done / self._job.fps * self._job.rate - (state - 1)
        if self._before is None or share > 1.0 - SAME_PLACE:
            self._waiting.append((q, float(frame), lap))
        else:
            before, sample, lap = self._before
            self._waiting.append((between(self._tree, before, q, share), sample + share, lap))
        self._done += 1

    def _report(self, state: int) -> bool:
        fraction, first = min(state / self._last, 1.0), self._shown
        finished: Finished = _Frames(self._motion, self._waiting) if self._waiting else NOTHING
        self._shown += len(finished)
        self._waiting = []
        try:
            self._reporter("simulate", fraction, first, finished)
        except CancelledError:
            return False
        self._reported_at = time.perf_counter()
        return True
