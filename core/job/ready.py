# SPDX-License-Identifier: GPL-3.0-or-later
"""A job that only has to be simulated."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from ..cache import Cache
from ..control.method import Method
from ..control.stage import Stage
from .job import BakeJob
from .motion import Motion
from .progress import Clock


class Prepared(NamedTuple):
    """What its simulation and its result are made of."""

    job: BakeJob
    chosen: Sequence[str]  # what was chosen for it, in sentences
    method: Method
    plan: Any
    motion: Motion
    stage: Stage
    asked: float  # s of simulation
    clock: Clock
    cache: Cache

    @property
    def begins(self) -> float:
        """When it does, in s of the scene."""
        return self.motion.first_frame / self.job.fps

    @property
    def steps(self) -> int:
        """Of its simulation, if nothing ends it early."""
        return round(min(self.stage.seconds, self.stage.ends) * self.stage.rate)
