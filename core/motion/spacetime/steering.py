# SPDX-License-Identifier: GPL-3.0-or-later
"""What becomes of a solve while it goes on: whether it is worth going on, and what help costs.

How far from its clip a motion will be shows after a few iterations, long before the last of its steps is small. So one
that will be too far is given up there and then, and goes on with help; and the price of help is found on the way, as
that which brings the motion as close as it is to be and no closer.
"""

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from ...character import Character
from ...dynamics import body_poses
from .help import Price

Array = NDArray[np.float64]

EVERY = 4  # frames, between those at which distances are measured
# All solves of a bake together take no more iterations than this for a person's 31 velocities at 120 frames a second,
# and fewer for more of either: their number, not a clock, so that the same job has the same answer. Fewer than the
# least are not worth beginning.
MOST_ITERATIONS, LEAST_ITERATIONS, USUAL_VELOCITIES, USUAL_RATE = 72, 6, 31, 120.0
# A distance is believed after so many iterations where a step is no longer than this, or after more.
LEAST_LOOK, SURE_STEP, LONGEST_LOOK, AGAIN = 4, 0.15, 10, 2
HOPELESS = 1.05  # times what it may be
# Steps that nobody sees, rad and m: after so many iterations these are small enough.
FAINT, LEAST_SOLVE = 5e-3, 8
LONGEST_SOLVE = 20  # iterations: what still goes to and fro then will go on so, and is as near as it gets
# Help's price, times its size: at first, at most, and the least; by how much it changes in an iteration at most.
FIRST, DEAREST, CHEAPEST, FASTEST = 30.0, 300.0, 0.2, 3.0
EASED = 300.0  # times lower may the price become where something is missing
AIM, AIMED, GAIN = 0.97, 0.04, 3.0  # of the distance that it is to be, and how near to that is near enough
FIRST_LOOK, LAST_LOOK = 2, 14  # iterations between which the price follows the distance
PLENTIFUL, SETTLING = 8, 0.05  # iterations of plenty of help, and the step with which it has done its part
# Who takes much help all the time cannot happen anyway, and to stray from what was keyed gains little then: between
# these means of help, as shares of the weight, the distance that it may keep goes down to that share of what it was.
LITTLE, MUCH, NEARER = 0.05, 0.3, 0.75


def allowed(helped: float) -> float:
    """The share of the distance that a motion may keep which is helped by that share of its weight on average."""
    return 1.0 - (1.0 - NEARER) * float(np.clip((helped - LITTLE) / (MUCH - LITTLE), 0.0, 1.0))


class Budget:
    """Iterations that may be made for a bake's reference."""

    def __init__(self, velocities: int, rate: float) -> None:
        share = min(1.0, (USUAL_VELOCITIES / velocities) ** 2) * min(1.0, USUAL_RATE / rate)
        self.left = int(MOST_ITERATIONS * share)

    def of(self, most: int, length: float = 1.0) -> int:
        """As many iterations as there are, at most so many; none where too few are left.

        What is solved is so many times as long as the motion that is asked for.
        """
        left = int(self.left / length)
        return min(most, left) if left >= LEAST_ITERATIONS else 0

    def spend(self, iterations: int, length: float = 1.0) -> None:
        """They were made."""
        self.left = max(self.left - round(iterations * length), 0)


class Steering(Protocol):
    """What a solve asks after each of its iterations."""

    price: Price | None  # of help

    def goes_on(self, iteration: int, q: Array, step: float, helped: float) -> bool:
        """Whether it is worth going on, with these poses (N + 1, nq) after a step of that length.

        It is `helped` by that share of the weight on average.
        """

    def is_faint(self, iteration: int, step: float) -> bool:
        """Whether a step is small enough to be the last."""


class Distance:
    """From a clip: of its bodies' places on average, m; the same as `measure.mean_distance`."""

    def __init__(self, character: Character, clip: Array) -> None:
        self._character, self._frames = character, len(clip)
        self._places = np.array([body_poses(character, q)[0] for q in np.ascontiguousarray(clip[::EVERY])])

    def __call__(self, q: Array) -> float:
        """Of poses (at least as many, nq)."""
        poses = np.ascontiguousarray(q[: self._frames : EVERY])
        places = np.array([body_poses(self._character, one)[0] for one in poses])
        return float(np.linalg.norm(places - self._places, axis=2).mean())


class Near:
    """Without help, as long as it comes as near as that, m."""

    price: Price | None = None

    def __init__(self, distance: Distance, most: float, *, again: bool = False) -> None:
        """`again`: it begins where another try ended."""
        self._distance, self._most = distance, most
        self._least = AGAIN if again else LEAST_LOOK
        self.gave_up = False

    def goes_on(self, iteration: int, q: Array, step: float, helped: float) -> bool:
        """Until it is plain that it will be too far."""
        del helped
        if iteration >= (self._least if step < SURE_STEP else LONGEST_LOOK):
            self.gave_up = self._distance(q) > HOPELESS * self._most
        return not self.gave_up

    def is_faint(self, iteration: int, step: float) -> bool:
        """Late enough that a step is too small to be seen, or that it will not grow smaller."""
        return iteration >= LONGEST_SOLVE or (iteration >= LEAST_SOLVE and step < FAINT)


class Helped:
    """With as little help as brings it so close, m: its price follows the distance, and then stays.

    Closer where even that takes much help.
    """

    def __init__(self, distance: Distance, close: float, missing: float, plenty: float = 0.0) -> None:
        """`missing` is its price where something is missing, and `plenty` that of all at first, if that is said.

        Where something is missing the price is never higher, but falls with the other in what would end too far.
        """
        self._distance, self._close, self._missing = distance, close, missing
        self._plenty, self._since, self._fixed = plenty > 0.0, 0, False
        self._last, self._crossed = 0.0, 0
        self.price: Price | None = (
            Price(plenty, min(missing, plenty)) if plenty else Price(10.0 * DEAREST, missing, FIRST)
        )

    def goes_on(self, iteration: int, q: Array, step: float, helped: float) -> bool:
        """It always does; the price changes."""
        assert self.price is not None
        if self._plenty:
            if iteration >= PLENTIFUL or step < SETTLING:
                self._plenty, self._since = False, iteration
                self.price = self.price._replace(slope=CHEAPEST)
            return True
        passed = iteration - self._since
        if self._fixed or passed < FIRST_LOOK:
            return True
        share = self._distance(q) / (AIM * self._close * allowed(helped))
        ahead = max(2.0 * share - (self._last or share), 0.5)  # where it is on its way to: help follows its price late
        self._crossed += (share - 1.0) * (self._last - 1.0) < 0.0 < self._last
        self._last = share
        calm = 1.0 + self._crossed  # what goes to and fro is approached in smaller steps
        most = FASTEST ** (1.0 / calm)
        slope = float(np.clip(self.price.slope * np.clip(ahead ** (-GAIN / calm), 1.0 / most, most), CHEAPEST, DEAREST))
        stays = max(abs(share - 1.0), abs(ahead - 1.0)) < AIMED or (slope == self.price.slope and step < SETTLING)
        self._fixed = stays or passed >= LAST_LOOK
        missing = float(np.clip(self.price.missing * slope / self.price.slope, self._missing / EASED, self._missing))
        self.price = self.price._replace(slope=slope, missing=missing)
        return True

    def is_faint(self, iteration: int, step: float) -> bool:
        """The price stays, and a step is too small to be seen."""
        del iteration
        return self._fixed and step < FAINT
