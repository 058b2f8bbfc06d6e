# SPDX-License-Identifier: GPL-3.0-or-later
"""Ground that the motion was not made for: the coming footholds are laid on what is there now, a few steps ahead."""

import math
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from ...contact.terrain import Terrain
from ...motion.cycle import Cycle
from ...motion.cycles import power
from ...motion.fit import Trajectory, velocities
from ...motion.footholds import (
    EVEN,
    HIGHEST,
    Foothold,
    along,
    find_footholds,
    heights_below,
    moved_places,
    root_shift,
    ways_onto,
)
from ...motion.reference import Reference
from ...motion.schedule import ContactSchedule
from ...motion.tracks import point_places
from ..lookahead.lookahead import LookAhead
from ..stage import Stage
from .motion_ahead import MotionAhead

Array = NDArray[np.float64]

SETTLED = 3  # frames after a foot has come down, in which it lies flat


class Uneven:
    """Where a motion over a level floor meets other ground, and when its steps are to be planned anew for that."""

    def __init__(self, controller: LookAhead, reference: Reference, stage: Stage) -> None:
        self._reference, self._stage = reference, stage
        self.is_met = meets_other_ground(controller.place.anchor, reference, stage)
        self._standing: frozenset[int] = frozenset()
        self._since = 0  # frames that the foot stands which came down last

    def calls(self, row: int) -> bool:
        """Whether it is time to look at the ground: at the first step, and whenever a foot of the motion has landed."""
        if not self.is_met:
            return False
        schedule = self._reference.schedule
        stands = np.flatnonzero(schedule.active[min(row, len(schedule.active) - 1)])
        standing = frozenset(schedule.points[i].body for i in stands.tolist())
        self._since = 0 if standing - self._standing else self._since + 1
        self._standing = standing
        return self._since == SETTLED

    def laid(self, ahead: MotionAhead, actual: Array) -> MotionAhead | None:
        """The motion ahead on the ground that is there, if that is other than it has it."""
        return laid_on(ahead, self._reference, actual, self._stage.terrain) if self.is_met else None


def meets_other_ground(anchor: tuple[float, float, float, float], reference: Reference, stage: Stage) -> bool:
    """Whether ground that stays is higher or lower than a level floor where feet would come down.

    The motion is at an anchor: x, y, the floor's height and yaw in the world.
    """
    schedule, surfaces = reference.schedule, stage.scene.surfaces
    feet = np.array([point.foot for point in schedule.points])
    spots = schedule.place[schedule.active & feet]
    if not surfaces or any(surface.motion.moves for surface in surfaces) or not len(spots):
        return False
    if (schedule.active & ~feet).any() or np.ptp(spots[:, 2]) > EVEN:
        return False
    x, y, floor, yaw = anchor
    spots, cycle = np.unique(spots.round(3), axis=0), reference.cycle
    laps = 1 if cycle is None else math.ceil(stage.seconds * reference.rate / reference.steps) + 1
    ways = [spots if cycle is None else power(cycle, lap).move_points(spots) for lap in range(laps)]
    there = Cycle((x, y), yaw).move_points(np.concatenate(ways))
    below = heights_below(stage.terrain, there + np.array([0.0, 0.0, floor + HIGHEST]))
    return bool((np.abs(below - floor - spots[0, 2]) > EVEN).any())


def goes_up_or_down(reference: Reference) -> bool:
    """Whether a motion that does not repeat stands higher and lower: beside its path its steps are not there."""
    schedule = reference.schedule
    feet = np.array([point.foot for point in schedule.points])
    height = schedule.place[schedule.active & feet][:, 2]
    return reference.cycle is None and len(height) > 0 and bool(np.ptp(height) > EVEN)


def is_uneven(footholds: list[Foothold], floor: float) -> bool:
    """Whether a foot that comes down later stands elsewhere than on a level `floor`."""
    return any(
        abs(hold.ground[2] - floor) > EVEN or bool(np.abs(hold.tilt).max() > EVEN)
        for hold in footholds
        if hold.start > 0
    )


def laid_on(ahead: MotionAhead, reference: Reference, actual: Array, terrain: Terrain) -> MotionAhead | None:
    """The motion ahead of an `actual` pose with its footholds on the ground there; None where that is as it has it.

    Feet that stand do so where they are. Nothing is possible yet: the body goes with the feet, roughly.
    """
    floor = ahead.places[0].anchor[2]
    down = np.array([0.0, 0.0, floor])
    level = ahead.q.copy()
    level[:, 2] -= floor
    schedule = ContactSchedule(
        reference.schedule.points, ahead.active, np.where(ahead.active[..., None], ahead.place - down, 0.0)
    )
    motion = Trajectory(reference.rate, level, ahead.v)
    try:
        footholds = find_footholds(
            reference.character,
            motion,
            schedule,
            terrain,
            floor,
            _stood_at(ahead, reference, actual, floor),
        )
    except ValueError:  # no ground where a foot is to come down
        return None
    if not is_uneven(footholds, floor):
        return None
    ways = ways_onto(footholds, len(ahead.q))
    shift = root_shift(ways, reference.rate)
    q = along(reference.character, motion, ways)
    v = velocities(reference.character, q, reference.rate)
    away = shift - down
    places = [
        place._replace(anchor=(place.anchor[0] + x, place.anchor[1] + y, place.anchor[2] + z, place.anchor[3]))
        for place, (x, y, z) in zip(ahead.places, away.tolist(), strict=True)
    ]
    return replace(ahead, places=places, q=q, v=v, place=moved_places(schedule, ways))


def _stood_at(ahead: MotionAhead, reference: Reference, q: Array, floor: float) -> dict[int, float]:
    """How high the ground is under each foot that stands now, and the floor for those in the air, m, by body."""
    points = reference.schedule.points
    actual = point_places(reference.character, q[None], points)[0]
    found = {}
    for body in {point.body for point in points if point.foot}:
        own = np.array([point.foot and point.body == body for point in points]) & ahead.active[0]
        found[body] = float(actual[own, 2].min()) if own.any() else floor
    return found
