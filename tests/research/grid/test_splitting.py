# SPDX-License-Identifier: GPL-3.0-or-later
"""The splitting scheme, and the policies that grids give."""

import numpy as np
import pytest
from heft.research.grid import cases
from heft.research.grid.axes import CUBIC, LINEAR, Axis, interpolation, states
from heft.research.grid.closed_form import fourier_series
from heft.research.grid.differences import central, generator, upwind
from heft.research.grid.minimum_time import fastest, minimum_time
from heft.research.grid.policy import controls, roll_out
from heft.research.grid.problem import constant
from heft.research.grid.riccati import slope_by_riccati
from heft.research.grid.splitting import solve_by_splitting
from heft.research.grid.stepping import crank_nicolson, march

BRICK = (np.array([[0.0, 1.0], [0.0, 0.0]]), np.array([[0.0], [1.0]]), np.diag([200.0, 20.0]), np.diag([200.0, 20.0]))


def brick_error(problem, value):
    """Greatest where |x| < 0.5 and |v| < 2, of values up to 50."""
    P, c = slope_by_riccati(*BRICK, problem.duration, problem.temperature)
    x = problem.states
    near = (np.abs(x[..., 0]) < 0.5) & (np.abs(x[..., 1]) < 2.0)
    return np.abs(value - 0.5 * np.einsum("...i,ij,...j", x, P, x) - c)[near].max()


@pytest.mark.parametrize(("width", "degree"), [(LINEAR, 1), (CUBIC, 3)])
def test_interpolation_of_polynomials(width, degree):
    axes = Axis(-1.0, 2.0, 7), Axis(0.0, 3.0, 6)
    rng = np.random.default_rng(3)
    coefficients = rng.normal(size=(degree + 1, degree + 1))
    points = np.column_stack([rng.uniform(-1.0, 2.0, 50), rng.uniform(0.0, 3.0, 50)])
    x = states(axes)
    values = np.polynomial.polynomial.polyval2d(x[..., 0], x[..., 1], coefficients)
    wanted = np.polynomial.polynomial.polyval2d(points[:, 0], points[:, 1], coefficients)
    assert interpolation(axes, points, width) @ values.ravel() == pytest.approx(wanted, rel=1e-10, abs=1e-10)


def test_interpolation_around_a_circle_and_beyond_an_edge():
    circle = Axis(0.0, 2.0 * np.pi, 200, periodic=True)
    x = np.array([[-0.01], [6.28], [20.0], [-50.0]])
    assert interpolation((circle,), x, CUBIC) @ np.sin(circle.nodes) == pytest.approx(np.sin(x[:, 0]), abs=1e-6)
    line = Axis(0.0, 1.0, 5)
    for width in (LINEAR, CUBIC):
        assert interpolation((line,), np.array([[-3.0], [7.0]]), width) @ line.nodes == pytest.approx([0.0, 1.0])


def test_splitting_is_second_order_towards_riccati():
    off = [brick_error(cases.brick(96), solve_by_splitting(cases.brick(96), steps)[0]) for steps in (25, 50, 100)]
    assert np.log2(off[0] / off[1]) == pytest.approx(2.0, abs=0.2)
    assert np.log2(off[1] / off[2]) == pytest.approx(2.0, abs=0.2)
    assert off[2] < 0.012


def test_central_differences_of_the_brick_are_negative_and_farther_off():
    """Drift of up to 5 m/s, noise on the velocity alone: at equal grid and step."""
    problem = cases.brick(96)
    off = {}
    for scheme in (central, upwind):
        step = crank_nicolson(generator(problem, scheme), 0.01)
        z = march(step, problem.last_reward(), 100)[0]
        off[scheme] = np.nan_to_num(brick_error(problem, problem.value(z)), nan=np.inf)
        assert (z.min() < 0.0) == (scheme is central)
    split = solve_by_splitting(problem, 100)[0]
    assert np.isfinite(split).all()
    assert brick_error(problem, split) < 0.02 * min(off.values())


@pytest.mark.parametrize("steps", [1, 500])
def test_splitting_with_noise_wider_and_narrower_than_the_grid(steps):
    problem, fine = cases.particle(32), cases.particle(8192)
    wanted = fourier_series(fine.axes[0], fine.last_reward(), 1.0, 1.0, 1.0, fine.duration)[::256]
    assert np.abs(solve_by_splitting(problem, steps)[0] + np.log(wanted)).max() < 1e-4


