# SPDX-License-Identifier: GPL-3.0-or-later
"""A step of a walk under gait control at 300 Hz: control and simulation together, called from Python."""

import time
from collections.abc import Iterator

import numpy as np
from harness import Row
from heft.core.character import Character
from heft.core.control.gait import Gait
from heft.core.simulation import Course, World

RATE = 300.0
SECONDS = 10.0


def rows() -> Iterator[Row]:
    character = Character.preset("gait28")
    world = World(character, rate=RATE)
    gait = Gait(character, Course.straight(0.7), RATE)
    found = []
    for _ in range(round(SECONDS * RATE)):
        begun = time.perf_counter()
        world.step(gait)
        found.append(1e6 * (time.perf_counter() - begun))
    yield Row("step of a walk of gait28, control included", float(np.median(found)), float(np.percentile(found, 99)))
