# SPDX-License-Identifier: GPL-3.0-or-later
"""Bodies that roll over the ground: backs, seats, knees and hands, each a ball that goes on from place to place.

A ball touches where its surface is lowest. What rolls hardly slips there, however fast its centre goes; what turns on
the spot slips, although its centre stays. So a ball's speed over the ground is that of its lowest point, and where it
goes it is led along its own way at the height of its radius, instead of being held in one place.
"""

from collections.abc import Sequence

import numpy as np

from ..character import Character
from ..contact.terrain import Terrain, nearest_points
from .fit import body_poses
from .quaternions import Array, conjugate, rotate
from .resample import smoothed
from .schedule import ContactPoint, ContactSchedule, Mask, runs
from .tracks import ground_under, point_places, time_span, velocities

STAYS = 0.03  # m along the ground, by which a ball's centre may stray and count as staying where it is
STANDS = 0.1  # m: the same for the last body of a limb, which has palm and fingers to stand on
MISSED = 0.02  # m off the ground: a ball that clean-up brings no nearer touches something else, or nothing
LEAST = 0.05  # s, of what is left of a contact
WAY_CUTOFF = 6.0  # Hz, of the way of one that goes on


def touch_velocities(
    character: Character, q: Array, points: Sequence[ContactPoint], places: Array, normal: Array, rate: float
) -> Array:
    """Of points at `places` (nf, np, 3), m/s: of a ball that of its lowest point, over ground with those normals."""
    result = velocities(places, rate)
    balls = [i for i, point in enumerate(points) if point.radius > 0.0]
    if not balls or len(q) < 2:
        return result
    origin, turn = body_poses(character, q)
    before, after, span = time_span(len(q), rate)
    for i in balls:
        ball = points[i]
        there, way = origin[:, ball.body], turn[:, ball.body]
        lowest = np.array(ball.position) + rotate(conjugate(way), -ball.radius * normal[:, i])
        moved = there[after] + rotate(way[after], lowest) - there[before] - rotate(way[before], lowest)
        result[:, i] = moved / span[:, None]
    return result


def rolled_way(
    track: Array,
    place: Array,
    radius: float,
    rate: float,
    stretch: slice,
    terrain: Terrain,
    stays: float,
) -> Array:
    """Where a ball's centre is to be (n, 3) in a stretch of its track (nf, 3): at `place`, or on its way.

    It `stays` if it strays by no more than that, m.
    """
    own = smoothed(track, rate, WAY_CUTOFF)[stretch]
    way = np.broadcast_to(place, own.shape)
    strays = float(np.linalg.norm((own - place)[:, :2], axis=1).max())
    rolls = strays > stays
    near = nearest_points(terrain, np.ascontiguousarray(own if rolls else way[:1]))
    if (near.surface < 0).any():
        return way
    result: Array = np.broadcast_to(near.point + radius * near.normal, way.shape)
    return result


def is_ball(point: ContactPoint) -> bool:
    """Whether it touches the ground with a ball's surface, and holds on to nothing."""
    return point.radius > 0.0 and not (point.grab or point.moves or point.rests)


def ends_limb(character: Character, point: ContactPoint) -> bool:
    """Whether it belongs to a body on which no other hangs."""
    name = character.bodies[point.body].name
    return all(body.parent != name for body in character.bodies)


def planted(character: Character, points: Sequence[ContactPoint], place: Array, active: Mask) -> Mask:
    """Which contacts (nf, np) of balls are planted like feet: of a limb's last body, while that stays in its place.

    A back has no joints to lie on all its points exactly.
    """
    result = np.zeros(active.shape, dtype=np.bool_)
    for i, point in enumerate(points):
        if is_ball(point) and ends_limb(character, point):
            for start, stop in runs(active[:, i]):
                result[start:stop, i] = bool((place[start:stop, i] == place[start, i]).all())
    return result


def without_missed(
    character: Character, q: Array, rate: float, schedule: ContactSchedule, terrain: Terrain
) -> ContactSchedule:
    """The schedule without the contacts of balls that are not at the ground in poses (nf, nq)."""
    balls = [i for i, point in enumerate(schedule.points) if is_ball(point) and schedule.active[:, i].any()]
    if not balls:
        return schedule
    points = [schedule.points[i] for i in balls]
    radius = np.array([point.radius for point in points])
    off = np.abs(ground_under(terrain, point_places(character, q, points), radius, rate).height)
    active = schedule.active.copy()
    firm = planted(character, schedule.points, schedule.place, schedule.active)
    active[:, balls] &= (off < MISSED) | firm[:, balls]
    for i in balls:
        for start, stop in runs(active[:, i]):
            if stop - start < LEAST * rate:
                active[start:stop, i] = False
    place = np.where(active[:, :, None], schedule.place, 0.0)
    return ContactSchedule(schedule.points, active, place) if (active != schedule.active).any() else schedule
