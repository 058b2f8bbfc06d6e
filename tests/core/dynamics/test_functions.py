# SPDX-License-Identifier: GPL-3.0-or-later
"""The public border: what it refuses, what it leaves alone, and the manifold's own properties."""

import numpy as np
import pytest
from heft.core import dynamics
from heft.core.character import Character
from heft.core.dynamics import PointForces
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.core.dynamics.cases import assert_relative, states
from tests.core.random_trees import random_character, random_state

CHARACTER = random_character(0, bodies=6)


@settings(deadline=None, max_examples=100)
@given(st.integers(0, 400), st.floats(1e-12, 3.1))
def test_integrate_and_difference_are_inverse(seed, angle):
    """Any displacement whose rotations stay below half a turn comes back; so does any pair of states."""
    character = random_character(seed % 20, bodies=5)
    rng = np.random.default_rng(seed)
    q, v = random_state(character, rng)
    d = angle * v / max(1.0, np.abs(v).max() * np.sqrt(3.0))
    back = dynamics.difference(character, q, dynamics.integrate(character, q, d, 1.0))
    np.testing.assert_allclose(back, d, atol=2e-14)
    other, _ = random_state(character, rng)
    there = dynamics.integrate(character, q, dynamics.difference(character, q, other), 1.0)
    np.testing.assert_allclose(dynamics.difference(character, there, other), 0.0, atol=1e-13)


def test_integrate_keeps_quaternions_at_unit_length():
    q, v = random_state(CHARACTER, np.random.default_rng(1))
    for _ in range(1000):
        q = dynamics.integrate(CHARACTER, q, v, 0.01)
    assert abs(np.linalg.norm(q[3:7]) - 1.0) < 1e-15


def test_root_moves_in_the_worlds_axes_and_turns_in_its_own():
    block = Character.preset("muico29")
    q, v = block.neutral(), np.zeros(block.nv)
    q[3:7] = np.sqrt(0.5), 0.0, 0.0, np.sqrt(0.5)  # a quarter turn about the vertical
    v[0], v[3] = 1.0, 1.0
    ahead = dynamics.integrate(block, q, v, 0.1)
    np.testing.assert_allclose(ahead[:3] - q[:3], [0.1, 0.0, 0.0], atol=1e-15)
    np.testing.assert_allclose(dynamics.body_velocities(block, q, v)[0], [1.0, 0.0, 0.0, 0.0, 1.0, 0.0], atol=1e-15)


def test_momentum_jacobians_agree_with_momentum():
    for character, q, v, _ in states(31):
        linear = character.total_mass * dynamics.center_of_mass_jacobian(character, q) @ v
        momentum = dynamics.centroidal_momentum(character, q, v)
        np.testing.assert_allclose(linear, momentum[:3], atol=1e-10)
        assert_relative(dynamics.centroidal_momentum_matrix(character, q) @ v, momentum, 1e-12, character)


def test_kinetic_energy_is_half_v_m_v():
    for character, q, v, _ in states(32):
        expected = 0.5 * v @ dynamics.mass_matrix(character, q) @ v
        assert_relative(dynamics.kinetic_energy(character, q, v), expected, 1e-12, character)


@pytest.mark.parametrize(
    ("function", "change", "message"),
    [
        (dynamics.bias_force, {"q": np.zeros(3)}, "shape of q must be"),
        (dynamics.bias_force, {"v": np.zeros((1, 1))}, "shape of v must be"),
        (dynamics.bias_force, {"v": np.full(CHARACTER.nv, np.nan)}, "v must be finite"),
        (dynamics.integrate, {"dt": np.inf}, "dt must be finite"),
        (dynamics.point_acceleration_bias, {"body": 99, "point": np.zeros(3)}, "must be an index below 6"),
        (dynamics.point_acceleration_bias, {"body": 0, "point": np.zeros(2)}, "shape of point must be"),
        (dynamics.step, {"torque": np.zeros(CHARACTER.nv), "dt": 0.01}, "shape of torque must be"),
        (dynamics.step, {"torque": np.zeros(CHARACTER.nv - 6), "dt": 0.0}, "must be positive"),
        (
            dynamics.step,
            {"torque": np.zeros(CHARACTER.nv - 6), "dt": 0.01, "contacts": PointForces([-1], [[0, 0, 0]], [[0, 0, 0]])},
            "indices below 6",
        ),
        (
            dynamics.step,
            {"torque": np.zeros(CHARACTER.nv - 6), "dt": 0.01, "contacts": PointForces([1], [[0, 0, 0]], [0, 0])},
            "shape of contact forces must be",
        ),
    ],
)
def test_wrong_arguments_are_refused_in_one_sentence(function, change, message):
    q, v = random_state(CHARACTER, np.random.default_rng(0))
    with pytest.raises(ValueError, match=message) as error:
        function(CHARACTER, **({"q": q, "v": v} | change))
    assert "\n" not in str(error.value)


def test_arguments_are_left_as_they_were():
    q, v = random_state(CHARACTER, np.random.default_rng(0))
    kept = q.copy(), v.copy()
    dynamics.integrate(CHARACTER, q, v, 0.1)
    dynamics.step(CHARACTER, q, v, v[6:], 0.1)
    dynamics.forward_dynamics(CHARACTER, q, v, v)
    np.testing.assert_array_equal(q, kept[0])
    np.testing.assert_array_equal(v, kept[1])
