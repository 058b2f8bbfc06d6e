# SPDX-License-Identifier: GPL-3.0-or-later
"""Joints give no more than they have: in closed form, under laws that answer to contacts, and over time."""

import numpy as np
import pytest
from heft.core.character import Body, Character, Joint
from heft.core.character.strength import joint_strengths
from heft.core.dynamics import momentum
from heft.core.simulation import AffineLaw, World
from heft.core.simulation.strength import Strength, TorqueLimits

RATE = 120.0


def wheel(**limits):
    """A wheel on a fixed axle, without gravity: w_{k+1} = w_k + dt torque / I."""
    hub = Joint("axle", "hinge", axes=((0.0, 1.0, 0.0),))
    body = Body("wheel", None, hub, mass=2.0, inertia=np.diag([0.5, 0.5, 0.5]))
    character = Character("wheel", (body,), gravity=(0.0, 0.0, 0.0))
    return World(character, rate=RATE, torque_limits=TorqueLimits({"axle": 6.0}, **limits))


def test_wheel_is_driven_by_no_more_than_its_axle_has():
    world = wheel()
    for torque, given in ((4.0, 4.0), (-5.9, -5.9), (60.0, 6.0), (-1e6, -6.0)):
        before = world.v[0]
        world.step([torque])
        assert world.torque[0] == pytest.approx(given, rel=1e-11)
        assert abs(world.torque[0]) <= 6.0
        assert world.v[0] - before == pytest.approx(given / 0.5 / RATE, rel=1e-9)


def test_strength_over_time():
    """Half of it at 0.1 s, none from 0.2 s on."""
    world = wheel(strength=Strength([0.0, 0.2], [1.0, 0.0]))
    given = []
    for _ in range(30):
        world.step([100.0])
        given.append(world.torque[0])
    expected = 6.0 * np.maximum(1.0 - np.arange(30) / RATE / 0.2, 0.0)
    np.testing.assert_allclose(given, expected, rtol=1e-9, atol=1e-9)


def test_nothing_is_driven_faster_than_muscles_shorten():
    """At 60 rad/s and 12 rad/s² by a torque of 6 N m: within steps of 0.1 rad/s, and braked as ever."""
    world = wheel()
    world.reset([0.0], [59.45])
    for expected in (59.55, 59.65, 59.75, 59.85, 59.95, 59.95, 59.95):
        world.step([100.0])
        assert world.v[0] == pytest.approx(expected)
    assert world.torque[0] == 0.0
    world.step([-100.0])
    assert world.v[0] == pytest.approx(59.85)


def test_what_turns_a_joint_too_fast_tissue_stops():
    """At 250 rad/s: down to 100 within a step by damping alone, which is none of the muscles' torque."""
    for torque, given in ((0.0, 0.0), (-4.0, -4.0), (60.0, 0.0)):
        world = wheel()
        world.reset([0.0], [250.0])
        world.step([torque])
        damping = (250.0 + given / 0.5 / RATE) / 100.0 - 1.0
        assert world.v[0] == pytest.approx((250.0 + given / 0.5 / RATE) / (1.0 + damping), rel=1e-6)
        assert world.torque[0] == pytest.approx(given, abs=1e-8)


def limp_arm(**limits):
    """A floating trunk, and an arm that is 60 times as hard to swing as to twist."""
    trunk = Body("trunk", None, Joint("root", "free"), mass=40.0, inertia=np.diag([1.0, 1.0, 0.5]))
    inertia, center = np.diag([0.06, 0.06, 0.005]), (0.0, 0.0, -0.3)
    arm = Body("arm", "trunk", Joint("shoulder", "ball"), 4.0, inertia, center, (0.0, 0.2, 0.4))
    return World(Character("limp", (trunk, arm), gravity=(0.0, 0.0, 0.0)), [], rate=RATE, **limits)


