# SPDX-License-Identifier: GPL-3.0-or-later
"""How often to draw while something goes on: the interface must not wait for its own pictures either."""

SHARE = 0.05  # of the interface's time, that drawing may take at most


class Pace:
    """Says at every event of a timer whether to draw: each time where drawing is quick, seldom where it is slow.

    How slow it is shows in how late the first event comes after drawing was asked for.
    """

    def __init__(self, every: float) -> None:
        """`every` is the timer's step, s."""
        self._every = every
        self._asked: float | None = None  # when drawing was asked for last
        self._rest = 0.0  # s from then on in which not to ask again
        self._drawing = False

    def due(self, now: float) -> bool:
        """Whether to draw now; if so, it is taken to be done."""
        if self._asked is not None:
            gone = now - self._asked
            if self._drawing:
                self._rest = max(gone - self._every, 0.0) / SHARE
                self._drawing = False
            if gone < self._rest:
                return False
        self._asked, self._drawing = now, True
        return True
