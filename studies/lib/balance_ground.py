# SPDX-License-Identifier: GPL-3.0-or-later
"""Balance control on slopes, steps, a platform that moves and a see-saw: a part of the study of balance control."""

import json
import tempfile
from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from heft.core import BakeJob, run
from heft.core.contact.terrain import Mesh, Plane, RigidMotion, Surface, make_terrain
from heft.core.control.balance import Balance
from heft.core.control.balance.method import METHOD
from heft.core.control.gait import Gait
from heft.core.control.loop import act
from heft.core.control.method import Follower
from heft.core.control.stage import Stage
from heft.core.control.track import Track
from heft.core.dynamics import center_of_mass
from heft.core.job import Scene
from heft.core.motion.bvh import read_bvh
from heft.core.motion.fit import Trajectory
from heft.core.motion.make_reference import make_reference
from heft.core.motion.quaternions import conjugate, rotate
from heft.core.motion.reference import Reference
from heft.core.motion.tracks import point_places
from heft.core.report import metrics
from heft.core.report.explanation import explain
from heft.core.report.failure import first_trouble
from heft.core.sentences import join
from heft.core.simulation import Course, Prop, World
from heft.core.simulation.outcome import Simulation
from heft.core.simulation.props import Hinge
from heft.studies.lib.chart import orbit_chart
from heft.studies.lib.gait_cases import SEEDS
from heft.studies.lib.gait_walks import GAIT28, Case, walk
from heft.studies.lib.journal import Journal
from heft.studies.lib.laid import Laid
from heft.studies.lib.references import put_on, walking

from tests.core.motion.skeletons import CMU_ROLES, CMU_UNIT, GOOD
from tests.core.motion.spacetime import motions
from tests.core.motion.walkers import captured

RATE = 120.0
REPLICAS = 5
NOISE = 0.05  # standard deviation of every start velocity, m/s and rad/s
LEVEL_FIRST = 0.7  # m
WALK = 8.0  # s
RISE, GOING = 0.05, 0.55  # m, of steps
SPEED = 0.3  # m/s, of the platform
PLANK = (1.5, 1.0, 0.02)  # m, half extents of the see-saw
PLANK_MASS = 20.0  # kg
HEIGHTS = (0.06, 0.09, 0.13)  # m, of its hinge
CLIPS = ("02_01", "83_55", "113_01", "20_06", "16_18")

PLANS = 10
GAIT_SPEED, GAIT_SECONDS, SETTLED = 0.7, 10.0, 3.0  # m/s; s of it, and of that what it takes to settle
SLOPES = (-2.0, -3.0, -5.0, 5.0)  # degrees

TITLE = "## On other ground"
CAPTURED = f"""
Captured clips, adapted to the ground as in `heft bake`; it is level for the first {LEVEL_FIRST} m of the way.
Medians over those of {REPLICAS} starts with noise of {NOISE} on every velocity that complete. Steps are
{100 * RISE:.0f} cm high, {100 * GOING:.0f} cm long.
"""
MADE = f"""
A walk of 1 m/s for {WALK:.0f} s. "Level motion": the motion is not adapted, its reference rides on what the feet touch.
"Steps planned": the same level motion, but whenever a foot has landed the next three steps are laid on the ground and
made possible, as look-ahead control does it in a bake; balance control follows that (`studies/lib/laid.py`).
The platform starts after 1 s and has {SPEED} m/s after so many seconds more. The see-saw is a plank of {PLANK_MASS:.0f}
kg and {2 * PLANK[0]:.0f} m on a hinge; fitted: the walk is adapted to a ridge, which the plank is on one side before it
tips and on the other after.
"""
ROOM = f"""
What sets off under a walk has to be gone along with by pressure, which must lie a h / g off from where the reference
has it while the platform gains {SPEED} m/s, behind where it goes ahead:
"""
CARRIED = f"""
### A walk of another controller on slopes

The thesis carries a walk of a controller with feedback by foot placement, which by itself goes down two degrees, down
slopes of up to five. Here it is a cycle of the [gait](gait.md) on level ground at {GAIT_SPEED} m/s, made possible and
followed by balance control for {WALK:.0f} s, and the gait itself for {GAIT_SECONDS:.0f} s.
"""
FIGURE = """
### Figure 3-6

Horizontal components of the pelvis's up vector, the walk put on slopes of five degrees; from its third stride on. The
thesis: uphill it leans forward.

![Up vector on slopes](balance_slopes.svg)
"""


