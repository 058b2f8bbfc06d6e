# SPDX-License-Identifier: GPL-3.0-or-later
"""Full characters that step over obstacles by choice of their strides, and jump as high as they are asked to."""

from collections.abc import Iterator, Sequence
from functools import cache, partial
from pathlib import Path
from typing import NamedTuple

import numpy as np
from heft.core.contact.terrain import Mesh, Plane, make_terrain
from heft.core.control.combination.middles import filled
from heft.core.control.combination.motions import CombinedMotion
from heft.core.control.law import NoLawError
from heft.core.dynamics import body_poses, center_of_mass
from heft.core.motion.fit import Trajectory
from heft.core.motion.quaternions import rotate
from heft.core.motion.reference import Reference
from heft.core.motion.spacetime import Ends, Settings, build_reference
from heft.core.simulation import DivergedError, World
from heft.studies.lib.journal import Journal

from tests.core.motion.spacetime import motions

REPLICAS, NOISE = 5, 0.05  # noise on every start velocity, m/s and rad/s
SHORT, LONG, USUAL = (0.9, 138), (1.3, 124), 1.1  # strides, m, and their frames; the one that is wanted
STRIDES = np.linspace(SHORT[0], LONG[0], 9)
AHEAD, CHANGE = 4, 0.11  # strides that are chosen together; m by which one may differ from the last
COURSES, STONES = 5, 10
DEEP, APART = 0.08, (1.2, 2.4)  # m
HEIGHTS = (0.0, 0.01, 0.02, 0.03)  # m, of an obstacle; the first is a mark on the floor
LIFTED, HIGH = 0.12, 0.05  # m that feet are keyed to be lifted by, and that they are to have at least
ROOM, CLEAR = 0.04, 0.01  # m that feet keep from an obstacle along the way, and over it
ACROSS = np.arange(-ROOM, DEEP + ROOM + 0.005, 0.02)  # places over an obstacle, from where it begins
WAY = np.linspace(-0.4, 2.0, 241)  # places along the way, of a stride
NEAR = 0.01  # m over what it stands on, a foot that stands
FALLEN = 0.25  # m
JUMPS, ASKED, AFTER = (0.1, 0.3), 5, 1.5  # m, how many heights, s

INTRODUCTION = f"""# Over obstacles

Da Silva 2010, section 6.5.2, in space: full characters under the method Combine, at 120 Hz, with {REPLICAS} starts with
noise of {NOISE:g} on every velocity. Written by `run.py study combination_obstacles`, which goes on where it was
stopped.
"""
STEPS = f"""## Steps

Walks with strides of {SHORT[0]:g} and {LONG[0]:g} m, their feet lifted by {100 * LIFTED:.0f} cm, and what lies between.
Ten obstacles, {100 * DEEP:.0f} cm deep, lie across the way, {APART[0]:g} to {APART[1]:g} m from one to the next at
random, on {COURSES} courses. As each stride begins, the next {AHEAD} are chosen together: those whose references take
feet over obstacles with {100 * CLEAR:.0f} cm to spare and {100 * ROOM:.0f} cm before and behind, and are as near as
can be to {USUAL:g} m; from one to the next they change by at most {100 * CHANGE:.0f} cm. An obstacle is struck where a
foot stands within its edges. One without height is a mark on the floor.
"""
STEPPED = """
What holds: by choice of strides alone no foot is put on a mark. What does not: obstacles of 2 cm and more. Where
strides change feet pass up to 3 cm lower than in the references that they are chosen by, and who catches an obstacle
falls.
"""
HIGHER = f"""
## Jumps

Two jumps on the spot whose hips rise {100 * JUMPS[0]:.0f} and {100 * JUMPS[1]:.0f} cm, and what lies between. Heights
of the centre of mass over where it is at first, five of them, between what the two attain. Landed: it stands still in
the end.
"""


class Walked(NamedTuple):
    passed: int  # obstacles
    struck: int
    fell: bool


def high(stride: float, frames: int) -> Reference:
    """A made walk whose feet are lifted high."""
    motion = motions.walk(stride=stride, frames=frames, lift=LIFTED, points_of=motions.corners)
    trajectory = Trajectory(motion.rate, motion.q, motion.v)
    settings = Settings(clearance_height=HIGH)
    bounds = Ends(cycle=motion.cycle)
    return build_reference(motion.character, trajectory, motion.schedule, bounds=bounds, settings=settings)


