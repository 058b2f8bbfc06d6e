# SPDX-License-Identifier: GPL-3.0-or-later
"""How high the ground is where the character stands, against where the reference stands.

Without this a descent pulls the root up by the height of every step, until the character hangs from its reference.
"""

import math

import numpy as np
from numpy.typing import NDArray

from ...character import Character
from ...contact.detection import Contacts
from ...dynamics import body_poses
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


def ground_height(track: Track, heights: NDArray[np.float64], frame: int, contacts: Contacts) -> float:
    """Mean height of the ground touched by bodies that the reference stands on, less the reference's; or NaN.

    `heights` (np,) are the reference's own at this frame.
    """
    loaded = track.loaded[frame]
    bodies = {int(track.point_body[p]) for p in np.flatnonzero(loaded)}
    found = [
        float(contacts.point[c, 2] - contacts.gap[c] * contacts.normal[c, 2])
        for c in range(int(contacts.filled[0]))
        if contacts.other[c] < 0 and contacts.gap[c] < TOUCHING and int(contacts.body[c]) in bodies
    ]
    if not found:
        return math.nan
    return sum(found) / len(found) - float(heights[loaded].mean())
