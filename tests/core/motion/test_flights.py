# SPDX-License-Identifier: GPL-3.0-or-later
"""Flights that gravity does not allow, at another timing or another height."""

import numpy as np
import pytest
from heft.core.motion.fit import Trajectory, body_poses
from heft.core.motion.flights import LIFTED, find_flights, mend_flights
from heft.core.motion.labels import label
from heft.core.motion.tracks import center_of_mass_path

from tests.core.motion.skeletons import needs_clips
from tests.core.motion.spacetime import motions
from tests.core.motion.walkers import captured

GRAVITY = 9.81


def jump(hang, rise=0.3):
    """A jump that lasts so many times as long as gravity allows, the labels of its contacts, and its path."""
    motion = motions.jump(rise=rise, hang=hang)
    trajectory = Trajectory(motions.RATE, motion.q, motions.velocities(motion.character, motion.q), first_frame=1.0)
    return motion.character, trajectory, label(motion.character, trajectory)


def acceleration_in_the_air(character, trajectory):
    """Of the centre of mass, while nothing touches."""
    path = center_of_mass_path(character, trajectory.q)
    flies = np.flatnonzero(~label(character, trajectory).active.any(axis=1))
    inner = slice(flies[0] + 10, flies[-1] - 9)
    second = np.diff(path, n=2, axis=0) * trajectory.rate**2
    return second[inner]


@pytest.mark.parametrize("hang", [0.6, 1.4, 2.0])
def test_how_slow_a_flight_is_and_how_high_it_would_go(hang):
    character, trajectory, schedule = jump(hang)
    (flight,) = find_flights(character, trajectory, schedule)
    assert flight.slow == pytest.approx(hang, rel=0.05)
    assert flight.over == pytest.approx((0.3 - LIFTED) * (hang**2 - 1.0), abs=0.04)


def test_a_flight_of_gravity_and_a_stand_are_left_alone():
    for motion in (jump(1.0), jump(1.1)):
        assert find_flights(*motion) == []
        mended = mend_flights(*motion, "timing")
        assert mended.trajectory is motion[1]
        assert mended.lines == ()


@pytest.mark.parametrize("hang", [0.7, 1.5])
def test_at_another_timing_it_falls_as_high_as_it_was_keyed(hang):
    character, trajectory, schedule = jump(hang)
    mended = mend_flights(character, trajectory, schedule, "timing")
    assert len(mended.trajectory.q) == len(trajectory.q)
    assert mended.sample[0] == 0.0
    assert mended.sample[-1] == pytest.approx(len(trajectory.q) - 1)
    assert np.diff(mended.sample).min() > 0.2
    found = acceleration_in_the_air(character, mended.trajectory)
    np.testing.assert_allclose(found, np.broadcast_to((0.0, 0.0, -GRAVITY), found.shape), atol=0.2)
    top, keyed = (center_of_mass_path(character, one.q)[:, 2].max() for one in (mended.trajectory, trajectory))
    assert top == pytest.approx(keyed, abs=0.02)
    # poses are those that were keyed, at their samples
    k = int(mended.sample[20])
    assert np.abs(mended.trajectory.q[20, 7:] - trajectory.q[k, 7:]).max() < 0.1


@pytest.mark.parametrize("hang", [0.7, 1.5])
def test_at_another_height_it_takes_off_and_lands_when_it_was_keyed_to(hang):
    character, trajectory, schedule = jump(hang)
    (flight,) = find_flights(character, trajectory, schedule)
    mended = mend_flights(character, trajectory, schedule, "height")
    np.testing.assert_array_equal(mended.sample, np.arange(len(trajectory.q)))
    np.testing.assert_array_equal(mended.trajectory.q[:, 7:], trajectory.q[:, 7:])
    stands = np.r_[: flight.start + 1, flight.stop : len(trajectory.q)]
    np.testing.assert_allclose(mended.trajectory.q[stands], trajectory.q[stands], atol=1e-12)
    second = np.diff(center_of_mass_path(character, mended.trajectory.q), n=2, axis=0) * trajectory.rate**2
    np.testing.assert_allclose(second[flight.start : flight.stop - 1, 2], -GRAVITY, atol=1e-6)
    assert ("higher" if hang > 1.0 else "lower") in mended.lines[0]


def test_unasked_it_does_what_changes_least_and_nothing_that_changes_much():
    character, trajectory, schedule = jump(1.25, rise=0.15)
    mended = mend_flights(character, trajectory, schedule, "auto")
    away = {}
    for how in ("timing", "height", "auto"):
        other = mend_flights(character, trajectory, schedule, how).trajectory
        ways = body_poses(character, other.q)[0] - body_poses(character, trajectory.q)[0]
        away[how] = np.linalg.norm(ways, axis=2).mean()
    assert away["auto"] == min(away["timing"], away["height"])
    assert 0.0 < away["auto"] < 0.02
    assert len(mended.lines) == 1
    character, trajectory, schedule = jump(2.5)
    far = mend_flights(character, trajectory, schedule, "auto")
    assert far.trajectory is trajectory
    assert "Height" in far.lines[0]
    assert mend_flights(character, trajectory, schedule, "as_keyed").lines == ()
    quick = jump(0.7)
    assert mend_flights(*quick, "auto").trajectory is quick[1]


def test_two_flights_are_mended_each_where_it_is():
    motion = motions.jump(rise=0.2, hang=1.4)
    q = np.concatenate((motion.q, motion.q[1:]))
    trajectory = Trajectory(motions.RATE, q, motions.velocities(motion.character, q), first_frame=1.0)
    mended = mend_flights(motion.character, trajectory, label(motion.character, trajectory), "timing")
    assert len(mended.lines) == 2
    assert find_flights(motion.character, mended.trajectory, label(motion.character, mended.trajectory)) == []


@needs_clips
def test_cmu_cartwheels_are_no_flights():
    character, trajectory = captured("90_02")
    assert find_flights(character, trajectory, label(character, trajectory)) == []
