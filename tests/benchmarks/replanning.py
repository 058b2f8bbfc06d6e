# SPDX-License-Identifier: GPL-3.0-or-later
"""Replanning control: a step of control and simulation beside the 120 a second of real time; the contact plan alone.

A walk with the paper's window of 12 steps, a squat on two feet with 16, hanging from both hands with 24, all of the
character of 42 degrees of freedom (Jain and Liu 2011, section 7.1).
"""

import importlib.util
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from harness import Row
from heft.core.character import Character
from heft.core.control.replanning import Replanning, Settings
from heft.core.control.replanning.contact_plan import plan_contacts
from heft.core.control.track import Track
from heft.core.motion.fit import Trajectory
from heft.core.motion.spacetime import Ends, build_reference
from heft.core.simulation import World

TESTS = Path(__file__).parents[1] / "core"
REAL_TIME = 1e6 / 120.0
STEPS = 240
RUNS = 7  # of the same motion, to the bit: each step counts as its fastest, which no other process has interrupted


def module_at(path: Path):
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def motions() -> Iterator[tuple[str, Character, Track, list, int]]:
    """Name, character, track, grabs and steps of the window."""
    walks = module_at(TESTS / "motion" / "spacetime" / "motions.py")
    made = walks.walk(points_of=walks.corners, name="jain42")
    trajectory = Trajectory(made.rate, made.q, made.v)
    reference = build_reference(made.character, trajectory, made.schedule, bounds=Ends(cycle=made.cycle))
    yield "walk", made.character, Track.of(reference), [], 12
    tracks = module_at(TESTS / "control" / "replanning" / "tracks.py")
    yield "squat", made.character, tracks.squatting(made.character), [], 16
    yield "hanging", made.character, *tracks.hanging(made.character), 24


def rows() -> Iterator[Row]:
    """Each motion's step and plan."""
    for name, character, track, grabs, window in motions():
        controller = Replanning(character, track, Settings(window=window * track.dt))
        world = World(character, grabs=grabs)
        step, plan = np.full(STEPS, np.inf), np.full(STEPS, np.inf)
        for _ in range(RUNS + 1):  # the first compiles
            controller.seek()
            world.reset(*controller.reference_state())
            for k in range(STEPS):
                begun = time.perf_counter()
                world.step(controller)
                step[k] = min(step[k], time.perf_counter() - begun)
                plan[k] = min(plan[k], plan_seconds(controller, len(world.contacts.key)))
        for what, seconds in ((f"control and step, {name}, window {window}", step), (f"contact plan, {name}", plan)):
            micro = 1e6 * seconds
            yield Row(what, float(np.median(micro)), float(np.percentile(micro, 99)), "a step of real time", REAL_TIME)


def plan_seconds(controller: Replanning, candidates: int) -> float:
    """How long the last contact plan takes once more."""
    work, dt = controller._scratch, controller.track.dt
    points = candidates + len(controller.track.point_body)
    effort = controller.settings.force / (1000.0 * dt) ** 2
    begun = time.perf_counter()
    plan_contacts(work.problem, points, controller.window, dt, effort, work.contacts)
    return time.perf_counter() - begun
