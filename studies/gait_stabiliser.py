# SPDX-License-Identifier: GPL-3.0-or-later
"""The ground contact stabiliser: how far reduced models are off, what it does to the sole, what it costs and saves."""

import itertools
import time
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import NamedTuple

import numpy as np
from heft.core.contact.detection import Contacts
from heft.core.control.gait import Gait, Settings
from heft.core.control.gait.prediction import CORRECTED, LACKING, TRIED
from heft.core.control.gait.reduced import MODELS
from heft.core.control.gait.sole import LIFTED, LIMIT, SLACKER, UNBALANCED, Shares, quality
from heft.core.control.gait.stabiliser import Stabiliser
from heft.core.simulation import AffineLaw, Course, DivergedError, State, World
from heft.studies.lib.gait_cases import SEEDS, cycled, pushed, table
from heft.studies.lib.gait_walks import FALLEN, GAIT28, Case, walk
from heft.studies.lib.journal import Journal
from numpy.typing import NDArray

Array = NDArray[np.float64]

RATE = 300.0
STEPS = 200
LOWEST = (60.0, 50.0, 40.0)  # Hz
FORCES = {
    "forward": (1100.0, 1300.0),
    "backward": (1300.0, 1500.0),
    "left": (800.0, 900.0),
    "right": (800.0, 900.0),
}  # N
STRAIGHT, SIDEWAYS = "straight", "sideways 0, 0.2, -0.2 m/s"
SMALLER = 0.06  # a share of each side that the gait itself nearly leaves
STABILISED = Settings(stabiliser=True), Settings(stabiliser=True, share=SMALLER)
BEARS = (-1.0, 1e-9, 0.03, 0.06, 1.0)
PHASES = ("landing", "standing", "before the other lands")

INTRODUCTION = f"""# The ground contact stabiliser

After Carensac et al., sections 3.1 and 5.1, on `gait28` at {RATE:g} Hz with the shipped gains. Before each
simulation step it predicts the ground force under the standing sole. A step is unbalanced if one of the four sides
carries clearly less than {100 * SLACKER * LIMIT:.0f} % of it, or the sole almost nothing. CMA-ES then searches for
torques at the ankle and the knee with which each side carries about {100 * LIMIT:.0f} %, with at most 49 samples; if it
finds none, nothing is added.

M0 predicts with the simulator's own contact problem, to rounding. The others leave out the arms (M1), arms and head
(M2), all above the pelvis (M3), that and the swinging leg (M4), arms, head and swinging leg (M5); M6 is M3 on two
feet and M4 on one. The paper's course asks for 0, 0.2 and -0.2 m/s sideways, changing every five steps. Starts are
perturbed as in [the gait's own study](gait.md). Written by `run.py study gait_stabiliser`,
which goes on where it was stopped.
"""


class StabiliserProbe:
    """A gait whose laws are also shown to stabilisers that change nothing."""

    def __init__(self, gait: Gait, models: Sequence[str]) -> None:
        self.gait = gait
        self._stabilisers = [Stabiliser(gait.character, gait.biped, model) for model in models]
        self.foreseen: list[list[Shares]] = []
        self.seconds = 0.0  # of the processor, in predictions

    def law(self, state: State, contacts: Contacts) -> AffineLaw:
        """The gait's."""
        stance, work = self.gait.stance, self.gait._scratch
        law = self.gait.law(state, contacts)
        begun = time.thread_time()
        self.foreseen.append(
            [s.predict(state, contacts, stance, work.torque, work.implicit) for s in self._stabilisers]
        )
        self.seconds += time.thread_time() - begun
        return law


class Walked(NamedTuple):
    """What soles bore on a walk, which M0 foresees to rounding."""

    steps: int
    shares: Array  # (steps of time, models, 5), the first model M0
    unbalanced: NDArray[np.bool_]  # (steps of time,) by it
    phase: Array  # (steps of time,) of the step
    counts: NDArray[np.int64]  # prediction.py's, of the stabiliser that takes part
    seconds: float  # of the processor for each step of time


