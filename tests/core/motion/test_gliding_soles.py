# SPDX-License-Identifier: GPL-3.0-or-later
"""Ways of soles that glide: they meet what stands, and what stands stays where it is."""

import numpy as np
from heft.core.character import Character
from heft.core.motion import fit
from heft.core.motion.fit import Trajectory
from heft.core.motion.gliding import DRAGS, GLIDES, planned_velocities, slipping
from heft.core.motion.gliding_soles import AROUND, STEP, bent, go_over, joined, stepped
from heft.core.motion.labels import LabelSettings, _sweeping, label
from heft.core.motion.planting import _balanced
from heft.core.motion.schedule import ContactSchedule, contact_points
from heft.core.motion.tracks import point_places

RATE = 120.0


def test_glides_close_together_are_one_and_a_foot_that_left_in_between_glides_twice():
    touching = np.ones(300, dtype=np.bool_)
    assert joined([(100, 110), (20, 40), (50, 60)], touching, RATE) == [(20, 60), (100, 110)]
    touching[45] = False
    assert joined([(20, 40), (50, 60)], touching, RATE) == [(20, 40), (50, 60)]


def test_a_foot_that_is_put_down_elsewhere_takes_the_time_of_a_step_while_the_other_stands():
    touching, others = np.ones(300, dtype=np.bool_), np.ones(300, dtype=np.bool_)
    touching[:20] = False
    half = round(0.5 * STEP * RATE)
    assert stepped([(100, 102)], touching, others, RATE) == [(101 - half, 101 + half)]
    assert stepped([(100, 140)], touching, others, RATE) == [(100, 140)]  # it has that time
    assert stepped([(20, 22), (298, 300)], touching, others, RATE) == [(20, 22), (298, 300)]  # it comes down and leaves
    assert stepped([(100, 102), (106, 108)], touching, others, RATE) == [(101 - half, 107 + half)]
    others[:99] = False  # the other foot comes down only then
    assert stepped([(100, 102)], touching, others, RATE) == [(99, 101 + half)]
    others[101] = False  # and leaves while this one is off the ground: then that is as short as can be
    assert stepped([(100, 102)], touching, others, RATE) == [(100, 102)]


def test_one_foot_carries_who_stands_for_a_moment_and_not_who_speeds_up():
    character = Character.preset("muico29")
    points = contact_points(character)
    q = np.tile(character.neutral(), (60, 1))
    feet = np.tile([point.foot for point in points], (60, 1))
    left = feet & np.array([point.name.startswith("left") for point in points])
    for acceleration, carried in ((0.0, True), (8.0, False)):  # ahead, m/s²: the weight is on the toes and beyond
        q[:, 0] = 0.5 * acceleration * ((np.arange(60) - 30) / RATE) ** 2
        trajectory = Trajectory(RATE, q, fit.velocities(character, q, RATE))
        schedule = ContactSchedule(points, feet, point_places(character, q, points))
        assert (_balanced(character, trajectory, schedule, left)[20:40] == carried).all()
        assert not _balanced(character, trajectory, schedule, np.zeros_like(feet)).any()


def test_a_way_is_bent_to_what_is_known_at_either_end():
    own = np.linspace(0.0, 1.0, 11)[:, None]
    np.testing.assert_allclose(bent(own, None, None), own)
    np.testing.assert_allclose(bent(own, np.array([0.3]), None), own + 0.3)
    found = bent(own, np.array([0.3]), np.array([0.8]))
    np.testing.assert_allclose(found[[0, -1], 0], [0.3, 0.8])
    np.testing.assert_allclose(np.diff(found[:, 0]), 0.05)


def test_a_sole_that_glides_sets_off_from_its_place_and_comes_to_rest_at_the_next():
    own = np.interp(np.arange(300), [110, 190], [0.0, 0.4])[:, None]
    way, standing = np.where(np.arange(300) < 150, 0.01, 0.38)[:, None], np.ones(300, dtype=np.bool_)
    standing[110:190] = False
    changed = go_over(way, own, standing, [(110, 190)], RATE)
    around = round(AROUND * RATE)
    np.testing.assert_array_equal(np.flatnonzero(changed), np.arange(110 - around, 190 + around))
    np.testing.assert_array_equal(way[: 110 - around, 0], 0.01)
    np.testing.assert_array_equal(way[190 + around :, 0], 0.38)
    assert np.abs(np.diff(way[:, 0])).max() * RATE < 0.65
    assert np.abs(np.diff(way[:, 0], n=2)).max() * RATE**2 < 20.0  # and no jerk, from rest or back to it


def test_a_sole_slips_as_it_goes_fast_as_a_whole_and_not_as_it_turns():
    character = Character.preset("muico29")
    points = tuple(point for point in contact_points(character) if point.name.startswith("left_foot"))
    time = np.arange(60) / RATE
    for speed, share in ((DRAGS, 0.0), (0.5 * (DRAGS + GLIDES), 0.5), (GLIDES, 1.0)):
        place = np.zeros((60, 2, 3))
        place[..., 0] = speed * time[:, None]
        schedule = ContactSchedule(points, np.ones((60, 2), dtype=np.bool_), place)
        velocity = planned_velocities(schedule, RATE)
        np.testing.assert_allclose(velocity[..., 0], speed, atol=1e-9)
        np.testing.assert_allclose(slipping(schedule, velocity), share, atol=1e-6)
    turned = np.zeros((60, 2, 3))
    for i, sign in enumerate((1.0, -1.0)):
        turned[:, i, 0], turned[:, i, 1] = sign * 0.1 * np.cos(6.0 * time), sign * 0.1 * np.sin(6.0 * time)
    schedule = ContactSchedule(points, np.ones((60, 2), dtype=np.bool_), turned)
    assert np.linalg.norm(planned_velocities(schedule, RATE), axis=2).min() > GLIDES
    np.testing.assert_array_equal(slipping(schedule, planned_velocities(schedule, RATE)), 0.0)


def test_feet_that_skim_the_ground_carry_a_body_that_nothing_else_holds_and_flying_feet_do_not():
    character = Character.preset("muico29")
    q = np.tile(character.neutral(), (120, 1))
    q[:, 0] = 2.0 * np.arange(120) / RATE
    soles = [point.name for point in contact_points(character) if point.foot]

    def carried(q):
        schedule = label(character, Trajectory(RATE, q, fit.velocities(character, q, RATE)))
        return schedule.active[:, [schedule.names.index(name) for name in soles]]

    assert carried(q).all()
    time = (np.arange(120) - 60) / RATE
    flying = q.copy()
    flying[:, 2] += 0.5 * 9.81 * (time[0] ** 2 - time**2)
    assert not carried(flying)[10:110].any()


def test_feet_that_skim_the_ground_in_turn_carry_in_turn_however_many_steps_nothing_else_does():
    use, rate = LabelSettings(), RATE
    time = np.arange(360) / rate
    height = np.zeros((360, 2))
    for foot, phase in ((0, 0.0), (1, 0.5)):
        height[:, foot] = 0.1 * np.maximum(np.sin(2.0 * np.pi * (time + phase)), 0.0) ** 2
    carried = _sweeping(height, np.ones(360, dtype=np.bool_), rate, use)
    assert carried.any(axis=1).mean() > 0.9
    for foot in (0, 1):
        assert 0.3 < carried[:, foot].mean() < 0.8
        assert height[carried[:, foot], foot].max() < use.on_height
