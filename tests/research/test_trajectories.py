# SPDX-License-Identifier: GPL-3.0-or-later
"""Trajectories with their values: linear-quadratic closed forms, finite differences, sums of goals."""

from dataclasses import replace

import numpy as np
import pytest
from heft.core.character import Character
from heft.research.combination import adjoint, ddp
from heft.research.combination.planar import PlanarSystem
from heft.research.combination.task import Cost, roll_out
from heft.research.combination.trajectories import Combination, Tracker, coordination_temperature

A = np.array([[1.0, 0.1], [-0.05, 0.98]])
B = np.array([[0.02], [0.3]])
STEPS = 30


class Linear:
    def __init__(self, by_state=A, by_control=B):
        self.by_state, self.by_control = by_state, by_control

    def step(self, x, u):
        return self.by_state @ x + self.by_control @ u

    def slopes(self, x, u):
        return np.tile(self.by_state, (len(x), 1, 1)), np.tile(self.by_control, (len(u), 1, 1))


def task(goal, final):
    return Cost(0.1, np.zeros(2), np.diag([0.5, 0.1]), np.array([[2.0]]), np.array(goal), np.array(final))


def riccati(cost, steps=STEPS):
    """P and affine terms of v_k = ½ x^T P x + s^T x, written out."""
    P, s = cost.final, -cost.final @ cost.goal
    found = [(P, s, None, None)]
    for _ in range(steps):
        H = cost.dt * cost.control + B.T @ P @ B
        K, k = np.linalg.solve(H, B.T @ P @ A), np.linalg.solve(H, B.T @ s)
        P, s = cost.dt * cost.state + A.T @ P @ (A - B @ K), A.T @ (s - P @ B @ k)
        found.append((P, s, K, k))
    return found[::-1]


def tracker(cost, steps=STEPS):
    solution = ddp.optimise(Linear(), cost, np.array([0.4, -0.2]), np.zeros((steps, 1)))
    assert solution.converged
    return Tracker.of(Linear(), cost, solution)


WIDE = [[3.0, 0.4], [0.4, 1.0]]


def test_the_policy_is_riccati_s_everywhere(rng):
    cost = task([1.0, 0.5], WIDE)
    found, exact = tracker(cost), riccati(cost)
    for k in (0, 11, STEPS - 1):
        x = rng.normal(size=2)
        assert found.curvature[k] == pytest.approx(exact[k][0], rel=1e-9)
        assert found.control(x, k) == pytest.approx(-exact[k][2] @ x - exact[k][3], abs=1e-9)


def test_values_are_costs(rng):
    cost = task([1.0, 0.5], WIDE)
    found = tracker(cost)
    x = [rng.normal(size=2)]
    u = []
    for k in range(STEPS):
        u.append(found.control(x[-1], k))
        x.append(Linear().step(x[-1], u[-1]))
    assert found.worth(x[0], 0, 0.0) == pytest.approx(cost.total(np.array(x), np.array(u)), rel=1e-9)


def narrow(count=61, width=0.35, temperature=0.4):
    """A wide bell as a row of narrow ones: their centres spread as the wide bell is wider than a narrow one."""
    wide = task([1.0, 0.5], np.diag([1.0, 0.8]))
    thin = np.diag([temperature / width**2, 0.8])
    variance = temperature / 1.0 - width**2
    places = np.linspace(-6.0, 6.0, count) * np.sqrt(variance)
    weights = np.exp(-0.5 * places**2 / variance)
    trackers = tuple(tracker(task([1.0 + place, 0.5], thin)) for place in places)
    return wide, Combination(trackers, weights, temperature)


@pytest.fixture(scope="module")
def row():
    return narrow()


@pytest.mark.parametrize("k", [0, 7, 20, STEPS - 1])
def test_a_wide_goal_is_the_sum_of_narrow_ones(row, rng, k):
    """Superposition (eq. 6.5): the combined policy equals the wide goal's own, which Riccati gives."""
    wide, combination = row
    exact = riccati(wide)
    for _ in range(5):
        x = rng.normal(size=2)
        found = combination.choose(x, k / STEPS)
        assert found.control == pytest.approx(-exact[k][2] @ x - exact[k][3], abs=1e-6)


def test_goals_of_different_stiffness_need_what_noise_costs():
    """Against the linear equation itself: z_k(x) is the mean of z_{k+1} over the noise, by quadrature."""
    temperature = 0.5
    pair = tuple(tracker(task(*goal), 1) for goal in (([1.0, 0.0], np.diag([9.0, 20.0])), ([-0.5, 0.0], np.eye(2))))
    cost, weights = task([0.0, 0.0], WIDE), np.array([1.0, 0.7])
    noise, weight = np.polynomial.hermite_e.hermegauss(120)
    spread = np.sqrt(temperature / (cost.dt * cost.control[0, 0])) * noise  # noise of the control
    x = np.array([0.3, -0.4])
    after = (A @ x)[:, None] + B @ spread[None]
    z = np.zeros_like(noise)
    for w, one in zip(weights, pair, strict=True):
        z += w * np.exp([-one.worth(state, 1, temperature) / temperature for state in after.T])
    exact = (weight * z) @ spread / (weight @ z)  # mean of the controlled noise
    found = Combination(pair, weights, temperature).choose(x, 0.0).control[0]
    assert found == pytest.approx(exact, abs=1e-6)
    without = tuple(replace(one, spread=np.zeros(2)) for one in pair)
    assert abs(Combination(without, weights, temperature).choose(x, 0.0).control[0] - exact) > 0.01


