# SPDX-License-Identifier: GPL-3.0-or-later
"""The way up by key poses: put down one after the other, each with the bodies that bear weight where they were."""

from collections.abc import Sequence

import numpy as np

from ...character import Character
from ...contact.terrain import Terrain
from ...dynamics import body_poses
from ..cycle import Cycle
from ..quaternions import Array
from ..schedule import ContactPoint
from ..tracks import point_places
from .figure import posed
from .lying import heading_of, keys_of
from .rough import SLACK, STARTS, TOUCHES, Goal, Hold, Rough, ground_at, reached, sole, through, turned
from .ways import TO_ITS_FEET, UP, Key


def by_keys(
    character: Character,
    terrain: Terrain,
    points: Sequence[ContactPoint],
    q: Array,
    goal: Goal,
    rate: float,
    slower: float,
) -> Rough:
    """From positions (nq,) on, in the keys' own time or so many times it."""
    keys = keys_of(character, q, goal.foot)
    laid = _Laid(character, terrain, points, q, goal, slower)
    for number, key in enumerate(keys):
        laid.put(key, sets_foot=number == len(keys) - len(TO_ITS_FEET))
    return laid.way(rate)


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
        pose = turned(self._character, posed(self._character, key.figure), Cycle((0.0, 0.0), self._heading))
        pose = self._over(pose, key.over)
        if sets_foot:
            goal = turned(self._character, self._goal.q[0], self.moved)
            here, there = (sole(self._character, self._points, self._goal.foot, one) for one in (pose, goal))
            x, y = (here - there)[:2].tolist()
            self.moved, self.height = Cycle((x, y), self._heading), ground_at(self._terrain, here)
            self._knows_goal = True
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

    def way(self, rate: float) -> Rough:
        """Frames through all poses and on into the goal."""
        ahead = np.array([turned(self._character, q, self.moved) for q in self._goal.q])
        ahead[:, 2] += self.height
        joins = round((self.times[-1] + self._slower * UP) * rate)
        begun = through(self._character, [*self.poses, ahead[0]], [*self.times, joins / rate], ahead, rate)
        holds = [Hold(i, round(a * rate), round(b * rate), place) for i, a, b, place in self._holds]
        holds += [Hold(i, round(since * rate), joins, place) for i, (since, place) in self._standing.items()]
        lies = round(self.times[-len(TO_ITS_FEET) - 1] * rate)
        return Rough(np.concatenate((begun[:joins], ahead)), joins, lies, holds, self.moved, self.height)

    def _body(self, point: ContactPoint) -> str:
        return self._character.bodies[point.body].name

    def _set_down(self, i: int, pose: Array, time: float) -> None:
        """From now on a point stays on the ground, if that is near; the goal's foot stands as it has it."""
        point, goal = self._points[i], self._goal.points
        if self._knows_goal and self._character.bodies[point.body].name == self._goal.foot:
            place = self.moved.move_points(goal.place[0, goal.names.index(point.name)])
            self._standing[i] = (time, place + np.array([0.0, 0.0, self.height]))
            return
        place = point_places(self._character, pose[None], [point])[0, 0]
        level = ground_at(self._terrain, place) + point.radius
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
        result[2] += ground_at(self._terrain, before) - float(lowest.min())
        return result

    def _reached(self, pose: Array) -> Array:
        """A pose whose standing points are in their places."""
        if not self._standing:
            return pose
        place = np.array([place for _, place in self._standing.values()])[None]
        points = [self._points[i] for i in self._standing]
        q: Array = reached(self._character, pose[None], points, place, np.full(place.shape, SLACK))[0]
        return q