def test_splitting_adds_up_to_the_error_of_the_grid():
    """Equation 6.5: log z is interpolated and not z, so a sum of solutions is one as well as either part is."""
    pair = [cases.sine_particle(target, count=601) for target in (0.35, 1.35)]
    apart = [solve_by_splitting(problem, 50) for problem in pair]
    summed = -np.logaddexp(-apart[0], -apart[1])
    nodes = pair[0].axes[0].nodes
    whole = pair[0]._replace(terminal=lambda x: np.interp(x[..., 0], nodes, summed[-1]))
    assert np.abs(solve_by_splitting(whole, 50)[0] - summed[0]).max() < 1e-6


def test_splitting_refuses_what_it_cannot_do():
    coupled = cases.brick(8)._replace(control=constant([[1.0], [1.0]]))
    with pytest.raises(ValueError, match="does not couple axes"):
        solve_by_splitting(coupled, 5)
    with pytest.raises(ValueError, match="higher temperature"):
        solve_by_splitting(cases.brick(32)._replace(temperature=0.01), 20)


def test_robot_does_not_know_its_heading_but_for_an_obstacle():
    """Without one, v = P r^2 / 2 + T / 2 + lambda ln(1 + 2/3 T), P = 1 / (1 + 2/3 T): equation 5.9 has no arcs."""
    problem = cases.robot(counts=(41, 41, 12), temperature=0.3)
    x = problem.states
    assert problem.covariance() == pytest.approx(np.broadcast_to(0.3 * np.diag([2.0, 2.0, 1.0]) / 3.0, (*x.shape, 3)))
    value = solve_by_splitting(problem, 20)[0]
    assert np.ptp(value, axis=2).max() < 1e-12
    square = np.sum(x[..., :2] ** 2, axis=-1)
    wanted = 0.5 * square / (1.0 + 4.0 / 3.0) + 1.0 + 0.3 * np.log(1.0 + 4.0 / 3.0)
    assert np.abs(value - wanted)[square < 1.0].max() < 1e-3
    rod = cases.rod_among(np.array([[0.5, 0.0]]), radius=0.3, half_length=0.5, price=20.0)
    value = solve_by_splitting(cases.robot(rod, (41, 41, 12), temperature=0.3), 20)[0]
    across, along = value[20, 20, 3], value[20, 20, 0]  # beside the post, at 90 and 0 degrees
    assert along > across + 0.5


def test_policy_and_rollouts_against_riccati():
    """u = -B'P x; the mean cost under noise is v, the cost without it is v less what noise adds."""
    problem, steps = cases.brick(96), 200
    value = solve_by_splitting(problem, steps)
    policy = np.stack([controls(problem, each) for each in value[1:]])
    P, added = slope_by_riccati(*BRICK, problem.duration, problem.temperature)
    x = problem.states
    near = (np.abs(x[..., 0]) < 0.5) & (np.abs(x[..., 1]) < 2.0)
    u = controls(problem, value[0])[..., 0]
    assert np.abs(u + x @ P[1])[near].max() < 0.003 * np.abs(x @ P[1])[near].max()
    start = np.array([[0.3, 0.0]])
    alone = roll_out(problem, policy, start).costs[0]
    assert alone == pytest.approx(0.5 * start[0] @ P @ start[0], rel=0.02)
    noise = np.random.default_rng(0).standard_normal((steps, 2000, 1))
    costs = roll_out(problem, policy, np.repeat(start, 2000, axis=0), noise).costs
    off = 3.0 * costs.std() / np.sqrt(len(costs))
    assert costs.mean() == pytest.approx(alone + added, rel=0.02, abs=off)


def test_fast_wheels_go_along_arcs():
    """Body speed 4/3 while turning at 1/3: a chord r takes 6 asin(r / 8); at 0 degrees straight ahead is as fast."""
    straight, arc = 3.0 * np.sqrt(3.0) / 2.0, 6.0 * np.arcsin(3.0 / 8.0)
    angles = np.array([0.0, np.pi / 6.0 + np.arcsin(3.0 / 8.0)])
    at = 3.0 * np.column_stack([np.cos(angles), np.sin(angles)])
    off = []
    for count in (41, 81):
        axes = Axis(-4.0, 4.0, count), Axis(-4.0, 4.0, count)
        goal = states(axes)
        h = axes[0].spacing / (4.0 / 3.0)
        target = np.all(np.abs(goal) < 1e-9, axis=-1)
        times = minimum_time(axes, cases.fast_wheels(goal)[1], target, h)
        found = interpolation(axes, at) @ times.ravel()
        assert found[0] == pytest.approx(straight)
        off.append(found[1] / arc - 1.0)
    assert 0.0 < off[1] < 0.75 * off[0] < 0.045
    speeds, rates = cases.fast_wheels(at[1])
    assert speeds[fastest(axes, times, at[1], rates, h)].tolist() == [1.0, -1.0, 1.0]
