# SPDX-License-Identifier: GPL-3.0-or-later
"""Full characters that walk with any stride between those of two given walks."""

import time
from collections.abc import Sequence
from functools import cache, partial
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import numpy as np
from heft.core.control.combination.middles import filled, sunk
from heft.core.control.combination.motions import CombinedMotion
from heft.core.control.law import NoLawError
from heft.core.dynamics import body_poses
from heft.core.motion.fit import Trajectory
from heft.core.motion.make_reference import make_reference
from heft.core.motion.reference import Reference
from heft.core.motion.schedule import runs
from heft.core.motion.spacetime import Ends, build_reference
from heft.core.motion.variants import with_stride
from heft.core.simulation import DivergedError, World
from heft.studies.lib.journal import Journal

from tests.core.motion.skeletons import GOOD
from tests.core.motion.spacetime import motions
from tests.core.motion.walkers import captured

LAPS = 11  # ten strides of each foot: twenty steps
SETTLED = 3  # strides after which a start between walks is over
FALLEN = 0.25  # m
BETWEEN = np.arange(1, 8) / 8.0
PUSH, PUSHED, PUSHED_AT = 100.0, 0.1, 3.2  # N, s, s
EQUAL = 1e12  # a temperature at which values no longer count


INTRODUCTION = """# Combination of walks

Two walks under look-ahead control combined into one controller: da Silva 2010, chapter 6, with
`core/control/combination`; in Blender the method Combine. Written by `run.py study combination_walks`,
which goes on where it was stopped.

## Any stride between two walks

Full characters at 120 Hz on level ground start between the walks and are asked for 7 strides, evenly spaced from the
shorter to the longer. Lambda is the largest d^T S d between the walks. A step's error is half that of its stride, for
those that stay up. "2 given" adds the laws of the two walks; otherwise that many motions are combined, all but two of
which were made in between, by halving until the feet of the pose half-way between neighbours are less than 0.7 mm
under ground. That bound was chosen on the first three and the captured 02_01 and 132_20; the others had no part in it.
"""

STRIDES = """
What holds: from two given walks any of the strides, every step within 1 cm from the first one on, and 20 steps upright,
also where their durations differ by a third. What does not: to add the laws of two walks that are far apart. A pose
half-way between two poses has its feet under ground, and the character stubs its toes.

## Pushes of 100 N for 0.1 s in eight directions, on strides between 0.9 and 1.3 m

"Fixed" leaves the goal's weights as they are. "Choosing" is coordination: all walks weigh the same, the stride asked
for says only how to begin, and the next one is what costs least (softness 1).
"""

SURVIVED = """
What holds: whatever the stride, about as many pushes are survived as by a walk that is made for it, and more of those
on short strides where values choose: it goes over to longer ones. What does not: values and fixed weights do equally
well where the stride is given, for at the temperature at which goals melt into one values hardly move the shares; and
where values choose it does not keep to short strides even unpushed.
"""


class Outcome(NamedTuple):
    laps: int
    fell: bool
    errors: np.ndarray  # (n,) of steps, half of those of strides, in their order, m
    shares: tuple[float, float]  # least and greatest of the first walk


@cache
def made(stride: float, frames: int = 132) -> Reference:
    motion = motions.walk(stride=stride, frames=frames, points_of=motions.corners)
    trajectory = Trajectory(motion.rate, motion.q, motion.v)
    return build_reference(motion.character, trajectory, motion.schedule, bounds=Ends(cycle=motion.cycle))


@cache
def lengthened(number: str, factor: float) -> Reference:
    """A captured walk with its strides made longer or shorter."""
    character, trajectory = captured(number)[:2]
    return make_reference(character, with_stride(character, trajectory, factor), cyclic=True).reference


def pairs() -> dict[str, list[Reference]]:
    """The last of the made ones, and the last captured ones, had no part in choosing how near motions must be."""
    found = {
        "made, 0.9 and 1.3 m": [made(0.9), made(1.3)],
        "made, 0.9 m in 1.15 s, 1.3 m in 1.03 s": [made(0.9, 138), made(1.3, 124)],
        "made, 0.6 m in 1.3 s, 1.5 m in 0.97 s": [made(0.6, 156), made(1.5, 116)],
        "made, 0.8 m in 1.0 s, 1.2 m in 1.25 s": [made(0.8, 120), made(1.2, 150)],
        "made, 0.7 m in 1.25 s, 1.4 m in 1.0 s": [made(0.7, 150), made(1.4, 120)],
    }
    for number in ("02_01", "132_20", "07_04") if GOOD else ():
        found[f"captured {number}, strides x 0.85 and 1.15"] = [lengthened(number, factor) for factor in (0.85, 1.15)]
    return found


def middles(walk: CombinedMotion) -> dict[int, float]:
    """Of each foot, the phase in the middle of its longest stance."""
    track = walk.controllers[0].track
    frames, found = len(track.q), {}
    for body in np.unique(track.point_body):
        on = np.tile(track.loaded[:, track.point_body == body].any(axis=1), 2)
        stances = runs(on)
        if not stances:
            continue
        start, stop = max(stances, key=lambda stance: stance[1] - stance[0])
        found[int(body)] = ((start + stop) / 2 % frames) / frames
    return found


