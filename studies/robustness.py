# SPDX-License-Identifier: GPL-3.0-or-later
"""How strong a push a captured walk takes, from every side, at every moment of its cycle: a batch of bakes."""

import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import NamedTuple

import numpy as np
from heft.core.batch.local import LocalPool, processors
from heft.core.batch.running import run
from heft.core.batch.terrains import ahead
from heft.core.job import BakeJob, Scene, prepare
from heft.core.simulation import Push
from heft.studies.lib.heat_map import heat_map

from tests.core.motion.skeletons import CMU_ROLES, GOOD, cmu

CLIP = "02_01"
FORCES = (50.0, 100.0, 150.0, 200.0)  # N
PUSHED = 0.1  # s
DIRECTIONS = 8
PHASES = 8
REPLICAS = 5
ENOUGH = 4  # of them that stay up
NOISE = 0.05  # standard deviation of every start velocity, m/s and rad/s
LEAD, RECOVERY = 2, 6.0  # cycles before the push; s after it

INTRODUCTION = f"""# Robustness

The captured walk {CLIP}, as an extended cycle with default settings and no rehearsals, is pushed at the torso for
{PUSHED:g} s: from {DIRECTIONS} sides, in {PHASES} phases of its cycle, with {REPLICAS} replicas each that start with
noise of {NOISE:g} on every velocity. The push comes after {LEAD} cycles and the walk is followed for {RECOVERY:g} s. It
*survives F* if at least {ENOUGH} of the {REPLICAS} replicas stay up at every push tried up to F; stronger pushes than
the first that it does not survive are not tried. Directions are where the push goes, from straight ahead to the left.
Written by
`run.py study robustness`, as batches.
"""


class Case(NamedTuple):
    """One cell of the map."""

    direction: int
    phase: int


class Pushes(Mapping[str, BakeJob]):
    """The bakes of some cells at one force, by name, made when they are needed."""

    def __init__(self, walk: BakeJob, period: float, force: float, cases: list[Case]) -> None:
        self._walk, self._period, self._force = walk, period, force
        self.cases = {
            f"{force:g}N-{case.direction}-{case.phase}-{seed}": (case, seed)
            for case in cases
            for seed in range(REPLICAS)
        }

    def __getitem__(self, name: str) -> BakeJob:
        case, seed = self.cases[name]
        _, heading = ahead(self._walk.clip, self._walk.roles, 0, -1)
        angle = heading + 2.0 * np.pi * case.direction / DIRECTIONS
        force = (self._force * float(np.cos(angle)), self._force * float(np.sin(angle)), 0.0)
        start = (LEAD + case.phase / PHASES) * self._period
        push = Push.constant("torso", force, start, PUSHED)
        scene = Scene(pushes=(push,))
        return replace(self._walk, name=name, scene=scene, seconds=start + RECOVERY, noise=NOISE, seed=seed)

    def __iter__(self) -> Iterator[str]:
        return iter(self.cases)

    def __len__(self) -> int:
        return len(self.cases)


def study(folder: Path) -> str:
    """The page and the map."""
    if not GOOD:
        return "# Robustness\n\nThe clips are not beside the checkout.\n"
    walk = BakeJob(cmu(CLIP), CMU_ROLES, loop=True, settings={"rehearsals": 0})
    survived = np.zeros((DIRECTIONS, PHASES))
    page, bakes, failed = [], 0, 0
    with tempfile.TemporaryDirectory() as place:
        cache = Path(place, "cache")
        reference = prepare(walk, cache=cache).reference
        period = (len(reference.q) - 1) / reference.rate
        cases = [Case(*case) for case in product(range(DIRECTIONS), range(PHASES))]
        for force in FORCES:
            jobs = Pushes(walk, period, force, cases)
            entries = run(jobs, Path(place, f"{force:g}"), LocalPool(processors(), cache))
            up = dict.fromkeys(cases, 0)
            for name, entry in entries.items():
                up[jobs.cases[name][0]] += entry.outcome == "completed"
            cases = [case for case in cases if up[case] >= ENOUGH]
            bakes += len(entries)
            failed += sum(entry.failed for entry in entries.values())
            page.append(f"| {force:g} | {len(up)} | {sum(up.values())} of {len(entries)} | {len(cases)} |")
            for case in cases:
                survived[case] = force
    ways = [f"{360 * k / DIRECTIONS:g}°" for k in range(DIRECTIONS)]
    phases = [f"{k}/{PHASES}" for k in range(PHASES)]
    picture = heat_map("Survives, N", survived, phases, ways, "phase of the cycle", "direction")
    (folder / "robustness.svg").write_text(picture + "\n", encoding="utf-8")
    cells = DIRECTIONS * PHASES
    summary = [f"{force:g} N in {int((survived >= force).sum())} of {cells}" for force in FORCES]
    return "\n".join(
        [
            INTRODUCTION,
            "![The map](robustness.svg)",
            "",
            f"Survived: {', '.join(summary)} cells. {bakes} bakes, {failed} failed.",
            "",
            "| push, N | cells tried | replicas that stay up | cells that survive |",
            "|---|---|---|---|",
            *page,
        ]
    )
