# SPDX-License-Identifier: GPL-3.0-or-later
"""The recursion against problems whose answers are known."""

import numpy as np
import pytest
import scipy.linalg
from heft.core.control.lookahead.riccati import step_back


def problem(seed, steps=5, n=6, m=3):
    """Muico et al. 2009, eq. 8, with random numbers."""
    rng = np.random.default_rng(seed)
    return {
        "A": rng.normal(size=(steps, n, n)),
        "B": rng.normal(size=(steps, n, m)),
        "d": rng.normal(size=(steps, n)),
        "Q": rng.uniform(0.1, 2.0, size=(steps + 1, n)),
        "R": rng.uniform(0.1, 2.0, size=(steps, m)),
        "P": rng.uniform(0.1, 2.0, size=(steps, m)),
        "u": rng.normal(size=(steps, m)),
    }


def sweep(p):
    curvature, gradient = np.diag(p["Q"][-1]), np.zeros(p["Q"].shape[1])
    laws = []
    for k in range(len(p["A"]) - 1, -1, -1):
        law = step_back(
            p["A"][k],
            p["B"][k],
            p["d"][k],
            p["Q"][k],
            p["R"][k] + p["P"][k],
            p["P"][k] * p["u"][k],
            curvature,
            gradient,
        )
        curvature, gradient = law.curvature, law.gradient
        laws.append(law)
    return laws[::-1]


@pytest.mark.parametrize("seed", range(5))
def test_muico_equation_8_as_one_dense_quadratic_program(seed):
    p = problem(seed)
    steps, n, m = p["B"].shape
    xi = np.random.default_rng(seed + 100).normal(size=n)
    # all states as affine functions of the stacked controls: xi_k = base_k + spread_k eta
    base, spread = [xi], [np.zeros((n, steps * m))]
    for k in range(steps):
        own = np.zeros((n, steps * m))
        own[:, k * m : (k + 1) * m] = p["B"][k]
        base.append(p["A"][k] @ base[-1] + p["d"][k])
        spread.append(p["A"][k] @ spread[-1] + own)
    H, g = np.diag((p["R"] + p["P"]).ravel()), (p["P"] * p["u"]).ravel()
    for b, s, Q in zip(base, spread, p["Q"], strict=True):
        H += s.T @ (Q[:, None] * s)
        g += s.T @ (Q * b)
    eta = -np.linalg.solve(H, g).reshape(steps, m)
    for k, law in enumerate(sweep(p)):
        assert law.feedforward + law.gain @ xi == pytest.approx(-eta[k], abs=1e-9)
        xi = p["A"][k] @ xi + p["B"][k] @ eta[k] + p["d"][k]


def test_muico_equation_9_gives_the_gradient_of_the_cost_to_go():
    p = problem(7)
    laws = sweep(p)
    steps, n, _ = p["B"].shape

    def cost(xi):
        total = 0.0
        for k in range(steps):
            eta = -laws[k].gain @ xi - laws[k].feedforward
            total += 0.5 * (p["Q"][k] @ xi**2 + p["R"][k] @ eta**2 + p["P"][k] @ (p["u"][k] + eta) ** 2)
            xi = p["A"][k] @ xi + p["B"][k] @ eta + p["d"][k]
        return total + 0.5 * p["Q"][-1] @ xi**2

    xi, step = np.linspace(-1.0, 1.0, n), 1e-5
    gradient = [(cost(xi + step * e) - cost(xi - step * e)) / (2.0 * step) for e in np.eye(n)]
    assert laws[0].gradient + laws[0].curvature @ xi == pytest.approx(gradient, rel=1e-6)


def test_muico_recursion_is_that_of_the_paper_which_inverts_the_slope():
    p = problem(3)
    curvature, gradient = np.diag(p["Q"][-1]), np.zeros(6)
    for k in range(4, -1, -1):
        A, B, d = p["A"][k], p["B"][k], p["d"][k]
        effort, pull = p["R"][k] + p["P"][k], p["P"][k] * p["u"][k]
        law = step_back(A, B, d, p["Q"][k], effort, pull, curvature, gradient)
        middle = np.linalg.inv(np.linalg.inv(curvature) + (B / effort) @ B.T)
        after = A.T @ gradient + A.T @ middle @ (d - (B / effort) @ (pull + B.T @ gradient))
        assert law.curvature == pytest.approx(np.diag(p["Q"][k]) + A.T @ middle @ A, rel=1e-8, abs=1e-8)
        assert law.gradient == pytest.approx(after, rel=1e-8, abs=1e-8)
        curvature, gradient = law.curvature, law.gradient


def test_double_integrator_reaches_the_algebraic_riccati_equation():
    dt = 0.01
    A, B = np.array([[1.0, dt], [0.0, 1.0]]), np.array([[0.0], [dt]])
    Q, R = np.array([1.0, 0.1]), np.array([1e-3])
    curvature, gradient = np.diag(Q), np.zeros(2)
    for _ in range(3000):
        law = step_back(A, B, np.zeros(2), Q, R, np.zeros(1), curvature, gradient)
        curvature, gradient = law.curvature, law.gradient
    expected = scipy.linalg.solve_discrete_are(A, B, np.diag(Q), np.diag(R))
    assert curvature == pytest.approx(expected, rel=1e-9)
    assert gradient == pytest.approx([0.0, 0.0])
    assert np.abs(np.linalg.eigvals(A - B @ law.gain)).max() < 1.0


def test_slope_stays_symmetric():
    for law in sweep(problem(11, steps=40)):
        assert (law.curvature == law.curvature.T).all()


def test_what_rounding_leaves_less_than_positive_costs_a_little_more_effort():
    """A light limb: S of 1e9 with an eigenvalue of -1e-4, effort of 1e-7; the answer is as without that."""
    rng = np.random.default_rng(2)
    turn = np.linalg.qr(rng.normal(size=(4, 4)))[0]
    whole = turn @ np.diag([1e9, 1e3, 1.0, 0.0]) @ turn.T
    less = whole - 1e-4 * np.outer(turn[:, 3], turn[:, 3])
    A, B = np.eye(4) + 0.01 * rng.normal(size=(4, 4)), turn
    effort, none = np.full(4, 1e-7), np.zeros(4)
    with pytest.raises(np.linalg.LinAlgError):
        np.linalg.cholesky(B.T @ less @ B + np.diag(effort))
    law = step_back(A, B, none, np.ones(4), effort, none, less, none)
    exact = step_back(A, B, none, np.ones(4), effort, none, whole, none)
    assert np.isfinite(law.gain).all()
    np.testing.assert_allclose(B[:, :2] @ law.gain[:2], B[:, :2] @ exact.gain[:2], atol=0.02)
    assert np.linalg.eigvalsh(law.curvature).min() > 0.0


def test_what_is_not_finite_shows():
    none = np.zeros(2)
    law = step_back(np.eye(2), np.eye(2), none, np.ones(2), np.ones(2), none, np.full((2, 2), np.nan), none)
    assert not np.isfinite(law.gain).any()
