# SPDX-License-Identifier: GPL-3.0-or-later
"""The abstract model and its optimal feedback against closed forms, dense solutions and re-solved neighbours."""

from dataclasses import replace

import numpy as np
import pytest
from heft.core.control.momentum import ddp, model
from heft.core.control.momentum.policy import gains, precompute
from heft.core.control.momentum.problem import SLACK, make_problem
from heft.core.control.momentum.segments import key_events, spans
from heft.core.control.momentum.settings import Settings
from heft.core.control.momentum.states import Outline, axes, edges, make_rays, shares

C, P, PHI, L = (slice(i, i + 3) for i in (model.CENTER, model.LINEAR, model.TURNED, model.ANGULAR))
GRAVITY = 9.81
LIGHT = Settings(damping=250.0)  # half of what the paper has
FREE = 1e12  # slack of a row that is not asked for


@pytest.fixture(scope="module")
def outline(walk):
    return Outline.of(walk)


@pytest.fixture(scope="module")
def rays(outline):
    return make_rays(outline)


@pytest.fixture(scope="module")
def step_problem(walk, outline, rays):
    """A step of the walk, single and double support in it; its last state must be met."""
    problem = make_problem(walk.character, outline, rays, LIGHT, 0, 60)
    return problem._replace(slack=np.full(12, 1e-12)), rays.length[:60]


@pytest.fixture(scope="module")
def step_solution(step_problem):
    return solve(*step_problem)


def solve(problem, rays, start=None):
    solution = ddp.solve(problem, problem.target[0] if start is None else start, rays)
    assert solution.converged
    return solution


def mass_point(steps, duration, distance, cheaper=0.0):
    """One kilogram that weight draws along X, held back by a single ray, from rest to rest.

    With the force f that it feels the ray is g - f: over the whole its square is that of f, and g² a second, the price
    of time. `cheaper` (W/s) makes it less.
    """
    tracking, target, slack = np.zeros(12), np.zeros((steps + 1, 12)), np.full(12, FREE)
    tracking[PHI.start], target[:, PHI.start] = -cheaper, 1.0  # nothing turns, so this is a constant
    target[-1, C.start] = distance
    slack[[C.start, P.start]] = 1e-9
    problem = model.Problem(
        mass=1.0,
        gravity=np.array([GRAVITY, 0.0, 0.0]),
        dt=np.full(steps, duration / steps),
        drift=np.zeros((steps, 3)),
        rays=np.ones(steps, dtype=np.int64),
        point=np.zeros((steps, 1, 3)),
        direction=np.tile(axes()[1], (steps, 1, 1)),
        target=target,
        tracking=tracking,
        damping=np.zeros(12),
        effort=1.0,
        slack=slack,
    )
    return problem, np.full((steps, 1), GRAVITY)


def test_a_reference_is_a_motion_of_the_model(walk, squat):
    for reference in (walk, squat):
        outline = Outline.of(reference)
        rays = make_rays(outline)
        problem = make_problem(reference.character, outline, rays, Settings(), 0, reference.steps)
        x = outline.x.copy()
        for k in range(reference.steps):
            model.step(problem, k, x[k], rays.length[k], x[k + 1])
        assert x == pytest.approx(outline.x, abs=1e-9)


@pytest.mark.parametrize("force", [(10.0, 5.0, 100.0), (-40.0, 39.9, 100.0), (0.0, 0.0, 3.0), (79.9, 0.0, 100.0)])
def test_a_force_in_the_pyramid_is_shared_evenly_among_its_edges(force):
    turn = np.array([[1.0, 0.0, 0.0], [0.0, 0.8, 0.6], [0.0, -0.6, 0.8]]).T
    wanted = np.array(force) @ turn.T
    directions = edges(turn[:, 2], 0.8)
    found = shares(wanted, turn[:, 2], 0.8)
    assert found.min() >= 0.0
    assert found @ directions == pytest.approx(wanted, abs=1e-9)
    # nothing can be moved along the one way that leaves the force as it is without longer rays in total
    even = np.array([1.0, 1.0, -1.0, -1.0])
    for share in (-1e-3, 1e-3):
        other = found + share * even
        assert other.min() < 0.0 or other @ other >= found @ found - 1e-12


