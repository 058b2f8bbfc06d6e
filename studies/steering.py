# SPDX-License-Identifier: GPL-3.0-or-later
"""Steered walks: random commands for minutes, turns by their steps, pushes, and what planning takes."""

import os
import time
from collections.abc import Callable
from dataclasses import replace
from functools import cache, partial
from pathlib import Path
from shutil import copytree
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import numpy as np
from heft.core import BakeJob, Course, Push
from heft.core.cache import Cache
from heft.core.contact.terrain import Plane, make_terrain
from heft.core.control.stage import Stage
from heft.core.control.steering.catching import Catches
from heft.core.control.steering.method import METHOD, Plan, roomy
from heft.core.control.steering.steering import Choice, Steering
from heft.core.job import Scene
from heft.core.job.choosing import resolved
from heft.core.job.job import RECOVERY_EFFORT
from heft.core.job.preparing import make_motion
from heft.core.job.progress import Clock, ProgressReporter
from heft.core.job.staging import torque_limits
from heft.core.motion.bvh import read_bvh
from heft.core.motion.moving_frame import yaw_of
from heft.core.motion.quaternions import Array
from heft.core.simulation.fall import FallDetector
from heft.core.simulation.looseness import natural
from heft.core.simulation.own_contact import deepest
from heft.core.simulation.strength import TorqueLimits
from heft.studies.lib.journal import STEERED, Journal
from heft.studies.paths import mannequin

from tests.core.motion.skeletons import CLIPS, CMU_ROLES, CMU_UNIT, GOOD
from tools.environment import ROOT

WALKS = ("mannequin", "02_01", "07_04", "132_20", "08_05", "35_17")  # looked at while the method was made
OTHERS = ("20_06", "120_08", "113_01")  # not
RUNS, LASTS, EVERY = 10, 60.0, 4.0  # of so many s, a command each so many s
TURNS = {45.0: 2, 90.0: 3, 180.0: 5}  # degrees, and in how many steps they are asked for
TRIES = 12
WITHIN, KEPT = np.radians(15.0), 0.5  # of the heading, for so many s
PUSH, PUSHED, APART = 100.0, 0.1, 5.0  # N, s, and s between them
SOURCES = (ROOT / "core", Path(__file__))
INTRODUCTION = f"""# Steered walks

The method [Steer](../methods/steering.md) with its defaults, at a person's strength. Written by
`run.py study steering`; a study that is stopped goes on where it was, and `HEFT_STUDY_SECONDS` says when it begins
nothing more.

- commands: {RUNS} runs of {LASTS:.0f} s. Every {EVERY:.0f} s another heading, up to half a turn away, and another of
  the walk's speeds, standing too. Upright: seconds of all
- turns: told at {TRIES} moments of a lap, half of them to the right. The steps, landings after the command, until the
  hips stay within {np.degrees(WITHIN):.0f}° of the heading for {KEPT:g} s: mean and most
- pushed: the same commands, and {PUSH:.0f} N for {PUSHED:g} s at the hips from a random side every {APART:.0f} s
- made: seconds of processor for all motions and trials, and again with what is in the cache
- ms: that the planner takes for a choice, median and longest

The last {len(OTHERS)} were not looked at while the method was made.
"""
HEAD = [
    "| walk | m/s | actions | commands: upright s | pushed: upright s | 45° steps | 90° | 180° | made s | again | ms |",
    "|---|---|---|---|---|---|---|---|---|---|---|",
]


class Walk(NamedTuple):
    """A plan, and the strength of who follows it."""

    plan: Plan
    limits: TorqueLimits | None


def job_of(name: str) -> BakeJob:
    """The walk as it is to be steered."""
    if name == "mannequin":
        job = mannequin()
    else:
        clip = read_bvh(next(path for path in GOOD if path.name.startswith(f"{name}_")), CMU_UNIT)
        job = BakeJob(clip, CMU_ROLES, name=name, frame_start=2.0)
    return resolved(replace(job, method="steering", settings={}, seconds=LASTS, help="none"))[0]


@cache
def walk(name: str) -> Walk:
    """Its plan, from what is kept of it."""
    job, kept = job_of(name), Cache(STEERED)
    motion = make_motion(job, ProgressReporter(None), kept, Clock())
    plan = METHOD.plan([motion.reference], METHOD.choose({}), kept, lambda _: None)
    return Walk(plan, torque_limits(job, motion, 0.0))


