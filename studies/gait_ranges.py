# SPDX-License-Identifier: GPL-3.0-or-later
"""The range of gains that gait control accepts, by rate: Carensac et al., section 4, algorithm 1, figures 2 and 3."""

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple

import numpy as np
from cmaes import CMA
from heft.core.character import Character
from heft.core.control.gait import Gains, Gait, load_gains
from heft.core.control.gait.gains import GROUPS, TABLE
from heft.core.motion import quaternions
from heft.core.simulation import DivergedError, World
from heft.studies.lib.chart import bars, ranges
from heft.studies.lib.gait_cases import cycled
from heft.studies.lib.gait_walks import FALLEN, GAIT28, SOURCES
from heft.studies.lib.journal import Journal
from numpy.typing import NDArray

Array = NDArray[np.float64]

ORIGINAL = 1000.0  # Hz, of the motion that others are to be like
# the first of each starts from the original's gains, the next from what was found for the one before
WAYS = ((1000.0, 500.0, 300.0, 225.0), (2000.0,))
EXPLICIT_WAYS = ((4000.0, 2000.0, 1000.0, 500.0, 300.0, 225.0),)  # below the first the table's own gains fall
DAMPED = (1.0, 0.3, 0.1)  # shares of the table's damping
STARTS = (41, 42)  # seeds
SECONDS, SETTLED = 7.0, 2.0
LONGEST = 1.2  # s, of a stride
BINS = 20  # of a stride, in which end effectors are compared
ENDS = ("head", "left_hand", "right_hand")
SPEED = 0.05  # share by which a walk may be slower or faster
STRAYING = 0.1  # m by which end effectors stray and cost as much as the gains as they were
GENERATIONS, ROUNDS = 12, 2  # of one search, and searches in a row; the paper's take 150
CHANGE = 0.05  # [eta] of the mean gain, below which searches in a row end
SIGMA = 0.12  # of the gains' logarithms
SHARE = 0.2  # of the largest gains in those that the next rate starts from
REFUSED = 1e3
INTRODUCTION = f"""# Gait: the range of gains

Algorithm 1 of Carensac et al., section 4, on `gait28` with implicit PD: from rate to rate the smallest and the largest
gains of the joints, by CMA-ES (the package `cmaes`) over the logarithms of stiffness and damping of nine groups, with
which it still walks as it did at {ORIGINAL:g} Hz with the gains of `core/control/gait/gains.json`. The cost is equation
4: the mean of gains by those that a search began with, or its negative; how far head and hands stray from where they
were, seen from the pelvis at the same part of a stride, over {STRAYING * 100:g} cm; a table with which a walk falls, or
misses that walk's speed by more than {SPEED * 100:g} %, is refused. Each is tried on {len(STARTS)} walks of
{SECONDS:g} s, whose sideways speed changes every five steps. The algorithm prints that searches go on while gains
change by less than η; it must be by more. The next rate starts from {1 - SHARE:g} of the smallest and {SHARE:g} of the
largest gains, {ORIGINAL:g} Hz and 2000 Hz from the table's. {GENERATIONS} generations of 12 a search and {ROUNDS}
searches at most stand where the paper has 150 and any number, and the search for the largest begins where that for the
smallest began, not at its end: ends of the ranges are what was reached, not the last that there is. Written by
`run.py study gait_ranges`, which goes on where it was stopped.
"""

EXPLICIT = """
## With explicit PD

The paper's: torques by the state at the step's beginning, gains as they are; the walk that others are to be like is
the same, of 1000 Hz with implicit PD. First, who stands of both starts with the table's stiffness and shares of its
damping: light feet and toes bear no more damping than their inertia over a step.

"""
LOWERED = """
Then algorithm 1. Each rate starts from what was found for the one before, and it ends where no gains are accepted.

| rate, Hz | smallest Σ Kp + 10 Kd | largest | range by their mean |
|---|---|---|---|
"""


class Motion(NamedTuple):
    """What is compared."""

    speed: float  # m/s
    places: Array  # (BINS, ends, 3) from the pelvis, m


class Found(NamedTuple):
    """Of one rate."""

    smallest: Gains
    largest: Gains


def to_vector(gains: Gains) -> Array:
    """Logarithms of the joints' gains."""
    return np.log([values[group] for values in (gains.stiffness, gains.damping) for group in GROUPS])


def from_vector(x: Sequence[float]) -> Gains:
    """And back; the feedback stays."""
    values, n = np.exp(x).tolist(), len(GROUPS)
    stiffness, damping = (dict(zip(GROUPS, values[k : k + n], strict=True)) for k in (0, n))
    return Gains(stiffness, damping, load_gains(ORIGINAL).feedback)


