# SPDX-License-Identifier: GPL-3.0-or-later
"""Captured walks and turns altered in many ways, baked with nothing but defaults."""

import json
import tempfile
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from heft.core import BakeJob, run
from heft.core.job import BodySettings, precompute
from heft.core.rig.roles import detect_roles
from heft.studies.lib.altered_clips import enlarged, mirrored, retargeted
from heft.studies.lib.captured_walks import DEGREES, METRES, SLIDE, WALKS

from tests.blender.rig.rigs import mpfb_skeleton
from tests.core.motion.skeletons import CMU_ROLES, GOOD, cmu, wooden, wooden_roles

RIGS = ("cmu_mb", "mixamo", "game_engine", "human")
SHORTEST_SWING = 0.1  # s
ENOUGH = 0.95
INTRODUCTION = f"""# Altered clips

Each of the {len(WALKS)} captured walks, turns, marches, sneaks, sideways and backward walks and long steps is altered
in many ways and baked once through with default settings. Asked: {100 * ENOUGH:.0f} % complete. Written by
`run.py study robust_clips`.

- mirror: left and right swapped; slower, faster: 0.85 and 1.15 times the speed
- starts, ends, both: cut in mid-stride at that end, while one foot stands and the other swings
- light, heavy: the body has 45 kg or 120 kg; small, tall: all lengths times 0.75 or 1.2, in the same time
- full: the character has all joints that a rig may have
- wooden and the rest: retargeted to another rig by its bones' roles, which are detected automatically. Such simple
  retargeting makes feet slide

A cell says `ok` where the bake completes with joints within {DEGREES:.0f}° RMS, root within {100 * METRES:.0f} cm RMS
and feet that slide less than {1000 * SLIDE:.0f} mm; `up` and what misses these where it completes; else when it
fell, and why below.
"""


def whole(number: str) -> BakeJob:
    """The clip as it is, but for the pose inserted before it."""
    clip = cmu(number)
    return BakeJob(clip.cut(1, len(clip.position)), CMU_ROLES, name=number)


def variants(number: str) -> Iterator[tuple[str, BakeJob]]:
    """All jobs made of one clip."""
    job = whole(number)
    clip, roles = job.clip, job.roles
    yield "as it is", job
    other, swapped = mirrored(clip, roles)
    yield "mirror", replace(job, clip=other, roles=swapped)
    yield "slower", replace(job, clip=replace(clip, rate=0.85 * clip.rate))
    yield "faster", replace(job, clip=replace(clip, rate=1.15 * clip.rate))
    first, last = mid_stride(job)
    yield "starts", replace(job, frame_start=first)
    yield "ends", replace(job, frame_end=last)
    yield "both", replace(job, frame_start=first, frame_end=last)
    yield "light", replace(job, body=BodySettings(total_mass=45.0))
    yield "heavy", replace(job, body=BodySettings(total_mass=120.0))
    yield "small", replace(job, clip=enlarged(clip, 0.75))
    yield "tall", replace(job, clip=enlarged(clip, 1.2))
    yield "full", replace(job, body=BodySettings(detail="full"))
    for name, (skeleton, found) in rigs().items():
        yield name, replace(job, clip=retargeted(clip, roles, skeleton, found), roles=found)


@cache
def rigs() -> dict[str, tuple[Any, Any]]:
    """Other rigs, with the roles of their bones."""
    found = {"wooden": (wooden(), wooden_roles())}
    for name in RIGS:
        skeleton = mpfb_skeleton(name)
        roles = detect_roles(skeleton)
        found[name] = (skeleton, {role: names for role, names in roles.bones.items() if names})
    return found


def mid_stride(job: BakeJob) -> tuple[float, float]:
    """The middles of the first and of the last stretch in which one foot alone stands and the other is on its way."""
    with tempfile.TemporaryDirectory() as folder:
        contacts = precompute(job, cache=folder).contacts
    first, last = job.frames
    frames = np.arange(first, last + 1.0)
    standing = np.zeros(len(frames), dtype=np.int64)
    for foot in ("left_foot", "right_foot"):
        on = np.zeros(len(frames), dtype=np.bool_)
        for contact in contacts:
            if contact.point.startswith(foot):
                on |= (frames >= contact.first_frame) & (frames <= contact.last_frame)
        standing += on
    edges = np.flatnonzero(np.diff(np.concatenate([[0], (standing == 1).astype(int), [0]]))).reshape(-1, 2)
    middles = [(a + b) // 2 for a, b in edges.tolist() if b - a > SHORTEST_SWING * job.fps]
    return float(frames[middles[0]]), float(frames[middles[-1]])


def bake(job: BakeJob) -> dict[str, Any] | str:
    """The report, or why there is none."""
    try:
        report: dict[str, Any] = json.loads(run(job).report_text)
    except ValueError as refusal:
        return str(refusal)
    return report


def cell(report: dict[str, Any] | str) -> str:
    """What became of it, in a word or some."""
    if isinstance(report, str):
        return "refused"
    if report["outcome"] != "completed":
        return f"{report['outcome']} {report['upright_seconds']:.1f} s"
    misses = []
    if report["joint_rms_deg"] >= DEGREES:
        misses.append(f"{report['joint_rms_deg']:.1f}°")
    if report["root_rms_m"] >= METRES:
        misses.append(f"{100 * report['root_rms_m']:.0f} cm")
    if report["max_foot_slide_m"] >= SLIDE:
        misses.append(f"slides {1000 * report['max_foot_slide_m']:.0f} mm")
    return f"up, {', '.join(misses)}" if misses else "ok"


def study(folder: Path) -> str:
    """The page; this study leaves no pictures."""
    del folder
    if not GOOD:
        return "# Altered clips\n\nThe clips are not beside the checkout.\n"
    cells: dict[str, dict[str, str]] = {}
    notes = []
    for number in WALKS:
        for name, job in variants(number):
            report = bake(job)
            found = cells.setdefault(name, {})[number] = cell(report)
            if not found.startswith(("ok", "up")):
                notes.append(f"- {number}, {name}: {report if isinstance(report, str) else report['why']}")
    flat = [found for row in cells.values() for found in row.values()]
    complete = sum(found.startswith(("ok", "up")) for found in flat)
    share = 100 * complete / len(flat)
    page = [INTRODUCTION, f"Of {len(flat)} bakes {complete} complete ({share:.1f} %), {flat.count('ok')} ok.", ""]
    page += [f"| | {' | '.join(WALKS)} |", "|---" * (len(WALKS) + 1) + "|"]
    page += [f"| {name} | {' | '.join(row[number] for number in WALKS)} |" for name, row in cells.items()]
    return "\n".join([*page, "", *notes])
