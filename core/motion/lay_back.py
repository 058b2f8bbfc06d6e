# SPDX-License-Identifier: GPL-3.0-or-later
"""What of a performance a character cannot do, kept beside its trajectory, and both together as a clip again.

A bone's rotation in its body is the constant of the body plan times a residual: a knee's twist, a finger's curl. Its
place is kept in its parent bone's frame where that parent rides on the same body or on one further up, so that bones
stay joined whatever the character does; else in its body's frame. Bones without a body keep their pose in the world.
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

    place: Array  # (nf, bones, 3) in the parent bone, the body or the world, see above
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

    def closed(self) -> "Residuals":
        """Those of a cycle's frames 0 to N, whose last are the first: what they lack is spread over all of them."""
        last = len(self.place) - 1
        share = (0.5 - np.arange(last + 1) / last)[:, None, None]
        place = self.place + share * (self.place[-1] - self.place[0])
        way = quaternions.log(quaternions.multiply(quaternions.conjugate(self.turn[0]), self.turn[-1]))
        return Residuals(place, quaternions.multiply(self.turn, quaternions.exp(share * way[None])))

    def repeated(self, cycle: Cycle, samples: int, loose: NDArray[np.int64]) -> "Residuals":
        """Laps in a row, so many samples, of a cycle's frames 0 to N; `loose` bones, without a body, go on with it."""
        period = len(self.place) - 1
        laps = self.closed().at(np.arange(samples, dtype=np.float64) % period)
        for number in range(1, -(-samples // period)):
            way = power(cycle, number)
            spin = quaternions.exp(np.array([0.0, 0.0, way.turn]))
            lap = np.ix_(np.arange(number * period, min((number + 1) * period, samples)), loose)
            laps.place[lap] = way.move_points(laps.place[lap])
            laps.turn[lap] = quaternions.multiply(spin, laps.turn[lap])
        return laps


def take_residuals(plan: BodyPlan, clip: Clip, trajectory: Trajectory) -> Residuals:
    """What of the clip the trajectory lacks."""
    place, turn = _carriers(plan, trajectory)
    rest = quaternions.multiply(turn, plan.offset[None])
    through = plan.through_parent
    parent = plan.skeleton.parent[through]
    back, origin = quaternions.conjugate(turn), place.copy()
    back[:, through] = quaternions.conjugate(clip.orientation[:, parent])
    origin[:, through] = clip.position[:, parent]
    return Residuals(
        quaternions.rotate(back, clip.position - origin),
        quaternions.continuous(quaternions.multiply(quaternions.conjugate(rest), clip.orientation)),
    )


def lay_back(plan: BodyPlan, trajectory: Trajectory, residuals: Residuals) -> Clip:
    """The skeleton's poses along any trajectory of the character, with what it lacks laid back over it."""
    if len(residuals.place) != len(trajectory.q):
        raise ValueError(
            f"There are residuals for {len(residuals.place)} samples, but the trajectory has {len(trajectory.q)}."
        )
    carrier_place, carrier_turn = _carriers(plan, trajectory)
    turn = quaternions.multiply(quaternions.multiply(carrier_turn, plan.offset[None]), residuals.turn)
    place = carrier_place + quaternions.rotate(carrier_turn, residuals.place)
    for bone in np.flatnonzero(plan.through_parent):
        parent = plan.skeleton.parent[bone]
        place[:, bone] = place[:, parent] + quaternions.rotate(turn[:, parent], residuals.place[:, bone])
    return Clip(
        plan.skeleton,
        trajectory.rate,
        place,
        quaternions.continuous(quaternions.normalize(turn)),
        trajectory.first_frame,
        trajectory.frames_per_sample,
    )


def _carriers(plan: BodyPlan, trajectory: Trajectory) -> tuple[Array, Array]:
    """Pose of what each bone rides on: its body, or the world."""
    place, turn = body_poses(plan.character, trajectory.q)
    place, turn = place[:, plan.body], turn[:, plan.body]
    loose = plan.body < 0
    place[:, loose] = 0.0
    turn[:, loose] = np.array([1.0, 0.0, 0.0, 0.0])
    return place, turn
