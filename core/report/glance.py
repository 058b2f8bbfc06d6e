# SPDX-License-Identifier: GPL-3.0-or-later
"""What physics says of a motion as it is keyed, frame by frame, before anything is corrected or simulated.

In the air the centre of mass can only go along a parabola; on the ground the force that moves it must act within the
support, at the zero moment point (Vukobratovic and Borovac 2004; the body's own angular momentum is left out); a foot
that touches neither moves along the ground nor sinks into it. Whatever departs from that is impossible, and why is
told by frame.
"""

from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from ..character import Character, Corner
from ..contact.terrain import Terrain
from ..motion.fit import Trajectory
from ..motion.labels import ACCELERATION_CUTOFF, distance_from_support, level_ground, upward_push, zero_moment_point
from ..motion.schedule import ContactPoint, ContactSchedule, Mask, runs
from ..motion.tracks import center_of_mass_path, ground_under, point_places, velocities
from .frames import Support, hull

Array = NDArray[np.float64]
Fault = Literal["fine", "departs", "falls", "sinks", "floats", "slides"]
FAULTS: tuple[Fault, ...] = get_args(Fault)

OFF = 0.03  # m off the arc
OUTSIDE = 0.1  # m beyond the support: arms and a swinging leg may move the point as far
DEEP = 0.02  # m under the ground; soles of captures are known to a centimetre or two
HIGH = 0.03  # m over it
FAST = 0.3  # m/s along it, as a foot comes down or rolls off
NOTHING = 0.5  # m/s²: a push as weak is none, and acts nowhere


@dataclass(frozen=True, eq=False)
class Glance:
    """What there is to see, by frames (nf) of the source; places in the world, m."""

    frames: Array  # (nf,)
    center: Array  # (nf, 3) of mass
    arc: Array  # (nf, 3) where it would be: along a parabola in the air, where it is on the ground
    flight: NDArray[np.int64]  # (nf,) number of the flight, -1 on the ground
    balance: Array  # (nf, 3) where the ground's force acts; NaN in the air
    support: Support
    feet: tuple[str, ...]  # (np,) points of the soles
    place: Array  # (nf, np, 3)
    touches: Mask  # (nf, np)
    height: Array  # (nf, np) over the ground, m
    sinks: Mask  # (nf, np)
    slide: Array  # (nf, np) along it while it touches, m a frame
    fault: NDArray[np.int64]  # (nf,) index into FAULTS, the gravest


def look(
    character: Character,
    trajectory: Trajectory,
    schedule: ContactSchedule,
    terrain: Terrain | None,
    samples: NDArray[np.int64],
    seconds: float,
) -> Glance:
    """A glance at the `samples` of a trajectory with these contacts; a frame lasts so many seconds."""
    rate, points = trajectory.rate, schedule.points
    places = point_places(character, trajectory.q, points)
    radius = np.array([point.radius for point in points])
    ground = ground_under(terrain or level_ground(), places, radius, rate)
    relative = velocities(places, rate) - ground.velocity
    along = relative - (relative * ground.normal).sum(axis=2, keepdims=True) * ground.normal
    touching: Mask = np.asarray(schedule.active.any(axis=1))
    held = schedule.active[:, [i for i, point in enumerate(points) if point.grab or point.moves]].any(axis=1)
    center = center_of_mass_path(character, trajectory.q)
    arc, flight = arcs(center, ~touching, rate, character.gravity)
    push = upward_push(center, rate, float(character.gravity[2]))
    carriers, owner = carriers_of(character, points)
    corners, carrying = point_places(character, trajectory.q, carriers), schedule.active[:, owner]
    balance = zero_moment_point(center, push, corners, carrying)
    # what a push is smoothed over, its support may be late or early
    outside = distance_from_support(corners, widened(carrying, round(0.5 * rate / ACCELERATION_CUTOFF)), balance)
    feet = np.array([i for i, point in enumerate(points) if point.foot], dtype=np.int64)
    touches, height = schedule.active[:, feet], ground.height[:, feet]
    speed = np.where(touches, np.linalg.norm(along[:, feet], axis=2), 0.0)
    sinks = sunk(height, schedule.body[feet])
    weak = np.linalg.norm(push, axis=1) < NOTHING
    faults: dict[Fault, Mask] = {
        "departs": np.linalg.norm(center - arc, axis=1) > OFF,
        "falls": touching & ~held & ~weak & (outside > OUTSIDE),
        "sinks": np.asarray(sinks.any(axis=1)),
        "floats": np.asarray((touches & (height > HIGH)).any(axis=1)),
        "slides": np.asarray((speed > FAST).any(axis=1)),
    }
    found = np.zeros(len(center), dtype=np.int64)
    for number, name in reversed(list(enumerate(FAULTS))):
        if name in faults:
            found[faults[name]] = number
    lowest = np.where(schedule.active, places[..., 2], np.inf).min(axis=1, initial=np.inf)
    level = np.where(touching & ~weak, lowest, np.nan)
    return Glance(
        np.asarray(trajectory.first_frame + samples * trajectory.frames_per_sample, dtype=np.float64),
        center[samples],
        arc[samples],
        flight[samples],
        np.column_stack([np.where(np.isnan(level)[:, None], np.nan, balance), level])[samples],
        _support([corners[k, carrying[k]] for k in samples]),
        tuple(points[i].name for i in feet),
        places[samples][:, feet],
        touches[samples],
        height[samples],
        sinks[samples],
        seconds * speed[samples],
        found[samples],
    )


