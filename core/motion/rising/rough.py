# SPDX-License-Identifier: GPL-3.0-or-later
"""What ways up have in common: where they lead, what stays in its place meanwhile, and cubics through poses."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ...character import Character
from ...contact.terrain import Terrain
from ...dynamics import difference, integrate
from ..cycle import Cycle
from ..footholds import heights_below
from ..inverse_kinematics import Targets, reach
from ..quaternions import Array
from ..schedule import ContactPoint, ContactSchedule
from ..tracks import point_places

STARTS = 0.25  # s that nothing moves
ROOT_MOBILITY = 0.05  # m² and rad²; joints have 1 rad²
SLACK = 1e-5  # m², of a point that is to be in a place
TOUCHES = 0.05  # m over the ground, up to which a point of a body bears weight with it


class Goal(NamedTuple):
    """Where the motion is to lead: an action's first frames, of who faces ahead along X and stands on z = 0."""

    q: Array  # (n, nq)
    points: ContactSchedule  # over those frames
    foot: str  # the body that stands there first


class Hold(NamedTuple):
    """A point that stays in its place."""

    point: int
    start: int  # frame
    stop: int  # the last
    place: Array  # (3,)


class Rough(NamedTuple):
    """Frames that lead into the goal, before anything is put on the ground."""

    q: Array  # (n, nq)
    joins: int  # the frame in which the goal begins
    lies: int  # the frame up to which whatever is near the ground bears weight
    holds: list[Hold]
    moved: Cycle  # of the goal
    height: float  # m, of the ground that the goal's foot stands on


def turned(character: Character, q: Array, moved: Cycle) -> Array:
    """A pose elsewhere."""
    return moved.move_state(character, q, np.zeros(character.nv))[0]


def ground_at(terrain: Terrain, place: Array) -> float:
    """The height of the ground at a place, m; the place's own where there is none."""
    height = float(heights_below(terrain, (place + np.array([0.0, 0.0, 0.5]))[None])[0])
    return height if np.isfinite(height) else float(place[2])


def sole(character: Character, points: Sequence[ContactPoint], foot: str, q: Array) -> Array:
    """The middle (3,) of a foot's points."""
    own = [point for point in points if character.bodies[point.body].name == foot]
    middle: Array = point_places(character, q[None], own)[0].mean(axis=0)
    return middle


def reached(character: Character, q: Array, points: Sequence[ContactPoint], place: Array, slack: Array) -> Array:
    """Poses (n, nq) with points in places (n, np, 3), as strictly as slack (n, np, 3) says, m²."""
    targets = Targets(
        np.array([point.body for point in points], dtype=np.int64),
        np.array([point.position for point in points], dtype=np.float64),
        np.ascontiguousarray(place),
        np.ascontiguousarray(slack),
    )
    mobility = np.ones(character.nv)
    mobility[:6] = ROOT_MOBILITY
    return reach(character, q, targets, mobility)


def through(character: Character, poses: Sequence[Array], times: Sequence[float], ahead: Array, rate: float) -> Array:
    """Frames through poses at times: cubics in each one's tangent space, with velocities from its neighbours.

    They begin at rest, and lead with its own velocity into what is `ahead`, whose first frame is the last pose.
    """
    speed = np.zeros((len(poses), character.nv))
    for k in range(2, len(poses) - 1):
        speed[k] = difference(character, poses[k - 1], poses[k + 1]) / (times[k + 1] - times[k - 1])
    speed[-1] = difference(character, ahead[0], ahead[1]) * rate
    frames = []
    for time in np.arange(round(times[-1] * rate)) / rate:
        k = min(int(np.searchsorted(times, time, side="right")) - 1, len(poses) - 2)
        span = times[k + 1] - times[k]
        x = (time - times[k]) / span
        step = (3.0 * x**2 - 2.0 * x**3) * difference(character, poses[k], poses[k + 1])
        bends = span * ((x - 2.0 * x**2 + x**3) * speed[k] + (x**3 - x**2) * speed[k + 1])
        frames.append(integrate(character, poses[k], step + bends, 1.0))
    return np.array(frames)