@cache
def walk() -> CombinedMotion:
    line = filled([high(*SHORT), high(*LONG)])
    return CombinedMotion(line.references, places=line.places)


def soles(reference: Reference, q: np.ndarray) -> dict[int, np.ndarray]:
    """Corners of each foot's sole in the world."""
    place, turn = body_poses(reference.character, q)
    schedule = reference.schedule
    corners = place[schedule.body] + rotate(turn[schedule.body], schedule.position)
    return {int(body): corners[schedule.body == body] for body in np.unique(schedule.body)}


@cache
def lowest() -> np.ndarray:
    """Of each stride that may be chosen, how low feet come over each place of the way (WAY of a stride), m."""
    walks, found = walk(), []
    for controller, stride in zip(walks.controllers, walks.strides, strict=True):
        reference, low = controller._reference, np.full(len(WAY), np.inf)
        for q in reference.q:
            for corners in soles(reference, q).values():
                along = corners[np.argsort(corners[:, 0])]
                x = along[:, 0] / stride
                low = np.minimum(low, np.interp(WAY, x, along[:, 2], left=np.inf, right=np.inf))
        found.append(np.where(np.isfinite(low), low, 1.0))
    return np.array([[np.interp(one, walks.strides, column) for column in np.transpose(found)] for one in STRIDES])


def lacking(begin: float, strides: Sequence[int], stones: np.ndarray, height: float) -> float:
    """What feet of strides from there on, by their numbers, lack of height over obstacles, m."""
    missing, over = 0.0, (stones[:, None] + ACROSS).ravel()
    for number in strides:
        low = np.interp((over - begin) / STRIDES[number], WAY, lowest()[number], left=1.0, right=1.0)
        missing += float(np.maximum(height + CLEAR - low, 0.0).sum())
        begin += float(STRIDES[number])
    return missing


def sequences(last: float, count: int = AHEAD) -> Iterator[tuple[int, ...]]:
    """Numbers of strides that may follow one."""
    if count == 0:
        yield ()
        return
    for number, stride in enumerate(STRIDES.tolist()):
        if abs(stride - last) < CHANGE:
            yield from ((number, *others) for others in sequences(stride, count - 1))


def chosen(begin: float, last: float, stones: np.ndarray, height: float) -> float:
    """The stride that begins there after another."""
    near = stones[(stones > begin - 1.0) & (stones < begin + (AHEAD + 1) * LONG[0])]

    def odd(numbers: Sequence[int]) -> tuple[float, float]:
        unusual = STRIDES[list(numbers)] - USUAL
        return round(lacking(begin, numbers, near, height), 6), float(unusual @ unusual)

    return float(STRIDES[min(sequences(last), key=odd)[0]])


def course(number: int) -> np.ndarray:
    """Where obstacles begin along the way, m."""
    rng = np.random.default_rng(100 + number)
    return 2.0 + np.cumsum(rng.uniform(*APART, STONES))


def slab(begin: float, height: float) -> Mesh:
    """An obstacle."""
    x, y = (begin, begin + DEEP), (-1.0, 1.0)
    corners = np.array([(a, b, c) for a in x for b in y for c in (0.0, height)])
    sides = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]
    return Mesh(corners, np.array([t for a, b, c, d in sides for t in ((a, b, c), (a, c, d))]))


def over(number: int, height: float, seed: int, *, choosing: bool) -> Walked:
    """One walk along one course."""
    motion, stones = walk(), course(number)
    surfaces = [Plane(), *(slab(at, height) for at in stones if height > 0.0)]
    world = World(motion.character, make_terrain(surfaces), rate=1.0 / motion.controllers[0].track.dt)
    motion.start_at()
    stride = chosen(0.0, USUAL, stones, height) if choosing else USUAL
    motion.ask(motion.place_of(motion.strides, stride))
    q, v = motion.reference_state()
    world.reset(q, v + NOISE * np.random.default_rng(seed).normal(size=motion.character.nv))
    reference, struck, lap = motion.controllers[0]._reference, set(), -1
    while world.q[0] < stones[-1] + 1.0:
        try:
            world.step(motion)
        except (DivergedError, NoLawError):
            return Walked(int((stones < world.q[0]).sum()), len(struck), True)
        if abs(world.q[2] - q[2]) > FALLEN:
            return Walked(int((stones < world.q[0]).sum()), len(struck), True)
        if motion.lap != lap and choosing:  # for the stride after the one that has begun
            lap, stride = motion.lap, chosen(motion._next[0], stride, stones, height)
            motion.ask(motion.place_of(motion.strides, stride))
        for corners in soles(reference, world.q).values():
            x = corners[:, 0]
            if corners[:, 2].max() < height + NEAR:
                struck |= set(np.flatnonzero((x.max() > stones) & (x.min() < stones + DEEP)).tolist())
    return Walked(STONES, len(struck), False)


