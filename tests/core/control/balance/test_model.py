# SPDX-License-Identifier: GPL-3.0-or-later
"""The three-link model: its dynamics, and how characters are mapped to it."""

import numpy as np
import pytest
from heft.core.character import Character
from heft.core.character.parts import Body, Joint
from heft.core.character.three_link import BASE, NO_LINK, UPPER, ThreeLink, feet, three_link
from heft.core.control.balance.mapping import make_model, map_to_model, update_accelerations
from heft.core.dynamics import (
    center_of_mass,
    difference,
    integrate,
    kinetic_energy,
    point_jacobian,
    potential_energy,
)
from heft.core.dynamics.kinematics import update_kinematics
from heft.core.dynamics.workspace import make_workspace
from scipy.spatial.transform import Rotation


def linked(character, **options):
    return three_link(character, *feet(character), **options)


def accelerate(model, q, v, torque):
    model.q[:], model.v[:] = q, v
    update_accelerations(model, torque)
    return model.rate.copy(), model.acceleration.copy()


def mapped(character, model, q, v, heading=0.0):
    work = make_workspace(character.tree)
    update_kinematics(character.tree, work, q, v)
    map_to_model(character.tree, work, model, heading)
    return model.q.copy(), model.v.copy()


@pytest.fixture(params=[False, True], ids=["three links", "five"])
def arms(request):
    return request.param


@pytest.fixture
def model(muico29, arms):
    return make_model(linked(muico29, arms=arms))


@pytest.fixture
def three(muico29, arms):
    return linked(muico29, arms=arms).model


def random_state(rng, character, size=0.3):
    q = integrate(character, character.neutral(), size * rng.normal(size=character.nv), 1.0)
    return q, rng.normal(size=character.nv)


def test_one_link_falls_as_a_physical_pendulum():
    base = Body("base", None, Joint("ankle", "ball"), 70.0, np.diag((9.0, 9.0, 1.0)), (0.0, 0.0, 0.9))
    dust = [
        Body(name, "base", Joint(f"{name}_joint", "ball"), 1e-9, 1e-9 * np.eye(3), (0.0, 0.0, 0.1), (0.0, 0.0, 0.9))
        for name in ("upper", "swing")
    ]
    alone = Character("pendulum", (base, *dust))
    model = make_model(ThreeLink(alone, np.zeros(0, dtype=np.int64), 0))
    lean = 0.3
    q = integrate(alone, alone.neutral(), np.array([0.0, lean, *np.zeros(7)]), 1.0)
    rate, acceleration = accelerate(model, q, np.zeros(9), np.zeros(9))
    expected = 70.0 * 9.81 * 0.9 * np.sin(lean) / (9.0 + 70.0 * 0.9**2)
    assert rate[1] == pytest.approx(expected, rel=1e-6)
    np.testing.assert_allclose(acceleration[0], 0.9 * expected * np.array([np.cos(lean), 0, -np.sin(lean)]), atol=1e-5)


def torques(rng, model):
    """Of arms a hundredth of the others'."""
    torque = 20.0 * rng.normal(size=model.nv)
    torque[6:-3] *= 0.01
    return torque


def test_power_of_the_torques_is_what_the_model_gains(model, three, rng):
    q, v = random_state(rng, three)
    torque = torques(rng, three)
    rate, _ = accelerate(model, q, v, torque)

    def energy(t):
        place = integrate(three, q, v + 0.5 * t * rate, t)
        return kinetic_energy(three, place, v + t * rate) + potential_energy(three, place)

    h = 1e-5
    assert (energy(h) - energy(-h)) / (2.0 * h) == pytest.approx(torque @ v, rel=1e-6)


def test_accelerations_are_second_differences_of_places(model, three, rng):
    q, v = random_state(rng, three)
    rate, acceleration = accelerate(model, q, v, torques(rng, three))
    h = 1e-5

    def velocity(t, k):
        place = integrate(three, q, v + 0.5 * t * rate, t)
        return point_jacobian(three, place, k, three.tree.center_of_mass[k]) @ (v + t * rate)

    for k in range(len(three.bodies)):
        np.testing.assert_allclose((velocity(h, k) - velocity(-h, k)) / (2.0 * h), acceleration[k], atol=1e-5)


@pytest.mark.parametrize("name", ["muico29", "jain42", "gait28"])
def test_links_share_all_mass_but_the_stance_foot(name, arms):
    character = Character.preset(name)
    three = linked(character, arms=arms)
    foot = sum(character.bodies[b].mass for b in np.flatnonzero(three.link == NO_LINK))
    assert three.model.total_mass == pytest.approx(character.total_mass - foot, rel=1e-12)
    assert three.link[three.foot] == NO_LINK
    base = {character.bodies[b].name for b in np.flatnonzero(three.link == BASE)}
    assert base in ({"left_thigh", "left_shank"}, {"left_thigh", "left_shin"})
    assert feet(character)[1] in np.flatnonzero(three.link == len(three.model.bodies) - 1)


