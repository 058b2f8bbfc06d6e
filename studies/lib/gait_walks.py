# SPDX-License-Identifier: GPL-3.0-or-later
"""One walk under gait control, and what became of it."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from heft.core.character import Character
from heft.core.contact.terrain import Surface
from heft.core.control.gait import Gains, Gait, Settings
from heft.core.simulation import Course, DivergedError, Push, World
from numpy.typing import NDArray

from tools.environment import ROOT

Array = NDArray[np.float64]

GAIT28 = Character.preset("gait28")
FALLEN = 0.6  # of the hips' height at the start, above the lower foot
LAST = 3.0  # s, over which its velocity is measured
CORE = ROOT / "core"
# what a walk depends on, but for the gains
SOURCES = [
    *(
        CORE / room
        for room in ("character", "contact", "control/gait/styles", "dynamics", "maths", "motion", "simulation")
    ),
    *(CORE / "control").glob("*.py"),
    *(CORE / "control" / "gait").glob("*.py"),
    *(ROOT / "studies" / "lib" / name for name in ("gait_cases.py", "gait_walks.py")),
]


class Walked(NamedTuple):
    """The end of a walk."""

    steps: int
    seconds: float  # until it fell, or to the end
    fell: bool
    velocity: Array  # (2,) mean forward and to the left of the course's heading, at the end
    heading: float  # of the pelvis at the end, rad, beside the course's
    effort: float  # mean square of torque by weight and leg, N m / (N m)


class Case(NamedTuple):
    """What a walk is asked to do."""

    course: Course
    seconds: float
    seed: int = 0  # of the start: 0 stands still, others are nudged and begin on either leg
    pushes: Sequence[Push] = ()
    surfaces: Sequence[Surface] | None = None
    steps: int | None = None  # after which it ends
    character: Character = GAIT28
    start: Array | None = None  # pose; the neutral one by default
    rate: float = 300.0  # 1/s
    settings: Settings | None = None


def walk(case: Case, gains: Gains | None = None) -> Walked:
    """Simulate it, by default with the gains of the table."""
    character, rate = case.character, case.rate
    world = World(character, case.surfaces, rate=rate, pushes=case.pushes)
    gait = Gait(character, case.course, rate, case.settings, gains=gains, start=case.start)
    gait.begin(first=case.seed % 2)
    q, v = gait.reference_state()
    facing = yaw(q)
    if case.seed:
        v += np.random.default_rng(case.seed).normal(scale=0.05, size=character.nv)
    world.reset(q, v)
    low = FALLEN * character.neutral()[2]
    foot = [character.index("left_foot"), character.index("right_foot")]
    start, places, effort, fell = world.q[:2], {}, 0.0, False
    for k in range(round(case.seconds * rate)):
        try:
            world.step(gait)
        except DivergedError:
            fell = True
            break
        if k % 30 == 0:
            places[world.time] = world.q[:2]
            effort += float(np.mean((world.torque / (9.81 * character.total_mass)) ** 2))
            if world.q[2] - world.poses()[0][foot, 2].min() < low:
                fell = True
                break
        if case.steps is not None and gait.steps >= case.steps:
            break
    heading = facing + case.course.at(world.time)[2]
    time, place = np.array(list(places)), np.array(list(places.values()) or [start])
    velocity = np.zeros(2)
    if world.time > LAST:
        first = int(np.searchsorted(time, world.time - LAST))
        way = (place[-1] - place[first]) / (time[-1] - time[first])
        c, s = np.cos(heading), np.sin(heading)
        velocity = np.array([c * way[0] + s * way[1], c * way[1] - s * way[0]])
    turned = (yaw(world.q) - heading + np.pi) % (2.0 * np.pi) - np.pi
    return Walked(gait.steps, world.time, fell, velocity, turned, effort / max(len(time), 1))


def yaw(q: Array) -> float:
    """Heading of the root."""
    w, x, y, z = q[3:7]
    return float(np.arctan2(2.0 * (w * z + x * y), 1.0 - 2.0 * (y * y + z * z)))