def along(profile: Iterable[tuple[float, float]], origin: np.ndarray, angle: float, **more: Any) -> Mesh:
    """Ground with that profile (distance, height) along a way."""
    c, s = np.cos(angle), np.sin(angle)
    vertices = np.array([(c * x - s * y, s * x + c * y, z) for x, z in profile for y in (-4.0, 4.0)])
    vertices[:, :2] += origin
    quads = [(k, k + 2, k + 3, k + 1) for k in range(0, len(vertices) - 2, 2)]
    return Mesh(vertices, np.array([face for a, b, c, d in quads for face in ((a, b, c), (a, c, d))]), **more)


def slope(degrees: float) -> list[tuple[float, float]]:
    return [(-4.0, 0.0), (LEVEL_FIRST, 0.0), (60.0, (60.0 - LEVEL_FIRST) * np.tan(np.radians(degrees)))]


def steps(rise: float) -> list[tuple[float, float]]:
    profile = [(-4.0, 0.0)]
    for k in range(20):
        edge = LEVEL_FIRST + k * GOING
        profile += [(edge, k * rise), (edge + 1e-3, (k + 1) * rise)]
    return [*profile, (60.0, 20 * rise)]


GROUNDS = {"slope +5°": slope(5.0), "slope -5°": slope(-5.0), "steps up": steps(RISE), "steps down": steps(-RISE)}


def platform(velocity: tuple[float, float, float], seconds: float) -> Mesh:
    """A floor that moves by that velocity after one second and so many seconds more."""
    time = np.arange(round((WALK + 1.0) * RATE)) / RATE
    share = np.clip((time - 1.0) / seconds, 0.0, 1.0)
    places = np.cumsum(share)[:, None] / RATE * np.array(velocity)
    motion = RigidMotion(places, np.tile([1.0, 0.0, 0.0, 0.0], (len(time), 1)), RATE)
    return along([(-30.0, 0.0), (60.0, 0.0)], np.zeros(2), 0.0, motion=motion)


def see_saw(height: float) -> tuple[Prop, Mesh]:
    """The plank, its near end on the ground, and the ridge that stands for both its positions."""
    half, _, thickness = PLANK
    pivot, lean = LEVEL_FIRST + half, -np.arcsin(height / half)
    orientation = (np.cos(0.5 * lean), 0.0, np.sin(0.5 * lean), 0.0)
    hinge = Hinge((0.0, 1.0, 0.0))
    plank = Prop.box("plank", PLANK, PLANK_MASS, (pivot, 0.0, height + thickness), orientation=orientation, hinge=hinge)
    top = 2.0 * thickness
    sides = [(pivot - half - 0.05, 0.0), (pivot - half, top), (pivot, height + top)]
    profile = [(-4.0, 0.0), *sides, (pivot + half, top), (pivot + half + 0.05, 0.0), (60.0, 0.0)]
    return plank, along(profile, np.zeros(2), 0.0)


def performed(
    reference: Reference,
    surfaces: tuple[Surface, ...],
    seed: int,
    props: tuple[Prop, ...] = (),
    planned_on: tuple[Surface, ...] = (),
) -> Simulation:
    """A replica; with steps that are planned on ground, where that is named."""
    noise = np.random.default_rng(seed).normal(scale=NOISE, size=reference.character.nv)
    scene = Scene(surfaces=surfaces, props=props)
    stage = Stage(reference.character, make_terrain(surfaces), scene, RATE, WALK, 0.0, noise)
    controller: Follower = Balance(reference.character, Track.of(reference))
    method = METHOD
    if planned_on:
        method = replace(METHOD, start=lambda own, _: own)
        known = replace(stage, terrain=make_terrain(planned_on), scene=Scene(surfaces=planned_on), recovery=PLANS)
        controller = Laid(reference, known, Balance)
    return act(method, controller, stage, lambda *_: True)


def met(reference: Reference, surfaces: tuple[Surface, ...], **more: Any) -> list[dict[str, Any]]:
    """What a bake would report of replicas."""
    reports = []
    for seed in range(REPLICAS):
        simulation = performed(reference, surfaces, seed, **more)
        figures = metrics.measure(simulation)
        trouble = first_trouble(simulation, reference)
        sentences = explain(simulation, figures, (), lambda time: time * RATE, (), trouble)
        reports.append(figures | {"why": join(sentences)})
    return reports


