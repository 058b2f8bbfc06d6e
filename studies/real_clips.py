# SPDX-License-Identifier: GPL-3.0-or-later
"""Whole bakes of the captured clips with nothing but defaults."""

import json
from pathlib import Path
from typing import Any

from heft.core import BakeJob, run
from heft.core.motion.bvh import read_bvh
from heft.studies.lib.captured_walks import DEGREES, METRES, SLIDE, WALKS

from tests.core.motion.skeletons import CMU_ROLES, CMU_UNIT, GOOD

SECONDS = 30.0  # of a cycle
INTRODUCTION = f"""# Bakes of captured clips

Every clip is baked from its file with default settings: fit, contacts, clean-up, reference, gains, and look-ahead
control; first once through, then, if it holds a gait cycle, that cycle for {SECONDS:.0f} s. The scenery is missing,
so clips on stairs, on a bar or over uneven ground should be refused. Written by `run.py study real_clips`.

- well: completed, joints within {DEGREES:.0f}° RMS, root within {100 * METRES:.0f} cm RMS, feet sliding less than
  {1000 * SLIDE:.0f} mm
- slide: the farthest that a foot slides in one stance while it carries weight; a foot that pivots on the ground in the
  clip has to slide
"""
HEAD = [
    "| clip | outcome | seconds | joints ° | root cm | slide mm | well | notes |",
    "|---|---|---|---|---|---|---|---|",
]


def bake(path: Path, loop: bool) -> dict[str, Any] | str:
    """The report, or why there is none."""
    seconds = SECONDS if loop else None
    try:
        result = run(BakeJob(read_bvh(path, CMU_UNIT), CMU_ROLES, loop=loop, seconds=seconds))
    except ValueError as refusal:
        return str(refusal)
    report: dict[str, Any] = json.loads(result.report_text)
    return report


def row(name: str, report: dict[str, Any] | str) -> tuple[str, bool]:
    """A line of the table, and whether it went well."""
    if isinstance(report, str):
        return f"| {name} | refused | | | | | | {report} |", False
    degrees, metres, slide = report["joint_rms_deg"], report["root_rms_m"], report["max_foot_slide_m"]
    well = report["outcome"] == "completed" and degrees < DEGREES and metres < METRES and slide < SLIDE
    notes = [
        note for note in report["notes"] if "pivots by" in note or "carries no weight" in note or "rehearsals" in note
    ]
    if not well:
        notes.insert(0, report["why"])
    line = (
        f"| {name} | {report['outcome']} | {report['upright_seconds']:.1f} | {degrees:.2f} | {100 * metres:.1f} | "
        f"{1000 * slide:.1f} | {'yes' if well else 'no'} | {'; '.join(notes)} |"
    )
    return line, well


def study(folder: Path) -> str:
    """The page; this study leaves no pictures."""
    del folder
    if not GOOD:
        return "# Bakes of captured clips\n\nThe clips are not beside the checkout.\n"
    page = [INTRODUCTION]
    for title, loop in (("Once through", False), ("Cycles", True)):
        rows, walks, completed = [], [], []
        for path in GOOD:
            report = bake(path, loop)
            if loop and isinstance(report, str):
                continue
            line, well = row(path.stem, report)
            rows.append(line)
            if path.stem.startswith(WALKS):
                walks.append(well)
                completed.append(not isinstance(report, str) and report["outcome"] == "completed")
        page += [f"## {title}", ""]
        kinds = "walks, turns, marches, sneaks, sideways, backwards and long steps"
        page.append(f"Of {len(walks)} {kinds} {sum(completed)} complete, {sum(walks)} of them well.")
        page += ["", *HEAD, *rows, ""]
    return "\n".join(page)
