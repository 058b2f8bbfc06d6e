# SPDX-License-Identifier: GPL-3.0-or-later
"""What of a performance a character cannot do, kept beside its trajectory, and both together as a clip again.

A bone's rotation in its body is the constant of the body plan times a residual: a knee's twist, a finger's curl. Its
place is kept in the frame of the bone that it hangs from, so that bones stay joined whatever the character does; else
in its body's frame. Bones without a body keep their pose in the world; those that go along with one (followers.py) are
none of them.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from . import quaternions
from .body_plan import BodyPlan
from .clip import Clip
from .cycle import Cycle
from .cycles import power
from .fit import Trajectory, body_poses
from .quaternions import Array


@dataclass(frozen=True)
class Residuals:
    """What the character leaves of a clip, sample by sample."""

    place: Array  # (nf, bones, 3) in the bone above, the body or the world, see above
    turn: Array  # (nf, bones, 4) after the bone's rest in its body; in the world for bones without one

    def cut(self, start: int, stop: int) -> "Residuals":
        """Samples start to stop - 1."""
        return Residuals(self.place[start:stop], self.turn[start:stop])

    def at(self, samples: Array) -> "Residuals":
        """Residuals at the given samples (n,), fractions allowed: for a character that runs ahead or falls behind."""
        samples = np.clip(samples, 0.0, len(self.place) - 1.0)
        before = samples.astype(np.int64)
        after = np.minimum(before + 1, len(self.place) - 1)
        part = (samples - before)[:, None, None]
        way = quaternions.log(quaternions.multiply(quaternions.conjugate(self.turn[before]), self.turn[after]))
        return Residuals(
            (1.0 - part) * self.place[before] + part * self.place[after],
            quaternions.multiply(self.turn[before], quaternions.exp(part * way)),
        )

    def repeated(self, cycle: Cycle, frames: NDArray[np.int64], loose: NDArray[np.bool_]) -> "Residuals":
        """Any frames (n,) of the laps that a cycle's frames 0 to N make in a row, also of those before.

        `loose` bones (nb,), without a body, go on with the laps. What the clip lacks to close is spread over the cycle.
        """
        lap, frame = np.divmod(frames, len(self.place) - 1)
        whole = self._closed(cycle, loose)
        place, turn = whole.place[frame], whole.turn[frame]
        move_on(place, turn, lap, cycle, loose)
        return Residuals(place, quaternions.continuous(turn))

    def _closed(self, cycle: Cycle, loose: NDArray[np.bool_]) -> "Residuals":
        """Those of frames 0 to N whose last are the first, of loose bones the first moved on."""
        last = len(self.place) - 1
        share = (0.5 - np.arange(last + 1) / last)[:, None, None]
        end = Residuals(self.place[-1:].copy(), self.turn[-1:].copy())
        move_on(end.place, end.turn, np.array([-1]), cycle, loose)
        lacking = np.repeat(end.place - self.place[:1], last + 1, axis=0)
        for k in range(last + 1):  # in axes that turn along
            lacking[k, loose] = lacking[k, loose] @ Cycle((0.0, 0.0), cycle.turn * k / last).rotation.T
        way = quaternions.log(quaternions.multiply(quaternions.conjugate(self.turn[:1]), end.turn))
        return Residuals(
            self.place + share * lacking,
            quaternions.multiply(self.turn, quaternions.exp(share * way)),
        )


def move_on(place: Array, turn: Array, lap: NDArray[np.int64], cycle: Cycle, loose: NDArray[np.bool_]) -> None:
    """Move the loose of the bones at places (nf, nb, 3) and turns (nf, nb, 4) on by the laps (nf,) of their frames."""
    columns = np.flatnonzero(loose)[None]
    for number in np.unique(lap[lap != 0]).tolist():
        way, rows = power(cycle, number), np.flatnonzero(lap == number)[:, None]
        place[rows, columns] = way.move_points(place[rows, columns])
        spin = quaternions.exp(np.array([0.0, 0.0, way.turn]))
        turn[rows, columns] = quaternions.multiply(spin, turn[rows, columns])


def take_residuals(plan: BodyPlan, clip: Clip, trajectory: Trajectory) -> Residuals:
    """What of the clip the trajectory lacks."""
    place, turn = _carriers(plan, trajectory)
    rest = quaternions.multiply(turn, plan.offset[None])
    hangs = plan.hangs_from >= 0
    above = plan.hangs_from[hangs]
    back, origin = quaternions.conjugate(turn), place.copy()
    back[:, hangs] = quaternions.conjugate(clip.orientation[:, above])
    origin[:, hangs] = clip.position[:, above]
    return Residuals(
        quaternions.rotate(back, clip.position - origin),
        quaternions.continuous(quaternions.multiply(quaternions.conjugate(rest), clip.orientation)),
    )


def with_residuals(plan: BodyPlan, trajectory: Trajectory, residuals: Residuals) -> Clip:
    """The skeleton's poses along any trajectory of the character, with what it lacks laid back over it."""
    if len(residuals.place) != len(trajectory.q):
        raise ValueError(
            f"There are residuals for {len(residuals.place)} samples, but the trajectory has {len(trajectory.q)}."
        )
    carrier_place, carrier_turn = _carriers(plan, trajectory)
    turn = quaternions.multiply(quaternions.multiply(carrier_turn, plan.offset[None]), residuals.turn)
    place = carrier_place + quaternions.rotate(carrier_turn, residuals.place)
    for bone in _from_above(plan.hangs_from):
        above = plan.hangs_from[bone]
        place[:, bone] = place[:, above] + quaternions.rotate(turn[:, above], residuals.place[:, bone])
    return Clip(
        plan.skeleton,
        trajectory.rate,
        place,
        quaternions.continuous(quaternions.normalize(turn)),
        trajectory.first_frame,
        trajectory.frames_per_sample,
    )


def _from_above(hangs_from: NDArray[np.int64]) -> list[int]:
    """The bones that hang from others, each after the one that it hangs from."""
    depth = np.zeros(len(hangs_from), dtype=np.int64)
    above = hangs_from.copy()
    while (above >= 0).any():
        depth += above >= 0
        above = np.where(above >= 0, hangs_from[above], -1)
    return [bone for bone in np.argsort(depth, kind="stable").tolist() if depth[bone]]


def _carriers(plan: BodyPlan, trajectory: Trajectory) -> tuple[Array, Array]:
    """Pose of what each bone rides on: its body, or the world."""
    place, turn = body_poses(plan.character, trajectory.q)
    place, turn = place[:, plan.body], turn[:, plan.body]
    loose = plan.body < 0
    place[:, loose] = 0.0
    turn[:, loose] = np.array([1.0, 0.0, 0.0, 0.0])
    return place, turn