@cache
def watched(course: str, seed: int, settings: Settings, models: Sequence[str] = ("M0",)) -> Walked:
    """A walk of STEPS, or until it falls."""
    world, gait = World(GAIT28, rate=RATE), Gait(GAIT28, courses()[course], RATE, settings)
    gait.begin(first=seed % 2)
    q, v = gait.reference_state()
    world.reset(q, v + np.random.default_rng(seed).normal(scale=0.05, size=GAIT28.nv))
    probe = StabiliserProbe(gait, models)
    feet = [GAIT28.index("left_foot"), GAIT28.index("right_foot")]
    low, spent, phase = FALLEN * GAIT28.neutral()[2], 0.0, []
    while gait.steps < STEPS:
        phase.append(float(gait._memory.clock[0] / gait._walk.step_seconds[0]))
        begun = time.thread_time()
        try:
            world.step(probe)
        except DivergedError:
            break
        spent += time.thread_time() - begun
        if world.steps % 30 == 0 and world.q[2] - world.poses()[0][feet, 2].min() < low:
            break
    counts = np.zeros(4, dtype=np.int64) if gait.stabiliser is None else gait.stabiliser.counts.copy()
    return Walked(
        steps=gait.steps,
        shares=np.array(probe.foreseen),
        unbalanced=np.array([quality(shares[0], SLACKER * LIMIT) >= UNBALANCED for shares in probe.foreseen]),
        phase=np.array(phase),
        counts=counts,
        seconds=(spent - probe.seconds) / max(len(phase), 1),
    )


def errors(walks: Sequence[Walked]) -> Array:
    """Of each model but the first: force that it puts elsewhere, of all that the first finds."""
    foreseen = np.concatenate([one.shares for one in walks])
    forces = foreseen[..., :4] * foreseen[..., 4:]
    elsewhere = 0.5 * np.abs(forces[:, 1:] - forces[:, :1]).sum(axis=(0, 2))
    result: Array = elsewhere / foreseen[:, 0, 4].sum()
    return result


def courses() -> dict[str, Course]:
    """What walks are asked."""
    return {STRAIGHT: Course.straight(0.7), SIDEWAYS: cycled(0.7)}


def figure_1() -> Iterator[str]:
    """Errors above, unbalanced steps and time below."""
    yield table(f"Force that the reduced models put elsewhere, in % of all, over {STEPS} steps", "course", *MODELS[1:])
    for name in courses():
        found = errors([watched(name, SEEDS[0], Settings(), MODELS)])
        yield f"| {name} | {' | '.join(f'{100 * error:.1f}' for error in found)} |\n"
    yield (
        "\nThe paper adds up differences at single corners; a rigid sole's four corners share a force as they like, so "
        "here it is the four sides' sums that are compared, each force counted once.\n"
    )
    for name in courses():
        yield table(
            f"With and without it, {name}",
            *("model", "unbalanced, %", "corrected of those, %", "samples each", "us a step", "steps walked"),
        )
        seeds = SEEDS if name == SIDEWAYS else SEEDS[:2]
        yield line("without", [watched(name, seed, Settings()) for seed in seeds])
        yield line("M0", [watched(name, seed, STABILISED[0]) for seed in seeds])
        for model in MODELS[1:] if name == SIDEWAYS else ():
            settings = Settings(stabiliser=True, prediction=model)
            yield line(model, [watched(name, SEEDS[0], settings)])
        yield line(f"M0, a share of {SMALLER:g}", [watched(name, seed, STABILISED[1]) for seed in seeds])
    yield f"\nUnbalanced is by a share of {LIMIT:g}, corrected by the stabiliser's own. Time is the processor's.\n"


def line(name: str, walks: Sequence[Walked]) -> str:
    """Of the table."""
    laws, lacking, corrected, tried = sum(one.counts for one in walks).tolist()
    did = f"{100 * corrected / max(lacking, 1):.0f} | {tried / max(lacking, 1):.0f}" if laws else " | "
    share = 100.0 * np.concatenate([one.unbalanced for one in walks]).mean()
    spent = 1e6 * float(np.mean([one.seconds for one in walks]))
    return f"| {name} | {share:.1f} | {did} | {spent:.0f} | {', '.join(str(one.steps) for one in walks)} |\n"


def where() -> Iterator[str]:
    """When in a step the sole is unbalanced, and how."""
    yield table(
        "Where soles are unbalanced without it, in % of all steps of time",
        *("course", "part of the step", "all", "left or right", "front or back", "hardly any force", "with M0"),
    )
    for course in courses():
        plain, stabilised = ([watched(course, seed, one) for seed in SEEDS[:2]] for one in (Settings(), STABILISED[0]))
        shares = np.concatenate([one.shares[:, 0] for one in plain])
        off, still = (np.concatenate([one.unbalanced for one in walks]) for walks in (plain, stabilised))
        lifted = shares[:, 4] < LIFTED
        beside = ~lifted & (shares[:, :2].min(axis=1) < SLACKER * LIMIT)
        along = ~lifted & (shares[:, 2:4].min(axis=1) < SLACKER * LIMIT)
        for k, name in enumerate(PHASES):
            numbers = [np.mean(off & (part_of(plain) == k) & kind) for kind in (True, beside, along, lifted)]
            numbers.append(np.mean(still & (part_of(stabilised) == k)))
            yield f"| {course} | {name} | {' | '.join(f'{100 * number:.1f}' for number in numbers)} |\n"
    yield "\nLanding is the first tenth of a step; the last part is what comes after its planned end.\n"


