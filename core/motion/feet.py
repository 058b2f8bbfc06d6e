# SPDX-License-Identifier: GPL-3.0-or-later
"""Where a foot meets the ground: the sole's plane and its corners, from the clip, the mesh, or the bones alone."""

import math
from typing import NamedTuple

import numpy as np

from . import quaternions
from .clip import Clip, Skeleton
from .quaternions import Array

# m/s: a foot both of whose ends are slower than this stands. A runner's feet hardly stop: where the first speed finds
# too few samples, the next is tried.
FLAT_SPEEDS = (0.25, 0.5, 1.0)
FEWEST_FLAT = 5  # samples from which a sole's plane may be taken
STEEP = 0.75  # sine of a foot's slope from which on an animal, or a figure with so long a foot, walks on its toes
STEEPEST_SOLE = math.radians(38.0)  # between a person's sole and the line from ankle to ball
LONG_FOOT = 0.1  # of stature: as high above its toes an ankle is no person's
UP = np.array([0.0, 0.0, 1.0])

# Fractions of stature; ankle and heel as in character.presets.person.
ANKLE_HEIGHT = 0.039
HEEL = 0.03
TOE = 0.115
TOE_PART = 0.35  # of the toes' length, beyond their joint, that carries weight
HALF_WIDTH = 0.023
ANKLE_PADDING = 0.005  # m
TOE_PADDING = 0.018  # m


class Sole(NamedTuple):
    """A rectangle below a foot, in a frame at the ankle: X forward along the sole, Z out of the ground."""

    orientation: Array  # (4,) of that frame in the world at rest
    height: float  # of the ankle above the sole, m
    back: float  # X of the heel
    front: float  # X of the toe
    right: float  # Y of the edges
    left: float


def greatest_speed(points: Array, rate: float) -> Array:
    """Speed (nf, ...) of the fastest of points (nf, ..., points, 3)."""
    if len(points) < 3:
        return np.zeros(points.shape[:-2])
    speed: Array = np.linalg.norm(np.gradient(points, axis=0), axis=-1).max(axis=-1) * rate
    return speed


def find_sole(
    skeleton: Skeleton,
    clip: Clip | None,
    chain: tuple[int, ...],
    heading: Array,
    stature: float,
    vertices: Array | None,
    floor: float | None,
    quadruped: bool,
    *,
    digits: bool = False,
) -> Sole:
    """The sole of a foot whose bones are `chain`, toes last; of one that has no more than `digits` all of them.

    `heading` (4,) turns X to where the skeleton faces; `vertices` (n, 3) are those of its mesh at rest, if known;
    `floor` is the ground's height under the rest pose, if it stands on any.
    """
    foot = chain[0]
    ankle = skeleton.head[foot]
    ball = skeleton.head[chain[1]] if len(chain) > 1 else skeleton.tail[foot]
    tip = skeleton.tail[chain[-1]]
    drop = float(ankle[2] - ball[2])
    steep = drop > STEEP * float(np.linalg.norm(ball - ankle)) and (quadruped or drop > LONG_FOOT * stature)
    up = UP if steep or floor is not None else _rest_up(skeleton, clip, foot, ball)
    along = ball - ankle
    if np.linalg.norm(along - (along @ up) * up) < 0.01 * stature:
        along = quaternions.rotate(heading, np.array([1.0, 0.0, 0.0]))
    forward = along - (along @ up) * up
    forward /= np.linalg.norm(forward)
    orientation = quaternions.from_matrix(np.column_stack([forward, np.cross(up, forward), up]))
    seen = quaternions.rotate(quaternions.conjugate(orientation), np.array([ball, tip]) - ankle)
    depth = -float(seen[0, 2])
    if vertices is not None and len(vertices) >= 4:
        return _of_mesh(orientation, quaternions.rotate(quaternions.conjugate(orientation), vertices - ankle))
    half = HALF_WIDTH * stature
    if digits and len(chain) == 1:
        seen[0] = 0.0
    if steep or digits:
        return _of_paw(orientation, seen, half, None if floor is None else float(ankle[2]) - floor)
    height = max(ANKLE_HEIGHT * stature + ANKLE_PADDING, depth + TOE_PADDING)
    if floor is not None and 0.5 * ANKLE_HEIGHT * stature < ankle[2] - floor < 3.0 * ANKLE_HEIGHT * stature:
        height = float(ankle[2] - floor)
    front = float(seen[0, 0])
    if len(chain) > 1:
        front += TOE_PART * float(np.linalg.norm(tip - ball))
    return Sole(
        orientation,
        height,
        -HEEL * stature,
        float(np.clip(front, 0.5 * TOE * stature, 2.0 * TOE * stature)),
        -half,
        half,
    )


