# SPDX-License-Identifier: GPL-3.0-or-later
"""Balance control on slopes, steps, a platform that moves and a see-saw: a part of the study of balance control."""

import json
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
from heft.core import BakeJob, run
from heft.core.contact.terrain import Mesh, Plane, RigidMotion, Surface, make_terrain
from heft.core.control.balance import Balance
from heft.core.control.balance.method import METHOD
from heft.core.control.loop import act
from heft.core.control.stage import Stage
from heft.core.control.track import Track
from heft.core.dynamics import center_of_mass
from heft.core.job import Scene
from heft.core.motion.bvh import read_bvh
from heft.core.motion.fit import Trajectory
from heft.core.motion.quaternions import conjugate, rotate
from heft.core.motion.reference import Reference
from heft.core.motion.tracks import point_places
from heft.core.report import metrics
from heft.core.report.explanation import explain
from heft.core.report.failure import first_trouble
from heft.core.sentences import told
from heft.core.simulation import Prop
from heft.core.simulation.outcome import Simulation
from heft.core.simulation.props import Hinge
from heft.studies.lib.chart import orbit_chart
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

TITLE = "## On other ground"
CAPTURED = f"""
Captured clips, adapted to the ground as in `heft bake`; it is level for the first {LEVEL_FIRST} m of the way.
Medians over those of {REPLICAS} starts with noise of {NOISE} on every velocity that complete. Steps are
{100 * RISE:.0f} cm high, {100 * GOING:.0f} cm long.
"""
MADE = f"""
A walk of 1 m/s for {WALK:.0f} s. "Level motion": the motion is not adapted, its reference rides on what the feet touch.
The platform starts after 1 s and has {SPEED} m/s after so many seconds more. The see-saw is a plank of {PLANK_MASS:.0f}
kg and {2 * PLANK[0]:.0f} m on a hinge; fitted: the walk is adapted to a ridge, which the plank is on one side before it
tips and on the other after.
"""
ROOM = f"""
What sets off under a walk has to be gone along with by pressure, which must lie a h / g off from where the reference
has it while the platform gains {SPEED} m/s, behind where it goes ahead:
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
    reference: Reference, surfaces: tuple[Surface, ...], seed: int, props: tuple[Prop, ...] = ()
) -> Simulation:
    """A replica."""
    noise = np.random.default_rng(seed).normal(scale=NOISE, size=reference.character.nv)
    scene = Scene(surfaces=surfaces, props=props)
    stage = Stage(reference.character, make_terrain(surfaces), scene, RATE, WALK, 0.0, noise)
    controller = Balance(reference.character, Track.of(reference))
    return act(METHOD, controller, stage, lambda *_: True)


def met(reference: Reference, *surroundings: Any) -> list[dict[str, Any]]:
    """What a bake would report of replicas."""
    reports = []
    for seed in range(REPLICAS):
        surfaces, *props = surroundings
        simulation = performed(reference, surfaces, seed, *props)
        figures = metrics.measure(simulation)
        trouble = first_trouble(simulation, reference)
        sentences = explain(simulation, figures, (), lambda time: time * RATE, (), trouble)
        reports.append(figures | {"why": told(sentences)})
    return reports


def row(name: str, reports: list[dict[str, Any]]) -> str:
    """How many complete, and the first reason of those that do not."""
    done = [report for report in reports if report["outcome"] == "completed"]
    reason = next((report["why"] for report in reports if report["outcome"] != "completed"), "")
    joints = f"{np.median([report['joint_rms_deg'] for report in done]):.2f}" if done else ""
    root = f"{100 * np.median([report['root_rms_m'] for report in done]):.1f}" if done else ""
    return f"| {name} | {len(done)}/{len(reports)} | {joints} | {root} | {reason} |"


def captured_rows() -> list[str]:
    rows = []
    with tempfile.TemporaryDirectory() as cache:
        for path in (path for name in CLIPS for path in GOOD if path.name.startswith(f"{name}_")):
            clip = read_bvh(path, CMU_UNIT)
            _, trajectory = captured(path.name.split("__")[0])
            way = trajectory.q[-1, :2] - trajectory.q[0, :2]
            for name, profile in GROUNDS.items():
                ground = along(profile, trajectory.q[0, :2], float(np.arctan2(way[1], way[0])))
                scene = Scene(surfaces=(ground,))
                jobs = [
                    BakeJob(clip, CMU_ROLES, method="balance", scene=scene, noise=NOISE, seed=seed)
                    for seed in range(REPLICAS)
                ]
                reports = [json.loads(run(job, cache=cache).report_text) for job in jobs]
                rows.append(row(f"{path.stem}, {name}", reports))
    return rows


def made_rows(folder: Path) -> list[str]:
    motion = motions.walk(strides=2)
    walk = motion.character, Trajectory(motion.rate, motion.q, motion.v)
    rows, lines = [], {}
    for name, profile in GROUNDS.items():
        ground = (along(profile, np.zeros(2), 0.0),)
        there = put_on(walk, ground, WALK)
        if name.startswith("slope"):
            lines[name] = up_vectors(performed(there, ground, 0))
        rows.append(row(f"{name}, put on it", met(there, ground)))
        rows.append(row(f"{name}, level motion", met(walking(), ground)))
    picture = orbit_chart("Up vector of the pelvis", lines, "to the left", "forward")
    (folder / "balance_slopes.svg").write_text(picture, encoding="utf-8")
    ways = {"ahead": (SPEED, 0.0, 0.0), "back": (-SPEED, 0.0, 0.0), "left": (0.0, SPEED, 0.0), "up": (0.0, 0.0, SPEED)}
    for way, velocity in ways.items():
        for seconds in (1.0, 0.5):
            name = f"platform {way}, within {seconds:g} s, level motion"
            rows.append(row(name, met(walking(), (platform(velocity, seconds),))))
    for height in HEIGHTS:
        plank, ridge = see_saw(height)
        lean = f"see-saw, {np.degrees(np.arcsin(height / PLANK[0])):.1f}° to each side"
        rows.append(row(f"{lean}, fitted", met(put_on(walk, (ridge,), WALK), (Plane(),), (plank,))))
        rows.append(row(f"{lean}, level motion", met(walking(), (Plane(),), (plank,))))
    return rows


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


def sections(folder: Path) -> list[str]:
    """The page's part."""
    head = ["| ground | complete | joints ° | root cm | what falls, and why |", "|---|---|---|---|---|"]
    page = ["", TITLE]
    if GOOD:
        page += [CAPTURED, *head, *captured_rows()]
    return [*page, MADE, *head, *made_rows(folder), ROOM, *rooms(), FIGURE.rstrip()]
