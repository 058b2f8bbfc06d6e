# SPDX-License-Identifier: GPL-3.0-or-later
"""Walks of four people at a person's strength: how fast they keep up, and how sharply they may turn."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
from heft.core.control.gait import STYLES, heading
from heft.core.job import BakeJob, Scene, run
from heft.core.simulation import Course
from heft.studies.lib.journal import Journal

from studies.paths import jobs

SPEEDS, LONG = (0.6, 0.8, 0.9, 1.0, 1.1), 60.0  # m/s, s
# degrees that are turned at a time, and at which no speed would be left: as the gait has it first
BOUNDS = ((60.0, 120.0), (45.0, 1e9), (60.0, 1e9), (90.0, 90.0), (180.0, 120.0))
TURNS, TURNING_SPEEDS, STARTS, SHORT = (90.0, 180.0), (0.5, 0.8, 1.0), (2.0, 2.6), 8.0  # degrees, m/s, s, s
INTRODUCTION = f"""# The walk at a person's strength

The mannequin and three captured people, each with its own build. Written by `run.py study gait_people`, which
goes on where it was stopped.

## Straight ahead for {LONG:.0f} s

Seconds that each stays up, and the farthest that a foot slides in a stance.

"""
STYLED, STYLED_SPEED = 20.0, 0.6  # s, m/s
STYLES_TEXT = f"""
## Styles at {STYLED_SPEED:g} m/s for {STYLED:.0f} s
"""
TURNED = f"""
## Turns of the mannequin

By {" and ".join(f"{turn:.0f}°" for turn in TURNS)} to both sides at
{", ".join(f"{speed:g}" for speed in TURNING_SPEEDS)} m/s, begun at two moments of a step. At most so much is turned in
two steps; the speed goes down with the turn, to nothing at the second figure.

| at a time | no speed left at | stay up | greatest slide, mm |
|---|---|---|---|"""


def walked(job: BakeJob, course: Course, seconds: float, style: str = "normal") -> dict[str, Any]:
    """The report of a walk along a course."""
    settings = {} if style == "normal" else {"style": style}
    job = replace(job, method="gait", settings=settings, optimise=False, rate=300.0, strength=1.0)
    return run(replace(job, scene=Scene(course=course), seconds=seconds)).report


def turning(speed: float, degrees: float, at: float) -> Course:
    """All at once; the gait spreads it."""
    time = np.array([0.0, at, at, 100.0])
    return Course(time, np.full(4, speed), np.zeros(4), np.radians([0.0, 0.0, degrees, degrees]))


def straight_row(name: str, job: BakeJob) -> str:
    """Straight ahead, by speed."""
    found = [walked(job, Course.straight(speed), LONG) for speed in SPEEDS]
    return row(name, found)


def style_row(style: str, people: Mapping[str, BakeJob]) -> str:
    """A style, by who walks."""
    return row(style, [walked(job, Course.straight(STYLED_SPEED), STYLED, style) for job in people.values()])


def row(name: str, found: Sequence[Mapping[str, Any]]) -> str:
    """Seconds and slides."""
    cells = [f"{one['upright_seconds']:.0f} s, {1e3 * one['max_foot_slide_m']:.0f} mm" for one in found]
    return f"| {name} | {' | '.join(cells)} |"


def turned_row(most: float, still: float, mannequin: BakeJob) -> str:
    """Turns with one bound."""
    with mock.patch.multiple(heading, SHARPEST=np.radians(most), STILL=np.radians(still)):
        found = [
            walked(mannequin, turning(speed, sign * turn, at), SHORT)
            for turn in TURNS
            for sign in (1.0, -1.0)
            for speed in TURNING_SPEEDS
            for at in STARTS
        ]
    up = sum(one["outcome"] == "completed" for one in found)
    slide = 1e3 * max(one["max_foot_slide_m"] for one in found)
    return f"| {most:.0f}° | {_slowing(still)} | {up} of {len(found)} | {slide:.0f} |"


def _slowing(still: float) -> str:
    return f"{still:.0f}°" if still < 1e6 else "it does not slow down"


def study(folder: Path) -> str:
    """The page; this study leaves no pictures."""
    del folder
    journal, people = Journal.of("gait_people"), jobs()
    page = [
        INTRODUCTION,
        f"| who | {' | '.join(f'{speed:g} m/s' for speed in SPEEDS)} |",
        "|---" * (len(SPEEDS) + 1) + "|",
    ]
    page += journal.rows({f"straight, {name}": partial(straight_row, name, people[name]) for name in people})
    page += [STYLES_TEXT, f"| style | {' | '.join(people)} |", "|---" * (len(people) + 1) + "|"]
    page += journal.rows({f"style {style}": partial(style_row, style, people) for style in STYLES})
    turns = {
        f"turns, {most:.0f}°, {_slowing(still)}": partial(turned_row, most, still, people["mannequin"])
        for most, still in BOUNDS
    }
    return "\n".join([*page, TURNED, *journal.rows(turns)]) + "\n"
