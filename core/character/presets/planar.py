# SPDX-License-Identifier: GPL-3.0-or-later
"""Links of planar bodies: da Silva's table 3.2, "2D Model", and rods with those masses and inertias.

M. da Silva, "Feedback Control for Simulated Characters", PhD thesis, MIT, 2010. The table prints no lengths: a link is
as long as the thin uniform rod of its mass and inertia, √(12 I/m), which gives a person of 1.6 m. Planar bodies lie in
the plane of X and Z; all their hinges turn about +Y. Out of the plane the rods are 5 cm thick.
"""

import math

import numpy as np

from ..mass import Mass

# mass, moment of inertia in the plane
TABLE_3_2 = {
    "head": (3.0, 0.011),
    "upper_arm": (2.0, 0.022),
    "lower_arm": (1.0, 0.009),
    "torso": (10.0, 0.176),
    "thigh": (7.0, 0.121),
    "shin": (5.0, 0.077),
    "foot": (4.0, 0.019),
}
RADIUS = 0.025
ANKLE_HEIGHT = 0.06
HEEL = 0.06  # ankle to the back of the heel
HALF_WIDTH = 0.05  # soles are as wide as a foot, so that a planar body does not tip over sideways


def length(part: str) -> float:
    """Length of the thin rod of the part's mass and inertia."""
    mass, inertia = TABLE_3_2[part]
    return math.sqrt(12.0 * inertia / mass)


def upright(part: str, direction: float) -> Mass:
    """The part as a rod from its joint upwards (+1) or downwards (-1)."""
    mass, inertia = TABLE_3_2[part]
    around = 0.5 * mass * RADIUS**2
    return Mass(mass, np.array([0.0, 0.0, 0.5 * direction * length(part)]), np.diag([inertia, inertia, around]))


def foot() -> Mass:
    """The foot as a rod along X under the ankle."""
    mass, inertia = TABLE_3_2["foot"]
    around = 0.5 * mass * RADIUS**2
    center = np.array([0.5 * length("foot") - HEEL, 0.0, -0.5 * ANKLE_HEIGHT])
    return Mass(mass, center, np.diag([around, inertia, inertia]))
