# SPDX-License-Identifier: GPL-3.0-or-later
"""Pushes aside and a weight in one hand, measured as papers measure people: steps, detours and leans."""

import os
import time
from collections.abc import Sequence
from dataclasses import replace
from functools import cache, partial
from pathlib import Path
from typing import NamedTuple

import numpy as np
from heft.core.control.method import Follower
from heft.core.control.recovery import Recovering
from heft.core.job import BakeJob, Load, Scene, run
from heft.core.job.job import RECOVERY_EFFORT
from heft.core.motion.tracks import point_places
from heft.core.simulation import DivergedError, Push, World
from heft.core.simulation.fall import FallDetector
from heft.core.simulation.looseness import natural
from heft.studies.lib.journal import Journal
from heft.studies.lib.pushed import Pushed, captured

from tests.core.motion.skeletons import CLIPS, CMU_ROLES, GOOD, cmu

Array = np.ndarray

WALKS = ("07_04", "08_05", "20_06")  # on which no step was tuned
NEWTONS, BRIEF = (100.0, 200.0), 0.1  # for so many seconds
PHASES, SECONDS = 4, 4.0
SIDES = {"left": 0.5 * np.pi, "right": -0.5 * np.pi}
LOADS = (10.0, 20.0)  # kg
LOW, CLEAR = 0.01, 0.02  # m over the ground, of a foot that has landed and of one that has left
STAYS = 0.1  # s, after which one that has landed is looked at
MOVED = 0.05  # m, by which a foothold is another


class Landing(NamedTuple):
    """A foot that comes down."""

    time: float  # s from the push on
    foot: str
    x: float  # m
    y: float


class Answer(NamedTuple):
    """What a push was answered with."""

    walk: str
    newtons: float
    up: bool
    after: float  # s from the push to the first foothold that is another
    longest: float  # m, of the changes from one foothold to the next
    steps: int  # up to the last that still changes
    detour: float  # m to the side of the push, from then on


class Carrying(NamedTuple):
    """What a weight in the left hand does."""

    walk: str
    kilograms: float
    lean: float  # degrees of the trunk to the right, more than without
    speed: float  # share of that without
    away: float  # m of the hand from the middle of the body, sideways, more than without


@cache
def subject(walk: str) -> Pushed:
    """A walk, ready to be pushed."""
    return Pushed.of(captured(walk, loop=True, seconds=8.0), PHASES, SECONDS)


def landings(walk: Pushed, phase: int, force: Sequence[float] | None) -> list[Landing] | None:
    """From a phase on, pushed or not; None after a fall."""
    state, place = walk.starts[phase]
    begin = float(state["clock"][0])
    pushes = () if force is None else (Push.constant("torso", (force[0], force[1], 0.0), begin, BRIEF),)
    stage = replace(walk.stage, scene=Scene(pushes=pushes), recovery=RECOVERY_EFFORT, looseness=natural())
    world = stage.world()
    world.load_state(state)
    walk.controller.place = place
    follower = Recovering(walk.controller, walk.reference, stage) if pushes else walk.controller
    return _landings(walk, world, follower)


def _landings(walk: Pushed, world: World, follower: Follower) -> list[Landing] | None:
    character = walk.reference.character
    points = [point for point in walk.reference.schedule.points if point.foot]
    feet = {character.bodies[point.body].name for point in points}
    own = {foot: [i for i, one in enumerate(points) if character.bodies[one.body].name == foot] for foot in feet}
    fall, begin = FallDetector(character, world.rate), world.time
    down, since = dict.fromkeys(feet, True), dict.fromkeys(feet, 0.0)
    counted, found = dict.fromkeys(feet, True), []
    for step in range(round(SECONDS * world.rate)):
        follower.between_steps(world, lambda: True)
        try:
            world.step(follower)
        except DivergedError:
            return None
        if fall.update(step, world.q, world.v, follower.reference_state()[0]):
            return None
        places, now = point_places(character, world.q[None], points)[0], world.time - begin
        for foot in sorted(feet):
            height = float(places[own[foot], 2].min())
            if down[foot] and height > CLEAR:
                down[foot] = counted[foot] = False
            elif not down[foot] and height < LOW:
                down[foot], since[foot] = True, now
            elif down[foot] and not counted[foot] and now - since[foot] > STAYS:
                counted[foot] = True
                x, y = places[own[foot], :2].mean(axis=0).tolist()
                found.append(Landing(since[foot], foot, x, y))
    return found


def answer(walk: str, newtons: float, side: str, phase: int) -> Answer:
    """A push to a side, beside the same walk without it."""
    pushed = subject(walk)
    assert pushed.reference.cycle is not None
    x, y = pushed.reference.cycle.shift
    angle = float(np.arctan2(y, x)) + SIDES[side]
    calm = landings(pushed, phase, None)
    found = landings(pushed, phase, (newtons * float(np.cos(angle)), newtons * float(np.sin(angle))))
    if calm is None or found is None:
        return Answer(walk, newtons, False, 0.0, 0.0, 0, 0.0)
    aside = np.array([np.cos(angle), np.sin(angle)])
    shift = np.array([_aside(one, aside) - _usual(one, calm, aside) for one in found])
    change = np.abs(np.diff(shift, prepend=0.0))
    other = np.flatnonzero(change > MOVED)
    if not len(other):
        return Answer(walk, newtons, True, 0.0, float(change.max()), 0, float(shift[-1]))
    first, last = int(other[0]), int(other[-1])
    return Answer(walk, newtons, True, found[first].time, float(change.max()), last + 1, float(shift[last]))


