# SPDX-License-Identifier: GPL-3.0-or-later
"""A motion from how a body lies to where an action begins: roughly, for the spacetime optimiser to make possible.

It leads by key poses, or by an action that shows a way up. What would sink into the ground on the way is lifted out
of it.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from scipy.ndimage import gaussian_filter1d, maximum_filter1d

from ...character import Character
from ...character.tree import BALL, FREE
from ...contact.terrain import Terrain
from ..clean_up import low_passed
from ..cycle import Cycle
from ..fit import Trajectory, velocities
from ..quaternions import Array, continuous
from ..schedule import ContactPoint, ContactSchedule, Mask, runs
from ..tracks import ground_under, point_places
from .by_action import by_action
from .by_keys import by_keys
from .lying import bearing_points
from .rough import SLACK, STARTS, Goal, Rough, reached

ANYWHERE = 1e3  # m², of a point that need not be in a place
LYING = 0.025  # m, the same of who lies
SHORTEST = 0.1  # s, of a contact
LIFTING = 0.15  # s before and after, in which a body is lifted that would sink into the ground
SETTLES = 0.5  # s from when it moves, in which who lies comes down on the ground
ABOVE = 0.002  # m over the ground, that limbs keep
PASSES = 3
CUTOFF, SPEED_CUTOFF = 4.0, 6.0  # Hz
LIGHT = ("_hand", "_forearm", "_foot")  # bodies that give way to the ground by themselves
ELBOW = "_arm_end"  # so does this point of an arm


class Rise(NamedTuple):
    """The motion, and what it leans on."""

    trajectory: Trajectory
    schedule: ContactSchedule
    moved: Cycle  # of the goal
    height: float  # m, of the ground that the goal's foot stands on


def rise(
    character: Character,
    terrain: Terrain,
    q: Array,
    goal: Goal,
    rate: float,
    slower: float = 1.0,
    named: Array | None = None,
) -> Rise:
    """From positions (nq,) on, by key poses or by an action (n, nq) at the same rate that is `named`.

    In the usual time or so many times it; what is named keeps its own.
    """
    feet = [point for point in goal.points.points if point.foot]
    points = (*feet, *(point for point in bearing_points(character) if not point.foot))
    if named is None:
        rough = by_keys(character, terrain, points, q, goal, rate, slower)
    else:
        rough = by_action(character, terrain, points, q, goal, rate, slower, named)
    way = _on_ground(character, terrain, points, rough, rate)
    trajectory = Trajectory(rate, way, velocities(character, way, rate, SPEED_CUTOFF))
    schedule = _schedule(character, terrain, points, trajectory, rough, _moved(goal.points, rough))
    return Rise(trajectory, schedule, rough.moved, rough.height)


def _moved(schedule: ContactSchedule, rough: Rough) -> ContactSchedule:
    """The goal's contacts, where it is."""
    place = rough.moved.move_points(schedule.place) + np.array([0.0, 0.0, rough.height])
    return ContactSchedule(schedule.points, schedule.active, np.where(schedule.active[..., None], place, 0.0))


def _on_ground(
    character: Character,
    terrain: Terrain,
    points: Sequence[ContactPoint],
    rough: Rough,
    rate: float,
) -> Array:
    """Poses in which what bears weight stays in its place, and the rest above the ground; smooth in between.

    Who lies rests on what is lowest.
    """
    q = rough.q
    radius = np.array([point.radius for point in points])
    heavy = [i for i, point in enumerate(points) if not _is_light(character, point)]
    height = ground_under(terrain, point_places(character, q, points), radius, rate).height[:, heavy]
    near = round(LIFTING * rate)
    since = np.arange(len(q)) / rate - STARTS
    settled = np.where(np.arange(len(q)) < rough.lies, np.clip(since / SETTLES, 0.0, 1.0), 0.0)
    depth = -height.min(axis=1)
    depth = maximum_filter1d(np.where(depth > 0.0, depth, settled * depth), 2 * near + 1)
    q = q.copy()
    q[1:, 2] += gaussian_filter1d(depth, 0.5 * near, mode="nearest", truncate=2.0)[1:]
    for _ in range(PASSES):
        place = point_places(character, q, points)
        slack = np.full(place.shape, ANYWHERE)
        height = ground_under(terrain, place, radius, rate).height
        place[..., 2] += np.maximum(ABOVE - height, 0.0)
        slack[..., 2] = np.where(height < ABOVE, SLACK, ANYWHERE)
        slack[0] = ANYWHERE
        for hold in rough.holds:
            place[hold.start : hold.stop + 1, hold.point] = hold.place
            slack[hold.start : hold.stop + 1, hold.point] = SLACK
        q = reached(character, q, points, place, slack)
        q = low_passed(character, _continuous(character, q), rate, CUTOFF)
    return q


def _is_light(character: Character, point: ContactPoint) -> bool:
    return character.bodies[point.body].name.endswith(LIGHT) or point.name.endswith(ELBOW)


def _continuous(character: Character, q: Array) -> Array:
    """Poses whose quaternions have no jumps of sign."""
    result, tree = q.copy(), character.tree
    for b in np.flatnonzero(np.isin(tree.joint, (BALL, FREE))):
        start = int(tree.position_start[b]) + (3 if tree.joint[b] == FREE else 0)
        result[:, start : start + 4] = continuous(q[:, start : start + 4])
    return result


def _schedule(
    character: Character,
    terrain: Terrain,
    points: Sequence[ContactPoint],
    trajectory: Trajectory,
    rough: Rough,
    goal: ContactSchedule,
) -> ContactSchedule:
    """What bears weight: of who lies all that is near the ground, where it goes; then what stays there."""
    rate, frames = trajectory.rate, len(trajectory.q)
    place = point_places(character, trajectory.q, points)
    height = ground_under(terrain, place, np.array([point.radius for point in points]), rate).height
    place[..., 2] -= height
    active: Mask = (height < LYING) & (np.arange(frames) < rough.lies)[:, None]
    for i, point in enumerate(points):
        if point.foot:
            still = round(STARTS * rate)
            active[still:, i] = False
            place[:still, i] = place[0, i]
        for start, stop in runs(active[:, i]):
            active[start:stop, i] &= stop - start >= SHORTEST * rate
    for hold in rough.holds:
        active[hold.start : hold.stop + 1, hold.point] = True
        place[hold.start : hold.stop + 1, hold.point] = hold.place
    known = {point.name: i for i, point in enumerate(points)}
    for i, point in enumerate(goal.points):
        if point.name in known:
            on = goal.active[:, i] & (np.arange(len(goal.active)) > 0)
            own = known[point.name]
            active[rough.joins :, own] |= on
            place[rough.joins :, own][on] = goal.place[on, i]
    return ContactSchedule(tuple(points), active, np.where(active[..., None], place, 0.0))
