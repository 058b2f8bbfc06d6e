# SPDX-License-Identifier: GPL-3.0-or-later
"""Captured clips under momentum control: what studies of it share."""

from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from typing import NamedTuple

import numpy as np
from heft.core.control.momentum import Outline, Performer, Settings, make_route, precompute, stances
from heft.core.control.momentum.policy import Policy
from heft.core.dynamics import center_of_mass, centroidal_momentum
from heft.core.motion.bvh import read_bvh
from heft.core.motion.make_reference import make_reference
from heft.core.motion.prepare import prepare
from heft.core.motion.reference import Reference
from heft.core.simulation import Push
from heft.core.simulation.fall import FallDetector

from tests.core.motion.skeletons import CMU_ROLES, CMU_UNIT, GOOD

CLIPS = {"walk": "02_01", "long step": "08_05", "squat": "22_14"}
WAYS = {"fore": (1.0, 0.0), "aft": (-1.0, 0.0), "left": (0.0, 1.0), "right": (0.0, -1.0)}
BEGINS = (0.15, 0.3, 0.45, 0.6)  # shares of the motion at which a push begins
OFF = 0.01  # m that a foot which bears weight may be off its place


class Followed(NamedTuple):
    """What became of a motion."""

    survived: bool
    later: int  # steps more than its own time
    foot: float  # m, farthest that a point that bears weight was off its place
    force: float  # N, mean strength of the contact forces
    peak: float  # N, greatest
    center: float  # m, between the model's centre of mass, one step ahead, and the pose's
    momentum: float  # kg m/s and kg m²/s, between the model's and the pose's
    torque: float  # N m, of the strongest motor


class Case(NamedTuple):
    reference: Reference
    outline: Outline
    facing: np.ndarray  # (2, 2) ahead and left


class Way(NamedTuple):
    """What may give way."""

    flexible: bool
    aside: bool


class Pushed(NamedTuple):
    force: float  # N
    seconds: float
    way: str
    begin: float  # share of the motion


ASIDE, FLEXIBLE, FIXED = Way(True, True), Way(True, False), Way(False, False)


@cache
def case(name: str, detail: str = "simple") -> Case:
    path = next(path for path in GOOD if path.name.startswith(CLIPS.get(name, name)))
    performance = prepare(read_bvh(path, CMU_UNIT), CMU_ROLES, detail=detail)  # type: ignore[arg-type]
    reference = make_reference(performance.plan.character, performance.trajectory).reference
    way = reference.q[-1, :2] - reference.q[0, :2]
    if np.linalg.norm(way) < 0.5:
        w, x, y, z = reference.q[0, 3:7]
        way = np.array([1.0 - 2.0 * (y * y + z * z), 2.0 * (x * y + w * z)])
    way = way / np.linalg.norm(way)
    return Case(reference, Outline.of(reference), np.array([way, [-way[1], way[0]]]))


@cache
def policy(name: str, settings: Settings, friction: float | None = None) -> Policy:
    """The law of a clip; forces keep within another friction than the reference's, if that is told."""
    reference, outline, _ = case(name)
    return precompute(reference.character, replace(outline, friction=friction or outline.friction), settings)


def ready(
    name: str,
    *pushed: Pushed,
    moves: Sequence[np.ndarray] | None = None,
    settings: Settings | None = None,
    giving: Way = ASIDE,
    friction: float | None = None,
) -> Performer:
    """A performer at the start of a motion."""
    reference, outline, facing = case(name)
    character, route = reference.character, make_route(reference, outline, moves)
    pushes = []
    for force, seconds, way, begin in pushed:
        x, y = force * np.array(WAYS[way]) @ facing
        start = begin * reference.steps * outline.dt
        pushes.append(Push.constant(character.bodies[0].name, (float(x), float(y), 0.0), start, seconds))
    law = policy(name, settings or Settings(), friction)
    performer = Performer(character, law, route, pushes, flexible=giving.flexible, aside=giving.aside)
    performer.reset(reference.q[0] + np.pad(route.origin[0], (0, character.nq - 3)), reference.v[0])
    return performer


def follow(
    name: str,
    moves: Sequence[np.ndarray] | None = None,
    *pushed: Pushed,
    settings: Settings | None = None,
    giving: Way = ASIDE,
    exact: bool = False,
    friction: float | None = None,
) -> Followed:
    """One motion, with stances moved, or under pushes."""
    reference, outline, _ = case(name)
    character = reference.character
    performer = ready(name, *pushed, moves=moves, settings=settings, giving=giving, friction=friction)
    watch = FallDetector(character, reference.rate)
    foot = peak = force = center = momentum = torque = 0.0
    steps, fallen = 0, False
    for steps in range(1, int(1.6 * reference.steps)):
        x = performer.machine.memory.x
        drift = outline.drift[min(int(performer.at), reference.steps - 1)]
        ahead = x[:3] + outline.dt * (x[3:6] / character.total_mass + drift)
        going = performer.step()
        if performer.failed:
            break
        x = performer.machine.memory.x
        foot = max(foot, performer.pulled()[1])
        torque = max(torque, float(np.abs(performer.torque).max()))
        strength = float(np.linalg.norm(performer.machine.outcome.wrench[1, :3]))
        force, peak = force + strength, max(peak, strength)
        if exact:
            center = max(center, float(np.linalg.norm(ahead - center_of_mass(character, performer.q))))
            own = centroidal_momentum(character, performer.q, performer.v)
            momentum = max(momentum, float(np.abs(own - np.concatenate((x[3:6], x[9:]))).max()))
        fallen = watch.update(steps, performer.q, performer.v, performer.wanted())
        if not going or fallen or foot > 5.0 * OFF:
            break
    survived = not performer.failed and not fallen and foot <= OFF and performer.at >= reference.steps
    return Followed(survived, steps - reference.steps, foot, force / max(steps, 1), peak, center, momentum, torque)


def ascending(name: str, step: np.ndarray) -> list[np.ndarray]:
    """Moves of all stances by as many steps as lie before them."""
    begins = [one.first for one in stances(case(name).outline)]
    return [step * max(sorted(begins).index(begin) - 1, 0) for begin in begins]
