# SPDX-License-Identifier: GPL-3.0-or-later
"""A motion taken as it is: what it says of itself, and that nothing about it was changed."""

import numpy as np
import pytest
from heft.core.motion.fit import Trajectory
from heft.core.motion.make_reference import make_reference

from tests.core.motion.spacetime import motions


@pytest.fixture(scope="module")
def made():
    motion = motions.squat(60, 0.1)
    trajectory = Trajectory(motion.rate, motion.q, motion.v)
    return motion, make_reference(motion.character, trajectory, optimise=False)


def test_it_lacks_all_forces_and_says_so(made):
    motion, found = made
    reference = found.reference
    assert not reference.torque.any()
    assert not reference.force.any()
    assert "as they are" in reference.quality.why
    weight = 9.81 * motion.character.total_mass
    assert weight < reference.quality.residual_newtons < 2.0 * weight  # it is slowed down at the bottom
    assert any("as they are" in line for line in found.lines)


def test_poses_are_those_of_the_clean_motion(made):
    _, found = made
    np.testing.assert_array_equal(found.reference.q, found.clean.trajectory.q)
    assert found.reference.carrying.all(axis=0).sum() == 8
    assert found.reference.quality.slip_millimetres < 1.0
    assert found.reference.quality.root_rms_metres < 0.02
