# SPDX-License-Identifier: GPL-3.0-or-later
"""The best next action along a way on the ground, which may end: a few actions are looked ahead, the rest is a value.

All sequences of so many actions are tried on the actual way, the most promising first, and given up as soon as they
cannot cost less than the best so far (branch and bound); what comes after them is worth what the fitted values say.
So the planner sees bends before it is in them, and puts its last steps so that it stands where the way ends.
"""

import math
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..maths.kernel import kernel
from ..maths.structure import Structure
from .actions import Action
from .places import ASIDE, ASIDES, BENT, HEADINGS, Errand, Values

Array = NDArray[np.float64]

DEPTH = 4  # actions that are looked ahead
DEEPER, END = 6, 5.0  # and so many in the last so many m, for steps to fall where the way ends
ROOM = 0.4  # of what steps are made longer or shorter by, that comes of it
MISS, ASKEW = 0.15, 0.2  # m and rad off the end that are usual
UNSURE = 0.03  # m by which one who has not stopped yet may miss the end
SURE = 0.8  # share of a value beside a straight way that what comes after costs at least, however the way bends
RETURNS = 1.5  # m ahead, where who is aside heads for the way again


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
        return int(nearest(place, x, y, self.places))


class Moves(Structure):
    """What actions do, as the search reads it."""

    seconds: Array  # (n,)
    turn: Array  # (n,) rad
    shift: Array  # (n, 2) m
    way: Array  # (n, m, 2) m
    standing: NDArray[np.bool_]  # (n,) whether it ends where the character stands


class Scratch(Structure):
    """Of the search: for each action that is looked ahead, where it begins and what may follow, in order."""

    pose: Array  # (depth + 1, 3)
    cost: Array  # (depth + 1,)
    since: Array  # (depth + 1,) s from now on
    place: NDArray[np.int64]  # (depth + 1,) on the way
    last: NDArray[np.int64]  # (depth + 1,)
    count: NDArray[np.int64]  # (depth + 1,) how many may follow
    tried: NDArray[np.int64]  # (depth + 1,)
    able: NDArray[np.int64]  # (depth + 1, n)
    guess: Array  # (depth + 1, n)
    own: Array  # (depth + 1, n) without what comes after it
    bound: Array  # (depth + 1, n) what it costs at least, with what comes after it
    end: Array  # (depth + 1, n, 3) where it leads
    short: Array  # (depth + 1, n) m by which it stops before the end, per second from now on; 0 where it does not stop
    lacks: Array  # (1,) the same, of the best
    there: NDArray[np.int64]  # (depth + 1, n) on the way, at its end
    found: Array  # (8,) of the action that was tried: see `tried`


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
    ) -> None:
        self._depth, self._deeper = depth, deeper
        self._wanted, self._usual, self._errand, self._values = wanted, usual, errand, values
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
        self._stopping = min(stops, default=0.0)
        n, depth = len(actions), max(depth, deeper)
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
            found=np.zeros(8),
        )

    def best(self, last: int, pose: Pose, way: Way, place: int, extra: Array) -> Best:
        """The best action after one, from a pose near a place of the way; `extra` (n,) is what it costs besides."""
        scratch, errand, moves = self._scratch, self._errand, self._moves
        weights = np.array(
            [
                errand.aside,
                errand.progress / self._usual,
                self._wanted,
                errand.end,
                errand.turned,
                errand.trim_turn,
                errand.trim_place,
                errand.back,
                errand.trim_along,
            ]
        )
        scratch.pose[0] = pose
        scratch.last[0], scratch.place[0] = last, place
        left = way.spacing * (len(way.places) - 1 - place)
        chosen = search(
            moves,
            self._values.pairs,
            self._values.after,
            way.places,
            way.heading,
            way.spacing,
            way.stops,
            self._stopping,
            extra,
            weights,
            self._deeper if way.stops and left < END else self._depth,
            scratch,
        )
        there = tried(chosen, 0, moves, way.places, way.heading, way.spacing, weights, scratch)
        turn, x, y = scratch.found[5:].tolist()
        return Best(int(chosen), float(scratch.cost[0]), self._stretched(chosen, Trim(turn, x, y), way.heading[there]))

    def _stretched(self, chosen: int, trim: Trim, heading: float) -> Trim:
        """With longer or shorter steps, so that the last of those that are looked ahead falls where the way ends."""
        moves, most = self._moves, self._errand.trim_along * float(self._moves.seconds[chosen])
        if moves.standing[chosen] or not moves.shift[chosen].any():
            return trim
        along = min(max(float(self._scratch.lacks[0] * moves.seconds[chosen]), -most), most)
        return trim._replace(x=trim.x + along * math.cos(heading), y=trim.y + along * math.sin(heading))


