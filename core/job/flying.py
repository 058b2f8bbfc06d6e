# SPDX-License-Identifier: GPL-3.0-or-later
"""A job's motion with flights that gravity allows."""

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from ..character import Character
from ..contact.terrain import Terrain
from ..motion.fit import Trajectory
from ..motion.flights import Mended, mend_flights
from ..motion.labels import Contact, label
from ..motion.prepare import Performance
from ..motion.quaternions import Array
from .job import BakeJob


class Flown(NamedTuple):
    """A motion, and when of what was keyed it is at."""

    trajectory: Trajectory
    sample: Array  # (nf,) of what was keyed; none where they are the same
    lines: tuple[str, ...]  # for the report
    mended: Mended | None = None

    def now(self, contacts: Iterable[tuple[str, float, float]]) -> list[tuple[str, float, float]]:
        """Contacts of the motion that was keyed."""
        at = _same if self.mended is None else self.mended.mended_frame
        return [(point, at(first), at(last)) for point, first, last in contacts]

    def keyed(self, contacts: Iterable[Contact]) -> tuple[Contact, ...]:
        """Its contacts, when they were keyed."""
        at = _same if self.mended is None else self.mended.keyed_frame
        return tuple(Contact(point, at(first), at(last)) for point, first, last in contacts)


def with_flights(
    job: BakeJob, performance: Performance, character: Character, trajectory: Trajectory, terrain: Terrain | None
) -> Flown:
    """The motion as the job has its flights; cycles, motions in place and whoever holds on fly as they are keyed."""
    as_keyed = Flown(trajectory, np.zeros(0), ())
    several = bool(job.others) or job.playback.changes
    if (
        job.cyclic
        or several
        or not job.optimise
        or len(performance.way)
        or job.scene.grabs
        or job.flights == "as_keyed"
    ):
        return as_keyed
    mended = mend_flights(character, trajectory, label(character, trajectory, terrain), job.flights, terrain)
    if mended.trajectory is trajectory:
        return as_keyed._replace(lines=mended.lines)
    return Flown(mended.trajectory, mended.sample, mended.lines, mended)


def _same(frame: float) -> float:
    return frame