class Corrected:
    """A gait with a stabiliser beside it, which notes what the sole would have borne and whether it found a way."""

    def __init__(self, gait: Gait) -> None:
        self.gait, self.found = gait, []
        self._before, self._stabiliser = Stabiliser(GAIT28, gait.biped), Stabiliser(GAIT28, gait.biped)

    def law(self, state: State, contacts: Contacts) -> AffineLaw:
        """The gait's, corrected."""
        stance, work, counts = self.gait.stance, self.gait._scratch, self._stabiliser.counts
        law = self.gait.law(state, contacts)
        shares = self._before.predict(state, contacts, stance, work.torque, work.implicit)
        before = counts.copy()
        self._stabiliser.correct(state, contacts, stance, work.torque, work.implicit)
        if counts[LACKING] > before[LACKING]:
            self.found.append((min(shares[:4]), *(counts - before)[[CORRECTED, TRIED]]))
        return law


def found_ways() -> Iterator[str]:
    """When a correction is found."""
    yield table(
        "Where M0 finds a correction, ten seconds each or until it falls",
        *("course", "least side bears, %", "steps of time", "corrected, %", "samples each"),
    )
    for name, course in courses().items():
        found = []
        for seed in SEEDS:
            world, gait = World(GAIT28, rate=RATE), Gait(GAIT28, course, RATE)
            gait.begin(first=seed % 2)
            q, v = gait.reference_state()
            world.reset(q, v + np.random.default_rng(seed).normal(scale=0.05, size=GAIT28.nv))
            corrected = Corrected(gait)
            while world.time < 10.0 and world.q[2] > FALLEN * GAIT28.neutral()[2]:
                try:
                    world.step(corrected)
                except DivergedError:
                    break
            found += corrected.found
        least, corrections, samples = np.array(found).T
        for low, high in itertools.pairwise(BEARS):
            of = (least > low) & (least <= high)
            label = "nothing" if low < 0.0 else f"to {100 * high:g}"
            numbers = (100.0 * corrections[of].mean(), samples[of].mean()) if of.any() else (np.nan, np.nan)
            yield f"| {name} | {label} | {of.sum()} | {numbers[0]:.0f} | {numbers[1]:.0f} |\n"


def part_of(walks: Sequence[Walked]) -> Array:
    """Index into PHASES of each step of time."""
    phase = np.concatenate([one.phase for one in walks])
    return np.digitize(phase, [0.1, 1.0])


def rescues() -> Iterator[str]:
    """Walks that it might save."""
    yield table(
        "Walks that stay up, of five, and their steps together",
        *("what", "without", f"share {LIMIT:g}", f"share {SMALLER:g}", "steps", "steps", "steps"),
    )
    for name, cases in cases_by_name():
        found = [[walk(case._replace(settings=settings)) for case in cases] for settings in (Settings(), *STABILISED)]
        stood = [str(sum(not one.fell for one in walks)) for walks in found]
        steps = [str(sum(one.steps for one in walks)) for walks in found]
        yield f"| {name} | {' | '.join([*stood, *steps])} |\n"


def cases_by_name() -> Iterator[tuple[str, list[Case]]]:
    """Low rates and pushes."""
    for rate in LOWEST:
        yield f"straight, 30 s, {rate:g} Hz", [Case(Course.straight(0.7), 30.0, seed, rate=rate) for seed in SEEDS]
    for name, forces in FORCES.items():
        for force in forces:
            pushes = [pushed(name, force, 5.0 + 0.1 * k) for k in range(len(SEEDS))]
            cases = [Case(Course.straight(0.7), 9.0, s, push) for s, push in zip(SEEDS, pushes, strict=True)]
            yield f"push of {force:g} N {name}", cases


def study(folder: Path) -> str:
    """The page."""
    del folder
    journal = Journal.of("gait_stabiliser")
    page = INTRODUCTION
    for part in (figure_1, found_ways, where, rescues):
        if journal.wants(part.__name__):
            page += journal.find(part.__name__, lambda part=part: "".join(part()))
    return page
