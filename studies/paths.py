# SPDX-License-Identifier: GPL-3.0-or-later
"""Random paths, walked along by captured walks and the mannequin's."""

import os
import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from heft.core import BakeJob, run
from heft.core.contact.terrain import Mesh, Plane
from heft.core.job import Scene
from heft.core.motion import path as paths
from heft.core.motion.bvh import read_bvh
from heft.core.motion.quaternions import Array
from heft.core.simulation import Push
from heft.studies.lib.journal import STEERED, Journal

from tests.core.job import golden
from tests.core.motion.skeletons import CLIPS, CMU_ROLES, CMU_UNIT, GOOD
from tools.environment import ROOT

WALKS = ("02_01", "07_04", "132_20")
PATHS = 25  # by each walk
SHORTEST, LONGEST = 3.0, 20.0  # m
TIGHTEST = 1.0  # m, radius
KNOT = 1.0  # m, between curvatures
SLOPE = np.radians(10.0)
RISE, GOING, FLIGHT = 0.17, 0.29, 6  # m, m, and steps of stairs
OVER_STAIRS, GENTLY = (6.0, 10.0), 3.0  # m long, and the radius: who goes over stairs does so about straight
WIDE = 30.0  # m to each side
PUSH, PUSHED = 100.0, 0.1  # N, s
SOME = 5  # of a walk's paths that are walked under pushes, on a slope, up and down stairs
LAID, LED = "lookahead", "steering"
LEVEL, SLOPED, PUSHED_ABOUT = "level", "slope of 10°", "push of 100 N"
UP, DOWN = "stairs up", "stairs down"
SOURCES = (ROOT / "core", Path(__file__))
INTRODUCTION = f"""# Random paths

{PATHS} paths for each of four walks: {SHORTEST:.0f} to {LONGEST:.0f} m long, turning at random with a radius of
{TIGHTEST:g} m and more. Default settings, under Look Ahead, which lays the walk along the path, and under
[Steer](../methods/steering.md), which finds its way as it goes. The first {SOME} of each also with a push of
{PUSH:.0f} N for {PUSHED:g} s from a random side halfway, and under Look Ahead on a slope of 10 degrees: Steer is for
level ground. {SOME} more paths under Look Ahead lead up and down {FLIGHT} stairs of {100 * RISE:.0f} cm on
{100 * GOING:.0f} cm across their middle: {OVER_STAIRS[0]:.0f} to {OVER_STAIRS[1]:.0f} m long, with a radius
of {GENTLY:g} m and more. Written by `run.py study paths`; a study that is stopped goes on where it was, and
`HEFT_STUDY_SECONDS` says when it begins nothing more.

- off: distance of the hips from the curve, mean and greatest
- end: how far from the curve's end the hips are, and turned how far from its direction
- near: no farther off than 15 cm on average and 40 cm anywhere, and within 15 cm and 10° of the end
- s a second: of bake for a second of motion, Steer's actions made before
"""
HEAD = [
    "| walk | method | surroundings | upright | off cm | greatest | end cm, most | end °, most | near | s a second |",
    "|---|---|---|---|---|---|---|---|---|---|",
]


class Walked(NamedTuple):
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


def random_path(
    rng: np.random.Generator, lengths: tuple[float, float] = (SHORTEST, LONGEST), tightest: float = TIGHTEST
) -> Array:
    """Places (n, 2) of a path whose curvature changes at random."""
    length = rng.uniform(*lengths)
    knots = np.arange(0.0, length + 2.0 * KNOT, KNOT)
    distance = np.arange(0.0, length, 0.02)
    curvature = np.interp(distance, knots, rng.uniform(-1.0, 1.0, len(knots)) / tightest)
    heading = rng.uniform(-np.pi, np.pi) + np.cumsum(curvature) * 0.02
    return np.column_stack([np.cumsum(np.cos(heading)), np.cumsum(np.sin(heading))]) * 0.02


