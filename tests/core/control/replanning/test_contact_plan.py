# SPDX-License-Identifier: GPL-3.0-or-later
"""The contact plan of eq. 16 against a quadratic program solver, and against the conditions of its optimum."""

import numpy as np
import osqp
import pytest
import scipy.sparse
from heft.core.control.replanning.contact_plan import (
    make_contact_problem,
    make_contact_work,
    plan_contacts,
    project_on_cone,
)
from heft.core.maths.kernel import kernel

DT = 1.0 / 120.0
EFFORT = 1e-3


@kernel
def project(friction, n, t, s):
    return project_on_cone(friction, (n, t, s))


def problem_of(rng, points=8, steps=12, friction=0.8, grips=0):
    """Feet under a body of 67 kg that sways and is to come back: columns as rigid modes have them."""
    problem = make_contact_problem(points, steps)
    scale = 1.0 / np.sqrt(67.0)
    problem.columns[:, :3] = scale * np.array([[0.0, 1.0, 0.0], [0.0, 0.0, 1.0], [1.0, 0.0, 0.0]])
    problem.columns[:, 3:] = 0.3 * rng.normal(size=(points, 3, 3))
    problem.friction[:] = friction
    problem.friction[:grips] = np.inf
    problem.active[:] = rng.uniform(size=(steps, points)) < 0.7
    fall = -9.81 * np.sqrt(67.0) * DT * steps
    problem.miss[:] = np.concatenate((0.05 * rng.normal(size=6), 0.5 * rng.normal(size=6)))
    problem.miss[8] += fall
    problem.weight[:] = np.repeat((0.1, 0.5, 1.0), (3, 3, 6))
    return problem


def solved(problem, effort=EFFORT):
    steps, points = problem.active.shape
    work = make_contact_work(points, steps)
    iterations = plan_contacts(problem, points, steps, DT, effort, work)
    assert iterations >= 0
    return work.impulse.copy(), iterations


def matrix(problem):
    """B (12, 3 n): of the impulses of all steps and points."""
    steps, points = problem.active.shape
    blocks = [
        np.concatenate(((steps - k) * DT * problem.columns[i], problem.columns[i]))
        for k in range(steps)
        for i in range(points)
    ]
    return np.concatenate(blocks, axis=1) * np.repeat(problem.active.ravel(), 3)


def objective(problem, impulse, effort=EFFORT):
    miss = matrix(problem) @ impulse.ravel() + problem.miss
    return float(miss @ (problem.weight * miss) + effort * np.sum(impulse**2))


def by_osqp(problem, sides):
    """The same with a cone of many flat sides around the round one."""
    B, W = matrix(problem), np.diag(problem.weight)
    size = B.shape[1]
    rows = []
    angles = 2.0 * np.pi * np.arange(sides) / sides
    friction = np.tile(problem.friction, len(problem.active))
    for j in np.flatnonzero(np.isfinite(friction)):
        block = np.zeros((sides + 1, size))
        block[:sides, 3 * j] = friction[j]
        block[:sides, 3 * j + 1], block[:sides, 3 * j + 2] = -np.cos(angles), -np.sin(angles)
        block[sides, 3 * j] = 1.0
        rows.append(block)
    A = np.concatenate(rows) if rows else np.zeros((1, size))
    solver = osqp.OSQP()
    solver.setup(
        scipy.sparse.csc_matrix(2.0 * (B.T @ W @ B + EFFORT * np.eye(size))),
        2.0 * B.T @ W @ problem.miss,
        scipy.sparse.csc_matrix(A),
        np.zeros(len(A)),
        np.full(len(A), np.inf),
        eps_abs=1e-10,
        eps_rel=1e-10,
        max_iter=200_000,
        polishing=True,
        verbose=False,
    )
    return solver.solve(raise_error=True).x.reshape(*problem.active.shape, 3)


def test_plan_against_osqp_without_friction():
    problem = problem_of(np.random.default_rng(3), friction=0.0)
    found, _ = solved(problem)
    expected = by_osqp(problem, 4)
    np.testing.assert_allclose(found, expected, atol=1e-6)


def test_plan_against_osqp_within_cones():
    """The round cone lies between one of flat sides that touch it and one whose edges do: so do the optima."""
    sides = 48
    problem = problem_of(np.random.default_rng(3), points=4, steps=6)
    found = objective(problem, solved(problem)[0])
    outer = objective(problem, by_osqp(problem, sides))
    inner = objective(problem, by_osqp(problem._replace(friction=np.cos(np.pi / sides) * problem.friction), sides))
    assert outer < found < inner
    assert inner - outer < 0.01 * outer


def test_grips_alone_are_least_squares():
    """Eq. 14: without cones the answer is a linear one."""
    problem = problem_of(np.random.default_rng(4), points=2, grips=2)
    found, iterations = solved(problem)
    B, W = matrix(problem), np.diag(problem.weight)
    expected = -np.linalg.solve(B.T @ W @ B + EFFORT * np.eye(B.shape[1]), B.T @ W @ problem.miss)
    np.testing.assert_allclose(found.ravel(), expected, atol=1e-9)
    assert iterations <= 2


@pytest.mark.parametrize("seed", range(8))
def test_plan_meets_the_conditions_of_its_optimum(seed):
    """An impulse is the projection on its cone of where the gradient would have it, for all of them at once."""
    rng = np.random.default_rng(seed)
    problem = problem_of(rng, points=10, steps=36, friction=rng.uniform(0.3, 1.0), grips=int(rng.integers(0, 3)))
    found, iterations = solved(problem)
    B = matrix(problem)
    wanted = -(B.T @ (problem.weight * (B @ found.ravel() + problem.miss))).reshape(found.shape) / EFFORT
    for k, i in zip(*np.nonzero(problem.active), strict=True):
        expected = project(problem.friction[i], *wanted[k, i])
        np.testing.assert_allclose(found[k, i], expected, atol=1e-7)
    assert not found[~problem.active].any()
    assert iterations <= 20


def test_nothing_to_push_with_is_a_plan_too():
    problem = problem_of(np.random.default_rng(0))
    problem.active[:] = False
    found, _ = solved(problem)
    assert not found.any()


def test_what_is_not_finite_is_told():
    problem = problem_of(np.random.default_rng(0))
    problem.miss[2] = np.nan
    assert plan_contacts(problem, 8, 12, DT, EFFORT, make_contact_work(8, 12)) == -1


@pytest.mark.parametrize(
    ("friction", "force", "expected"),
    [
        (0.5, (2.0, 0.6, 0.0), (2.0, 0.6, 0.0)),  # inside
        (0.5, (-2.0, 0.6, 0.8), (0.0, 0.0, 0.0)),  # nearest to the tip
        (1.0, (0.0, 2.0, 0.0), (1.0, 1.0, 0.0)),  # on the side
        (0.0, (3.0, 1.0, 2.0), (3.0, 0.0, 0.0)),
        (np.inf, (-3.0, 1.0, 2.0), (-3.0, 1.0, 2.0)),
    ],
)
def test_projection_on_a_cone(friction, force, expected):
    assert project(friction, *force) == pytest.approx(expected)
