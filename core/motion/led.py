# SPDX-License-Identifier: GPL-3.0-or-later
"""`Meeting`: what another has to do with a point of a body, over time. It is led somewhere, and pulled."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..character import Character, check
from .outside import SURE, Outside
from .quaternions import Array
from .schedule import ContactPoint


@dataclass(frozen=True, eq=False)
class Meeting:
    """A point of a body meets another character; samples are those of the simulation's steps."""

    body: str
    start: float  # time of the first sample, s
    point: Array  # (n, 3) where that point is in the body's frame, m
    place: Array  # (n, 3) where it is led to in the world, m
    force: Array  # (n, 3) on it in the step that leads to each sample, N
    led: bool = True  # or it is wherever the motion has it, and only pulled
    weight: float = SURE  # of half the square by which the force may differ, per squared newton

    def __post_init__(self) -> None:
        owner = f"the meeting of '{self.body}'"
        check.name(self.body, "meeting's body")
        object.__setattr__(self, "start", check.number(self.start, "start", owner))
        object.__setattr__(self, "weight", check.positive(self.weight, "weight", owner))
        for name in ("point", "place", "force"):
            array = np.array(getattr(self, name), dtype=np.float64)
            if array.shape != (len(self.place), 3) or len(array) < 1 or not np.isfinite(array).all():
                raise ValueError(f"The {name} of {owner} must be finite, of shape (n, 3).")
            object.__setattr__(self, name, array)


def outside_of(meetings: Sequence[Meeting], character: Character, frames: int, rate: float, later: float) -> Outside:
    """Meetings over a motion of so many frames that begins so much later, s, than they count from."""
    count = len(meetings)
    held, place = np.zeros((frames, count), dtype=np.bool_), np.zeros((frames, count, 3))
    force, local = np.zeros((frames - 1, count, 3)), np.zeros((frames, count, 3))
    points = []
    for i, meeting in enumerate(meetings):
        points.append(ContactPoint(f"meeting_{i + 1}", character.index(meeting.body), (0.0, 0.0, 0.0), grab=True))
        first = round((meeting.start - later) * rate)
        rows = np.arange(max(first, 0), min(first + len(meeting.place), frames))
        held[rows, i] = meeting.led
        local[:, i] = meeting.point[np.clip(np.arange(frames) - first, 0, len(meeting.point) - 1)]
        place[rows, i] = meeting.place[rows - first] * meeting.led
        led_to = rows[rows > 0]
        force[led_to - 1, i] = meeting.force[led_to - first]
    return Outside(tuple(points), local, force, held, place, np.array([meeting.weight for meeting in meetings]))
