# SPDX-License-Identifier: GPL-3.0-or-later
"""Bodies that roll: a ball hands its weight over from point to point, and what it should do is known in closed form."""

from itertools import pairwise

import numpy as np
import pytest
from heft.core.character import Body, Character, Joint, Sphere
from heft.core.motion.fit import Trajectory
from heft.core.motion.labels import label, level_ground
from heft.core.motion.rolling import STAYS, rolled_way, touch_velocities
from heft.core.motion.schedule import ContactSchedule, contact_points, runs
from heft.core.motion.spacetime import build_reference
from heft.core.motion.spacetime.surface import HANDS_OVER, on_balls, on_surface
from heft.core.motion.tracks import point_places

from tests.core.motion.spacetime import motions

RADIUS, MASS, GRAVITY = 0.12, 20.0, 9.81
RATE = motions.RATE


def ball():
    inertia = 0.4 * MASS * RADIUS**2
    body = Body("ball", None, Joint("root", "free"), MASS, np.diag((inertia,) * 3))
    return Character("ball", (body,), (Sphere("ball", "ball", (0.0, 0.0, 0.0), RADIUS),))


def going(speed, turning, frames=121):
    """A ball whose centre goes along x, while it turns about y, rad/s; and that it touches all the time."""
    character = ball()
    time = np.arange(frames) / RATE
    q = np.tile(character.neutral(), (frames, 1))
    q[:, 0], q[:, 2] = speed * time, RADIUS
    q[:, 3], q[:, 5] = np.cos(0.5 * turning * time), np.sin(0.5 * turning * time)
    points = contact_points(character)
    place = point_places(character, q, points)
    schedule = ContactSchedule(points, np.ones((frames, 1), dtype=np.bool_), place)
    return motions.Motion(character, q, motions.velocities(character, q), RATE, schedule)


def parts(motion):
    """The schedule at the ball's surface."""
    return on_surface(motion.character, motion.q, RATE, motion.schedule, level_ground(), periodic=False)


def test_what_rolls_hardly_slips_however_fast_it_goes_and_what_turns_on_the_spot_does():
    for speed, turning, slips in ((0.6, 0.6 / RADIUS, 0.0), (0.6, 0.0, 0.6), (0.0, 3.0, 3.0 * RADIUS)):
        motion = going(speed, turning)
        places = motion.schedule.place
        up = np.broadcast_to((0.0, 0.0, 1.0), places.shape)
        found = touch_velocities(motion.character, motion.q, motion.schedule.points, places, up, RATE)
        np.testing.assert_allclose(np.linalg.norm(found[1:-1], axis=2), slips, atol=2e-3)


def test_a_back_that_rolls_at_a_run_is_labelled_to_touch():
    motion = going(2.0, 2.0 / RADIUS)
    schedule = label(motion.character, Trajectory(RATE, motion.q, motion.v))
    assert schedule.active.all()


def test_a_ball_that_rolls_is_handed_over_from_point_to_point():
    motion = going(0.6, 0.6 / RADIUS)
    schedule = parts(motion)
    assert not schedule.active[:, 0].any()
    assert not on_balls(schedule.points)[0]
    assert on_balls(schedule.points)[1:].all()
    touching = schedule.active[:, 1:]
    whole = 0.6 / RADIUS * (len(motion.q) - 1) / RATE
    assert touching.shape[1] == int(np.ceil(whole / HANDS_OVER))
    edges = [runs(column)[0] for column in touching.T]
    assert edges[0][0] == 0
    assert edges[-1][1] == len(motion.q)
    assert all(stop == start + 1 for (_, stop), (start, _) in pairwise(edges))
    # and all are in their places where the ball rolls without slipping: none asks for what it does not do
    places = point_places(motion.character, motion.q, schedule.points)
    np.testing.assert_allclose(places[schedule.active], schedule.place[schedule.active], atol=2e-4)


def test_one_that_slides_as_well_glides_on_at_the_speed_of_its_surface():
    motion = going(0.6, 0.3 / RADIUS)
    schedule = parts(motion)
    for column in range(1, len(schedule.points)):
        way = schedule.place[schedule.active[:, column], column]
        speed = np.diff(way[:, 0]) * RATE
        np.testing.assert_allclose(speed, 0.3, atol=5e-3)


def test_a_ball_that_stays_has_one_point():
    motion = going(0.0, 0.0)
    assert parts(motion).names == ("ball", "ball 1")


def test_a_rolling_ball_is_carried_by_its_weight_alone():
    motion = going(0.6, 0.6 / RADIUS)
    reference = build_reference(motion.character, Trajectory(RATE, motion.q, motion.v), motion.schedule)
    away = np.linalg.norm(reference.q[:, :3] - motion.q[:, :3], axis=1)
    assert away.max() < 5e-3  # of 60 cm
    force = reference.force.sum(axis=1)
    assert force[1:-1, 2].mean() == pytest.approx(MASS * GRAVITY, rel=0.01)
    assert abs(force[1:-1, 0].mean()) < 0.01 * MASS * GRAVITY


def test_a_way_is_followed_by_what_strays_and_left_by_what_stays():
    frames = np.arange(60)
    ground = level_ground()
    for reach, rolls in ((0.5 * STAYS, False), (4.0 * STAYS, True)):
        track = np.column_stack((reach * frames / 59.0, np.zeros(60), np.full(60, 0.2)))
        place = np.array([0.5 * reach, 0.0, 0.2])
        way = rolled_way(track, place, RADIUS, RATE, slice(0, 60), ground, STAYS)
        np.testing.assert_allclose(way[:, 2], RADIUS)
        wanted = track[:, 0] if rolls else place[0]
        np.testing.assert_allclose(way[:, 0], wanted, atol=1e-3)
