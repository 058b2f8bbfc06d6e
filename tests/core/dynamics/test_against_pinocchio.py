# SPDX-License-Identifier: GPL-3.0-or-later
"""All presets and 200 random trees beside Pinocchio."""

from functools import cache

import numpy as np
import pytest
from heft.core import dynamics

from tests.core.dynamics.cases import assert_relative, characters, states

pin = pytest.importorskip("pinocchio")

from tests.core.dynamics.pinocchio_model import PinocchioModel  # noqa: E402 - needs Pinocchio


@cache
def models():
    return [PinocchioModel(character) for character in characters()]


def cases(seed):
    for (character, q, v, rng), oracle in zip(states(seed), models(), strict=True):
        yield character, q, v, rng, oracle, oracle.positions(q), oracle.velocity_transform(q)


def moving_cases(seed):
    """Without characters whose root is welded to the world: Pinocchio leaves that mass out of the total."""
    return (case for case in cases(seed) if case[0].joints[0].kind != "fixed")


def test_mass_matrix():
    for character, q, _, _, oracle, qp, T in cases(1):
        M = pin.crba(oracle.model, oracle.data, qp)
        M = np.triu(M) + np.triu(M, 1).T
        assert_relative(dynamics.mass_matrix(character, q), T.T @ M @ T, 1e-10, character)


def test_bias_force():
    for character, q, v, _, oracle, qp, T in cases(2):
        h = pin.rnea(oracle.model, oracle.data, qp, T @ v, oracle.acceleration_bias(q, v))
        assert_relative(dynamics.bias_force(character, q, v), T.T @ h, 1e-10, character)


def test_inverse_dynamics():
    for character, q, v, rng, oracle, qp, T in cases(3):
        a = rng.normal(scale=10.0, size=character.nv)
        tau = pin.rnea(oracle.model, oracle.data, qp, T @ v, T @ a + oracle.acceleration_bias(q, v))
        assert_relative(dynamics.inverse_dynamics(character, q, v, a), T.T @ tau, 1e-10, character)


def test_forward_dynamics():
    for character, q, v, rng, oracle, qp, T in cases(4):
        tau = rng.normal(scale=10.0, size=character.nv)
        a = pin.aba(oracle.model, oracle.data, qp, T @ v, T @ tau)
        expected = T.T @ (a - oracle.acceleration_bias(q, v))
        assert_relative(dynamics.forward_dynamics(character, q, v, tau), expected, 1e-8, character)


def test_body_poses_and_velocities():
    for character, q, v, _, oracle, qp, T in cases(5):
        pin.forwardKinematics(oracle.model, oracle.data, qp, T @ v)
        pin.updateFramePlacements(oracle.model, oracle.data)
        frames = [oracle.data.oMf[frame] for frame in oracle.frame_of_body]
        velocities = [
            pin.getFrameVelocity(oracle.model, oracle.data, frame, pin.LOCAL_WORLD_ALIGNED).vector
            for frame in oracle.frame_of_body
        ]
        positions, quaternions = dynamics.body_poses(character, q)
        assert_relative(positions, [frame.translation for frame in frames], 1e-10, character)
        rotations = [pin.Quaternion(*quaternion).matrix() for quaternion in quaternions]
        assert_relative(rotations, [frame.rotation for frame in frames], 1e-10, character)
        assert_relative(dynamics.body_velocities(character, q, v), velocities, 1e-10, character)


def test_body_jacobians_and_their_rates():
    for character, q, v, _, oracle, qp, T in cases(6):
        pin.computeJointJacobians(oracle.model, oracle.data, qp)
        jacobians = [
            np.reshape(pin.getFrameJacobian(oracle.model, oracle.data, frame, pin.LOCAL_WORLD_ALIGNED), (6, -1)) @ T
            for frame in oracle.frame_of_body
        ]
        pin.forwardKinematics(oracle.model, oracle.data, qp, T @ v, oracle.acceleration_bias(q, v))
        rates = [
            pin.getFrameClassicalAcceleration(oracle.model, oracle.data, frame, pin.LOCAL_WORLD_ALIGNED).vector
            for frame in oracle.frame_of_body
        ]
        ours = [dynamics.body_jacobian(character, q, b) for b in range(len(character.bodies))]
        assert_relative(ours, jacobians, 1e-10, character)
        ours = [dynamics.body_acceleration_bias(character, q, v, b) for b in range(len(character.bodies))]
        # relative to the accelerations of the links, not to rounding where a body hardly accelerates
        scale = np.abs(rates).max() + np.square(v).max()
        assert np.abs(np.subtract(ours, rates)).max() <= 1e-10 * scale, character.name


def test_center_of_mass_and_its_jacobian():
    for character, q, _, _, oracle, qp, T in moving_cases(7):
        expected = pin.centerOfMass(oracle.model, oracle.data, qp)
        assert_relative(dynamics.center_of_mass(character, q), expected, 1e-10, character)
        expected = np.reshape(pin.jacobianCenterOfMass(oracle.model, oracle.data, qp), (3, -1)) @ T
        assert_relative(dynamics.center_of_mass_jacobian(character, q), expected, 1e-10, character)


def test_centroidal_momentum_and_its_map():
    for character, q, v, _, oracle, qp, T in moving_cases(8):
        expected = np.reshape(pin.ccrba(oracle.model, oracle.data, qp, T @ v), (6, -1)) @ T
        assert_relative(dynamics.centroidal_momentum_matrix(character, q), expected, 1e-10, character)
        assert_relative(dynamics.centroidal_momentum(character, q, v), oracle.data.hg.vector, 1e-10, character)


def test_energies():
    for character, q, v, _, oracle, qp, T in cases(9):
        expected = pin.computeKineticEnergy(oracle.model, oracle.data, qp, T @ v)
        assert_relative(dynamics.kinetic_energy(character, q, v), expected, 1e-10, character)


def test_integrate_and_difference():
    for character, q, v, _, oracle, qp, _ in cases(10):
        if character.joints[0].kind == "free":
            continue  # Pinocchio moves its free-flyer along a screw, not its two parts by themselves
        expected = pin.integrate(oracle.model, qp, 0.3 * v)
        ahead = dynamics.integrate(character, q, v, 0.3)
        assert_relative(oracle.positions(ahead), expected, 1e-10, character)
        expected = pin.difference(oracle.model, qp, expected)
        assert_relative(dynamics.difference(character, q, ahead), expected, 1e-10, character)
