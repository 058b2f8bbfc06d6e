# SPDX-License-Identifier: GPL-3.0-or-later
"""All presets and 200 random trees beside MuJoCo, loaded from the exported model."""

from functools import cache

import numpy as np
import pytest
from heft.core import dynamics

from tests.core.dynamics.cases import assert_relative, characters, states

mujoco = pytest.importorskip("mujoco")


@cache
def models():
    result = []
    for character in characters():
        model = mujoco.MjModel.from_xml_string(character.to_mjcf(contacts=False))
        model.opt.enableflags |= mujoco.mjtEnableBit.mjENBL_ENERGY
        result.append((model, mujoco.MjData(model)))
    return result


def cases(seed):
    """MuJoCo evaluated at the same state; `rng` for forces."""
    for (character, q, v, rng), (model, data) in zip(states(seed), models(), strict=True):
        data.qpos, data.qvel, data.qfrc_applied = q, v, 0.0
        mujoco.mj_forward(model, data)
        yield character, q, v, rng, model, data


def test_mass_matrix():
    for character, q, _, _, model, data in cases(1):
        M = np.zeros((model.nv, model.nv))
        mujoco.mj_fullM(model, data, M)
        assert_relative(dynamics.mass_matrix(character, q), M, 1e-10, character)


def test_bias_force():
    for character, q, v, _, _, data in cases(2):
        assert_relative(dynamics.bias_force(character, q, v), data.qfrc_bias, 1e-10, character)


def test_passive_force():
    for character, q, v, _, _, data in cases(3):
        assert_relative(dynamics.passive_force(character, q, v), data.qfrc_passive, 1e-10, character)


def test_forward_dynamics():
    for character, q, v, rng, model, data in cases(4):
        tau = rng.normal(scale=10.0, size=character.nv)
        data.qfrc_applied = tau
        mujoco.mj_forward(model, data)
        applied = tau + dynamics.passive_force(character, q, v)
        a = dynamics.forward_dynamics(character, q, v, applied)
        assert_relative(a, data.qacc_smooth, 1e-8, character)
        assert_relative(dynamics.inverse_dynamics(character, q, v, data.qacc_smooth), applied, 1e-8, character)


def test_point_jacobian_and_its_rate():
    for character, q, v, rng, model, data in cases(5):
        body = int(rng.integers(len(character.bodies)))
        point = rng.normal(size=3)
        place = data.xpos[body + 1] + data.xmat[body + 1].reshape(3, 3) @ point
        J, turning, rate = np.zeros((3, model.nv)), np.zeros((3, model.nv)), np.zeros((3, model.nv))
        mujoco.mj_jac(model, data, J, turning, place, body + 1)
        ours = dynamics.point_jacobian(character, q, body, point)
        assert np.abs(ours - J).max() <= 1e-10 * max(np.abs(J).max(), 1.0), character.name
        ours = dynamics.body_jacobian(character, q, body)[3:]
        assert np.abs(ours - turning).max() <= 1e-10, character.name
        mujoco.mj_jacDot(model, data, rate, None, place, body + 1)
        ours = dynamics.point_acceleration_bias(character, q, v, body, point)
        scale = np.abs(rate @ v).max() + np.square(v).max()
        assert np.abs(ours - rate @ v).max() <= 1e-10 * scale, character.name


def test_center_of_mass_and_momentum():
    for character, q, v, _, model, data in cases(6):
        mujoco.mj_subtreeVel(model, data)
        assert_relative(dynamics.center_of_mass(character, q), data.subtree_com[0], 1e-10, character)
        expected = np.concatenate([character.total_mass * data.subtree_linvel[0], data.subtree_angmom[0]])
        assert_relative(dynamics.centroidal_momentum(character, q, v), expected, 1e-10, character)
        about_origin = expected[3:] + np.cross(data.subtree_com[0], expected[:3])
        assert_relative(dynamics.momentum(character, q, v)[3:], about_origin, 1e-10, character)


def test_energies():
    for character, q, v, _, _, data in cases(7):
        potential, kinetic = data.energy
        assert_relative(dynamics.kinetic_energy(character, q, v), kinetic, 1e-10, character)
        scale = character.total_mass * 9.81
        assert abs(dynamics.potential_energy(character, q) - potential) <= 1e-10 * max(scale, abs(potential))


def test_integrate_and_difference():
    for character, q, v, _, model, _ in cases(8):
        expected = q.copy()
        mujoco.mj_integratePos(model, expected, v, 0.3)
        ahead = dynamics.integrate(character, q, v, 0.3)
        assert_relative(ahead, expected, 1e-10, character)
        expected = np.zeros(model.nv)
        mujoco.mj_differentiatePos(model, expected, 1.0, q, ahead)
        assert_relative(dynamics.difference(character, q, ahead), expected, 1e-10, character)
