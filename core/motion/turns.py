# SPDX-License-Identifier: GPL-3.0-or-later
"""A bone that turns over within a few frames, mended: which stretches of its motion to keep, and what to put between.

Turns cut a bone's time line into stretches. Dynamic programming keeps those that fit together, at speeds at which limbs
move, and that lie near the bone's usual pose, and drops as little time as it can. A dropped stretch that is an ordinary
motion turned by the same angle throughout is turned back; any other is filled in from both sides, and where its bone
still points where it should, about that direction only.
"""

import math
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from . import quaternions
from .quaternions import Array

QUICK = 25.0  # rad/s: limbs move as quickly as this, in kicks, flips and throws
FITS = math.radians(20.0)  # what a capture may be off by besides
MISFIT = 0.5  # s that are dropped rather than bear another radian of misfit
UNUSUAL = math.radians(100.0)  # from the usual pose: a stretch so far off is not worth more than what fills it
NEAR_REST = math.radians(50.0)
TURNED_ALIKE = math.radians(60.0)  # how far the turn at the one end of a stretch may be from the one at the other
HALF_TURN = math.radians(140.0)
ALIKE = math.cos(math.radians(30.0))
LONG, LEANS = 0.3, math.radians(15.0)  # s; what an end is off by matters the more the longer a stretch stands so
LONGEST_TURN = 0.25  # s
SHORTEST_STRETCH = 0.05  # s: what is shorter tells nothing of how it is turned
NEARLY = math.radians(15.0)
SAME_WAY = math.radians(25.0)  # of a bone's direction, across a gap's edges: only the twist is broken

Stretch = tuple[int, int]  # first sample, and the one after the last


class Mended(NamedTuple):
    """A bone's rotations, and which samples were turned back and which were filled in."""

    turn: Array  # (n, 4)
    turned_back: NDArray[np.bool_]
    filled: NDArray[np.bool_]


def mend(turn: Array, broken: NDArray[np.bool_], rate: float, along: Array, rest: Array) -> Mended:
    """The rotations (n, 4) of a bone in its parent's frame, without the turns at the samples `broken` (n,).

    A broken sample is one that lies within a turn, or the first after one. `along` (3,) is the bone's direction, `rest`
    (4,) its rotation at rest, which says which side up it belongs where some of the motion is near it.
    """
    stretches = _stretches(broken)
    usual = _usual(turn, stretches, rest)
    kept = _fitting(turn, stretches, usual, rate)
    result = turn.copy()
    turned_back = np.zeros(len(turn), dtype=np.bool_)
    good = np.zeros(len(turn), dtype=np.bool_)
    for place in kept:
        good[slice(*stretches[place])] = True
    untouched, sure = good.copy(), good.copy()
    axes = _axes(turn, stretches)
    waiting = [each for place, each in enumerate(stretches) if place not in kept]
    waiting = [(start, stop) for start, stop in waiting if (stop - start) / rate >= SHORTEST_STRETCH]
    found = True
    while found:  # one that was turned back tells its neighbour
        found = False
        for start, stop in waiting:
            back = None if good[start] else _turned_back(result, good, (start, stop), axes, rate)
            at_once = sure[max(start - 2, 0) : start].any() or sure[stop : stop + 2].any()
            if back is not None and not at_once and (stop - start) / rate > LONG:
                back = _towards(back, quaternions.mean(turn[untouched]))
            if back is not None and quaternions.angle(back, usual[None]).mean() < UNUSUAL:
                result[start:stop] = back
                good[start:stop] = turned_back[start:stop] = found = True
                sure[start:stop] = at_once
    _fill(result, turn, good, along)
    _leave_alone(result, turn, good)
    return Mended(quaternions.continuous(result), turned_back, ~good)


