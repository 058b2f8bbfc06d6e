# SPDX-License-Identifier: GPL-3.0-or-later
"""Walks as keyed behind a receding spacetime filter: a part of the study of replanning control."""

from functools import partial
from pathlib import Path

import numpy as np
from heft.core.contact.terrain import Plane, make_terrain
from heft.core.control.recovery.footholds import new_schedule
from heft.core.control.recovery.guess import guess
from heft.core.control.recovery.motion_ahead import MotionAhead
from heft.core.control.replanning import Replanning
from heft.core.control.track import Track
from heft.core.motion.bvh import read_bvh
from heft.core.motion.make_reference import make_reference
from heft.core.motion.prepare import prepare
from heft.core.motion.reference import Reference
from heft.core.motion.spacetime import Ends, Settings
from heft.core.motion.spacetime.problem import allowed_forces, make_problem
from heft.core.motion.spacetime.solver import solve
from heft.core.simulation import DivergedError, World
from heft.studies.lib.captured_walks import WALKS
from heft.studies.lib.journal import Journal
from heft.studies.lib.replanning_follow import FALLEN, NOISE, table

from tests.core.motion.skeletons import CMU_ROLES, CMU_UNIT, GOOD

REPLICAS = 5
WINDOWS = ((0.5, 3), (1.0, 3))  # s, and iterations
EVERY = 0.1  # s
USABLE = 1e-4  # rad or m and per second
TEXT = f"""## Walks as keyed, behind a receding filter

Every {EVERY:g} s the spacetime optimiser makes the keyed motion of the next half second or second possible from the
actual state, in so many iterations, and replanning control follows that. Nothing is optimised before. Of {REPLICAS}
starts with noise of {NOISE:g} on every velocity those that complete, and the seconds that they stay up, median.
"""


def as_keyed(path: Path) -> Reference:
    """A clip, cleaned up and not optimised."""
    performance = prepare(read_bvh(path, CMU_UNIT), CMU_ROLES)
    return make_reference(performance.plan.character, performance.trajectory, optimise=False).reference


def filtered(reference: Reference, world: World, frame: int, seconds: float, iterations: int) -> Track | None:
    """The possible motion near the keyed one from the world's state on; None where there is none."""
    character, rate, actual = reference.character, reference.rate, (world.q, world.v)
    stop = min(frame + round(seconds * rate), reference.steps) + 1
    schedule = reference.schedule
    ahead = MotionAhead(
        [], reference.q[frame:stop], reference.v[frame:stop], schedule.active[frame:stop], schedule.place[frame:stop]
    )
    terrain = make_terrain([Plane()])
    held = new_schedule(ahead, reference, actual[0], [], terrain, world.time)
    if held is None or ahead.steps < 3:
        return None
    none = np.zeros(2)
    q, v = guess(character, ahead, reference, held, actual, none, ahead.steps, none, (none, 0.0))
    settings = Settings(friction=reference.friction, iterations=iterations)
    problem = make_problem(character, q, v, rate, held, terrain, settings, None)
    solution = solve(character, problem, Ends(start=actual), settings)
    if not solution.usable(USABLE):
        return None
    loaded = allowed_forces(held.active, periodic=False)
    normal = np.broadcast_to((0.0, 0.0, 1.0), (*held.active.shape, 3))
    grip = np.array([point.grab for point in held.points], dtype=np.bool_)
    return Track(
        1.0 / rate,
        solution.iterate.q,
        np.concatenate((loaded, loaded[-1:])),
        normal,
        held.body,
        held.position,
        grip,
    )


def stays_up(reference: Reference, seconds: float, iterations: int, seed: int) -> tuple[float, int, int]:
    """Seconds that a replica stays up, how often the motion was filtered, and how often that was impossible."""
    character = reference.character
    world = World(character, rate=reference.rate)
    noise = NOISE * np.random.default_rng(seed).normal(size=character.nv)
    world.reset(reference.q[0], reference.v[0] + noise)
    controller, made, missed = Replanning(character, Track.of(reference)), 0, 0
    controller.seek()
    every = round(EVERY * reference.rate)
    for k in range(reference.steps):
        if k % every == 0:
            track = filtered(reference, world, k, seconds, iterations)
            if track is None:
                missed += 1
            else:
                controller, made = Replanning(character, track), made + 1
                controller.seek()
        try:
            world.step(controller)
        except DivergedError:
            return k / reference.rate, made, missed
        if np.linalg.norm(world.q[:3] - reference.q[k + 1, :3]) > FALLEN:
            return k / reference.rate, made, missed
    return reference.steps / reference.rate, made, missed


def row(path: Path) -> str:
    """A walk, by window."""
    reference = as_keyed(path)
    cells = [path.stem, f"{reference.steps / reference.rate:.1f}"]
    for seconds, iterations in WINDOWS:
        found = np.array([stays_up(reference, seconds, iterations, seed) for seed in range(REPLICAS)])
        complete = int((found[:, 0] >= reference.steps / reference.rate).sum())
        cells.append(f"{complete} of {REPLICAS}, {np.median(found[:, 0]):.1f} s")
    return "| " + " | ".join(cells) + " |"


def receding(journal: Journal) -> list[str]:
    """The part of the page."""
    head = ("walk", "lasts, s", *(f"{seconds:g} s, {iterations} iterations" for seconds, iterations in WINDOWS))
    walks = [path for path in GOOD if path.stem.startswith(WALKS)]
    rows = journal.rows({f"receding {path.stem}": partial(row, path) for path in walks})
    return [TEXT, *table(head, ())[:2], *rows, ""]
