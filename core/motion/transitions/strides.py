# SPDX-License-Identifier: GPL-3.0-or-later
"""A level's laps as they are seen from one of its joints: frame 0 is the joint, at the origin, heading along x."""

import math

import numpy as np

from ...dynamics import difference, integrate
from ..fit import pose_at
from ..moving_frame import Stance, at_fractions, stances_of
from ..quaternions import Array
from ..schedule import ContactSchedule, Mask
from ..tracks import center_of_mass_path, point_places
from .soles import columns_of
from .straight import Level, rows_of, two_soles

GRAVITY = 9.81  # m/s²


class Strides:
    """A lap before the joint, the one after it, and one more."""

    def __init__(self, level: Level, joint: int) -> None:
        reference = level.reference
        self.reference, self.joint = reference, joint
        self.character, self.rate, self.period = reference.character, reference.rate, reference.steps
        self.soles = two_soles(self.character, reference)
        start = level.joints[joint].frame
        frames = range(start - self.period, start + 2 * self.period + 1)
        self.before = self.period  # frames before the joint
        q, schedule = rows_of(reference, frames)
        q[:, 0] -= level.joints[joint].along
        place = schedule.place.copy()
        place[schedule.active, 0] -= level.joints[joint].along
        self.q, self.schedule = q, ContactSchedule(schedule.points, schedule.active, place)
        self.points, self.active = schedule.points, schedule.active
        self._com = center_of_mass_path(self.character, q)
        self._tracks = [point_places(self.character, q, sole.corners) for sole in self.soles]
        self._stances = [
            Stance(one.sole, one.start - self.before, one.stop - self.before)
            for one in stances_of(schedule, self.soles)
        ]
        self.omega = math.sqrt(GRAVITY / float(self._com[:, 2].mean()))

    @property
    def other(self) -> int:
        """The sole that swings at the joint."""
        return 1 - self.joint

    @property
    def takes_over(self) -> int:
        """The frame in which the other foot takes over from the one that carries at the joint."""
        first, other = self.stance(self.joint, 0), self.stance(self.other, 1)
        return round(0.5 * (other.start + first.stop))

    @property
    def gives_back(self) -> int:
        """The frame in which the first foot takes over again."""
        return round(0.5 * (self.stance(self.joint, 1).start + self.stance(self.other, 1).stop))

    def stance(self, sole: int, number: int) -> Stance:
        """The sole's stance that lasts at the joint or ended before it (0), or the one after that (1)."""
        begun = [one for one in self._stances if one.sole == sole and one.start <= 0.0]
        coming = [one for one in self._stances if one.sole == sole and one.start > 0.0]
        return begun[-1] if number == 0 else coming[0]

    def poses(self, frames: Array) -> Array:
        """Positions (n, nq) at frames, fractions allowed."""
        return np.array([pose_at(self.character, self.q, x + self.before) for x in frames])

    def tracks(self, sole: int, frames: Array) -> Array:
        """Corners of a sole (n, corners, 3) at frames."""
        return at_fractions(self._tracks[sole], frames + self.before)

    def middle(self, sole: int, frame: float) -> Array:
        """Where a sole's middle is (2,), seen from above."""
        found: Array = self.tracks(sole, np.array([frame]))[0].mean(axis=0)[:2]
        return found

    def com(self, frames: Array) -> Array:
        """The centre of mass seen from above (n, 2)."""
        at = np.arange(len(self._com)) - self.before
        return np.column_stack([np.interp(frames, at, self._com[:, axis]) for axis in range(2)])

    def com_at(self, frame: float) -> tuple[Array, Array]:
        """Its place (2,) and its velocity, m/s."""
        near = self.com(np.array([frame - 1.0, frame, frame + 1.0]))
        return near[1], 0.5 * self.rate * (near[2] - near[0])

    def set_down(self, sole: int, frame: float) -> Array:
        """The places (n, 3) of a sole's points that it has in the stance around a frame."""
        found: Array = self.schedule.place[round(frame) + self.before, columns_of(self.schedule, self.soles[sole])]
        return found

    def touching(self, sole: int, frames: Array) -> Mask:
        """Which of a sole's points touch (nf, n), at frames rounded to whole ones."""
        rows = np.clip(np.rint(frames).astype(np.int64) + self.before, 0, len(self.active) - 1)
        return self.active[rows][:, columns_of(self.schedule, self.soles[sole])]


def blended(strides: Strides, before: Array, after: Array, share: Array) -> Array:
    """Poses (nf, nq) that go over from some to others as their share (nf,) grows."""
    character = strides.character
    return np.array(
        [
            integrate(character, p, difference(character, p, q), part)
            for p, q, part in zip(before, after, share.tolist(), strict=True)
        ]
    )
