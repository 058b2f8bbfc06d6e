# SPDX-License-Identifier: GPL-3.0-or-later
"""A motion as it is while it is being optimised: where its bones are, for somebody who waits to look at.

On uneven ground only the finished reference tells how high it starts; until then it is as on the clip's own floor.
"""

import numpy as np

from ..motion.fit import Trajectory
from ..motion.prepare import Performance
from ..motion.quaternions import Array
from ..motion.residuals import with_residuals


def bone_heads(performance: Performance, start: int, q: Array, height: float, frames: Array) -> Array:
    """Places (nf, nb, 3) of the bones' heads at the clip's frames (nf,).

    `q` are poses from the performance's sample `start` on, on a floor that is this high in the scene.
    """
    whole = performance.trajectory
    sample = np.rint((frames - whole.first_frame) / whole.frames_per_sample).astype(np.int64)
    row = np.clip(sample - start, 0, len(q) - 1)
    kept = performance.residuals.at((start + row).astype(np.float64))
    poses = Trajectory(whole.rate, np.ascontiguousarray(q[row]), np.zeros((len(row), 0)))
    place = with_residuals(performance.plan, poses, kept).position
    place[..., 2] += height
    if len(performance.way):
        place[..., :2] -= performance.way[np.clip(start + row, 0, len(performance.way) - 1), None]
    return place
