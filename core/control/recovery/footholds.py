# SPDX-License-Identifier: GPL-3.0-or-later
"""Where feet stand from now on: those that do stay where they are, those to come are shifted to catch the body."""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ...contact.terrain import Terrain
from ...dynamics import body_poses
from ...motion.footholds import HIGHEST, heights_below
from ...motion.quaternions import conjugate, rotate
from ...motion.reference import Reference
from ...motion.schedule import ContactSchedule, runs
from ...motion.tracks import point_places
from .motion_ahead import MotionAhead, touchdowns

Array = NDArray[np.float64]

FARTHEST = 0.7  # m that a step may be moved
LIFTED = 0.004  # m: a point of a standing foot that is higher has left the ground
EDGE = 0.05  # m, by which ground is lower than a part of a standing sole that sticks out over an edge
SINKS = 0.25  # m/s, by which it comes down again
# m between the middles of feet, across the way: how near they may come down, as near as the motion has it
LEAST_APART, APART = 0.04, 0.1


@dataclass(frozen=True, eq=False)
class Step:
    """A foot's next stance."""

    frame: int
    body: int
    shift: Array  # (2,) from where the motion has it, m
    wanted: float  # m that it should be moved more than the step before


@dataclass(frozen=True)
class Added:
    """Steps that the motion does not have."""

    first: int  # the body that begins
    count: int
    wait: float  # s before the first
    lands: float  # s of the first
    swing: float  # s of the others
    both: float  # s on both feet between two

    @property
    def seconds(self) -> float:
        """Until the last foot is down."""
        return self.wait + self.lands + (self.count - 1) * (self.swing + self.both)


@dataclass(frozen=True)
class Hurry:
    """The motion's own steps, in other times."""

    times: tuple[int, ...]  # frames in which feet are lifted and put down
    crosses: bool  # the first may come down across the other
    before: tuple[int, int, int] | None = None  # a foot that steps first, and when it is lifted and put down


@dataclass(frozen=True)
class Choice:
    """How to step."""

    factor: float  # of the shift that catches all
    speed: float = 1.0  # of the motion
    apart: bool = True  # a foot keeps to its own side of the other
    added: Added | None = None  # rather than the motion's own steps
    hurry: Hurry | None = None  # in other times than the motion's own


def choose_steps(
    ahead: MotionAhead, reference: Reference, off: Array, omega: float, choice: Choice, facing: Array
) -> list[Step]:
    """Steps that catch a deviation `off` (2,) of the extrapolated centre of mass.

    What a step leaves over grows on until the next, and is left to that. `facing` (2,) is the way that the body faces.
    """
    steps: list[Step] = []
    left = np.array([-facing[1], facing[0]])
    before, growing, shift = 0, off, np.zeros(2)
    for frame, body in touchdowns(ahead, reference):
        growing = growing * math.exp(omega * (frame - before) / reference.rate)
        wish = shift + choice.factor * growing
        if choice.apart:
            wish = _on_its_side(ahead, reference, steps, frame, body, wish, left)
        length = float(np.linalg.norm(wish - shift))
        wish = shift + (wish - shift) * min(1.0, FARTHEST / max(length, 1e-9))
        growing = growing - (wish - shift) / choice.factor
        before, shift = frame, wish
        steps.append(Step(frame, body, wish, length))
    return steps


def _on_its_side(
    ahead: MotionAhead, reference: Reference, steps: list[Step], frame: int, body: int, wish: Array, left: Array
) -> Array:
    """The shift nearest to this one, or it itself, by which the foot does not come down across the one that stands."""
    schedule = reference.schedule
    own, others = schedule.body == body, schedule.body != body
    feet = np.array([point.foot for point in schedule.points])
    others = others & feet & ahead.active[frame - 1]
    if not others.any():
        return wish
    stands = int(schedule.body[others][0])
    moved = next((step.shift for step in reversed(steps) if step.body == stands), np.zeros(2))
    start = ahead.place[frame, own & ahead.active[frame], :2].mean(axis=0)
    apart = float((start - ahead.place[frame - 1, others, :2].mean(axis=0)) @ left)
    side = side_of(reference, body)
    lacking = min(max(side * apart, LEAST_APART), APART) - side * (apart + float((wish - moved) @ left))
    return wish + side * lacking * left if lacking > 0.0 else wish


def side_of(reference: Reference, body: int) -> float:
    """1 for a left foot, -1 for a right one: where it hangs in the neutral pose, seen from the root."""
    character = reference.character
    position, orientation = body_poses(character, character.neutral())
    away = rotate(conjugate(orientation[0]), position[body] - position[0])
    return math.copysign(1.0, float(away[1]))


def new_schedule(
    ahead: MotionAhead, reference: Reference, q: Array, steps: list[Step], terrain: Terrain, time: float
) -> ContactSchedule | None:
    """The motion's contacts from pose `q` on, with those steps; None where one would miss the ground."""
    points = reference.schedule.points
    actual = point_places(reference.character, q[None], points)[0]
    active, place = ahead.active.copy(), ahead.place.copy()
    for i, point in enumerate(points):
        if not point.foot:
            continue
        body = np.array([other.body == point.body and other.foot for other in points])
        for start, stop in runs(np.asarray(active[:, body].any(axis=1))):
            rows = np.flatnonzero(active[:, i] & (np.arange(len(active)) >= start) & (np.arange(len(active)) < stop))
            if not len(rows):
                continue
            spot = place[rows[0], i].copy()
            if start == 0:
                standing = body & active[0]
                off = (actual - place[0])[standing].mean(axis=0)
                spot[:2] = actual[i, :2] if active[0, i] else spot[:2] + off[:2]
            else:
                step = next((s for s in steps if s.frame == start and s.body == point.body), None)
                spot[:2] += np.zeros(2) if step is None else step.shift
            height = float(heights_below(terrain, np.array([[*spot[:2], spot[2] + HIGHEST]]), time)[0])
            if math.isnan(height) and start > 0:
                return None
            if start == 0 and _overhangs(active[0, i], actual[i, 2], actual[body & active[0], 2], spot[2], height):
                active[rows, i], place[rows, i] = False, 0.0
                continue
            spot[2] = spot[2] if math.isnan(height) else height
            place[rows, i] = spot
            gap = float(actual[i, 2] - spot[2])
            if start == 0 and active[0, i] and gap > LIFTED:
                lifted = rows[: math.ceil(gap / SINKS * reference.rate) + 1]
                active[lifted, i], place[lifted, i] = False, 0.0
    return ContactSchedule(points, active, place)


def _overhangs(stands: bool, own: float, standing: Array, planned: float, ground: float) -> bool:
    """Whether a point of a foot that stands is over an edge: as low as the others or planned to be, but not the ground.

    Its own height and those of the points that stand now, where it is planned to stand, and the ground below it, m.
    """
    if not stands:
        return ground < planned - EDGE
    return ground < own - EDGE and own < float(standing.min()) + EDGE
