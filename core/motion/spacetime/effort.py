# SPDX-License-Identifier: GPL-3.0-or-later
"""Effort: a body that carries something gives up some of its pose to carry it with less.

The cost per frame is half

    C sum_i ((u_i - u0_i) / s_i)^2,

u the torques, s what each joint can give at most, and u0 what the same motion takes of the body without what it
carries: muscle effort as the square of the share of strength (R. D. Crowninshield and R. A. Brand, "A physiologically
based criterion of muscle force prediction in locomotion", Journal of Biomechanics 14(11), 1981, whose exponent is
between 2 and 3), of the load alone. So who carries nothing moves as keyed, and C weighs the load against the pose: the
trunk leans away from it until the torque that this saves is worth no more than the pose that it costs.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...character import Character

Array = NDArray[np.float64]

NATURAL = 60.0  # [C] of an effort of 1


class Carrying(NamedTuple):
    """What is known of a body that carries something."""

    bare: Character  # the same without it
    strength: Array  # [s] (motors,) N m
    effort: float  # 0 keeps the pose, 1 is natural


class Effort(NamedTuple):
    """The same as the optimisation sees it."""

    weight: Array  # [C / s^2] (motors,) per squared newton metre
    torque: Array  # [u0] (N, motors) N m


def effort_of(carrying: Carrying, torque: Array) -> Effort:
    """With the torques that the motion takes of the bare body."""
    weight: Array = NATURAL * carrying.effort / carrying.strength**2
    return Effort(weight, torque)