def steps_row(height: float, *, choosing: bool) -> str:
    """All courses."""
    found = [over(n, height, seed, choosing=choosing) for n in range(COURSES) for seed in range(REPLICAS)]
    up, passed = sum(not one.fell for one in found), sum(one.passed for one in found)
    cells = [f"{100 * height:.0f}", "chosen" if choosing else f"all {USUAL:g} m"]
    cells += [f"{up} of {len(found)}", f"{sum(one.struck for one in found)} of {passed}"]
    return f"| {' | '.join(cells)} |"


@cache
def jump(rise: float) -> Reference:
    motion = motions.jump(rise)
    return build_reference(motion.character, Trajectory(motion.rate, motion.q, motion.v), motion.schedule)


@cache
def jumps() -> CombinedMotion:
    line = filled([jump(rise) for rise in JUMPS])
    return CombinedMotion(line.references, places=line.places)


def jumped(seed: int | None) -> tuple[float, bool]:
    """How high, m, and whether it stands in the end."""
    motion = jumps()
    motion.start_at()
    world = World(motion.character, rate=1.0 / motion.controllers[0].track.dt)
    q, v = motion.reference_state()
    noise = 0.0 if seed is None else NOISE * np.random.default_rng(seed).normal(size=motion.character.nv)
    world.reset(q, v + noise)
    first = float(center_of_mass(motion.character, q)[2])
    highest = 0.0
    while world.time < motion.controllers[0].steps * world.dt + AFTER:
        try:
            world.step(motion)
        except (DivergedError, NoLawError):
            return highest, False
        rise = float(center_of_mass(motion.character, world.q)[2]) - first
        highest = max(highest, rise)
        if rise < -2.0 * FALLEN:
            return highest, False
    return highest, bool(np.abs(world.v).max() < 1.0)


def attained() -> list[float]:
    """What each of the combined jumps attains by itself, m."""
    motion, found = jumps(), []
    for place in motion.places:
        motion.ask(float(place))
        found.append(jumped(None)[0])
    return found


def jump_row(share: float, alone: Sequence[float]) -> str:
    """A height between the least and the greatest."""
    asked = alone[0] + share * (alone[-1] - alone[0])
    jumps().ask(jumps().place_of(np.array(alone), asked))
    found = [jumped(seed) for seed in range(REPLICAS)]
    rises = np.array([rise for rise, _ in found])
    cells = [f"{100 * asked:.1f}", f"{100 * rises.mean():.1f}", f"{100 * np.abs(rises - asked).max():.1f}"]
    return f"| {' | '.join([*cells, f'{sum(lands for _, lands in found)} of {REPLICAS}'])} |"


def study(folder: Path) -> str:
    """The page."""
    del folder
    journal = Journal.of("combination_obstacles")
    page = [INTRODUCTION, STEPS, "| cm high | strides | stay up | struck, of those passed |", "|---|---|---|---|"]
    page += journal.rows(
        {
            f"steps, {height:g} m, {'chosen' if choosing else 'all alike'}": partial(
                steps_row, height, choosing=choosing
            )
            for height in HEIGHTS
            for choosing in (True, False)
        }
    )
    page += [STEPPED, HIGHER, "| asked, cm | mean | worst error, cm | landed |", "|---|---|---|---|"]
    if journal.wants("jumps"):
        alone = journal.find("jumps alone", attained)
        shares = np.linspace(0.0, 1.0, ASKED)
        page += journal.rows({f"jumps, {share:.2f}": partial(jump_row, float(share), alone) for share in shares})
    return "\n".join(page) + "\n"
