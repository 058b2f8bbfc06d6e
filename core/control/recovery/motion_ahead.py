# SPDX-License-Identifier: GPL-3.0-or-later
"""The motion that was coming, in the world, from where the character is to be now: laps unrolled, ends held."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ...dynamics import difference, integrate
from ...motion.cycle import Cycle
from ...motion.reference import Reference
from ...motion.schedule import runs
from ..lookahead.lookahead import LookAhead, Place

Array = NDArray[np.float64]
Mask = NDArray[np.bool_]

LONGEST = 2.5  # s that a plan lasts at most
FARTHEST = 5.0  # s that are looked at, for plans in a hurry
LEAST = 0.7  # s
AFTER = 10  # frames after the last touchdown that is planned for
STEPS, FEWER = 3, 2  # touchdowns that are planned for; where so far ahead nothing stays up, as in a slow walk


@dataclass(frozen=True, eq=False)
class MotionAhead:
    """N + 1 frames of the motion (k = 0: now) and its contacts at np points."""

    places: list[Place]  # (N + 1) in the motion
    q: Array  # (N + 1, nq)
    v: Array  # (N + 1, nv)
    active: Mask  # (N + 1, np)
    place: Array  # (N + 1, np, 3) where active
    rise: Array | None = None  # (N + 1, np) by which points are lifted over their way, m; None: nowhere

    @property
    def steps(self) -> int:
        """N."""
        return len(self.q) - 1

    def sped_up(self, controller: LookAhead, speed: float) -> "MotionAhead":
        """The same way in less time, to the same last frame."""
        steps = round(self.steps / speed)
        return self.in_time(controller, [self.steps], [steps])

    def in_time(self, controller: LookAhead, frames: Sequence[int], new: Sequence[int]) -> "MotionAhead":
        """The same way in other time: at each of these frames it is when it was to be at `frames`, and so on."""
        steps = new[-1] + self.steps - frames[-1]
        known = np.array([0, *new, steps]), np.array([0, *frames, self.steps])
        distinct = np.concatenate(([True], np.diff(known[0]) > 0))
        at = np.interp(np.arange(steps + 1), known[0][distinct], known[1][distinct])
        speed = np.diff(at, append=at[-1] + 1.0)
        speed[-1] = speed[-2] if frames[-1] == self.steps else 1.0
        low = np.minimum(at.astype(np.int64), self.steps - 1)
        nearest = np.rint(at).astype(np.int64)
        character = controller.character
        poses = [
            integrate(character, self.q[k], difference(character, self.q[k], self.q[k + 1]), share)
            for k, share in zip(low.tolist(), (at - low).tolist(), strict=True)
        ]
        return MotionAhead(
            places=[self.places[k] for k in nearest.tolist()],
            q=np.array(poses),
            v=self.v[nearest] * speed[:, None],
            active=self.active[nearest],
            place=self.place[nearest],
        )


def touchdowns(ahead: MotionAhead, reference: Reference) -> list[tuple[int, int]]:
    """Frame and body of each stance of a foot that begins after frame 0, in the order of time."""
    schedule = reference.schedule
    body = np.array([point.body if point.foot else -1 for point in schedule.points], dtype=np.int64)
    found = [
        (start, int(b))
        for b in np.unique(body[body >= 0])
        for start, _ in runs(np.asarray(ahead.active[:, body == b].any(axis=1)))
        if start > 0
    ]
    return sorted(found)


def motion_ahead(whole: MotionAhead, reference: Reference, most: int = STEPS) -> MotionAhead:
    """As far as it takes to make so many steps, or for a while where the motion makes none."""
    rate = reference.rate
    whole = cut(whole, round(LONGEST * rate))
    landings = touchdowns(whole, reference)
    if len(landings) < most:
        return cut(whole, round(LEAST * rate) if not landings else landings[-1][0] + round(LEAST * rate))
    return cut(whole, max(landings[most - 1][0] + AFTER, round(LEAST * rate)))


def cut(ahead: MotionAhead, steps: int) -> MotionAhead:
    """Its first frames, up to that one."""
    n = min(steps, ahead.steps) + 1
    return MotionAhead(ahead.places[:n], ahead.q[:n], ahead.v[:n], ahead.active[:n], ahead.place[:n])


def unrolled(controller: LookAhead, reference: Reference) -> MotionAhead:
    """As far as is looked ahead."""
    schedule, steps = reference.schedule, round(FARTHEST * reference.rate)
    places, states, active, held = [controller.place], [], [], []
    for _ in range(steps):
        places.append(controller.after(places[-1]))
    last = len(schedule.active) - 1
    for place in places:
        states.append(controller.reference_state(place))
        row = min(place.frame, last)
        x, y, z, yaw = place.anchor
        active.append(schedule.active[row])
        held.append(Cycle((x, y), yaw).move_points(schedule.place[row]) + np.array([0.0, 0.0, z]))
    q, v = (np.array(parts) for parts in zip(*states, strict=True))
    return MotionAhead(places, q, v, np.array(active), np.where(np.array(active)[..., None], np.array(held), 0.0))
