# SPDX-License-Identifier: GPL-3.0-or-later
"""Differences and time stepping against Fourier's and Riccati's solutions: da Silva 2010, sections 5.2 to 5.4."""

import numpy as np
import pytest
from heft.research.grid import cases
from heft.research.grid.axes import Axis
from heft.research.grid.closed_form import fourier_series
from heft.research.grid.differences import central, fourier, generator, upwind
from heft.research.grid.problem import Problem, constant
from heft.research.grid.riccati import quadratic, value_by_riccati
from heft.research.grid.stepping import (
    backward_euler,
    crank_nicolson,
    forward_euler,
    march,
    radau,
    runge_kutta_3,
)
from heft.research.grid.value_iteration import value_iteration

FINE = 8192


def exact(count):
    fine = cases.particle(FINE)
    return fourier_series(fine.axes[0], fine.last_reward(), 1.0, 1.0, 1.0, fine.duration)[:: FINE // count]


def error(scheme, method, count, steps):
    """Greatest of z at the first time, as in figure 5-2."""
    problem = cases.particle(count)
    step = method(generator(problem, scheme), problem.duration / steps)
    return np.abs(march(step, problem.last_reward(), steps)[0] - exact(count)).max()


def order(coarse, fine):
    return np.log2(coarse / fine)


def test_closed_form_is_the_mean_over_noise():
    def last(x):
        return np.exp(-2.0 + 2.0 * np.cos(np.pi * x))

    axis = Axis(-1.0, 1.0, 64, periodic=True)
    at, weights = np.polynomial.hermite_e.hermegauss(100)
    mean = last(axis.nodes[:, None] + 0.7 * 0.5 + np.sqrt(0.3 * 0.5) * at) @ weights / weights.sum()
    found = fourier_series(axis, last(axis.nodes), drift=0.7, variance=0.3, decay=0.2, remaining=0.5)
    assert found == pytest.approx(mean * np.exp(-0.2 * 0.5), abs=1e-12)


@pytest.mark.parametrize(
    ("method", "count", "steps", "expected"),
    [
        (forward_euler, 32, 1600, 1.0),
        (backward_euler, 64, 64, 1.0),
        (crank_nicolson, 64, 32, 2.0),
        (runge_kutta_3, 16, 160, 3.0),
        (radau, 64, 16, 3.0),
    ],
)
def test_orders_in_time(method, count, steps, expected):
    """Against many times shorter steps on the same grid."""
    problem = cases.particle(count)
    M = generator(problem, fourier)
    reference = march(radau(M, 0.5 / 2000), problem.last_reward(), 2000)[0]

    def off(k):
        return np.abs(march(method(M, 0.5 / k), problem.last_reward(), k)[0] - reference).max()

    assert order(off(steps), off(2 * steps)) == pytest.approx(expected, abs=0.1)


@pytest.mark.parametrize(("scheme", "count", "expected"), [(upwind, 128, 0.98), (central, 32, 2.0), (fourier, 16, 3.9)])
def test_orders_in_space(scheme, count, expected):
    """Fourier's fourth is what the kinks of the third derivative of g at the ends of the circle allow."""
    coarse, fine = error(scheme, radau, count, 500), error(scheme, radau, 2 * count, 500)
    assert order(coarse, fine) == pytest.approx(expected, abs=0.1)


def test_da_silva_figure_5_2_with_steps_as_long_as_the_grid_is_wide():
    assert error(upwind, backward_euler, 256, 64) < 2.5e-3
    by_differences, by_waves = (error(scheme, crank_nicolson, 256, 64) for scheme in (central, fourier))
    assert by_differences < by_waves < 1.5 * by_differences  # the thesis: "a slightly larger error constant"
    assert error(fourier, radau, 256, 64) < 1.5e-7


def test_explicit_methods_blow_up_where_implicit_ones_do_not():
    """The printed IRK3 is explicit, and is held to steps in proportion to the square of the spacing."""
    assert error(fourier, runge_kutta_3, 64, 64) > 1e6
    assert error(fourier, radau, 64, 64) < 2e-7


@pytest.mark.parametrize("axis", [Axis(0.0, 1.0, 8), Axis(0.0, 1.0, 9, periodic=True)])
def test_fourier_differences_refuse_other_axes(axis):
    with pytest.raises(ValueError, match="periodic axis with an even number"):
        fourier(axis)


@pytest.mark.parametrize(("scheme", "count", "off"), [(fourier, 12, 1e-10), (central, 60, 0.03)])
def test_generator_on_waves(scheme, count, off):
    """Equation 5.1 with coupled noise, drift and a running cost, term by term."""
    B = np.array([[1.0, 0.5], [0.3, 0.8]])
    problem = Problem(
        axes=(Axis(0.0, 2.0 * np.pi, count, periodic=True), Axis(0.0, 2.0 * np.pi, count + 2, periodic=True)),
        drift=lambda x: np.stack([np.cos(x[..., 1]), np.sin(x[..., 0])], axis=-1),
        control=constant(B),
        running=lambda x: 1.0 + np.cos(x[..., 0]),
        terminal=constant(0.0),
        duration=1.0,
        temperature=0.7,
    )
    x, y = np.moveaxis(problem.states, -1, 0)
    C = 0.7 * B @ B.T
    z, along_x, along_y = np.sin(2.0 * x + y), 2.0 * np.cos(2.0 * x + y), np.cos(2.0 * x + y)
    curvature = -(4.0 * C[0, 0] + 4.0 * C[0, 1] + C[1, 1]) * z
    wanted = (1.0 + np.cos(x)) / 0.7 * z - np.cos(y) * along_x - np.sin(x) * along_y - 0.5 * curvature
    assert np.abs(generator(problem, scheme) @ z.ravel() - wanted.ravel()).max() < off


@pytest.mark.parametrize("method", [forward_euler, backward_euler, crank_nicolson, runge_kutta_3, radau])
@pytest.mark.parametrize("scheme", [upwind, central, fourier])
def test_solutions_add_up(method, scheme):
    """Equation 6.5: the combination's z is the sum of the components'."""
    targets, weights = np.linspace(-0.6, 0.6, 3), np.array([0.2, 1.1, 0.5])
    problem = cases.particle(32)
    step = method(generator(problem, scheme), 0.5 / 2000)
    ends = np.exp(-2.0 * (1.0 - np.cos(np.pi * (problem.axes[0].nodes[:, None] - targets))))
    apart, together = march(step, ends, 2000)[0] @ weights, march(step, ends @ weights, 2000)[0]
    assert np.abs(apart / together - 1.0).max() < 1e-12


@pytest.mark.parametrize("temperature", [1.0, 0.3])
def test_riccati_in_one_dimension(temperature):
    A, B, Q, S = np.array([[0.6]]), np.array([[1.3]]), np.array([[2.0]]), np.array([[3.0]])
    problem = quadratic(A, B, Q, S, duration=0.8, temperature=temperature, axes=(Axis(-7.0, 7.0, 192, periodic=True),))
    z = march(radau(generator(problem, fourier), 0.8 / 400), problem.last_reward(), 400)
    x = problem.axes[0].nodes
    near = np.abs(x) < 1.2
    wanted = value_by_riccati(A, B, Q, S, 0.8, temperature, x[:, None])
    assert np.abs(problem.value(z)[0] - wanted)[near].max() < 1e-6


def test_riccati_in_two_dimensions():
    """A brick on ice with milder costs, whose reward Fourier's differences resolve."""
    A, B = np.array([[0.0, 1.0], [0.0, 0.0]]), np.array([[0.0], [1.0]])
    Q, S = np.diag([3.0, 1.0]), np.diag([4.0, 4.0])
    axes = Axis(-4.2, 4.2, 34, periodic=True), Axis(-4.2, 4.2, 34, periodic=True)
    problem = quadratic(A, B, Q, S, duration=0.5, temperature=1.0, axes=axes)
    z = march(radau(generator(problem, fourier), 0.5 / 50), problem.last_reward(), 50)
    x = problem.states
    near = np.max(np.abs(x), axis=-1) < 0.8
    assert np.abs(problem.value(z)[0] - value_by_riccati(A, B, Q, S, 0.5, 1.0, x))[near].max() < 1e-6


def test_value_iteration_solves_the_same_problem():
    """Both to first order; neither is always the better one."""

    def errors(count, steps):
        problem = cases.particle(count)
        step = backward_euler(generator(problem, upwind), 0.5 / steps)
        rewards = problem.value(march(step, problem.last_reward(), steps))
        wanted = -np.log(exact(count))
        return np.abs(rewards[0] - wanted).max(), np.abs(value_iteration(problem, steps)[0] - wanted).max()

    coarse, fine = errors(64, 50), errors(256, 200)
    assert coarse[0] < coarse[1] < 1e-2
    assert fine[0] < 0.3 * coarse[0]
    assert fine[1] < 0.3 * coarse[1]
    by_reward, by_cost = errors(512, 100)
    assert by_cost < by_reward
