# SPDX-License-Identifier: GPL-3.0-or-later
"""Joint limits, grabs, props and pushes."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from heft.core import dynamics
from heft.core.character import Body, Character, Cone, Joint, Range
from heft.core.contact.terrain import Plane
from heft.core.simulation import Grab, Hinge, Prop, Push, World
from scenes import bystander, locked, point_mass, prop_state

GRAVITY = 9.81


def hanging(joint, **kwargs):
    """A limb of half a metre on one joint at the origin."""
    body = Body("limb", None, joint, 2.0, 0.02 * np.eye(3), center_of_mass=(0.0, 0.0, -0.25))
    return Character("limb", (body,), **kwargs)


@pytest.mark.parametrize("contacts", ["anticipating", "touching"])
def test_hinge_limits_hold_and_do_not_bounce(contacts):
    joint = Joint("hinge", "hinge", axes=((0.0, 1.0, 0.0),), limits=(Range(-0.5, 0.3),))
    world = World(hanging(joint), [], contacts=contacts)
    for start in (3.0, -6.0):
        world.reset([0.0], [start])
        angles = []
        for _ in range(240):
            world.step()
            angles.append(world.q[0])
        slack = 1e-6 if contacts == "anticipating" else 0.06
        assert min(angles) > -0.5 - slack
        assert max(angles) < 0.3 + slack
        reached = np.argmax(np.abs(angles))
        assert abs(angles[reached]) > 0.29
        # gravity, not the limit, brings it back
        assert abs(angles[min(reached + 3, 239)] - angles[reached]) < 0.03


@pytest.mark.parametrize("seed", range(4))
def test_cone_of_a_ball_holds(seed):
    rng = np.random.default_rng(seed)
    cone = Cone((0.0, 0.0, -1.0), (0.3, 0.0, -1.0), 0.8, Range(-0.4, 0.6))
    joint = Joint("ball", "ball", limits=cone)
    character = hanging(joint)
    world = World(character, [])
    world.reset(character.neutral(), rng.normal(scale=4.0, size=3))
    center = np.array(joint.limits.center)
    for _ in range(480):
        world.step()
        w, x, y, z = world.q
        limb = -np.array([2 * (x * z + w * y), 2 * (y * z - w * x), 1 - 2 * (x * x + y * y)])
        swing = np.arccos(np.clip(limb @ center, -1, 1))
        twist = 2 * np.arctan2(-z * np.sign(w), abs(w))
        assert swing < 0.8 + 2e-3
        assert -0.4 - 2e-3 < twist < 0.6 + 2e-3


def test_pendulum_on_a_grab_keeps_its_length_and_loses_little_energy():
    """The scheme is of first order: at 120 Hz a swing of 60 degrees loses 2.4 % a second, at 480 Hz a quarter."""
    losses = []
    for rate in (120.0, 480.0):
        character = point_mass()
        world = World(character, [], rate=rate, grabs=[Grab("body", point=(0.0, 0.0, 1.0), anchor=(0.0, 0.0, 0.0))])
        angle = np.radians(60.0)
        world.reset([np.sin(angle), 0.0, -np.cos(angle), np.cos(angle / 2), 0.0, -np.sin(angle / 2), 0.0])

        def energy(world=world, character=character):
            rest = -character.total_mass * GRAVITY
            return dynamics.kinetic_energy(character, world.q, world.v) + world.q[2] * -rest - rest

        start = energy()
        for _ in range(round(5 * rate)):
            world.step()
            assert np.linalg.norm(world.q[:3]) == pytest.approx(1.0, abs=1e-9)
            assert energy() < 1.02 * start
        losses.append(1.0 - energy() / start)
    assert losses[0] < 0.15
    assert losses[1] == pytest.approx(losses[0] / 4, rel=0.3)


def test_grab_lasts_for_its_interval_and_carries_the_weight():
    character = point_mass(mass=3.0)
    world = World(character, [], grabs=[Grab("body", kind="full", start=0.1, end=0.5)])
    for _ in range(12):
        world.step()
    falling = world.v[2]
    assert falling == pytest.approx(-GRAVITY * 12 * world.dt, rel=0.1)
    for _ in range(20):
        world.step()
    held = world.q
    assert np.abs(world.v).max() < 1e-9
    np.testing.assert_allclose(world.grab_forces[0], [0, 0, 3.0 * GRAVITY, 0, 0, 0], atol=1e-9)
    for _ in range(10):
        world.step()
    np.testing.assert_allclose(world.q, held, atol=1e-9)
    for _ in range(40):
        world.step()
    assert world.v[2] < -1.0


def test_redundant_grabs_share_the_weight_and_do_no_harm():
    character = locked(Character.preset("jain42"))
    hands = [Grab(f"{side}_hand", kind="full") for side in ("left", "right")]
    world = World(character, [], grabs=[*hands, Grab("left_hand", point=(0.0, 0.0, -0.1))])
    start = world.q
    for _ in range(240):
        world.step()
    assert np.abs(world.q - start).max() < 1e-9
    assert world.grab_forces[:, 2].sum() == pytest.approx(character.total_mass * GRAVITY)


def test_hanging_from_a_bar_keeps_the_hands_there():
    character = Character.preset("jain42")
    world = World(character, [], grabs=[Grab(f"{side}_hand") for side in ("left", "right")])
    hands = [character.index(f"{side}_hand") for side in ("left", "right")]
    start = world.poses()[0][hands]
    for _ in range(360):
        world.step()
        assert np.abs(world.poses()[0][hands] - start).max() < 1e-3


@pytest.mark.parametrize(("arm", "sign"), [(0.62, 1), (0.6, 0), (0.58, -1)])
def test_see_saw_balances_at_the_right_lever_arm(arm, sign):
    """3 kg at 0.4 m against 2 kg at 0.6 m; a balanced board stays, otherwise the heavier side goes down."""
    board = Prop.box("board", (1.0, 0.1, 0.02), 5.0, (0.0, 0.0, 0.5), hinge=Hinge((0.0, 1.0, 0.0)))
    left = Prop.box("left", (0.05,) * 3, 3.0, (-0.4, 0.0, 0.57))
    right = Prop.box("right", (0.05,) * 3, 2.0, (arm, 0.0, 0.57))
    world = World(bystander(), props=[board, left, right])
    for _ in range(60):
        world.step()
    angle = prop_state(world)[0][0]
    if sign == 0:
        assert abs(angle) < 1e-9
    else:
        assert sign * angle > 1e-3


def test_light_and_heavy_ball_push_each_other_with_equal_impulses():
    light = Prop.sphere("light", 0.1, 0.1, (-0.5, 0.0, 1.0), velocity=(2.0, 0, 0, 0, 0, 0))
    heavy = Prop.sphere("heavy", 0.1, 10.0, (0.0, 0.0, 1.0))
    world = World(bystander(), [], props=[light, heavy], rate=480.0)
    for _ in range(240):
        world.step()
    _, v = prop_state(world)
    assert 0.1 * v[0] + 10.0 * v[6] == pytest.approx(0.2, rel=1e-9)
    assert v[0] == pytest.approx(v[6], rel=1e-6)  # restitution zero


@pytest.mark.parametrize(("groups", "meet"), [((0,), True), ((1, 4), False), ((1, 0), True), ((), False)])
def test_props_meet_that_share_a_group(groups, meet):
    light = replace(Prop.sphere("light", 0.1, 0.1, (-0.5, 0.0, 1.0), velocity=(2.0, 0, 0, 0, 0, 0)), groups=groups)
    heavy = Prop.sphere("heavy", 0.1, 10.0, (0.0, 0.0, 1.0))
    world = World(bystander(), [], props=[light, heavy], rate=480.0)
    for _ in range(240):
        world.step()
    _, v = prop_state(world)
    assert v[0] == pytest.approx(2.0 * 0.1 / 10.1 if meet else 2.0, rel=1e-6)
    assert v[6] == pytest.approx(2.0 * 0.1 / 10.1 if meet else 0.0, rel=1e-6, abs=1e-12)


@pytest.mark.parametrize(("groups", "meet"), [((3,), True), ((), False)])
def test_a_prop_in_no_group_passes_through_the_character_and_lies_on_the_ground(groups, meet):
    character = locked(Character.preset("muico29"))
    ball = replace(Prop.sphere("ball", 0.1, 1.0, (-0.6, 0.0, 1.0), velocity=(4.0, 0, 0, 0, 0, 0)), groups=groups)
    world = World(character, [Plane()], props=[ball])
    touched = False
    for _ in range(120):
        world.step()
        q, _ = prop_state(world)
        touched |= q[0] < 0.3 and bool((world.contacts.other >= 0).any())
    assert touched == meet
    assert prop_state(world)[0][2] == pytest.approx(0.1, abs=1e-3)


@pytest.mark.parametrize("groups", [(-1,), (0.5,), (True,), (0, "a")])
def test_groups_are_whole_numbers(groups):
    with pytest.raises(ValueError, match="groups of the prop 'ball'"):
        replace(Prop.sphere("ball", 0.1, 1.0, (0.0, 0.0, 1.0)), groups=groups)


def test_push_gives_its_curves_impulse_at_any_rate():
    times = np.linspace(0.0, 0.3, 8)
    curve = np.column_stack([np.sin(np.pi * times / 0.3) * 50.0, 0 * times, 10.0 + 0 * times])
    impulse = sum(0.5 * (a + b) * (times[1] - times[0]) for a, b in pairwise(curve))
    for rate in (50.0, 120.0, 1000.0):
        character = point_mass(mass=2.0)
        world = World(character, [], rate=rate, pushes=[Push("body", curve, 7 / 0.3, start=0.111)])
        for _ in range(round(0.6 * rate)):
            world.step()
        fallen = np.array([0.0, 0.0, -GRAVITY * 2.0 * world.time])
        np.testing.assert_allclose(2.0 * world.v[:3], impulse + fallen, rtol=1e-9, atol=1e-9)


def test_impulse_at_a_point_gives_its_momentum_and_moment():
    character = point_mass(mass=2.0, inertia=0.5)
    world = World(character, [])
    q = world.q
    world.apply_impulse("body", (1.0, 2.0, 3.0), (0.0, 0.3, 0.0))
    world.step()
    momentum = dynamics.momentum(character, q, world.v)
    np.testing.assert_allclose(momentum[:3], [1.0, 2.0, 3.0 - 2.0 * GRAVITY * world.dt], rtol=1e-12)
    np.testing.assert_allclose(momentum[3:], np.cross([0.0, 0.3, 0.0], [1.0, 2.0, 3.0]), rtol=1e-12)


def in_mid_range(character):
    """A pose away from every limit: knees and elbows bent."""
    q = character.neutral()
    start = character.tree.position_start
    for b, body in enumerate(character.bodies):
        if body.joint.kind == "hinge":
            q[start[b]] = 0.5 * (body.joint.limits[0].lower + body.joint.limits[0].upper)
    return q


@pytest.mark.parametrize("kind", ["point", "full"])
@pytest.mark.parametrize("held", [["left_foot"], ["left_foot", "right_foot"], ["left_foot", "left_shank", "torso"]])
def test_feet_held_where_they_stand(held, kind):
    """Grabs leave the contacts under a foot little or nothing to decide; together they carry the weight."""
    character = locked(Character.preset("muico29"))
    world = World(character, grabs=[Grab(name, kind=kind) for name in held])
    start = world.q
    for _ in range(120):
        world.step()
    np.testing.assert_allclose(world.q, start, atol=1e-9)
    force = world.grab_forces[:, :3].sum(axis=0) + world.contacts.force.sum(axis=0)
    np.testing.assert_allclose(force, [0.0, 0.0, character.total_mass * GRAVITY], atol=1e-6)


def test_person_whose_every_body_is_held_hangs_in_the_air():
    character = Character.preset("muico29")
    world = World(character, grabs=[Grab(body.name, kind="full") for body in character.bodies])
    start = world.q
    for _ in range(60):
        world.step()
    np.testing.assert_allclose(world.q, start, atol=1e-9)


def test_hand_drawn_to_the_floor_by_a_grab_rests_there():
    world = World(Character.preset("muico29"), grabs=[Grab("left_hand", kind="full", anchor=(0.5, 0.5, 0.0))])
    for _ in range(480):
        world.step()
    hand = world.poses()[0][world.body_index["left_hand"]]
    np.testing.assert_allclose(hand, [0.5, 0.5, 0.0], atol=1e-6)
    assert np.abs(world.v).max() < 1e-3


def test_momentum_in_free_flight():
    character = Character.preset("jain42")
    rng = np.random.default_rng(0)
    world = World(character, [])
    v = rng.normal(scale=0.5, size=character.nv)
    world.reset(in_mid_range(character), v)
    start = dynamics.centroidal_momentum(character, world.q, world.v)
    for _ in range(24):
        world.step()
        momentum = dynamics.centroidal_momentum(character, world.q, world.v)
        momentum[:3] -= character.total_mass * np.array(character.gravity) * world.time
        np.testing.assert_allclose(momentum, start, rtol=0, atol=1e-9 * np.abs(start).max())


def test_props_in_flight_conserve_momentum_each_by_itself():
    box = Prop.box("box", (0.1, 0.2, 0.3), 2.0, (5.0, 3.0, 9.0), velocity=(1.0, 2.0, 3.0, 4.0, 5.0, 6.0))
    character = locked(Character.preset("muico29"))
    world = World(character, [], props=[box])
    alone = Character("alone", (box.body,))
    q, v = prop_state(world)
    start = dynamics.centroidal_momentum(alone, q, v)
    for _ in range(240):
        world.step()
    q, v = prop_state(world)
    momentum = dynamics.centroidal_momentum(alone, q, v)
    momentum[:3] -= 2.0 * np.array(character.gravity) * world.time
    np.testing.assert_allclose(momentum, start, rtol=1e-9)
