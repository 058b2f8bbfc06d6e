# SPDX-License-Identifier: GPL-3.0-or-later
"""The pose that a walk begins in: in the middle of a stride there would have to be the speed that belongs to it."""

import numpy as np
from numpy.typing import NDArray

from ...character import Character
from ...dynamics import body_poses, center_of_mass
from ...motion import quaternions
from .arms import below
from .biped import SIDES, Biped
from .erect import erect

Array = NDArray[np.float64]

BESIDE = 0.15  # of the legs' length, how far one foot may be ahead of the other
WITHIN = 0.8  # of the soles, that the center of mass is over
LEVEL = 0.01  # of it, how much higher: a foot that swings past the other is
ERECT = np.cos(np.radians(15.0))


def standing(character: Character, biped: Biped, pose: Array) -> Array:
    """The pose (nq,), if it stands on both feet beside each other; else with straight legs, the pelvis upright."""
    place, turn = body_poses(character, pose)
    ahead = quaternions.rotate(turn[0], np.array([1.0, 0.0, 0.0]))
    ahead[2] = 0.0
    ahead /= max(float(np.linalg.norm(ahead)), 1e-9)
    heights = _sole_heights(biped, place, turn)
    left, right = place[biped.foot]
    leg = biped.height
    center = center_of_mass(character, pose) - 0.5 * (left + right)
    heel, tip = biped.sole[:, 0].max(), biped.sole[:, 1].min()
    if (
        abs((left - right) @ ahead) <= BESIDE * leg
        and WITHIN * heel <= center @ ahead <= WITHIN * tip
        and abs(heights[0] - heights[1]) <= LEVEL * leg
        and quaternions.rotate(turn[0], np.array([0.0, 0.0, 1.0]))[2] >= ERECT
    ):
        return pose.copy()
    straight = erect(character, biped.thigh, biped.foot)
    result = pose.copy()
    starts = [*character.tree.position_start.tolist(), character.nq]
    for b in below(character, *biped.thigh.tolist()):
        joint = slice(starts[b], starts[b + 1])
        result[joint] = straight[joint]
    yaw = np.arctan2(ahead[1], ahead[0])
    result[3:7] = np.cos(0.5 * yaw), 0.0, 0.0, np.sin(0.5 * yaw)
    result[2] += heights.min() - _sole_heights(biped, *body_poses(character, result)).min()
    return result


def _sole_heights(biped: Biped, place: Array, turn: Array) -> Array:
    """Height (2,) of the lowest corner of each sole."""
    heights = []
    for side in range(len(SIDES)):
        heel, tip, half_width, depth = biped.sole[side]
        corners = np.array([(x, y, -depth) for x in (heel, tip) for y in (-half_width, half_width)])
        foot = biped.foot[side]
        heights.append(float((place[foot] + quaternions.rotate(turn[foot], corners))[:, 2].min()))
    return np.array(heights)
