# SPDX-License-Identifier: GPL-3.0-or-later
"""What a recovery is told by, and what there is to choose about it."""

from dataclasses import dataclass

from ...sentences import Sentence, say

EFFORT = 6  # plans that are tried at most, unless chosen otherwise
MOST_EFFORT = 100

STEPPED = {
    "ahead": "Stepped {centimetres:.0f} cm further ahead at frame {frame:.0f}.",
    "back": "Stepped {centimetres:.0f} cm back at frame {frame:.0f}.",
    "left": "Stepped {centimetres:.0f} cm to its left at frame {frame:.0f}.",
    "right": "Stepped {centimetres:.0f} cm to its right at frame {frame:.0f}.",
    "caught": "Caught itself on its feet at frame {frame:.0f}.",
}


@dataclass(frozen=True)
class Recovery:
    """A disturbance that was answered by a plan."""

    time: float  # s, at which it was planned
    what: str  # a key of STEPPED
    distance: float  # m, between where the steps would have led and where they did

    def told(self, frame: float) -> Sentence:
        """In words; `frame` is the scene's at its time."""
        if self.what == "caught":
            return say(STEPPED[self.what], frame=frame)
        return say(STEPPED[self.what], frame=frame, centimetres=100.0 * self.distance)
