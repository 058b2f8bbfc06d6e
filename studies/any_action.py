# SPDX-License-Identifier: GPL-3.0-or-later
"""Bakes of what beginners key, with nothing but defaults."""

from pathlib import Path
from typing import Any

from heft.core.job import run
from heft.examples.beginners import ACTIONS

from tests.core.job.beginners import job

INTRODUCTION = """# Bakes of what beginners key

Each action of `examples/beginners.py` is baked on the mannequin with default settings. None of it could happen as it is
keyed: it must come back as a motion near to it, with the help that this takes. Written by `run.py study any_action`.

- off: mean distance of the joints from where they were keyed
- help: from nowhere, as a share of the weight, mean and greatest
- slide: the farthest that a foot slides in one stance
"""
HEAD = ["| action | outcome | off mm | help % | at most % | slide mm | why |", "|---|---|---|---|---|---|---|"]


def row(name: str, report: dict[str, Any]) -> str:
    """A line of the table."""
    return (
        f"| {name} | {report['outcome']} | {report['source_error_mm']:.0f} | {100 * report['help_mean']:.0f} | "
        f"{100 * report['help_max']:.0f} | {1000 * report['max_foot_slide_m']:.0f} | {report['why']} |"
    )


def study(folder: Path) -> str:
    """The page; this study leaves no pictures."""
    del folder
    reports = {name: run(job(name)).report for name in ACTIONS}
    done = sum(report["outcome"] == "completed" for report in reports.values())
    rows = [row(name, report) for name, report in reports.items()]
    return "\n".join([INTRODUCTION, f"{done} of {len(reports)} complete.", "", *HEAD, *rows, ""])
