# SPDX-License-Identifier: GPL-3.0-or-later
"""What to draw, and how often, while something goes on: the interface must not wait for its own pictures either."""

from typing import Literal

# Of the interface's time, that drawing may take at most, where it is slow. A view that is drawn within QUICK is no
# slower than an animation that plays, and nobody feels such a wait: it is drawn as often as a picture is ready.
SHARES = {"view": 0.3, "panels": 0.01}
QUICK = 0.1  # s
LATE = 1.2  # times the timer's step: an event that comes after as much had to wait for drawing

Drawing = Literal["view", "panels"]


class Pace:
    """Says at every event of a timer what to draw: all that is quick each time, what is slow seldom.

    How slow something is shows in how late the events come after it was asked for. That may be several: a viewport that
    smooths its picture draws it eight times over, once between two events. Where a picture is slow nothing else is
    asked for before events are in time again; where it is quick a new pose need not wait for the old one to be smooth.
    """

    def __init__(self, every: float) -> None:
        """`every` is the timer's step, s."""
        self._before: float | None = None  # event
        self._asked: dict[Drawing, float] = {}  # when it was asked for last
        self._cost: dict[Drawing, float] = {"view": 0.0, "panels": 0.0}  # s that it has taken since
        self._drawn: Drawing = "panels"  # what was asked for last
        self._late: dict[Drawing, float] = {"view": max(QUICK, LATE * every), "panels": LATE * every}

    def due(self, now: float, *, posed: bool) -> Drawing | None:
        """What to draw now, which is taken to be done; the view, with its panels, only for a new pose."""
        gone = 0.0 if self._before is None else now - self._before
        self._before = now
        if gone > self._late[self._drawn]:
            self._cost[self._drawn] += gone
            return None
        kinds: tuple[Drawing, ...] = ("view", "panels") if posed else ("panels",)
        for kind in kinds:
            if kind not in self._asked or now - self._asked[kind] >= self._cost[kind] / SHARES[kind]:
                self._asked[kind], self._cost[kind], self._drawn = now, 0.0, kind
                return kind
        return None
