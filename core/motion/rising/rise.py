# SPDX-License-Identifier: GPL-3.0-or-later
"""A motion from how a body lies to where an action begins: roughly, for the spacetime optimiser to make possible.

Key poses are put down one after the other, each with the bodies that bear weight where they were, and cubics lead
through them. What would sink into the ground on the way is lifted out of it.
"""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np
from scipy.ndimage import gaussian_filter1d, maximum_filter1d

from ...character import Character
from ...character.tree import BALL, FREE
from ...contact.terrain import Terrain
from ...dynamics import body_poses, difference, integrate
from ..clean_up import low_passed
from ..cycle import Cycle
from ..fit import Trajectory, velocities
from ..footholds import heights_below
from ..inverse_kinematics import Targets, reach
from ..quaternions import Array, continuous
from ..schedule import ContactPoint, ContactSchedule, Mask, runs
from ..tracks import ground_under, point_places
from .figure import posed
from .lying import bearing_points, heading_of, keys_of
from .ways import TO_ITS_FEET, UP, Key

STARTS = 0.25  # s that nothing moves
ROOT_MOBILITY = 0.05  # m² and rad²; joints have 1 rad²
SLACK, ANYWHERE = 1e-5, 1e3  # m², of a point that is to be in a place, and of one that need not
TOUCHES = 0.05  # m over the ground, up to which a point of a body bears weight with it
LYING = 0.025  # m, the same of who lies
SHORTEST = 0.1  # s, of a contact
LIFTING = 0.15  # s before and after, in which a body is lifted that would sink into the ground
ABOVE = 0.002  # m over the ground, that limbs keep
PASSES = 3
CUTOFF, SPEED_CUTOFF = 4.0, 6.0  # Hz
LIGHT = ("_hand", "_forearm", "_foot")  # bodies that give way to the ground by themselves
ELBOW = "_arm_end"  # so does this point of an arm


class Goal(NamedTuple):
    """Where the motion is to lead: an action's first frames, of who faces ahead along X and stands on z = 0."""

    q: Array  # (n, nq)
    points: ContactSchedule  # over those frames
    foot: str  # the body that stands there first


class Rise(NamedTuple):
    """The motion, and what it leans on."""

    trajectory: Trajectory
    schedule: ContactSchedule
    moved: Cycle  # of the goal
    height: float  # m, of the ground that the goal's foot stands on


class _Hold(NamedTuple):
    """A point that stays in its place."""

    point: int
    start: int  # frame
    stop: int  # the last
    place: Array  # (3,)


def rise(character: Character, terrain: Terrain, q: Array, goal: Goal, rate: float, slower: float = 1.0) -> Rise:
    """From positions (nq,) on, in the keys' own time or so many times it."""
    feet = [point for point in goal.points.points if point.foot]
    points = (*feet, *(point for point in bearing_points(character) if not point.foot))
    keys = keys_of(character, q, goal.foot)
    laid = _Laid(character, terrain, points, q, goal, slower)
    for number, key in enumerate(keys):
        laid.put(key, sets_foot=number == len(keys) - len(TO_ITS_FEET))
    way, joins, holds = laid.way(rate)
    fours = round(laid.times[-len(TO_ITS_FEET) - 1] * rate)
    way = _on_ground(character, terrain, points, way, holds, rate)
    trajectory = Trajectory(rate, way, velocities(character, way, rate, SPEED_CUTOFF))
    schedule = _schedule(character, terrain, points, trajectory, holds, fours, _moved(goal.points, laid), joins)
    return Rise(trajectory, schedule, laid.moved, laid.height)


