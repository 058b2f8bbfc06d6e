# SPDX-License-Identifier: GPL-3.0-or-later
"""A take: what was done on the stage, as the pushes, balls and course of a job that moves to the same bits."""

from dataclasses import dataclass, replace

from ..control.methods import method_named
from ..job import BakeJob
from ..simulation import Course, Prop, Push

FORMAT, VERSION = "heft.take", 2
LONGEST = 300.0  # s


@dataclass(frozen=True, eq=False)
class Take:
    """What was done; times count from the job's first frame on."""

    seconds: float  # how long it lasted
    loops: bool  # whether the gait cycle was repeated
    pushes: tuple[Push, ...]  # in the order in which they are to be added to the scene's
    balls: tuple[Prop, ...]
    course: Course | None = None  # that was walked along, at whole frames, by methods that go along one


def staged(job: BakeJob, *, loops: bool, seconds: float = LONGEST) -> BakeJob:
    """A job as it is played on the stage: the same whatever is done, and however long.

    Steps of recovery are found by trying them out, for which there is no time on a stage.
    """
    goes_on = loops or method_named(job.method).needs.no_motion
    whole = LONGEST if goes_on else job.seconds
    return replace(job, loop=loops, seconds=whole, recovery=False, return_to_path=False, get_up=False, ends=seconds)


def taken(job: BakeJob, take: Take) -> BakeJob:
    """The job that bakes a take of it."""
    scene = job.scene
    scene = replace(scene, pushes=(*scene.pushes, *take.pushes), props=(*scene.props, *take.balls))
    scene = scene if take.course is None else replace(scene, course=take.course)
    return staged(replace(job, scene=scene), loops=take.loops, seconds=take.seconds)
