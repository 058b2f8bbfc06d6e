# SPDX-License-Identifier: GPL-3.0-or-later
"""Resetting the phase by contact (Muico et al. 2009, section 5.4: by "the presence or absence of contacts").

A foot that touches before its time is locked to the ground while the policy still swings it; moving on to its touchdown
cures that. The opposite is to wait at the touchdown of a foot that is late.
"""

import numpy as np

from ...contact.detection import Contacts
from .height import TOUCHING
from .track import Track

# How many frames ahead a touchdown is looked for, and how long a late one is waited for.
SEARCH = 15


def next_touchdown(track: Track, frame: int, contacts: Contacts) -> int:
    """Frames to skip so that a body which touches is one that bears load: 0 if there is no reason to."""
    frames, touching, standing = len(track.q), _touching(contacts), track.touching
    for body in sorted(touching & {int(b) for b in track.point_body}):
        loaded = np.any(standing[:, track.point_body == body], axis=1).tolist()
        if loaded[frame]:
            continue
        for ahead in range(1, SEARCH + 1):
            at = frame + ahead
            if at >= frames and track.cycle is None:
                break
            if loaded[at % frames]:
                return ahead
    return 0


def is_overdue(track: Track, frame: int, contacts: Contacts) -> bool:
    """Whether a body that begins to bear load at this frame does not touch yet."""
    if frame == 0 and track.cycle is None:
        return False
    stands = track.touching
    begins = stands[frame] & ~stands[frame - 1]
    stood = {int(body) for body in track.point_body[stands[frame - 1]]}
    return bool({int(body) for body in track.point_body[begins]} - stood - _touching(contacts))


def _touching(contacts: Contacts) -> set[int]:
    """Bodies that touch the terrain."""
    return {
        int(contacts.body[c])
        for c in range(int(contacts.filled[0]))
        if contacts.other[c] < 0 and contacts.gap[c] < TOUCHING
    }
