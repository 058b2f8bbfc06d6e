# SPDX-License-Identifier: GPL-3.0-or-later
"""Soles that slip where the motion glides on them; see motion/gliding.py."""

import numpy as np

from ...contact.detection import Contacts
from ...motion.gliding import EASED
from ...motion.quaternions import conjugate, rotate
from ..law import State
from .track import Track


class Slipping:
    """Eases the friction of contacts at soles that are to slip in a step, once for each step."""

    def __init__(self, track: Track) -> None:
        self._body, self._local = track.point_body, track.point_local
        self._friction = 1.0 - (1.0 - EASED) * np.where(track.loaded, track.slips, 0.0)
        self._any = [bool(row.any()) for row in self._friction < 1.0]
        self._last: tuple[float, float] | None = None  # the step that was eased, by its time and a coordinate

    def forget(self) -> None:
        """Begin anew."""
        self._last = None

    def ease(self, frame: int, state: State, contacts: Contacts) -> None:
        """Before the law of the step from a frame is formed, so that law and step know the same friction."""
        if not self._any[frame]:
            return
        step = (state.time, float(state.q[0]))
        if step == self._last:
            return
        self._last = step
        n = int(contacts.filled[0])
        for b in np.unique(self._body[self._friction[frame] < 1.0]):
            own = np.flatnonzero(self._body == b)
            found = np.flatnonzero((contacts.body[:n] == b) & (contacts.other[:n] < 0))
            arm = rotate(conjugate(state.work.quaternion[b]), contacts.point[found] - state.work.position[b])
            nearest = own[np.argmin(np.linalg.norm(arm[:, None] - self._local[own], axis=2), axis=1)]
            contacts.friction[found] *= self._friction[frame, nearest]
