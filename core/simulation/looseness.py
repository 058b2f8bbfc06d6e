# SPDX-License-Identifier: GPL-3.0-or-later
"""How far regions of a body give way when they are disturbed: 0 holds the motion, 1 hardly does."""

from collections.abc import Mapping
from typing import Literal, get_args

Region = Literal["legs", "trunk", "arms", "head"]
REGIONS: tuple[Region, ...] = get_args(Region)
NATURAL = 0.5  # of each: a shove is seen, and costs no balance


def natural() -> dict[Region, float]:
    """How loose people are."""
    return dict.fromkeys(REGIONS, NATURAL)


def checked(looseness: Mapping[Region, float]) -> dict[Region, float]:
    """In a fixed order, or ValueError."""
    for region, value in looseness.items():
        if region not in REGIONS:
            raise ValueError(f"There is no region '{region}' for looseness; choose from {', '.join(REGIONS)}.")
        if not 0.0 <= value <= 1.0:
            raise ValueError(f"The looseness of the {region} must lie between 0 and 1, not {value:g}.")
    return {region: float(looseness[region]) for region in REGIONS if region in looseness}
