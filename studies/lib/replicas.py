# SPDX-License-Identifier: GPL-3.0-or-later
"""Replicas of a motion under look-ahead control: how long they stay up, and what they pay."""

from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import numpy as np
from heft.core.contact.terrain import Mesh, Plane, make_terrain
from heft.core.control.lookahead import LookAhead, Settings, Track
from heft.core.control.lookahead.weights import make_weights
from heft.core.dynamics import difference
from heft.core.motion.reference import Reference
from heft.core.simulation import DivergedError, World
from heft.studies.lib.chart import Line, log_chart
from heft.studies.lib.journal import Journal

SECONDS = 30.0
REPLICAS = 5
NOISE = 0.05  # standard deviation of every start velocity, m/s and rad/s
FALLEN = 0.25  # m that the root may be above or below its reference
GAMMAS = (0.0005, 0.001, 0.002, 0.005, 0.01, 0.02)
NO_GAMMA = 1e-6  # as good as none, for a logarithmic axis
STUDIED = Settings()
PAPER = Settings(effort=1.0, force=1.0, location=1.0, height=1.0)
PUSHED = 0.1  # s
# LQR foresees no forces; the paper's NQR foresees any, ours those that the ground can give
POLICIES = {
    "NQR": STUDIED,
    "NQR, any forces": replace(STUDIED, possible_forces=False),
    "LQR": replace(STUDIED, policy="lqr"),
}


class Outcome(NamedTuple):
    survived: int
    seconds: float  # median
    cost: float  # median of eq. 18
    degrees: float  # median of the joints' RMS


def run(
    track: Track,
    controller: LookAhead,
    world: World,
    seconds: float,
    seed: int | None,
    push: tuple[float, np.ndarray] | None = None,
) -> tuple[float, float, float, float]:
    """Seconds that a replica stays up, its cost (eq. 18), RMS of its joints in degrees, and its contacts on average."""
    character = controller.character
    weights = make_weights(character, PAPER)
    noise = 0.0 if seed is None else np.random.default_rng(seed).normal(scale=NOISE, size=character.nv)
    world.reset(track.q[0], track.v[0] + noise)
    controller.seek()
    costs, joints, contacts = [], [], []
    for step in range(round(seconds / track.dt)):
        before = controller.place.frame
        if push is not None and push[0] <= step * track.dt < push[0] + PUSHED:
            world.apply_impulse("torso", push[1] * track.dt, (0.0, 0.0, 0.2))
        try:
            world.step(controller)
        except DivergedError:
            break
        q, v = controller.reference_state()
        error = difference(character, q, world.q)
        if abs(error[2]) > FALLEN:
            break
        change = world.torque - track.torque[before]
        cost = weights.state @ np.concatenate((error, world.v - v)) ** 2
        costs.append(0.5 * (cost + weights.change @ change**2 + weights.effort @ world.torque**2))
        joints.append(np.mean(error[6:] ** 2))
        contacts.append((world.contacts.force[:, 2] > 1.0).sum())
    if not costs:
        return 0.0, np.inf, np.inf, 0.0
    degrees = float(np.rad2deg(np.sqrt(np.mean(joints))))
    return len(costs) * track.dt, float(np.mean(costs)), degrees, float(np.mean(contacts))


def endurance(
    reference: Reference,
    settings: Settings | None = None,
    mode: str = "anticipating",
    surfaces: tuple[Mesh | Plane, ...] = (),
    seconds: float = SECONDS,
) -> Outcome:
    """Perturbed replicas."""
    track = Track.of(reference)
    terrain = make_terrain(surfaces or [Plane()])
    known = terrain if surfaces else None
    controller = LookAhead(reference.character, track, settings or STUDIED, terrain=known)
    world = World(reference.character, terrain, contacts=mode, rate=1.0 / track.dt)
    found = np.array([run(track, controller, world, seconds, seed) for seed in range(REPLICAS)])
    up, cost, degrees, _ = np.median(found, axis=0).tolist()
    return Outcome(int((found[:, 0] >= seconds - 0.5 * track.dt).sum()), up, cost, degrees)


def figure(
    folder: Path,
    letter: str,
    title: str,
    journal: Journal,
    reference: Reference,
    surfaces: tuple[Mesh, ...] = (),
    seconds: float = SECONDS,
) -> list[str]:
    """One panel of figure 3; returns its rows."""
    lines, rows = [], []
    for name, settings in POLICIES.items():
        points = []
        for gamma in (NO_GAMMA, *GAMMAS):
            question = f"figure 3 {letter}, {name}, gamma {gamma:g}"
            if not journal.wants(question):
                continue
            chosen = replace(settings, adaptation=gamma)
            found = Outcome(
                *journal.find(
                    question, lambda chosen=chosen: endurance(reference, chosen, surfaces=surfaces, seconds=seconds)
                )
            )
            points.append((max(gamma, 2e-4), found.cost, found.survived == REPLICAS))
            shown = "0" if gamma == NO_GAMMA else f"{gamma:g}"
            rows.append(
                f"| {letter} | {name} | {shown} | {found.survived}/{REPLICAS} | {found.seconds:.1f} | "
                f"{found.cost:.3g} | {found.degrees:.2f} |"
            )
        lines.append(Line(name, points))
    picture = log_chart(f"({letter}) {title}", lines, "gamma (leftmost: none)", "cost, eq. 18", (1e-2, 1e3))
    (folder / f"lookahead_{letter}.svg").write_text(picture, encoding="utf-8")
    return rows


def row(name: str, found: Outcome) -> str:
    return f"| {name} | {found.survived}/{REPLICAS} | {found.seconds:.1f} | {found.cost:.3g} | {found.degrees:.2f} |"
