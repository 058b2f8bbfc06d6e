# SPDX-License-Identifier: GPL-3.0-or-later
"""Controls from which simulated bones hang, where their constraints are muted: they go along instead of standing.

Nothing that follows depends on them then, so that they may: whoever falls takes the torso's control along. What they go
along with is what they move with in the keyed motion. Pure data.
"""

from collections.abc import Iterable

import numpy as np

from ...core.motion.clip import Clip
from ...core.motion.followers import ancestors, with_followers
from ...core.motion.quaternions import Array


def taken_along(clip: Clip, simulated: Iterable[str], keyed: Array, poses: Array) -> Array:
    """Return poses (nf, nb, 4, 4) in which what the `simulated` bones hang from goes along with one of them.

    `keyed` are the poses of the same frames as they were keyed, in the same space.
    """
    names = clip.skeleton.names
    own = np.array(sorted({names.index(name) for name in simulated if name in names}), dtype=np.int64)
    body = np.full(len(names), -1, dtype=np.int64)
    body[own] = np.arange(len(own))
    found = with_followers(clip, body, own, above=True)
    above = ancestors(clip.skeleton.parent, body >= 0) & (body < 0) & (found >= 0)
    result = poses.copy()
    for bone in np.flatnonzero(above):
        leader = own[found[bone]]
        result[:, bone] = poses[:, leader] @ np.linalg.solve(keyed[:, leader], keyed[:, bone])
    return result
