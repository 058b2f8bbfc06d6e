# SPDX-License-Identifier: GPL-3.0-or-later
"""How many steps gait control walks straight ahead at which rates, with PD of either kind."""

import time
from functools import partial
from pathlib import Path

from heft.core.control.gait import Settings
from heft.core.control.gait.gains import TABLE
from heft.core.simulation import Course

from tests.studies.gait_walks import Case, walk
from tests.studies.journal import Journal

RATES = (300.0, 225.0, 500.0, 1000.0, 2000.0)
SEEDS = (11, 12, 13, 14, 15)  # none of those that the gains were found with
MANY = 3000
LONGEST = 2400.0  # s, of so many steps
PATIENCE = 420.0  # s after which no walk is begun any more
INTRODUCTION = f"""# Gait: {MANY} steps

`gait28` straight ahead at 0.7 m/s on a level floor until {MANY} steps. Starts are nudged by 0.05 m/s and rad/s on every
velocity; seeds are others than those of the search for gains. One table of gains serves all rates; explicit PD has of
their damping what its step can bear. Steps of each of five starts, and a dash for those that were not walked yet.
Written by `run.py study gait_steps`, which begins walks for {PATIENCE / 60.0:g} minutes and goes on where it was
stopped.

| PD | rate, Hz | steps |
|---|---|---|
"""


def study(folder: Path) -> str:
    """The page."""
    del folder
    journal, start = Journal("gait_steps", [TABLE.parent]), time.perf_counter()
    walks = [(kind, rate, seed) for seed in SEEDS for kind in ("implicit", "explicit") for rate in RATES]
    for kind, rate, seed in walks:
        if time.perf_counter() - start < PATIENCE:
            journal.find(f"{kind} {rate:g} {seed}", partial(steps_of, rate, kind == "implicit", seed))
    page = INTRODUCTION
    for kind in ("implicit", "explicit"):
        for rate in sorted(RATES, reverse=True):
            steps = [journal.known(f"{kind} {rate:g} {seed}") for seed in SEEDS]
            page += f"| {kind} | {rate:g} | {', '.join('-' if k is None else str(k) for k in steps)} |\n"
    return page


def steps_of(rate: float, implicit: bool, seed: int) -> int:
    """Of one walk."""
    case = Case(Course.straight(0.7), LONGEST, seed, steps=MANY)
    return walk(case, rate, settings=Settings(implicit=implicit)).steps
