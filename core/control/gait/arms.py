# SPDX-License-Identifier: GPL-3.0-or-later
"""Arms that hang down, which a style swings: rigs rest with their arms held out, and strides begin with one ahead."""

import numpy as np
from numpy.typing import NDArray

from ...character import Character
from ...character.tree import BALL
from ...dynamics import body_poses
from ...motion import quaternions

Array = NDArray[np.float64]
Indices = NDArray[np.int64]

DOWN = np.array([0.0, 0.0, -1.0])


def hang_arms(character: Character, arm: Indices, pose: Array) -> Array:
    """The pose (nq,), but with arms that hang from the neutral trunk, as straight as the neutral pose's are.

    An arm [upper_arm] is a body with a ball at the shoulder; -1 stands for one that stays as it is.
    """
    tree, result = character.tree, pose.copy()
    neutral = character.neutral()
    place, turn = body_poses(character, neutral)
    starts = [*tree.position_start.tolist(), character.nq]
    for shoulder in arm.tolist():
        if shoulder < 0 or tree.joint[shoulder] != BALL:
            continue
        for b in below(character, shoulder):
            result[starts[b] : starts[b + 1]] = neutral[starts[b] : starts[b + 1]]
        elbow = np.flatnonzero(tree.parent == shoulder)
        if len(elbow) > 0:
            back = quaternions.conjugate(turn[shoulder])
            along = quaternions.rotate(back, place[elbow[0]] - place[shoulder])
            lowered = quaternions.between(along, quaternions.rotate(back, DOWN))
            own = slice(starts[shoulder], starts[shoulder + 1])
            result[own] = quaternions.multiply(neutral[own], lowered)
    return result


def below(character: Character, *bodies: int) -> list[int]:
    """Bodies, and all that hangs from them."""
    found = set(bodies)
    for b, parent in enumerate(character.tree.parent.tolist()):
        if parent in found:
            found.add(b)
    return sorted(found)