def made(name: str) -> list[Any]:
    """Speed, number of actions, and seconds of processor that they take, and again; or why there are none."""
    job = job_of(name)
    with TemporaryDirectory() as folder:
        motion = make_motion(job, ProgressReporter(None), Cache(folder), Clock())
        spent = []
        for _ in range(2):
            begun = time.process_time()
            try:
                plan = METHOD.plan([motion.reference], METHOD.choose({}), Cache(folder), lambda _: None)
            except ValueError as error:
                return [str(error)]
            spent.append(time.process_time() - begun)
        copytree(folder, STEERED, dirs_exist_ok=True)  # other questions find it there
    return [plan.acts[0].level, len(plan.acts), *spent]


class Followed(NamedTuple):
    """How a walk went."""

    upright: float  # s
    q: Array  # (nf, nq)
    landings: list[int]  # steps of the simulation
    choices: list[float]  # s


def follow(one: Walk, course: Course, seconds: float, pushes: tuple[Push, ...] = ()) -> Followed:
    """Walk along a course."""
    planner, acts = one.plan.planner, one.plan.acts
    planner.head(course, 0.0)
    choices: list[float] = []

    def choose(*asked: Any) -> Choice:
        begun = time.perf_counter()
        found = planner.choose(*asked)
        choices.append(time.perf_counter() - begun)
        return found

    character, rate = acts[0].motion.character, 1.0 / acts[0].motion.track.dt
    plain = Stage(
        character,
        make_terrain((Plane(),)),
        Scene(pushes=pushes, course=course),
        rate,
        seconds,
        lift=0.0,
        recovery=RECOVERY_EFFORT,
        looseness=natural(),
        torque_limits=one.limits,
        inside=deepest(character, acts[0].motion.track.q) if pushes else None,
    )
    stage = roomy(acts, plain)
    steering = Steering(acts, choose, catches=Catches(stage, planner.foresee))
    steering.begin(planner.begins(), replace(one.plan.begins, shift=(0.0, 0.0), turn=0.0), 0.0)
    world = stage.world()
    world.reset(*steering.reference_state())
    falls, q, landings, stood = FallDetector(character, rate), [], [], set[int]()
    for step in range(round(seconds * rate)):
        world.step(steering)
        steering.between_steps(world, lambda: True)
        controller = acts[steering.last].controller
        touching = controller.track.touching[controller.place.frame]
        stands = set(controller.track.point_body[touching].tolist())
        landings += [step] * len(stands - stood)
        stood = stands
        q.append(world.q.copy())
        if falls.update(step, world.q, world.v, steering.reference_state()[0]):
            return Followed((falls.lost or step) / rate, np.array(q), landings, choices)
    return Followed(seconds, np.array(q), landings, choices)


def commands(one: Walk, rng: np.random.Generator) -> Course:
    """Random headings and speeds."""
    speeds = sorted({act.level for act in one.plan.acts if act.level is not None})
    count = int(LASTS / EVERY)
    heading = np.concatenate([[0.0], np.cumsum(rng.uniform(-np.pi, np.pi, count - 1))])
    speed = np.concatenate([[one.plan.acts[0].level], rng.choice(speeds, count - 1)])
    time_ = np.repeat(EVERY * np.arange(count + 1), 2)[1:-1]
    return Course(time_, np.repeat(speed, 2), np.zeros(2 * count), np.repeat(heading, 2))


def shoves(one: Walk, rng: np.random.Generator) -> tuple[Push, ...]:
    """From random sides."""
    hips = one.plan.acts[0].motion.character.bodies[0].name
    found = []
    for number in range(1, int(LASTS / APART)):
        side = rng.uniform(-np.pi, np.pi)
        force = (PUSH * float(np.cos(side)), PUSH * float(np.sin(side)), 0.0)
        found.append(Push.constant(hips, force, number * APART, PUSHED))
    return tuple(found)