def _stretches(broken: NDArray[np.bool_]) -> list[Stretch]:
    """Runs of samples that no turn parts. A turn from one sample to the next breaks the later, which is good again."""
    result: list[Stretch] = []
    start = 0
    for sample in np.flatnonzero(broken).tolist():
        if sample > start:
            result.append((start, sample))
        start = sample + 1 if sample + 1 < len(broken) and broken[sample + 1] else sample
    if start < len(broken):
        result.append((start, len(broken)))
    return result


def _fitting(turn: Array, stretches: list[Stretch], usual: Array, rate: float) -> set[int]:
    """The numbers of the stretches to keep: the cheapest chain of them by dynamic programming, in seconds."""
    length = np.array([stop - start for start, stop in stretches]) / rate
    worth = np.array([_unusual(turn[start:stop], usual) for start, stop in stretches]) * length
    count = len(stretches)
    before = np.concatenate([[0.0], np.cumsum(length)])
    cost, came = np.full(count, np.inf), np.full(count, -1)
    for j in range(count):
        cost[j] = before[j] + worth[j]
        for i in range(j):
            dropped = before[j] - before[i + 1]
            other = cost[i] + dropped + worth[j] + MISFIT * _misfit(turn, stretches[i], stretches[j], rate)
            if other < cost[j] - 1e-12:
                cost[j], came[j] = other, i
    total = cost + (before[-1] - before[1:])
    place = int(np.argmin(total))
    kept = set()
    while place >= 0:
        kept.add(place)
        place = int(came[place])
    return kept


def _usual(turn: Array, stretches: list[Stretch], rest: Array) -> Array:
    """The rest pose's rotation if a stretch is near it, else the stretches' mean that is least far from the others."""
    means = np.array([quaternions.mean(turn[start:stop]) for start, stop in stretches])
    if quaternions.angle(means, rest[None]).min() < NEAR_REST:
        return rest
    length = np.array([stop - start for start, stop in stretches], dtype=np.float64)
    away = quaternions.angle(means[:, None], means[None])
    usual: Array = means[int(np.argmin((away * length[None]).sum(axis=1)))]
    return usual


def _unusual(turn: Array, usual: Array) -> float:
    """Mean over a stretch of how far it is off, 0 to 2; at 1 it is worth no more than nothing."""
    away = quaternions.angle(turn, usual[None]) / UNUSUAL
    return float(np.minimum(away**2, 2.0).mean())


def _misfit(turn: Array, a: Stretch, b: Stretch, rate: float) -> float:
    """By how much two stretches are further apart than a limb moves in the time between, rad."""
    allowed = QUICK * (b[0] - a[1] + 1) / rate + FITS
    return max(float(quaternions.angle(turn[a[1] - 1], turn[b[0]])) - min(allowed, UNUSUAL), 0.0)


def _axes(turn: Array, stretches: list[Stretch]) -> list[Array]:
    """The axes, in the bone's frame, of the half turns that part stretches.

    A solver that takes a bone for its mirror image turns it half around an axis of its own, the same every time; what a
    single turn shows is off by what the bone does meanwhile, so axes that are alike are averaged.
    """
    sums: list[Array] = []
    for (_, stop), (start, _) in pairwise(stretches):
        vector = quaternions.log(quaternions.multiply(quaternions.conjugate(turn[stop - 1]), turn[start]))
        angle = float(np.linalg.norm(vector))
        if angle < HALF_TURN:
            continue
        axis = vector / angle
        cosines = [float(total @ axis) / float(np.linalg.norm(total)) for total in sums]
        near = next((i for i, cosine in enumerate(cosines) if abs(cosine) > ALIKE), -1)
        if near < 0:
            sums.append(axis)
        else:
            sums[near] = sums[near] + math.copysign(1.0, cosines[near]) * axis
    return [total / np.linalg.norm(total) for total in sums]


