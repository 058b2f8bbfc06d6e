# SPDX-License-Identifier: GPL-3.0-or-later
"""`CompanyJob`: jobs of several characters in one world. Plain data: saved, loaded, sent; together.py runs it."""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from .. import archive
from ..simulation import Prop
from ..simulation.company import Hold
from . import job as one
from .job import BakeJob

FORMAT = "heft.company"
VERSION = one.VERSION  # a company's file is as old as the jobs in it


@dataclass(frozen=True, eq=False)
class CompanyJob:
    """Jobs of several characters in one world, all at the same scene's frames."""

    jobs: tuple[BakeJob, ...]
    # grabs between two of them, by the jobs' numbers; times in s from the first frame of the earliest on
    holds: tuple[Hold, ...] = ()
    apart: tuple[tuple[int, int], ...] = ()  # pairs that pass through each other
    find_holds: bool = True  # hands that stay at another's body hold on to it

    def __post_init__(self) -> None:
        for name in ("jobs", "holds", "apart"):
            object.__setattr__(self, name, tuple(getattr(self, name)))
        if not self.jobs:
            raise ValueError("There is nobody in this company: give it a job at least.")
        count = len(self.jobs)
        for pair in (*((hold.member, hold.other) for hold in self.holds), *self.apart):
            if not all(0 <= number < count for number in pair):
                raise ValueError(f"There are {count} jobs, and a hold or pair names {max(pair)}: count from 0.")

    @property
    def start(self) -> float:
        """First frame of the earliest job, in s of the scene."""
        return min(job.frames[0] / job.fps for job in self.jobs)

    def with_props_once(self) -> "CompanyJob":
        """The same where each prop is in one job: the first that holds on to it, or else has it.

        Who else holds on to it holds on to something of another's.
        """
        has = [(number, job, prop) for number, job in enumerate(self.jobs) for prop in job.scene.props]
        owner = {prop.name: number for number, _, prop in reversed(has)}
        owner |= {prop.name: number for number, job, prop in reversed(has) if _holds(job, prop)}
        jobs, holds = [], list(self.holds)
        for number, job in enumerate(self.jobs):
            others = {prop.name for prop in job.scene.props if owner[prop.name] != number}
            later = job.frames[0] / job.fps - self.start
            for grab in job.scene.grabs:
                if grab.other in others:
                    free = replace(grab, other=None, start=grab.start + later, end=grab.end + later)
                    holds.append(Hold(number, free, owner[grab.other], grab.other))
            scene = replace(
                job.scene,
                props=tuple(prop for prop in job.scene.props if prop.name not in others),
                grabs=tuple(grab for grab in job.scene.grabs if grab.other not in others),
            )
            jobs.append(replace(job, scene=scene) if others else job)
        return replace(self, jobs=tuple(jobs), holds=tuple(holds))

    def save(self, path: str | Path) -> None:
        """Write the file, whole or not at all."""
        archive.save(self, CompanyJob, path, FORMAT, VERSION)

    @classmethod
    def load(cls, path: str | Path) -> "CompanyJob":
        """Read a file that `save` wrote, now or then; ValueError says in one line what is wrong with it."""
        return archive.load(cls, path, FORMAT, VERSION, "a company's job", OLDER)


def _all_of(renew: archive.Renewal) -> archive.Renewal:
    """What makes every job of a company one version newer."""

    def renewed(company: dict[str, Any], keep: archive.Keep) -> dict[str, Any]:
        return {**company, "jobs": [renew(each, keep) for each in company["jobs"]]}

    return renewed


def _from_12(company: dict[str, Any], keep: archive.Keep) -> dict[str, Any]:
    """A company of version 12, as version 13 says the same: nobody held but who was said to, and grips stayed."""
    company = _all_of(one.OLDER[12])(company, keep)
    return {**company, "holds": [{**hold, "way": None} for hold in company["holds"]], "find_holds": False}


def _with_grabs(renew: archive.Renewal, **new: Any) -> archive.Renewal:
    """What makes a company one version newer, whose grabs between two say more, too."""
    jobs = _all_of(renew)

    def renewed(company: dict[str, Any], keep: archive.Keep) -> dict[str, Any]:
        company = jobs(company, keep)
        return {**company, "holds": [{**hold, "grab": {**hold["grab"], **new}} for hold in company["holds"]]}

    return renewed


OLDER = {
    **{version: _all_of(renew) for version, renew in one.OLDER.items()},
    12: _from_12,
    16: _with_grabs(one.OLDER[16], axis=[1.0, 0.0, 0.0]),
    17: _with_grabs(one.OLDER[17], motion=None),
}


def _holds(job: BakeJob, prop: Prop) -> bool:
    return any(grab.other == prop.name for grab in job.scene.grabs)
