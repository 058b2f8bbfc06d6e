# SPDX-License-Identifier: GPL-3.0-or-later
"""Regulators of the three-link model, against what is known of them."""

import numpy as np
import pytest
from heft.core.character import Character
from heft.core.control.balance.regulator import (
    HIPS,
    KEPT,
    STANDING,
    full_gain,
    linearise,
    regulate,
    standing_curvature,
    standing_gain,
)
from heft.core.dynamics import difference, integrate, inverse_dynamics, step

DT = 1.0 / 120.0


@pytest.fixture(scope="module")
def model():
    return Character.preset("balance3")


@pytest.fixture(scope="module")
def upright(model):
    """A and B at rest, upright."""
    return linearise(model, model.neutral(), np.zeros(9), np.zeros(9), DT)


def test_standing_closed_loop_is_stable(upright):
    A, B = upright
    assert np.abs(np.linalg.eigvals(A)).max() > 1.02
    assert np.abs(np.linalg.eigvals(A - B @ standing_gain(A, B))).max() < 1.0


def test_a_long_sweep_of_a_constant_system_is_the_endless_one(upright):
    A, B = upright
    curvature = np.eye(len(KEPT))
    first = regulate([(A, B)] * 3000, np.full(len(A), STANDING), curvature)[0]
    endless = standing_gain(A, B)
    np.testing.assert_allclose(first, endless, atol=1e-6 * np.abs(endless).max())
    # and the endless cost to go stays what it is
    np.testing.assert_allclose(
        regulate([(A, B)] * 50, np.full(len(A), STANDING), standing_curvature(A, B))[0], endless, rtol=1e-6, atol=1e-3
    )


def test_linearisation_against_finite_differences(model):
    rng = np.random.default_rng(0)
    q, v = integrate(model, model.neutral(), 0.2 * rng.normal(size=9), 1.0), rng.normal(size=9)
    torque = np.concatenate((np.zeros(3), 30.0 * rng.normal(size=6)))
    A, B = linearise(model, q, v, torque, DT)
    start, h = integrate(model, q, -v, DT), 1e-6

    def after(change):
        place = integrate(model, start, change[:9], 1.0)
        push = torque.copy()
        push[HIPS] += change[18:]
        return step(model, place, v + change[9:18], push, DT)

    numbers = np.concatenate((KEPT, 18 + np.arange(6)))
    for column, number in zip(np.hstack((A, B)).T, numbers, strict=True):
        change = np.zeros(24)
        change[number] = h
        (q1, v1), (q0, v0) = after(change), after(-change)
        found = np.concatenate((difference(model, q0, q1), v1 - v0)) / (2.0 * h)
        np.testing.assert_allclose(column, found[KEPT], atol=1e-5)


def test_a_small_lean_is_taken_back(model, upright):
    """Figure 3-4's strategy. A degree of lean already needs more than half a radian of trunk or leg."""
    gain = standing_gain(*upright)
    rest = model.neutral()
    torque = inverse_dynamics(model, rest, np.zeros(9), np.zeros(9))
    q, v = integrate(model, rest, np.array([0.0, np.radians(1.0), *np.zeros(7)]), 1.0), np.zeros(9)
    farthest = 0.0
    for _ in range(720):
        x = np.concatenate((difference(model, rest, q), v))
        farthest = max(farthest, float(np.abs(x[3:9]).max()))
        u = np.concatenate((np.zeros(3), torque[HIPS] - gain @ x[KEPT]))
        u[2] = -50.0 * x[2] - 2.0 * x[11]  # a foot's friction holds the turn about the vertical
        q, v = step(model, q, v, u, DT)
    assert np.degrees(np.linalg.norm(difference(model, rest, q)[:2])) < 0.2
    assert 0.5 < farthest < 1.2


def test_a_gain_on_the_positions_one_step_later_asks_the_same():
    rng = np.random.default_rng(1)
    gain, x = rng.normal(size=(6, 16)), rng.normal(size=18)
    found = full_gain(gain, DT) @ np.concatenate((x[:9] + DT * x[9:], x[9:]))
    np.testing.assert_allclose(found, np.concatenate((np.zeros(3), gain @ x[KEPT])), atol=1e-12)
