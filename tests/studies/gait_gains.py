# SPDX-License-Identifier: GPL-3.0-or-later
"""Gains for gait control, found by CMA-ES on several starts; writes core/control/gait/gains.json."""

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from heft.core.character import Character
from heft.core.control.gait import Feedback, Gains
from heft.core.control.gait.gains import GROUPS, TABLE, read_gains, write_gains
from heft.core.files import write_whole
from heft.core.motion.body_plan import make_body_plan
from heft.core.simulation import Course, Push
from numpy.typing import NDArray

from tests.core.motion.skeletons import wooden, wooden_roles
from tests.studies.evolution import Evolution
from tests.studies.gait_walks import Case, arms_down, walk

Array = NDArray[np.float64]

RATE = 300.0
# a character as a rig gives it, with balls at its ankles
MANNEQUIN = make_body_plan(wooden(), wooden_roles()).character
MADE_BY = "run.py study gait_gains"
INTRODUCTION = """# Gains of the gait

CMA-ES over 25 logarithms: stiffness and damping of nine groups of joints, and seven numbers of the feedback. The cost
is the share of the time that was not walked, in percent; of walks that stay up, the speed missed, the heading missed
and the effort. It goes on from the gains in `core/control/gait/gains.json` and writes them anew. Written by
`run.py study gait_gains`.

| stage | cases | generations | cost before | after |
|---|---|---|---|---|
"""


class Stage(NamedTuple):
    """One search."""

    name: str
    cases: tuple[Case, ...]
    generations: int
    sigma: float  # of the logarithms, at the beginning
    seed: int


def to_vector(gains: Gains) -> Array:
    """Logarithms of all numbers."""
    joints = [values[group] for values in (gains.stiffness, gains.damping) for group in GROUPS]
    return np.log(np.maximum([*joints, *gains.feedback], 1e-3))


def from_vector(x: Array) -> Gains:
    """And back."""
    values, n = np.exp(x).tolist(), len(GROUPS)
    stiffness, damping = (dict(zip(GROUPS, values[k : k + n], strict=True)) for k in (0, n))
    return Gains(stiffness, damping, Feedback(*values[2 * n :]))


def cycled(speed: float, steps: float = 0.55) -> Course:
    """Sideways 0, 0.2 and -0.2 m/s, each for about five steps (Carensac et al., section 5.1)."""
    time = np.arange(400) * 5.0 * steps
    left = np.array([0.0, 0.2, -0.2])[np.arange(400) % 3]
    # a wish holds to the next
    held = np.repeat(time, 2)[1:]
    return Course(held, np.full(len(held), speed), np.repeat(left, 2)[:-1], np.zeros(len(held)))


def turning(speed: float, degrees: float, at: float) -> Course:
    """All at once; the gait spreads it."""
    time = np.array([0.0, at, at, at + 100.0])
    return Course(time, np.full(4, speed), np.zeros(4), np.radians([0.0, 0.0, degrees, degrees]))


def pushed(x: float, y: float, at: float) -> Push:
    """0.1 s on the trunk."""
    return Push("trunk", np.tile([x, y, 0.0], (2, 1)), rate=10.0, start=at)


FITTED = {"character": MANNEQUIN, "start": arms_down(MANNEQUIN)}
STAGES = (
    Stage(
        "starts of two characters",
        (
            Case(Course.straight(0.9), 15.0, 1),
            Case(cycled(0.7), 15.0, 2),
            *(Case(Course.straight(0.7), 12.0, seed, **FITTED) for seed in (1, 2, 3, 4)),
            Case(Course.straight(1.0), 12.0, 5, **FITTED),
            Case(turning(0.7, 60.0, 4.0), 10.0, 6, **FITTED),
        ),
        generations=24,
        sigma=0.15,
        seed=11,
    ),
    Stage(
        "sideways cycles, a higher rate, others",
        (
            *(Case(cycled(0.7), 20.0, seed) for seed in (2, 3)),
            *(Case(Course.straight(0.7), 16.0, seed, **FITTED) for seed in (1, 2, 3, 4)),
            *(Case(Course.straight(1.0), 16.0, seed, **FITTED) for seed in (5, 6)),
            *(Case(Course.straight(0.7), 10.0, seed, rate=1000.0) for seed in (0, 3)),
            Case(Course.straight(0.7), 12.0, 2, character=Character.preset("muico29")),
            Case(Course.straight(0.9), 12.0, 2, character=Character.preset("jain42")),
            Case(turning(0.7, -60.0, 4.0), 10.0, 6),
        ),
        generations=24,
        sigma=0.08,
        seed=21,
    ),
)


def cost(gains: Gains, cases: Sequence[Case], rate: float) -> float:
    """Time not walked first of all; then wishes missed, then effort."""
    total = 0.0
    for case in cases:
        walked = walk(case, rate, gains)
        total += 100.0 * (1.0 - walked.seconds / case.seconds) if walked.fell else 0.0
        if not walked.fell:
            wanted = case.course.at(case.seconds)[0]
            total += 10.0 * abs(walked.velocity[0] - wanted) + 2.0 * abs(walked.velocity[1])
            total += 5.0 * abs(walked.heading) + 200.0 * walked.effort
        elif walked.seconds < 2.5:
            total += 10.0 * (2.5 - walked.seconds)
    return total / len(cases)


def search(gains: Gains, stage: Stage) -> tuple[Gains, list[float]]:
    """The best candidate seen, and what the best until then had cost after each generation."""
    evolution = Evolution(to_vector(gains), stage.sigma, stage.seed)
    best, least = gains, cost(gains, stage.cases, RATE)
    course = [least]
    for _ in range(stage.generations):
        candidates = evolution.ask()
        costs = [cost(from_vector(candidate), stage.cases, RATE) for candidate in candidates]
        evolution.tell(candidates, costs)
        if min(costs) < least:
            best, least = from_vector(candidates[int(np.argmin(costs))]), min(costs)
        course.append(least)
    return best, course


def study(folder: Path) -> str:
    """Go on from the table through all stages, write it anew, and say how far each came."""
    del folder
    table = read_gains(TABLE.read_text(encoding="utf-8"), TABLE.name)
    gains, lines = table[RATE], []
    for stage in STAGES:
        gains, course = search(gains, stage)
        costs = f"{course[0]:.2f} | {course[-1]:.2f}"
        lines.append(f"| {stage.name} | {len(stage.cases)} | {stage.generations} | {costs} |")
    table[RATE] = gains
    write_whole(TABLE, write_gains(table, MADE_BY).encode())
    return INTRODUCTION + "\n".join(lines) + "\n"
