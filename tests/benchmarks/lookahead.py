# SPDX-License-Identifier: GPL-3.0-or-later
"""Look-ahead control beside MuJoCo: a step of control and simulation of a walk, and the gains of two cycles."""

import importlib.util
import time
from collections.abc import Iterator
from pathlib import Path

import mujoco
import numpy as np
from harness import Row, measure
from heft.core.control.lookahead import LookAhead, Settings, Track, precompute
from heft.core.motion.fit import Trajectory
from heft.core.motion.spacetime import Ends, build_reference
from heft.core.simulation import World

MOTIONS = Path(__file__).parents[1] / "core" / "motion" / "spacetime" / "motions.py"
STEPS = 1320  # ten strides
RUNS = 7  # of the same walk, to the bit: each step counts as its fastest, which no other process has interrupted


def make_walk():
    spec = importlib.util.spec_from_file_location("motions", MOTIONS)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    motion = module.walk()
    trajectory = Trajectory(motion.rate, motion.q, motion.v)
    return build_reference(motion.character, trajectory, motion.schedule, bounds=Ends(cycle=motion.cycle))


def step_times(world, controller) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Microseconds of every step of a walk, of its control alone, and the states, for MuJoCo to step from."""
    whole, control, states = [], [], []
    for _ in range(STEPS):
        states.append((world.q, world.v))
        first = time.perf_counter()
        contacts = world.begin_step()
        begun = time.perf_counter()
        law = controller.law(world.state(), contacts)
        done = time.perf_counter()
        world.solve(law)
        whole.append(time.perf_counter() - first)
        control.append(done - begun)
    return 1e6 * np.array(whole), 1e6 * np.array(control), states


def mujoco_times(character, states) -> np.ndarray:
    """Microseconds of `mj_step` from the same states on the exported model, on a floor."""
    spec = mujoco.MjSpec.from_string(character.to_mjcf())
    spec.option.timestep = 1.0 / 120.0
    if not any(geom.type == mujoco.mjtGeom.mjGEOM_PLANE for geom in spec.geoms):
        spec.worldbody.add_geom(type=mujoco.mjtGeom.mjGEOM_PLANE, size=[10.0, 10.0, 0.1])
    model = spec.compile()
    data = mujoco.MjData(model)
    times = np.full(len(states), np.inf)
    for _ in range(RUNS):
        for k, (q, v) in enumerate(states):
            data.qpos, data.qvel = q, v
            first = time.perf_counter()
            mujoco.mj_step(model, data)
            times[k] = min(times[k], time.perf_counter() - first)
    return 1e6 * times


def rows() -> Iterator[Row]:
    """Control and step, control alone, gains."""
    reference = make_walk()
    character = reference.character
    for name, corners in (("4 points a foot", True), ("2 points a foot", False)):
        track = Track.of(reference, corners=corners)
        controller, world = LookAhead(character, track), World(character)
        runs = []
        for _ in range(RUNS + 1):  # the first compiles
            world.reset(track.q[0], track.v[0])
            controller.seek()
            runs.append(step_times(world, controller))
        whole, control = (np.min([run[part] for run in runs], axis=0) for part in (0, 1))
        states = runs[0][2]
        theirs = float(np.median(mujoco_times(character, states)))
        for what, times in (("control and step", whole), ("control alone", control)):
            yield Row(
                f"{what}, walk, {name}",
                float(np.median(times)),
                float(np.percentile(times, 99)),
                "mj_step",
                theirs,
            )
        yield Row(f"gains of two cycles, {name}", *measure(lambda t=track: precompute(character, t, Settings()), 3.0))