@pytest.mark.parametrize("seed", range(5))
def test_a_limp_arm_that_whirls_comes_down_and_moves_nothing_as_a_whole(seed):
    """Turned by more than a radian a step it would gain speed from the scheme."""
    world = limp_arm(torque_limits=TorqueLimits({"shoulder": 90.0}))
    spin = np.random.default_rng(seed).normal(size=3)
    v = np.zeros(9)
    v[6:] = 300.0 * spin / np.linalg.norm(spin)
    world.reset(world.character.neutral(), v)
    before = momentum(world.character, world.q, world.v)[:3]
    speeds = []
    for _ in range(120):
        world.step()
        speeds.append(np.linalg.norm(world.v[6:]))
        np.testing.assert_allclose(world.torque, 0.0, atol=1e-9)
    assert max(speeds[3:]) < 130.0
    np.testing.assert_allclose(momentum(world.character, world.q, world.v)[:3], before, atol=1e-6)


def standing(strength):
    """A person who stands on the ground, and the limits of its joints' norms."""
    character = Character.preset("muico29")
    limits = {name: strength * most for name, most in joint_strengths(character, "male").items()}
    world = World(character, rate=RATE, torque_limits=TorqueLimits(limits))
    world.reset(character.neutral(), np.random.default_rng(3).normal(scale=0.5, size=character.nv))
    return world, limits


class Excited:
    """Asks for whatever, with gains on contacts and damping."""

    def __init__(self, scale):
        self.random, self.scale = np.random.default_rng(0), scale

    def law(self, state, contacts):
        motors, columns = len(state.v) - 6, 3 * int(contacts.filled[0])
        return AffineLaw(
            self.random.normal(scale=self.scale, size=motors),
            0.02 * self.random.normal(size=(motors, columns)),
            np.full(motors, 1.0),
        )


def by_joint(world):
    """The size of each joint's torque."""
    tree, bodies = world.character.tree, world.character.bodies
    torque = np.concatenate((np.zeros(6), world.torque))
    return {body.joint.name: np.linalg.norm(torque[tree.velocity_body == b]) for b, body in enumerate(bodies)}


def test_no_joint_gives_more_under_a_law_that_answers_to_contacts():
    world, limits = standing(1.0)
    controller, held = Excited(200.0), 0
    for _ in range(60):
        world.step(controller)
        given = by_joint(world)
        assert all(given[name] <= most for name, most in limits.items())
        assert world.residual < 1e-9
        held += sum(given[name] > (1.0 - 1e-9) * most for name, most in limits.items())
    assert held > 100


def test_step_is_that_of_the_torques_that_act():
    """In the air, where the answer is unique, and where no joint beyond its limits is put back."""
    world, _ = standing(0.5)
    world.reset(world.character.neutral() + 5.0 * np.eye(world.character.nq)[2], world.v)
    twin = World(world.character, rate=RATE)
    controller, compared = Excited(200.0), 0
    for _ in range(30):
        twin.load_state(world.save_state())
        world.step(controller)
        twin.step(world.torque)
        if not (world.corrected or twin.corrected):
            np.testing.assert_allclose(twin.v, world.v, atol=1e-9)
            compared += 1
    assert compared >= 5


def test_who_asks_for_less_is_left_alone_to_the_last_bit():
    world, _ = standing(100.0)
    free = World(world.character, rate=RATE)
    free.load_state(world.save_state())
    first, second = Excited(20.0), Excited(20.0)
    for _ in range(60):
        world.step(first)
        free.step(second)
        np.testing.assert_array_equal(world.v, free.v)
        np.testing.assert_array_equal(world.torque, free.torque)


def test_what_makes_no_sense_is_refused():
    character = Character.preset("muico29")
    with pytest.raises(ValueError, match="'tail', which is no joint that a motor drives"):
        World(character, torque_limits=TorqueLimits({"tail": 1.0}))
    with pytest.raises(ValueError, match="must not be negative"):
        Strength([0.0], [-1.0])
    with pytest.raises(ValueError, match="must not decrease"):
        Strength([1.0, 0.0], [1.0, 1.0])
