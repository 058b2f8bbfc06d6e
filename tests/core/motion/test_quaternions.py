# SPDX-License-Identifier: GPL-3.0-or-later
"""Rotations of arrays, against the kernels of `maths.rotations`."""

import numpy as np
import pytest
from heft.core.maths import rotations
from heft.core.motion import quaternions


@pytest.fixture(scope="module")
def pairs():
    q = np.random.default_rng(0).normal(size=(50, 2, 4))
    q /= np.linalg.norm(q, axis=2, keepdims=True)
    return q[:, 0], q[:, 1]


def test_products_turns_logarithms_and_matrices_are_those_of_the_kernels(pairs):
    a, b = pairs
    for i in range(len(a)):
        first, second, vector = tuple(a[i]), tuple(b[i]), tuple(b[i, 1:])
        assert quaternions.multiply(a, b)[i] == pytest.approx(rotations.quaternion_multiply(first, second), abs=1e-15)
        assert quaternions.rotate(a, b[:, 1:])[i] == pytest.approx(
            rotations.quaternion_rotate(first, vector), abs=1e-14
        )
        assert quaternions.log(a)[i] == pytest.approx(rotations.quaternion_log(first), abs=1e-14)
        assert quaternions.exp(b[:, 1:])[i] == pytest.approx(rotations.quaternion_exp(vector), abs=1e-15)
        assert quaternions.matrix(a)[i].ravel() == pytest.approx(rotations.quaternion_matrix(first), abs=1e-14)


def test_matrices_come_back_as_the_same_rotations_even_near_half_a_turn(pairs):
    half = quaternions.exp((np.pi - 1e-9) * np.eye(3))
    for q in (*pairs, half):
        assert quaternions.angle(quaternions.from_matrix(quaternions.matrix(q)), q).max() < 1e-12


def test_rotation_vectors_of_zero_and_of_tiny_angles_keep_their_digits():
    tiny = np.array([[0.0, 0.0, 0.0], [1e-12, -2e-12, 0.0]])
    assert quaternions.log(quaternions.exp(tiny)) == pytest.approx(tiny, rel=1e-12, abs=1e-30)


def test_continuous_signs_change_no_rotation(pairs):
    a, _ = pairs
    result = quaternions.continuous(a)
    assert (np.sum(result[1:] * result[:-1], axis=1) >= 0.0).all()
    assert np.abs(result) == pytest.approx(np.abs(a))


@pytest.mark.parametrize("shapes", [((3,), (3,)), ((7, 3), (3,)), ((5, 1, 3), (5, 8, 3))])
def test_cross_products_are_numpys_to_the_bit(shapes):
    rng = np.random.default_rng(0)
    a, b = (rng.normal(size=shape) for shape in shapes)
    np.testing.assert_array_equal(quaternions.cross(a, b), np.cross(a, b))


def test_the_shortest_rotation_between_directions_takes_one_to_the_other():
    for target in ([0.0, 0.0, 1.0], [0.0, 0.0, -2.0], [1.0, 2.0, 3.0], [1e-9, 0.0, -1.0]):
        start, end = np.array([0.0, 0.0, 3.0]), np.array(target)
        turned = quaternions.rotate(quaternions.between(start, end), start)
        assert turned / 3.0 == pytest.approx(end / np.linalg.norm(end), abs=1e-8)


def test_markley_2007_mean_does_not_depend_on_signs():
    middle = quaternions.exp(np.array([0.4, -0.2, 1.0]))
    steps = np.array([[0.1, 0, 0], [-0.1, 0, 0], [0, 0.2, 0], [0, -0.2, 0]])
    around = quaternions.multiply(middle[None], quaternions.exp(steps)) * np.array([[1], [-1], [-1], [1]])
    assert quaternions.angle(quaternions.mean(around), middle) < 1e-12
