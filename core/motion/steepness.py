# SPDX-License-Identifier: GPL-3.0-or-later
"""How long steps along a path are on the ground there: none rises too high, and on stairs each comes to a tread."""

from itertools import pairwise
from typing import NamedTuple

import numpy as np
from scipy.ndimage import gaussian_filter1d

from ..contact.terrain import Terrain
from .footholds import HIGH, HIGHEST, heights_below
from .path import Path
from .quaternions import Array

SPACING = 0.02  # m, between looks at the ground
RISER = 0.04  # m from one to the next
BLUR = 0.15  # m, over which steps get shorter and longer again


class Steepness(NamedTuple):
    """At distances along a path, the share of their own length that steps have."""

    distance: Array  # (n,) m
    share: Array  # (n,) up to 1

    def at(self, distance: float) -> float:
        """Of a step there."""
        return float(np.interp(distance, self.distance, self.share))

    @property
    def longer(self) -> float:
        """By how much a level path with as many steps is longer, m."""
        more = 1.0 / self.share - 1.0
        return float(np.diff(self.distance) @ (0.5 * (more[1:] + more[:-1])))


LEVEL = Steepness(np.zeros(1), np.ones(1))


def steepness_of(path: Path, terrain: Terrain, floor: float, step: float) -> Steepness:
    """Along a path over terrain, on which it begins at the height `floor`; its own steps are so long, m."""
    distance, height = heights_along(path, terrain, floor)
    half = 0.5 * step
    rise = np.abs(np.interp(distance + half, distance, height) - np.interp(distance - half, distance, height))
    share = np.minimum(1.0, HIGH / np.maximum(rise, 1e-9))
    for start, stop, length in _treads(distance, height, step):
        share[(distance >= start) & (distance <= stop)] = length / step
    if share.min() == 1.0:
        return LEVEL
    return Steepness(distance, gaussian_filter1d(share, BLUR / (distance[1] - distance[0]), mode="nearest"))


def heights_along(path: Path, terrain: Terrain, floor: float) -> tuple[Array, Array]:
    """Distances along a path and the height of the ground there; where there is none it is taken to go on level."""
    distance = np.linspace(0.0, path.length, max(round(path.length / SPACING), 1) + 1)
    height, below = np.empty(len(distance)), floor
    for k, place in enumerate(path.at(distance)[0]):
        found = float(heights_below(terrain, np.array([[*place, below + HIGHEST]]))[0])
        below = below if np.isnan(found) else found
        height[k] = below
    return distance, height


def _treads(distance: Array, height: Array, step: float) -> list[tuple[float, float, float]]:
    """From where to where steps are to be how long, m: as many treads as rise no higher than a step may."""
    change = np.diff(height)
    risers = np.flatnonzero(np.abs(change) > RISER).tolist()
    found = []
    for low, high in pairwise(risers):
        tread = float(distance[high] - distance[low])
        length = tread * max(1, int(HIGH / abs(change[high])))
        if change[low] * change[high] > 0.0 and length < step:
            found.append((distance[low] - 0.5 * length, distance[high] + 0.5 * length, length))
    return found