def _turned_back(
    turn: Array, good: NDArray[np.bool_], stretch: Stretch, axes: list[Array], rate: float
) -> Array | None:
    """A stretch turned so that it joins the good samples around it; None where these ask for different turns."""
    start, stop = stretch
    left = int(np.flatnonzero(good[:start])[-1]) if good[:start].any() else -1
    right = stop + int(np.flatnonzero(good[stop:])[0]) if good[stop:].any() else -1
    ends = []
    for sample, own in ((left, start), (right, stop - 1)):
        if sample >= 0 and abs(sample - own) / rate < LONGEST_TURN:
            ends.append(_half_turn(quaternions.multiply(quaternions.conjugate(turn[own]), turn[sample]), axes))
    if not ends:
        return None
    if len(ends) == 1:
        return quaternions.multiply(turn[start:stop], ends[0][None])
    way = quaternions.log(quaternions.multiply(quaternions.conjugate(ends[0]), ends[1]))
    if np.linalg.norm(way) > TURNED_ALIKE:
        return None
    share = np.linspace(0.0, 1.0, stop - start)[:, None]
    return quaternions.multiply(turn[start:stop], quaternions.multiply(ends[0], quaternions.exp(share * way)))


def _towards(back: Array, usual: Array) -> Array:
    """A long stretch leans on average no further from what the bone does elsewhere than it does by itself."""
    way = quaternions.log(quaternions.multiply(quaternions.conjugate(quaternions.mean(back)), usual))
    angle = float(np.linalg.norm(way))
    if angle < LEANS:
        return back
    return quaternions.multiply(back, quaternions.exp(way * (1.0 - LEANS / angle)))


def _half_turn(turn: Array, axes: list[Array]) -> Array:
    """Exactly half a turn about the nearest of the axes, for what is nearly one."""
    vector = quaternions.log(turn)
    angle = float(np.linalg.norm(vector))
    if angle < HALF_TURN or not axes:
        return turn
    nearest = max(axes, key=lambda axis: abs(float(axis @ vector)))
    if abs(float(nearest @ vector)) < ALIKE * angle:
        return turn
    return np.concatenate([[0.0], nearest])


def _leave_alone(result: Array, turn: Array, good: NDArray[np.bool_]) -> None:
    """What would be filled in with nearly the same stays as it is: a quick move, not a broken one."""
    places = np.flatnonzero(~good)
    for run in np.split(places, np.flatnonzero(np.diff(places) > 1) + 1):
        if len(run) and quaternions.angle(result[run], turn[run]).max() < NEARLY:
            result[run] = turn[run]
            good[run] = True


def _fill(result: Array, seen: Array, good: NDArray[np.bool_], along: Array) -> None:
    """Put between good samples what leads from the one to the other, with the bone's own direction where it holds."""
    places = np.flatnonzero(good)
    for left, right in zip([-1, *places.tolist()], [*places.tolist(), len(good)], strict=True):
        if right - left < 2:
            continue
        inside = np.arange(left + 1, right)
        if left < 0 or right == len(good):
            between = np.tile(result[right if left < 0 else left], (len(inside), 1))
        else:
            way = quaternions.log(quaternions.multiply(quaternions.conjugate(result[left]), result[right]))
            share = ((inside - left) / (right - left))[:, None]
            between = quaternions.multiply(result[left], quaternions.exp(share * way))
        edge = inside if left < 0 else np.concatenate([[left], inside])
        edge = edge if right == len(good) else np.concatenate([edge, [right]])
        ways = quaternions.rotate(np.where(np.isin(edge, inside)[:, None], seen[edge], result[edge]), along)
        steps = np.arccos(np.clip(np.einsum("ij,ij->i", ways[1:], ways[:-1]), -1.0, 1.0))
        if len(steps) and steps.max() < SAME_WAY:
            pointing = quaternions.rotate(between, along)
            wanted = quaternions.rotate(seen[inside], along)
            swing = np.array([quaternions.between(a, b) for a, b in zip(pointing, wanted, strict=True)])
            between = quaternions.multiply(swing, between)
        result[inside] = between