def test_the_spread_is_the_trace_term_of_small_steps():
    """½ log det R^-1 Q_uu per step comes to da Silva's ½ integral of tr(R^-1 B^T P B) dt as steps shrink."""
    errors = []
    for steps in (20, 40):
        dt = 1.0 / steps
        system = Linear(np.array([[1.0, dt], [0.0, 1.0]]), np.array([[0.0], [dt]]))
        cost = Cost(dt, np.zeros(2), np.eye(2), np.eye(1), np.zeros(2), np.eye(2))
        found = ddp.sweep(system, cost, np.zeros((steps + 1, 2)), np.zeros((steps, 1)))
        integral = 0.5 * dt * sum(float(P[1, 1]) for P in found.curvature[1:])
        errors.append(abs(found.spread[0] - integral))
    assert errors[1] < 0.6 * errors[0] < 0.03


def test_trackers_of_different_duration_share_a_phase():
    cost = task([1.0, 0.0], np.diag([200.0, 20.0]))
    both = Combination((tracker(cost, 20), tracker(cost, 40)), np.ones(2), 1e6)
    x, u, _ = both.follow(Linear(), np.array([0.4, -0.2]))
    assert 20 < len(u) < 40
    assert x[-1] == pytest.approx([1.0, 0.0], abs=0.1)
    assert coordination_temperature(both.trackers) > 0.0


@pytest.fixture(scope="module", params=["gymnast2", "diver7"])
def system(request):
    driven = ("lower",) if request.param == "gymnast2" else ()
    return PlanarSystem(Character.preset(request.param), 0.02, driven)


def test_slopes_and_bends_of_planar_characters(system, rng):
    """Against differences of the step itself, in motion."""
    x, u = rng.normal(size=(2, system.states)), rng.normal(size=(1, system.controls))
    state, control = system.slopes(x[:1], u)
    h = 1e-6
    for j in range(system.states):
        d = h * np.eye(system.states)[j]
        slope = (system.step(x[0] + d, u[0]) - system.step(x[0] - d, u[0])) / (2.0 * h)
        assert slope == pytest.approx(state[0, :, j], abs=1e-6 * (1.0 + np.abs(slope).max()))
    bend = ddp.bends(system, x, u)[0]
    a, b = rng.normal(size=(2, system.states + system.controls))
    step, n, h = system.step, system.states, 1e-3

    def f(s, t):
        d = h * (s * a + t * b)
        return step(x[0] + d[:n], u[0] + d[n:])

    mixed = (f(1, 1) - f(1, -1) - f(-1, 1) + f(-1, -1)) / (4.0 * h * h)
    assert np.einsum("ijk,j,k", bend, a, b) == pytest.approx(mixed, abs=1e-4 * (1.0 + np.abs(mixed).max()))
    assert control.shape == (1, system.states, system.controls)


def hang(system):
    return Cost(0.02, np.zeros(4), np.zeros((4, 4)), np.eye(1), np.array([0.5, 0.0, 0.0, 0.0]), 50.0 * np.eye(4))


def test_the_adjoint_gradient_and_the_same_optimum_by_both_methods(rng):
    system = PlanarSystem(Character.preset("gymnast2"), 0.02, ("lower",))
    cost, start = hang(system), np.array([0.1, -0.1, 0.0, 0.0])
    u = rng.normal(size=(25, 1))
    found = adjoint.gradient(system, cost, roll_out(system, start, u), u)
    d = 1e-6 * np.eye(25)[3][:, None]
    totals = [cost.total(roll_out(system, start, u + s * d), u + s * d) for s in (1.0, -1.0)]
    assert found[3, 0] == pytest.approx((totals[0] - totals[1]) / 2e-6, rel=1e-6)
    best, downhill = ddp.optimise(system, cost, start, u), adjoint.descend(system, cost, start, u)
    assert best.converged
    assert downhill.cost == pytest.approx(best.cost, rel=1e-5)
    assert best.u == pytest.approx(downhill.u, abs=0.02)


def test_full_second_order_values_are_right_to_second_order():
    """Gauss and Newton's are not: against optima from neighbouring starts."""
    system = PlanarSystem(Character.preset("gymnast2"), 0.02, ("lower",))
    cost, start = hang(system), np.array([0.1, -0.1, 0.0, 0.0])
    best = ddp.optimise(system, cost, start, np.zeros((25, 1)))
    own = Tracker.of(system, cost, best)
    d = np.array([0.02, -0.03, 0.05, 0.04])
    beside = [ddp.optimise(system, cost, start + s * d, best.u).cost for s in (1.0, -1.0)]
    second = beside[0] + beside[1] - 2.0 * best.cost
    assert d @ own.curvature[0] @ d == pytest.approx(second, rel=1e-3)
    assert own.worth(start + d, 0, 0.0) == pytest.approx(beside[0], rel=1e-3)


class Bent:
    """x + u² + u / 10: two controls lead to the same place."""

    def step(self, x, u):
        return x + u * u + 0.1 * u

    def slopes(self, x, u):
        return np.ones((len(x), 1, 1)), (2.0 * u + 0.1)[:, :, None]


def test_several_first_guesses_give_the_cheapest_optimum():
    cost = Cost(1.0, np.zeros(1), np.zeros((1, 1)), 0.1 * np.eye(1), np.ones(1), 10.0 * np.eye(1))
    guesses = [np.array([[-1.0]]), np.array([[1.0]])]
    ends = [ddp.optimise(Bent(), cost, np.zeros(1), guess) for guess in guesses]
    assert [end.converged for end in ends] == [True, True]
    best = ddp.best_of(Bent(), cost, np.zeros(1), guesses)
    assert best.u == pytest.approx(ends[1].u)
    assert best.cost < ends[0].cost - 0.005
