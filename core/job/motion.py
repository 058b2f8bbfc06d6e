# SPDX-License-Identifier: GPL-3.0-or-later
"""A reference as a job has it: with the clip's own poses, and what lays its frames back onto the clip's bones."""

from dataclasses import dataclass, field

import numpy as np

from ..contact.terrain import HeightGrid, Surface
from ..control.methods import method_named
from ..motion import quaternions
from ..motion.body_plan import BodyPlan
from ..motion.cycle import Cycle
from ..motion.cycles import planar_step
from ..motion.damage import Repair
from ..motion.labels import Contact
from ..motion.prepare import Performance
from ..motion.quaternions import Array
from ..motion.reference import Reference
from ..motion.residuals import Residuals
from ..motion.support import Support
from .fitting import samples_of
from .job import BakeJob


@dataclass(frozen=True, eq=False)
class Motion:
    """A reference and what is needed to show it on the clip's skeleton."""

    plan: BodyPlan
    reference: Reference
    source: Array  # (frames, nq) the source's own poses in the reference's frames
    residuals: Residuals  # of each of the reference's frames
    first_frame: float  # of the scene, where the simulation's time begins
    lift: float  # height of the scene's ground under the reference's start, over the reference's own, m
    ground: tuple[Surface, ...]  # that the scene lacks and the motion tells of
    contacts: tuple[Contact, ...]  # over the range, as they were found, or edited
    lines: tuple[str, ...]  # what was done to the clip and what is doubtful, for the report
    repairs: tuple[Repair, ...]  # damage that was mended
    # (n, 2) of each of the reference's frames, by which a motion in place was carried along; empty where none was
    way: Array = field(default_factory=lambda: np.zeros((0, 2)))
    supports: tuple[Support, ...] = ()  # what the scene lacks and the motion tells of, that ground included


@dataclass(frozen=True, eq=False)
class Found:
    """What is kept of a reference."""

    reference: Reference
    source: Array  # (frames, nq) the clip's own poses in its frames
    start: int  # its first frame among the performance's samples
    contacts: tuple[Contact, ...]  # as they were found or edited
    lines: tuple[str, ...]  # what was done and what is doubtful
    put_on: bool  # the scene's ground, which the clip was not made for
    ground: tuple[HeightGrid, ...]  # that the scene lacks, over the clip's own floor
    supports: tuple[Support, ...]  # what is to be told of it and of all else that the scene lacks, over that floor
    cycle: Cycle | None  # from lap to lap, where the reference is one or some in a row
    period: int  # samples of a lap
    sample: Array  # (frames,) of the clip, or of laps in a row, where they are not passed one by one; else none


def residuals_of(job: BakeJob, performance: Performance, found: Found) -> Residuals:
    """Of the reference's frames. A cycle is cut out of the middle of the range, but begins where the range does."""
    samples = len(found.reference.q)
    if found.cycle is None and len(found.sample):
        return performance.residuals.at(found.start + found.sample[:samples])
    if found.cycle is None:
        return performance.residuals.cut(found.start, found.start + samples)
    lap = performance.residuals.cut(found.start, found.start + found.period + 1)
    begin = samples_of(job, performance)[1] - found.start
    if len(found.sample):
        return _along(performance, found, lap, begin)
    return lap.repeated(found.cycle, np.arange(begin, begin + samples), performance.plan.body < 0)


def _along(performance: Performance, found: Found, lap: Residuals, begin: int) -> Residuals:
    """Those along a path: of the lap's samples that come in turn; bones that no body carries keep to the root."""
    assert found.cycle is not None
    loose = performance.plan.body < 0
    count = int(np.ceil(found.sample.max())) + 1
    row = lap.repeated(found.cycle, np.arange(begin, begin + count), loose)
    carried = row.at(found.sample[: len(found.reference.q)])
    if loose.any():
        own = performance.trajectory.q[found.start : found.start + found.period + 1]
        for k, q in enumerate(found.reference.q):
            frame = (begin + round(found.sample[k])) % found.period
            way = planar_step(own[frame], q)
            spin = quaternions.exp(np.array([0.0, 0.0, way.turn]))
            carried.place[k, loose] = way.move_points(lap.place[frame, loose])
            carried.turn[k, loose] = quaternions.multiply(spin, lap.turn[frame, loose])
    return carried


def way_of(job: BakeJob, performance: Performance, found: Found) -> Array:
    """By what each of the reference's frames was carried along, to be brought back by; a motion of several stays."""
    samples, way = len(found.reference.q), performance.way
    leaves = job.path is not None or method_named(job.method).needs.led
    if not len(way) or job.others or leaves:
        return np.zeros((0, 2))
    if found.cycle is None:
        return way[found.start : found.start + samples]
    own = way[found.start : found.start + found.period + 1]
    share = np.arange(len(own))[:, None] / found.period
    own = own + share * (np.array(found.cycle.shift) - (own[-1] - own[0]))  # a lap goes as far as the cycle does
    lap, frame = np.divmod(samples_of(job, performance)[1] - found.start + np.arange(samples), found.period)
    moved: Array = own[frame] + lap[:, None] * np.array(found.cycle.shift)
    return moved
