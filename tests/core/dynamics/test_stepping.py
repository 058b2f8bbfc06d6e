# SPDX-License-Identifier: GPL-3.0-or-later
"""The discrete step: what it conserves, its order, and cases with a known answer."""

from dataclasses import replace

import numpy as np
import pytest
from heft.core import dynamics
from heft.core.character import Body, Character, Joint
from heft.core.dynamics import PointForces
from heft.core.dynamics.inertia import factorize, solve, solve_columns, update_mass_matrix
from heft.core.dynamics.kinematics import update_positions
from heft.core.dynamics.stepping import advance
from heft.core.dynamics.workspace import make_workspace
from heft.core.maths.rotations import quaternion_rotate

from tests.core.dynamics.cases import assert_relative, states
from tests.core.random_trees import random_character, random_state

NO_BODY, NO_POINT = np.zeros(0, np.int64), np.zeros((0, 3))


def simulate(character, q, v, dt, seconds):
    """States after every step, with the kernels and one workspace, as a simulator would."""
    work = make_workspace(character.tree)
    zero = np.zeros(character.nv)
    history = [(q, v)]
    for _ in range(round(seconds / dt)):
        q_next, v_next = np.zeros_like(q), np.zeros_like(v)
        advance(character.tree, work, q, v, zero, NO_BODY, NO_POINT, NO_POINT, dt, zero, q_next, v_next)
        q, v = q_next, v_next
        history.append((q, v))
    return history


def tumbling(character, seed=0):
    """Thrown up and spinning, its limbs swinging freely at about a radian per second.

    Nothing holds these limbs. Much faster, with ever faster whirling of hands and feet, no explicit method is stable
    at 120 Hz.
    """
    rng = np.random.default_rng(seed)
    v = rng.normal(scale=0.8, size=character.nv)
    v[:6] = 1.0, -0.5, 4.0, 0.5, 1.0, -0.5
    q = dynamics.integrate(character, character.neutral(), rng.normal(scale=0.3, size=character.nv), 1.0)
    return q, v


