# SPDX-License-Identifier: GPL-3.0-or-later
"""Folders of clips, all with nothing but defaults: what becomes of each, how near to its source, with how much help.

The folders are those that HEFT_CLIPS names, with colons between, or the captured clips beside the repository: all of
the usual ones, and a sample of the hard. A study that is stopped goes on where it was, as long as the code is the same.
"""

import os
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from heft.core.cache import Cache
from heft.core.job import BakeJob, run
from heft.core.job.choosing import resolved
from heft.core.job.preparing import make_motion
from heft.core.job.progress import Clock, ProgressReporter
from heft.core.motion.body_plan import plausible_scale
from heft.core.motion.bvh import read_bvh
from heft.core.motion.clip import scaled
from heft.core.motion.upright import stood_up, up_of
from heft.core.report.source import GROUNDED
from heft.core.rig.roles import detect_roles
from heft.studies.lib.journal import Journal

from tests.core.motion.skeletons import CLIPS, CMU_ROLES, CMU_UNIT
from tools.environment import ROOT

FOLDERS = (CLIPS / "cmu-hard", CLIPS / "cmu")
SAMPLE = {"cmu-hard": 4}  # every so many clips of it
PER_FRAME = 1000.0 / 30.0**2  # mm a frame squared in a m/s²
NEAR, HELPED = 30.0, 0.02  # mm, and of the weight
TELLING = ("yet it does not fall", "too fast", "out of balance", "only a guess", "slides in", "too quick", "too slow")
TOUCHING = ("skate", "before", "float", "before", "outside flights", "before", "sunk", "before")
COLUMNS = (
    "clip",
    "s",
    "outcome",
    "good",
    "off mm",
    "accelerates",
    "help %",
    "at most",
    *TOUCHING,
    "slide mm",
    "reference s/s",
    "bake",
)
HEAD = [f"| {' | '.join(COLUMNS)} |", "|---" * len(COLUMNS) + "|"]
INTRODUCTION = """# Near to what was keyed

Every clip of a folder is baked with default settings. Written by `run.py study nearness`.

- off: mean distance of the joints from the source action's, frame by frame
- accelerates: mean distance of their accelerations from the source's, in mm a frame squared at 30 frames a second, as
  trackers report it
- help: from nowhere, as a share of the weight, mean and greatest
- skate, float and sunk: by the literature's measures (mm a frame, mm, mm), and before, in the source; float counts
  jumps, outside flights leaves out the frames in which nothing touches or helps the baked body
- slide: the farthest that a foot slides in one stance
- reference, bake: seconds of processor time a second of motion, of making the reference and of all of it
"""


def job_of(path: Path) -> BakeJob:
    """A clip as it comes, in metres and standing; the first frame of the captured ones is none of the motion."""
    if path.parent.name.startswith("cmu"):
        return BakeJob(read_bvh(path, CMU_UNIT).cut(1, 10**6), CMU_ROLES)
    clip = read_bvh(path, 1.0)
    found = detect_roles(clip.skeleton, None, None, clip).bones
    clip = stood_up(clip, up_of(clip, found))
    return BakeJob(scaled(clip, plausible_scale(clip, found)), found)


def bake(path: Path) -> dict[str, Any]:
    """What became of a clip."""
    try:
        job = job_of(path)
        with tempfile.TemporaryDirectory() as folder:
            start = time.process_time()
            make_motion(resolved(job)[0], ProgressReporter(None), Cache(folder), Clock())
            made = time.process_time()
            report = run(job, cache=folder).report
            done = time.process_time()
    except ValueError as refusal:
        return {"outcome": "refused", "why": str(refusal)}
    wanted = (
        "outcome",
        "good",
        "source_error_mm",
        "acceleration_error",
        "help_mean",
        "help_max",
        "help_frames",
        *GROUNDED,
        *(f"source_{name}" for name in GROUNDED),
        "max_foot_slide_m",
        "why",
        "notes",
    )
    found = {name: report[name] for name in wanted}
    return {
        **found,
        "seconds": job.duration,
        "reference": (made - start) / job.duration,
        "bake": (done - start) / job.duration,
    }


