# SPDX-License-Identifier: GPL-3.0-or-later
"""Axes and centres of joints, found again in motions made with them."""

import numpy as np
import pytest
from heft.core.motion import quaternions
from heft.core.motion.articulation import fit_center, fit_hinge, fit_universal


def unit(*values):
    return np.array(values) / np.linalg.norm(values)


@pytest.fixture
def rng():
    return np.random.default_rng(3)


def test_a_hinge_is_found_with_its_axis_in_both_bodies(rng):
    rest, axis = quaternions.exp(np.array([0.3, -0.8, 0.5])), unit(1.0, 2.0, -0.5)
    angles = rng.uniform(-0.2, 1.5, size=80)
    hinge = fit_hinge(quaternions.multiply(rest[None], quaternions.exp(angles[:, None] * axis)))
    sign = np.sign(hinge.child_axis @ axis)
    assert sign * hinge.child_axis == pytest.approx(axis, abs=1e-7)
    assert sign * hinge.parent_axis == pytest.approx(quaternions.rotate(rest, axis), abs=1e-7)
    assert hinge.stray < 1e-6
    assert hinge.swept == pytest.approx(angles.std(), rel=0.15)


def test_what_strays_from_a_hinge_is_measured(rng):
    angles = rng.uniform(-1.0, 1.0, size=2000)
    twist = rng.normal(scale=np.radians(3.0), size=2000)
    motion = quaternions.multiply(
        quaternions.exp(angles[:, None] * np.array([0.0, 1.0, 0.0])), quaternions.exp(twist[:, None] * np.eye(3)[2])
    )
    assert np.degrees(fit_hinge(motion).stray) == pytest.approx(3.0, rel=0.1)


def test_a_universal_joint_is_found_whatever_the_angle_of_its_axes(rng):
    for first, second in ((unit(0, 1, 0), unit(1, 0, 0)), (unit(0.2, 1, 0.1), unit(0.5, 0.2, 1))):
        rest = quaternions.exp(np.array([0.1, 0.2, -0.3]))
        angles = rng.uniform(-0.6, 0.6, size=(200, 2))
        motion = quaternions.multiply(
            quaternions.multiply(rest[None], quaternions.exp(angles[:, :1] * first)),
            quaternions.exp(angles[:, 1:] * second),
        )
        found = fit_universal(motion)
        assert found.stray < 1e-6
        assert abs(found.child_axis @ second) == pytest.approx(1.0, abs=1e-6)
        assert abs(found.parent_axis @ quaternions.rotate(rest, first)) == pytest.approx(1.0, abs=1e-6)


def test_a_ball_is_no_universal_joint(rng):
    found = fit_universal(quaternions.exp(rng.normal(scale=0.3, size=(200, 3))))
    assert found is None or np.degrees(found.stray) > 5.0


def test_the_centre_of_a_ball_is_found_in_both_bodies(rng):
    center, child_center = np.array([0.1, 0.2, 0.3]), np.array([-0.05, 0.0, -0.2])
    turn = quaternions.exp(rng.normal(scale=0.5, size=(100, 3)))
    child_turn = quaternions.multiply(turn, quaternions.exp(rng.normal(scale=0.4, size=(100, 3))))
    place = rng.normal(size=(100, 3))
    child_place = place + quaternions.rotate(turn, center) - quaternions.rotate(child_turn, child_center)
    far = (center + 0.2, child_center - 0.1)
    found = fit_center((place, turn), (child_place, child_turn), far, 1e-9)
    assert found[0] == pytest.approx(center, abs=1e-6)
    assert found[1] == pytest.approx(child_center, abs=1e-6)


def test_a_centre_that_the_motion_says_nothing_about_stays_where_anatomy_has_it():
    turn = np.tile([1.0, 0.0, 0.0, 0.0], (10, 1))
    prior = (np.array([0.0, 0.0, 0.1]), np.array([0.0, 0.0, -0.1]))
    place, child_place = np.zeros((10, 3)), np.tile([0.0, 0.0, 0.2], (10, 1))
    for found, wanted in zip(fit_center((place, turn), (child_place, turn), prior, 1e-3), prior, strict=True):
        assert found == pytest.approx(wanted, abs=1e-9)