@kernel
def search(
    moves: Moves,
    pairs: Array,
    after: Array,
    places: Array,
    heading: Array,
    spacing: float,
    stops: bool,
    stopping: float,
    extra: Array,
    weights: Array,
    depth: int,
    scratch: Scratch,
) -> int:
    """The number of the best first action; its cost is left in the scratch's first."""
    best, chosen, level = np.inf, -1, 0
    scratch.cost[0] = scratch.since[0] = scratch.lacks[0] = 0.0
    expand(0, moves, pairs, after, places, heading, spacing, stops, stopping, extra, weights, scratch)
    while level >= 0:
        k = scratch.tried[level]
        if k == scratch.count[level]:
            level -= 1
            continue
        scratch.tried[level] = k + 1
        if scratch.bound[level, k] >= best:
            continue
        own = scratch.own[level, k]
        number = scratch.able[level, k]
        over = stops and moves.standing[number]
        if over or level + 1 == depth:
            if scratch.guess[level, k] < best:
                best = scratch.guess[level, k]
                scratch.lacks[0] = scratch.short[level, k]
                chosen = scratch.able[0, scratch.tried[0] - 1]
            continue
        level += 1
        for axis in range(3):
            scratch.pose[level, axis] = scratch.end[level - 1, k, axis]
        scratch.cost[level], scratch.last[level] = own, number
        scratch.since[level] = scratch.since[level - 1] + moves.seconds[number]
        scratch.place[level] = scratch.there[level - 1, k]
        expand(level, moves, pairs, after, places, heading, spacing, stops, stopping, extra, weights, scratch)
    scratch.cost[0] = best
    return chosen


@kernel
def expand(
    level: int,
    moves: Moves,
    pairs: Array,
    after: Array,
    places: Array,
    heading: Array,
    spacing: float,
    stops: bool,
    stopping: float,
    extra: Array,
    weights: Array,
    scratch: Scratch,
) -> None:
    """All that may follow at a level, the cheapest by its guess first."""
    last, count = scratch.last[level], 0
    scratch.tried[level] = 0
    for number in range(len(moves.seconds)):
        cost = pairs[last, number]
        if not np.isfinite(cost):
            continue
        there = tried(number, level, moves, places, heading, spacing, weights, scratch)
        own = scratch.cost[level] + cost + scratch.found[0]
        if level == 0:
            own += extra[number]
        off = wrapped(scratch.found[3] - heading[there])
        left, short = scratch.found[4], 0.0
        if stops and moves.standing[number]:
            # on its way there steps may become a little longer or shorter
            c, s = math.cos(heading[-1]), math.sin(heading[-1])
            x, y = places[-1, 0] - scratch.found[1], places[-1, 1] - scratch.found[2]
            ahead, room = c * x + s * y, ROOM * weights[8] * scratch.since[level]
            away = math.hypot(max(abs(ahead) - room, 0.0), c * y - s * x)
            short = ahead / scratch.since[level] if level > 0 else 0.0
            own += weights[3] * missed(away, MISS) + weights[4] * missed(wrapped(scratch.found[3] - heading[-1]), ASKEW)
            guess = bound = own
        else:
            aside = aside_of(there, scratch.found[1], scratch.found[2], places, heading)
            guess = looked_up(after, number, aside, off)
            bound = own + SURE * guess
            guess += own
            if stops:
                guess += weights[3] * (UNSURE + max(stopping - left, 0.0))
        k = count
        while k > 0 and scratch.guess[level, k - 1] > guess:
            scratch.able[level, k] = scratch.able[level, k - 1]
            scratch.guess[level, k] = scratch.guess[level, k - 1]
            scratch.own[level, k] = scratch.own[level, k - 1]
            scratch.bound[level, k] = scratch.bound[level, k - 1]
            scratch.there[level, k] = scratch.there[level, k - 1]
            scratch.short[level, k] = scratch.short[level, k - 1]
            for axis in range(3):
                scratch.end[level, k, axis] = scratch.end[level, k - 1, axis]
            k -= 1
        scratch.able[level, k], scratch.guess[level, k] = number, guess
        scratch.own[level, k], scratch.there[level, k], scratch.bound[level, k] = own, there, bound
        scratch.short[level, k] = short
        for axis in range(3):
            scratch.end[level, k, axis] = scratch.found[1 + axis]
        count += 1
    scratch.count[level] = count


