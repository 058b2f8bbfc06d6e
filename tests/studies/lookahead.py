# SPDX-License-Identifier: GPL-3.0-or-later
"""Endurance of look-ahead control: how long perturbed replicas of a motion stay up, and at what cost, against gamma."""

import importlib.util
from pathlib import Path
from typing import NamedTuple

import numpy as np
from heft.core.control.lookahead import LookAhead, PolicyError, Settings, Track
from heft.core.control.lookahead.weights import make_weights
from heft.core.dynamics import difference
from heft.core.motion.fit import Trajectory
from heft.core.motion.reference import Reference
from heft.core.motion.spacetime import Ends, build_reference
from heft.core.simulation import DivergedError, World

MOTIONS = Path(__file__).parents[1] / "core" / "motion" / "spacetime" / "motions.py"
SECONDS = 30.0
REPLICAS = 5
NOISE = 0.05  # standard deviation of every start velocity, m/s and rad/s
FALLEN = 0.25  # m that the root may be above or below its reference
GAMMAS = (0.0, 0.0005, 0.001, 0.002, 0.005, 0.01, 0.02)
PAPER = Settings(effort=1.0, force=1.0, location=1.0, height=1.0)


class Outcome(NamedTuple):
    survived: int
    seconds: float  # median
    cost: float  # median of eq. 18
    degrees: float  # median of the joints' RMS


def references() -> dict[str, Reference]:
    """The motions that the tests make."""
    spec = importlib.util.spec_from_file_location("motions", MOTIONS)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    found = {}
    for name, motion in (
        ("walk", module.walk()),
        ("walk that turns by 29 degrees a stride", module.walk(turn=0.5)),
        ("squat", module.squat()),
        ("jump", module.jump()),
    ):
        trajectory = Trajectory(motion.rate, motion.q, motion.v)
        found[name] = build_reference(motion.character, trajectory, motion.schedule, bounds=Ends(cycle=motion.cycle))
    return found


def run(reference: Reference, track: Track, controller: LookAhead, mode: str, seed: int) -> tuple[float, float, float]:
    """Seconds that a replica stays up, its cost (eq. 18, table 2 as printed), and RMS of its joints in degrees."""
    character = reference.character
    weights = make_weights(character, PAPER)
    world = World(character, contacts=mode)
    noise = np.random.default_rng(seed).normal(scale=NOISE, size=character.nv)
    world.reset(track.q[0], track.v[0] + noise)
    controller.reset()
    costs, joints = [], []
    for _ in range(round(SECONDS / track.dt)):
        before = controller.place.frame
        try:
            world.step(controller)
        except (DivergedError, PolicyError):
            break
        q, v = controller.reference_state()
        error = difference(character, q, world.q)
        if abs(error[2]) > FALLEN:
            break
        change = world.torque - track.torque[before]
        cost = weights.state @ np.concatenate((error, world.v - v)) ** 2
        costs.append(0.5 * (cost + weights.change @ change**2 + weights.effort @ world.torque**2))
        joints.append(np.mean(error[6:] ** 2))
    if not costs:
        return 0.0, np.inf, np.inf
    return len(costs) * track.dt, float(np.mean(costs)), float(np.rad2deg(np.sqrt(np.mean(joints))))


def endurance(reference: Reference, settings: Settings, mode: str = "anticipating") -> Outcome:
    """Five perturbed replicas."""
    track = Track.of(reference)
    controller = LookAhead(reference.character, track, settings)
    found = np.array([run(reference, track, controller, mode, seed) for seed in range(REPLICAS)])
    seconds, cost, degrees = np.median(found, axis=0).tolist()
    return Outcome(int((found[:, 0] >= SECONDS - 0.5 * track.dt).sum()), seconds, cost, degrees)


def study(folder: Path) -> str:
    """The page; this study leaves no pictures."""
    del folder
    lines = [
        "# Look-ahead control: endurance",
        "",
        (
            f"{REPLICAS} replicas of each motion start with noise of {NOISE} on every velocity and run for "
            f"{SECONDS:.0f} s at the reference's own rate, on a flat floor, with the default weights. Cost is the "
            "median of equation 18 of Muico et al. 2009 over the replicas, each up to its end."
        ),
    ]
    for name, reference in references().items():
        lines += ["", f"## {name.capitalize()}", "", reference.quality.why]
        for mode in ("anticipating", "touching"):
            lines += ["", f"Contacts enter {mode}.", ""]
            lines += ["| policy | gamma | survive | seconds | cost | joints, degrees |", "|---|---|---|---|---|---|"]
            for policy in ("nqr", "lqr"):
                for gamma in GAMMAS:
                    found = endurance(reference, Settings(policy=policy, adaptation=gamma), mode)
                    lines.append(
                        f"| {policy.upper()} | {gamma:g} | {found.survived}/{REPLICAS} | {found.seconds:.1f} | "
                        f"{found.cost:.3g} | {found.degrees:.2f} |"
                    )
    return "\n".join(lines) + "\n"
