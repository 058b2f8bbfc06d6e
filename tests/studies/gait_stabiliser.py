# SPDX-License-Identifier: GPL-3.0-or-later
"""The ground contact stabiliser: how far reduced models are off, what it does to the sole, what it costs and saves."""

import time
from collections.abc import Iterator, Sequence
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
from numpy.typing import NDArray

from tests.studies.gait import DIRECTIONS, SEEDS, bumps, table
from tests.studies.gait_gains import cycled, pushed
from tests.studies.gait_walks import FALLEN, GAIT28, Case, walk

Array = NDArray[np.float64]

RATE = 300.0
STEPS = 200
LOWEST = (225.0, 150.0, 100.0, 75.0, 60.0)  # Hz
FORCES = (400.0, 500.0, 600.0)  # N
PHASES = ("landing", "standing", "before the other lands")

INTRODUCTION = f"""# The ground contact stabiliser

After Carensac et al., sections 3.1 and 5.1, on `gait28` at {RATE:g} Hz with the shipped gains. Before each step of
simulation it predicts the ground's force under the standing sole. A step is unbalanced if one of the four sides bears
clearly less than {100 * SLACKER * LIMIT:.0f} % of it, or the sole next to nothing. Then CMA-ES looks for torques at the
ankle and the knee with which each side bears about {100 * LIMIT:.0f} %, by 49 samples at most; where none does, nothing
is added.

M0 predicts by the simulator's own contact problem, to the bit. The others leave out arms (M1), arms and head (M2), all
above the pelvis (M3), that and the swinging leg (M4), arms, head and swinging leg (M5); M6 is M3 on two feet and M4 on
one. Starts are nudged as in [the gait's own study](gait.md); five of them for each line, M1 to M6 two. Written by
`run.py study gait_stabiliser`.
"""


class Watch:
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
    """What soles bore on a walk, which M0 foresees to the bit."""

    steps: int
    shares: Array  # (steps of time, models, 5), the first model M0
    unbalanced: NDArray[np.bool_]  # (steps of time,) by it
    phase: Array  # (steps of time,) of the step
    counts: NDArray[np.int64]  # prediction.py's, of the stabiliser that takes part
    seconds: float  # of the processor for each step of time