def test_derivatives_of_a_step(step_problem):
    problem, length = step_problem
    k, rng = 20, np.random.default_rng(1)
    m = int(problem.rays[k])
    x, ray = problem.target[k] + rng.normal(size=12), length[k] + rng.uniform(1.0, 50.0, size=len(length[k]))
    costate = rng.normal(size=12)

    def after(x, ray, dt):
        out = np.zeros(12)
        model.step(problem._replace(dt=dt * np.ones(60)), k, x, ray, out)
        return out

    def slopes(function, at, e=1e-5):
        directions = np.eye(len(at))
        return np.array([(function(at + e * d) - function(at - e * d)) / (2.0 * e) for d in directions]).T

    h = problem.dt[k]
    fx, fu, qux = np.zeros((12, 12)), np.zeros((12, len(ray))), np.zeros((len(ray), 12))
    model.derivatives(problem, k, x, ray, fx, fu)
    model.add_curvature(problem, k, costate, qux)
    assert fx == pytest.approx(slopes(lambda x: after(x, ray, h), x), abs=1e-7)
    assert fu[:, :m] == pytest.approx(slopes(lambda ray: after(x, ray, h), ray)[:, :m], abs=1e-7)

    def by_rays(x):
        model.derivatives(problem, k, x, ray, np.zeros((12, 12)), fu)
        return costate @ fu[:, :m]

    assert qux[:m] == pytest.approx(slopes(by_rays, x), abs=1e-9)
    rate, by_x = np.zeros(12), np.zeros(12)

    def flow(x):
        model.flow(problem, k, x, ray, rate)
        return costate @ rate

    model.flow_gradient(problem, k, ray, costate, by_x)
    assert by_x == pytest.approx(slopes(flow, x), abs=1e-6)
    flow(x)
    assert rate == pytest.approx((after(x, ray, 1e-7) - x) / 1e-7, abs=1e-4)


def test_one_iteration_solves_a_linear_quadratic_problem(step_problem):
    """Without cost of turning the model is linear in C and P: one dense system has the optimum."""
    problem, length = step_problem
    problem = problem._replace(
        tracking=np.repeat([500.0, 500.0, 0.0, 0.0], 3),
        damping=np.zeros(12),
        slack=np.repeat([1e-6, 1e-3, FREE, FREE], 3),
        rays=np.full(60, 16),
        point=np.tile(problem.point[20, :16], (60, 1, 1)),
        direction=np.tile(problem.direction[20, :16], (60, 1, 1)),
    )
    steps, m, h = 60, 16, problem.dt[0]
    start = problem.target[0] + np.repeat([0.005, 0.5, 0.0, 0.0], 3)
    # C and P of all frames as affine functions of the rays: x_k = base_k + spread_k u
    base, spread = [start[:6]], [np.zeros((6, steps * m))]
    A = np.eye(6)
    A[:3, 3:] = h / problem.mass * np.eye(3)
    for k in range(steps):
        own = np.zeros((6, steps * m))
        own[3:, k * m : (k + 1) * m] = h * problem.direction[k].T
        base.append(A @ base[-1] + h * np.concatenate((problem.drift[k], problem.mass * problem.gravity)))
        spread.append(A @ spread[-1] + own)
    H, g = 2.0 * h * problem.effort * np.eye(steps * m), np.zeros(steps * m)
    for k in range(steps):
        H += 1000.0 * h * spread[k].T @ spread[k]
        g += 1000.0 * h * spread[k].T @ (base[k] - problem.target[k, :6])
    H += spread[-1].T @ (spread[-1] / problem.slack[:6, None])
    g += spread[-1].T @ ((base[-1] - problem.target[-1, :6]) / problem.slack[:6])
    expected = -np.linalg.solve(H, g).reshape(steps, m)
    assert expected.min() > 1.0  # no ray is held at zero
    once = ddp.iterate(problem, start, 1.0 + np.tile(length[20, :16], (steps, 1)), iterations=1, short=0)
    assert once.ray == pytest.approx(expected, abs=1e-6)
    assert once.x[-1, :6] == pytest.approx(base[-1] + spread[-1] @ expected.ravel(), abs=1e-9)


