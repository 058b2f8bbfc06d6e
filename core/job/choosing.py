# SPDX-License-Identifier: GPL-3.0-or-later
"""Which method suits a job that leaves it open: told by what there is to move, and by what the methods say they need.

What tells them apart are a few `Signs`. They are read here from a job, and in Blender from an armature's keys before
anything is sampled; from both, `choose` concludes the same.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from ..control.method import DEFAULT, Method, Needs
from ..control.methods import METHODS
from ..motion import quaternions
from ..motion.clip import Clip
from .job import AUTO, BakeJob

STILL = 1e-3  # m/s and rad/s: captured people never move as little, a held key does
HELD = 0.2  # of the time, in which key poses are held
NEAR = 0.6  # m, within which key poses keep the root; who goes further takes steps, which need planning


@dataclass(frozen=True)
class Signs:
    """What tells the methods apart."""

    several: bool = False  # motions beside the first
    switched: bool = False  # among which a key says the active one
    still: bool = False  # one pose is all there is
    led: bool = False  # a course of speeds or headings is asked for
    path: bool = False  # a path is to be walked along
    waits: bool = False  # and stood on on the way, or a target is to be followed over level ground
    holds: bool = False  # hands hold on to what stays in its place, and to nothing that moves by its keys
    few_poses: bool = False  # keyed poses, few and far between, in one place
    retimed: bool = False  # its speed is changed, or there are transitions in it
    footholds: bool = False
    props: bool = False
    carried: bool = False  # it is to stay as it is keyed, with help from nowhere


class Chosen(NamedTuple):
    """A method, and why."""

    method: Method
    as_it_is: bool  # the keys are followed as they are; nothing is optimised first
    because: str

    @property
    def told(self) -> str:
        """A sentence for the report."""
        return f"Method: {self.method.label}, because {self.because}."


Rule = tuple[bool, Callable[[Needs], bool], bool, str]


def choose(signs: Signs) -> Chosen:
    """The first method that can do what the signs ask for; the one of those who choose none where they ask for nothing.

    Hands that hold on, and key poses, are followed as they are keyed: at once, where an optimised reference may take a
    minute of trials, and feet stay where they are put (`python3 run.py study automatic`).
    """
    rules: tuple[Rule, ...] = (
        (signs.several and signs.switched, lambda needs: needs.switches, False, "Active Action is keyed"),
        (signs.several, lambda needs: needs.blends, False, "there are several actions"),
        (signs.still and signs.led, lambda needs: needs.no_motion, True, "it is one pose with a keyed course"),
        (signs.led, lambda needs: needs.led and needs.cycle, False, "it walks along a keyed course"),
        (signs.carried, lambda needs: needs.helps, False, "Help carries it as keyed"),
        (signs.retimed, lambda needs: needs.follows_keys, False, "its speed is changed"),
        (signs.holds, lambda needs: needs.follows_keys, True, "hands hold on to something"),
        (signs.waits, lambda needs: needs.led and needs.cycle, False, "it waits on its way"),
        (signs.path, lambda needs: needs.helps, False, "it walks along a path"),
        (signs.few_poses, lambda needs: needs.follows_keys, True, "it is a few key poses"),
        (signs.footholds, lambda needs: needs.places_feet, False, "there are footholds"),
    )
    for asked, can, as_it_is, because in rules:
        able = [method for method in METHODS.values() if can(method.needs) and (method.needs.props or not signs.props)]
        if asked and able:
            return Chosen(able[0], as_it_is, because)
    return Chosen(METHODS[DEFAULT], False, "it suits most motions")


def resolved(job: BakeJob) -> tuple[BakeJob, tuple[str, ...]]:
    """The job with the method that suits it, and a line that says which and why; one that names its method as it is.

    A method that takes a gait cycle gets it, whether it is asked for or not.
    """
    if job.method != AUTO:
        return _with_cycle(job), ()
    chosen = choose(signs_of(job))
    rate = max(job.rate, chosen.method.needs.least_rate)
    optimise = job.optimise and not (chosen.as_it_is or chosen.method.needs.no_motion)
    return _with_cycle(replace(job, method=chosen.method.name, optimise=optimise, rate=rate)), (chosen.told,)


def _with_cycle(job: BakeJob) -> BakeJob:
    """For a method that takes nothing else."""
    if job.method not in METHODS or job.loop or not METHODS[job.method].needs.cycle:
        return job
    return replace(job, loop=True)


def signs_of(job: BakeJob) -> Signs:
    """What a job shows."""
    scene, course = job.scene, job.scene.course
    speed = _speed(job)
    still = bool((speed < STILL).all())
    return Signs(
        several=bool(job.others),
        switched=bool(job.choices),
        still=still,
        led=bool(course.forward.any() or course.left.any() or course.heading.any()),
        path=job.path is not None,
        waits=job.path is not None and (job.path.waits or (job.path.follows and not scene.surfaces)),
        holds=any(grab.other is None for grab in scene.grabs) and all(grab.motion is None for grab in scene.grabs),
        few_poses=not still and _stays(job.clip) and float((speed < STILL).mean()) >= HELD,
        retimed=job.playback.changes,
        footholds=bool(scene.footholds),
        props=bool(scene.props),
        carried=job.help == "as_keyed",
    )


def _speed(job: BakeJob) -> quaternions.Array:
    """The fastest bone's between samples, (n - 1,): m/s, or rad/s."""
    clip = job.clip
    moved = np.linalg.norm(np.diff(clip.position, axis=0), axis=-1)
    turned = quaternions.angle(clip.orientation[:-1], clip.orientation[1:])
    found: quaternions.Array = np.maximum(moved, turned).max(axis=1) * clip.rate
    return found


def _stays(clip: Clip) -> bool:
    """Whether the root keeps within a step."""
    return float(np.ptp(clip.position[:, 0, :2], axis=0).max()) < NEAR
