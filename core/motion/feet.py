# SPDX-License-Identifier: GPL-3.0-or-later
"""Where a foot meets the ground: the sole's plane and its corners, from the clip, the mesh, or the bones alone."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from . import quaternions
from .clip import Clip, Skeleton
from .quaternions import Array

FLAT_SPEED = 0.25  # m/s: a foot both of whose ends are slower than this stands
FEWEST_FLAT = 5  # samples from which a sole's plane may be taken
STEEP = 0.75  # sine of a paw's slope above which an animal walks on its toes
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


def flat_samples(clip: Clip, foot: int, tip: Array) -> NDArray[np.bool_]:
    """Samples in which a foot stands: both its origin and its `tip`, places (n, 3), are slow."""
    if len(tip) < 3:
        return np.ones(len(tip), dtype=np.bool_)
    speeds = [np.linalg.norm(np.gradient(point, axis=0), axis=1) for point in (clip.position[:, foot], tip)]
    return np.maximum(*speeds) * clip.rate < FLAT_SPEED


def find_sole(
    skeleton: Skeleton,
    clip: Clip | None,
    chain: tuple[int, ...],
    heading: Array,
    stature: float,
    vertices: Array | None,
    floor: float | None,
) -> Sole:
    """The sole of a foot whose bones are `chain`, toes last.

    `heading` (4,) turns X to where the skeleton faces; `vertices` (n, 3) are those of its mesh at rest, if known;
    `floor` is the ground's height under the rest pose, if it stands on any.
    """
    foot = chain[0]
    ankle = skeleton.head[foot]
    ball = skeleton.head[chain[1]] if len(chain) > 1 else skeleton.tail[foot]
    tip = skeleton.tail[chain[-1]]
    up = _rest_up(skeleton, clip, foot, ball)
    along = ball - ankle
    if np.linalg.norm(along - (along @ up) * up) < 0.01 * stature:
        along = quaternions.rotate(heading, np.array([1.0, 0.0, 0.0]))
    forward = along - (along @ up) * up
    forward /= np.linalg.norm(forward)
    orientation = quaternions.from_matrix(np.column_stack([forward, np.cross(up, forward), up]))
    seen = quaternions.rotate(quaternions.conjugate(orientation), np.array([ball, tip]) - ankle)
    depth = -float(seen[0, 2])
    length = float(np.linalg.norm(ball - ankle))
    if vertices is not None and len(vertices) >= 4:
        return _of_mesh(orientation, quaternions.rotate(quaternions.conjugate(orientation), vertices - ankle))
    half = HALF_WIDTH * stature
    if depth > STEEP * length:
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
    """The direction at rest that points up when the foot stands: the median over the clip, else the world's."""
    if clip is None:
        return UP
    local = quaternions.rotate(quaternions.conjugate(skeleton.orientation[foot]), ball - skeleton.head[foot])
    tip = clip.position[:, foot] + quaternions.rotate(clip.orientation[:, foot], local)
    flat = flat_samples(clip, foot, tip)
    if flat.sum() < FEWEST_FLAT:
        return UP
    back = quaternions.multiply(skeleton.orientation[foot], quaternions.conjugate(clip.orientation[flat, foot]))
    up: Array = np.median(quaternions.rotate(back, UP), axis=0)
    length = float(np.linalg.norm(up))
    # a foot that stood on its back would be a mistake of the roles, not a sole
    return up / length if length > 0.1 and up[2] > 0.1 * length else UP


def _of_mesh(orientation: Array, points: Array) -> Sole:
    """The extent of what of the mesh, seen from the ankle, lies within a tenth of its height above its lowest points."""
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