@pytest.mark.parametrize("rate", [120, 1000])
@pytest.mark.parametrize("seed", range(3))
def test_free_flight_of_jain42_conserves_momentum(rate, seed):
    character = Character.preset("jain42")
    q, v = tumbling(character, seed)
    history = simulate(character, q, v, 1.0 / rate, 2.0)
    start = dynamics.centroidal_momentum(character, q, v)
    weight = character.total_mass * np.array(character.gravity)
    for step in range(0, len(history), rate // 20):
        momentum = dynamics.centroidal_momentum(character, *history[step])
        fallen = start[:3] + weight * step / rate
        assert np.linalg.norm(momentum[:3] - fallen) < 1e-9 * np.linalg.norm(start[:3])
        assert np.linalg.norm(momentum[3:] - start[3:]) < 1e-9 * np.linalg.norm(start[3:])


@pytest.mark.parametrize("gravity", [-9.81, 0.0])
def test_free_flight_energy_error_is_of_first_order(gravity):
    """With gravity most of it is the parabola's, m g^2 dt t / 2; without, all of it is the tumbling's."""
    character = replace(Character.preset("jain42"), gravity=(0.0, 0.0, gravity))
    q, v = tumbling(character)

    def energy(q, v):
        return dynamics.kinetic_energy(character, q, v) + dynamics.potential_energy(character, q)

    errors = []
    for rate in (500, 1000, 2000, 4000):
        history = simulate(character, q, v, 1.0 / rate, 0.5)
        errors.append(abs(energy(*history[-1]) - energy(q, v)))
    np.testing.assert_allclose(np.divide(errors[:-1], errors[1:]), 2.0, rtol=0.02)
    assert errors[-1] < 1e-2 * dynamics.kinetic_energy(character, q, v)


def test_step_converges_to_the_continuous_motion_with_first_order():
    for root in ("free", "ball", "hinge"):
        character = random_character(3, bodies=6, root=root, passive=True)
        q, v = random_state(character, np.random.default_rng(5))
        exact = runge_kutta(character, q, 0.5 * v, 0.1, 400)
        errors = []
        for steps in (100, 200, 400):
            end = simulate(character, q, 0.5 * v, 0.1 / steps, 0.1)[-1]
            errors.append(np.linalg.norm(dynamics.difference(character, exact[0], end[0])))
        np.testing.assert_allclose(np.divide(errors[:-1], errors[1:]), 2.0, rtol=0.1)


def runge_kutta(character, q, v, seconds, steps):
    """The classical fourth-order method on the continuous equations; positions by a tangent vector at each start."""
    h = seconds / steps

    def acceleration(q, v):
        return dynamics.forward_dynamics(character, q, v, dynamics.passive_force(character, q, v))

    for _ in range(steps):
        a1 = acceleration(q, v)
        a2 = acceleration(dynamics.integrate(character, q, v, h / 2), v + h / 2 * a1)
        a3 = acceleration(dynamics.integrate(character, q, v + h / 2 * a1, h / 2), v + h / 2 * a2)
        a4 = acceleration(dynamics.integrate(character, q, v + h / 2 * a2, h), v + h * a3)
        q = dynamics.integrate(character, q, v + h / 6 * (a1 + a2 + a3), h)
        v = v + h / 6 * (a1 + 2 * a2 + 2 * a3 + a4)
    return q, v


def test_muico_equation_16():
    """M(q_{k+1}) (v_{k+1} - v_k) / dt = tau + J(q_{k+1})^T f - h(q_{k+1}, v_k), springs and dampers at v_{k+1}.

    With a free root this gives the joints' accelerations; the root's own then follow from the balance of momentum.
    """
    dt = 0.01
    for character, q, v, rng in states(21):
        free = 6 * (character.joints[0].kind == "free")
        torque = rng.normal(scale=5.0, size=character.nv - free)
        body = rng.integers(len(character.bodies), size=2)
        point, force = rng.normal(size=(2, 3)), rng.normal(scale=50.0, size=(2, 3))
        q_next, v_next = dynamics.step(character, q, v, torque, dt, PointForces(body, point, force))
        assert_relative(q_next, dynamics.integrate(character, q, v, dt), 1e-14, character)
        tau = np.concatenate([np.zeros(free), torque])
        for b, p, f in zip(body, point, force, strict=True):
            tau += dynamics.point_jacobian(character, q_next, b, p).T @ f
        tree = character.tree
        passive = dynamics.passive_force(character, q_next, v) - dt * tree.stiffness * v
        diagonal = dt * tree.damping + dt * dt * tree.stiffness
        effective = dynamics.mass_matrix(character, q_next) + np.diag(diagonal)
        a = np.linalg.solve(effective, tau + passive - dynamics.bias_force(character, q_next, v))
        assert_relative((v_next - v)[free:] / dt, a[free:], 1e-8, character)


def test_momentum_balance_of_the_whole():
    """Change of momentum about the centre of mass = dt times weight, contact forces and their moments about it."""
    dt = 0.02
    for character, q, v, rng in states(22):
        if character.joints[0].kind != "free":
            continue
        body = rng.integers(len(character.bodies), size=2)
        point, force = rng.normal(size=(2, 3)), rng.normal(scale=50.0, size=(2, 3))
        torque = rng.normal(size=character.nv - 6)
        q_next, v_next = dynamics.step(character, q, v, torque, dt, PointForces(body, point, force))
        center = dynamics.center_of_mass(character, q_next)
        positions, quaternions = dynamics.body_poses(character, q_next)
        impulse = np.zeros(6)
        impulse[:3] = dt * (character.total_mass * np.array(character.gravity) + force.sum(axis=0))
        for b, p, f in zip(body, point, force, strict=True):
            place = positions[b] + quaternion_rotate(tuple(quaternions[b]), tuple(p))
            impulse[3:] += dt * np.cross(place - center, f)
        before = dynamics.centroidal_momentum(character, q, v)
        after = dynamics.centroidal_momentum(character, q_next, v_next)
        scale = np.abs(before).max() + np.abs(impulse).max()
        assert np.abs(after - before - impulse).max() <= 1e-11 * scale, character.name


def test_block_in_free_fall():
    block = Character("block", (Body("block", None, Joint("root", "free"), 2.0, np.diag([0.1, 0.2, 0.3])),))
    q, v = np.array([0.0, 0.0, 5.0, 1.0, 0.0, 0.0, 0.0]), np.array([1.0, 0.0, 2.0, 0.0, 0.0, 0.0])
    history = simulate(block, q, v, 0.01, 1.0)
    q, v = history[-1]
    np.testing.assert_allclose(v, [1.0, 0.0, 2.0 - 9.81, 0.0, 0.0, 0.0], atol=1e-12)
    # semi-implicit Euler from v_0: sum of dt v_k = v_0 t - g dt^2 n (n - 1) / 2
    np.testing.assert_allclose(q[:3], [1.0, 0.0, 7.0 - 9.81 * 0.01**2 * 100 * 99 / 2], atol=1e-12)


def test_symmetric_top_precesses_at_the_known_rate():
    """Torque-free symmetric top, closed form: the axis turns about the momentum at L / I_transverse."""
    inertia = np.diag([0.2, 0.2, 0.1])
    top = Character("top", (Body("top", None, Joint("root", "free"), 1.0, inertia),), gravity=(0.0, 0.0, 0.0))
    v = np.array([0.0, 0.0, 0.0, 1.0, 0.0, 5.0])
    momentum = inertia @ v[3:]
    q, _ = simulate(top, top.neutral(), v, 1e-4, 1.0)[-1]
    axis = dynamics.body_jacobian(top, q, 0)[3:, 5]
    along = momentum / np.linalg.norm(momentum)
    start = np.array([0.0, 0.0, 1.0])
    angle = np.linalg.norm(momentum) / 0.2
    turned = (
        start * np.cos(angle) + np.cross(along, start) * np.sin(angle) + along * (along @ start) * (1.0 - np.cos(angle))
    )
    np.testing.assert_allclose(axis, turned, atol=1e-3)


def test_a_limb_that_swings_freely_is_not_damped():
    """A balanced rotor on a fixed base keeps its rate for ever: joints' rows carry no discrete momentum balance."""
    rotor = Character(
        "rotor",
        (
            Body("base", None, Joint("weld", "fixed"), 1.0, np.eye(3)),
            Body("rotor", "base", Joint("axle", "hinge", ((0.0, 1.0, 0.0),)), 1.0, np.diag([0.1, 0.1, 0.1])),
        ),
    )
    _, v = simulate(rotor, np.zeros(1), np.array([20.0]), 1.0 / 60.0, 5.0)[-1]
    np.testing.assert_allclose(v, 20.0, rtol=1e-12)


@pytest.mark.parametrize("stiffness", [1.0, 1e4, 1e8])
def test_stiff_springs_are_stable_at_any_step(stiffness):
    joint = Joint("spring", "hinge", ((0.0, 1.0, 0.0),), stiffness=stiffness, damping=0.01)
    pendulum = Character("spring", (Body("bob", None, joint, 1.0, 0.1 * np.eye(3), (0.0, 0.0, -0.3)),))
    history = simulate(pendulum, np.array([0.5]), np.zeros(1), 1.0 / 60.0, 5.0)
    assert max(abs(q[0]) for q, _ in history) <= 0.5


def test_implicit_diagonal_is_a_stable_pd_controller():
    """Gains dt kd + dt^2 kp on the diagonal make the torque act at the end of the step: equal to a spring there."""
    kp, kd, dt = 300.0, 20.0, 1.0 / 60.0

    def arm(**passive):
        joint = Joint("shoulder", "hinge", ((0.0, 1.0, 0.0),), **passive)
        return Character("arm", (Body("arm", None, joint, 1.0, 0.1 * np.eye(3), (0.0, 0.0, -0.3)),))

    held, sprung = arm(), arm(stiffness=kp, damping=kd, rest=(0.2,))
    q, v = np.array([1.0]), np.array([-2.0])
    q_next, v_next, zero = np.zeros(1), np.zeros(1), np.zeros(1)
    torque = kp * (0.2 - (q + dt * v) - dt * v) - kd * v
    gains = np.array([dt * kd + dt * dt * kp])
    work = make_workspace(held.tree)
    advance(held.tree, work, q, v, torque, NO_BODY, NO_POINT, NO_POINT, dt, gains, q_next, v_next)
    q_spring, v_spring = dynamics.step(sprung, q, v, zero, dt)
    np.testing.assert_allclose(q_next, q_spring, rtol=1e-14)
    np.testing.assert_allclose(v_next, v_spring, rtol=1e-13)


def test_sparse_factor_solves_with_and_without_a_diagonal():
    for character, q, _, rng in states(23):
        work = make_workspace(character.tree)
        update_positions(character.tree, work, q)
        update_mass_matrix(character.tree, work)
        work.diagonal[:] = rng.uniform(0.0, 0.1, size=character.nv)
        factorize(character.tree, work)
        full = work.mass_matrix + np.diag(work.diagonal)
        b = rng.normal(size=character.nv)
        x = b.copy()
        solve(character.tree, work, x)
        assert_relative(full @ x, b, 1e-10, character)
        columns = np.vstack([np.ones((2, 7)), rng.normal(size=(character.nv, 7))])
        answer = columns.copy()
        solve_columns(character.tree, work, answer, 2)
        np.testing.assert_array_equal(answer[:2], 1.0)
        assert_relative(full @ answer[2:], columns[2:], 1e-10, character)


def test_same_step_gives_the_same_bits():
    character = Character.preset("jain42")
    q, v = tumbling(character)
    first, second = (simulate(character, q, v, 1.0 / 120.0, 0.5)[-1] for _ in range(2))
    np.testing.assert_array_equal(first[0], second[0])
    np.testing.assert_array_equal(first[1], second[1])
