# SPDX-License-Identifier: GPL-3.0-or-later
"""Look-ahead control on stairs, slopes and ledges: met with a motion for level ground, or with one put on them."""

import json
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from heft.core import BakeJob, run
from heft.core.character import Character
from heft.core.contact.terrain import Mesh, make_terrain
from heft.core.control.lookahead import LookAhead, Settings, Track
from heft.core.control.recovery import Recovering
from heft.core.control.stage import Stage
from heft.core.job import Scene
from heft.core.job.job import RECOVERY_EFFORT
from heft.core.motion.bvh import read_bvh
from heft.core.motion.fit import Trajectory
from heft.core.motion.reference import Reference
from heft.core.simulation import DivergedError
from heft.studies.lib.journal import Journal
from heft.studies.lib.references import STRIDE, TURN, put_on, running, walking
from heft.studies.lib.replicas import FALLEN, NOISE, REPLICAS, endurance, figure, row

from tests.core.contact.meshes import stairs
from tests.core.motion.skeletons import CMU_ROLES, CMU_UNIT, GOOD
from tests.core.motion.spacetime import motions
from tests.core.motion.walkers import captured

FIRST_RISER = 0.69  # m ahead of the start, between the footprints
STEP = 0.5 * STRIDE
DESCENT = 7.5  # s
WALK, RUN = 12.0, 8.0  # s
LEDGES = {"run, up 4 cm ledges": 0.04, "run, down 2 cm ledges": -0.02, "run, down 4 cm ledges": -0.04}
MET = ("02_01", "07_04", "132_20")
RISES = (-0.04, -0.06, -0.08, 0.05)  # m, of steps that captured walks meet
GOING = 0.63  # m
MET_FOR = 10.0  # s
PHASES = {
    "": Settings(),
    ", early contacts": Settings(reset_phase=True),
    ", late contacts": Settings(await_touchdown=True),
    ", early and late contacts": Settings(reset_phase=True, await_touchdown=True),
}

INTRODUCTION = f"""# Look-ahead control on other ground

{REPLICAS} replicas start with noise on every velocity, as in [look-ahead control](lookahead.md), with default settings.
Written by `run.py study lookahead_ground`, which goes on where it was stopped.

## Put on the ground

As in a bake: before control the motion is adapted to the ground (`core/motion/footholds.py`), each foot where it has
room, and its physics is corrected there.
"""
UNEVEN = """
## Met with the level motion

The reference is for level ground, with its feet lifted 4 cm higher. Control knows the height of the ground where a foot
will land, and raises or lowers the reference to it; otherwise to the ground under the stance foot. Early contacts: the
phase skips to the touchdown of a foot that lands early; late contacts: it waits for a foot that lands late
(section 5.4).
"""
PLANNED = """
### Met with the level motion, and steps planned onto it

As a bake does it: at the first step and whenever a foot has landed, the next three footholds are laid on the ground
that is there (`core/control/recovery/uneven.py`), eight iterations of the spacetime optimiser make the motion onto them
possible from the actual state, and it is followed with gains of its own, which begin with the cost to go of the level
motion at its end. In the paper the reference is not changed, and the walk trips uphill. "Off" is the largest distance
of the root from where it should be. A walk whose steps are longer than the treads of 29 cm has to skip some.
"""
CAPTURED = f"""
### Captured walks

Baked as cycles for {MET_FOR:.0f} s down and up steps of {GOING} m that they were not made for, with ground set to level
and without help: with recovery off, and with steps planned.
"""
FIGURE = """
## Figure 3 (e) and (f): cost against gamma, going down

A 45° turn once around a spiral stair, 13 steps in 7.5 s, with the level motion.

![(e) 45° turn, down 2 cm a step](lookahead_e.svg)
![(f) 45° turn, down 4 cm a step](lookahead_f.svg)

Solid: all five replicas stay up. Dashed: some fall; the cost is the median all the same. One of the five falls in its
first strides, from the noise on its first velocities, as it does on the level. The paper does not say how its
reference follows the ground. With feet lifted by 12 mm, which suffices on the level, the swinging foot scuffs the tread
that it leaves.
"""


def spiral(drop: float) -> Mesh:
    """Treads down along the circle of the 45° turn, two a stride, once around; risers lie between the footprints."""
    radius = STRIDE / TURN
    edges = [-np.pi / 6.0, *(np.radians(45.0) * (0.56 + 0.5 * k) for k in range(14)), 2.0 * np.pi]
    vertices, triangles = [], []
    for k, (begin, end) in enumerate(pairwise(edges)):
        for at in np.linspace(begin, end, max(2, round((end - begin) / 0.05))):
            for distance in (radius - 0.9, radius + 0.9):
                angle = at - 0.5 * np.pi
                vertices.append((distance * np.cos(angle), radius + distance * np.sin(angle), -drop * k))
    for k in range(0, len(vertices) - 2, 2):
        triangles += [(k, k + 1, k + 3), (k, k + 3, k + 2)]
    return Mesh(np.array(vertices), np.array(triangles))


