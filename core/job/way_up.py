# SPDX-License-Identifier: GPL-3.0-or-later
"""The motion that a job names to get up by, on its character."""

from dataclasses import replace

from ..motion.damage import repair
from ..motion.fit import fit
from ..motion.quaternions import Array
from ..motion.resample import resample
from ..motion.rising.by_action import put_down
from ..motion.stepped import filled_in
from .job import BakeJob
from .motion import Motion

FEWEST = 10  # samples


def way_up_of(job: BakeJob, motion: Motion) -> Array | None:
    """Its poses (n, nq) at the job's rate, on z = 0; ValueError, in a sentence, if it is of no use.

    The character is the one that the job's own clip makes, so that to name a motion changes nothing before a fall.
    """
    if not job.get_up or job.get_up_clip is None:
        return None
    plan = motion.plan
    try:
        flowing, _ = filled_in(replace(job.get_up_clip, skeleton=plan.skeleton))
        sampled = resample(repair(flowing, job.roles)[0], job.rate)
    except ValueError as error:
        raise ValueError(f"The motion to get up by cannot be used: {error}") from error
    if len(sampled.position) < FEWEST:
        raise ValueError("The motion to get up by is too short: choose one that leads from lying to standing.")
    return put_down(plan.character, fit(plan, sampled)[0].q, job.rate)