class _Laid:
    """Key poses that were put down so far."""

    def __init__(
        self,
        character: Character,
        terrain: Terrain,
        points: Sequence[ContactPoint],
        q: Array,
        goal: Goal,
        slower: float,
    ) -> None:
        self._character, self._terrain, self._points, self._goal = character, terrain, points, goal
        self._heading, self._slower = heading_of(q), slower
        self.poses, self.times = [q, q], [0.0, STARTS]
        self.moved, self.height = Cycle((0.0, 0.0), self._heading), 0.0
        self._standing: dict[int, tuple[float, Array]] = {}  # since when, and where
        self._holds: list[tuple[int, float, float, Array]] = []
        self._knows_goal = False

    def put(self, key: Key, *, sets_foot: bool) -> None:
        """The next; one `sets_foot`, from which on it is known where the goal lies."""
        pose = _turned(self._character, posed(self._character, key.figure), Cycle((0.0, 0.0), self._heading))
        pose = self._over(pose, key.over)
        if sets_foot:
            turned = _turned(self._character, self._goal.q[0], self.moved)
            here, there = (self._sole(one) for one in (pose, turned))
            x, y = (here - there)[:2].tolist()
            self.moved, self.height, self._knows_goal = Cycle((x, y), self._heading), self._ground(here), True
        bearing, leans = (
            {i for i, point in enumerate(self._points) if not names.isdisjoint((point.name, self._body(point)))}
            for names in (set(key.holds), set(key.leans))
        )
        time = self.times[-1] + self._slower * key.seconds
        for i, (since, place) in list(self._standing.items()):
            if i not in bearing:
                leaves = self.times[-1] + (0.5 * (time - self.times[-1]) if i in leans else 0.0)
                self._holds.append((i, since, leaves, place))
                del self._standing[i]
        pose = self._reached(pose)
        for i in sorted(bearing - self._standing.keys()):
            self._set_down(i, pose, time)
        self.poses.append(self._reached(pose))
        self.times.append(time)

    def way(self, rate: float) -> tuple[Array, int, list[_Hold]]:
        """Frames through all poses and on into the goal, the frame in which that begins, and what stays in place."""
        ahead = np.array([_turned(self._character, q, self.moved) for q in self._goal.q])
        ahead[:, 2] += self.height
        joins = round((self.times[-1] + self._slower * UP) * rate)
        begun = _through(self._character, [*self.poses, ahead[0]], [*self.times, joins / rate], ahead, rate)
        holds = [_Hold(i, round(a * rate), round(b * rate), place) for i, a, b, place in self._holds]
        holds += [_Hold(i, round(since * rate), joins, place) for i, (since, place) in self._standing.items()]
        return np.concatenate((begun[:joins], ahead)), joins, holds

    def _body(self, point: ContactPoint) -> str:
        return self._character.bodies[point.body].name

    def _ground(self, place: Array) -> float:
        height = float(heights_below(self._terrain, (place + np.array([0.0, 0.0, 0.5]))[None])[0])
        return height if np.isfinite(height) else float(place[2])

    def _sole(self, q: Array) -> Array:
        own = [point for point in self._points if self._character.bodies[point.body].name == self._goal.foot]
        middle: Array = point_places(self._character, q[None], own)[0].mean(axis=0)
        return middle

    def _set_down(self, i: int, pose: Array, time: float) -> None:
        """From now on a point stays on the ground, if that is near; the goal's foot stands as it has it."""
        point, goal = self._points[i], self._goal.points
        if self._knows_goal and self._character.bodies[point.body].name == self._goal.foot:
            place = self.moved.move_points(goal.place[0, goal.names.index(point.name)])
            self._standing[i] = (time, place + np.array([0.0, 0.0, self.height]))
            return
        place = point_places(self._character, pose[None], [point])[0, 0]
        level = self._ground(place) + point.radius
        if place[2] - level < TOUCHES:
            self._standing[i] = (time, np.array([place[0], place[1], level]))

    def _over(self, pose: Array, body: str) -> Array:
        """A pose with a body where it was before, along the ground, and lying on that."""
        b = self._character.index(body)
        before = body_poses(self._character, self.poses[-1])[0][b]
        result = pose.copy()
        result[:2] += (before - body_poses(self._character, pose)[0][b])[:2]
        own = [point for point in self._points if not self._character.bodies[point.body].name.endswith("_hand")]
        lowest = point_places(self._character, result[None], own)[0, :, 2] - [point.radius for point in own]
        result[2] += self._ground(before) - float(lowest.min())
        return result

    def _reached(self, pose: Array) -> Array:
        """A pose whose standing points are in their places."""
        if not self._standing:
            return pose
        place = np.array([place for _, place in self._standing.values()])[None]
        targets = _targets([self._points[i] for i in self._standing], place, np.full(place.shape, SLACK))
        q: Array = reach(self._character, pose[None], targets, _mobility(self._character))[0]
        return q


