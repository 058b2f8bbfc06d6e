# SPDX-License-Identifier: GPL-3.0-or-later
"""Cholesky factors and triangular solves, against numpy."""

import numpy as np
import pytest
from heft.core.maths import dense


def positive_definite(n):
    a = np.random.default_rng(n).normal(size=(n, n))
    return a @ a.T + n * np.eye(n)


@pytest.mark.parametrize("n", [1, 2, 7, 40])
def test_cholesky_and_solves(n):
    matrix = positive_definite(n)
    factor = np.zeros((n, n))
    assert dense.cholesky(matrix, factor)
    np.testing.assert_allclose(factor, np.linalg.cholesky(matrix), atol=1e-12)

    b = np.arange(1.0, n + 1.0)
    x = b.copy()
    dense.cholesky_solve(factor, x)
    np.testing.assert_allclose(matrix @ x, b, atol=1e-12)
    x = b.copy()
    dense.solve_lower(factor, x)
    np.testing.assert_allclose(factor @ x, b, atol=1e-12)
    x = b.copy()
    dense.solve_lower_transposed(factor, x)
    np.testing.assert_allclose(factor.T @ x, b, atol=1e-12)

    columns = np.random.default_rng(0).normal(size=(n, 5))
    many = columns.copy()
    dense.cholesky_solve_rows(factor, many)
    np.testing.assert_allclose(matrix @ many, columns, atol=1e-12)


def test_cholesky_in_place():
    matrix = positive_definite(6)
    factor = matrix.copy()
    assert dense.cholesky(factor, factor)
    np.testing.assert_allclose(np.tril(factor), np.linalg.cholesky(matrix), atol=1e-12)


@pytest.mark.parametrize("last", [0.0, -1.0, np.nan])
def test_cholesky_refuses_what_is_not_positive_definite(last):
    matrix = np.diag([1.0, 2.0, last])
    assert not dense.cholesky(matrix, np.zeros((3, 3)))