def steps_along(rise: float, going: float, first: float, count: int) -> Mesh:
    """Steps of that rise along +X, the first at `first`; the last tread goes on."""
    vertices, triangles = stairs(count, rise, going, 2.0)
    vertices = vertices + np.array([first, 0.0, 0.0])
    vertices[:2, 0] -= 4.0
    vertices[-2:, 0] += 200.0
    return Mesh(vertices, triangles)


def ledges(rise: float) -> Mesh:
    """Steps for the run, one a stride."""
    x, y = running().cycle.shift
    way = float(np.hypot(x, y))
    steps = steps_along(rise, way, 1.2 * way, 8)
    wide = steps.vertices * (1.0, 4.0, 1.0)  # the run bends a little
    return Mesh(_turned(wide, np.arctan2(y, x), running().q[0, :2]), steps.triangles)


def met(name: str, rise: float, seed: int, recovery: bool) -> dict[str, Any]:
    """The report of a captured walk that meets steps with the level motion."""
    path = next(path for path in GOOD if path.name.startswith(name))
    _, trajectory = captured(name)
    way = trajectory.q[-1, :2] - trajectory.q[0, :2]
    steps = steps_along(rise, GOING, 0.5, 30)
    steps = Mesh(
        _turned(steps.vertices * (1.0, 4.0, 1.0), np.arctan2(way[1], way[0]), trajectory.q[0, :2]), steps.triangles
    )
    job = BakeJob(
        read_bvh(path, CMU_UNIT),
        CMU_ROLES,
        ground="level",
        scene=Scene(surfaces=(steps,)),
        recovery=recovery,
        loop=True,
        seconds=MET_FOR,
        noise=NOISE,
        seed=seed,
        help="none",
    )
    return json.loads(run(job).report_text)


def stays_up(reference: Reference, surfaces: tuple[Mesh, ...], seconds: float, seed: int) -> tuple[float, float]:
    """Seconds that a replica stays up whose steps are planned onto the ground, and how far its root is off, m."""
    track = Track.of(reference)
    scene = Scene(surfaces=surfaces)
    terrain = make_terrain(surfaces)
    stage = Stage(reference.character, terrain, scene, reference.rate, seconds, 0.0, recovery=RECOVERY_EFFORT)
    controller = LookAhead(reference.character, track, terrain=terrain)
    follower, world = Recovering(controller, reference, stage), stage.world()
    controller.seek()
    noise = np.random.default_rng(seed).normal(scale=NOISE, size=reference.character.nv)
    world.reset(track.q[0], track.v[0] + noise)
    steps, off = round(seconds * reference.rate), 0.0
    for step in range(steps):
        follower.between_steps(world, lambda: True)
        try:
            world.step(follower)
        except DivergedError:
            return step / reference.rate, off
        away = world.q[:3] - follower.reference_state()[0][:3]
        if abs(away[2]) > FALLEN:
            return step / reference.rate, off
        off = max(off, float(np.linalg.norm(away)))
    return seconds, off


def planned_row(name: str, reference: Reference, surfaces: tuple[Mesh, ...], seconds: float) -> str:
    """Replicas whose steps are planned."""
    found = np.array([stays_up(reference, surfaces, seconds, seed) for seed in range(REPLICAS)])
    up = int((found[:, 0] >= seconds).sum())
    return f"| {name} | {up}/{REPLICAS} | {np.median(found[:, 0]):.1f} | {100.0 * np.median(found[:, 1]):.1f} |"


def captured_row(name: str, rise: float) -> str:
    """How many replicas of a captured walk stay up without planning, and with it."""
    cells = [name, f"{100 * rise:+.0f} cm"]
    for recovery in (False, True):
        reports = [met(name, rise, seed, recovery) for seed in range(REPLICAS)]
        cells.append(f"{sum(report['outcome'] == 'completed' for report in reports)}/{REPLICAS}")
        cells.append(f"{np.median([report['upright_seconds'] for report in reports]):.1f}")
    return "| " + " | ".join(cells) + " |"


def slope(degrees: float) -> Mesh:
    """Level at first, then a ramp."""
    profile = [(-4.0, 0.0), (FIRST_RISER, 0.0), (FIRST_RISER + 100.0, 100.0 * np.tan(np.radians(degrees)))]
    vertices = np.array([(x, y, z) for x, z in profile for y in (-2.0, 2.0)])
    return Mesh(vertices, np.array([(0, 2, 3), (0, 3, 1), (2, 4, 5), (2, 5, 3)]))


def _turned(vertices: np.ndarray, angle: float, origin: np.ndarray) -> np.ndarray:
    c, s = np.cos(angle), np.sin(angle)
    x, y = vertices[:, 0], vertices[:, 1]
    return np.column_stack([c * x - s * y + origin[0], s * x + c * y + origin[1], vertices[:, 2]])