def row(name: str, reports: list[dict[str, Any]]) -> str:
    """How many complete, and the first reason of those that do not."""
    done = [report for report in reports if report["outcome"] == "completed"]
    reason = next((report["why"] for report in reports if report["outcome"] != "completed"), "")
    joints = f"{np.median([report['joint_rms_deg'] for report in done]):.2f}" if done else ""
    root = f"{100 * np.median([report['root_rms_m'] for report in done]):.1f}" if done else ""
    return f"| {name} | {len(done)}/{len(reports)} | {joints} | {root} | {reason} |"


def captured_rows(journal: Journal) -> list[str]:
    """Captured clips that are put on each ground."""
    paths = [path for name in CLIPS for path in GOOD if path.name.startswith(f"{name}_")]
    return journal.rows(
        {
            f"captured {path.stem}, {name}": partial(captured_row, path, name, profile)
            for path in paths
            for name, profile in GROUNDS.items()
        }
    )


def captured_row(path: Path, name: str, profile: list[tuple[float, float]]) -> str:
    """One of them."""
    _, trajectory = captured(path.name.split("__")[0])
    way = trajectory.q[-1, :2] - trajectory.q[0, :2]
    ground = along(profile, trajectory.q[0, :2], float(np.arctan2(way[1], way[0])))
    clip, scene = read_bvh(path, CMU_UNIT), Scene(surfaces=(ground,))
    with tempfile.TemporaryDirectory() as cache:
        jobs = [
            BakeJob(clip, CMU_ROLES, method="balance", scene=scene, noise=NOISE, seed=seed) for seed in range(REPLICAS)
        ]
        reports = [json.loads(run(job, cache=cache).report_text) for job in jobs]
    return row(f"{path.stem}, {name}", reports)


def put_there(ground: tuple[Surface, ...]) -> Reference:
    """The made walk, put on the ground beforehand."""
    motion = motions.walk(strides=2)
    return put_on((motion.character, Trajectory(motion.rate, motion.q, motion.v)), ground, WALK)


def made_rows(journal: Journal) -> list[str]:
    """The made walk on each ground."""
    cases: dict[str, Callable[[], list[dict[str, Any]]]] = {}
    for name, profile in GROUNDS.items():
        ground = (along(profile, np.zeros(2), 0.0),)
        cases[f"{name}, put on it"] = lambda ground=ground: met(put_there(ground), ground)
        cases[f"{name}, level motion"] = lambda ground=ground: met(walking(), ground)
        cases[f"{name}, steps planned"] = lambda ground=ground: met(walking(lifted=True), ground, planned_on=ground)
    ways = {"ahead": (SPEED, 0.0, 0.0), "back": (-SPEED, 0.0, 0.0), "left": (0.0, SPEED, 0.0), "up": (0.0, 0.0, SPEED)}
    for way, velocity in ways.items():
        for seconds in (1.0, 0.5):
            floor = (platform(velocity, seconds),)
            cases[f"platform {way}, within {seconds:g} s, level motion"] = lambda floor=floor: met(walking(), floor)
    for height in HEIGHTS:
        plank, ridge = see_saw(height)
        lean, props = f"see-saw, {np.degrees(np.arcsin(height / PLANK[0])):.1f}° to each side", {"props": (plank,)}
        cases[f"{lean}, fitted"] = lambda ridge=ridge, props=props: met(put_there((ridge,)), (Plane(),), **props)
        cases[f"{lean}, steps planned"] = lambda ridge=ridge, props=props: met(
            walking(lifted=True), (Plane(),), planned_on=(ridge,), **props
        )
        cases[f"{lean}, level motion"] = lambda props=props: met(walking(), (Plane(),), **props)
    return journal.rows({name: partial(_row_of, name, find) for name, find in cases.items()})


def _row_of(name: str, find: Callable[[], list[dict[str, Any]]]) -> str:
    return row(name, find())