def _aside(landing: Landing, aside: Array) -> float:
    return float(aside @ (landing.x, landing.y))


def _usual(landing: Landing, calm: Sequence[Landing], aside: Array) -> float:
    """How far aside the same foot comes down about then where nobody pushes, m."""
    own = [one for one in calm if one.foot == landing.foot]
    return float(np.interp(landing.time, [one.time for one in own], [_aside(one, aside) for one in own]))


def posture(walk: str, kilograms: float) -> tuple[float, float, float]:
    """Degrees of lean to the right, m/s, and m of the left hand from the middle of the body, means."""
    loads = (Load("weight", "left_hand", kilograms),) if kilograms else ()
    scene = Scene(loads=loads)
    found = run(BakeJob(cmu(walk), CMU_ROLES, loop=True, seconds=SECONDS, scene=scene))
    assert found.outcome == "completed", found.why
    heads = found.poses[..., :3, 3]
    pelvis, neck, hand = (heads[:, found.bones.index(CMU_ROLES[role][0])] for role in ("pelvis", "neck", "hand.L"))
    way = pelvis[-1, :2] - pelvis[0, :2]
    length = float(np.linalg.norm(way))
    right = np.array([way[1], -way[0]]) / length
    trunk = neck - pelvis
    lean = np.degrees(np.arctan2(trunk[:, :2] @ right, trunk[:, 2]))
    return float(lean.mean()), length / SECONDS, float(-((hand - pelvis)[:, :2] @ right).mean())


def carrying(walk: str) -> list[Carrying]:
    """With nothing, and with each of the weights."""
    lean, speed, away = posture(walk, 0.0)
    found = []
    for kilograms in LOADS:
        own = posture(walk, kilograms)
        found.append(Carrying(walk, kilograms, own[0] - lean, own[1] / speed, own[2] - away))
    return found


def row(newtons: float, found: Sequence[Answer]) -> str:
    """Of the page."""
    up = [one for one in found if one.up]
    stepped = [one for one in up if one.steps] or [Answer("", 0.0, True, 0.0, 0.0, 0, 0.0)]
    after, longest, steps, detour = (
        np.array([getattr(one, name) for one in stepped]) for name in ("after", "longest", "steps", "detour")
    )
    return (
        f"| {newtons:g} N | {len(up)} of {len(found)} | {sum(one.steps > 0 for one in up)} | {np.median(after):.2f} "
        f"| {100 * np.median(longest):.0f}, {100 * longest.max():.0f} | {np.median(steps):.0f}, {steps.max():.0f} "
        f"| {100 * np.median(detour):.0f}, {100 * detour.max():.0f} |"
    )


def study(folder: Path) -> str:
    """The page; what was found already is kept in out/studies. Nothing is begun after HEFT_STUDY_SECONDS."""
    del folder
    if not GOOD:
        return f"# Beside people\n\nThe clips are not at {CLIPS}.\n"
    journal = Journal.of("beside_people")
    until = time.monotonic() + float(os.environ.get("HEFT_STUDY_SECONDS", "inf"))
    pushes = [
        (walk, newtons, side, phase)
        for phase in range(PHASES)
        for walk in WALKS
        for newtons in NEWTONS
        for side in SIDES
    ]
    questions = {f"carrying {walk}": partial(carrying, walk) for walk in WALKS}
    questions |= {" ".join(map(str, one)): partial(answer, *one) for one in pushes}
    answers = journal.find_all(questions, until)
    loads = [Carrying(*one) for those in answers[: len(WALKS)] for one in those or ()]
    found = [Answer(*one) for one in answers[len(WALKS) :] if one is not None]
    rows = [row(newtons, [one for one in found if one.newtons == newtons]) for newtons in NEWTONS]
    carried = [
        f"| {one.walk} | {one.kilograms:g} kg | {one.lean:.1f} | {100 * one.speed:.0f} % | {100 * one.away:.0f} |"
        for one in loads
    ]
    return "\n".join((INTRODUCTION.rstrip("\n"), *rows, LOADED.rstrip("\n"), *carried)) + "\n"


INTRODUCTION = f"""# Beside people

{", ".join(WALKS)}, captured walks as cycles, are pushed aside at the torso for {BRIEF:g} s, to both sides in {PHASES}
phases, with recovery on and default looseness. Footholds are compared with those of the same walk that nobody pushes,
sideways. Another one is {100 * MOVED:g} cm farther from that, or nearer, than the one before. *Stepped* counts those
with such a foothold. Seconds are from the beginning of the push to the first of them. Change is from one foothold to
the next: median of the largest, and the largest. Steps are up to the last that changes. Detour is how far aside it goes
on. What people do is in [Reactions](../reactions.md#beside-people). Written by `run.py study beside_people`.

| push | up | stepped | s | change, cm | steps | detour, cm |
|---|---|---|---|---|---|---|
"""

LOADED = """
## A weight in the left hand

Bakes of four seconds with default settings. Lean is that of the line from the pelvis to the neck, to the right, more
than with nothing in the hand; the hand's distance is from the pelvis, sideways.

| walk | weight | lean, degrees | speed | hand farther out, cm |
|---|---|---|---|---|
"""
