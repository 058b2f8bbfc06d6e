# SPDX-License-Identifier: GPL-3.0-or-later
"""Balls touch with their surface: a contact point for each time that one does, and for each part of a way it rolls.

Where a ball stands on the ground, the force acts at its surface, a radius below its centre, or it would have no moment
about the centre. For each of its contacts a ball gets a point of its own, fixed to the body where the surface touches
in the middle of the contact. The ball itself stays in the schedule, never active, to be kept above the ground.

A ball whose body turns meanwhile, or that goes on, rolls: it is handed over from point to point, each of which touches
while the body turns by no more than `HANDS_OVER`. A point of it comes down and rises as it does on a circle of the
ball's radius r, at the angle phi from the lowest point r (1 - cos phi) over the ground, so that in the frame that two
of them share both are in their places. Where the ball slips as well, its points glide on at the mean speed of the part.
"""

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from ...character import Character
from ...contact.terrain import Terrain, nearest_points
from ..fit import body_poses
from ..gliding import STICKS
from ..quaternions import Array, conjugate, rotate
from ..rolling import planted
from ..schedule import ContactPoint, ContactSchedule, Mask, runs

FURTHEST = 0.5  # m, from a ball's centre beyond its radius, to the ground that it stands on
HANDS_OVER = np.radians(20.0)  # by which a ball turns on one of its points
SHORTEST = 3  # frames that one of them touches
ON_BALL = 1e-9  # m


def on_surface(
    character: Character, q: Array, rate: float, schedule: ContactSchedule, terrain: Terrain, *, periodic: bool
) -> ContactSchedule:
    """The schedule of positions (nf, nq) with a point at the surface for every contact of a ball that pushes.

    In a `periodic` motion a contact over the seam has one point.
    """
    frames = len(schedule.active)
    stays = planted(character, schedule.points, schedule.place, schedule.active)
    points: list[ContactPoint] = []
    touching: list[Mask] = []
    places: list[Array] = []
    for i, ball in enumerate(schedule.points):
        found = runs(schedule.active[:, i]) if ball.radius > 0.0 and not ball.grab else []
        if periodic and len(found) > 1 and found[0][0] == 0 and found[-1][1] == frames:
            contacts = [[found[0], found[-1]], *([one] for one in found[1:-1])]
        else:
            contacts = [[one] for one in found]
        for number, stretches in enumerate(contacts, 1):
            start, stop = stretches[0]
            rolls = len(stretches) == 1 and not stays[start, i]
            parts = _parts(character, q, schedule, i, start, stop, terrain, rate) if rolls else []
            if len(parts) > 1:
                for part, (local, first, way) in enumerate(parts, 1):
                    points.append(ContactPoint(f"{ball.name} {number}.{part}", ball.body, local))
                    touches, there = np.zeros(frames, dtype=np.bool_), np.zeros((frames, 3))
                    touches[first : first + len(way)], there[first : first + len(way)] = True, way
                    touching.append(touches)
                    places.append(there)
                continue
            middle = (stretches[0][0] + stretches[0][1] - 1) // 2
            ground = nearest_points(terrain, schedule.place[middle, i][None], ball.radius + FURTHEST)
            if ground.surface[0] < 0:
                raise ValueError(
                    f"'{ball.name}' should touch the ground, but there is none below it: extend the "
                    "ground, or switch the contact off."
                )
            down = -ball.radius * ground.normal[0]
            turn = body_poses(character, q[middle : middle + 1])[1][0, ball.body]
            x, y, z = (np.array(ball.position) + rotate(conjugate(turn), down)).tolist()
            points.append(ContactPoint(f"{ball.name} {number}", ball.body, (x, y, z)))
            touches = np.zeros(frames, dtype=np.bool_)
            for start, stop in stretches:
                touches[start:stop] = True
            touching.append(touches)
            places.append(np.where(touches[:, None], schedule.place[:, i] + down, 0.0))
    if not points:
        return schedule
    balls = np.array([point.radius > 0.0 and not point.grab for point in schedule.points], dtype=np.bool_)
    active = schedule.active & ~balls
    return ContactSchedule(
        (*schedule.points, *points),
        np.column_stack([active, *touching]),
        np.concatenate([np.where(active[:, :, None], schedule.place, 0.0), np.stack(places, axis=1)], axis=1),
    )


def on_balls(points: Sequence[ContactPoint]) -> Mask:
    """Which (np,) of the points are at the surface of one of the balls: those keep them over the ground."""
    result = np.zeros(len(points), dtype=np.bool_)
    for ball in (point for point in points if point.radius > 0.0):
        for i, point in enumerate(points):
            if point.body == ball.body and point.radius == 0.0:
                away = float(np.linalg.norm(np.subtract(point.position, ball.position)))
                result[i] |= abs(away - ball.radius) < ON_BALL
    return result


def _parts(
    character: Character,
    q: Array,
    schedule: ContactSchedule,
    column: int,
    start: int,
    stop: int,
    terrain: Terrain,
    rate: float,
) -> list[tuple[tuple[float, float, float], int, Array]]:
    """Of a ball's contact from `start` to before `stop`: points in the body's frame, from when on, their places (n, 3).

    One part where it does not roll.
    """
    ball = schedule.points[column]
    place = schedule.place[start:stop, column]
    origin, turn = (pose[:, ball.body] for pose in body_poses(character, np.ascontiguousarray(q[start:stop])))
    ground = nearest_points(terrain, np.ascontiguousarray(place), ball.radius + FURTHEST)
    if (ground.surface < 0).any():
        return []
    lowest = rotate(conjugate(turn), -ground.normal)
    found = []
    for first, last in _turns(lowest):
        down = lowest[first:last].sum(axis=0)
        down /= np.linalg.norm(down)
        local = np.array(ball.position) + ball.radius * down
        own = origin[first:last] + rotate(turn[first:last], local)
        time = (np.arange(last - first) - 0.5 * (last - first - 1)) / rate
        slip = time @ own / max(float(time @ time), 1e-12)
        way = own.mean(axis=0) + (time[:, None] * slip if np.linalg.norm(slip[:2]) > STICKS else 0.0 * own)
        under = nearest_points(terrain, np.ascontiguousarray(way), 2.0 * ball.radius + FURTHEST)
        if (under.surface < 0).any():
            return []
        rises = ball.radius * (1.0 - np.clip(lowest[first:last] @ down, -1.0, 1.0))
        x, y, z = local.tolist()
        found.append(((x, y, z), start + first, under.point + rises[:, None] * under.normal))
    return found


def _turns(lowest: Array) -> list[tuple[int, int]]:
    """The parts, first and beyond the last of rows (n, 3), over which a direction turns so far. Neighbours share a row.

    About equally far: the way is parted, not filled up.
    """
    steps = np.linalg.norm(np.diff(lowest, axis=0), axis=1)
    way = np.concatenate(([0.0], np.cumsum(steps)))
    number = min(int(np.ceil(way[-1] / HANDS_OVER)), (len(lowest) - 1) // SHORTEST)
    edges = [0, *(int(np.searchsorted(way, way[-1] * k / number)) for k in range(1, number)), len(lowest) - 1]
    kept = [edges[0]]
    for edge in edges[1:-1]:
        if edge - kept[-1] >= SHORTEST and edges[-1] - edge >= SHORTEST:
            kept.append(edge)
    kept.append(edges[-1])
    return [(a, b + 1) for a, b in pairwise(kept)]
