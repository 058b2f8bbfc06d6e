# SPDX-License-Identifier: GPL-3.0-or-later
"""How high the ground is where the character stands, against where the reference stands.

Without this a descent pulls the root up by the height of every step, until the character hangs from its reference.
"""

import numpy as np
from numpy.typing import NDArray

from ...character import Character
from ...contact.detection import Contacts
from ...dynamics import body_poses
from ...maths.kernel import inner_kernel
from ...motion.quaternions import rotate
from .track import Track

# A point that is nearer than this to the terrain stands on it, m.
TOUCHING = 0.003


def point_heights(character: Character, track: Track) -> NDArray[np.float64]:
    """Height of the track's points (nf, np) in its own coordinates, m."""
    heights = np.zeros(track.loaded.shape)
    for k, q in enumerate(track.q):
        position, orientation = body_poses(character, q)
        points = position[track.point_body] + rotate(orientation[track.point_body], track.point_local)
        heights[k] = points[:, 2]
    return heights


@inner_kernel
def ground_height(
    contacts: Contacts, loaded: NDArray[np.bool_], point_body: NDArray[np.int64], heights: NDArray[np.float64]
) -> float:
    """Mean height of the ground touched by bodies that the reference stands on, less the reference's; or NaN.

    `loaded` (np,) says which of the track's points, on bodies `point_body` (np,), bear load at this frame; `heights`
    (np,) are the reference's own.
    """
    found = own = 0.0
    count = points = 0
    for c in range(contacts.filled[0]):
        if contacts.other[c] >= 0 or not contacts.gap[c] < TOUCHING:
            continue
        for p in range(loaded.shape[0]):
            if loaded[p] and point_body[p] == contacts.body[c]:
                found += contacts.point[c, 2] - contacts.gap[c] * contacts.normal[c, 2]
                count += 1
                break
    for p in range(loaded.shape[0]):
        if loaded[p]:
            own += heights[p]
            points += 1
    if count == 0:
        return np.nan
    return found / count - own / points