def test_links_point_where_the_limbs_are(muico29, model, three, rng):
    q, v = random_state(rng, muico29, 0.2)
    model_q, _ = mapped(muico29, model, q, v)
    work = make_workspace(three.tree)
    update_kinematics(three.tree, work, model_q, np.zeros(three.nv))
    ankle = make_workspace(muico29.tree)
    update_kinematics(muico29.tree, ankle, q, v)
    origin = ankle.position[model.ankle[0]]
    for k in range(len(three.bodies)):
        link = work.rotation[k] @ three.tree.center_of_mass[k]
        arm = model.place[k] - origin - work.position[k]
        np.testing.assert_allclose(link / np.linalg.norm(link), arm / np.linalg.norm(arm), atol=1e-12)


def test_model_velocities_move_the_links_as_the_limbs_move(muico29, model, three, rng):
    q, v = random_state(rng, muico29, 0.2)
    model_q, model_v = mapped(muico29, model, q, v)
    h = 1e-6
    after, _ = mapped(muico29, model, integrate(muico29, q, v, h), v)
    before, _ = mapped(muico29, model, integrate(muico29, q, v, -h), v)
    for k in (BASE, UPPER, len(three.bodies) - 1):
        center = three.tree.center_of_mass[k]
        moved = [place_of(three, at, k, center) for at in (before, after)]
        expected = point_jacobian(three, model_q, k, center) @ model_v
        np.testing.assert_allclose((moved[1] - moved[0]) / (2.0 * h), expected, atol=1e-6)


def test_arms_turn_about_their_shoulders_as_they_do(muico29, rng):
    """Across themselves; along them the model's arms cannot move."""
    five = linked(muico29, arms=True)
    model, tree = make_model(five), five.model.tree
    q, v = random_state(rng, muico29, 0.2)
    model_q, model_v = mapped(muico29, model, q, v)
    ankle = make_workspace(muico29.tree)
    update_kinematics(muico29.tree, ankle, q, v)
    still = point_jacobian(muico29, q, model.ankle[0], np.zeros(3)) @ v
    for k in (2, 3):
        shoulder = point_jacobian(five.model, model_q, UPPER, tree.offset_position[k]) @ model_v
        center = point_jacobian(five.model, model_q, k, tree.center_of_mass[k]) @ model_v
        length = np.linalg.norm(tree.center_of_mass[k])
        top = place_of(five.model, model_q, k, np.zeros(3))
        link = (place_of(five.model, model_q, k, tree.center_of_mass[k]) - top) / length
        far = np.linalg.norm(model.place[k] - ankle.position[model.ankle[0]] - top)
        across = (np.eye(3) - np.outer(link, link)) @ (model.velocity[k] - still - shoulder)
        np.testing.assert_allclose((center - shoulder) / length, across / far, atol=1e-10)


def test_who_has_no_arms_is_told(muico29):
    bodies = tuple(
        body for body in muico29.bodies if not any(part in body.name for part in ("arm", "hand", "clavicle"))
    )
    names = {body.name for body in bodies}
    armless = Character("armless", bodies, tuple(shape for shape in muico29.contacts if shape.body in names))
    assert len(linked(armless).model.bodies) == 3
    with pytest.raises(ValueError, match="has no arms to balance with"):
        linked(armless, arms=True)


def place_of(character, q, body, point):
    work = make_workspace(character.tree)
    update_kinematics(character.tree, work, q, np.zeros(character.nv))
    return work.position[body] + work.rotation[body] @ point


def test_a_turned_character_is_the_same_along_its_heading(muico29, model, three, rng):
    q, v = random_state(rng, muico29, 0.2)
    expected = mapped(muico29, model, q, v)
    turn = Rotation.from_euler("z", 2.0)
    turned_q, turned_v = q.copy(), v.copy()
    turned_q[:3] = turn.apply(q[:3]) + np.array([3.0, -1.0, 0.2])
    turned_q[3:7] = (turn * Rotation.from_quat(q[3:7], scalar_first=True)).as_quat(scalar_first=True)
    turned_v[:3] = turn.apply(v[:3])
    found = mapped(muico29, model, turned_q, turned_v, heading=2.0)
    np.testing.assert_allclose(found[1], expected[1], atol=1e-12)
    assert np.abs(difference(three, expected[0], found[0])).max() < 1e-12


def test_no_legs_of_their_own_are_told(muico29):
    foot = muico29.index("left_foot")
    with pytest.raises(ValueError, match="share a leg"):
        three_link(muico29, foot, muico29.index("left_shank"))
    center = center_of_mass(linked(muico29).model, linked(muico29).model.neutral())
    assert 0.6 < center[2] < 1.2
