# SPDX-License-Identifier: GPL-3.0-or-later
"""Edits of timing, joints and limbs' ends, and transitions."""

import numpy as np
import pytest
from heft.core.dynamics import difference
from heft.core.motion.editing import joined, moved_point, turned_joint, warped
from heft.core.motion.fit import Trajectory
from heft.core.motion.make_reference import make_reference
from heft.core.motion.schedule import ContactPoint, contact_points
from heft.core.motion.tracks import point_places

from tests.core.motion.spacetime import motions


def walk(**options):
    motion = motions.walk(strides=2, **options)
    return motion.character, Trajectory(motion.rate, motion.q, motion.v, first_frame=5.0, frames_per_sample=0.2)


def test_a_warp_to_the_same_times_changes_nothing():
    character, trajectory = walk()
    same = warped(character, trajectory, np.arange(len(trajectory.q)))
    np.testing.assert_allclose(same.q, trajectory.q, atol=1e-12)
    assert (same.first_frame, same.frames_per_sample) == (5.0, 0.2)
    half = warped(character, trajectory, np.arange(20.0, 60.0, 0.5))
    assert half.first_frame == pytest.approx(9.0)
    assert half.frames_per_sample == pytest.approx(0.1)
    np.testing.assert_allclose(half.q[::2], trajectory.q[20:60], atol=1e-12)
    with pytest.raises(ValueError, match="between 0 and 264"):
        warped(character, trajectory, [0.0, 300.0])


def test_a_joint_is_turned_at_its_frame_and_nowhere_else():
    character, trajectory = walk()
    edited = turned_joint(character, trajectory, "left_forearm", [-0.5], frame=25.0, span=0.25)
    sample = trajectory.sample(25.0)
    entry = character.tree.velocity_start[character.index("left_forearm")]
    change = np.array([difference(character, a, b) for a, b in zip(trajectory.q, edited.q, strict=True)])
    assert change[sample, entry] == pytest.approx(-0.5)
    assert np.abs(np.delete(change, entry, axis=1)).max() < 1e-12
    assert np.abs(change[np.abs(np.arange(len(change)) - sample) >= 30]).max() < 1e-12
    with pytest.raises(ValueError, match="has 3 angles, not 1"):
        turned_joint(character, trajectory, "left_arm", [0.5], 25.0, 0.25)
    assert make_reference(character, edited).reference.quality.fit_for_control


def test_a_hand_is_brought_to_its_place():
    character, trajectory = walk()
    hand = ContactPoint("hand", character.index("right_hand"), (0.0, 0.0, -0.08))
    sample = trajectory.sample(25.0)
    target = point_places(character, trajectory.q, (hand,))[sample, 0] + (0.15, -0.1, 0.25)
    edited = moved_point(character, trajectory, hand, target, frame=25.0, span=0.5)
    np.testing.assert_allclose(point_places(character, edited.q, (hand,))[sample, 0], target, atol=2e-3)
    np.testing.assert_array_equal(edited.q[0], trajectory.q[0])
    feet = [point for point in contact_points(character) if point.foot]
    way = point_places(character, edited.q, feet) - point_places(character, trajectory.q, feet)
    assert np.abs(way).max() < 1e-3
    assert make_reference(character, edited).reference.quality.fit_for_control


def test_one_walk_goes_over_into_another():
    """A walk joined to itself over a whole stride goes straight on; into a turn it is feasible."""
    character, first = walk()
    again = joined(character, first, first, 1.1)
    assert len(again.q) == 2 * len(first.q) - 133
    np.testing.assert_array_equal(again.q[:100], first.q[:100])
    assert again.q[-1, 0] == pytest.approx(3.3, abs=0.01)
    _, curve = walk(turn=0.3)
    bent = joined(character, first, curve, 1.1)
    made = make_reference(character, bent)
    assert made.reference.quality.fit_for_control, made.reference.quality.why
    with pytest.raises(ValueError, match="shorter than both motions"):
        joined(character, first, curve, 9.0)
