# SPDX-License-Identifier: GPL-3.0-or-later
"""How often to draw while something goes on: the interface must not wait for its own pictures either."""

SHARE = 0.05  # of the interface's time, that drawing may take at most
LATE = 1.2  # times the timer's step: an event that comes after as much had to wait for drawing


class Pace:
    """Says at every event of a timer whether to draw: each time where drawing is quick, seldom where it is slow.

    How slow it is shows in how late the events come after drawing was asked for. That may be several: a viewport that
    smooths its picture draws it eight times over.
    """

    def __init__(self, every: float) -> None:
        """`every` is the timer's step, s."""
        self._every = every
        self._last: float | None = None  # event
        self._asked = 0.0  # when drawing was asked for last
        self._cost = 0.0  # s that it has taken since

    def due(self, now: float) -> bool:
        """Whether to draw now; if so, it is taken to be done."""
        if self._last is not None:
            gone = now - self._last
            if gone > LATE * self._every:
                self._cost += gone
            self._last = now
            if now - self._asked < self._cost / SHARE:
                return False
        self._last, self._asked, self._cost = now, now, 0.0
        return True
