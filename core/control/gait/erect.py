# SPDX-License-Identifier: GPL-3.0-or-later
"""The neutral pose on legs that hang straight from the hips: in rest poses of captured skeletons they are spread."""

import numpy as np
from numpy.typing import NDArray

from ...character import Character
from ...character.tree import BALL
from ...dynamics import body_poses
from ...motion import quaternions

Array = NDArray[np.float64]

SPREAD = np.radians(3.0)  # of a leg from the vertical, from which on it is brought back
DOWN = np.array([0.0, 0.0, -1.0])


def erect(character: Character, thighs: NDArray[np.int64], feet: NDArray[np.int64]) -> Array:
    """The pose (nq,); feet are turned in the world as they were."""
    tree, result = character.tree, character.neutral()
    place, turn = body_poses(character, result)
    starts = [*tree.position_start.tolist(), character.nq]
    for thigh, foot in zip(thighs.tolist(), feet.tolist(), strict=True):
        leg = place[foot] - place[thigh]
        spread = np.arccos(np.clip(leg @ DOWN / np.linalg.norm(leg), -1.0, 1.0))
        if spread < SPREAD or tree.joint[thigh] != BALL or tree.joint[foot] != BALL:
            continue
        back = quaternions.between(leg, DOWN)
        above = quaternions.multiply(turn[tree.parent[thigh]], tree.offset_quaternion[thigh])
        wanted = quaternions.multiply(back, turn[thigh])
        result[starts[thigh] : starts[thigh + 1]] = quaternions.multiply(quaternions.conjugate(above), wanted)
        shank = quaternions.multiply(back, turn[tree.parent[foot]])
        above = quaternions.multiply(shank, tree.offset_quaternion[foot])
        result[starts[foot] : starts[foot + 1]] = quaternions.multiply(quaternions.conjugate(above), turn[foot])
    place_there = body_poses(character, result)[0]
    result[2] += float(place[feet, 2].min() - place_there[feet, 2].min())
    return result
