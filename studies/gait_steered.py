# SPDX-License-Identifier: GPL-3.0-or-later
"""Walks that are steered at random: who stays up."""

import tempfile
from dataclasses import replace
from pathlib import Path

import numpy as np
from heft.core import BakeJob
from heft.core.live import inputs
from heft.core.live.playing import play

from studies.paths import jobs

WALKS, EACH = 4, 150.0  # that are steered with each character, and s of each: ten minutes together
SPEEDS = (0.3, 0.9)  # m/s
TURNS, WAITS = (15.0, 45.0, 90.0, 180.0), (3.0, 8.0)  # degrees, s
STEERED = f"""# Steered walks

**Walk** from the first pose of the mannequin's walk and of three captured ones, at a person's strength, {WALKS} walks
of {EACH:.0f} s each. Every {WAITS[0]:.0f} to {WAITS[1]:.0f} s it is told to turn by 15, 45, 90 or 180 degrees to
either side, and another speed from {SPEEDS[0]} to {SPEEDS[1]} m/s. Written by `run.py study gait_steered`.

| character | walks that stay up | minutes until it fell, or to the end |
|---|---|---|
"""


class Steersman:
    """Says where to walk, and how fast, by the dice."""

    def __init__(self, seed: int, rate: float) -> None:
        dice = np.random.default_rng(seed)
        self._state, self._said = -1, {}
        heading, seconds = 0.0, WAITS[0]
        while seconds < EACH:
            heading += np.radians(dice.choice(TURNS) * dice.choice((-1.0, 1.0)))
            self._said[round(seconds * rate)] = inputs.Command(0.0, float(dice.uniform(*SPEEDS)), 0.0, float(heading))
            seconds += dice.uniform(*WAITS)
        self._end = round(EACH * rate)

    def __call__(self, _: float) -> list[inputs.Input]:
        """What is said before a step."""
        self._state += 1
        if self._state >= self._end:
            return [inputs.End()]
        return [self._said[self._state]] if self._state in self._said else []


def steered(name: str, job: BakeJob, cache: str) -> str:
    """A row."""
    job = replace(job, method="gait", settings={}, optimise=False, rate=300.0, recovery=False, strength=1.0)
    walks = [play(job, Steersman(seed, job.rate), clock=None, cache=cache).simulation for seed in range(WALKS)]
    minutes = ", ".join(f"{one.recording.steps / job.rate / 60.0:.1f}" for one in walks)
    return f"| {name} | {sum(one.lost is None for one in walks)} of {WALKS} | {minutes} |"


def study(folder: Path) -> str:
    """The page; this study leaves no pictures."""
    del folder
    with tempfile.TemporaryDirectory() as cache:
        rows = [steered(name, job, cache) for name, job in jobs().items()]
    return STEERED + "\n".join([*rows, ""])
