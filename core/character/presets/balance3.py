# SPDX-License-Identifier: GPL-3.0-or-later
"""The three-link balance model of da Silva 2010 (three_link.py) of muico29, which stands on its left foot."""

from ..character import Character
from ..three_link import three_link
from . import muico29


def make() -> Character:
    """The balance model: 3 bodies, 3 balls, nine velocities, 18 numbers of state."""
    full = muico29.make()
    return three_link(full, full.index("left_foot"), full.index("right_foot")).model
