# SPDX-License-Identifier: GPL-3.0-or-later
"""A cycle straight on along x, at a share of its speed."""

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ...character import Character
from ..cycle import Cycle
from ..fit import Trajectory, pose_at, velocities
from ..moving_frame import Glide, OwnWay, Stance, at_fractions, held_at, move, set_into, stances_of
from ..planting import Sole, find_soles
from ..quaternions import Array
from ..reference import Reference
from ..schedule import ContactSchedule, contact_points
from ..sequence import laps, row_of
from ..spacetime import Ends, Settings, build_reference
from ..tracks import point_places
from .soles import columns_of, put_down

LONGER_STEPS = 0.5  # power of a speed's share that longer steps take; quicker ones take the rest


class Joint(NamedTuple):
    """Where a cycle is entered and left."""

    frame: int
    along: float  # m, of the frame that moves with it


@dataclass(frozen=True, eq=False)
class Level:
    """A cycle straight on; joint 0 is its frame 0, where the frame that moves along with it is at the origin."""

    reference: Reference
    joints: tuple[Joint, ...]  # one for each sole, in which that carries
    sample: Array  # (steps,) of the cycle that it was made from, whose looks each frame has
    speed: float  # m/s


def straight(reference: Reference, share: float, settings: Settings) -> Level:
    """A gait cycle's reference, at a share of its speed; ValueError where it is no walk that can be led.

    NoReferenceError, which is one too, where no such motion is possible.
    """
    character, cycle = reference.character, reference.cycle
    if cycle is None:
        raise ValueError("Only a gait cycle can be led: use a walk of at least two steps.")
    soles = two_soles(character, reference)
    way, period, rate = OwnWay(reference.q, cycle, reference.rate), reference.steps, reference.rate
    # laps before and after, so that no stance of the one that is made is cut
    frames = range(-2 * period, 4 * period + 1)
    row, schedule = rows_of(reference, frames)
    stances = [
        Stance(one.sole, one.start + frames.start, one.stop + frames.start) for one in stances_of(schedule, soles)
    ]
    start, other = joints_of(stances, period)
    count = round(period / share ** (1.0 - LONGER_STEPS))
    sample = start + np.arange(-count, 2 * count + 1) * period / count
    speed = share * way.speed

    def there(at: Array) -> Glide:
        along = speed / rate * (at - start) * count / period
        return Glide(np.column_stack([along, np.zeros(len(at))]), np.zeros(len(at)))

    at = sample - frames.start
    q = np.array([pose_at(character, row, x) for x in at])
    move(q, way.at(sample), there(sample))
    nearest = np.rint(at).astype(np.int64)
    active = schedule.active[nearest].copy()
    place = np.zeros((len(q), len(schedule.points), 3))
    wanted = []
    for number, sole in enumerate(soles):
        held = held_at(sample, [one for one in stances if one.sole == number])
        tracks = at_fractions(point_places(character, row, sole.corners), at)
        wanted.append(set_into(tracks, way.at(held), there(held)))
        columns = columns_of(schedule, sole)
        place[:, columns] = set_into(schedule.place[nearest][:, columns], way.at(held), there(held))
    q = put_down(character, q, soles, wanted)
    middle, shift = slice(count, 2 * count + 1), Cycle((speed * count / rate, 0.0))
    v = velocities(character, q, rate)[middle]
    q, active, place = q[middle], active[middle], place[middle]
    q[-1], v[-1] = shift.move_state(character, q[0], v[0])
    active[-1], place[-1] = active[0], shift.move_points(place[0])
    asked = ContactSchedule(schedule.points, active, np.where(active[:, :, None], place, 0.0))
    made = build_reference(character, Trajectory(rate, q, v), asked, bounds=Ends(cycle=shift), settings=settings)
    half = round((other - start) % period * count / period)
    return Level(made, (Joint(0, 0.0), Joint(half, speed * half / rate)), sample[middle][:-1] % period, speed)


def two_soles(character: Character, reference: Reference) -> list[Sole]:
    """Of a walk on two feet; ValueError where something else carries, too."""
    soles = [sole for sole in find_soles(character, contact_points(character)) if sole.corners]
    feet = np.array([point.foot for point in reference.schedule.points], dtype=np.bool_)
    if len(soles) != 2 or reference.schedule.active[:, ~feet].any() or reference.carrying[:, ~feet].any():
        raise ValueError("Only a walk on two feet, without help, can be led: use another action, or another method.")
    return soles


def joints_of(stances: list[Stance], period: int) -> tuple[int, int]:
    """The frame of a lap in which each of both feet is half-way through carrying alone."""
    found = []
    for number in range(2):
        own = [one for one in stances if one.sole == number and 0.0 <= one.middle < period]
        others = [one for one in stances if one.sole != number]
        if len(own) != 1:
            raise ValueError("Only a walk of two steps a cycle can be led: each foot has to land once.")
        frames = range(math.ceil(own[0].start), int(own[0].stop) + 1)
        alone = [k for k in frames if not any(one.start <= k <= one.stop for one in others)]
        if not alone:
            raise ValueError("Only a walk whose feet carry alone in turn can be led: use a longer stride.")
        found.append(alone[len(alone) // 2])
    return found[0], found[1]


def rows_of(reference: Reference, frames: range) -> tuple[Array, ContactSchedule]:
    """Positions and contacts of frames of a cycle, which goes on before and after."""
    character, schedule = reference.character, reference.schedule
    own = [row_of(reference, k) for k in frames]
    ways = [laps(reference, k) for k in frames]
    still = np.zeros(character.nv)
    q = np.array([way.move_state(character, reference.q[k], still)[0] for k, way in zip(own, ways, strict=True)])
    place = np.array([way.move_points(schedule.place[k]) for k, way in zip(own, ways, strict=True)])
    active = schedule.active[own]
    return q, ContactSchedule(schedule.points, active, np.where(active[:, :, None], place, 0.0))
