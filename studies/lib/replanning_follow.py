# SPDX-License-Identifier: GPL-3.0-or-later
"""Following a motion with replanning control, and what became of it: for the parts of `run.py study replanning`."""

from collections.abc import Iterable, Sequence
from functools import cache
from typing import NamedTuple

import numpy as np
from heft.core.character import Character
from heft.core.control.replanning import Replanning, Settings, Unfelt
from heft.core.control.track import Track
from heft.core.dynamics import difference
from heft.core.motion.fit import Trajectory
from heft.core.motion.reference import Reference
from heft.core.motion.spacetime import Ends, build_reference
from heft.core.simulation import DivergedError, Push, World
from heft.studies.lib.replanning_motions import DT, Motion

from tests.core.motion.spacetime import motions

NOISE = 0.02  # standard deviation of every start velocity, m/s and rad/s
FALLEN = 0.4  # m that the root may be away from its reference


class Outcome(NamedTuple):
    why: str  # empty if it stood to the end
    seconds: float
    degrees: float  # RMS over joints and steps
    root: float  # m, farthest
    error: np.ndarray  # (steps, nv)
    q: np.ndarray  # (steps, nq)


def follow(
    motion: Motion,
    settings: Settings | None = None,
    *,
    pushes: Sequence[Push] = (),
    seconds: float | None = None,
    seed: int | None = None,
    kind: type[Replanning] = Replanning,
    aware: bool = True,
) -> Outcome:
    """Simulate; a `seed` adds noise to the first velocities.

    Who is not `aware` of where it would be without a push takes itself to be where the reference is until it feels it.
    """
    character, track = motion.character, motion.track
    controller = kind(character, track, settings)
    world = World(character, grabs=motion.grabs, props=motion.props, pushes=pushes)
    unfelt = Unfelt(world, World(character, grabs=motion.grabs, props=motion.props)) if aware else None
    controller.seek(surprises=[push.start for push in pushes], unfelt=unfelt)
    q, v = controller.reference_state()
    if seed is not None:
        v = v + seeded(character, seed)
    world.reset(q, v)
    errors, poses, why = [], [], ""
    for _ in range(round((seconds or (len(track.q) - 1) * DT) / DT)):
        try:
            world.step(controller)
        except DivergedError as error:
            why = str(error).split(": ")[-1]
            break
        poses.append(world.q)
        errors.append(difference(character, controller.reference_state()[0], world.q))
        if np.linalg.norm(errors[-1][:3]) > FALLEN:
            why = "fell"
            break
    error = np.array(errors)
    return Outcome(
        why=why,
        seconds=len(error) * DT,
        degrees=float(np.degrees(np.sqrt(np.mean(error[:, 6:] ** 2)))),
        root=float(np.linalg.norm(error[:, :3], axis=1).max()),
        error=error,
        q=np.array(poses),
    )


def seeded(character: Character, seed: int) -> np.ndarray:
    """Noise on the first velocities."""
    return NOISE * np.random.default_rng(seed).normal(size=character.nv)


def table(head: Iterable[str], rows: Iterable[Iterable[object]]) -> list[str]:
    names = list(head)
    lines = [" | ".join(names), " | ".join("---" for _ in names), *(" | ".join(map(str, row)) for row in rows)]
    return [f"| {line} |" for line in lines] + [""]


def outcome_words(outcome: Outcome) -> str:
    return "stands" if not outcome.why else f"{outcome.why} at {outcome.seconds:.1f} s"


@cache
def walk_reference(name: str = "jain42") -> Reference:
    made = motions.walk(points_of=motions.corners, name=name)
    trajectory = Trajectory(made.rate, made.q, made.v)
    return build_reference(made.character, trajectory, made.schedule, bounds=Ends(cycle=made.cycle))


def walk() -> Motion:
    reference = walk_reference()
    return Motion(reference.character, Track.of(reference))
