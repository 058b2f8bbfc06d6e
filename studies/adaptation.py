# SPDX-License-Identifier: GPL-3.0-or-later
"""Adaptation to contact with and without: look-ahead control, and the same law around balance control and the gait."""

from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
from heft.core.contact.terrain import Surface, make_terrain
from heft.core.control.balance import Balance
from heft.core.control.gait import Gait
from heft.core.control.track import Track
from heft.core.dynamics import body_poses, difference, point_jacobian
from heft.core.motion.quaternions import conjugate, rotate
from heft.core.motion.reference import Reference
from heft.core.simulation import Course, DivergedError, Push, World
from heft.studies.lib.adapted import Adapted
from heft.studies.lib.balance_ground import along, slope
from heft.studies.lib.gait_cases import SEEDS, bumps
from heft.studies.lib.gait_walks import FALLEN as SUNK
from heft.studies.lib.gait_walks import GAIT28
from heft.studies.lib.journal import Journal
from heft.studies.lib.references import TURN, running, walking
from heft.studies.lib.replicas import FALLEN, NO_GAMMA, NOISE, REPLICAS, STUDIED, endurance

GAMMAS = (0.0, 0.0005, 0.002, 0.005, 0.02)
BALANCED, WALKED = 8.0, 15.0  # s
RATE = 300.0  # of the gait, 1/s
PUSHED = (2.3, 0.1)  # s: when, and for how long
LATER = 5.0  # s, when the gait is pushed

INTRODUCTION = f"""# Adaptation to contact, with and without it

Muico et al. 2009, section 5.4: contact adaptation improves all their controllers. Here the torques of each method
answer the contact forces that are about to be found, by equations 14 and 15 with the features of table 3, for some
values of gamma; 0 is without. {REPLICAS} replicas start with noise on every velocity. Written by
`run.py study adaptation`, which goes on where it was stopped.

## Look-ahead control

30 s each. *Early*: contacts enter the problem shortly before they touch, as Heft has them. *Touching*: once they touch,
as in the paper. Given are how many stay up, and the median cost of equation 18.

| motion | early: without | with | touching: without | with |
|---|---|---|---|---|
"""
BALANCE = f"""
## Style and balance

Its program reckons with contact forces of its own, and its joints resist what comes otherwise by a stiffness that looks
at the step's end; adaptation comes on top of that. {BALANCED:.0f} s each; joints in degrees RMS off the motion, median.

| walk | {" | ".join(f"{gamma:g}" for gamma in GAMMAS)} |
|---|{"---|" * len(GAMMAS)}
"""
GAIT = f"""
## The gait

It foresees no contact forces, so equation 14 has nothing to compare with what is found. The nearest that there is: the
torques answer what has changed in the contact forces since the step before. {WALKED:.0f} s each.

| walk | {" | ".join(f"{gamma:g}" for gamma in GAMMAS)} |
|---|{"---|" * len(GAMMAS)}
"""


def of_lookahead(name: str, reference: Reference) -> str:
    """A row: each with the default gamma, and without."""
    cells = []
    for mode in ("anticipating", "touching"):
        for gamma in (NO_GAMMA, STUDIED.adaptation):
            found = endurance(reference, replace(STUDIED, adaptation=gamma), mode)
            cells.append(f"{found.survived}/{REPLICAS}, {found.cost:.3g}")
    return f"| {name} | {' | '.join(cells)} |"


def of_balance(name: str, surfaces: tuple[Surface, ...] = (), push: tuple[float, float, float] | None = None) -> str:
    """A row: a made walk by gamma."""
    reference = walking()
    cells = []
    for gamma in GAMMAS:
        found = [balanced(reference, gamma, surfaces, push, seed) for seed in range(REPLICAS)]
        off = [degrees for up, degrees in found if up]
        joints = f", {np.median(off):.2f}°" if off else ""
        cells.append(f"{len(off)}/{REPLICAS}{joints}")
    return f"| {name} | {' | '.join(cells)} |"


def balanced(
    reference: Reference,
    gamma: float,
    surfaces: tuple[Surface, ...],
    push: tuple[float, float, float] | None,
    seed: int,
) -> tuple[bool, float]:
    """Whether a replica stays up, and the RMS of its joints' deviation in degrees."""
    character = reference.character
    controller = Balance(character, Track.of(reference))
    pushes = [] if push is None else [Push.constant("torso", push, *PUSHED)]
    world = World(character, make_terrain(surfaces) if surfaces else None, pushes=pushes)
    follower = Adapted(controller, character, gamma, partial(foreseen, controller))
    q, v = controller.reference_state()
    world.reset(q, v + np.random.default_rng(seed).normal(scale=NOISE, size=character.nv))
    joints = []
    for _ in range(round(BALANCED * reference.rate)):
        try:
            world.step(follower)
        except DivergedError:
            return False, np.inf
        error = difference(character, controller.reference_state()[0], world.q)
        if abs(error[2]) > FALLEN:
            return False, np.inf
        joints.append(np.mean(error[6:] ** 2))
    return True, float(np.rad2deg(np.sqrt(np.mean(joints))))