def steps_of(one: Walk, degrees: float, told: float) -> int | None:
    """Landings from a command until the heading is reached and kept; None where it never is."""
    angle, speed = np.radians(degrees), one.plan.acts[0].level
    assert speed is not None
    course = Course(np.array([0.0, told, told]), np.full(3, speed), np.zeros(3), np.array([0.0, 0.0, angle]))
    done = follow(one, course, told + 8.0)
    rate = 1.0 / one.plan.acts[0].motion.track.dt
    begin = round(told * rate)
    facing = np.unwrap([yaw_of(row) for row in done.q])
    error = (facing - facing[:begin].mean() - angle + np.pi) % (2.0 * np.pi) - np.pi
    near = np.abs(error) < WITHIN
    span = round(KEPT * rate)
    for step in range(begin, len(near) - span):
        if near[step : step + span].all():
            return sum(begin < landing <= step for landing in done.landings)
    return None


def commanded(name: str, seed: int) -> list[Any]:
    """Seconds that it stays up under random commands, and that its planner takes for each choice."""
    one = walk(name)
    done = follow(one, commands(one, np.random.default_rng(seed)), LASTS)
    return [done.upright, done.choices]


def pushed(name: str, seed: int) -> float:
    """Seconds that it stays up under the same commands and pushes."""
    one, rng = walk(name), np.random.default_rng(seed)
    course = commands(one, rng)
    return follow(one, course, LASTS, shoves(one, rng)).upright


def turned(name: str, degrees: float, number: int) -> int:
    """Steps of a turn; -1 where it never comes to an end."""
    one = walk(name)
    rate = 1.0 / one.plan.acts[0].motion.track.dt
    lap = (one.plan.acts[0].steps + one.plan.acts[1].steps) / rate
    found = steps_of(one, degrees if number % 2 else -degrees, 2.0 + number / TRIES * lap)
    return -1 if found is None else found


def questions(name: str) -> dict[str, Callable[[], Any]]:
    """All that is asked of a walk that can be led."""
    return {
        **{f"{name} commanded {seed}": partial(commanded, name, seed) for seed in range(RUNS)},
        **{f"{name} pushed {seed}": partial(pushed, name, seed) for seed in range(RUNS)},
        **{
            f"{name} turned {degrees:.0f} {number}": partial(turned, name, degrees, number)
            for degrees in TURNS
            for number in range(TRIES)
        },
    }


def in_turns(steps: list[int]) -> str:
    """Mean and most."""
    reached = [one for one in steps if one >= 0]
    if not reached:
        return "never" if steps else ""
    lost = len(steps) - len(reached)
    return f"{np.mean(reached):.1f}, {max(reached)}" + (f", {lost} not" if lost else "")


def row(name: str, making: list[Any], answers: dict[str, Any]) -> str:
    """A line of the table, of those questions that were answered."""
    if len(making) == 1:
        return f"| {name} | {making[0]} |" + " |" * 9

    def known(about: str) -> list[Any]:
        return [answer for question, answer in answers.items() if f"{name} {about}" in question and answer is not None]

    led, shoved = known("commanded "), known("pushed ")
    ms = 1e3 * np.array([choice for _, choices in led for choice in choices] or [np.nan])
    turns = " | ".join(in_turns(known(f"turned {degrees:.0f} ")) for degrees in TURNS)
    speed, count, once, again = making
    return (
        f"| {name} | {speed:.2f} | {count} | {sum(upright for upright, _ in led):.0f} of {len(led) * LASTS:.0f} | "
        f"{sum(shoved):.0f} of {len(shoved) * LASTS:.0f} | {turns} | {once:.0f} | {again:.1f} | "
        f"{np.median(ms):.2f}, {ms.max():.2f} |"
    )


def study(folder: Path) -> str:
    """The page; this study leaves no pictures."""
    del folder
    if not GOOD:
        return f"# Steered walks\n\nThe clips are not at {CLIPS}.\n"
    end = time.monotonic() + float(os.environ.get("HEFT_STUDY_SECONDS", "inf"))
    journal, names = Journal("steering", SOURCES), (*WALKS, *OTHERS)
    making = journal.find_all({f"{name} made": partial(made, name) for name in names}, end)
    can = [name for name, found in zip(names, making, strict=True) if found is not None and len(found) > 1]
    asked = {question: find for name in can for question, find in questions(name).items()}
    answers = dict(zip(asked, journal.find_all(asked, end), strict=True))
    lines = [row(name, found, answers) for name, found in zip(names, making, strict=True) if found is not None]
    page = [INTRODUCTION, *HEAD, *lines]
    left = sum(one is None for one in making) + sum(answer is None for answer in answers.values())
    if left:
        page += ["", f"{left} answers were not reached in the time that there was."]
    return "\n".join(page) + "\n"
