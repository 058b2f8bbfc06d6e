# SPDX-License-Identifier: GPL-3.0-or-later
"""Jobs of every method whose results are known to the last bit: who restructures the house holds them still.

What they become is digested array by array, by names that last, so that a report may say more from one version to the
next. Digests are kept for each Blender line, since numpy's versions round differently.
"""

import hashlib
import json
import sys
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
from heft.core.contact.terrain import Mesh
from heft.core.job import BakeJob, BakeResult, MotionChoice, Scene
from heft.core.motion import quaternions
from heft.core.simulation import Course, Prop, Push, Slider
from heft.core.simulation.props import Hinge

from tests.core.job.jobs import waving_job

DATA = Path(__file__).parents[2] / "data"
DIGESTS = DATA / "golden_results.json"
LINE = {(3, 11): "4.5", (3, 13): "5.2"}[sys.version_info[:2]]
QUICK = ("waving", "walk", "walk_pushed", "gait_heading", "squat")  # what the tests bake; a study bakes all


@cache
def kept(name: str) -> BakeJob:
    """A job of version 6, as it was written at 0.1.0."""
    return BakeJob.load(DATA / f"version_6_{name}.heftjob")


@cache
def heading() -> float:
    """Where the walk goes, rad."""
    way = kept("walk").clip.position[-1, 0] - kept("walk").clip.position[0, 0]
    return float(np.arctan2(way[1], way[0]))


def pushed(newtons: float, aside: float = 0.0) -> Scene:
    """A push of 0.1 s at the torso, so much to the left of the way (rad)."""
    angle = heading() + aside
    return Scene(pushes=(Push.constant("torso", (newtons * np.cos(angle), newtons * np.sin(angle), 0.0), 1.5, 0.1),))


def stairs(rise: float = 0.05, going: float = 0.6, first: float = 0.9, steps: int = 8) -> Scene:
    """Steps up in the walk's way, the first so far from where it starts."""
    profile = [(-4.0, 0.0), (first - 0.2, 0.0)]
    for k in range(steps):
        edge = first + going * k
        profile += [(edge, k * rise), (edge + 1e-3, (k + 1) * rise)]
    profile.append((60.0, steps * rise))
    c, s = np.cos(heading()), np.sin(heading())
    vertices = np.array([(c * x - s * y, s * x + c * y, z) for x, z in profile for y in (-4.0, 4.0)])
    vertices[:, :2] += kept("walk").clip.position[0, 0, :2]
    quads = [(k, k + 2, k + 3, k + 1) for k in range(0, len(vertices) - 2, 2)]
    return Scene(surfaces=(Mesh(vertices, np.array([f for a, b, c, d in quads for f in ((a, b, c), (a, c, d))])),))


def see_saw(half: float = 1.5, height: float = 0.06, thickness: float = 0.02) -> Scene:
    """A plank on a hinge in the walk's way, its near end on the ground."""
    lean = -np.arcsin(height / half)
    yaw = np.array([np.cos(0.5 * heading()), 0.0, 0.0, np.sin(0.5 * heading())])
    orientation = quaternions.multiply(yaw, np.array([np.cos(0.5 * lean), 0.0, np.sin(0.5 * lean), 0.0]))
    x, y, _ = kept("walk").clip.position[0, 0] + (0.7 + half) * np.array([np.cos(heading()), np.sin(heading()), 0.0])
    plank = Prop.box(
        "plank",
        (half, 1.0, thickness),
        20.0,
        (float(x), float(y), height + thickness),
        orientation=tuple(orientation.tolist()),
        hinge=Hinge((0.0, 1.0, 0.0)),
    )
    return Scene(props=(plank,))


def jobs() -> dict[str, BakeJob]:
    """All of them, by name."""
    walk = kept("walk")
    course = Course(np.array([0.0, 3.0]), np.full(2, 0.7), np.zeros(2), np.array([0.0, 0.5]))
    gait = Scene(course=course)
    slider = Scene(slider=Slider(np.array([0.0, 2.0]), np.array([0.0, 1.0])))
    crate = Prop.box("crate", (0.1, 0.2, 0.3), 5.0, (2.0, 0.0, 0.3))
    turns = (MotionChoice(0.0, 0), MotionChoice(2.0, 1))
    return {
        "waving": waving_job(scene=Scene(props=(crate,))),
        "walk": walk,
        "walk_pushed": replace(walk, scene=pushed(100.0)),
        "walk_felled": replace(walk, scene=pushed(900.0, 0.5 * np.pi)),
        "walk_loop": replace(walk, loop=True, seconds=4.0),
        "stairs": replace(walk, scene=stairs()),
        "momentum": replace(walk, method="momentum", settings={}, scene=pushed(100.0)),
        "balance": replace(walk, method="balance", settings={}),
        "see_saw": replace(walk, method="balance", settings={}, scene=see_saw()),
        "course": replace(
            walk, method="balance", settings={}, loop=True, seconds=6.0, others=(walk.clip,), choices=turns
        ),
        "replanning": replace(walk, method="replanning", settings={}, scene=pushed(75.0)),
        "chin_up": kept("chin_up"),
        "squat": kept("squat"),
        "combination": replace(walk, method="combination", settings={}, others=(walk.clip,), scene=slider),
        "gait_heading": waving_job(method="gait", rate=300.0, optimise=False, scene=gait, seconds=6.0),
    }


def digests(result: BakeResult) -> dict[str, str]:
    """A result's arrays, each by a digest of its bytes."""
    forces = result.forces
    arrays = {
        "poses": (result.poses,),
        "reference": (result.reference,),
        "forces": (forces.start, forces.point, forces.force),
        "torques": tuple(result.torques[name] for name in sorted(result.torques)),
        "props": (result.prop_poses,),
    }
    return {"outcome": result.outcome, **{name: _digest(*values) for name, values in arrays.items()}}


def known() -> dict[str, dict[str, str]]:
    """The digests that are kept for this Blender line."""
    found: dict[str, dict[str, str]] = json.loads(DIGESTS.read_text(encoding="utf-8"))[LINE]
    return found


def write(found: dict[str, dict[str, str]]) -> None:
    """Keep digests for this Blender line, the other's as they are."""
    every = json.loads(DIGESTS.read_text(encoding="utf-8")) if DIGESTS.is_file() else {}
    every[LINE] = found
    DIGESTS.write_text(json.dumps(every, indent=1, sort_keys=True) + "\n", encoding="utf-8")


def _digest(*arrays: np.ndarray) -> str:
    found = hashlib.sha256()
    for array in arrays:
        found.update(np.ascontiguousarray(array).tobytes())
    return found.hexdigest()[:16]
