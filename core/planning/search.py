# SPDX-License-Identifier: GPL-3.0-or-later
"""The search for the best next action: all sequences of a few actions on the actual way, the most promising first.

A sequence is given up as soon as it cannot cost less than the best so far (branch and bound); what comes after it is
worth what the fitted values say. All first actions are tried, and of those that may follow the most promising few.
"""

import math

import numpy as np
from numpy.typing import NDArray

from ..maths.kernel import kernel
from ..maths.structure import Structure
from .places import ASIDE, ASIDES, BENT, HEADINGS

Array = NDArray[np.float64]

MOST = 200  # times that it is looked at what may follow: a decision takes less than a millisecond
# how many are tried at each level at most: on sixty random paths as good as all, with a twentieth of the looks
BREADTH = (1000, 8, 6, 5, 4, 4)
ROOM = 0.4  # of what steps are made longer or shorter by, that comes of it
MISS, ASKEW = 0.15, 0.2  # m and rad off the end that are usual
UNSURE = 0.03  # m by which one who has not stopped yet may miss the end
SURE = 0.8  # share of a value beside a straight way that what comes after costs at least, however the way bends
RETURNS = 1.5  # m ahead, where who is aside heads for the way again


class Line(Structure):
    """Evenly spaced places to go along, and whether to stand at the last."""

    place: Array  # (n, 2) m
    heading: Array  # (n,) rad
    ahead: Array  # (n, 2) cosine and sine of that
    spacing: float  # m
    stops: bool


class Weights(Structure):
    """What the search judges by: an errand at one wanted speed."""

    aside: float
    progress: float  # per m
    wanted: float  # m/s
    back: float
    end: float
    turned: float
    trim_turn: float
    trim_place: float
    trim_along: float
    stopping: float  # m that the shortest stop takes


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
    looks: NDArray[np.int64]  # (1,) how often it was looked at what may follow
    found: Array  # (8,) of the action that was tried: see `tried`


@kernel
def search(
    moves: Moves,
    pairs: Array,
    after: Array,
    line: Line,
    extra: Array,
    weights: Weights,
    depth: int,
    breadth: NDArray[np.int64],
    most: int,
    scratch: Scratch,
) -> int:
    """The number of the best first action that is found in so many looks; its cost is left in the scratch's first."""
    best, chosen, level, looks = np.inf, -1, 0, 1
    scratch.cost[0] = scratch.since[0] = scratch.lacks[0] = 0.0
    expand(0, moves, pairs, after, line, extra, weights, scratch)
    while level >= 0:
        k = scratch.tried[level]
        if k == min(scratch.count[level], breadth[level]):
            level -= 1
            continue
        scratch.tried[level] = k + 1
        if scratch.bound[level, k] >= best:
            continue
        own = scratch.own[level, k]
        number = scratch.able[level, k]
        over = line.stops and moves.standing[number]
        if over or level + 1 == depth:
            if scratch.guess[level, k] < best:
                best = scratch.guess[level, k]
                scratch.lacks[0] = scratch.short[level, k]
                chosen = scratch.able[0, scratch.tried[0] - 1]
            continue
        if looks == most:
            break
        looks += 1
        level += 1
        for axis in range(3):
            scratch.pose[level, axis] = scratch.end[level - 1, k, axis]
        scratch.cost[level], scratch.last[level] = own, number
        scratch.since[level] = scratch.since[level - 1] + moves.seconds[number]
        scratch.place[level] = scratch.there[level - 1, k]
        expand(level, moves, pairs, after, line, extra, weights, scratch)
    scratch.cost[0], scratch.looks[0] = best, looks
    return chosen