def test_minimum_time_of_a_mass_point():
    """12 d²/T³ + r T is least at T = (36 d²/r)^(1/4); there dT/dx = -T / 2d and dT/dv = -T² / 6d."""
    distance, cheaper, steps = 2.0, 60.0, 400
    price = GRAVITY**2 - cheaper
    best = (36.0 * distance**2 / price) ** 0.25
    solution = solve(*mass_point(steps, best, distance, cheaper), np.zeros(12))
    assert solution.ray.min() > 1.0
    assert solution.cost == pytest.approx(12.0 * distance**2 / best**3 + price * best, rel=0.01)
    assert solution.expansion.parameter_gradient[0, 12] == pytest.approx(0.0, abs=0.01 * price)
    longer = solve(*mass_point(steps, 1.3 * best, distance, cheaper), np.zeros(12))
    assert longer.expansion.parameter_gradient[0, 12] == pytest.approx(
        price - 36.0 * distance**2 / (1.3 * best) ** 4, rel=0.02
    )
    time = gains(solution).time[0]
    assert time[C.start] == pytest.approx(-best / (2.0 * distance), rel=0.02)
    assert time[P.start] == pytest.approx(-(best**2) / (6.0 * distance), rel=0.02)


def test_a_motion_that_no_clock_drives_ends_as_much_earlier_as_it_is_further():
    """To be further along by dt is to end earlier by dt: K_d dx*/dt = -1."""
    problem, rays = mass_point(400, 1.2, 2.0)
    solution = solve(problem, rays, np.zeros(12))
    along = np.diff(solution.x, axis=0) / problem.dt[:, None]
    assert np.einsum("ki,ki->k", gains(solution).time, along)[20:300] == pytest.approx(-1.0, abs=0.02)


def finer(problem, rays, pieces):
    """The same with each step in pieces."""
    frames, at = np.arange(len(problem.target)), np.arange((len(problem.target) - 1) * pieces + 1) / pieces
    repeated = {
        name: np.repeat(getattr(problem, name), pieces, axis=0) for name in ("drift", "rays", "point", "direction")
    }
    target = np.stack([np.interp(at, frames, column) for column in problem.target.T], axis=1)
    dt = np.repeat(problem.dt, pieces) / pieces
    return problem._replace(dt=dt, target=np.ascontiguousarray(target), **repeated), np.repeat(rays, pieces, axis=0)


def test_cost_by_final_time_against_finite_differences(step_problem, step_solution):
    """The Hamiltonian at the end is the slope up to the length of a step."""
    misses = []
    for pieces in (1, 2, 4):
        problem, rays = finer(step_problem[0], step_solution.ray, pieces)
        costs = []
        for change in (-1e-4, 1e-4):
            dt = problem.dt.copy()
            dt[-1] += change
            costs.append(solve(problem._replace(dt=dt), rays).cost)
        miss = solve(problem, rays).expansion.parameter_gradient[0]
        assert miss[:12] == pytest.approx(0.0, abs=1e-6)
        misses.append(abs(miss[12] * 2e-4 / (costs[1] - costs[0]) - 1.0))
    assert misses[2] < 0.3 * misses[0]
    assert misses[2] < 0.006