def row(name: str, found: dict[str, Any]) -> str:
    """A line of the table."""
    if found["outcome"] == "refused":
        return f"| {name} | | refused: {found['why']} | | | | | | | | | | | | | | | | |"
    pairs = " | ".join(f"{found[name]:.2f} | {found['source_' + name]:.2f}" for name in GROUNDED)
    return (
        f"| {name} | {found['seconds']:.1f} | {found['outcome']} | {'yes' if found['good'] else 'no'} | "
        f"{found['source_error_mm']:.1f} | {PER_FRAME * found['acceleration_error']:.2f} | "
        f"{100 * found['help_mean']:.1f} | {100 * found['help_max']:.0f} | {pairs} | "
        f"{1000 * found['max_foot_slide_m']:.1f} | {found['reference']:.2f} | {found['bake']:.2f} |"
    )


def summed_up(every: list[dict[str, Any]]) -> str:
    """What all clips of a folder have in common."""
    done = [one for one in every if one["outcome"] == "completed"]

    def of(name: str) -> np.ndarray:
        return np.array([one[name] for one in done])

    off = of("source_error_mm")
    means = ", ".join(
        f"{what} {of(name).mean():.2f} ({of('source_' + name).mean():.2f} before)"
        for what, name in zip(("skate", "float", "outside flights", "penetration"), GROUNDED, strict=True)
    )
    return (
        f"Of {len(every)} clips {len(done)} complete, {sum(one['good'] for one in done)} are good. Off: median "
        f"{np.median(off):.1f} mm, {100 * (off <= NEAR).mean():.0f} % within {NEAR:.0f} mm. Acceleration error: median "
        f"{PER_FRAME * np.median(of('acceleration_error')):.2f} mm a frame squared. Help over "
        f"{100 * HELPED:.0f} % of the weight in {int((of('help_max') > HELPED).sum())} clips, on average over "
        f"{100 * HELPED:.0f} % in {int((of('help_mean') > HELPED).sum())}. Means: {means}. Reference: median "
        f"{np.median(of('reference')):.2f} s a second of motion, at most {of('reference').max():.2f}; all of the bake: "
        f"{np.median(of('bake')):.2f} and {of('bake').max():.2f}."
    )


def pages(folders: tuple[Path, ...]) -> Iterator[str]:
    """A part for each folder."""
    journal = Journal("nearness", [ROOT / "core", ROOT / "studies" / "nearness.py"])
    for folder in folders:
        clips = sorted(folder.glob("*.bvh"))[:: 1 if os.environ.get("HEFT_CLIPS") else SAMPLE.get(folder.name, 1)]
        found = [journal.find(str(path), lambda path=path: bake(path)) for path in clips]
        if found:
            yield f"## {folder.name}\n"
            yield f"{len(clips)} of its {len(list(folder.glob('*.bvh')))} clips.\n"
            yield summed_up(found) + "\n"
            yield "\n".join([*HEAD, *(row(path.stem, one) for path, one in zip(clips, found, strict=True))]) + "\n"
            yield from missing(clips, found)


def missing(clips: list[Path], found: list[dict[str, Any]]) -> Iterator[str]:
    """What is told of those that take help."""
    helped = [(path, one) for path, one in zip(clips, found, strict=True) if one.get("help_mean", 0.0) > HELPED]
    if helped:
        yield f"What is told of those that take over {100 * HELPED:.0f} % on average:\n"
        for path, one in helped:
            told = [note for note in (one["why"], *one["notes"]) if any(word in note for word in TELLING)]
            yield f"- {path.stem}: {' '.join(told) or 'nothing.'}"
        yield ""


def study(folder: Path) -> str:
    """The page; this study leaves no pictures."""
    del folder
    named = os.environ.get("HEFT_CLIPS")
    folders = tuple(map(Path, named.split(":"))) if named else FOLDERS
    return "\n".join([INTRODUCTION, *pages(folders)])