def run(walk: CombinedMotion, stride: float, laps: int = LAPS, push: np.ndarray | None = None) -> Outcome:
    """From the state between the walks on."""
    walk.start_at()
    walk.ask(walk.place_of(walk.strides, stride))
    world = World(walk.character, rate=1.0 / walk.controllers[0].track.dt)
    world.reset(*walk.reference_state())
    height, ahead = world.q[2], walk.controllers[0].track.cycle.shift / walk.strides[0]
    feet, places, shares, fell = middles(walk), {}, [], False
    while walk.lap < laps and not fell:
        before = walk.phase
        if push is not None and PUSHED_AT <= world.time < PUSHED_AT + PUSHED:
            world.apply_impulse("torso", push * world.dt, (0.0, 0.0, 0.2))
        try:
            world.step(walk)
        except (DivergedError, NoLawError):
            fell = True
            break
        shares.append(walk.shares[0])
        for body, middle in feet.items():
            if before < middle <= walk.phase:
                place = body_poses(walk.character, world.q)[0][body, :2]
                places.setdefault(body, []).append((walk.lap, float(place @ ahead)))
        fell = abs(world.q[2] - height) > FALLEN
    strides = sorted((lap, along - last) for rows in places.values() for (_, last), (lap, along) in pairwise(rows))
    errors = np.array([0.5 * (length - stride) for _, length in strides])
    return Outcome(walk.lap, fell, errors, (float(min(shares)), float(max(shares))))


def strides_rows(name: str, given: Sequence[Reference]) -> list[str]:
    """Of a pair of walks: as given, and with motions made between them."""
    rows, line = [], filled(given)
    alone, many = CombinedMotion(given), CombinedMotion(line.references, places=line.places)
    for walk in (alone, many):
        low, high = walk.strides.min(), walk.strides.max()
        found = [run(walk, low + share * (high - low)) for share in BETWEEN]
        up = [one for one in found if not one.fell]
        worst = max((np.abs(one.errors).max() for one in up), default=np.nan)
        later = max((np.abs(one.errors[2 * SETTLED :]).max() for one in up), default=np.nan)
        depth = 1e3 * max(sunk(*pair) for pair in pairwise(given if walk is alone else line.references))
        cells = (
            name,
            "2 given" if walk is alone else f"{len(line.places)}",
            f"{len(up)} of {len(BETWEEN)}",
            f"{100.0 * worst:.1f}",
            f"{100.0 * later:.1f}",
            f"{depth:.1f}",
        )
        rows.append(f"| {' | '.join(cells)} |")
    return rows


def pushes() -> list[str]:
    """Eight directions, for strides between walks and for their own, beside a walk that is made for each stride."""
    line = filled([made(0.9), made(1.3)])
    walk = CombinedMotion(line.references, places=line.places)
    choosing = CombinedMotion(line.references, places=line.places, by_value=True, softness=1.0)
    own = walk.temperature
    rows = ["| stride, m | by value | fixed | choosing | a walk made for it |", "|---|---|---|---|---|"]
    forces = [PUSH * np.array([np.cos(a), np.sin(a), 0.0]) for a in 0.25 * np.pi * np.arange(8)]

    def survived(controller: CombinedMotion, stride: float) -> str:
        return f"{sum(not run(controller, stride, 8, force).fell for force in forces)} of 8"

    for stride in (0.9, 1.0, 1.1, 1.2, 1.3):
        cells = []
        for walk.temperature in (own, EQUAL):
            cells.append(survived(walk, stride))
        cells.append(survived(choosing, stride))
        alone = CombinedMotion([made(stride), made(1.4)])  # asked for its own stride, the first is alone
        rows.append(f"| {stride:.2f} | {' | '.join([*cells, survived(alone, stride)])} |")
    return rows


def overhead() -> str:
    """Milliseconds of a combined law, and of what it adds to its controllers' own."""
    walk = CombinedMotion([made(0.9), made(1.1)])
    own: list[float] = []
    whole: list[float] = []

    def timed(law, times):
        def call(state, contacts):
            begun = time.perf_counter()
            found = law(state, contacts)
            times.append(time.perf_counter() - begun)
            return found

        return call

    for controller in walk.controllers:
        controller.law = timed(controller.law, own)
    walk.law = timed(walk.law, whole)
    run(walk, 1.0)
    apart = np.array(own).reshape(-1, 2).sum(axis=1)
    added = np.median(np.array(whole) - apart)
    return f"{1e3 * np.median(whole):.3f} ms, of which {1e3 * added:.3f} ms are not its two controllers' own"


def study(folder: Path) -> str:
    """The page."""
    del folder
    journal = Journal.of("combination_walks")
    page = [INTRODUCTION, "| walks | combined | up for 20 steps | worst step, cm | after six steps, cm | sunk, mm |"]
    page.append("|---|---|---|---|---|---|")
    for name, given in pairs().items():
        if journal.wants(name):
            page += journal.find(name, partial(strides_rows, name, given))
    page += [STRIDES, *(journal.find("pushes", pushes) if journal.wants("pushes") else []), SURVIVED]
    return "\n".join([*page, f"A combined law of two walks takes {overhead()}."]) + "\n"