def leaning(folder: Path) -> None:
    """The picture of figure 3-6."""
    lines = {}
    for name in ("slope +5°", "slope -5°"):
        ground = (along(GROUNDS[name], np.zeros(2), 0.0),)
        lines[name] = up_vectors(performed(put_there(ground), ground, 0))
    picture = orbit_chart("Up vector of the pelvis", lines, "to the left", "forward")
    (folder / "balance_slopes.svg").write_text(picture, encoding="utf-8")


def of_the_gait() -> Reference:
    """A cycle of a walk that gait control makes on level ground, after Yin et al. 2007: the thesis's SIMBICON."""
    world, gait = World(GAIT28, rate=2.0 * RATE), Gait(GAIT28, Course.straight(GAIT_SPEED), 2.0 * RATE)
    gait.begin()
    world.reset(*gait.reference_state())
    states = []
    for k in range(round(2.0 * RATE * GAIT_SECONDS)):
        if k % 2 == 0:
            states.append((world.q, world.v))
        world.step(gait)
    q, v = (np.array(parts)[round(RATE * SETTLED) :] for parts in zip(*states, strict=True))
    return make_reference(GAIT28, Trajectory(RATE, q, v), cyclic=True).reference


def gait_row(degrees: float) -> str:
    """A slope: the gait itself, balance control with its level motion, and with steps planned."""
    reference = of_the_gait()
    ground = (along(slope(degrees), reference.q[0, :2], 0.0),)
    course, start = Course.straight(GAIT_SPEED), [along(slope(degrees), np.zeros(2), 0.0)]
    itself = sum(not walk(Case(course, GAIT_SECONDS, seed, surfaces=start)).fell for seed in SEEDS)
    own = [report["outcome"] == "completed" for report in met(reference, ground)]
    planned = [report["outcome"] == "completed" for report in met(reference, ground, planned_on=ground)]
    cells = [f"{degrees:+g}°", f"{itself}/{len(SEEDS)}", f"{sum(own)}/{REPLICAS}", f"{sum(planned)}/{REPLICAS}"]
    return "| " + " | ".join(cells) + " |"


def rooms() -> list[str]:
    """Over how much of a stride pressure can be where a platform's setting off wants it."""
    reference = walking()
    character, frames = reference.character, reference.steps
    places = point_places(character, reference.q, reference.schedule.points)[1:]
    force, carrying = reference.force[:frames, :, 2], reference.carrying[:frames]
    height = np.mean([center_of_mass(character, q)[2] for q in reference.q])
    rows = ["| reached within | pressure to lie off by | there is room behind | to the side |", "|---|---|---|---|"]
    for seconds in (1.0, 0.5):
        wanted = SPEED / seconds * height / -character.gravity[2]
        shares = []
        for axis in (0, 1):
            pressure = (force * places[:, :, axis]).sum(axis=1) / force.sum(axis=1)
            edge = np.where(carrying, places[:, :, axis], np.inf).min(axis=1)
            shares.append(np.mean(pressure - edge >= wanted))
        words = " | ".join(f"{100 * share:.0f} % of the time" for share in shares)
        rows.append(f"| {seconds:g} s | {100 * wanted:.1f} cm | {words} |")
    return rows


def up_vectors(simulation: Simulation) -> list[tuple[float, float]]:
    """Horizontal components of the pelvis's up vector, leftwards and forwards, once the walk is on the slope."""
    q = simulation.recording.q[round(2.2 * RATE) :]
    neutral = simulation.character.neutral()
    up = rotate(q[:, 3:7], rotate(conjugate(neutral[3:7]), np.array([0.0, 0.0, 1.0])))
    return [(float(y), float(x)) for x, y, _ in up]


def sections(folder: Path, journal: Journal) -> list[str]:
    """The page's part."""
    head = ["| ground | complete | joints ° | root cm | what falls, and why |", "|---|---|---|---|---|"]
    page = ["", TITLE]
    if GOOD:
        page += [CAPTURED, *head, *captured_rows(journal)]
    page += [MADE, *head, *made_rows(journal)]
    if journal.wants("room for pressure"):
        page += [ROOM, *journal.find("room for pressure", rooms)]
    page += [CARRIED, "| slope | the gait itself | level motion | steps planned |", "|---|---|---|---|"]
    page += journal.rows({f"gait on {degrees:+g}°": partial(gait_row, degrees) for degrees in SLOPES})
    if journal.wants("figure 3-6"):
        leaning(folder)
    return [*page, FIGURE.rstrip()]