@kernel
def expand(
    level: int,
    moves: Moves,
    pairs: Array,
    after: Array,
    line: Line,
    extra: Array,
    weights: Weights,
    scratch: Scratch,
) -> None:
    """All that may follow at a level, the cheapest by its guess first."""
    last, count, end = scratch.last[level], 0, len(line.place) - 1
    scratch.tried[level] = 0
    c, s = math.cos(scratch.pose[level, 2]), math.sin(scratch.pose[level, 2])
    for number in range(len(moves.seconds)):
        cost = pairs[last, number]
        if not np.isfinite(cost):
            continue
        there = tried(number, level, c, s, moves, line, weights, scratch)
        own = scratch.cost[level] + cost + scratch.found[0]
        if level == 0:
            own += extra[number]
        left, short = scratch.found[4], 0.0
        if line.stops and moves.standing[number]:
            # on its way there steps may become a little longer or shorter
            x, y = line.place[end, 0] - scratch.found[1], line.place[end, 1] - scratch.found[2]
            way_x, way_y = line.ahead[end]
            ahead, room = way_x * x + way_y * y, ROOM * weights.trim_along * scratch.since[level]
            away = math.hypot(max(abs(ahead) - room, 0.0), way_x * y - way_y * x)
            short = ahead / scratch.since[level] if level > 0 else 0.0
            own += weights.end * missed(away, MISS)
            own += weights.turned * missed(wrapped(scratch.found[3] - line.heading[end]), ASKEW)
            guess = bound = own
        else:
            aside = aside_of(there, scratch.found[1], scratch.found[2], line)
            guess = looked_up(after, number, aside, scratch.found[3] - line.heading[there])
            bound = own + SURE * guess
            guess += own
            if line.stops:
                guess += weights.end * (UNSURE + max(weights.stopping - left, 0.0))
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
    number: int, level: int, c: float, s: float, moves: Moves, line: Line, weights: Weights, scratch: Scratch
) -> int:
    """Do an action from where a level begins, with the heading's cosine and sine: the place of the way at its end.

    Left in `found`: cost; x, y and heading at its end; m still to go; the trim: heading, x and y.
    """
    x, y, turned = scratch.pose[level]
    place = scratch.place[level]
    begun = gone(place, x, y, line)
    count, off = moves.way.shape[1], 0.0
    ahead, left = moves.shift[number]
    goes = abs(ahead) + abs(left) > 0.0
    end_x, end_y = x + c * ahead - s * left, y + s * ahead + c * left
    there = nearest(place, end_x, end_y, line)
    seconds = moves.seconds[number]
    turn, most = 0.0, weights.trim_turn * seconds
    if goes and most > 0.0:
        aside = aside_of(there, end_x, end_y, line)
        back = min(max(-aside / RETURNS, -most), most)
        turn = min(max(back - wrapped(turned + moves.turn[number] - line.heading[there]), -most), most)
        # turned by and by, it leads as far aside as if it had been turned by half at first
        c, s = math.cos(turned + 0.5 * turn), math.sin(turned + 0.5 * turn)
        end_x, end_y = x + c * ahead - s * left, y + s * ahead + c * left
        there = nearest(there, end_x, end_y, line)
    # feet that stand keep the body where it is
    most = weights.trim_place * seconds if goes and not moves.standing[number] else 0.0
    shift = min(max(-aside_of(there, end_x, end_y, line), -most), most)
    shift_x, shift_y = -shift * line.ahead[there, 1], shift * line.ahead[there, 0]
    for k in range(count):
        share = (k + 1.0) / count
        ahead, left = moves.way[number, k]
        at_x, at_y = x + c * ahead - s * left + share * shift_x, y + s * ahead + c * left + share * shift_y
        place = nearest(place, at_x, at_y, line)
        aside = min(abs(aside_of(place, at_x, at_y, line)), ASIDE)
        off += aside * aside if aside < BENT else BENT * (2.0 * aside - BENT)
    end_x, end_y = end_x + shift_x, end_y + shift_y
    place = nearest(place, end_x, end_y, line)
    come = gone(place, end_x, end_y, line)
    scratch.found[0] = weights.aside * seconds * off / count
    scratch.found[0] += weights.progress * abs(come - begun - weights.wanted * seconds)
    scratch.found[0] += weights.back * max(begun - come, 0.0)
    scratch.found[1], scratch.found[2], scratch.found[3] = end_x, end_y, turned + moves.turn[number] + turn
    scratch.found[4] = line.spacing * (len(line.place) - 1) - come
    scratch.found[5], scratch.found[6], scratch.found[7] = turn, shift_x, shift_y
    return place


@kernel
def missed(off: float, usual: float) -> float:
    """What it counts to miss the end: half the square over what is usual, from there on its tangent."""
    size = abs(off)
    return 0.5 * size * size / usual if size < usual else size - 0.5 * usual


@kernel
def aside_of(place: int, x: float, y: float, line: Line) -> float:
    """How far to the left of the way somebody near a place is, m."""
    c, s = line.ahead[place]
    aside: float = c * (y - line.place[place, 1]) - s * (x - line.place[place, 0])
    return aside


@kernel
def wrapped(angle: float) -> float:
    """From -pi on, below pi."""
    return angle - 2.0 * math.pi * math.floor((angle + math.pi) / (2.0 * math.pi))


@kernel
def nearest(place: int, x: float, y: float, line: Line) -> int:
    """The place from which no neighbour is nearer, from one on that is as far along as if the way were straight."""
    last = len(line.place) - 1
    c, s = line.ahead[place]
    along = c * (x - line.place[place, 0]) + s * (y - line.place[place, 1])
    place = min(max(place + round(along / line.spacing), 0), last)
    dx, dy = line.place[place, 0] - x, line.place[place, 1] - y
    square = dx * dx + dy * dy
    for way in (1, -1):
        while 0 <= place + way <= last:
            dx, dy = line.place[place + way, 0] - x, line.place[place + way, 1] - y
            other = dx * dx + dy * dy
            if other >= square:
                break
            place, square = place + way, other
    return place


@kernel
def gone(place: int, x: float, y: float, line: Line) -> float:
    """How far along the way somebody near a place is, m; straight on before its first and after its last."""
    c, s = line.ahead[place]
    come: float = line.spacing * place + c * (x - line.place[place, 0]) + s * (y - line.place[place, 1])
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
