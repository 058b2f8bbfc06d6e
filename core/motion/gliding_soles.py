# SPDX-License-Identifier: GPL-3.0-or-later
"""Where soles go that glide or turn under load: a way for what moves, which goes over smoothly into what stands.

A way has a row for every frame: the place of one end of the sole, which is the one that the foot turns about, and yaw.
"""

import numpy as np

from .quaternions import Array
from .resample import smoothed
from .schedule import Mask, runs

CUTOFF = 5.0  # Hz, of the way of a sole that glides or turns
AROUND = 0.2  # s before and after, in which it sets off and comes to rest
BETWEEN = 0.3  # s: glides of a foot that does not stand for longer in between are one

Stretch = tuple[int, int]


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