def _turned(character: Character, q: Array, moved: Cycle) -> Array:
    return moved.move_state(character, q, np.zeros(character.nv))[0]


def _moved(schedule: ContactSchedule, laid: _Laid) -> ContactSchedule:
    """The goal's contacts, where it is."""
    place = laid.moved.move_points(schedule.place) + np.array([0.0, 0.0, laid.height])
    return ContactSchedule(schedule.points, schedule.active, np.where(schedule.active[..., None], place, 0.0))


def _targets(points: Sequence[ContactPoint], place: Array, slack: Array) -> Targets:
    return Targets(
        np.array([point.body for point in points], dtype=np.int64),
        np.array([point.position for point in points], dtype=np.float64),
        np.ascontiguousarray(place),
        np.ascontiguousarray(slack),
    )


def _mobility(character: Character) -> Array:
    mobility = np.ones(character.nv)
    mobility[:6] = ROOT_MOBILITY
    return mobility


def _through(character: Character, poses: list[Array], times: list[float], ahead: Array, rate: float) -> Array:
    """Frames through poses at times: cubics in each one's tangent space, with velocities from its neighbours."""
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


def _on_ground(
    character: Character,
    terrain: Terrain,
    points: Sequence[ContactPoint],
    q: Array,
    holds: Iterable[_Hold],
    rate: float,
) -> Array:
    """Poses in which what bears weight stays in its place, and the rest above the ground; smooth in between."""
    radius = np.array([point.radius for point in points])
    heavy = [i for i, point in enumerate(points) if not _is_light(character, point)]
    height = ground_under(terrain, point_places(character, q, points), radius, rate).height[:, heavy]
    near = round(LIFTING * rate)
    depth = maximum_filter1d(np.maximum(-height, 0.0).max(axis=1), 2 * near + 1)
    q = q.copy()
    q[1:, 2] += gaussian_filter1d(depth, 0.5 * near, mode="nearest", truncate=2.0)[1:]
    for _ in range(PASSES):
        place = point_places(character, q, points)
        slack = np.full(place.shape, ANYWHERE)
        height = ground_under(terrain, place, radius, rate).height
        place[..., 2] += np.maximum(ABOVE - height, 0.0)
        slack[..., 2] = np.where(height < ABOVE, SLACK, ANYWHERE)
        slack[0] = ANYWHERE
        for hold in holds:
            place[hold.start : hold.stop + 1, hold.point] = hold.place
            slack[hold.start : hold.stop + 1, hold.point] = SLACK
        q = reach(character, q, _targets(points, place, slack), _mobility(character))
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
    holds: Iterable[_Hold],
    fours: int,
    goal: ContactSchedule,
    joins: int,
) -> ContactSchedule:
    """What bears weight: up to hands and knees all that is near the ground, where it goes; then what stays there."""
    rate, frames = trajectory.rate, len(trajectory.q)
    place = point_places(character, trajectory.q, points)
    height = ground_under(terrain, place, np.array([point.radius for point in points]), rate).height
    place[..., 2] -= height
    active: Mask = (height < LYING) & (np.arange(frames) < fours)[:, None]
    for i, point in enumerate(points):
        if point.foot:
            still = round(STARTS * rate)
            active[still:, i] = False
            place[:still, i] = place[0, i]
        for start, stop in runs(active[:, i]):
            active[start:stop, i] &= stop - start >= SHORTEST * rate
    for hold in holds:
        active[hold.start : hold.stop + 1, hold.point] = True
        place[hold.start : hold.stop + 1, hold.point] = hold.place
    known = {point.name: i for i, point in enumerate(points)}
    for i, point in enumerate(goal.points):
        if point.name in known:
            on = goal.active[:, i] & (np.arange(len(goal.active)) > 0)
            own = known[point.name]
            active[joins:, own] |= on
            place[joins:, own][on] = goal.place[on, i]
    return ContactSchedule(tuple(points), active, np.where(active[..., None], place, 0.0))
