# SPDX-License-Identifier: GPL-3.0-or-later
"""The recursion against one dense solve of all its optimality conditions, on short random horizons."""

import numpy as np
import pytest
from heft.core.maths.products import factor_cholesky
from heft.core.motion.spacetime import ends
from heft.core.motion.spacetime.riccati import make_programme, make_riccati_workspace

FRAMES = 7
GROUPS = np.array([(0, 0), (1, 3), (1, 3), (1, 3), (4, 4), (5, 5), (6, 8), (6, 8), (6, 8)])


def positive_definite(rng, n):
    root = rng.normal(size=(n, n))
    return root @ root.T + 0.1 * np.eye(n)


def random_programme(seed):
    rng = np.random.default_rng(seed)
    nv = len(GROUPS)
    controls = rng.integers(3, 12, size=FRAMES)
    controls[2] = 0
    programme = make_programme(GROUPS, controls, 12)
    for k in range(FRAMES):
        m = controls[k]
        for i, (first, last) in enumerate(GROUPS):
            programme.upper[k, i, : last - first + 1] = rng.normal(size=last - first + 1)
            programme.upper[k, i, 3 : 3 + last - first + 1] = rng.normal(size=last - first + 1)
        programme.lower[k] = 0.3 * rng.normal(size=programme.lower[k].shape)
        programme.control[k, :, :m] = rng.normal(size=(nv, m))
        programme.control_curvature[k, :m, :m] = positive_definite(rng, m)
        programme.control_gradient[k, :m] = rng.normal(size=m)
    for k in range(FRAMES + 1):
        programme.curvature[k] = positive_definite(rng, 2 * nv)
    programme.state_gradient[:] = rng.normal(size=programme.state_gradient.shape)
    programme.defect[:] = rng.normal(size=programme.defect.shape)
    return programme, make_riccati_workspace(nv, 12), rng


def state_matrix(programme, k):
    nv = len(GROUPS)
    top = np.zeros((nv, 2 * nv))
    for i, (first, last) in enumerate(GROUPS):
        top[i, first : last + 1] = programme.upper[k, i, : last - first + 1]
        top[i, nv + first : nv + last + 1] = programme.upper[k, i, 3 : 3 + last - first + 1]
    return np.vstack((top, programme.lower[k]))


def dense_answer(programme, end_rows):
    """Minimise over all dx and du at once; `end_rows` are pairs (matrix over x_0, over x_N, right-hand side)."""
    n, N = programme.dx.shape[1], FRAMES
    m = programme.controls
    starts = np.concatenate(([0], np.cumsum(m))) + (N + 1) * n
    size = starts[-1]
    hessian, gradient = np.zeros((size, size)), np.zeros(size)
    rows, right = [], []
    for k in range(N + 1):
        hessian[k * n : (k + 1) * n, k * n : (k + 1) * n] = programme.curvature[k]
        gradient[k * n : (k + 1) * n] = programme.state_gradient[k]
    for k in range(N):
        u = slice(starts[k], starts[k + 1])
        hessian[u, u] = programme.control_curvature[k, : m[k], : m[k]]
        gradient[u] = programme.control_gradient[k, : m[k]]
        row = np.zeros((n, size))
        row[:, k * n : (k + 1) * n] = -state_matrix(programme, k)
        row[:, (k + 1) * n : (k + 2) * n] = np.eye(n)
        row[n // 2 :, u] = -programme.control[k, :, : m[k]]
        rows.append(row)
        right.append(programme.defect[k])
    for at_start, at_end, value in end_rows:
        row = np.zeros((n, size))
        row[:, :n] = at_start
        row[:, N * n : (N + 1) * n] = at_end
        rows.append(row)
        right.append(value)
    E = np.vstack(rows)
    system = np.block([[hessian, E.T], [E, np.zeros((len(E), len(E)))]])
    answer = np.linalg.solve(system, np.concatenate((-gradient, *right)))
    return answer[: (N + 1) * n].reshape(N + 1, n), [answer[starts[k] : starts[k + 1]] for k in range(N)]


@pytest.mark.parametrize(
    ("start", "end"),
    [("free", "free"), ("free", "pinned"), ("pinned", "free"), ("pinned", "pinned"), ("free", "cycle")],
)
def test_riccati_equals_dense_solve(start, end):
    programme, work, rng = random_programme(len(start) + 3 * len(end))
    n = programme.dx.shape[1]
    F = rng.normal(size=(n, n)) if end == "cycle" else None
    dx_0, residual = rng.normal(size=n), rng.normal(size=n)
    rows = []
    if start == "pinned":
        rows.append((np.eye(n), np.zeros((n, n)), dx_0))
    if end != "free":
        rows.append((np.zeros((n, n)) if F is None else -F, np.eye(n), -residual))
    x, u = dense_answer(programme, rows)
    system = ends.factor(programme, work, start_pinned=start == "pinned", end_bound=end != "free", cycle=F)
    ends.solve(system, programme, work, dx_0, residual)
    np.testing.assert_allclose(programme.dx, x, atol=1e-8 * np.abs(x).max())
    for k in range(FRAMES):
        np.testing.assert_allclose(
            programme.du[k, : len(u[k])], u[k], atol=1e-8 * max(np.abs(v).max(initial=1) for v in u)
        )


def test_second_solve_with_kept_factors():
    programme, work, rng = random_programme(5)
    n = programme.dx.shape[1]
    kept = [hessian.copy() for hessian in programme.control_curvature]
    states = programme.curvature.copy()
    system = ends.factor(programme, work, start_pinned=True, end_bound=False, cycle=None)
    ends.solve(system, programme, work, np.zeros(n), np.zeros(n))
    programme.defect[:] = rng.normal(size=programme.defect.shape)
    start = rng.normal(size=n)
    ends.solve(system, programme, work, start, np.zeros(n))
    answer = programme.dx.copy()
    programme.curvature[:], programme.control_curvature[:] = states, kept
    x, _ = dense_answer(programme, [(np.eye(n), np.zeros((n, n)), start)])
    np.testing.assert_allclose(answer, x, atol=1e-8 * np.abs(x).max())


def test_indefinite_control_hessian_names_its_frame():
    programme, work, _ = random_programme(0)
    programme.control_curvature[4, 1, 1] = -1e9
    with pytest.raises(ends.SingularFrameError, match="frame 4") as raised:
        ends.factor(programme, work, start_pinned=True, end_bound=False, cycle=None)
    assert raised.value.frame == 4


@pytest.mark.parametrize("n", [1, 3, 4, 35])
def test_cholesky_factor(n):
    matrix = positive_definite(np.random.default_rng(n), n)
    factor = matrix.copy()
    assert factor_cholesky(factor, n)
    np.testing.assert_allclose(np.tril(factor), np.linalg.cholesky(matrix), atol=1e-10 * np.abs(matrix).max())
