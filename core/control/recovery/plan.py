# SPDX-License-Identifier: GPL-3.0-or-later
"""A plan: a possible motion from the actual state, with gains for it, that ends in the motion where it would be then.

The state at its end is free. It is worth what it costs the motion that goes on from there: the cost to go of the
motion's own recursion, moved on to where the plan ends, begins the plan's.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from ...character import Character
from ...contact.terrain import Terrain
from ...dynamics import difference
from ...motion.cycle import Cycle
from ...motion.footholds import clear_of_edges
from ...motion.outside import NOTHING, Outside, velocities_given
from ...motion.reference import Reference
from ...motion.schedule import ContactSchedule
from ...motion.spacetime import Ends, Settings
from ...motion.spacetime.measure import world_forces
from ...motion.spacetime.problem import allowed_forces, make_problem
from ...motion.spacetime.solver import solve
from ...simulation import Push
from ..lookahead.lookahead import LookAhead, Place
from ..lookahead.policy import CostToGo
from ..lookahead.precompute import sweep
from ..lookahead.track import Track
from .added import Ahead, add_steps
from .capture import Pose
from .footholds import Choice, Step, choose_steps, new_schedule
from .guess import guess
from .homing import nearer, steps_home
from .hurried import hurry
from .motion_ahead import MotionAhead
from .pushing import outside

Array = NDArray[np.float64]

USABLE_DEFECT = 1e-8  # rad or m and per second
ITERATIONS = 20
ITERATIONS_ONTO = 8  # onto other ground: the motion goes on, so it begins near


@dataclass(frozen=True, eq=False)
class Plan:
    """A controller for some steps, and where in its motion the other goes on."""

    controller: LookAhead
    places: list[Place]  # (N + 1) of the motion at each frame; moved aside with the steps; at the last it goes on
    steps: tuple[Step, ...]
    choice: Choice

    @property
    def shift(self) -> Array:
        """By how much (2,) the motion lies aside from then on, m."""
        return self.steps[-1].shift if self.steps else np.zeros(2)


@dataclass(frozen=True, eq=False)
class Question:
    """What a plan is to answer."""

    controller: LookAhead
    reference: Reference
    value: CostToGo  # of the controller's track
    terrain: Terrain
    ahead: MotionAhead
    whole: MotionAhead  # as far as is looked
    actual: Pose
    off: Array  # (2,) of the extrapolated centre of mass, m
    coming: Array  # (2,) of that, what pushes that go on will add
    omega: float  # 1/s
    facing: Array  # (2,)
    time: float  # s
    pose_share: Array  # (nv,) of the weight that the pose has
    arms: float  # how loose they are
    pushes: tuple[Push, ...] = ()  # that go on
    uneven: bool = False  # ground, with edges
    away: Array | None = None  # (2,) from the path, m: to go back to it, where nothing is to be caught

    @property
    def known(self) -> Ahead:
        """What steps that are added go by."""
        return Ahead(self.whole, self.reference, self.actual, self.coming, self.omega, self.facing)

    def steps(self, choice: Choice) -> tuple[MotionAhead, list[Step]] | None:
        """The motion in the time that the choice takes, and the steps of it; None where there is no such choice."""
        if choice.added is not None:
            return add_steps(self.known, choice.added, None if self.away is None else nearer(self.away))
        if self.away is not None:
            return self.ahead, steps_home(self.ahead, self.reference, self.away, self.facing)
        if choice.hurry is not None:
            return hurry(self.known, self.controller, choice.hurry)
        ahead = self.ahead.sped_up(self.controller, choice.speed) if choice.speed != 1.0 else self.ahead
        return ahead, choose_steps(ahead, self.reference, self.off, self.omega, choice, self.facing)


class StoppedError(Exception):
    """Nobody wants the answer any more."""


def make_plan(question: Question, choice: Choice, goes_on: Callable[[], bool]) -> Plan | None:
    """A plan by this choice, or None where there is no possible motion near it."""
    reference, controller = question.reference, question.controller
    character = reference.character
    found = question.steps(choice)
    if found is None:
        return None
    ahead, steps = found
    schedule = new_schedule(ahead, reference, question.actual[0], steps, question.terrain, question.time)
    if schedule is None:
        return None
    shift = steps[-1].shift if steps else np.zeros(2)
    landed = steps[-1].frame if steps else ahead.steps
    coming, arms = question.omega * question.coming, (question.off, question.arms)
    q, v = guess(character, ahead, reference, schedule, question.actual, shift, landed, coming, arms)
    known = outside(character, question.pushes, question.time, 1.0 / reference.rate, len(q) - 1)
    track = _possible(question, schedule, q, v, known, goes_on)
    if track is None:
        return None
    places = _moved_aside(ahead.places, shift, landed)
    end = end_value(character, controller, question.value, places[-1], (track.q[-1], track.v[-1]))
    if known is not None:
        given = velocities_given(character, track.q, track.dt, known)
        track = replace(track, given=np.pad(given, ((0, 1), (0, 0))))
    policy, _ = sweep(character, track, controller.settings, end)
    if not np.isfinite(policy.gain).all():
        return None
    follower = LookAhead(character, track, controller.settings, policy, controller.terrain)
    return Plan(follower, places, tuple(steps), choice)


def _moved_aside(places: list[Place], shift: Array, landed: int) -> list[Place]:
    """Places in the motion, more and more aside until frame `landed`."""
    moved = []
    for k, place in enumerate(places):
        (x, y, z, yaw), share = place.anchor, min(k / landed, 1.0)
        dx, dy = (share * share * (3.0 - 2.0 * share) * shift).tolist()
        moved.append(place._replace(anchor=(x + dx, y + dy, z, yaw)))
    return moved


def _possible(
    question: Question,
    schedule: ContactSchedule,
    q: Array,
    v: Array,
    known: Outside | None,
    goes_on: Callable[[], bool],
) -> Track | None:
    """The possible motion nearest to this one, under forces that are known, with its torques and forces."""

    def ask(iteration: int, q: Array) -> None:
        del iteration, q
        if not goes_on():
            raise StoppedError

    reference = question.reference
    character = reference.character
    settings = Settings(friction=reference.friction, iterations=ITERATIONS)
    if question.uneven:
        settings = clear_of_edges(replace(settings, iterations=ITERATIONS_ONTO))
    problem = make_problem(
        character, q, v, reference.rate, schedule, question.terrain, settings, None, outside=known or NOTHING
    )
    problem.pose_weight[:] *= question.pose_share
    solution = solve(character, problem, Ends(start=question.actual), settings, ask, outside=known)
    if not solution.usable(USABLE_DEFECT):
        return None
    iterate, points = solution.iterate, len(schedule.points)
    force = world_forces(problem, iterate)[:, :points]
    carrying = allowed_forces(schedule.active, periodic=False)
    return Track(
        dt=1.0 / reference.rate,
        q=iterate.q,
        v=iterate.v,
        torque=np.pad(iterate.torque, ((0, 1), (0, 0))),
        force=np.pad(force, ((0, 1), (0, 0), (0, 0))),
        loaded=np.concatenate((carrying, carrying[-1:])),
        point_body=schedule.body,
        point_local=schedule.position,
        grip=np.array([point.grab for point in schedule.points], dtype=np.bool_),
    ).with_corners(character)


def end_value(
    character: Character, controller: LookAhead, value: CostToGo, place: Place, state: Pose
) -> tuple[Array, Array]:
    """The cost to go (S, s) of the motion at a place, by deviations from a state near it, in the world."""
    nv = character.nv
    turn = np.eye(2 * nv)
    if character.bodies[0].joint.kind == "free":
        rotation = Cycle((0.0, 0.0), place.anchor[3]).rotation
        turn[:3, :3] = turn[nv : nv + 3, nv : nv + 3] = rotation
    curvature = turn @ value.curvature[place.frame] @ turn.T
    q, v = controller.reference_state(place)
    away = np.concatenate((difference(character, q, state[0]), state[1] - v))
    return np.ascontiguousarray(curvature), turn @ value.gradient[place.frame] + curvature @ away
