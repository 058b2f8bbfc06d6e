# SPDX-License-Identifier: GPL-3.0-or-later
"""Gains for gait control at each rate, found by CMA-ES on many starts; writes core/control/gait/gains.json."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import NamedTuple

import numpy as np
from cmaes import CMA
from heft.core.character import Character
from heft.core.control.gait import STYLES, Feedback, Gains, Settings
from heft.core.control.gait.gains import GROUPS, TABLE, write_gains
from heft.core.files import write_whole
from heft.core.simulation import Course
from heft.studies.lib.gait_cases import FITTED, STRIDE, bumps, cycled, pushed, slope, turning
from heft.studies.lib.gait_walks import SOURCES, Case, walk
from heft.studies.lib.journal import Journal
from numpy.typing import NDArray

Array = NDArray[np.float64]

# by whose starts the gains are found, by whose they are chosen; the figures' own studies have others
TRAINING, CHOOSING = 0, 20
LONGER = 3.0  # times as long are the long walks by which they are chosen
FOUND_FIRST = 300.0  # Hz
# each rate's search begins from the gains of the one before it
WAYS = ((225.0,), (500.0, 1000.0, 2000.0))
FALL = 50.0  # cost of a fall, and the same again for the share of the time that was not walked
# Round numbers. A search with fewer long walks won much under pushes and lost endurance: these are a little more than
# half the way to where it ended, which keeps both. N m/rad, N m s/rad.
START = Gains(
    stiffness=dict(zip(GROUPS, (1060.0, 425.0, 59.0, 100.0, 50.0, 845.0, 760.0, 65.0, 14.5), strict=True)),
    damping=dict(zip(GROUPS, (340.0, 76.0, 5.8, 20.0, 3.6, 70.0, 43.5, 6.3, 0.66), strict=True)),
    feedback=Feedback(1.37, 2.25, 1.02, 0.71, 0.09, 18.0, 0.84),
)
MADE_BY = "run.py study gait_gains"
INTRODUCTION = """# Gains of the gait

How `core/control/gait/gains.json` was found: by CMA-ES (the package `cmaes`) over 25 logarithms, stiffness and damping
of nine groups of joints and seven feedback gains. A walk that falls costs 50, plus 50 times the fraction of its time
that was left; one that stays up costs its errors of speed and heading and its effort. A search's cost is the mean over
its cases, with different starts and with pushes spread over a stride. At the end three tables are compared on the same
cases with other starts, phases and ground, and on walks three times as long: the initial one, the best candidate, and
the mean of the last distribution. The cheapest is kept. Written by `run.py study gait_gains`, which goes on where
it was stopped.

