# SPDX-License-Identifier: GPL-3.0-or-later
"""Gait control: turns, sideways cycles, pushes, uneven ground, styles."""

from collections.abc import Iterable, Iterator
from functools import partial
from pathlib import Path

import numpy as np
from heft.core.character import Character
from heft.core.contact.terrain import HeightGrid
from heft.core.control.gait import STYLES, Settings
from heft.core.control.gait.gains import TABLE
from heft.core.simulation import Course

from tests.studies.gait_gains import FITTED, cycled, pushed, turning
from tests.studies.gait_walks import GAIT28, Case, walk
from tests.studies.journal import Journal

SEEDS = (11, 12, 13, 14, 15)  # none of those that the gains were found with
FORCES = tuple(100.0 * k for k in range(1, 13))  # N
DIRECTIONS = {"forward": (1.0, 0.0), "backward": (-1.0, 0.0), "left": (0.0, 1.0), "right": (0.0, -1.0)}
INTRODUCTION = """# Gait

After Carensac et al., on `gait28` with the gains in `core/control/gait/gains.json` on a level floor unless it says
otherwise. Starts are nudged by 0.05 m/s and rad/s on every velocity; seeds are others than those of the search.
[How long](gait_steps.md) it walks is a page of its own. Written by `run.py study gait`, which goes on where it was
stopped.
"""
PLANAR = Character.preset("simbicon2d")


def bumps(seed: int) -> HeightGrid:
    """3 cm up or down every half metre, around a level start."""
    heights = np.random.default_rng(seed).uniform(-0.03, 0.03, size=(241, 41))
    heights[38:44] = 0.0
    return HeightGrid(heights, 0.5, (-20.0, -10.0), 1.0)


def slope(degrees: float) -> HeightGrid:
    """Level until the walk is under way."""
    ahead = np.arange(241) * 0.5 - 20.0
    height = np.tan(np.radians(degrees)) * np.maximum(ahead - 1.0, 0.0)
    return HeightGrid(np.repeat(height[:, None], 41, axis=1), 0.5, (-20.0, -10.0), 1.0)


def standing(cases: Iterable[Case], rate: float, settings: Settings | None = None) -> str:
    """How many of them stay up."""
    found = [not walk(case, rate, settings=settings).fell for case in cases]
    return f"{sum(found)} of {len(found)}"


def survivors(x: float, y: float, rate: float) -> int:
    """Of five walks under a push."""
    cases = [Case(Course.straight(0.7), 9.0, seed, (pushed(x, y, 5.0 + 0.1 * k),)) for k, seed in enumerate(SEEDS)]
    return sum(not walk(case, rate).fell for case in cases)


def strongest(name: str, rate: float, journal: Journal) -> float:
    """The largest of FORCES that, with all smaller ones, four of five walks survive."""
    x, y = DIRECTIONS[name]
    largest = 0.0
    for force in FORCES:
        if journal.find(f"{force:g} N {name} {rate:g}", partial(survivors, force * x, force * y, rate)) < 4:
            break
        largest = force
    return largest


def table(title: str, *columns: str) -> str:
    """A heading and the head of a table."""
    return f"\n## {title}\n\n| {' | '.join(columns)} |\n{'|---' * len(columns)}|\n"


def lines(journal: Journal) -> Iterator[str]:
    """The page, part by part."""
    yield table("Five starts each at 300 Hz, that stay up", "what", "stay up")
    for name, cases in groups():
        yield f"| {name} | {journal.find(name, partial(standing, cases, 300.0))} |\n"
    yield table("Styles, 60 s at 0.6 m/s and 300 Hz", "style", "gait28", "planar walker simbicon2d")
    for style in STYLES:
        found = [
            journal.find(
                f"{character.name} {style}",
                partial(
                    standing,
                    [Case(Course.straight(0.6), 60.0, seed, character=character) for seed in seeds],
                    300.0,
                    Settings(style=style),
                ),
            )
            for character, seeds in ((GAIT28, SEEDS), (PLANAR, (0,)))
        ]
        yield f"| {style} | {' | '.join(found)} |\n"
    yield "\nThe planar walker starts from rest: a nudge would take it out of its plane.\n"
    yield table(
        "Largest push, in N, that four of five survive, with all smaller ones", "direction", "1000 Hz", "300 Hz"
    )
    for name in DIRECTIONS:
        yield f"| {name} | {strongest(name, 1000.0, journal):g} | {strongest(name, 300.0, journal):g} |\n"
    yield f"\n0.1 s on the trunk of a walk of 0.7 m/s, at five phases. The largest tried is {FORCES[-1]:g} N.\n"


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
    for degrees in (3.0, -3.0):
        yield (
            f"a slope of {degrees:g} degrees, 100 steps",
            [Case(Course.straight(0.6), 90.0, s, surfaces=[slope(degrees)], steps=100) for s in SEEDS],
        )
    yield (
        "bumps of 3 cm, 100 steps",
        [Case(Course.straight(0.6), 90.0, s, surfaces=[bumps(s)], steps=100) for s in SEEDS],
    )
    yield "a fitted mannequin, 30 s", [Case(Course.straight(0.6), 30.0, s, **FITTED) for s in SEEDS]


def study(folder: Path) -> str:
    """The page."""
    del folder
    return INTRODUCTION + "".join(lines(Journal("gait", [TABLE.parent])))
