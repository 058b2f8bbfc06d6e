# SPDX-License-Identifier: GPL-3.0-or-later
"""Where a body that was pushed has to step: the linear inverted pendulum's capture point, as a deviation.

A point mass at a constant height h over a foot diverges along xi = c + c' / omega, omega = sqrt(g / h) (J. Pratt et
al., "Capture Point: A Step toward Humanoid Push Recovery", 2006). Of two pendula over the same foot the difference of
xi grows by exp(omega t), whatever the motion; a foot that is put down so much further catches it all.
"""

import math

import numpy as np
from numpy.typing import NDArray

from ...character import Character
from ...dynamics import center_of_mass, center_of_mass_jacobian

Array = NDArray[np.float64]
Pose = tuple[Array, Array]  # q (nq,) and v (nv,)

LEAST_HEIGHT = 0.3  # m, of a centre of mass over the feet


def growth_rate(character: Character, q: Array, ground: float) -> float:
    """[omega], 1/s, of a character over ground at that height."""
    height = max(float(center_of_mass(character, q)[2]) - ground, LEAST_HEIGHT)
    return math.sqrt(float(np.linalg.norm(character.gravity)) / height)


def extrapolated(character: Character, pose: Pose, rate: float) -> Array:
    """The extrapolated centre of mass [xi] (2,) in the world, m."""
    speed = center_of_mass_jacobian(character, pose[0]) @ pose[1]
    result: Array = (center_of_mass(character, pose[0]) + speed / rate)[:2]
    return result


def deviation(character: Character, actual: Pose, wanted: Pose, rate: float) -> Array:
    """By how much (2,) the extrapolated centre of mass is off, along x and y in the world, m."""
    place, speed = (
        center_of_mass(character, actual[0]) - center_of_mass(character, wanted[0]),
        center_of_mass_jacobian(character, actual[0]) @ actual[1]
        - center_of_mass_jacobian(character, wanted[0]) @ wanted[1],
    )
    result: Array = (place + speed / rate)[:2]
    return result