def watched(course: Course, seed: int, settings: Settings, models: Sequence[str] = ("M0",)) -> Walked:
    """A walk of STEPS, or until it falls."""
    world, gait = World(GAIT28, rate=RATE), Gait(GAIT28, course, RATE, settings)
    gait.reset(first=seed % 2)
    q, v = gait.reference_state()
    world.reset(q, v + np.random.default_rng(seed).normal(scale=0.05, size=GAIT28.nv))
    watch = Watch(gait, models)
    feet = [GAIT28.index("left_foot"), GAIT28.index("right_foot")]
    low, spent, phase = FALLEN * GAIT28.neutral()[2], 0.0, []
    while gait.steps < STEPS:
        phase.append(float(gait._memory.clock[0] / gait._walk.numbers[0]))
        begun = time.thread_time()
        try:
            world.step(watch)
        except DivergedError:
            break
        spent += time.thread_time() - begun
        if world.steps % 30 == 0 and world.q[2] - world.poses()[0][feet, 2].min() < low:
            break
    counts = np.zeros(4, dtype=np.int64) if gait.stabiliser is None else gait.stabiliser.counts.copy()
    return Walked(
        steps=gait.steps,
        shares=np.array(watch.foreseen),
        unbalanced=np.array([quality(shares[0], SLACKER * LIMIT) >= UNBALANCED for shares in watch.foreseen]),
        phase=np.array(phase),
        counts=counts,
        seconds=(spent - watch.seconds) / max(len(phase), 1),
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
    gentle = cycled(0.7)
    return {
        "straight": Course.straight(0.7),
        "sideways 0, 0.1, -0.1 m/s": Course(gentle.time, gentle.forward, 0.5 * gentle.left, gentle.heading),
        "sideways 0, 0.2, -0.2 m/s": cycled(0.7),
    }


def figure_1() -> Iterator[str]:
    """Errors above, unbalanced steps and time below."""
    wide = courses()
    yield table(f"Force that the reduced models put elsewhere, in % of all, over {STEPS} steps", "course", *MODELS[1:])
    for name, course in wide.items():
        found = errors([watched(course, seed, Settings(), MODELS) for seed in SEEDS[:2]])
        yield f"| {name} | {' | '.join(f'{100 * error:.1f}' for error in found)} |\n"
    yield (
        "\nThe paper adds up differences at single corners; a rigid sole's four corners share a force as they like, so "
        "here it is the four sides' sums that are compared, each force counted once.\n"
    )
    for name, course in wide.items():
        yield table(
            f"With and without it, {name} every five steps" if name != "straight" else "With and without it, straight",
            *("model", "unbalanced, %", "corrected of those, %", "samples each", "us a step", "steps walked"),
        )
        for model in (None, *MODELS):
            settings = Settings() if model is None else Settings(stabiliser=True, prediction=model)
            found = [watched(course, seed, settings) for seed in (SEEDS if model in {None, "M0"} else SEEDS[:2])]
            counts = sum(one.counts for one in found)
            share = 100.0 * np.concatenate([one.unbalanced for one in found]).mean()
            corrected = "" if model is None else f"{100 * counts[CORRECTED] / max(counts[LACKING], 1):.0f}"
            samples = "" if model is None else f"{counts[TRIED] / max(counts[LACKING], 1):.0f}"
            spent = 1e6 * float(np.mean([one.seconds for one in found]))
            walked = ", ".join(f"{one.steps}" for one in found)
            yield f"| {model or 'without'} | {share:.1f} | {corrected} | {samples} | {spent:.0f} | {walked} |\n"


def where() -> Iterator[str]:
    """When in a step the sole is unbalanced, and how."""
    yield table(
        "Where soles are unbalanced, straight, in % of all steps of time",
        *("part of the step", "without", "left or right", "front or back", "hardly any force", "with M0"),
    )
    plain = [watched(Course.straight(0.7), seed, Settings()) for seed in SEEDS]
    stabilised = [watched(Course.straight(0.7), seed, Settings(stabiliser=True)) for seed in SEEDS]
    parts = [part_of(plain), part_of(stabilised)]
    shares = np.concatenate([one.shares[:, 0] for one in plain])
    off = np.concatenate([one.unbalanced for one in plain])
    lifted = shares[:, 4] < LIFTED
    beside = ~lifted & (shares[:, :2].min(axis=1) < SLACKER * LIMIT)
    along = ~lifted & (shares[:, 2:4].min(axis=1) < SLACKER * LIMIT)
    stabilised_off = np.concatenate([one.unbalanced for one in stabilised])
    for k, name in enumerate(PHASES):
        of = parts[0] == k
        numbers = [np.mean(off & of), *(np.mean(off & of & kind) for kind in (beside, along, lifted))]
        numbers.append(np.mean(stabilised_off & (parts[1] == k)))
        yield f"| {name} | {' | '.join(f'{100 * number:.1f}' for number in numbers)} |\n"
    yield "\nLanding is the first tenth of a step, before the other lands what comes after its planned end.\n"


def part_of(walks: Sequence[Walked]) -> Array:
    """Index into PHASES of each step of time."""
    phase = np.concatenate([one.phase for one in walks])
    return np.digitize(phase, [0.1, 1.0])


def rescues() -> Iterator[str]:
    """Walks that it might save."""
    yield table("Walks that stay up, of five", "what", "without", "with M0", "steps without", "steps with")
    for name, cases in cases_by_name():
        found = [
            [walk(case, RATE, settings=Settings(stabiliser=stabiliser)) for case in cases]
            for stabiliser in (False, True)
        ]
        stood = [sum(not one.fell for one in walks) for walks in found]
        steps = [sum(one.steps for one in walks) for walks in found]
        yield f"| {name} | {stood[0]} | {stood[1]} | {steps[0]} | {steps[1]} |\n"


def cases_by_name() -> Iterator[tuple[str, list[Case]]]:
    """Low rates, pushes, cycles and bumps."""
    for rate in LOWEST:
        yield f"straight, 30 s, {rate:g} Hz", [Case(Course.straight(0.7), 30.0, seed, rate=rate) for seed in SEEDS]
    for name, course in list(courses().items())[1:]:
        yield name, [Case(course, 130.0, seed, steps=STEPS) for seed in SEEDS]
    yield (
        "bumps of 3 cm, 100 steps",
        [Case(Course.straight(0.6), 90.0, seed, surfaces=[bumps(seed)], steps=100) for seed in SEEDS],
    )
    for name, (x, y) in DIRECTIONS.items():
        for force in FORCES if x else [0.5 * force for force in FORCES]:
            pushes = [(pushed(force * x, force * y, 5.0 + 0.1 * k),) for k in range(len(SEEDS))]
            cases = [Case(Course.straight(0.7), 9.0, s, push) for s, push in zip(SEEDS, pushes, strict=True)]
            yield f"push of {force:g} N {name}", cases


def study(folder: Path) -> str:
    """The page."""
    del folder
    return INTRODUCTION + "".join([*figure_1(), *where(), *rescues()])
