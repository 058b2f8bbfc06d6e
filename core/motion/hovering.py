# SPDX-License-Identifier: GPL-3.0-or-later
"""Contacts that a possible motion lost: where it hovers, though in the clip something is at the ground.

Labels ask for feet that stand and bodies that lie. What drags over the ground while nothing else touches, as a knee or
the trailing foot of who falls, is none of these, and a clip that is deep in the ground shows no hover that a body put
onto it has. There the point that is lowest in the clip is asked to touch, and goes along the ground as it would.
"""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from ..character import Character
from ..contact.terrain import Terrain, nearest_points
from .quaternions import Array
from .reference import Reference
from .schedule import ContactSchedule, contact_points, runs
from .spacetime.help import weight_of
from .spacetime.measure import mean_distance
from .tracks import ground_under, point_places

TOUCHES = 0.005  # m, up to which the lowest point of a body is on the ground
FURTHEST = 0.1  # m from the ground, to which a point of a hovering body is led
FARTHER = 0.003  # m from the clip, that it may cost
FLIES = 0.02  # of the weight: who is held up by less flies


def with_lost(
    character: Character, reference: Reference, clip: Array, schedule: ContactSchedule, terrain: Terrain
) -> ContactSchedule:
    """The schedule with such contacts; itself where a reference has lost none of those of its clip (N + 1, nq)."""
    height, lowest = hover(character, reference, clip, terrain)
    if not height.any():
        return schedule
    points, kept = contact_points(character), list(schedule.points)
    places = point_places(character, reference.q, points)
    active, place = schedule.active.copy(), schedule.place.copy()
    for i in np.unique(lowest[height > 0.0]):
        point = points[i]
        if point.name not in {one.name for one in kept}:
            kept.append(point)
            active = np.column_stack([active, np.zeros(len(active), dtype=np.bool_)])
            place = np.concatenate([place, np.zeros((len(place), 1, 3))], axis=1)
        column = [one.name for one in kept].index(point.name)
        for first, last in runs(np.asarray((height > 0.0) & (lowest == i))):
            start, stop = max(first - 1, 0), min(last + 1, len(height))  # so that it has come down by then
            near = nearest_points(terrain, np.ascontiguousarray(places[start:stop, i]), point.radius + FURTHEST)
            if (near.surface >= 0).all():
                active[start:stop, column] = True
                place[start:stop, column] = near.point + point.radius * near.normal
    return ContactSchedule(tuple(kept), active, place)


def hover(character: Character, reference: Reference, clip: Array, terrain: Terrain) -> tuple[Array, NDArray[np.intp]]:
    """How high a reference hovers where its clip (N + 1, nq) does not, m, and which point is lowest in the clip.

    Who flies does not hover: nothing holds that body up, help neither.
    """
    points = contact_points(character)
    radius = np.array([point.radius for point in points])

    def heights(q: Array) -> Array:
        return ground_under(terrain, point_places(character, q, points), radius, reference.rate).height

    own, source = heights(reference.q), heights(clip)
    share = np.linalg.norm(reference.force, axis=2).sum(axis=1) / weight_of(character)
    bears = share > FLIES
    held = np.concatenate([bears[:1], bears]) | np.concatenate([bears, bears[-1:]])
    lost = (own.min(axis=1) > TOUCHES) & (source.min(axis=1) <= TOUCHES) & held
    return np.where(lost, own.min(axis=1), 0.0), source.argmin(axis=1)


def lower(
    reference: Reference,
    clip: Array,
    schedule: ContactSchedule,
    terrain: Terrain,
    build: Callable[[ContactSchedule], Reference],
) -> Reference:
    """The reference that touches where its clip (N + 1, nq) does, if one that is built so is lower and as near."""
    character = reference.character
    fuller = with_lost(character, reference, clip, schedule, terrain)
    if fuller is schedule:
        return reference
    other = build(fuller)
    hovers, hovers_then = (hover(character, one, clip, terrain)[0].mean() for one in (reference, other))
    distance, distance_then = (mean_distance(character, clip, one.q) for one in (reference, other))
    return other if hovers_then < hovers and distance_then < distance + FARTHER else reference