def test_gains_against_re_solved_neighbours(step_problem, step_solution):
    problem, _ = step_problem
    found, rng = gains(step_solution), np.random.default_rng(3)
    free = (step_solution.ray > 1e-3) & (np.arange(step_solution.ray.shape[1]) < problem.rays[:, None])
    size = np.repeat([1e-5, 1e-3, 1e-4, 1e-4], 3)
    for _ in range(3):
        dx, goal = size * rng.normal(size=12), size * rng.normal(size=12)
        moved = problem._replace(target=problem.target.copy())
        moved.target[-1] += goal
        neighbour = solve(moved, step_solution.ray, step_solution.x[0] + dx)
        for k in (0, 15, 30, 45):
            answer = found.ray[k] @ (neighbour.x[k] - step_solution.x[k]) + found.goal[k] @ goal
            change = neighbour.ray[k] - step_solution.ray[k]
            assert answer[free[k]] == pytest.approx(change[free[k]], rel=0.02, abs=0.01 * np.abs(change).max())
        # at the final time that eq. 10 gives, the slope of the cost by final time is what it was
        later = float(found.time[0] @ dx + found.time_goal[0] @ goal)
        dt = problem.dt.copy()
        dt[-1] += later
        timed = solve(moved._replace(dt=dt), step_solution.ray, step_solution.x[0] + dx)
        slope, before, after = (s.expansion.parameter_gradient[0, 12] for s in (step_solution, neighbour, timed))
        assert abs(after - slope) < 0.02 * abs(before - slope)


def test_the_optimum_keeps_forces_in_the_cone_and_saves_effort_and_turning(step_problem, step_solution, outline):
    problem, rays = step_problem
    assert step_solution.ray.min() == 0.0
    assert step_solution.x[-1] == pytest.approx(problem.target[-1], abs=1e-6)
    assert step_solution.cost < ddp.total_cost(problem, outline.x[:61], rays)
    assert np.linalg.norm(step_solution.x[:, L]) < np.linalg.norm(outline.x[:61, L])


def test_segments_end_where_both_feet_stand_and_cover_the_motion(walk, outline):
    events = key_events(outline)
    feet = [outline.loaded[:, outline.body == body].any(axis=1) for body in np.unique(outline.body)]
    assert len(events) == 2
    assert all(foot[events[0]] for foot in feet)
    first, second = spans(outline)
    assert (first.first, second.last) == (0, walk.steps)
    assert second.first == first.last - 10


def test_a_long_stand_is_cut_where_it_moves_least(squat):
    outline = Outline.of(squat)
    bottom, end = key_events(outline)
    assert key_events(replace(outline, dt=0.7 * outline.dt)) == [squat.steps]
    assert end == squat.steps
    assert abs(bottom - squat.steps // 2) <= 2


def test_weights_are_those_of_equation_2(step_problem):
    problem, _ = step_problem
    assert problem.damping.tolist() == [0.0] * 9 + [250.0] * 3
    assert problem.tracking.tolist() == [500.0] * 9 + [0.0] * 3


def test_only_what_moves_at_its_end_has_a_time_that_may_change(walk, squat):
    """At rest the state says nothing of the time: the curvature of the cost by the final time is nothing there."""
    moving = precompute(walk.character, Outline.of(walk), Settings())
    assert (np.abs(moving.time_gain[:-1]).max(axis=1) > 0.0)[np.abs(moving.rate[:-1]).max(axis=1) > 0.0].all()
    resting = precompute(squat.character, Outline.of(squat), Settings())
    last = slice(resting.row[-2], resting.row[-1])
    assert not resting.time_gain[last].any()
    assert not resting.time_goal[last].any()


def test_a_policy_holds_every_segment_in_turn(walk, outline):
    policy = precompute(walk.character, outline, Settings())
    assert policy.x[0] == pytest.approx(outline.x[0], abs=1e-12)
    assert policy.x[policy.row[1]] == pytest.approx(policy.x[spans(outline)[1].first], abs=1e-12)
    first, second = spans(outline)
    assert policy.row.tolist() == [0, first.last + 1, first.last + 1 + second.last - second.first + 1]
    assert policy.first.tolist() == [first.first, second.first]
    for span, begin, end in zip((first, second), policy.row, policy.row[1:], strict=False):
        assert (np.abs(policy.x[end - 1] - outline.x[span.last]) < 0.1 * np.repeat(SLACK, 3)).all()
        assert (policy.ray[begin:end] >= 0.0).all()
