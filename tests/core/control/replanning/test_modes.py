# SPDX-License-Identifier: GPL-3.0-or-later
"""Modes against their definition, scipy's generalised eigenvalues, and time stepping."""

import numpy as np
import pytest
import scipy.linalg
from heft.core.character import Character
from heft.core.control.replanning.modes import RIGID, make_modes, subtree_stiffness, update_modes
from heft.core.control.replanning.response import (
    first_impulse,
    free_response,
    make_response,
    update_response,
)
from heft.core.dynamics import center_of_mass_jacobian, centroidal_momentum_matrix, integrate, mass_matrix
from heft.core.maths.kernel import kernel

DT = 1.0 / 120.0


@kernel
def fill_modes(mass, stiffness, modes):
    return update_modes(mass, stiffness, modes)


@kernel
def fill_response(square, modes, steps, dt, response):
    update_response(square, modes, steps, dt, response)


@kernel
def free(response, mode, steps, dt, velocity, push):
    return free_response(response, mode, steps, dt, velocity, push)


@kernel
def first(response, mode, steps, miss, miss_rate, weight, weight_rate, effort):
    return first_impulse(response, mode, steps, miss, miss_rate, weight, weight_rate, effort)


@pytest.fixture(scope="module", params=["jain42", "muico29"])
def linear(request):
    """A character in some pose: its mass matrix, stiffness and modes."""
    character = Character.preset(request.param)
    rng = np.random.default_rng(1)
    q = integrate(character, character.neutral(), 0.4 * rng.normal(size=character.nv), 1.0)
    M, K = mass_matrix(character, q), subtree_stiffness(character.tree)
    modes = make_modes(character.nv)
    assert fill_modes(M, K, modes)
    return character, q, M, K, modes


def test_stiffness_is_the_mass_that_a_joint_carries():
    character = Character.preset("jain42")
    stiffness = subtree_stiffness(character.tree)
    mass = {body.name: body.mass for body in character.bodies}
    of = {body.name: character.tree.velocity_start[b] for b, body in enumerate(character.bodies)}
    assert not stiffness[:6].any()
    assert stiffness[of["left_foot"]] == pytest.approx(mass["left_foot"])
    assert stiffness[of["left_thigh"]] == pytest.approx(sum(mass[f"left_{x}"] for x in ("thigh", "shank", "foot")))
    legs = sum(m for name, m in mass.items() if name.endswith(("thigh", "shank", "foot")))
    assert stiffness[of["abdomen"]] == pytest.approx(character.total_mass - legs - mass["pelvis"])


def test_modes_are_orthonormal_in_mass_and_diagonal_in_stiffness(linear):
    character, _, M, K, modes = linear
    shape = modes.shape
    np.testing.assert_allclose(shape @ M @ shape.T, np.eye(character.nv), atol=1e-10)
    np.testing.assert_allclose(shape * K @ shape.T, np.diag(modes.square), atol=1e-8 * modes.square[-1])
    expected = scipy.linalg.eigh(np.diag(K), M, eigvals_only=True)
    assert modes.square[RIGID:] == pytest.approx(expected[RIGID:], rel=1e-7)
    assert not modes.square[:RIGID].any()
    assert (np.diff(modes.square) >= 0.0).all()


def test_rigid_modes_move_the_whole_body_as_one(linear):
    character, q, _, _, modes = linear
    rigid = modes.shape[:RIGID]
    assert not rigid[:, RIGID:].any()
    way = center_of_mass_jacobian(character, q) @ rigid.T
    np.testing.assert_allclose(way[:, :3], np.eye(3) / np.sqrt(character.total_mass), atol=1e-12)
    np.testing.assert_allclose(way[:, 3:], 0.0, atol=1e-12)
    # the others do not move it at all
    momentum = centroidal_momentum_matrix(character, q) @ modes.shape[RIGID:].T
    np.testing.assert_allclose(momentum, 0.0, atol=1e-9)


def test_free_response_at_each_eigenfrequency_against_time_stepping(linear):
    """Of M q'' + K q = 0 in joint space, a mode at a time; and the continuous one in the limit."""
    character, _, M, K, modes = linear
    steps = 30
    response = make_response(character.nv, steps)
    fill_response(modes.square, character.nv, steps, DT, response)
    inverse = np.linalg.inv(M)
    for m in range(character.nv):
        q, v = np.zeros(character.nv), modes.shape[m].copy()
        for _ in range(steps):
            v -= DT * inverse @ (K * q)
            q += DT * v
        place, rate = free(response, m, steps, DT, 1.0, 0.0)
        np.testing.assert_allclose(q, place * modes.shape[m], atol=1e-10)
        np.testing.assert_allclose(v, rate * modes.shape[m], atol=1e-8)
    fine, many = DT / 2000.0, 8000
    response = make_response(1, many)
    for omega in np.sqrt(modes.square[RIGID : RIGID + 5]):
        fill_response(np.array([omega**2]), 1, many, fine, response)
        place, rate = free(response, 0, many, fine, 0.7, 0.3)
        time = many * fine
        exact = 0.3 / omega**2 * (1.0 - np.cos(omega * time)) + 0.7 * np.sin(omega * time) / omega
        assert place == pytest.approx(exact, rel=1e-4)
        assert rate == pytest.approx(0.3 * np.sin(omega * time) / omega + 0.7 * np.cos(omega * time), rel=1e-4)


def test_first_impulse_is_that_of_the_least_squares_of_equation_21():
    steps, square = 12, np.array([0.0, 30.0, 90.0])
    response = make_response(3, steps)
    fill_response(square, 3, steps, DT, response)
    miss, miss_rate, weight, weight_rate, effort = 0.03, -0.4, 5.0, 2.0, 5e-3
    for m in range(3):
        a, d = response.position[m, steps:0:-1], response.velocity[m, steps:0:-1]
        rows = np.vstack((np.sqrt(weight) * a, np.sqrt(weight_rate) * d, np.sqrt(effort) * np.eye(steps)))
        right = -np.concatenate(([np.sqrt(weight) * miss, np.sqrt(weight_rate) * miss_rate], np.zeros(steps)))
        expected = np.linalg.lstsq(rows, right, rcond=None)[0][0]
        assert first(response, m, steps, miss, miss_rate, weight, weight_rate, effort) == pytest.approx(expected)
