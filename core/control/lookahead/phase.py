# SPDX-License-Identifier: GPL-3.0-or-later
"""Resetting the phase by contact (Muico et al. 2009, section 5.4).

A foot that touches before its time is locked to the ground while the policy still swings it; moving on to its touchdown
cures that. The opposite, waiting when a foot is late, does harm, and is left out: the policy itself reaches further.
"""

import numpy as np

from ...contact.detection import Contacts
from .height import TOUCHING
from .track import Track

# How many frames ahead a touchdown is looked for.
SEARCH = 15


def next_touchdown(track: Track, frame: int, contacts: Contacts) -> int:
    """Frames to skip so that a body which touches is one that bears load: 0 if there is no reason to."""
    frames = len(track.q)
    touching = {
        int(contacts.body[c])
        for c in range(int(contacts.filled[0]))
        if contacts.other[c] < 0 and contacts.gap[c] < TOUCHING
    }
    for body in sorted(touching & {int(b) for b in track.point_body}):
        loaded = np.any(track.loaded[:, track.point_body == body], axis=1).tolist()
        if loaded[frame]:
            continue
        for ahead in range(1, SEARCH + 1):
            at = frame + ahead
            if at >= frames and track.cycle is None:
                break
            if loaded[at % frames]:
                return ahead
    return 0
