# SPDX-License-Identifier: GPL-3.0-or-later
"""Motions that end at rest: told from others, and references that do not lean into their last frames."""

import numpy as np
import pytest
from heft.core.control.lookahead import LookAhead, Track
from heft.core.motion.fit import Trajectory
from heft.core.motion.make_reference import make_reference
from heft.core.motion.rest import ends_at_rest, held
from heft.core.motion.spacetime import Ends
from heft.core.motion.tracks import center_of_mass_path
from heft.core.simulation import World

from tests.core.motion.skeletons import needs_clips
from tests.core.motion.spacetime import motions
from tests.core.motion.walkers import captured


def ending(motion, frames=None):
    trajectory = Trajectory(motion.rate, motion.q, motion.v)
    stop = len(motion.q) if frames is None else frames
    return motion.character, trajectory.cut(0, stop), motion.schedule.cut(0, stop)


def squat_and_stand():
    """A squat, and a quarter of a second of standing."""
    character, trajectory, schedule = ending(motions.squat())
    longer, contacts = held(trajectory, schedule)
    frames = len(trajectory.q) + 30
    return character, longer.cut(0, frames), contacts.cut(0, frames)


def test_a_squat_ends_at_rest_and_half_of_it_does_not():
    assert ends_at_rest(*squat_and_stand())
    assert not ends_at_rest(*ending(motions.squat(), 90))


def test_a_walk_and_a_flight_do_not_end_at_rest():
    assert not ends_at_rest(*ending(motions.walk()))
    assert not ends_at_rest(*ending(motions.jump(), 85))


def test_who_stands_still_beside_the_feet_does_not_rest():
    character, trajectory, schedule = squat_and_stand()
    for aside, rests in ((0.05, True), (0.3, False)):
        moved = schedule.place + np.array([aside, 0.0, 0.0])
        moved[~schedule.active] = 0.0
        assert ends_at_rest(character, trajectory, type(schedule)(schedule.points, schedule.active, moved)) == rests


def speed(reference):
    path = center_of_mass_path(reference.character, reference.q[-3:])
    return float(np.linalg.norm(path[-1] - path[0])) * 0.5 * reference.rate


@needs_clips
def test_a_captured_stop_does_not_lean_into_its_last_frames():
    character, trajectory = captured("16_08")
    free = make_reference(character, trajectory, bounds=Ends()).reference
    rested = make_reference(character, trajectory).reference
    assert speed(free) > 0.2
    assert speed(rested) < 0.1
    assert rested.steps == free.steps


def test_a_character_stands_on_after_a_motion_that_ends_at_rest():
    character, trajectory, _ = squat_and_stand()
    reference = make_reference(character, trajectory).reference
    assert len(reference.q) == len(trajectory.q)
    track = Track.of(reference)
    controller, world = LookAhead(character, track), World(character)
    world.reset(track.q[0], track.v[0])
    for _ in range(len(track.q) + 360):
        world.step(controller)
    assert world.q[2] == pytest.approx(reference.q[-1, 2], abs=0.005)
    assert np.abs(world.v).max() < 0.01
