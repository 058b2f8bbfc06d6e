# SPDX-License-Identifier: GPL-3.0-or-later
"""Gait control: how long it walks at which rates, turns, sideways cycles, pushes, uneven ground, styles."""

from collections.abc import Iterable, Iterator
from pathlib import Path

import numpy as np
from heft.core.contact.terrain import HeightGrid
from heft.core.control.gait import STYLES, Settings
from heft.core.simulation import Course

from tests.studies.gait_gains import FITTED, cycled, pushed, turning
from tests.studies.gait_walks import Case, walk

RATES = (2000.0, 1000.0, 500.0, 300.0, 225.0)
SEEDS = (11, 12, 13, 14, 15)  # none of those that the gains were found with
MANY = 3000  # steps
LONGEST = 2400.0  # s, of so many steps
FORCES = (100.0, 200.0, 300.0, 400.0)  # N
DIRECTIONS = {"forward": (1.0, 0.0), "backward": (-1.0, 0.0), "left": (0.0, 1.0), "right": (0.0, -1.0)}
INTRODUCTION = """# Gait

After Carensac et al., on `gait28` with the gains in `core/control/gait/gains.json` on a level floor unless it says
otherwise. Starts are nudged by 0.05 m/s and rad/s on every velocity; seeds are others than those of the search.
Not built: the ground contact stabiliser, the study of gains by rate (figures 2 and 3). Written by `run.py study gait`.
"""


def bumps(seed: int) -> HeightGrid:
    """3 cm up or down every half metre, around a level start."""
    heights = np.random.default_rng(seed).uniform(-0.03, 0.03, size=(241, 41))
    heights[38:44] = 0.0
    return HeightGrid(heights, 0.5, (-20.0, -10.0), 1.0)


def standing(cases: Iterable[Case], rate: float, settings: Settings | None = None) -> str:
    """How many of them stay up."""
    found = [not walk(case, rate, settings=settings).fell for case in cases]
    return f"{sum(found)} of {len(found)}"


def strongest(x: float, y: float, rate: float) -> float:
    """The largest of FORCES that, with all smaller ones, four of five walks survive."""
    largest = 0.0
    for force in FORCES:
        cases = [
            Case(Course.straight(0.7), 9.0, seed, (pushed(force * x, force * y, 5.0 + 0.1 * k),))
            for k, seed in enumerate(SEEDS)
        ]
        if sum(not walk(case, rate).fell for case in cases) < 4:
            break
        largest = force
    return largest


def table(title: str, *columns: str) -> str:
    """A heading and the head of a table."""
    return f"\n## {title}\n\n| {' | '.join(columns)} |\n{'|---' * len(columns)}|\n"


def lines() -> Iterator[str]:
    """The page, part by part."""
    yield table(f"Straight at 0.7 m/s until {MANY} steps, explicit {MANY // 5}", "rate, Hz", "PD", "steps", "seconds")
    for rate in RATES:
        for implicit, kind in ((True, "implicit"), (False, "explicit")):
            case = Case(Course.straight(0.7), LONGEST, 11, steps=MANY if implicit else MANY // 5)
            walked = walk(case, rate, settings=Settings(implicit=implicit))
            yield f"| {rate:g} | {kind} | {walked.steps} | {walked.seconds:.0f} |\n"
    yield table("Five starts each at 300 Hz, that stay up", "what", "stay up")
    for name, cases in groups():
        yield f"| {name} | {standing(cases, 300.0)} |\n"
    yield table("Styles, 60 s at 0.6 m/s and 300 Hz", "style", "stay up")
    for style in STYLES:
        cases = [Case(Course.straight(0.6), 60.0, seed) for seed in SEEDS]
        yield f"| {style} | {standing(cases, 300.0, Settings(style=style))} |\n"
    yield table(
        "Largest push, in N, that four of five survive, with all smaller ones", "direction", "1000 Hz", "300 Hz"
    )
    for name, (x, y) in DIRECTIONS.items():
        yield f"| {name} | {strongest(x, y, 1000.0):g} | {strongest(x, y, 300.0):g} |\n"
    yield "\n0.1 s on the trunk of a walk of 0.7 m/s, at five phases. The largest tried is 400 N.\n"


def groups() -> Iterator[tuple[str, list[Case]]]:
    """Walks of five starts."""
    for degrees in (45.0, 60.0, 90.0, 115.0):
        for sign in (1.0, -1.0):
            course = [turning(0.7, sign * degrees, 4.0 + 0.13 * k) for k in range(len(SEEDS))]
            cases = [Case(one, 12.0, seed) for one, seed in zip(course, SEEDS, strict=True)]
            yield f"turn of {sign * degrees:g} degrees", cases
    yield (
        "sideways 0, 0.2, -0.2 m/s every five steps, 200 steps",
        [Case(cycled(0.7), 130.0, s, steps=200) for s in SEEDS],
    )
    yield (
        "bumps of 3 cm, 100 steps",
        [Case(Course.straight(0.6), 90.0, s, surfaces=[bumps(s)], steps=100) for s in SEEDS],
    )
    yield "a fitted mannequin, 30 s", [Case(Course.straight(0.6), 30.0, s, **FITTED) for s in SEEDS]


def study(folder: Path) -> str:
    """The page."""
    del folder
    return INTRODUCTION + "".join(lines())
