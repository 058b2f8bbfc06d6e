# SPDX-License-Identifier: GPL-3.0-or-later
"""Captured clips baked with defaults only: once through, and those that repeat as gait cycles for half a minute."""

import time
from dataclasses import replace
from pathlib import Path

from heft.core.job import BakeJob, BakeResult, run

from tests.core.motion.skeletons import CMU_ROLES, CMU_UNIT, GOOD, read_bvh

CYCLIC = 30.0  # s
REPEATING = ("walk", "run", "march", "sneak", "backwards", "sideways", "long_step")
HEADER = (
    "| clip | outcome | upright, s | joints, degrees | root, cm | slide, mm | depth, mm | torque, N m | seconds |",
    "|---|---|---|---|---|---|---|---|---|",
)


def row(name: str, result: BakeResult, seconds: float) -> str:
    """One line of a table."""
    report = result.report
    figures = (
        f"{report['upright_seconds']:.1f} of {report['simulated_seconds']:.1f}",
        f"{report['joint_rms_deg']:.2f}",
        f"{100.0 * report['root_rms_m']:.1f}",
        f"{1e3 * report['max_foot_slide_m']:.1f}",
        f"{1e3 * report['max_penetration_m']:.2f}",
        f"{report['peak_torque_nm']:.0f}",
        f"{seconds:.1f}",
    )
    return f"| {name} | {result.outcome} | {' | '.join(figures)} |"


def table(jobs: dict[str, BakeJob]) -> tuple[list[str], list[str]]:
    """The lines of a table, and a sentence for each job that did not end well."""
    lines, told = list(HEADER), []
    for name, job in jobs.items():
        begun = time.perf_counter()
        try:
            result = run(job)
        except ValueError as error:
            lines.append(f"| {name} | refused | | | | | | | {time.perf_counter() - begun:.1f} |")
            told.append(f"- {name}: {error}")
            continue
        lines.append(row(name, result, time.perf_counter() - begun))
        if result.outcome != "completed":
            told.append(f"- {name}: {result.why}")
    return lines, told


def study(folder: Path) -> str:
    """The page; this study leaves no pictures."""
    del folder
    clips = {path.stem.replace("__", " ").replace("_", " "): read_bvh(path, CMU_UNIT) for path in GOOD}
    jobs = {name: BakeJob(clip, CMU_ROLES) for name, clip in clips.items()}
    names = {path.stem.replace("__", " ").replace("_", " "): path.stem.partition("__")[2] for path in GOOD}
    cycles = {
        name: replace(job, loop=True, seconds=CYCLIC) for name, job in jobs.items() if names[name].startswith(REPEATING)
    }
    run(next(iter(jobs.values())))  # compiles
    once, told_once = table(jobs)
    around, told_around = table(cycles)
    return "\n".join(
        [
            "# Captured clips, baked with defaults only",
            "",
            (
                "Every clip goes through `core.run` with its roles and nothing else: repaired, put on its floor, "
                "fitted, its contacts found, its reference built, its gains computed, simulated at 120 Hz and "
                "measured. Joints and root are RMS distances from the reference while it was upright; slide is the "
                "farthest that a point of a foot went over the ground in one stance. The last column is the whole "
                "bake, gains and all."
            ),
            "",
            "## Once through",
            "",
            *once,
            "",
            *told_once,
            "",
            f"## As gait cycles, {CYCLIC:.0f} s",
            "",
            *around,
            "",
            *told_around,
        ]
    )
