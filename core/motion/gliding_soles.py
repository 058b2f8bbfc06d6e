# SPDX-License-Identifier: GPL-3.0-or-later
"""When soles glide, and where they go meanwhile: a way for what moves, which goes over smoothly into what stands.

A foot that glides for a moment is about to leave, or its capture leaps: it carries nothing then. One without which
nothing would hold the body up for long does carry it.

A way has a row for every frame: the place of one end of the sole, which is the one that the foot turns about, and yaw.
"""

import numpy as np

from .labels import LONGEST_UNSUPPORTED, SLOW
from .quaternions import Array
from .resample import smoothed
from .schedule import ContactSchedule, Mask, runs
from .tracks import velocities

GLIDE = 0.04  # m: a foot neither of whose ends stays as near as this to its place glides
SHORTEST_PLANTED = 0.1  # s, between two glides
CUTOFF = 5.0  # Hz, of the way of a sole that glides or turns
AROUND = 0.2  # s before and after, in which it sets off and comes to rest
BETWEEN = 0.3  # s: glides of a foot that does not stand for longer in between are one
STEP = 0.15  # s that a foot takes which is put down elsewhere: in less it would only be dragged there

Stretch = tuple[int, int]


def parted(active: Mask, tracks: Array, rate: float) -> list[Stretch]:
    """Stretches in which a foot, whose ends (nf, 2, 3) touch when `active`, moves on without leaving the ground."""
    found: list[Stretch] = []
    speed = np.linalg.norm(velocities(tracks, rate), axis=2)
    edge = max(1, round(SHORTEST_PLANTED * rate))
    touching = np.asarray(active.any(axis=1))
    waiting = runs(touching)
    while waiting:
        start, stop = waiting.pop()
        inner = slice(start + edge, stop - edge)
        if stop - start <= 2 * edge:
            continue
        if strays(active[start:stop], tracks[start:stop], speed[start:stop]).min() <= GLIDE:
            continue
        slowest = np.where(active, speed, np.inf).min(axis=1)
        peak = inner.start + int(np.argmax(slowest[inner]))
        fast = runs(slowest[start:stop] >= 0.5 * slowest[peak])
        first, last = next((start + a, start + b) for a, b in fast if start + a <= peak < start + b)
        ways = [
            mean_places(active[part], tracks[part], speed[part]) for part in (slice(start, first), slice(last, stop))
        ]
        way = np.linalg.norm((ways[1] - ways[0])[:, :2], axis=1)
        if np.nanmax(way, initial=-1.0) < 0.5 * GLIDE and np.isfinite(way).any():
            continue  # a leap of the capture, there and back
        found.append((first, last))
        waiting += [(start, first), (last, stop)]
    return found


def strays(touching: Mask, tracks: Array, speed: Array) -> Array:
    """How far each end (2,) of a sole is at most from its place, along the ground; infinite if it never touches."""
    way = np.linalg.norm((tracks - mean_places(touching, tracks, speed))[..., :2], axis=2)
    result: Array = np.where(touching, way, -np.inf).max(axis=0)
    return np.where(touching.any(axis=0), result, np.inf)


def mean_places(touching: Mask, tracks: Array, speed: Array) -> Array:
    """Where each end (2, 3) of a sole is while it touches, slow moments first; nan if it never does."""
    weight = np.where(touching, 1.0 / (speed + SLOW) ** 2, 0.0)
    total = weight.sum(axis=0)
    mean: Array = np.einsum("tk,tki->ki", weight, tracks) / np.where(total > 0.0, total, np.nan)[:, None]
    return mean


def steadiest_end(touching: Mask, tracks: Array, speed: Array) -> int:
    """The end about which a sole turns: of those that touch for half as long as any, the one that strays least."""
    often = touching.sum(axis=0)
    return int(np.argmin(np.where(2 * often >= often.max(), strays(touching, tracks, speed), np.inf)))


