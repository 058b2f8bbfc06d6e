# SPDX-License-Identifier: GPL-3.0-or-later
"""Shares of controllers, and goals as sums of goals."""

import numpy as np
import pytest
from heft.core.control.combination.projection import Goal, inner_product, project, smooth_temperature
from heft.core.control.combination.sharing import mixed_law, shares
from heft.core.control.law import AffineLaw
from scipy.special import logsumexp


def test_da_silva_equation_6_1(rng):
    v, w, temperature = rng.uniform(0.0, 3.0, 4), rng.uniform(0.1, 1.0, 4), 0.7
    z = w * np.exp(-v / temperature)
    assert shares(v, w, temperature) == pytest.approx(z / z.sum(), rel=1e-13)


def test_values_far_beyond_what_an_exponential_holds():
    assert shares([1e6, 1e6 + 1.0], [1.0, 1.0], 1.0) == pytest.approx([1.0 / (1.0 + np.exp(-1)), 1.0 / (1.0 + np.e)])
    assert shares([1e6, 0.0], [1.0, 0.0], 1.0).tolist() == [1.0, 0.0]


def test_the_combined_policy_descends_the_combined_value():
    """Eq. 6.6 is minus the gradient of the combined task's value (eq. 6.5), if each policy is minus that of its own."""
    centers, stiffness = np.array([-1.0, 0.5, 2.0]), np.array([1.0, 3.0, 0.5])
    weights, temperature = [1.0, 2.0, 0.3], 0.8

    def value(x):
        return -temperature * logsumexp(-0.5 * stiffness * (x - centers) ** 2 / temperature, b=weights)

    for x in (-2.0, 0.1, 1.3):
        mixed = shares(0.5 * stiffness * (x - centers) ** 2, weights, temperature) @ (-stiffness * (x - centers))
        assert mixed == pytest.approx(-(value(x + 1e-5) - value(x - 1e-5)) / 2e-5, abs=1e-8)


def test_laws_are_summed_with_what_they_say_of_contacts(rng):
    a = AffineLaw(rng.normal(size=3), rng.normal(size=(3, 6)))
    b = AffineLaw(rng.normal(size=3))
    mixed = mixed_law([a, b], np.array([0.25, 0.75]))
    assert mixed.torque == pytest.approx(0.25 * a.torque + 0.75 * b.torque)
    assert mixed.contact_gain == pytest.approx(0.25 * a.contact_gain)
    assert mixed.implicit is None


@pytest.mark.parametrize(("weights", "temperature"), [([1.0], 1.0), ([0.0, 0.0], 1.0), ([-1.0, 2.0], 1.0), ([1, 1], 0)])
def test_weights_and_temperatures_without_sense(weights, temperature):
    with pytest.raises(ValueError, match=r"weight|temperature"):
        shares([1.0, 2.0], weights, temperature)


def test_inner_products_of_bells_against_quadrature():
    a = Goal(np.array([0.3, -0.2]), np.array([[2.0, 0.4], [0.4, 1.0]]))
    b = Goal(np.array([-0.5, 0.6]), np.array([[1.0, -0.3], [-0.3, 3.0]]))
    x = np.linspace(-12.0, 12.0, 401)
    grid = np.stack(np.meshgrid(x, x, indexing="ij"), axis=-1)
    bells = [
        np.exp(-0.5 * np.einsum("...i,ij,...j", grid - g.center, g.stiffness, grid - g.center) / 1.5) for g in (a, b)
    ]
    found = (bells[0] * bells[1]).sum() * (x[1] - x[0]) ** 2
    assert inner_product(a, b, 1.5) == pytest.approx(found, rel=1e-12)


def line(*places, stiffness=1.0):
    return [Goal(np.array([place]), np.array([[stiffness]])) for place in places]


def test_a_given_goal_is_itself():
    found = project(line(0.5)[0], line(0.0, 0.5, 1.0), 0.2)
    assert found.weights == pytest.approx([0.0, 1.0, 0.0], abs=1e-9)
    assert found.residual < 1e-6
    assert found.modes == 1


@pytest.mark.parametrize("place", [0.1, 0.25, 0.5, 0.8])
def test_between_goals_that_melt_into_one_weights_are_nearly_linear(place):
    goals = line(0.0, 1.0)
    found = project(line(place)[0], goals, smooth_temperature(goals))
    assert found.weights / found.weights.sum() == pytest.approx([1.0 - place, place], abs=0.005)
    assert found.modes == 1
    assert found.residual < 0.2


def test_goals_too_far_apart_offer_a_choice():
    """Da Silva's figure 6-4: of two equal bells the sum has one maximum while d^T Q d / lambda <= 4."""
    assert [project(line(0.5)[0], line(0.0, 1.0), 1.0 / k).modes for k in (1.0, 3.9, 4.1, 25.0)] == [1, 1, 2, 2]
    assert project(line(0.5)[0], line(0.0, 1.0), 1.0 / 100.0).residual > 0.99


def test_goals_too_close_to_tell_apart():
    found = project(line(0.5)[0], line(0.0, 1e-4, 1.0), 1.0)
    assert found.condition > 1e6
    assert np.isfinite(found.weights).all()