def widened(mask: Mask, samples: int) -> Mask:
    """True (nf, n) for so many samples before and after, too."""
    found = mask.copy()
    for shift in range(1, min(samples, len(mask) - 1) + 1):
        found[shift:] |= mask[:-shift]
        found[:-shift] |= mask[shift:]
    return found


def sunk(height: Array, body: NDArray[np.int64]) -> Mask:
    """Which ends of soles (nf, np) are in the ground, of feet that are as a whole.

    A character's foot may have no toes: as it rolls off, its front goes through the ground where the rig's bends.
    """
    found = height < -DEEP
    for one in np.unique(body):
        own = body == one
        found[:, own] &= (height[:, own].mean(axis=1) < -DEEP)[:, None]
    return found


def arcs(
    center: Array, airborne: Mask, rate: float, gravity: tuple[float, float, float]
) -> tuple[Array, NDArray[np.int64]]:
    """Where a centre of mass (nf, 3) would fly, and the number of the flight (nf,), -1 on the ground.

    From the last moment on the ground to the first one there again, a parabola leads from place to place:
    c0 + v t + g t² / 2 with v = (c1 - c0) / T - g T / 2. What flies as the motion begins or ends is met there.
    """
    arc, number = center.copy(), np.full(len(center), -1, dtype=np.int64)
    for flight, (start, stop) in enumerate(runs(airborne)):
        first, last = max(start - 1, 0), min(stop, len(center) - 1)
        span = (last - first) / rate
        if span <= 0.0:
            continue
        time = (np.arange(first, last + 1) - first)[:, None] / rate
        g = np.array(gravity)
        begin = (center[last] - center[first]) / span - 0.5 * span * g
        arc[first : last + 1] = center[first] + time * begin + 0.5 * time**2 * g
        number[first : last + 1] = flight
    return arc, number


def carriers_of(character: Character, points: tuple[ContactPoint, ...]) -> tuple[list[ContactPoint], NDArray[np.int64]]:
    """What carries where a point touches, and which point that is (n,): of a sole's end its corners, else itself."""
    found: list[ContactPoint] = []
    owner: list[int] = []
    for number, point in enumerate(points):
        ends = {
            k: np.array(other.position) for k, other in enumerate(points) if other.foot and other.body == point.body
        }
        name = character.bodies[point.body].name
        for corner in character.contacts if point.foot else ():
            if isinstance(corner, Corner) and corner.body == name:
                place = np.array(corner.position)
                if min(ends, key=lambda k: float(np.linalg.norm(ends[k] - place))) == number:
                    found.append(point._replace(position=corner.position))
                    owner.append(number)
        if not point.foot:
            found.append(point)
            owner.append(number)
    return found, np.array(owner, dtype=np.int64)


def _support(places: list[Array]) -> Support:
    """The outlines of what touches."""
    corners = [hull(each) for each in places]
    start = np.cumsum([0, *(len(each) for each in corners)])
    return Support(start.astype(np.int64), np.concatenate([np.zeros((0, 3)), *corners]))
