# SPDX-License-Identifier: GPL-3.0-or-later
"""How many steps gait control walks straight ahead at which rates, with PD of either kind."""

from functools import partial
from pathlib import Path

from heft.core.control.gait import Settings
from heft.core.control.gait.gains import TABLE
from heft.core.simulation import Course

from tests.studies.gait_walks import Case, walk
from tests.studies.journal import Journal

RATES = (225.0, 300.0, 500.0, 1000.0, 2000.0)
SEEDS = (11, 12, 13, 14, 15)  # none of those that the gains were found with
MANY = 3000
LONGEST = 2400.0  # s, of so many steps
INTRODUCTION = f"""# Gait: {MANY} steps

`gait28` straight ahead at 0.7 m/s on a level floor until {MANY} steps. Starts are nudged by 0.05 m/s and rad/s on every
velocity; seeds are others than those of the search for gains. One table of gains serves all rates; explicit PD has of
their damping what its step can bear. Steps of each start. Written by `run.py study gait_steps`, which goes on where it
was stopped.

| PD | rate, Hz | steps of five starts |
|---|---|---|
"""


def study(folder: Path) -> str:
    """The page."""
    del folder
    journal = Journal("gait_steps", [TABLE.parent])
    page = INTRODUCTION
    for implicit, kind in ((True, "implicit"), (False, "explicit")):
        for rate in RATES:
            steps = [journal.find(f"{kind} {rate:g} {seed}", partial(steps_of, rate, implicit, seed)) for seed in SEEDS]
            page += f"| {kind} | {rate:g} | {', '.join(map(str, steps))} |\n"
    return page


def steps_of(rate: float, implicit: bool, seed: int) -> int:
    """Of one walk."""
    case = Case(Course.straight(0.7), LONGEST, seed, steps=MANY)
    return walk(case, rate, settings=Settings(implicit=implicit)).steps
