# SPDX-License-Identifier: GPL-3.0-or-later
"""Vectors, matrices and spatial vectors as tuples, against numpy."""

import numpy as np
from heft.core.maths import spatial, vectors

RNG = np.random.default_rng(7)
A, B, C, D = (tuple(row) for row in RNG.normal(size=(4, 3)).tolist())
M, N = (tuple(row) for row in RNG.normal(size=(2, 9)).tolist())


def square(nine):
    return np.reshape(nine, (3, 3))


def test_vector_algebra():
    np.testing.assert_allclose(vectors.add(A, B), np.add(A, B))
    np.testing.assert_allclose(vectors.subtract(A, B), np.subtract(A, B))
    np.testing.assert_allclose(vectors.scale(3.0, A), np.multiply(3.0, A))
    np.testing.assert_allclose(vectors.add_scaled(A, -2.0, B), np.subtract(A, np.multiply(2.0, B)))
    np.testing.assert_allclose(vectors.dot(A, B), np.dot(A, B))
    np.testing.assert_allclose(vectors.cross(A, B), np.cross(A, B))


def test_matrix_algebra():
    np.testing.assert_allclose(vectors.matrix_vector(M, A), square(M) @ A)
    np.testing.assert_allclose(vectors.transposed_vector(M, A), square(M).T @ A)
    np.testing.assert_allclose(square(vectors.matrix_product(M, N)), square(M) @ square(N))


def test_symmetric_matrices():
    full = square(M) + square(M).T
    upper = tuple(full[np.triu_indices(3)].tolist())
    np.testing.assert_allclose(spatial.symmetric_vector(upper, A), full @ A)
    np.testing.assert_allclose(full @ spatial.symmetric_solve(upper, A), A)


def test_rows_and_stacks_come_back_as_written():
    rows, stack = np.zeros((2, 6)), np.zeros((2, 3, 3))
    vectors.set_row(rows, 1, A)
    vectors.set_row_angular(rows, 1, B)
    vectors.set_matrix(stack, 1, M)
    assert (vectors.row(rows, 1), vectors.row_angular(rows, 1), vectors.matrix_at(stack, 1)) == (A, B, M)
    assert not rows[0].any()
    assert not stack[0].any()


def skew(a):
    """The matrix [a] with [a] b = a x b."""
    return np.cross(np.eye(3), a)


def motion_cross_matrix(linear, angular):
    """Featherstone 2008, equation 2.31, with the linear part first."""
    w, v = skew(angular), skew(linear)
    return np.block([[w, v], [np.zeros((3, 3)), w]])


def test_featherstone_2_31_motion_and_force_cross():
    matrix = motion_cross_matrix(A, B)
    np.testing.assert_allclose(np.ravel(spatial.motion_cross(A, B, C, D)), matrix @ (*C, *D))
    np.testing.assert_allclose(np.ravel(spatial.force_cross(A, B, C, D)), -matrix.T @ (*C, *D))


def test_featherstone_2_63_momentum_of_a_rigid_body():
    """The inertia of a cloud of points gives the sum of their momenta."""
    masses, points = RNG.uniform(0.5, 2.0, size=9), RNG.normal(size=(9, 3))
    second = (masses * (points**2).sum(axis=1)).sum() * np.eye(3) - (points.T * masses) @ points
    inertia = np.array([[masses.sum(), *(masses @ points), *second[np.triu_indices(3)]]])
    velocities = np.array(A) + np.cross(B, points)
    expected = np.concatenate([masses @ velocities, masses @ np.cross(points, velocities)])
    np.testing.assert_allclose(np.ravel(spatial.inertia_momentum(inertia, 0, A, B)), expected)
    np.testing.assert_allclose(spatial.row_dot(np.array([[*A, *B]]), 0, C, D), np.dot(A, C) + np.dot(B, D))
