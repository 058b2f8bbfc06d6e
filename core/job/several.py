# SPDX-License-Identifier: GPL-3.0-or-later
"""The motions of a job that has several: each made as if it were a job of its own, all of one character."""

from dataclasses import replace

from ..cache import Cache
from ..character import Character
from ..control.method import DEFAULT
from .fitting import character_of
from .job import BakeJob
from .motion import Motion
from .preparing import make_motion
from .progress import Clock, ProgressReporter, StageName


class Part(ProgressReporter):
    """Tells the shares of one of some motions that are made in a row."""

    def __init__(self, reporter: ProgressReporter, number: int, count: int) -> None:
        self._reporter, self._number, self._count = reporter, number, count

    def __call__(self, stage: StageName, fraction: float, *more: object) -> None:
        """All of it counts as work on references: what comes before takes next to no time."""
        del more
        within = 0.1 * fraction if stage == "fit" else 0.1 + 0.9 * fraction
        self._reporter("reference", (self._number + within) / self._count)


def make_motions(job: BakeJob, reporter: ProgressReporter, cache: Cache, clock: Clock) -> list[Motion]:
    """The job's own motion, and those to combine with it.

    One character does them all: it is made from all clips, and its joints reach as far as any of them.
    """
    if not job.others:
        return [make_motion(job, reporter, cache, clock)]
    parts = of_one_character(job, reporter, cache, clock)
    return [make_motion(part, Part(reporter, number, len(parts)), cache, clock) for number, part in enumerate(parts)]


def of_one_character(job: BakeJob, reporter: ProgressReporter, cache: Cache, clock: Clock) -> list[BakeJob]:
    """A job for each motion, with the character that does them all."""
    reporter("fit", 0.0)
    parts = single(job)
    character: Character | None = job.character
    with clock.stage("fit"):
        for number, part in enumerate(parts, 1):
            character = character_of(replace(part, character=character), cache)
            reporter("fit", number / len(parts))
    return [replace(part, character=character) for part in parts]


def single(job: BakeJob) -> list[BakeJob]:
    """A job for each motion. What is combined or gone to walks as on level ground, and follows the scene's by feel."""
    clips = [replace(clip, skeleton=job.clip.skeleton) for clip in (job.clip, *job.others)]
    body = replace(job.body, motions=tuple(clips))
    own = replace(job, body=body, others=(), choices=(), ground="level", method=DEFAULT, settings={})
    return [own, *(replace(own, clip=clip, contacts=None, frame_start=None, frame_end=None) for clip in clips[1:])]
