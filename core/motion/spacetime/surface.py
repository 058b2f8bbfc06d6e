# SPDX-License-Identifier: GPL-3.0-or-later
"""Balls touch with their surface: a contact point for each time that one does.

Where a ball stands on the ground, the force acts at its surface, a radius below its centre, or it would have no moment
about the centre. For each of its contacts a ball gets a point of its own, fixed to the body where the surface touches
in the middle of the contact. The ball itself stays in the schedule, never active, to be kept above the ground.
"""

import numpy as np

from ...character import Character
from ...contact.terrain import Terrain, nearest_points
from ...dynamics import body_poses
from ..quaternions import Array, conjugate, rotate
from ..schedule import ContactPoint, ContactSchedule, runs

FURTHEST = 0.5  # m, from a ball's centre beyond its radius, to the ground that it stands on


def on_surface(
    character: Character, q: Array, schedule: ContactSchedule, terrain: Terrain, *, periodic: bool
) -> ContactSchedule:
    """The schedule of positions (nf, nq) with a point at the surface for every contact of a ball that pushes.

    In a `periodic` motion a contact over the seam has one point.
    """
    frames = len(schedule.active)
    points, touching, places = [], [], []
    for i, ball in enumerate(schedule.points):
        found = runs(schedule.active[:, i]) if ball.radius > 0.0 and not ball.grab else []
        if periodic and len(found) > 1 and found[0][0] == 0 and found[-1][1] == frames:
            contacts = [[found[0], found[-1]], *([one] for one in found[1:-1])]
        else:
            contacts = [[one] for one in found]
        for number, stretches in enumerate(contacts, 1):
            middle = (stretches[0][0] + stretches[0][1] - 1) // 2
            ground = nearest_points(terrain, schedule.place[middle, i][None], ball.radius + FURTHEST)
            if ground.surface[0] < 0:
                raise ValueError(
                    f"'{ball.name}' should touch the ground, but there is none below it: extend the "
                    "ground, or switch the contact off."
                )
            down = -ball.radius * ground.normal[0]
            _, turn = body_poses(character, q[middle])
            x, y, z = (np.array(ball.position) + rotate(conjugate(turn[ball.body]), down)).tolist()
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
