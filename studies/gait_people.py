# SPDX-License-Identifier: GPL-3.0-or-later
"""Walks of four people at a person's strength: how fast they keep up, and how sharply they may turn."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
from heft.core.control.gait import heading
from heft.core.job import BakeJob, Scene, run
from heft.core.simulation import Course

from studies.paths import jobs

SPEEDS, LONG = (0.6, 0.8, 0.9, 1.0, 1.1), 60.0  # m/s, s
# degrees that are turned at a time, and at which no speed would be left: as the gait has it first
BOUNDS = ((60.0, 120.0), (45.0, 1e9), (60.0, 1e9), (90.0, 90.0), (180.0, 120.0))
TURNS, TURNING_SPEEDS, STARTS, SHORT = (90.0, 180.0), (0.5, 0.8, 1.0), (2.0, 2.6), 8.0  # degrees, m/s, s, s
INTRODUCTION = f"""# The walk at a person's strength

The mannequin and three captured people, each with its own build. Written by `run.py study gait_people`.

## Straight ahead for {LONG:.0f} s

Seconds that each stays up, and the farthest that a foot slides in a stance.

"""
TURNED = f"""
## Turns of the mannequin

By {" and ".join(f"{turn:.0f}°" for turn in TURNS)} to both sides at
{", ".join(f"{speed:g}" for speed in TURNING_SPEEDS)} m/s, begun at two moments of a step. At most so much is turned in
two steps; the speed goes down with the turn, to nothing at the second figure.

| at a time | no speed left at | stay up | greatest slide, mm |
|---|---|---|---|
"""


def walked(job: BakeJob, course: Course, seconds: float) -> dict[str, Any]:
    """The report of a walk along a course."""
    job = replace(job, method="gait", settings={}, optimise=False, rate=300.0, strength=1.0, scene=Scene(course=course))
    return run(replace(job, seconds=seconds)).report


def turning(speed: float, degrees: float, at: float) -> Course:
    """All at once; the gait spreads it."""
    time = np.array([0.0, at, at, 100.0])
    return Course(time, np.full(4, speed), np.zeros(4), np.radians([0.0, 0.0, degrees, degrees]))


def lines() -> Iterator[str]:
    """The page, part by part."""
    people = jobs()
    yield f"{INTRODUCTION}| who | {' | '.join(f'{speed:g} m/s' for speed in SPEEDS)} |\n{'|---' * (len(SPEEDS) + 1)}|\n"
    for name, job in people.items():
        found = [walked(job, Course.straight(speed), LONG) for speed in SPEEDS]
        cells = [f"{one['upright_seconds']:.0f} s, {1e3 * one['max_foot_slide_m']:.0f} mm" for one in found]
        yield f"| {name} | {' | '.join(cells)} |\n"
    yield TURNED
    for most, still in BOUNDS:
        with mock.patch.multiple(heading, SHARPEST=np.radians(most), STILL=np.radians(still)):
            found = [
                walked(people["mannequin"], turning(speed, sign * turn, at), SHORT)
                for turn in TURNS
                for sign in (1.0, -1.0)
                for speed in TURNING_SPEEDS
                for at in STARTS
            ]
        up = sum(one["outcome"] == "completed" for one in found)
        slide = 1e3 * max(one["max_foot_slide_m"] for one in found)
        slowing = f"{still:.0f}°" if still < 1e6 else "it does not slow down"
        yield f"| {most:.0f}° | {slowing} | {up} of {len(found)} | {slide:.0f} |\n"


def study(folder: Path) -> str:
    """The page; this study leaves no pictures."""
    del folder
    return "".join(lines())
