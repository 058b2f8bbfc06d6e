# SPDX-License-Identifier: GPL-3.0-or-later
"""The ground that a clip was made on, estimated from its footsteps: stairs, boxes, uneven terrain.

A capture does not hold what it was made on, but a foot that stands still somewhere stands on something. Around every
such footprint the ground is level at its height, half-way to the next one it changes: a stair gets its steps, though
nobody knows where exactly their edges were.
"""

from dataclasses import dataclass

import numpy as np
from scipy.spatial import cKDTree

from ..character import Character
from ..contact.terrain import HeightGrid
from .fit import Trajectory
from .quaternions import Array
from .schedule import contact_points, runs
from .tracks import point_places, velocities

STILL = 0.2  # m/s
SHORTEST = 0.1  # s
FLAT = 0.05  # m between heel and toe: a foot more tilted does not stand on both
LEVEL = 0.03  # m: footprints no further apart in height are on the same level
SPACING = 0.02  # m, of the grid
MARGIN = 0.6  # m, of ground around the footprints
ALONG_SOLE = 5  # samples of each footprint


@dataclass(frozen=True)
class Footprint:
    """Where a foot stood still."""

    body: str
    frames: tuple[float, float]  # first and last, by the source's numbers
    heel: tuple[float, float, float]  # m
    toe: tuple[float, float, float]

    @property
    def height(self) -> float:
        """Of its middle, m."""
        return 0.5 * (self.heel[2] + self.toe[2])


def footprints(character: Character, trajectory: Trajectory) -> list[Footprint]:
    """Where feet stand still with both ends, whether the ground is known there or not."""
    points = [point for point in contact_points(character) if point.foot]
    found = []
    for body in dict.fromkeys(point.body for point in points):
        ends = [point for point in points if point.body == body]
        if len(ends) < 2:
            continue
        places = point_places(character, trajectory.q, (ends[0], ends[-1]))
        speed = np.linalg.norm(velocities(places, trajectory.rate), axis=2).max(axis=1)
        flat = np.abs(places[:, 0, 2] - places[:, 1, 2]) < FLAT
        for start, stop in runs(np.asarray((speed < STILL) & flat)):
            if stop - start >= SHORTEST * trajectory.rate:
                heel, toe = np.median(places[start:stop], axis=0).tolist()
                frames = (trajectory.frame(start), trajectory.frame(stop - 1))
                found.append(Footprint(character.bodies[body].name, frames, tuple(heel), tuple(toe)))
    return found


def estimate_ground(character: Character, trajectory: Trajectory) -> HeightGrid:
    """Ground under a trajectory's footprints; ValueError where no foot stands still."""
    held = footprints(character, trajectory)
    if not held:
        raise ValueError("No foot stands still, so the ground cannot be estimated: check the motion's contacts.")
    level = _levels(np.array([one.height for one in held]))
    share = np.linspace(0.0, 1.0, ALONG_SOLE)[:, None]
    soles = np.concatenate([(1.0 - share) * one.heel[:2] + share * one.toe[:2] for one in held])
    low, high = soles.min(axis=0) - MARGIN, soles.max(axis=0) + MARGIN
    count = np.ceil((high - low) / SPACING).astype(int) + 1
    x, y = (low[i] + SPACING * np.arange(count[i]) for i in range(2))
    grid = np.stack(np.meshgrid(x, y, indexing="ij"), axis=-1)
    _, nearest = cKDTree(soles).query(grid.reshape(-1, 2))
    heights = np.repeat(level, ALONG_SOLE)[nearest].reshape(len(x), len(y))
    return HeightGrid(np.ascontiguousarray(heights), SPACING, (float(low[0]), float(low[1])))


def _levels(height: Array) -> Array:
    """Heights (n,), those that differ by little moved to their mean."""
    order = np.argsort(height)
    steps = np.concatenate([[0], np.cumsum(np.diff(height[order]) > LEVEL)])
    mean = np.bincount(steps, weights=height[order]) / np.bincount(steps)
    result = np.empty_like(height)
    result[order] = mean[steps]
    return result
