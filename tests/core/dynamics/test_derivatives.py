# SPDX-License-Identifier: GPL-3.0-or-later
"""Derivatives of the discrete step against centred differences, away from rest, every kind of joint, with contacts."""

import numpy as np
import pytest
from heft.core import dynamics
from heft.core.character import Character
from heft.core.character.presets import NAMES
from heft.core.dynamics import PointForces
from heft.core.dynamics.derivatives import make_derivative_workspace, update_inverse_dynamics_derivatives
from heft.core.dynamics.inertia import update_mass_matrix
from heft.core.dynamics.kinematics import update_kinematics
from heft.core.dynamics.linearization import linearize
from heft.core.dynamics.stepping import advance
from heft.core.dynamics.workspace import make_workspace

from tests.core.random_trees import random_character, random_state

EPSILON = 1e-6


class Problem:
    """One character at one state with forces, and f(x, u) around it in tangent space."""

    def __init__(self, character, seed, contacts, dt):
        rng = np.random.default_rng(seed)
        self.character, self.dt = character, dt
        self.q, self.v = random_state(character, rng)
        self.start = 6 * (character.joints[0].kind == "free")
        self.torque = rng.normal(scale=10.0, size=character.nv - self.start)
        self.body = rng.integers(len(character.bodies), size=contacts)
        self.point = rng.normal(scale=0.3, size=(contacts, 3))
        self.force = rng.normal(scale=100.0, size=(contacts, 3))
        self.implicit = rng.uniform(0.0, 0.01, size=character.nv)
        self.implicit[: self.start] = 0.0
        self.work = make_workspace(character.tree)
        self.more = make_derivative_workspace(character.tree)

    def step(self, dx, du):
        nv = self.character.nv
        q = dynamics.integrate(self.character, self.q, dx[:nv], 1.0)
        tau = np.zeros(nv)
        tau[self.start :] = self.torque + du[: self.torque.size]
        force = self.force + du[self.torque.size :].reshape(-1, 3)
        q_next, v_next = np.zeros_like(q), np.zeros(nv)
        arguments = (tau, self.body, self.point, force, self.dt, self.implicit, q_next, v_next)
        advance(self.character.tree, self.work, q, self.v + dx[nv:], *arguments)
        return q_next, v_next

    def differences(self):
        nv, nu = self.character.nv, self.torque.size + self.force.size
        columns = []
        for k in range(2 * nv + nu):
            change = np.zeros(2 * nv + nu)
            change[k] = EPSILON
            ahead = self.step(change[: 2 * nv], change[2 * nv :])
            behind = self.step(-change[: 2 * nv], -change[2 * nv :])
            turned = dynamics.difference(self.character, behind[0], ahead[0])
            columns.append(np.concatenate([turned, ahead[1] - behind[1]]) / (2.0 * EPSILON))
        both = np.array(columns).T
        return both[:, : 2 * nv], both[:, 2 * nv :]

    def analytic(self):
        nv, nu = self.character.nv, self.torque.size + self.force.size
        tau = np.concatenate([np.zeros(self.start), self.torque])
        A, B = np.full((2 * nv, 2 * nv), np.nan), np.full((2 * nv, nu), np.nan)
        q_next, v_next = np.zeros(self.character.nq), np.zeros(nv)
        forces = (tau, self.body, self.point, self.force)
        tree, work, more, q, v, dt = self.character.tree, self.work, self.more, self.q, self.v, self.dt
        advance(tree, work, q, v, *forces, dt, self.implicit, q_next, v_next)
        linearize(tree, work, more, q, v, *forces[1:], dt, q_next, v_next, A, B)
        return A, B


def assert_close(actual, expected, character):
    scale = np.abs(expected).max(initial=0.0)
    assert np.abs(actual - expected).max(initial=0.0) <= 1e-6 * scale, character.name


@pytest.mark.parametrize("seed", range(60))
def test_random_trees_with_every_joint(seed):
    character = random_character(seed, bodies=2 + seed % 9, passive=seed % 2 == 1)
    problem = Problem(character, seed, contacts=(0, 1, 4)[seed % 3], dt=(1.0 / 120.0, 1.0 / 30.0)[seed % 2])
    for actual, expected in zip(problem.analytic(), problem.differences(), strict=True):
        assert_close(actual, expected, character)


@pytest.mark.parametrize("name", NAMES)
def test_presets_with_four_contacts(name):
    character = Character.preset(name)
    problem = Problem(character, 1, contacts=4, dt=1.0 / 120.0)
    for actual, expected in zip(problem.analytic(), problem.differences(), strict=True):
        assert_close(actual, expected, character)


def test_public_function_agrees_with_the_kernel():
    character = random_character(5, bodies=7, passive=True)
    problem = Problem(character, 2, contacts=3, dt=0.01)
    problem.implicit[:] = 0.0
    contacts = PointForces(problem.body, problem.point, problem.force)
    result = dynamics.step_derivatives(character, problem.q, problem.v, problem.torque, 0.01, contacts)
    A, B = problem.analytic()
    np.testing.assert_array_equal(result.A, A)
    np.testing.assert_array_equal(result.B, B)
    q_next, v_next = dynamics.step(character, problem.q, problem.v, problem.torque, 0.01, contacts)
    np.testing.assert_array_equal(result.q, q_next)
    np.testing.assert_array_equal(result.v, v_next)


@pytest.mark.parametrize("seed", range(25))
def test_singh_russell_wensing_inverse_dynamics_derivatives(seed):
    """d tau / d q and d tau / d v of tau = M a + h, free roots included."""
    character = random_character(seed, bodies=2 + seed % 7)
    rng = np.random.default_rng(seed)
    q, v = random_state(character, rng)
    a = rng.normal(scale=5.0, size=character.nv)
    work, more = make_workspace(character.tree), make_derivative_workspace(character.tree)
    update_kinematics(character.tree, work, q, v)
    update_mass_matrix(character.tree, work)
    update_inverse_dynamics_derivatives(character.tree, work, more, v, a)

    def difference(function):
        steps = EPSILON * np.eye(character.nv)
        return np.array([(function(step) - function(-step)) / (2.0 * EPSILON) for step in steps]).T

    by_position = difference(
        lambda d: dynamics.inverse_dynamics(character, dynamics.integrate(character, q, d, 1.0), v, a)
    )
    by_velocity = difference(lambda d: dynamics.inverse_dynamics(character, q, v + d, a))
    # together: one of them may be nothing but rounding (a single hinge has no Coriolis force)
    assert_close([more.by_position, more.by_velocity], np.array([by_position, by_velocity]), character)