def move(gains: Gains, rate: float, seed: int, implicit: bool = True, character: Character = GAIT28) -> Motion | None:
    """Walk, changing sideways; None where it falls."""
    world = World(character, rate=rate)
    gait = Gait(character, cycled(0.7), rate, gains=gains)
    gait._walk.implicit[0] = implicit  # Heft's own explicit PD is never damped beyond what a step can bear
    q, v = gait.reference_state()
    world.reset(q, v + np.random.default_rng(seed).normal(scale=0.05, size=character.nv))
    ends = [character.index(name) for name in ENDS]
    foot = [character.index(f"{side}_foot") for side in ("left", "right")]
    low = FALLEN * character.neutral()[2]
    total, counted, every = np.zeros((BINS, len(ends), 3)), np.zeros(BINS), round(rate / 100.0)
    began, place = 0.0, world.q
    for k in range(round(SECONDS * rate)):
        steps = gait.steps
        try:
            world.step(gait)
        except DivergedError:
            return None
        if gait.steps != steps and gait.steps % 2 == 0:
            began = world.time
        if k == round(SETTLED * rate):
            place = world.q
        if k % every == 0:
            poses = world.poses()[0]
            if world.q[2] - poses[foot, 2].min() < low:
                return None
            if world.time > SETTLED:
                part = min(int(BINS * (world.time - began) / LONGEST), BINS - 1)
                total[part] += quaternions.rotate(quaternions.conjugate(world.q[3:7]), poses[ends] - world.q[:3])
                counted[part] += 1.0
    speed = float(world.q[0] - place[0]) / (SECONDS - SETTLED)
    return Motion(speed, total / np.maximum(counted, 1.0)[:, None, None])


def cost(
    x: Sequence[float], normal: Sequence[float], sign: float, rate: float, originals: Sequence[Motion], implicit: bool
) -> float:
    """Equation 4."""
    gains, strayed = from_vector(x), []
    for seed, original in zip(STARTS, originals, strict=True):
        motion = move(gains, rate, seed, implicit)
        if motion is None or abs(motion.speed / original.speed - 1.0) > SPEED:
            return REFUSED
        both = (motion.places != 0.0).any(axis=(1, 2)) & (original.places != 0.0).any(axis=(1, 2))
        strayed.append(np.linalg.norm(motion.places - original.places, axis=2)[both].mean())
    return sign * float(np.mean(np.exp(np.subtract(x, normal)))) + float(np.mean(strayed)) / STRAYING


def search(
    start: Gains, sign: float, rate: float, originals: Sequence[Motion], implicit: bool, number: int, journal: Journal
) -> tuple[Gains, bool]:
    """`run_cma`: the best gains, and whether any were accepted."""
    normal = to_vector(start)
    name = f"{'implicit' if implicit else 'explicit'}, {rate:g} Hz {'smallest' if sign > 0.0 else 'largest'} {number}"
    evolution = CMA(normal, SIGMA, seed=number)
    best, least = normal, REFUSED
    for generation in range(-1, GENERATIONS):
        # the first is what it starts from
        candidates = [evolution.ask() for _ in range(evolution.population_size)] if generation >= 0 else [normal]
        costs = journal.find_all(
            {
                f"{name}, generation {generation}, candidate {k}": partial(
                    cost, x.tolist(), normal.tolist(), sign, rate, originals, implicit
                )
                for k, x in enumerate(candidates)
            }
        )
        if generation >= 0:
            evolution.tell(list(zip(candidates, costs, strict=True)))
        if min(costs) < least:
            best, least = candidates[int(np.argmin(costs))], min(costs)
    return from_vector(best.tolist()), least < REFUSED


def end(
    start: Gains, sign: float, rate: float, originals: Sequence[Motion], implicit: bool, journal: Journal
) -> Gains | None:
    """One end of the range: searches in a row, each by the gains that the last one found."""
    gains = start
    for number in range(ROUNDS):
        found, accepted = search(gains, sign, rate, originals, implicit, number, journal)
        if not accepted:
            return None
        change, gains = float(np.mean(np.exp(to_vector(found) - to_vector(gains)))) - 1.0, found
        if abs(change) < CHANGE:
            break
    return gains


def original_of(gains: Gains, seed: int) -> Motion:
    """What others are to be like."""
    motion = move(gains, ORIGINAL, seed)
    assert motion is not None, "there is nothing to be like"
    return motion


def lower(journal: Journal, implicit: bool) -> dict[float, Found]:
    """Algorithm 1, down to where nothing is accepted."""
    start = load_gains(ORIGINAL)
    originals = [original_of(start, seed) for seed in STARTS]
    result = {}
    for way in WAYS if implicit else EXPLICIT_WAYS:
        gains = start
        for rate in way:
            smallest = end(gains, 1.0, rate, originals, implicit, journal)
            largest = None if smallest is None else end(gains, -1.0, rate, originals, implicit, journal)
            if smallest is None or largest is None:
                break
            result[rate] = Found(smallest, largest)
            mixed = (1.0 - SHARE) * np.exp(to_vector(smallest)) + SHARE * np.exp(to_vector(largest))
            gains = from_vector(np.log(mixed).tolist())
    return result