@kernel
def tried(
    number: int,
    level: int,
    moves: Moves,
    places: Array,
    heading: Array,
    spacing: float,
    weights: Array,
    scratch: Scratch,
) -> int:
    """Do an action from where a level begins: the place of the way at its end.

    Left in `found`: cost; x, y and heading at its end; m still to go; the trim: heading, x and y.
    """
    x, y, turned = scratch.pose[level]
    c, s = math.cos(turned), math.sin(turned)
    place = scratch.place[level]
    begun = gone(place, x, y, places, heading, spacing)
    count, aside, off = moves.way.shape[1], 0.0, 0.0
    ahead, left = moves.shift[number]
    goes = abs(ahead) + abs(left) > 0.0
    # where it leads by itself, and how it is to be turned there
    end_x, end_y = x + c * ahead - s * left, y + s * ahead + c * left
    there = nearest(place, end_x, end_y, places)
    aside = aside_of(there, end_x, end_y, places, heading)
    seconds = moves.seconds[number]
    turn, most = 0.0, weights[5] * seconds
    if goes:
        back = min(max(-aside / RETURNS, -most), most)
        turn = min(max(back - wrapped(turned + moves.turn[number] - heading[there]), -most), most)
    # turned by and by, it leads as far aside as if it had been turned by half at first
    c, s = math.cos(turned + 0.5 * turn), math.sin(turned + 0.5 * turn)
    end_x, end_y = x + c * ahead - s * left, y + s * ahead + c * left
    there = nearest(there, end_x, end_y, places)
    aside = aside_of(there, end_x, end_y, places, heading)
    # feet that stand keep the body where it is
    most = weights[6] * seconds if goes and not moves.standing[number] else 0.0
    shift = min(max(-aside, -most), most)
    shift_x, shift_y = -shift * math.sin(heading[there]), shift * math.cos(heading[there])
    for k in range(count):
        share = (k + 1.0) / count
        ahead, left = moves.way[number, k]
        at_x, at_y = x + c * ahead - s * left + share * shift_x, y + s * ahead + c * left + share * shift_y
        place = nearest(place, at_x, at_y, places)
        aside = aside_of(place, at_x, at_y, places, heading)
        aside = min(abs(aside), ASIDE)
        off += aside * aside if aside < BENT else BENT * (2.0 * aside - BENT)
    end_x, end_y = end_x + shift_x, end_y + shift_y
    place = nearest(place, end_x, end_y, places)
    come = gone(place, end_x, end_y, places, heading, spacing)
    scratch.found[0] = weights[0] * seconds * off / count
    scratch.found[0] += weights[1] * abs(come - begun - weights[2] * seconds) + weights[7] * max(begun - come, 0.0)
    scratch.found[1], scratch.found[2], scratch.found[3] = end_x, end_y, turned + moves.turn[number] + turn
    scratch.found[4] = spacing * (len(places) - 1) - come
    scratch.found[5], scratch.found[6], scratch.found[7] = turn, shift_x, shift_y
    return place


@kernel
def missed(off: float, usual: float) -> float:
    """What it counts to miss the end: half the square over what is usual, from there on its tangent."""
    size = abs(off)
    return 0.5 * size * size / usual if size < usual else size - 0.5 * usual


@kernel
def aside_of(place: int, x: float, y: float, places: Array, heading: Array) -> float:
    """How far to the left of the way somebody near a place is, m."""
    c, s = math.cos(heading[place]), math.sin(heading[place])
    aside: float = c * (y - places[place, 1]) - s * (x - places[place, 0])
    return aside


@kernel
def wrapped(angle: float) -> float:
    """From -pi on, below pi."""
    return (angle + math.pi) % (2.0 * math.pi) - math.pi


@kernel
def nearest(place: int, x: float, y: float, places: Array) -> int:
    """The place from which no neighbour is nearer."""
    dx, dy = places[place, 0] - x, places[place, 1] - y
    square = dx * dx + dy * dy
    for way in (1, -1):
        while 0 <= place + way < len(places):
            dx, dy = places[place + way, 0] - x, places[place + way, 1] - y
            other = dx * dx + dy * dy
            if other >= square:
                break
            place, square = place + way, other
    return place


@kernel
def gone(place: int, x: float, y: float, places: Array, heading: Array, spacing: float) -> float:
    """How far along the way somebody near a place is, m; straight on before its first and after its last."""
    c, s = math.cos(heading[place]), math.sin(heading[place])
    come: float = spacing * place + c * (x - places[place, 0]) + s * (y - places[place, 1])
    return come


@kernel
def looked_up(after: Array, number: int, aside: float, off: float) -> float:
    """What comes after an action that ends so far aside, so far askew."""
    row = (min(max(aside, -ASIDE), ASIDE) + ASIDE) / (2.0 * ASIDE) * (ASIDES - 1)
    column = (off % (2.0 * math.pi)) / (2.0 * math.pi) * HEADINGS
    r, k = min(int(row), ASIDES - 2), int(column)
    p, q = row - r, column - k
    left, right = k % HEADINGS, (k + 1) % HEADINGS
    low = (1.0 - q) * after[number, r, left] + q * after[number, r, right]
    high = (1.0 - q) * after[number, r + 1, left] + q * after[number, r + 1, right]
    found: float = (1.0 - p) * low + p * high
    return found
