# SPDX-License-Identifier: GPL-3.0-or-later
"""Back to the path: once nothing disturbs any more, each step leads a little nearer to where it would have led."""

import numpy as np
from numpy.typing import NDArray

from ...motion.reference import Reference
from ..lookahead.lookahead import LookAhead, Place
from .footholds import Step, side_of
from .motion_ahead import MotionAhead, touchdowns

Array = NDArray[np.float64]

NEARER = 0.2  # m that a step goes nearer than the one before, at most
SOONEST = 0.25  # s before a touchdown, from which on it stays where it is
THERE = 0.02  # m from the path, that is on it
FAR = 0.05  # m from its place, that who stands takes steps for


class Path:
    """Where the motion would have been without recoveries."""

    def __init__(self, controller: LookAhead) -> None:
        """The motion is on its path now."""
        self._controller, self._place = controller, controller.place

    def away(self, place: Place) -> Array:
        """By how much (2,) a place in the motion lies beside the path, m."""
        controller = self._controller
        while self._place.lap < place.lap:
            self._place = controller.after(self._place._replace(frame=len(controller.track.q) - 1))
        result: Array = np.subtract(place.anchor[:2], self._place.anchor[:2])
        return result


def nearer(away: Array) -> Array:
    """What (2,) a step of one who stands leads back by."""
    result: Array = -away * min(1.0, NEARER / max(float(np.linalg.norm(away)), 1e-9))
    return result


def steps_home(ahead: MotionAhead, reference: Reference, away: Array, facing: Array) -> list[Step]:
    """Steps that lead back over `away` (2,); `facing` (2,) is the way that the body faces.

    Sideways the foot on that side leads, and the other follows: it would have to cross.
    """
    shift, steps = np.zeros(2), []
    left = np.array([-facing[1], facing[0]])
    for frame, body in touchdowns(ahead, reference):
        way = -away - shift
        if side_of(reference, body) * float(way @ left) < 0.0:
            way = way - (way @ left) * left
        length = float(np.linalg.norm(way))
        share = min(1.0, NEARER / max(length, 1e-9)) if frame >= SOONEST * reference.rate else 0.0
        shift = shift + share * way
        steps.append(Step(frame, body, shift, share * length))
    return steps
