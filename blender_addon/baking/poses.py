# SPDX-License-Identifier: GPL-3.0-or-later
"""A result's poses, in the world and in metres, as poses in the space of the armature that they came from."""

import numpy as np
from numpy.typing import NDArray

from ...core.motion import quaternions
from ...core.motion.quaternions import Array
from ..rig.pose_space import pose_matrices
from ..rig.reading import Sampling

UNSCALED = 1e-4


def rows_of(sampling: Sampling, frames: Array) -> NDArray[np.int64]:
    """Return the row of the source that is nearest to each frame; beyond its end, the last."""
    step = sampling.clip.frames_per_sample
    return np.asarray(
        np.clip(np.rint((frames - sampling.frames[0]) / step).astype(np.int64), 0, len(sampling.frames) - 1)
    )


def armature_poses(poses: Array, sampling: Sampling, rows: NDArray[np.int64] | int) -> Array:
    """Return world poses (nf, nb, 4, 4), in metres, in the armature's space, with the source's scales.

    What comes after the armature's own bones are feet that it does not have, see `core.motion.pegs`.
    """
    poses = poses[:, : sampling.pose.shape[1]]
    rows = np.broadcast_to(rows, len(poses))
    turns = quaternions.from_matrix(poses[..., :3, :3])
    result = pose_matrices(poses[..., :3, 3], turns, sampling.object_matrix[rows], sampling.unit)
    scale = np.linalg.norm(sampling.pose[rows, :, :3, :3], axis=-2)
    if np.abs(scale - 1.0).max() > UNSCALED:
        result[..., :3, :3] *= scale[..., None, :]
    return result