def walk_along(job: BakeJob, drawn: Array, cache: Path | None = None) -> Walked:
    """Bake a job along it."""
    result = run(replace(job, path=paths.Path(drawn)), cache=cache)
    report: dict[str, Any] = result.report
    hips = result.poses[:, 0, :2, 3]
    off = result_off(hips, drawn)
    ahead = drawn[-1] - drawn[-10]
    turned = facing_of(result.poses[-1], result.bones) - np.arctan2(ahead[1], ahead[0])
    spent = sum(seconds for stage, seconds in report["seconds"].items() if cache is None or stage != "policy")
    return Walked(
        report["outcome"] == "completed",
        float(off.mean()),
        float(off.max()),
        float(np.linalg.norm(hips[-1] - drawn[-1])),
        float(abs((turned + np.pi) % (2.0 * np.pi) - np.pi)),
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


def mannequin() -> BakeJob:
    """Its own walk as it is baked today: what is kept of it is a job of an older version."""
    kept = golden.kept("walk")
    range_ = {"frame_start": kept.frame_start, "frame_end": kept.frame_end}
    return BakeJob(kept.clip, kept.roles, name="mannequin", body=kept.body, **range_)


def jobs() -> dict[str, BakeJob]:
    """By the walk's name."""
    found = {"mannequin": mannequin()}
    for name in WALKS:
        clip = read_bvh(next(path for path in GOOD if path.name.startswith(f"{name}_")), CMU_UNIT)
        found[name] = BakeJob(clip, CMU_ROLES, name=name, frame_start=2.0)
    return found


def drawn_for(walk: int, where: str, number: int) -> Array:
    """One of a walk's paths there."""
    if where in {UP, DOWN}:
        return random_path(np.random.default_rng([walk, number, 1]), OVER_STAIRS, GENTLY)
    rng = np.random.default_rng(walk)
    return [random_path(rng) for _ in range(number + 1)][number]


def flight(drawn: Array, rise: float) -> Mesh:
    """Stairs across the middle of a path, with level ground before and after them."""
    middle = len(drawn) // 2
    along = drawn[middle + 1] - drawn[middle - 1]
    ahead = along / np.linalg.norm(along)
    begin = -0.5 * GOING * FLIGHT
    profile = [(-WIDE, 0.0)]
    for step in range(FLIGHT):
        edge = begin + step * GOING
        profile += [(edge, step * rise), (edge, (step + 1) * rise)]
    profile.append((WIDE, FLIGHT * rise))
    left = np.array([-ahead[1], ahead[0]])
    vertices = [(*(drawn[middle] + x * ahead + side * left), z) for x, z in profile for side in (-WIDE, WIDE)]
    quads = [(k, k + 2, k + 3, k + 1) for k in range(0, len(vertices) - 2, 2)]
    return Mesh(np.array(vertices), np.array([f for a, b, c, d in quads for f in ((a, b, c), (a, c, d))]))


def around(job: BakeJob, where: str, seed: tuple[int, int], drawn: Array) -> BakeJob:
    """The job there."""
    if where == SLOPED:
        slope = Plane(normal=(np.sin(SLOPE), 0.0, np.cos(SLOPE)))
        return replace(job, scene=Scene(surfaces=(slope,)))
    if where in {UP, DOWN}:
        return replace(job, scene=Scene(surfaces=(flight(drawn, RISE if where == UP else -RISE),)))
    if where == PUSHED_ABOUT:
        side = np.random.default_rng(seed).uniform(-np.pi, np.pi)
        force = (PUSH * np.cos(side), PUSH * np.sin(side), 0.0)
        halfway = 0.5 * paths.Path(drawn).seconds()
        return replace(job, scene=Scene(pushes=(Push.constant("torso", force, halfway, PUSHED),)))
    return job


def walked(name: str, method: str, where: str, number: int) -> list[Any]:
    """What came of one of a walk's paths; what Steer made is kept, as for whoever bakes twice."""
    found = jobs()
    walk = list(found).index(name)
    drawn = drawn_for(walk, where, number)
    job = around(replace(found[name], method=method, settings={}), where, (walk, number), drawn)
    return list(walk_along(job, drawn, STEERED if method == LED else None))


def row(name: str, method: str, where: str, walked: list[Walked]) -> str:
    """A line of the table."""
    up = sum(one.upright for one in walked)
    return (
        f"| {name} | {'Steer' if method == LED else 'Look Ahead'} | {where} | {up} of {len(walked)} | "
        f"{100 * np.mean([one.mean for one in walked]):.1f} | "
        f"{100 * max(one.greatest for one in walked):.0f} | {100 * max(one.end for one in walked):.0f} | "
        f"{np.degrees(max(one.turned for one in walked)):.0f} | {sum(one.near for one in walked)} | "
        f"{np.median([one.pace for one in walked]):.2f} |"
    )


def study(folder: Path) -> str:
    """The page; this study leaves no pictures."""
    del folder
    if not GOOD:
        return f"# Random paths\n\nThe clips are not at {CLIPS}.\n"
    end = time.monotonic() + float(os.environ.get("HEFT_STUDY_SECONDS", "inf"))
    kinds = [
        (name, method, where, count)
        for name in jobs()
        for method, where, count in (
            (LAID, LEVEL, PATHS),
            (LAID, PUSHED_ABOUT, SOME),
            (LAID, SLOPED, SOME),
            (LAID, UP, SOME),
            (LAID, DOWN, SOME),
            (LED, LEVEL, PATHS),
            (LED, PUSHED_ABOUT, SOME),
        )
    ]
    journal = Journal("paths", SOURCES)
    # what Steer makes for a walk's first, others find; then the kinds in turn, so that less time finds some of each
    first = [kind for kind in kinds if kind[1] == LED and kind[2] == LEVEL]
    asked = [(*kind[:3], number) for number in range(PATHS) for kind in kinds if number < kind[3]]
    journal.find_all(_questions([(*kind[:3], 0) for kind in first]), end)
    found = _questions(asked)
    answers = dict(zip(found, journal.find_all(found, end), strict=True))
    rows = []
    for name, method, where, count in kinds:
        known = [answers[_question(name, method, where, number)] for number in range(count)]
        some = [Walked(*answer) for answer in known if answer is not None]
        rows += [row(name, method, where, some)] if some else []
    left = sum(answer is None for answer in answers.values())
    page = [INTRODUCTION, *HEAD, *rows]
    if left:
        page += ["", f"{left} paths were not reached in the time that there was."]
    return "\n".join(page) + "\n"


def _question(name: str, method: str, where: str, number: int) -> str:
    return f"{name} {method} {where} {number}"


def _questions(asked: list[tuple[str, str, str, int]]) -> dict[str, Callable[[], list[Any]]]:
    return {_question(*one): partial(walked, *one) for one in asked}
