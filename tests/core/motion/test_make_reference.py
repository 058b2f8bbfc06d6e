# SPDX-License-Identifier: GPL-3.0-or-later
"""One call from a motion to its reference."""

import numpy as np
import pytest
from heft.core.contact.terrain import Plane, make_terrain
from heft.core.motion.clean_up import clean_up
from heft.core.motion.fit import Trajectory
from heft.core.motion.labels import Contact, Grab, label
from heft.core.motion.make_reference import BROKEN, make_reference, without_broken
from heft.core.motion.spacetime import Ends, NoReferenceError

from tests.core.motion.skeletons import needs_clips
from tests.core.motion.spacetime import motions
from tests.core.motion.walkers import captured


def squat():
    motion = motions.squat(120, 0.1)
    return motion.character, Trajectory(motion.rate, motion.q, motion.v, first_frame=10.0, frames_per_sample=0.2)


def test_contacts_are_found_and_named_by_the_sources_frames():
    made = make_reference(*squat())
    assert made.reference.quality.fit_for_control
    assert set(made.contacts) == {
        Contact(f"{side}_foot_{end}", 10.0, 34.0) for side in ("left", "right") for end in ("heel", "toe")
    }
    assert made.lines[-1] == made.reference.quality.why


def test_edited_contacts_replace_the_labels():
    character, trajectory = squat()
    contacts = [("left_foot_toe", 10.0, 34.0), ("left_foot_heel", 10.0, 34.0), ("right_foot_toe", 10.0, 34.0)]
    made = make_reference(character, trajectory, contacts=[*contacts, ("right_foot_heel", 10.0, 20.0)])
    heel = made.reference.schedule.names.index("right_heel_left")
    np.testing.assert_array_equal(np.flatnonzero(made.reference.schedule.active[:, heel]), np.arange(51))
    again = make_reference(character, trajectory, contacts=made.contacts)
    assert (again.reference.q == made.reference.q).all()
    with pytest.raises(ValueError, match="no contact point 'left_wing'"):
        make_reference(character, trajectory, contacts=[("left_wing", 10.0, 34.0)])


def test_grabs_by_frames_carry_a_hanging_body():
    motion = motions.hang(120, 0.02)
    trajectory = Trajectory(motion.rate, motion.q, motion.v, first_frame=1.0)
    grabs = [Grab(point, 1.0, 121.0) for point in motion.schedule.points]
    made = make_reference(motion.character, trajectory, grabs=grabs)
    assert made.reference.quality.fit_for_control
    weight = motion.character.total_mass * 9.81
    assert made.reference.force[:, :, 2].sum(axis=1).mean() == pytest.approx(weight, rel=0.05)
    high = Trajectory(motion.rate, motion.q + np.eye(1, motion.character.nq, 2), motion.v, first_frame=1.0)
    with pytest.raises(NoReferenceError, match="Nothing holds the body up in frames 1 to 121"):
        make_reference(motion.character, high)


def test_a_walk_becomes_a_cycle():
    motion = motions.walk(strides=3)
    made = make_reference(motion.character, Trajectory(motion.rate, motion.q, motion.v), cyclic=True)
    assert made.cycle is not None
    assert made.reference.cycle == made.cycle.step
    assert made.reference.steps == pytest.approx(132, abs=8)
    assert np.hypot(*made.cycle.step.shift) == pytest.approx(1.1, rel=0.06)
    with pytest.raises(ValueError, match="level ground"):
        make_reference(
            motion.character,
            Trajectory(motion.rate, motion.q, motion.v),
            cyclic=True,
            terrain=make_terrain([Plane((0.0, 0.0, -0.1))]),
        )
    with pytest.raises(ValueError, match="no ends"):
        make_reference(
            motion.character,
            Trajectory(motion.rate, motion.q, motion.v),
            cyclic=True,
            bounds=Ends(start=(motion.q[0], motion.v[0])),
        )


def test_a_raised_floor_is_stood_on():
    character, trajectory = squat()
    q = trajectory.q.copy()
    q[:, 2] += 0.3
    raised = Trajectory(trajectory.rate, q, trajectory.v)
    made = make_reference(character, raised, terrain=make_terrain([Plane((0.0, 0.0, 0.3))]))
    assert made.reference.quality.fit_for_control
    with pytest.raises(NoReferenceError, match="frames 0 to 120"):
        make_reference(character, raised)


def test_changes_are_measured_from_the_clip_not_from_what_clean_up_made_of_it():
    character, trajectory = squat()
    sunk = Trajectory(trajectory.rate, trajectory.q - np.eye(1, character.nq, 2) * 0.02, trajectory.v)
    made = make_reference(character, sunk)
    assert made.reference.quality.root_change[:, 2].mean() == pytest.approx(0.02, abs=5e-3)


@needs_clips
def test_cmu_uneven_ground_is_refused_by_frames():
    with pytest.raises(NoReferenceError, match=r"^Nothing holds the body up in frames 21\d to 270, yet"):
        make_reference(*captured("36_01"))


@needs_clips
def test_cmu_squat_stands_on_its_feet_however_far_they_turn_its_ankles():
    character, trajectory = captured("22_14")
    schedule = label(character, trajectory)
    clean = clean_up(character, trajectory, schedule)
    assert clean.moved.joints.max() > BROKEN
    assert without_broken(character, schedule, clean, trajectory).active.any(axis=1).all()
