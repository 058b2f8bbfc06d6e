# SPDX-License-Identifier: GPL-3.0-or-later
"""A job's motion at a glance: as it is keyed, where it is keyed."""

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from ..cache import Cache
from ..motion import quaternions
from ..motion.floor import Floor
from ..motion.labels import relabel
from ..motion.prepare import Performance
from ..motion.quaternions import Array
from ..report.glance import Glance, look
from .fitting import performance_of
from .job import BakeJob
from .preparing import labelled
from .progress import ProgressReporter


def glance(job: BakeJob, reporter: ProgressReporter, cache: Cache) -> Glance:
    """What physics says of each of a job's frames. Nothing is optimised."""
    reporter("fit", 0.0)
    performance, terrain = performance_of(job, cache)
    reporter("fit", 1.0)
    motion = labelled(job, performance, terrain)
    character, trajectory, schedule = motion.character, motion.trajectory, motion.schedule
    if job.contacts is not None:
        schedule = relabel(character, trajectory, schedule, job.contacts)
    frames = np.arange(np.ceil(trajectory.first_frame), trajectory.frame(len(trajectory.q) - 1) + 1e-6)
    samples = np.clip(
        np.rint((frames - trajectory.first_frame) / trajectory.frames_per_sample).astype(np.int64),
        0,
        len(trajectory.q) - 1,
    )
    found = look(character, trajectory, schedule, motion.terrain, samples, 1.0 / job.fps)
    return _where_it_is_keyed(replace(found, frames=frames), performance, motion.start + samples)


def _where_it_is_keyed(found: Glance, performance: Performance, samples: NDArray[np.int64]) -> Glance:
    """The same, moved back onto the clip's own floor, and along with what was in place or drifts."""
    trajectory, floor = performance.trajectory, performance.floor
    away = np.zeros((len(samples), 3))
    if len(performance.way):
        away[:, :2] = performance.way[samples]
    drifted = (samples - 0.5 * (len(trajectory.q) - 1))[:, None] / trajectory.rate * np.array(floor.drift)
    corners = np.repeat(np.arange(len(samples)), np.diff(found.support.start))
    return replace(
        found,
        center=_on_floor(found.center - away, floor) + drifted,
        arc=_on_floor(found.arc - away, floor) + drifted,
        balance=_on_floor(found.balance - away, floor) + drifted,
        support=replace(found.support, point=_on_floor(found.support.point - away[corners], floor) + drifted[corners]),
        place=_on_floor(found.place - away[:, None], floor) + drifted[:, None],
    )


def _on_floor(places: Array, floor: Floor) -> Array:
    """What `motion.floor.level` turned and moved to z = 0, back."""
    normal = np.array([-floor.slope[0], -floor.slope[1], 1.0])
    turn = quaternions.between(np.array([0.0, 0.0, 1.0]), normal)
    result: Array = quaternions.rotate(turn, places) + np.array([0.0, 0.0, floor.height])
    return result