def _rest_up(skeleton: Skeleton, clip: Clip | None, foot: int, ball: Array) -> Array:
    """The direction at rest that points up when the foot stands: the median over the clip, else the world's.

    A foot that never stands still may be up on its ball whenever it is slow: then no steeper than any person's.
    """
    if clip is None:
        return UP
    local = quaternions.rotate(quaternions.conjugate(skeleton.orientation[foot]), ball - skeleton.head[foot])
    tip = clip.position[:, foot] + quaternions.rotate(clip.orientation[:, foot], local)
    speed = greatest_speed(np.stack([clip.position[:, foot], tip], axis=1), clip.rate)
    limit = next((limit for limit in FLAT_SPEEDS if np.sum(speed < limit) >= FEWEST_FLAT), None)
    if limit is None:
        return UP
    flat = speed < limit
    back = quaternions.multiply(skeleton.orientation[foot], quaternions.conjugate(clip.orientation[flat, foot]))
    up: Array = np.median(quaternions.rotate(back, UP), axis=0)
    length = float(np.linalg.norm(up))
    # a foot that stood on its back would be a mistake of the roles, not a sole
    if length <= 0.1 or up[2] <= 0.1 * length:
        return UP
    return up / length if limit == FLAT_SPEEDS[0] else _no_steeper(up / length, ball - skeleton.head[foot])


def _no_steeper(up: Array, down: Array) -> Array:
    """The nearest direction to `up` under which a foot that reaches `down` from its ankle is no steeper than any."""
    way = down / np.linalg.norm(down)
    steep = math.asin(float(np.clip(-way @ up, -1.0, 1.0)))
    if steep <= STEEPEST_SOLE or steep > math.radians(89.0):
        return up
    across = up - (up @ way) * way
    across /= np.linalg.norm(across)
    result: Array = math.cos(STEEPEST_SOLE) * across - math.sin(STEEPEST_SOLE) * way
    return result


def _of_mesh(orientation: Array, points: Array) -> Sole:
    """The extent of what of the mesh, seen from the ankle, lies within a tenth of its height of its lowest points."""
    lowest = float(np.percentile(points[:, 2], 1.0))
    sole = points[points[:, 2] < lowest + max(0.1 * abs(lowest), 1e-3)]
    back, right, _ = np.percentile(sole, 2.0, axis=0)
    front, left, _ = np.percentile(sole, 98.0, axis=0)
    return Sole(orientation, max(-lowest, 1e-3), float(back), float(front), float(right), float(left))


def _of_paw(orientation: Array, seen: Array, half: float, above_floor: float | None) -> Sole:
    """Toes alone: from the joint of the toes to their tip, or a square around the tip."""
    (ball_x, _, ball_z), (tip_x, _, tip_z) = seen.tolist()
    height = -min(ball_z, tip_z) + 0.5 * half
    if above_floor is not None and 0.5 * height < above_floor < 1.5 * height:
        height = above_floor
    return Sole(orientation, height, min(ball_x, tip_x - half), max(tip_x, ball_x + half), -half, half)