| rate, Hz | cases | generations of candidates | cost of the best by generation | chosen of: first, best, mean | falls |
|---|---|---|---|---|---|
"""


class Stage(NamedTuple):
    """One search."""

    rate: float  # of the table that it makes
    generations: int
    population: int
    sigma: float  # of the logarithms, at the beginning


def to_vector(gains: Gains) -> Array:
    """Logarithms of all numbers."""
    joints = [values[group] for values in (gains.stiffness, gains.damping) for group in GROUPS]
    return np.log(np.maximum([*joints, *gains.feedback], 1e-3))


def from_vector(x: Sequence[float] | Array) -> Gains:
    """And back."""
    values, n = np.exp(x).tolist(), len(GROUPS)
    stiffness, damping = (dict(zip(GROUPS, values[k : k + n], strict=True)) for k in (0, n))
    return Gains(stiffness, damping, Feedback(*values[2 * n :]))


def shoves(rate: float, offset: int, name: str, force: float, count: int) -> Iterator[Case]:
    """Pushes in phases spread over a stride, which other starts shift."""
    for k in range(count):
        at = 4.0 + STRIDE * ((k + 0.02 * offset) / count % 1.0)
        yield Case(Course.straight(0.7), 8.0, offset + k + 1, pushed(name, force, at), rate=rate)


def common(rate: float, offset: int) -> Iterator[Case]:
    """What is asked at every rate; gains are chosen by longer walks than they are found by."""
    later, longer = 0.01 * offset, LONGER if offset == CHOOSING else 1.0
    yield Case(Course.straight(0.7), longer * 20.0, offset + 1, rate=rate)
    for k in (2, 3):
        yield Case(cycled(0.7), longer * 30.0, offset + k, rate=rate)
    for k, degrees in enumerate((90.0, -90.0)):
        yield Case(turning(0.7, degrees, 4.0 + 0.3 * k + later), 8.0, offset + k + 4, rate=rate)
    for name, force, count in (("forward", 900.0, 1), ("backward", 1000.0, 1), ("left", 650.0, 3), ("right", 650.0, 3)):
        yield from shoves(rate, offset, name, force, count)


def all_kinds(offset: int) -> Iterator[Case]:
    """What one table is to serve, most of it at FOUND_FIRST."""
    later, longer = 0.01 * offset, LONGER if offset == CHOOSING else 1.0
    yield from common(FOUND_FIRST, offset)
    for k in (4, 5):
        yield Case(cycled(0.7), longer * 40.0, offset + k)
    yield Case(Course.straight(0.7), longer * 60.0, offset + 6)
    for k, degrees in enumerate((115.0, -115.0)):
        yield Case(turning(0.7, degrees, 4.15 + 0.3 * k + later), 9.0, offset + k + 6)
    for name, force, count in (("forward", 1000.0, 2), ("left", 750.0, 5), ("right", 750.0, 5)):
        yield from shoves(FOUND_FIRST, offset + 2, name, force, count)
    for name, force in (("forward", 900.0), ("left", 650.0), ("right", 650.0)):
        yield from shoves(1000.0, offset + 3, name, force, 2)
    yield Case(Course.straight(0.7), 12.0, offset + 6, rate=225.0)
    explicit = Settings(implicit=False)
    yield from (
        Case(Course.straight(0.7), 12.0, offset + k + 4, rate=rate, settings=explicit)
        for k, rate in enumerate((300.0, 300.0, 225.0))
    )
    yield from (Case(Course.straight(speed), 12.0, offset + k + 7) for k, speed in enumerate((0.4, 1.0)))
    for k, surface in enumerate((slope(3.0), slope(-3.0), bumps(offset))):
        yield Case(Course.straight(0.6), 15.0, offset + k, surfaces=[surface])
    for k, style in enumerate(("march", "sneak", "tired", "wide")):
        yield Case(Course.straight(0.6), 10.0, offset + k + 3, settings=Settings(style=style))
    for style in STYLES:
        yield Case(Course.straight(0.6), 12.0, character=Character.preset("simbicon2d"), settings=Settings(style=style))
    yield from (Case(Course.straight(0.7), 12.0, offset + k, **FITTED) for k in (4, 5))
    for k, name in enumerate(("muico29", "jain42")):
        yield Case(Course.straight(0.8), 10.0, offset + k + 2, character=Character.preset(name))


def cases(rate: float, offset: int) -> list[Case]:
    """Of a stage, with starts from `offset` on."""
    return list(all_kinds(offset) if rate == FOUND_FIRST else common(rate, offset))


def cost_of(case: Case, gains: Gains) -> float:
    """A fall first of all; then wishes missed, then effort."""
    walked = walk(case, gains)
    if walked.fell:
        return FALL * (2.0 - walked.seconds / case.seconds)
    missed = 10.0 * abs(walked.velocity[0] - case.course.at(case.seconds)[0]) + 2.0 * abs(walked.velocity[1])
    return float(missed + 5.0 * abs(walked.heading) + 200.0 * walked.effort)


def costs(x: Sequence[float], rate: float, offset: int) -> list[float]:
    """Of every case."""
    gains = from_vector(x)
    return [cost_of(case, gains) for case in cases(rate, offset)]


def search(start: Gains, stage: Stage, journal: Journal) -> tuple[Gains, str]:
    """The best table by starts that the search has not seen, and the page's line."""
    first = to_vector(start)
    evolution = CMA(first, stage.sigma, seed=int(stage.rate), population_size=stage.population)
    best, least, course = first, np.inf, []
    for generation in range(stage.generations):
        candidates = [evolution.ask() for _ in range(stage.population)]
        name = f"{stage.rate:g} Hz, generation {generation}, candidate "
        found = journal.find_all(
            {f"{name}{k}": partial(costs, x.tolist(), stage.rate, TRAINING) for k, x in enumerate(candidates)}
        )
        means = [float(np.mean(one)) for one in found]
        evolution.tell(list(zip(candidates, means, strict=True)))
        if min(means) < least:
            best, least = candidates[int(np.argmin(means))], min(means)
        course.append(min(means))
    tables = (first, best, evolution.mean)
    found = journal.find_all(
        {
            f"{stage.rate:g} Hz, chosen {k}": partial(costs, x.tolist(), stage.rate, CHOOSING)
            for k, x in enumerate(tables)
        }
    )
    means = [float(np.mean(one)) for one in found]
    falls = [sum(one >= FALL for one in each) for each in found]
    chosen = from_vector(tables[int(np.argmin(means))])
    shown = ", ".join(f"{one:.1f}" for one in course[:: max(len(course) // 6, 1)])
    return chosen, (
        f"| {stage.rate:g} | {len(found[0])} | {stage.generations} of {stage.population} | {shown} "
        f"| {', '.join(f'{one:.2f}' for one in means)} | {', '.join(map(str, falls))} |\n"
    )


def study(folder: Path) -> str:
    """Write the table, and say how far each search came."""
    del folder
    journal = Journal("gait_gains", [*SOURCES, Path(__file__)])
    first, lines = search(START, Stage(FOUND_FIRST, 6, 14, 0.08), journal)
    table = {FOUND_FIRST: first}
    for way in WAYS:
        gains = first
        for rate in way:
            gains, line = search(gains, Stage(rate, 4, 8, 0.05), journal)
            table[rate], lines = gains, lines + line
    # four digits are more than any walk depends on
    table = {rate: rounded(gains) for rate, gains in table.items()}
    write_whole(TABLE, write_gains(table, MADE_BY).encode())
    return INTRODUCTION + lines


def rounded(gains: Gains) -> Gains:
    """To four digits."""
    tidy = [{group: float(f"{value:.4g}") for group, value in one.items()} for one in (gains.stiffness, gains.damping)]
    feedback = Feedback(*(float(f"{value:.4g}") for value in gains.feedback))
    return replace(gains, stiffness=tidy[0], damping=tidy[1], feedback=feedback)
