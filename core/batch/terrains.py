# SPDX-License-Identifier: GPL-3.0-or-later
"""Ground ahead of a character: a profile extruded across its path."""

import math
from collections.abc import Sequence

import numpy as np

from ..contact.terrain import Mesh
from ..motion.clip import Clip
from ..motion.quaternions import Array
from ..motion.roles import Roles

BEHIND, BEYOND = 20.0, 200.0  # m of level ground before the profile, and of its last height after it
HALF_WIDTH = 20.0  # m
GOES = 0.5  # m: a motion that ends nearer to its start stays in place
Profile = Sequence[tuple[float, float]]  # metres ahead of the start and metres up


def ramp(start: float, degrees: float, length: float) -> Profile:
    """A slope, up if positive, and level ground after it."""
    return [(start, 0.0), (start + length, length * math.tan(math.radians(degrees)))]


def stairs(start: float, rise: float, going: float, count: int) -> Profile:
    """Steps of that height and depth, down if the rise is negative, the first at `start`."""
    steps = [(start + going * k, rise * (k + level)) for k in range(count) for level in (0, 1)]
    return [*steps, (start + going * count, rise * count)]


def extruded(profile: Profile, origin: Array, heading: float, friction: float) -> Mesh:
    """The profile as a mesh, from a place (x, y) on along a direction, an angle from X."""
    points = [(-BEHIND, profile[0][1]), *profile, (profile[-1][0] + BEYOND, profile[-1][1])]
    along = np.array([math.cos(heading), math.sin(heading), 0.0])
    left = np.array([-along[1], along[0], 0.0])
    corners = [
        (origin[0], origin[1], 0.0) + ahead * along + side * left + np.array([0.0, 0.0, height])
        for ahead, height in points
        for side in (-HALF_WIDTH, HALF_WIDTH)
    ]
    triangles = [(k, k + 2, k + 3) for k in range(0, len(corners) - 2, 2)]
    triangles += [(k, k + 3, k + 1) for k in range(0, len(corners) - 2, 2)]
    return Mesh(np.array(corners), np.array(triangles), friction, name="ground")


def facing(clip: Clip, roles: Roles, sample: int) -> float:
    """The direction in which the hips face in a sample, an angle from X."""
    left, right = (clip.skeleton.index(roles[f"thigh.{side}"][0]) for side in "LR")
    x, y = (clip.position[sample, left] - clip.position[sample, right])[:2].tolist()
    return math.atan2(-x, y)


def ahead(clip: Clip, roles: Roles, first: int, last: int) -> tuple[Array, float]:
    """Where a motion starts (x, y), and where it goes, an angle from X; one that stays goes where it faces halfway."""
    pelvis = clip.skeleton.index(roles["pelvis"][0])
    start, end = clip.position[first, pelvis, :2], clip.position[last, pelvis, :2]
    if np.linalg.norm(end - start) > GOES:
        return start, math.atan2(*(end - start)[::-1].tolist())
    return start, facing(clip, roles, (first + last) // 2)