def weight(gains: Gains, groups: Sequence[str] = GROUPS) -> float:
    """The paper's sum of Kp + 10 Kd."""
    return sum(gains.stiffness[group] + 10.0 * gains.damping[group] for group in groups)


def study(folder: Path) -> str:
    """The page, and both figures."""
    journal = Journal("gait_ranges", [*SOURCES, TABLE, Path(__file__)])
    found = lower(journal, implicit=True)
    rates = sorted(found)
    wholes = {rate: (weight(found[rate].smallest), weight(found[rate].largest)) for rate in rates}
    (folder / "gait_ranges_2.svg").write_text(ranges("Sum of Kp + 10 Kd, smallest to largest", wholes, "Hz"))
    middles, widths = ({group: by_rate(found, rates, group)[k] for group in GROUPS} for k in (0, 1))
    (folder / "gait_ranges_3.svg").write_text(bars("Mean of Kp + 10 Kd by 2000 Hz's, %", middles, rates))
    (folder / "gait_ranges_3_widths.svg").write_text(bars("Range by the mean, %", widths, rates))
    page = INTRODUCTION + "\n## Figure 2\n\n![Ranges by rate](gait_ranges_2.svg)\n\n"
    page += "| rate, Hz | smallest Σ Kp + 10 Kd | largest | range by their mean |\n|---|---|---|---|\n"
    shares = {rate: f"{200.0 * (high - low) / (high + low):.0f} %" for rate, (low, high) in wholes.items()}
    for rate in reversed(rates):
        low, high = wholes[rate]
        page += f"| {rate:g} | {low:.0f} | {high:.0f} | {shares[rate]} |\n"
    page += (
        "\nThe paper's ranges narrow towards low rates; here, with PD that looks at the step's end, "
        f"{shares[rates[0]]} at {rates[0]:g} Hz stand beside {shares[rates[-1]]} at {rates[-1]:g} Hz.\n"
    )
    page += "\n## Figure 3\n\n![Means by joint](gait_ranges_3.svg)\n\n![Ranges by joint](gait_ranges_3_widths.svg)\n\n"
    page += f"Range by the mean, %.\n\n| rate, Hz | {' | '.join(GROUPS)} |\n{'|---' * (len(GROUPS) + 1)}|\n"
    for k, rate in reversed(list(enumerate(rates))):
        page += f"| {rate:g} | {' | '.join(f'{widths[group][k]:.0f}' for group in GROUPS)} |\n"
    page += EXPLICIT + "".join(damped_rows(journal))
    return page + LOWERED + "".join(explicit_rows(lower(journal, implicit=False)))


def damped_rows(journal: Journal) -> Iterator[str]:
    """Who stands with explicit PD and shares of the table's damping."""
    yield f"| rate, Hz | {' | '.join(f'{share:g}' for share in DAMPED)} |\n{'|---' * (len(DAMPED) + 1)}|\n"
    for rate in EXPLICIT_WAYS[0]:
        cells = [
            f"{journal.find(f'explicit, {rate:g} Hz, damping {share:g}', partial(stand_damped, rate, share))} of 2"
            for share in DAMPED
        ]
        yield f"| {rate:g} | {' | '.join(cells)} |\n"


def stand_damped(rate: float, share: float) -> int:
    """How many of the starts."""
    gains = load_gains(ORIGINAL)
    damping = {group: share * value for group, value in gains.damping.items()}
    slack = Gains(gains.stiffness, damping, gains.feedback)
    return sum(move(slack, rate, seed, implicit=False) is not None for seed in STARTS)


def explicit_rows(found: Mapping[float, Found]) -> Iterator[str]:
    """What is accepted of explicit PD."""
    for rate in EXPLICIT_WAYS[0]:
        if rate not in found:
            yield f"| {rate:g} | none found |  |  |\n"
            continue
        low, high = weight(found[rate].smallest), weight(found[rate].largest)
        yield f"| {rate:g} | {low:.0f} | {high:.0f} | {200.0 * (high - low) / (high + low):.0f} % |\n"


def by_rate(found: Mapping[float, Found], rates: Sequence[float], group: str) -> tuple[list[float], list[float]]:
    """A group's mean gain by that of the highest rate, and its range by its mean, in percent."""
    ends = [(weight(found[rate].smallest, [group]), weight(found[rate].largest, [group])) for rate in rates]
    means = [0.5 * (low + high) for low, high in ends]
    widths = [100.0 * abs(high - low) / mean for (low, high), mean in zip(ends, means, strict=True)]
    return [100.0 * mean / means[-1] for mean in means], widths
