# SPDX-License-Identifier: GPL-3.0-or-later
"""Eigenvalues against numpy's, and matrices that are special."""

import numpy as np
import pytest
from heft.core.maths.symmetric_eigen import symmetric_eigen


def solve(matrix):
    n = len(matrix)
    vectors, values = np.zeros((n, n)), np.zeros(n)
    assert symmetric_eigen(np.array(matrix, dtype=np.float64), vectors, values, np.zeros((2, n)))
    return values, vectors


@pytest.mark.parametrize("n", [1, 2, 3, 36, 60])
def test_against_numpy(n):
    rng = np.random.default_rng(n)
    root = rng.normal(size=(n, n)) * np.logspace(0.0, -3.0, n)
    matrix = root @ root.T
    values, vectors = solve(matrix)
    assert values == pytest.approx(np.linalg.eigvalsh(matrix), abs=1e-13 * values[-1])
    np.testing.assert_allclose(vectors @ vectors.T, np.eye(n), atol=1e-13)
    np.testing.assert_allclose(vectors @ matrix @ vectors.T, np.diag(values), atol=1e-13 * values[-1])


@pytest.mark.parametrize(
    "matrix",
    [
        np.zeros((4, 4)),
        np.eye(5),
        np.diag([3.0, 1.0, 2.0, 1.0]),
        np.ones((6, 6)),
        np.diag([1.0, 1.0], 1) + np.diag([1.0, 1.0], -1),
    ],
    ids=["zero", "one", "diagonal", "rank one", "no diagonal"],
)
def test_repeated_and_zero_values(matrix):
    values, vectors = solve(matrix)
    assert values == pytest.approx(np.linalg.eigvalsh(matrix), abs=1e-14)
    np.testing.assert_allclose(vectors @ vectors.T, np.eye(len(matrix)), atol=1e-14)
    np.testing.assert_allclose(vectors.T * values @ vectors, matrix, atol=1e-14)


def test_what_is_not_finite_is_told():
    matrix = np.full((3, 3), np.nan)
    assert not symmetric_eigen(matrix, np.zeros((3, 3)), np.zeros(3), np.zeros((2, 3)))
