# SPDX-License-Identifier: GPL-3.0-or-later
"""Where to put the foot: the inverted pendulum of Coros et al. 2010, "Generalized Biped Walking Control", section 4."""

import math

from ...maths.kernel import kernel


@kernel
def step_length(height: float, speed: float, gravity: float) -> float:
    """How far ahead of the centre of mass a foot must stand for it to come to rest over the foot [d].

    A mass on a stiff, massless leg keeps its energy, v²/2 + g h = g sqrt(h² + d²): d = v sqrt(h / g + (v / 2g)²).
    """
    return speed * math.sqrt(height / gravity + 0.25 * speed * speed / (gravity * gravity))


@kernel
def returning_width(apart: float, height: float, seconds: float, gravity: float) -> float:
    """How much further out than where the mass would rest a foot must stand to send it back in time.

    With w = sqrt(g / h), a mass that moves towards a foot at distance d with d w tanh(w T / 2) is back after T, as
    fast away from it; at d w it would come to rest over the foot. `apart` is d, `seconds` T.
    """
    return apart * (1.0 - math.tanh(0.5 * math.sqrt(gravity / height) * seconds))


@kernel
def returning_speed(apart: float, height: float, seconds: float, gravity: float) -> float:
    """How fast a mass must move towards a foot to be back where it is after that time: d w tanh(w T / 2)."""
    swing = math.sqrt(gravity / height)
    return apart * swing * math.tanh(0.5 * swing * seconds)
