# SPDX-License-Identifier: GPL-3.0-or-later
"""A rag doll dropped from random poses on random triangle terrain: does anything ever go wrong, and does it settle?

A doll (muico29 with a little damping in its joints) is thrown with random velocities from one or two metres above a
bumpy open sheet of triangles, and followed for five seconds. The table counts steps without a valid state (an
unsolved contact problem, a number that is not finite), and gives the largest depth at the end.
"""

from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import numpy as np
from heft.core import dynamics
from heft.core.character import Character
from heft.core.contact.terrain import Mesh
from heft.core.simulation import DivergedError, World

SECONDS = 5.0
RATE = 120.0


class Drop(NamedTuple):
    """What became of one doll."""

    reason: str  # empty where every step gave a valid state
    penetration: float  # m, deepest at the end
    deepest: float  # m, over the whole drop
    speed: float  # largest velocity at the end, m/s or rad/s
    worst_residual: float  # m/s
    largest: int  # unknowns of the largest contact problem


def rag_doll() -> Character:
    """A passive person; a damper of 1 N m s/rad in every joint stands for what flesh does."""
    doll = Character.preset("muico29")
    bodies = tuple(
        body if body.joint.kind in {"free", "fixed"} else replace(body, joint=replace(body.joint, damping=1.0))
        for body in doll.bodies
    )
    return Character("rag_doll", bodies, doll.contacts)


def bumpy_ground(rng: np.random.Generator, size: float = 8.0, cells: int = 20, height: float = 0.15) -> Mesh:
    """An open sheet of random heights, split into triangles."""
    ticks = np.linspace(-size / 2, size / 2, cells + 1)
    x, y = np.meshgrid(ticks, ticks, indexing="ij")
    vertices = np.column_stack([x.ravel(), y.ravel(), rng.uniform(0.0, height, x.size)])
    i, j = (k.ravel() for k in np.meshgrid(np.arange(cells), np.arange(cells), indexing="ij"))
    a = i * (cells + 1) + j
    b, c, d = a + cells + 1, a + cells + 2, a + 1
    return Mesh(vertices, np.vstack([np.c_[a, b, c], np.c_[a, c, d]]), friction=float(rng.uniform(0.2, 1.2)))


def drop(seed: int) -> Drop:
    """One doll, one terrain; the same for the same seed."""
    rng = np.random.default_rng(seed)
    doll = rag_doll()
    world = World(doll, [bumpy_ground(rng)], rate=RATE)
    bend = rng.normal(scale=0.4, size=doll.nv)
    bend[3:6] = rng.normal(scale=1.5, size=3)
    q = dynamics.integrate(doll, doll.neutral(), bend, 1.0)
    q[:3] = *rng.uniform(-1.0, 1.0, 2), rng.uniform(1.5, 2.5)
    v = rng.normal(scale=1.0, size=doll.nv)
    world.reset(q, v)
    deepest = worst = 0.0
    largest = 0
    for _ in range(round(SECONDS * RATE)):
        try:
            world.step()
        except DivergedError as error:
            return Drop(error.reason, np.nan, deepest, np.nan, worst, largest)
        contacts = world.contacts
        deepest = max(deepest, -contacts.gap.min(initial=0.0))
        worst = max(worst, world.residual)
        largest = max(largest, 6 * len(contacts.gap))
    world.begin_step()
    penetration = max(0.0, -world.contacts.gap.min(initial=0.0))
    return Drop("", penetration, deepest, float(np.abs(world.v).max()), worst, largest)


def study(_folder: Path, drops: int = 1000) -> str:
    """The page: the figures of many drops."""
    results = [drop(seed) for seed in range(drops)]
    failed = [f"seed {seed}: {result.reason}" for seed, result in enumerate(results) if result.reason]
    penetration = np.array([result.penetration for result in results if not result.reason])
    speed = np.array([result.speed for result in results if not result.reason])
    lines = [
        "# A rag doll, dropped",
        "",
        " ".join((__doc__ or "").split("\n\n", 1)[1].split()),
        "",
        f"| of {drops} drops | |",
        "|---|---|",
        f"| steps without a valid state | {len(failed)} |",
        *(f"| | {reason} |" for reason in failed),
        f"| penetration at the end, median | {np.median(penetration):.2g} m |",
        f"| penetration at the end, 99th percentile | {np.percentile(penetration, 99):.2g} m |",
        f"| penetration at the end, largest | {penetration.max():.2g} m |",
        f"| penetration at any time, largest | {max(result.deepest for result in results):.2g} m |",
        f"| speed at the end, median | {np.median(speed):.2g} m/s or rad/s |",
        f"| worst residual of a contact row | {max(result.worst_residual for result in results):.2g} m/s |",
        f"| largest contact problem | {max(result.largest for result in results)} unknowns |",
    ]
    return "\n".join(lines) + "\n"