def carrying(
    schedule: ContactSchedule, columns: dict[int, list[int]], found: dict[int, list[Stretch]], rate: float
) -> dict[int, tuple[list[Stretch], list[Stretch]]]:
    """Of the stretches `found` of each body, those in which it carries, joined where they belong together, and others.

    `columns` are the points of each body.
    """
    without = schedule.active.copy()
    for body, stretches in found.items():
        for start, stop in stretches:
            without[start:stop, columns[body]] = False
    alone = np.zeros(len(without), dtype=np.bool_)
    for start, stop in runs(np.asarray(~without.any(axis=1) & schedule.active.any(axis=1))):
        alone[start:stop] = stop - start > LONGEST_UNSUPPORTED * rate
    result = {}
    for body, stretches in found.items():
        touching = np.asarray(schedule.active[:, columns[body]].any(axis=1))
        whole = joined(stretches, touching, rate)
        inner = [[one for one in stretches if start <= one[0] < stop] for start, stop in whole]
        carries = [any(alone[slice(*one)].any() for one in ones) for ones in inner]
        glides = [stretch for stretch, carried in zip(whole, carries, strict=True) if carried]
        lifted = [one for ones, carried in zip(inner, carries, strict=True) if not carried for one in ones]
        result[body] = glides, lifted
    return result


def stepped(lifted: list[Stretch], touching: Mask, others: Mask, rate: float) -> list[Stretch]:
    """Stretches in which a foot is off the ground, each long enough for a step, as far as `others` (nf,) carry it.

    One with which its contact begins or ends is as long as it is: there it comes down or leaves.
    """
    result: list[Stretch] = []
    for start, stop in sorted(lifted):
        begin, end = _step(start, stop, touching, others, round(STEP * rate))
        if result and begin <= result[-1][1]:
            result[-1] = (result[-1][0], max(end, result[-1][1]))
        else:
            result.append((begin, end))
    return result


def _step(start: int, stop: int, touching: Mask, others: Mask, least: int) -> Stretch:
    """One of these stretches, with as many frames at least, if there are."""
    first, last = next((a, b) for a, b in runs(touching) if a <= start < b)
    carried = next(((a, b) for a, b in runs(others) if a <= start and stop <= b), None)
    if start == first or stop == last or carried is None:
        return start, stop
    short = max(least - (stop - start), 0)
    return max(start - short // 2, first, carried[0]), min(stop + short - short // 2, last, carried[1])


def joined(glides: list[Stretch], touching: Mask, rate: float) -> list[Stretch]:
    """Glides in order, those that belong together as one."""
    result: list[Stretch] = []
    for start, stop in sorted(glides):
        if result and start - result[-1][1] < BETWEEN * rate and touching[result[-1][1] : start].all():
            result[-1] = (result[-1][0], stop)
        else:
            result.append((start, stop))
    return result


def bent(own: Array, before: Array | None, after: Array | None) -> Array:
    """Rows (n, m), moved so that they go on from the row before them and lead to the one after, where these are known.

    By linear shares of what is off at the ends: a row at either end is off as its neighbour, which is one step away.
    """
    first = None if before is None else _apart(before, own[0])
    last = None if after is None else _apart(after, own[-1])
    if first is None and last is None:
        return own
    first, last = (last if first is None else first), (first if last is None else last)
    assert first is not None
    assert last is not None
    share = np.linspace(0.0, 1.0, len(own))[:, None]
    result: Array = own + first + share * (last - first)
    return result


def _apart(row: Array, other: Array) -> Array:
    """By how much (m,) rows differ, yaws by half a turn at most."""
    apart: Array = row - other
    apart[-1] = (apart[-1] + np.pi) % (2.0 * np.pi) - np.pi
    return apart


def go_over(way: Array, own: Array, standing: Mask, moving: list[Stretch], rate: float) -> Mask:
    """Fill a way (nf, m), known where the foot is `standing` (nf,), where it is `moving`; say where it changed.

    There it is the foot's own in the clip, but meets what stands before and after it.
    """
    changed, around = np.zeros(len(way), dtype=np.bool_), round(AROUND * rate)
    known, moves = standing.copy(), np.zeros(len(way), dtype=np.bool_)
    for start, stop in moving:
        moves[start:stop] = True
    for start, stop in runs(moves):
        before = way[start - 1] if start > 0 and standing[start - 1] else None
        after = way[stop] if stop < len(way) and standing[stop] else None
        way[start:stop] = bent(own[start:stop], before, after)
        changed[max(start - around, 0) : stop + around] = known[start:stop] = True
    for start, stop in runs(known):
        part = changed[start:stop]
        if part.any():
            way[start:stop, -1] = np.unwrap(way[start:stop, -1])
            way[start:stop][part] = smoothed(way[start:stop], rate, CUTOFF)[part]
    return np.asarray(changed & known)
