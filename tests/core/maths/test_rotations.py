# SPDX-License-Identifier: GPL-3.0-or-later
"""Rotations: properties that must hold at every angle, the ends of the range included; SciPy as the oracle."""

import math

import numpy as np
import pytest
from heft.core.maths import rotations
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

examples = settings(deadline=None, max_examples=200)  # no deadline: the first example compiles

coordinates = st.floats(-1.0, 1.0)
directions = (
    st.tuples(coordinates, coordinates, coordinates)
    .filter(lambda a: np.linalg.norm(a) > 1e-3)
    .map(lambda a: np.array(a) / np.linalg.norm(a))
)
SMALLEST = float(np.finfo(float).tiny)  # below it numbers have no relative precision
tiny = st.integers(-320, -1).map(lambda exponent: 10.0**exponent)
angles = st.one_of(
    st.floats(0.0, math.pi, allow_subnormal=False),
    st.sampled_from([0.0, 0.5, math.pi / 2, math.pi]),  # 0.5 is where series and closed forms meet
    tiny,
    tiny.map(lambda small: math.pi - small),
    tiny.map(lambda small: 0.5 + small / 10),
)


def vector(direction, angle):
    return tuple((angle * direction).tolist())


rotation_vectors = st.builds(vector, directions, angles)
quaternions = st.tuples(coordinates, coordinates, coordinates, coordinates).filter(lambda a: np.linalg.norm(a) > 1e-3)
unit_quaternions = quaternions.map(lambda a: tuple((np.array(a) / np.linalg.norm(a)).tolist()))
vectors = st.tuples(*3 * [st.floats(-10.0, 10.0)])


def scipy_rotation(quaternion):
    w, x, y, z = quaternion
    return Rotation.from_quat([x, y, z, w])


def same_rotation(a, b):
    return min(np.abs(np.subtract(a, b)).max(), np.abs(np.add(a, b)).max())


def matrix(nine):
    return np.reshape(nine, (3, 3))


@examples
@given(unit_quaternions, unit_quaternions, vectors)
def test_multiply_is_one_rotation_after_the_other(a, b, x):
    together = rotations.quaternion_rotate(rotations.quaternion_multiply(a, b), x)
    in_turn = rotations.quaternion_rotate(a, rotations.quaternion_rotate(b, x))
    np.testing.assert_allclose(together, in_turn, atol=1e-13)
    np.testing.assert_allclose(together, (scipy_rotation(a) * scipy_rotation(b)).apply(x), atol=1e-13)


@examples
@given(unit_quaternions, vectors)
def test_matrix_rotates_as_the_quaternion(a, x):
    m = matrix(rotations.quaternion_matrix(a))
    np.testing.assert_allclose(m @ x, rotations.quaternion_rotate(a, x), atol=1e-13)
    np.testing.assert_allclose(m @ m.T, np.eye(3), atol=1e-14)


@examples
@given(unit_quaternions)
@example((1.0, 0.0, 0.0, 0.0))
@example((0.0, 1.0, 0.0, 0.0))
@example((0.0, 0.0, 1.0, 0.0))
@example((0.0, 0.0, 0.0, 1.0))
def test_quaternion_comes_back_from_its_matrix(a):
    back = rotations.quaternion_from_matrix(rotations.quaternion_matrix(a))
    assert back[0] >= 0.0
    assert same_rotation(back, a) < 1e-14


@examples
@given(quaternions)
def test_normalize_gives_unit_length_and_keeps_the_direction(a):
    unit = rotations.quaternion_normalize(a)
    np.testing.assert_allclose(np.linalg.norm(unit), 1.0, atol=1e-15)
    np.testing.assert_allclose(np.multiply(unit, np.linalg.norm(a)), a, atol=1e-15)


@examples
@given(unit_quaternions)
def test_conjugate_is_the_inverse(a):
    one = rotations.quaternion_multiply(a, rotations.quaternion_conjugate(a))
    np.testing.assert_allclose(one, (1.0, 0.0, 0.0, 0.0), atol=1e-15)


@examples
@given(rotation_vectors)
def test_exp_against_scipy(d):
    x, y, z, w = Rotation.from_rotvec(d).as_quat()
    assert same_rotation(rotations.quaternion_exp(d), (w, x, y, z)) < 1e-15


@examples
@given(directions, angles)
def test_log_undoes_exp(direction, angle):
    d = np.array(vector(direction, angle))
    back = np.array(rotations.quaternion_log(rotations.quaternion_exp(tuple(d))))
    if angle > math.pi - 1e-15:
        # half a turn about either end of the axis is the same rotation
        back = back if back @ d >= 0.0 else -back
    np.testing.assert_allclose(back, d, rtol=1e-15, atol=4e-16 * np.linalg.norm(d) + SMALLEST)


@examples
@given(unit_quaternions)
def test_exp_undoes_log_and_log_takes_the_shorter_way(a):
    d = rotations.quaternion_log(a)
    assert np.linalg.norm(d) <= math.pi * (1.0 + 1e-15)
    assert same_rotation(rotations.quaternion_exp(d), a) < 1e-15


@examples
@given(directions, tiny)
def test_log_keeps_relative_digits_of_small_angles(direction, angle):
    d = np.array(vector(direction, angle))
    back = rotations.quaternion_log(rotations.quaternion_exp(tuple(d)))
    np.testing.assert_allclose(back, d, rtol=4e-16, atol=SMALLEST)


@examples
@given(rotation_vectors)
def test_right_jacobian_and_its_inverse(d):
    product = matrix(rotations.right_jacobian(d)) @ matrix(rotations.right_jacobian_inverse(d))
    np.testing.assert_allclose(product, np.eye(3), atol=2e-15)


@examples
@given(rotation_vectors)
def test_right_jacobian_turns_its_transpose(d):
    """J_r(-d) = exp(d) J_r(d) = J_r(d)^T: the left Jacobian, said in two ways."""
    jacobian = matrix(rotations.right_jacobian(d))
    turn = matrix(rotations.quaternion_matrix(rotations.quaternion_exp(d)))
    np.testing.assert_allclose(turn @ jacobian, jacobian.T, atol=1e-15)


@examples
@given(rotation_vectors, directions)
def test_right_jacobian_is_the_derivative_of_exp(d, direction):
    step = 1e-5
    change = tuple((step * direction).tolist())
    ahead = rotations.quaternion_exp(tuple(np.add(d, change)))
    behind = rotations.quaternion_exp(tuple(np.subtract(d, change)))
    difference = rotations.quaternion_log(rotations.quaternion_multiply(rotations.quaternion_conjugate(behind), ahead))
    predicted = matrix(rotations.right_jacobian(d)) @ direction
    np.testing.assert_allclose(np.divide(difference, 2.0 * step), predicted, atol=1e-9)


@pytest.mark.parametrize("function", [rotations.right_jacobian, rotations.right_jacobian_inverse])
def test_series_and_closed_form_meet(function):
    direction = np.array([0.6, -0.48, 0.64])
    below = function(tuple((0.5 - 1e-15) * direction))
    above = function(tuple((0.5 + 1e-15) * direction))
    np.testing.assert_allclose(below, above, atol=1e-14)
