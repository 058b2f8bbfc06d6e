# SPDX-License-Identifier: GPL-3.0-or-later
"""Gait control: turns, sideways cycles, pushes, uneven ground, styles."""

from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path

from heft.core.character import Character
from heft.core.control.gait import STYLES, Settings
from heft.core.control.gait.gains import TABLE
from heft.core.simulation import Course
from heft.studies.lib.gait_cases import DIRECTIONS, FITTED, SEEDS, STRIDE, bumps, cycled, pushed, slope, table, turning
from heft.studies.lib.gait_walks import GAIT28, SOURCES, Case, walk
from heft.studies.lib.journal import Journal

RATES = (1000.0, 300.0)
COARSE, FINE, MOST = 100.0, 25.0, 2000.0  # N
ENOUGH = 0.8  # of the walks under a push
MANY = range(1, 26)  # starts
INTRODUCTION = """# Gait

After Carensac et al., on `gait28` with the gains in `core/control/gait/gains.json` on a level floor unless stated
otherwise. Every velocity at the start is perturbed by 0.05 m/s and rad/s; the seeds differ from those of the search.
[How long](gait_steps.md) it walks has its own page. Written by `run.py study gait`, which goes on where it was
stopped.
"""
PLANAR = Character.preset("simbicon2d")


def standing(cases: Sequence[Case]) -> int:
    """How many of them stay up."""
    return sum(not walk(case).fell for case in cases)


def survives(name: str, force: float, rate: float, journal: Journal) -> bool:
    """Whether enough of five starts in five phases of a stride do."""
    questions = {
        f"{force:g} N {name} {rate:g} Hz, phase {k}": partial(
            standing,
            [
                Case(Course.straight(0.7), 9.0, seed, pushed(name, force, 5.0 + STRIDE * k / len(SEEDS)), rate=rate)
                for seed in SEEDS
            ],
        )
        for k in range(len(SEEDS))
    }
    return sum(journal.find_all(questions)) >= ENOUGH * len(SEEDS) ** 2


def strongest(name: str, rate: float, journal: Journal) -> float:
    """The largest push that is survived, with all smaller ones tried."""
    largest = 0.0
    for step in (COARSE, FINE):
        while largest + step <= MOST and survives(name, largest + step, rate, journal):
            largest += step
    return largest


def lines(journal: Journal) -> Iterator[str]:
    """The page, part by part."""
    walks = dict(groups())
    found = dict(zip(walks, journal.find_all({name: partial(standing, walks[name]) for name in walks}), strict=True))
    yield table("Starts at 300 Hz that stay up", "what", "stay up")
    yield from (f"| {name} | {found[name]} of {len(walks[name])} |\n" for name in walks if name not in STYLES)
    yield table("Styles, 60 s at 0.6 m/s and 300 Hz", "style", "gait28", "planar walker simbicon2d")
    planar = {f"planar {style}": partial(standing, [styled(style, 0, PLANAR)]) for style in STYLES}
    for style, alone in zip(STYLES, journal.find_all(planar), strict=True):
        yield f"| {style} | {found[style]} of {len(walks[style])} | {alone} of 1 |\n"
    yield "\nThe planar walker starts from rest: a nudge would take it out of its plane.\n"
    yield table("Largest push, in N, that four of five survive", "direction", *(f"{rate:g} Hz" for rate in RATES))
    for name in DIRECTIONS:
        yield f"| {name} | {' | '.join(f'{strongest(name, rate, journal):g}' for rate in RATES)} |\n"
    yield (
        "\n0.1 s on the trunk of a walk of 0.7 m/s: five starts in each of five phases of a stride, of which 20 stay "
        f"up at this force and at all smaller ones tried, every {COARSE:g} N and then every {FINE:g} N.\n"
    )


def styled(style: str, seed: int, character: Character = GAIT28) -> Case:
    """A minute in it."""
    return Case(Course.straight(0.6), 60.0, seed, character=character, settings=Settings(style=style))


def groups() -> Iterator[tuple[str, list[Case]]]:
    """Walks of five starts, or as many as they say."""
    for speed in (0.6, 0.7, 0.8, 1.0):
        yield f"straight at {speed:g} m/s for 10 s", [Case(Course.straight(speed), 10.0, s) for s in MANY]
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
    yield from ((style, [styled(style, seed) for seed in SEEDS]) for style in STYLES)


def study(folder: Path) -> str:
    """The page."""
    del folder
    return INTRODUCTION + "".join(lines(Journal("gait", [*SOURCES, TABLE])))
