# SPDX-License-Identifier: GPL-3.0-or-later
"""Simulated and keyed motion in one: some bones of the one, some of the other, or a part of both. Pure data.

Poses are mixed bone by bone, each as seen from its parent: a bone turns part of the way, and what hangs from it goes
along. So limbs keep their lengths, and an animated upper body rides on simulated legs.
"""

import numpy as np
from numpy.typing import NDArray

from ...core.motion import quaternions
from ...core.motion.quaternions import Array


def ramps(frames: Array, blend_in: float, blend_out: float) -> Array:
    """Return weights (nf,) that rise from 0 over the first frames and fall to 0 over the last, smoothly."""
    weight = np.ones(len(frames))
    if blend_in > 0.0:
        weight *= smooth((frames - frames[0]) / blend_in)
    if blend_out > 0.0:
        weight *= smooth((frames[-1] - frames) / blend_out)
    return weight


def smooth(share: Array) -> Array:
    """Return a step from 0 to 1 that starts and ends level."""
    share = np.clip(share, 0.0, 1.0)
    return np.asarray(share * share * (3.0 - 2.0 * share))


def mix(keyed: Array, simulated: Array, weight: Array, parent: NDArray[np.int64]) -> Array:
    """Return poses (nf, nb, 4, 4) between keyed and simulated ones by weights (nf, nb). Parents come first."""
    if (weight >= 1.0).all():
        return simulated
    result = np.empty_like(simulated)
    # A bone is as simulated where it and all that it hangs from are.
    whole = np.asarray((weight >= 1.0).all(axis=0))
    for bone, above in enumerate(parent):
        if above >= 0:
            whole[bone] &= whole[above]
        if whole[bone]:
            result[:, bone] = simulated[:, bone]
            continue
        if above < 0:
            result[:, bone] = between(keyed[:, bone], simulated[:, bone], weight[:, bone])
            continue
        local = between(
            np.asarray(np.linalg.solve(keyed[:, above], keyed[:, bone]), dtype=np.float64),
            np.asarray(np.linalg.solve(simulated[:, above], simulated[:, bone]), dtype=np.float64),
            weight[:, bone],
        )
        result[:, bone] = result[:, above] @ local
    return result


def between(one: Array, other: Array, weight: Array) -> Array:
    """Return transforms (nf, 4, 4) a part of the way from one to the other: turned along the shortest arc."""
    if (weight <= 0.0).all():
        return one
    lengths = [np.linalg.norm(matrix[:, :3, :3], axis=1) for matrix in (one, other)]
    turns = [
        quaternions.from_matrix(matrix[:, :3, :3] / length[:, None, :])
        for matrix, length in zip((one, other), lengths, strict=True)
    ]
    way = quaternions.log(quaternions.multiply(quaternions.conjugate(turns[0]), turns[1]))
    turn = quaternions.multiply(turns[0], quaternions.exp(weight[:, None] * way))
    part = weight[:, None]
    result = np.zeros_like(one)
    result[:, :3, :3] = quaternions.matrix(turn) * ((1.0 - part) * lengths[0] + part * lengths[1])[:, None, :]
    result[:, :3, 3] = (1.0 - part) * one[:, :3, 3] + part * other[:, :3, 3]
    result[:, 3, 3] = 1.0
    return result
