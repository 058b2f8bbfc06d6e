# SPDX-License-Identifier: GPL-3.0-or-later
"""Where a job's character is to act, and for how long."""

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import archive
from ..cache import code_version
from ..character import Character
from ..character.strength import joint_strengths
from ..contact.terrain import make_terrain
from ..control.method import Method
from ..control.methods import method_named
from ..control.stage import Stage
from ..motion.led import Meeting
from ..simulation import Push
from ..simulation.own_contact import deepest
from ..simulation.strength import Strength, TorqueLimits
from .carried import loaded
from .job import BakeJob
from .motion import Motion
from .simulated_scene import played, scene_grabs, scene_surfaces, shifted
from .way_up import way_up_of

Array = NDArray[np.float64]

SLOWER = 3.0  # times as long as usual, a walk along a path may take that is planned on its way
LOOKS = 30.0  # 1/s, how often a motion is looked at for limbs that are in each other


def late(job: BakeJob, motion: Motion) -> float:
    """By how many seconds the clip's first frames were lost: the simulation begins so long after the job."""
    return (motion.first_frame - job.frames[0]) / job.fps


def stage_of(
    job: BakeJob,
    motion: Motion,
    method: Method,
    rehearsing: Callable[[float], bool],
    found: dict[str, Any] | None = None,
) -> Stage:
    """The stage for a job's motion; before each rehearsal `rehearsing` is told which share of them is over.

    `found` is what rehearsals have found for jobs of the same `rehearsal_key`.
    """
    lost = late(job, motion)
    playback, asked = job.playback.shifted(lost), _prepared(job, motion)
    character = loaded(motion.plan.character, job.scene, unplanned=True)
    return Stage(
        character=character,
        terrain=make_terrain(scene_surfaces(job, motion)),
        scene=played(shifted(replace(job.scene, grabs=scene_grabs(job, motion)), lost), playback),
        playback=playback,
        rate=job.rate,
        # whole steps, none of which leads beyond the end of the motion: what there is after it would be a sudden stop
        seconds=max(math.floor(asked * job.rate + 1e-6), 1) / job.rate,
        lift=motion.lift,
        # who is to faint is let fall
        helped=method.needs.helps and job.help != "none" and job.scene.strength is None,
        recovery=job.recovery_effort if job.recovery else 0,
        returns=job.return_to_path or job.path is not None,
        gets_up=job.get_up,
        way_up=way_up_of(job, motion),
        looseness=job.looseness,
        felt=tuple(_as_push(meeting, lost, job.rate) for meeting in job.meetings if meeting.force.any()),
        # who has no motion to follow catches itself by steps that lead one leg through the other
        inside=_inside(character, motion) if job.scene.pushes and not method.needs.no_motion else None,
        torque_limits=torque_limits(job, motion, lost),
        noise=np.random.default_rng(job.seed).normal(scale=job.noise, size=character.nv) if job.noise else None,
        directed=job.ends is not None,
        path=job.path,
        ends=math.inf if job.ends is None else max(round(job.ends * job.rate), 1) / job.rate,
        rehearsing=rehearsing,
        found={} if found is None else found,
    )


def _as_push(meeting: Meeting, lost: float, rate: float) -> Push:
    """What another gives, to who is alone; a step's force stands in its middle."""
    force = np.pad(meeting.force, ((1, 1), (0, 0)))
    middle = meeting.point.mean(axis=0).tolist()
    return Push(meeting.body, force, rate, meeting.start - lost - 1.5 / rate, (middle[0], middle[1], middle[2]))


def _inside(character: Character, motion: Motion) -> Array:
    """How deep the motion has limbs in each other and in the trunk, as keys have them who know nothing of thickness."""
    every = max(round(motion.reference.rate / LOOKS), 1)
    return deepest(character, motion.reference.q[::every])


def rehearsal_key(job: BakeJob) -> str:
    """A name for all that rehearsals depend on: surprises are no part of them, nor is what recovery answers."""
    pushes = () if job.recovery else job.scene.foreseen().pushes
    scene = replace(job.scene, pushes=pushes)
    alike = replace(job, name="motion", scene=scene, get_up=False, get_up_clip=None)
    return archive.digest(alike, BakeJob, "rehearsal", code_version())


def asked_for(job: BakeJob, motion: Motion) -> float:
    """How many seconds of the motion are to be shown."""
    asked = _prepared(job, motion)
    return asked if job.ends is None else min(asked, job.ends)


def _prepared(job: BakeJob, motion: Motion) -> float:
    """How many seconds there are at most."""
    if job.path is not None and job.seconds is None:
        if method_named(job.method).needs.led:  # it says itself when it is there
            return max(float(job.path.target_time[-1]), 1.0) if job.path.follows else SLOWER * job.duration
        return motion.reference.steps / job.rate
    return job.duration - (job.playback.played(late(job, motion)) if job.seconds is None else 0.0)


def torque_limits(job: BakeJob, motion: Motion, lost: float) -> TorqueLimits | None:
    """What a person's joints give at most; nobody measured animals. The simulation begins so much later, s."""
    if math.isinf(job.strength) or motion.plan.quadruped:
        return None
    mean = joint_strengths(motion.plan.character, job.body.sex)
    over_time = shifted(job.scene, lost).strength or Strength()
    return TorqueLimits({name: job.strength * most for name, most in mean.items()}, over_time)
