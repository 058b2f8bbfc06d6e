# SPDX-License-Identifier: GPL-3.0-or-later
"""A step of a walk under gait control at 300 Hz, without and with the stabiliser: control and simulation together."""

import time
from collections.abc import Iterator

import numpy as np
from harness import Row
from heft.core.character import Character
from heft.core.control.gait import Gait, Settings
from heft.core.control.gait.reduced import MODELS
from heft.core.simulation import Course, World

RATE = 300.0
SECONDS = 10.0


def rows() -> Iterator[Row]:
    plain = step_times(Settings())
    yield Row("step of a walk of gait28, control included", float(np.median(plain)), float(np.percentile(plain, 99)))
    for model in MODELS:
        found = step_times(Settings(stabiliser=True, prediction=model))
        name = (
            f"the same with the stabiliser by {model}, whose mean is {np.mean(found) / np.mean(plain):.1f} times that"
        )
        yield Row(name, float(np.median(found)), float(np.percentile(found, 99)), "without it", float(np.median(plain)))


def step_times(settings: Settings) -> list[float]:
    """Processor time of each step, us."""
    character = Character.preset("gait28")
    world = World(character, rate=RATE)
    gait = Gait(character, Course.straight(0.7), RATE, settings)
    world.step(gait)
    gait.begin()
    world.reset(*gait.reference_state())
    found = []
    for _ in range(round(SECONDS * RATE)):
        begun = time.thread_time()
        world.step(gait)
        found.append(1e6 * (time.thread_time() - begun))
    return found
