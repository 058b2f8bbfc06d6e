# SPDX-License-Identifier: GPL-3.0-or-later
"""What is followed after a disturbance: a plan, and then the motion again, from where the plan leads back into it."""

import numpy as np
from numpy.typing import NDArray

from ...contact.detection import Contacts
from ..law import AffineLaw, State
from ..lookahead.lookahead import LookAhead
from ..method import Follower
from .plan import Plan

Array = NDArray[np.float64]


class Detour(Follower):
    """A plan, and then the motion again."""

    def __init__(self, motion: LookAhead, plan: Plan) -> None:
        self.motion, self.plan = motion, plan
        self.done = 0  # steps of the plan
        plan.controller.seek()
        self._over = False

    def twin(self, motion: LookAhead) -> "Detour":
        """One that goes on from here with another controller of the motion; plans follow one of the two at a time."""
        other = object.__new__(Detour)
        other.motion, other.plan, other.done, other._over = motion, self.plan, self.done, self._over
        return other

    @property
    def over(self) -> bool:
        """Whether the motion is followed again."""
        return self._over

    @property
    def row(self) -> int:
        """The motion's frame now."""
        return self.motion.row if self._over else self.motion.row_of(self.plan.places[self.done])

    @property
    def lap(self) -> int:
        """And its lap."""
        return self.motion.lap if self._over else self.motion.lap_of(self.plan.places[self.done])

    def reference_state(self) -> tuple[Array, Array]:
        """Of the plan, or of the motion."""
        return (self.motion if self._over else self.plan.controller).reference_state()

    def law(self, state: State, contacts: Contacts) -> AffineLaw:
        """Of the plan, or of the motion."""
        if self._over:
            return self.motion.law(state, contacts)
        law = self.plan.controller.law(state, contacts)
        self.done += 1
        if self.done == len(self.plan.places) - 1:
            self.motion.place, self._over = self.plan.places[-1], True
        return law
