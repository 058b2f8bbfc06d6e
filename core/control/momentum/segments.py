# SPDX-License-Identifier: GPL-3.0-or-later
"""Where a motion is cut into segments, each with a controller of its own (Ye and Liu 2010, section 6).

"The final state of each short sequence coincides with a key event in the input motion": the middle of what follows a
touch-down until the contacts change again, double support where one walks, mid-stance where one runs. What stays on its
feet for long is cut where it moves least. Consecutive segments overlap.
"""

from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .model import LINEAR
from .states import Outline

SHORTEST, LONGEST = 0.25, 0.8  # s
OVERLAP = 1.0 / 12.0  # s


class Span(NamedTuple):
    """Frames of a segment, both ends included."""

    first: int
    last: int


def key_events(outline: Outline) -> list[int]:
    """Frames at which segments end; the last frame is the last of them."""
    bodies = np.unique(outline.body)
    standing = np.stack([outline.loaded[:, outline.body == body].any(axis=1) for body in bodies], axis=1)
    last = len(outline.loaded)
    changes = np.flatnonzero((standing[1:] != standing[:-1]).any(axis=1)) + 1
    found = []
    for change, until in pairwise([*changes.tolist(), last]):
        if (standing[change] & ~standing[change - 1]).any():
            found.append((change + until) // 2)
    shortest = round(SHORTEST / outline.dt)
    events: list[int] = []
    for event in found:
        if event - (events[-1] if events else 0) >= shortest and last - event >= shortest:
            events.append(event)
    return _cut_long([*events, last], outline)


def _cut_long(events: list[int], outline: Outline) -> list[int]:
    speed = np.linalg.norm(outline.x[:, LINEAR : LINEAR + 3], axis=1)
    longest = round(LONGEST / outline.dt)
    done, begin = [], 0
    for event in events:
        pieces = -(-(event - begin) // longest)
        length = (event - begin) / pieces
        for piece in range(1, pieces):
            # within a quarter of a piece of its even share
            low, high = (round(begin + (piece + part) * length) for part in (-0.25, 0.25))
            done.append(low + int(np.argmin(speed[low : high + 1])))
        done.append(event)
        begin = event
    return done


def spans(outline: Outline) -> list[Span]:
    """All segments in turn; each but the first begins before the one before it ends."""
    events, overlap = key_events(outline), round(OVERLAP / outline.dt)
    begins = [0, *(max(event - overlap, 0) for event in events[:-1])]
    return [Span(first, last) for first, last in zip(begins, events, strict=True)]


def rows(segments: list[Span]) -> NDArray[np.int64]:
    """Where each segment's frames begin, were all of them in a row; and how many there are."""
    return np.cumsum([0, *(span.last - span.first + 1 for span in segments)]).astype(np.int64)
