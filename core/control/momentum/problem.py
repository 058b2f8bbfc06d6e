# SPDX-License-Identifier: GPL-3.0-or-later
"""A stretch of a reference as a problem for the abstract model: eq. 2 of Ye and Liu 2010."""

import numpy as np

from ...character import Character
from .model import ANGULAR, STATE, Problem
from .settings import Settings
from .states import Outline, Rays

# By how much the last state may miss the reference's at the price of standing for half a second: m, kg m/s, kg m²/s.
# Met to the last digit, it would ask for any force at the end.
SLACK = (0.01, 3.0, 0.3, 1.0)
PRICE = 1e4  # N² s


def make_problem(
    character: Character, outline: Outline, rays: Rays, settings: Settings, first: int, last: int
) -> Problem:
    """Steps `first` to `last` - 1."""
    tracking, damping = np.full(STATE, settings.tracking), np.zeros(STATE)
    tracking[ANGULAR:] = 0.0
    damping[ANGULAR:] = settings.damping
    steps = slice(first, last)
    return Problem(
        mass=character.total_mass,
        gravity=np.array(character.gravity, dtype=np.float64),
        dt=np.full(last - first, outline.dt),
        drift=outline.drift[steps],
        rays=rays.number[steps],
        point=np.take_along_axis(outline.place[first + 1 : last + 1], rays.point[steps, :, None], axis=1),
        direction=rays.direction[steps],
        target=outline.x[first : last + 1],
        tracking=tracking,
        damping=damping,
        effort=settings.effort,
        slack=np.repeat(SLACK, 3) ** 2 / (2.0 * PRICE),
    )