def foreseen(controller: Balance) -> np.ndarray:
    """The generalised force (nv,) of the contacts that the last program of balance control reckoned with."""
    scratch = controller._scratch
    program, n = scratch.program, controller.edges
    force = scratch.edge[:n] * program.share[:n, None]
    rows = scratch.edge_row[:n, None] + np.arange(3)
    return np.einsum("ea,eai->i", force, program.rows[rows])


class Before:
    """The generalised force of the contacts in the step before."""

    def __init__(self, world: World) -> None:
        self._world = world
        self.force = np.zeros(world.character.nv)

    def __call__(self) -> np.ndarray:
        """As it was when the step was over."""
        return self.force

    def note(self) -> None:
        """The step is over."""
        world, contacts = self._world, self._world.contacts
        q = world.q
        poses = body_poses(world.character, q)
        self.force = np.zeros(world.character.nv)
        for body, point, force in zip(contacts.body, contacts.point, contacts.force, strict=True):
            arm = rotate(conjugate(poses[1][body]), point - poses[0][body])
            self.force += point_jacobian(world.character, q, int(body), arm).T @ force


def of_the_gait(name: str, uneven: bool, push: tuple[float, float, float] | None) -> str:
    """A row: `gait28` by gamma."""
    cells = []
    for gamma in GAMMAS:
        found = [walked(gamma, bumps(seed) if uneven else None, push, seed) for seed in SEEDS]
        cells.append(f"{sum(up >= WALKED for up in found)}/{len(SEEDS)}")
    return f"| {name} | {' | '.join(cells)} |"


def walked(gamma: float, ground: Surface | None, push: tuple[float, float, float] | None, seed: int) -> float:
    """Seconds that it stays up."""
    pushes = [] if push is None else [Push.constant("trunk", push, LATER, PUSHED[1])]
    world = World(GAIT28, None if ground is None else [ground], rate=RATE, pushes=pushes)
    gait = Gait(GAIT28, Course.straight(0.7), RATE)
    gait.begin(first=seed % 2)
    before = Before(world)
    follower = Adapted(gait, GAIT28, gamma, before)
    q, v = gait.reference_state()
    world.reset(q, v + np.random.default_rng(seed).normal(scale=NOISE, size=GAIT28.nv))
    feet = [GAIT28.index("left_foot"), GAIT28.index("right_foot")]
    for _ in range(round(WALKED * RATE)):
        try:
            world.step(follower)
        except DivergedError:
            break
        if gamma:
            before.note()
        if world.q[2] - world.poses()[0][feet, 2].min() < SUNK * GAIT28.neutral()[2]:
            break
    else:
        return WALKED
    return world.time


def study(folder: Path) -> str:
    """The page."""
    del folder
    journal = Journal.of("adaptation")
    motions = {"walk, 1.0 m/s": walking(), "walk, 1.55 m/s": walking(0.0, 1.5, 116)}
    motions |= {"turn of 45° a stride": walking(TURN), "turn of 180° a stride": walking(np.pi)}
    if running() is not None:
        motions["run (captured, 35_17)"] = running()
    page = journal.rows({f"look-ahead, {name}": partial(of_lookahead, name, motions[name]) for name in motions})
    flat = np.zeros(2)
    cases = {
        "level": {},
        "150 N ahead for 0.1 s": {"push": (150.0, 0.0, 0.0)},
        "100 N back": {"push": (-100.0, 0.0, 0.0)},
        "100 N to the left": {"push": (0.0, 100.0, 0.0)},
        "up 2°, which it was not made for": {"surfaces": (along(slope(2.0), flat, 0.0),)},
        "down 2°": {"surfaces": (along(slope(-2.0), flat, 0.0),)},
    }
    balance = journal.rows({f"balance, {name}": partial(of_balance, name, **case) for name, case in cases.items()})
    walks = {
        "level": (False, None),
        "bumps of 3 cm": (True, None),
        "600 N to the left for 0.1 s": (False, (0.0, 600.0, 0.0)),
    }
    gait = journal.rows({f"gait, {name}": partial(of_the_gait, name, *case) for name, case in walks.items()})
    return INTRODUCTION + "\n".join(page) + "\n" + BALANCE + "\n".join(balance) + "\n" + GAIT + "\n".join(gait) + "\n"
