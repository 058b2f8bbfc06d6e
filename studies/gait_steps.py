# SPDX-License-Identifier: GPL-3.0-or-later
"""How many steps gait control walks straight ahead at which rates, with PD of either kind."""

from functools import partial
from pathlib import Path

from heft.core.control.gait import Settings
from heft.core.control.gait.gains import TABLE
from heft.core.simulation import Course
from heft.studies.lib.gait_cases import SEEDS
from heft.studies.lib.gait_walks import SOURCES, Case, walk
from heft.studies.lib.journal import Journal

RATES = (2000.0, 1000.0, 500.0, 300.0, 225.0)
KINDS = ("implicit", "explicit")
MANY = 3000
LONGEST = 2400.0  # s, of so many steps
INTRODUCTION = f"""# Gait: {MANY} steps

`gait28` straight ahead at 0.7 m/s on a level floor until {MANY} steps. Every velocity at the start is perturbed by
0.05 m/s and rad/s; the seeds differ from those of the search for gains. Each rate has its own gains in
`core/control/gait/gains.json`; explicit PD uses as much of their damping as its step allows. Shown are the steps of
each of five starts. Written by `run.py study gait_steps`, which goes on where it was stopped.

| PD | rate, Hz | steps |
|---|---|---|
"""


def study(folder: Path) -> str:
    """The page."""
    del folder
    journal = Journal("gait_steps", [*SOURCES, TABLE])
    walks = {
        f"{kind} | {rate:g} | {seed}": partial(steps_of, rate, kind == "implicit", seed)
        for seed in SEEDS
        for kind in KINDS
        for rate in RATES
    }
    found = dict(zip(walks, journal.find_all(walks), strict=True))
    lines = [
        f"| {kind} | {rate:g} | {', '.join(str(found[f'{kind} | {rate:g} | {seed}']) for seed in SEEDS)} |"
        for kind in KINDS
        for rate in RATES
    ]
    return INTRODUCTION + "\n".join(lines) + "\n"


def steps_of(rate: float, implicit: bool, seed: int) -> int:
    """Of one walk."""
    case = Case(Course.straight(0.7), LONGEST, seed, steps=MANY, rate=rate, settings=Settings(implicit=implicit))
    return walk(case).steps
