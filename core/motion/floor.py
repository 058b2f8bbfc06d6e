# SPDX-License-Identifier: GPL-3.0-or-later
"""The floor under a clip: how high it lies and how it is tilted, from where the feet stand.

A capture's floor is often off by centimetres and tilted by up to a fortieth. The plane z = height + slope . (x, y) is
fitted to the soles in frames in which a foot stands, robustly: Tukey's biweight, iteratively reweighted, from a start
at the lower quartile, so that steps onto a box or up a stair do not lift it, and with a ridge on the slope, which a
clip on the spot says nothing about.

A clip is brought onto its floor by one rigid motion. That keeps every bone's length and every joint's angle, which
shearing it would not.
"""

import math
from dataclasses import dataclass

import numpy as np

from ..character import Corner
from . import quaternions
from .body_plan import BodyPlan
from .clip import Clip
from .feet import FLAT_SPEEDS, greatest_speed
from .quaternions import Array

RIDGE = 0.3  # m: how far apart a slope's evidence must lie to count as much as the prior of none
BIWEIGHT = 0.04  # m: soles further than this from the plane stand on something else
STEEPEST = 0.035  # beyond it the ground is a slope or a stair, not a floor askew
FEWEST = 10  # standing samples
DEEPEST = 0.035  # of stature: a tenth of all frames may show soles this far below the floor


@dataclass(frozen=True)
class Floor:
    """The plane z = height + slope[0] x + slope[1] y."""

    height: float = 0.0  # m
    slope: tuple[float, float] = (0.0, 0.0)
    samples: int = 0  # soles that it was fitted to

    @property
    def tilt(self) -> float:
        """Angle from the horizontal, rad."""
        return math.atan(math.hypot(*self.slope))


def estimate_floor(plan: BodyPlan, clip: Clip) -> Floor:
    """The floor under a clip without damage.

    Where feet hardly stand it is level, at the height of their slowest moments; where they never do, at the lowest. A
    foot that walks in place glides while it stands and rests in the air: a floor that feet go well below is none.
    """
    corners = _soles(plan, clip)
    if corners.shape[1] == 0:
        return Floor()
    speed = greatest_speed(corners, clip.rate)
    middles = corners.mean(axis=2)
    for limit in FLAT_SPEEDS:
        soles = middles[speed < limit]
        if len(soles) >= FEWEST:
            floor = _plane_through(soles, level=limit > FLAT_SPEEDS[0])
            above = corners[..., 2] - floor.height - corners[..., :2] @ np.array(floor.slope)
            if np.percentile(above.min(axis=(1, 2)), 10.0) > -DEEPEST * plan.stature:
                return floor
    return Floor(float(np.percentile(corners[..., 2], 1.0)))


def _plane_through(soles: Array, *, level: bool) -> Floor:
    """The plane through places (n, 3)."""
    center = soles[:, :2].mean(axis=0)
    rows = np.column_stack([np.ones(len(soles)), soles[:, :2] - center])
    plane = np.array([float(np.percentile(soles[:, 2], 25.0)), 0.0, 0.0])
    ridge = np.diag([0.0, *([1e6 if level else RIDGE**2] * 2)]) * len(soles)
    for _ in range(50):
        off = (soles[:, 2] - rows @ plane) / BIWEIGHT
        weight = np.where(np.abs(off) < 1.0, (1.0 - off**2) ** 2, 0.0)
        if weight.sum() < FEWEST / 2:
            break
        solved = np.linalg.solve((rows.T * weight) @ rows + ridge * weight.mean(), (rows.T * weight) @ soles[:, 2])
        if np.abs(solved - plane).max() < 1e-7:
            break
        plane = solved
    if math.hypot(plane[1], plane[2]) > STEEPEST:
        return _plane_through(soles, level=True)
    height = float(plane[0] - plane[1:] @ center)
    return Floor(height, (float(plane[1]), float(plane[2])), len(soles))


def level(clip: Clip, floor: Floor) -> Clip:
    """The clip moved rigidly so that its floor is z = 0: turned about the horizontal line through the world's axis."""
    normal = np.array([-floor.slope[0], -floor.slope[1], 1.0])
    turn = quaternions.between(normal, np.array([0.0, 0.0, 1.0]))
    place = quaternions.rotate(turn, clip.position - np.array([0.0, 0.0, floor.height]))
    return Clip(
        clip.skeleton,
        clip.rate,
        place,
        quaternions.continuous(quaternions.multiply(turn, clip.orientation)),
        clip.first_frame,
        clip.frames_per_sample,
    )


def _soles(plan: BodyPlan, clip: Clip) -> Array:
    """Corners of the soles in the world, (nf, soles, 4, 3)."""
    place, turn = plan.body_targets(clip)
    corners = [shape for shape in plan.character.contacts if isinstance(shape, Corner)]
    body = [plan.character.index(corner.body) for corner in corners]
    local = np.array([corner.position for corner in corners]).reshape(-1, 3)
    return (place[:, body] + quaternions.rotate(turn[:, body], local[None])).reshape(len(place), -1, 4, 3)
