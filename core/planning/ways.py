# SPDX-License-Identifier: GPL-3.0-or-later
"""The best next action along a way on the ground, which may end: a few actions are looked ahead, the rest is a value.

So the planner sees bends before it is in them, and puts its last steps so that it stands where the way ends.
"""

import math
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .actions import Action
from .places import Errand, Values
from .search import BREADTH, MOST, Line, Moves, Scratch, Weights, nearest, search, tried

Array = NDArray[np.float64]

DEPTH = 4  # actions that are looked ahead
DEEPER, END = 6, 5.0  # and so many in the last so many m, for steps to fall where the way ends


class Pose(NamedTuple):
    """On the ground."""

    x: float
    y: float
    heading: float  # rad


class Trim(NamedTuple):
    """By how much an action ends elsewhere than by itself: small enough for who is led there to follow."""

    turn: float = 0.0  # rad
    x: float = 0.0  # m, in the world
    y: float = 0.0


NONE = Trim()


@dataclass(frozen=True, eq=False)
class Way:
    """Evenly spaced places to go along, and whether to stand at the last."""

    places: Array  # (n, 2) m
    heading: Array  # (n,) rad
    stops: bool = True

    @cached_property
    def spacing(self) -> float:
        """Between two places, m."""
        return float(np.linalg.norm(self.places[1] - self.places[0]))

    def nearest(self, x: float, y: float) -> int:
        """Of all its places."""
        return int(np.argmin(np.hypot(self.places[:, 0] - x, self.places[:, 1] - y)))

    def along(self, place: int, x: float, y: float) -> int:
        """The nearest of those around a place: a way may cross itself."""
        return int(nearest(place, x, y, self.line))

    @cached_property
    def line(self) -> Line:
        """As the search reads it."""
        ahead = np.column_stack([np.cos(self.heading), np.sin(self.heading)])
        places, heading = (np.ascontiguousarray(one, dtype=np.float64) for one in (self.places, self.heading))
        return Line(places, heading, ahead, self.spacing, self.stops)


class Best(NamedTuple):
    """An action."""

    number: int
    cost: float  # with all after it
    trim: Trim


class Ahead:
    """Chooses along ways, at one wanted speed."""

    def __init__(
        self,
        actions: tuple[Action, ...],
        values: Values,
        wanted: float,
        usual: float,
        errand: Errand,
        depth: int = DEPTH,
        deeper: int = DEEPER,
        breadth: tuple[int, ...] = BREADTH,
    ) -> None:
        """Looks that many actions ahead, and of each level's that many; those of the last for all levels after it."""
        self._depth, self._deeper, self._values = depth, deeper, values
        standing = {action.source for action in actions if action.speed == 0.0}
        self._moves = Moves(
            seconds=np.array([action.seconds for action in actions]),
            turn=np.array([action.turn for action in actions]),
            shift=np.array([action.shift for action in actions]),
            way=np.array([action.way for action in actions]),
            standing=np.array([action.target in standing for action in actions]),
        )
        stops = [
            math.hypot(*action.shift)
            for action in actions
            if action.target in standing and action.source not in standing
        ]
        self._weights = Weights(
            aside=errand.aside,
            progress=errand.progress / usual,
            wanted=wanted,
            back=errand.back,
            end=errand.end,
            turned=errand.turned,
            trim_turn=errand.trim_turn,
            trim_place=errand.trim_place,
            trim_along=errand.trim_along,
            stopping=min(stops, default=0.0),
        )
        n, depth = len(actions), max(depth, deeper)
        self._breadth = np.array([breadth[min(level, len(breadth) - 1)] for level in range(depth)])
        self._scratch = Scratch(
            pose=np.zeros((depth + 1, 3)),
            cost=np.zeros(depth + 1),
            since=np.zeros(depth + 1),
            place=np.zeros(depth + 1, dtype=np.int64),
            last=np.zeros(depth + 1, dtype=np.int64),
            count=np.zeros(depth + 1, dtype=np.int64),
            tried=np.zeros(depth + 1, dtype=np.int64),
            able=np.zeros((depth + 1, n), dtype=np.int64),
            guess=np.zeros((depth + 1, n)),
            own=np.zeros((depth + 1, n)),
            bound=np.zeros((depth + 1, n)),
            end=np.zeros((depth + 1, n, 3)),
            short=np.zeros((depth + 1, n)),
            lacks=np.zeros(1),
            there=np.zeros((depth + 1, n), dtype=np.int64),
            looks=np.zeros(1, dtype=np.int64),
            found=np.zeros(8),
        )

    def best(self, last: int, pose: Pose, way: Way, place: int, extra: Array) -> Best:
        """The best action after one, from a pose near a place of the way; `extra` (n,) is what it costs besides."""
        scratch, moves, line, weights = self._scratch, self._moves, way.line, self._weights
        scratch.pose[0] = pose
        scratch.last[0], scratch.place[0] = last, place
        left = way.spacing * (len(way.places) - 1 - place)
        depth = self._deeper if way.stops and left < END else self._depth
        chosen = self._search(line, extra, depth)
        if self.looks == MOST and depth > self._depth:
            chosen = self._search(line, extra, self._depth)
        there = tried(chosen, 0, math.cos(pose.heading), math.sin(pose.heading), moves, line, weights, scratch)
        turn, x, y = scratch.found[5:].tolist()
        return Best(chosen, float(scratch.cost[0]), self._stretched(chosen, Trim(turn, x, y), way.heading[there]))

    def _search(self, line: Line, extra: Array, depth: int) -> int:
        moves, values, weights = self._moves, self._values, self._weights
        return int(
            search(moves, values.pairs, values.after, line, extra, weights, depth, self._breadth, MOST, self._scratch)
        )

    @property
    def looks(self) -> int:
        """How often it was looked at what may follow, for the last choice."""
        return int(self._scratch.looks[0])

    def _stretched(self, chosen: int, trim: Trim, heading: float) -> Trim:
        """With longer or shorter steps, so that the last of those that are looked ahead falls where the way ends."""
        moves, most = self._moves, self._weights.trim_along * float(self._moves.seconds[chosen])
        if moves.standing[chosen] or not moves.shift[chosen].any():
            return trim
        along = min(max(float(self._scratch.lacks[0] * moves.seconds[chosen]), -most), most)
        return trim._replace(x=trim.x + along * math.cos(heading), y=trim.y + along * math.sin(heading))
