# SPDX-License-Identifier: GPL-3.0-or-later
"""Random paths, walked along by captured walks and the mannequin's."""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from heft.core import BakeJob, run
from heft.core.contact.terrain import Plane
from heft.core.job import Scene
from heft.core.motion import path as paths
from heft.core.motion.bvh import read_bvh
from heft.core.motion.quaternions import Array
from heft.core.simulation import Push

from tests.core.job import golden
from tests.core.motion.skeletons import CMU_ROLES, CMU_UNIT, GOOD

WALKS = ("02_01", "07_04", "132_20")
PATHS = 25  # by each walk
SHORTEST, LONGEST = 3.0, 20.0  # m
TIGHTEST = 1.0  # m, radius
KNOT = 1.0  # m, between curvatures
SLOPE = np.radians(10.0)
PUSH, PUSHED = 100.0, 0.1  # N, s
SOME = 5  # of a walk's paths that are walked under pushes, and on a slope
INTRODUCTION = f"""# Random paths

{PATHS} paths for each of four walks: {SHORTEST:.0f} to {LONGEST:.0f} m long, turning at random with a radius of
{TIGHTEST:g} m and more. Default settings. The first {SOME} of each also on a slope of 10 degrees, and with a push of
{PUSH:.0f} N for {PUSHED:g} s from a random side halfway. Written by `run.py study paths`.

- off: distance of the hips from the curve, mean and greatest
- end: how far from the curve's end it stands, and turned how far from its direction
- near: no farther off than 15 cm on average and 40 cm anywhere, and within 15 cm and 10° of the end
"""
HEAD = [
    "| walk | surroundings | upright | off cm | greatest | end cm, at most | end °, at most | near | s a second |",
    "|---|---|---|---|---|---|---|---|---|",
]


@dataclass(frozen=True)
class Walked:
    """What came of one path."""

    upright: bool
    mean: float  # m
    greatest: float
    end: float
    turned: float  # rad
    pace: float  # s of bake for a second

    @property
    def near(self) -> bool:
        """Whether it kept to the path."""
        close = self.mean < 0.15 and self.greatest < 0.4 and self.end < 0.15
        return self.upright and close and self.turned < np.radians(10.0)


def random_path(rng: np.random.Generator) -> Array:
    """Places (n, 2) of a path whose curvature changes at random."""
    length = rng.uniform(SHORTEST, LONGEST)
    knots = np.arange(0.0, length + 2.0 * KNOT, KNOT)
    distance = np.arange(0.0, length, 0.02)
    curvature = np.interp(distance, knots, rng.uniform(-1.0, 1.0, len(knots)) / TIGHTEST)
    heading = rng.uniform(-np.pi, np.pi) + np.cumsum(curvature) * 0.02
    return np.column_stack([np.cumsum(np.cos(heading)), np.cumsum(np.sin(heading))]) * 0.02


def walk_along(job: BakeJob, drawn: Array) -> Walked:
    """Bake a job along it."""
    result = run(replace(job, path=paths.Path(drawn)))
    report: dict[str, Any] = result.report
    hips = result.poses[:, 0, :2, 3]
    off = result_off(hips, drawn)
    ahead = drawn[-1] - drawn[-10]
    facing = facing_of(result.poses[-1], result.bones) - facing_of(result.poses[0], result.bones)
    began = drawn[10] - drawn[0]
    turn = np.arctan2(ahead[1], ahead[0]) - np.arctan2(began[1], began[0])
    turned = abs((facing - turn + np.pi) % (2.0 * np.pi) - np.pi)
    spent = sum(report["seconds"].values())
    return Walked(
        report["outcome"] == "completed",
        float(off.mean()),
        float(off.max()),
        float(np.linalg.norm(hips[-1] - drawn[-1])),
        float(turned),
        spent / max(report["simulated_seconds"], 1e-9),
    )


def result_off(hips: Array, drawn: Array) -> Array:
    """How far the hips (n, 2) are from it, m."""
    found: Array = paths.Path(drawn).distance_from(hips)
    return found


def facing_of(pose: Array, bones: tuple[str, ...]) -> float:
    """Of the hips, by the line between the thighs, rad."""
    names = ("LeftUpLeg", "RightUpLeg") if "LeftUpLeg" in bones else ("thigh.L", "thigh.R")
    left, right = (pose[bones.index(name), :2, 3] for name in names)
    return float(np.arctan2(right[0] - left[0], left[1] - right[1]))


def jobs() -> dict[str, BakeJob]:
    """By the walk's name."""
    found = {"mannequin": golden.kept("walk")}
    for name in WALKS:
        clip = read_bvh(next(path for path in GOOD if path.name.startswith(f"{name}_")), CMU_UNIT)
        found[name] = BakeJob(clip, CMU_ROLES, name=name, frame_start=2.0)
    return found


def around(job: BakeJob, rng: np.random.Generator, drawn: Array) -> dict[str, BakeJob]:
    """The job on a slope, and pushed."""
    slope = Plane(normal=(np.sin(SLOPE), 0.0, np.cos(SLOPE)))
    side = rng.uniform(-np.pi, np.pi)
    force = (PUSH * np.cos(side), PUSH * np.sin(side), 0.0)
    halfway = 0.5 * paths.Path(drawn).seconds()
    chest = "torso" if job.name != "mannequin" else "trunk"
    push = Push.constant(chest, force, halfway, PUSHED)
    return {
        "slope of 10°": replace(job, scene=Scene(surfaces=(slope,))),
        "push of 100 N": replace(job, scene=Scene(pushes=(push,))),
    }


def row(name: str, where: str, walked: list[Walked]) -> str:
    """A line of the table."""
    up = sum(one.upright for one in walked)
    return (
        f"| {name} | {where} | {up} of {len(walked)} | {100 * np.mean([one.mean for one in walked]):.1f} | "
        f"{100 * max(one.greatest for one in walked):.0f} | {100 * max(one.end for one in walked):.0f} | "
        f"{np.degrees(max(one.turned for one in walked)):.0f} | {sum(one.near for one in walked)} | "
        f"{np.median([one.pace for one in walked]):.2f} |"
    )


def study(folder: Path) -> str:
    """The page; this study leaves no pictures."""
    del folder
    rows = []
    for number, (name, job) in enumerate(jobs().items()):
        rng = np.random.default_rng(number)
        drawn = [random_path(rng) for _ in range(PATHS)]
        rows.append(row(name, "level", [walk_along(job, one) for one in drawn]))
        found: dict[str, list[Walked]] = {}
        for one in drawn[:SOME]:
            for where, other in around(job, rng, one).items():
                found.setdefault(where, []).append(walk_along(other, one))
        rows += [row(name, where, walked) for where, walked in found.items()]
    return "\n".join([INTRODUCTION, *HEAD, *rows, ""])
