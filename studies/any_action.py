# SPDX-License-Identifier: GPL-3.0-or-later
"""Bakes of what beginners key, with nothing but defaults."""

import time
from pathlib import Path
from typing import Any

from heft.core.job import BakeResult, run
from heft.examples.beginners import ACTIONS
from heft.studies.lib.beside_source import film_strip

from tests.core.job.beginners import job

INTRODUCTION = """# Bakes of what beginners key

Each action of `examples/beginners.py` is baked on the mannequin with default settings. None of it could happen as it is
keyed: it must come back as a motion near to it, with the help that this takes. Written by `run.py study any_action`.

- off: mean distance of the joints from where they were keyed
- help: from nowhere, as a share of the weight, mean and greatest
- slide: the farthest that a foot slides in one stance
- s/s: seconds of processor time a second of motion, of all of the bake

The pictures are of the ten that take the most help or end farthest off: green as it was keyed, dark as it was baked,
with forces at the ground, and dashed the help.
"""
PICTURES = 10
HEAD = [
    "| action | outcome | off mm | help % | at most % | slide mm | s/s | why |",
    "|---|---|---|---|---|---|---|---|",
]


def timed(name: str) -> tuple[BakeResult, float]:
    """An action's bake, and how long it takes."""
    asked, begun = job(name), time.process_time()
    result = run(asked)
    return result, (time.process_time() - begun) / asked.duration


def row(name: str, report: dict[str, Any], pace: float) -> str:
    """A line of the table."""
    return (
        f"| {name} | {report['outcome']} | {report['source_error_mm']:.0f} | {100 * report['help_mean']:.0f} | "
        f"{100 * report['help_max']:.0f} | {1000 * report['max_foot_slide_m']:.0f} | {pace:.2f} | "
        f"{report['why']} |"
    )


def study(folder: Path) -> str:
    """The page; and pictures of the hardest."""
    timed("kick")  # the first bake loads what all need
    bakes = {name: timed(name) for name in ACTIONS}
    results = {name: result for name, (result, _) in bakes.items()}
    reports = {name: result.report for name, result in results.items()}
    done = sum(report["outcome"] == "completed" for report in reports.values())
    rows = [row(name, report, bakes[name][1]) for name, report in reports.items()]
    hard = sorted(reports, key=lambda name: -reports[name]["source_error_mm"] - 100.0 * reports[name]["help_mean"])
    shown = []
    for name in hard[:PICTURES]:
        file = f"any_action_{name.replace(' ', '_')}.svg"
        (folder / file).write_text(film_strip(job(name).clip, results[name]), encoding="utf-8")
        shown += [f"### {name}", "", f"![{name}]({file})", ""]
    return "\n".join([INTRODUCTION, f"{done} of {len(reports)} complete.", "", *HEAD, *rows, "", *shown])