def put_row(name: str, motion: tuple[Character, Trajectory], surfaces: tuple[Mesh, ...], seconds: float) -> str:
    """Replicas of a motion that was put on the ground before."""
    return row(name, endurance(put_on(motion, surfaces, seconds), surfaces=surfaces, seconds=seconds))


def met_row(name: str, reference: Reference, settings: Settings, surfaces: tuple[Mesh, ...], seconds: float) -> str:
    """Replicas of a motion that is led over the ground as it is."""
    return row(name, endurance(reference, settings, surfaces=surfaces, seconds=seconds))


def grounds() -> tuple[dict[str, tuple[Mesh, ...]], dict[str, tuple[Mesh, ...]]]:
    """By name, what walks meet with the level motion, and what they are put on besides."""
    down = {f"walk, stairs down, {cm} cm a step": (steps_along(-cm / 100, STEP, FIRST_RISER, 30),) for cm in (2, 4, 6)}
    down |= {f"walk, slope of {degrees:+d}°": (slope(degrees),) for degrees in (5, -5)}
    more = {f"walk, stairs up, {cm} cm a step": (steps_along(cm / 100, STEP, FIRST_RISER, 30),) for cm in (4, 10)}
    more |= {
        "walk, stairs up, 17 cm on 29 cm": (steps_along(0.17, 0.29, FIRST_RISER, 30),),
        "walk, stairs down, 17 cm on 29 cm": (steps_along(-0.17, 0.29, FIRST_RISER, 30),),
        "walk, slope of +10°": (slope(10.0),),
        "walk, slope of -10°": (slope(-10.0),),
    }
    return down, more


def planned_rows(journal: Journal) -> list[str]:
    """Motions whose steps are planned onto the ground that they meet."""
    down, more = grounds()
    higher = {
        "walk, stairs down, 10 cm a step": (steps_along(-0.1, STEP, FIRST_RISER, 30),),
        "walk, stairs down, 15 cm a step": (steps_along(-0.15, STEP, FIRST_RISER, 30),),
        "walk, stairs up, 15 cm a step": (steps_along(0.15, STEP, FIRST_RISER, 30),),
    }
    rows = {
        name: partial(planned_row, name, walking(lifted=True), surfaces, WALK)
        for name, surfaces in (down | higher | more).items()
    }
    for cm in (2, 4, 6):
        name = f"45° turn, down {cm} cm a step"
        rows[name] = partial(planned_row, name, walking(TURN, lifted=True), (spiral(cm / 100),), DESCENT)
    if running() is not None:
        rows |= {name: partial(planned_row, name, running(), (ledges(rise),), RUN) for name, rise in LEDGES.items()}
    return journal.rows({f"planned {name}": find for name, find in rows.items()})


def study(folder: Path) -> str:
    """The page, and two pictures."""
    journal = Journal.of("lookahead_ground")
    head = ["| motion | survive | seconds | cost | joints, degrees |", "|---|---|---|---|---|"]
    down, more = grounds()
    motion = motions.walk(strides=2)
    walk = motion.character, Trajectory(motion.rate, motion.q, motion.v)
    put = {name: partial(put_row, name, walk, surfaces, WALK) for name, surfaces in (down | more).items()}
    if running() is not None:
        for name, rise in LEDGES.items():
            put[name] = partial(put_row, name, captured("35_17"), (ledges(rise),), RUN)
    page = [INTRODUCTION, *head, *journal.rows({f"put {name}": find for name, find in put.items()})]
    met_as_is = {}
    for mark, settings in PHASES.items():
        for name, surfaces in down.items():
            met_as_is[f"{name}{mark}"] = partial(
                met_row, f"{name}{mark}", walking(lifted=True), settings, surfaces, WALK
            )
        if running() is not None:
            for name, rise in LEDGES.items():
                met_as_is[f"{name}{mark}"] = partial(
                    met_row, f"{name}{mark}", running(), settings, (ledges(rise),), RUN
                )
    page += [UNEVEN, *head, *journal.rows({f"met {name}": find for name, find in met_as_is.items()})]
    page += [PLANNED, "| motion | survive | seconds | off, cm |", "|---|---|---|---|", *planned_rows(journal)]
    if GOOD:
        page += [CAPTURED, "| walk | each step | without | seconds | with steps planned | seconds |", "|---" * 6 + "|"]
        captured_walks = [(name, rise) for name in MET for rise in RISES]
        page += journal.rows(
            {
                f"captured {name}, {100 * rise:+.0f} cm": partial(captured_row, name, rise)
                for name, rise in captured_walks
            }
        )
    rows = []
    for letter, cm in (("e", 2), ("f", 4)):
        title, surfaces = f"45° turn, down {cm} cm a step", (spiral(cm / 100),)
        rows += figure(folder, letter, title, journal, walking(TURN, lifted=True), surfaces, DESCENT)
    page += [
        FIGURE,
        "| panel | policy | gamma | survive | seconds | cost | joints, degrees |",
        "|---|---|---|---|---|---|---|",
    ]
    return "\n".join([*page, *rows]) + "\n"
