# SPDX-License-Identifier: GPL-3.0-or-later
"""Limbs of one character: they pass through each other until that is heeded, and then they meet like anything else."""

from dataclasses import replace

import numpy as np
import pytest
from heft.core import dynamics
from heft.core.character import Body, Capsule, Character, Joint, Sphere
from heft.core.contact.terrain import Plane
from heft.core.control.falling import Falling
from heft.core.control.recovery.legs import segment_distance
from heft.core.simulation import DivergedError, Push, World
from heft.core.simulation.own_contact import FRICTION, PARTS, between_legs, deepest, own_pairs

APART, LENGTH, RADIUS, TURNS = 0.6, 0.4, 0.05, 2.0
MUICO = Character.preset("muico29")
RATE = 1000.0
DEPTHS = (Plane((0.0, 0.0, -10.0)),)  # a ground that nothing reaches


def pincers(root="fixed"):
    """Two arms without weight that turn about Z, side by side on a bar along Y, each with a ball of 1 kg at its end."""
    tiny = ((1e-6, 0.0, 0.0), (0.0, 1e-6, 0.0), (0.0, 0.0, 1e-6))
    arms = tuple(
        Body(
            side,
            "bar",
            Joint(f"{side}_hinge", "hinge", ((0.0, 0.0, 1.0),)),
            1.0,
            tiny,
            (LENGTH, 0.0, 0.0),
            position=(0.0, sign * APART / 2, 0.0),
        )
        for side, sign in (("left", 1.0), ("right", -1.0))
    )
    bar = Body("bar", None, Joint("root", root), 3.0, ((0.4, 0.0, 0.0), (0.0, 0.1, 0.0), (0.0, 0.0, 0.4)))
    balls = tuple(Sphere(arm.name, arm.name, (LENGTH, 0.0, 0.0), RADIUS) for arm in arms)
    return Character("pincers", (bar, *arms), balls, (0.0, 0.0, 0.0))


def energy(world):
    return 0.5 * world.v @ dynamics.mass_matrix(world.character, world.q) @ world.v


def closed(world, left, right=0.0, *, seconds=0.5):
    """The angles and speeds of two arms that turn towards each other, after some time."""
    v = np.zeros(world.character.nv)
    v[-2:] = -left, right
    world.reset(None, v)
    world.heed_itself()
    for _ in range(round(seconds * world.rate)):
        world.step()
    return world.q[-2:], world.v[-2:]


def test_balls_at_the_ends_of_two_arms_stop_where_they_touch():
    """APART - 2 LENGTH sin(angle) = 2 RADIUS, and what comes with the same speed from both sides stays there."""
    angles, speeds = closed(World(pincers(), DEPTHS, rate=RATE), TURNS, TURNS)
    touching = np.arcsin((APART - 2.0 * RADIUS) / (2.0 * LENGTH))
    np.testing.assert_allclose(angles, (-touching, touching), atol=1e-6)
    np.testing.assert_allclose(speeds, 0.0, atol=1e-9)


def test_a_ball_that_is_hit_shares_the_speed_of_the_one_that_comes():
    """Arms alike, that meet at the same angle a: the normal impulse halves the speed w, and friction slows both.

    Where they touch, half-way between the hinges, arms close at L cos a (w1 - w2) and slide at APART / 2 (w1 + w2).
    """
    lean = np.arcsin((APART / 2.0 - RADIUS) / LENGTH)
    world = World(pincers(), DEPTHS, rate=RATE)
    world.reset(np.array([-lean + 0.1, lean]), np.array([-TURNS, 0.0]))
    world.heed_itself()
    touched = 0
    while touched < 2:  # the first only closes the gap
        world.step()
        touched += bool(world.contacts.force.any())
    assert -world.q[0] == pytest.approx(lean, abs=2.0 * TURNS / RATE)
    shared = -0.5 * TURNS * (1.0 - FRICTION * 0.5 * APART / (LENGTH * np.cos(lean)))
    np.testing.assert_allclose(world.v, (shared, shared), rtol=0.01)


def test_a_free_body_keeps_its_momenta_when_its_limbs_meet():
    world = World(pincers("free"), DEPTHS, rate=RATE)
    v = np.zeros(world.character.nv)
    v[0], v[-2:] = 0.3, (-TURNS, 0.8 * TURNS)
    world.reset(None, v)
    world.heed_itself()
    before, had, touched = dynamics.centroidal_momentum(world.character, world.q, world.v), energy(world), False
    for _ in range(round(1.5 * RATE)):
        world.step()
        touched = touched or bool(world.contacts.force.any())
    assert touched
    after = dynamics.centroidal_momentum(world.character, world.q, world.v)
    np.testing.assert_allclose(after, before, atol=1e-9)
    assert energy(world) < 0.99 * had


def test_until_it_is_heeded_they_pass_through_each_other_to_the_same_bits():
    one, other = (World(pincers(), DEPTHS, rate=RATE) for _ in range(2))
    for world in (one, other):
        world.reset(None, np.array([-TURNS, TURNS]))
        for _ in range(400):
            world.step()
    np.testing.assert_array_equal(one.q, other.q)
    np.testing.assert_allclose(one.q, (-0.4 * TURNS, 0.4 * TURNS), atol=1e-12)
    assert not len(one.contacts.gap)


def test_what_begins_inside_is_parted_slowly_without_energy_and_does_not_go_in_again():
    """At PARTS m/s, by positions alone."""
    touching = np.arcsin((APART - 2.0 * RADIUS) / (2.0 * LENGTH))
    inside = touching + 0.1
    world = World(pincers(), DEPTHS, rate=RATE)
    world.reset(np.array([-inside, inside]), np.zeros(2))
    world.heed_itself()
    depth = 2.0 * RADIUS - (APART - 2.0 * LENGTH * np.sin(inside))
    for step in range(800):
        world.step()
        left = 2.0 * RADIUS - (APART - 2.0 * LENGTH * np.sin(world.q[1]))
        assert left >= depth - PARTS * (step + 1) / RATE - 1e-9
        assert energy(world) < 1e-12
    np.testing.assert_allclose(world.q, (-touching, touching), atol=1e-3)
    for torques, steps in (((-1.0, 1.0), 300), ((1.0, -1.0), 600), ((-1.0, 1.0), 1500)):  # in, out, and in again
        for _ in range(steps):
            world.step(np.array(torques) - world.v)
        if torques[0] < 0.0:
            np.testing.assert_allclose(world.q, (-touching, touching), atol=1e-3)
        else:
            assert abs(world.q[0]) < touching - 0.05


def test_as_deep_as_the_motion_has_them_they_may_be_when_it_is_pushed():
    """A push is heeded from the step on in which it acts; a motion's own depth, measured over its poses, is let be."""
    character = pincers("free")
    touching = np.arcsin((APART - 2.0 * RADIUS) / (2.0 * LENGTH))
    inside = touching + 0.05
    poses = np.array([character.neutral() for _ in range(3)])
    poses[1, -2:] = -inside, inside
    depth = deepest(character, poses)
    assert depth == pytest.approx(2.0 * RADIUS - (APART - 2.0 * LENGTH * np.sin(inside)))
    push = Push.constant("bar", (0.0, 0.0, 20.0), 0.2, 0.1)
    for own, ends in ((depth, inside), (np.zeros_like(depth), touching), (None, np.inf)):
        world = World(character, DEPTHS, rate=RATE, pushes=(push,), inside=own)
        world.reset()
        for _ in range(2000):
            world.step(np.array([-1.0, 1.0]) - world.v[-2:])
        if own is None:  # nothing is known of a motion, as of one that nobody follows
            assert world.q[-1] > inside + 0.5
            assert not world.heeds_itself
        else:
            np.testing.assert_allclose(world.q[-2:], (-ends, ends), atol=1e-3)


def test_joined_and_neighbouring_shapes_are_no_pairs():
    pairs = own_pairs(MUICO)
    assert ("pelvis", "torso") not in pairs
    assert ("torso", "head") not in pairs  # a neck without a shape is between them
    assert ("left_thigh", "right_thigh") in pairs
    assert ("left_shank", "right_toe_left") in pairs
    assert not any("toe" in a and "toe" in b for a, b in pairs)


def test_a_capsule_meets_the_trunk_it_hangs_from_by_another():
    """A rod folded back over its grandparent lies on it: sum of the radii away."""
    tiny = ((1e-4, 0.0, 0.0), (0.0, 1e-4, 0.0), (0.0, 0.0, 1e-4))
    rods = []
    parent = None
    for name in ("first", "second", "third"):
        joint = Joint(name, "hinge", ((0.0, 1.0, 0.0),)) if parent else Joint(name, "fixed")
        place = (0.5, 0.0, 0.0) if parent else (0.0, 0.0, 0.0)
        rods.append(Body(name, parent, joint, 1.0, tiny, (0.25, 0.0, 0.0), position=place))
        parent = name
    shapes = tuple(Capsule(rod.name, rod.name, (0.1, 0.0, 0.0), (0.4, 0.0, 0.0), 0.03) for rod in rods)
    world = World(Character("rods", tuple(rods), shapes, (0.0, 0.0, 0.0)), DEPTHS, rate=RATE)
    q = np.array([-1.4, -1.2])
    world.reset(q, np.zeros(2))
    world.heed_itself()
    for _ in range(2000):
        world.step(-2.0 * world.v + np.array([-1.0, -1.0]))
    position, quaternion = world.poses()
    assert len(world.contacts.gap)
    gap = world.contacts.gap[0]
    assert abs(gap) < 1e-5
    along = [np.array([1.0 - 2.0 * y * y, 0.0, -2.0 * w * y]) for w, _, y, _ in quaternion]
    ends = [position[b] + share * along[b] for b in (0, 2) for share in (0.1, 0.4)]
    assert segment_distance(*ends) == pytest.approx(0.06, abs=1e-5)


@pytest.mark.parametrize("seed", range(6))
def test_a_person_that_is_thrown_about_in_the_air_gains_no_energy_and_no_limb_goes_deeper(seed):
    """Limp, with random speeds: no step leaves more kinetic energy than the same step without the contacts.

    What turns faster than these 2 rad/s about every axis may come in deeper within a step: its way bends.
    """
    random = np.random.default_rng(seed)
    free = Character(MUICO.name, MUICO.bodies, MUICO.contacts, (0.0, 0.0, 0.0))
    world, without = World(free, DEPTHS), World(free, DEPTHS)
    v = 2.0 * random.normal(size=free.nv)
    world.reset(dynamics.integrate(free, free.neutral(), 0.3 * random.normal(size=free.nv), 1.0), v)
    world.heed_itself()
    touched, deepest = 0, 0.0
    for _ in range(240):
        without.load_state(world.save_state() | {"heeded": np.zeros(1, np.int64)})
        without.step()
        world.step()
        assert energy(world) <= energy(without) * (1.0 + 1e-3)
        touched += bool(world.contacts.force.any())
        deepest = min(deepest, world.contacts.gap.min(initial=0.0))
    assert touched > 5
    assert deepest > -0.01


@pytest.mark.parametrize("seed", range(3))
def test_a_fall_with_it_comes_to_rest(seed):
    random = np.random.default_rng(seed)
    world = World(MUICO)
    v = np.zeros(MUICO.nv)
    v[:2], v[3:6] = 2.0 * random.normal(size=2), 3.0 * random.normal(size=3)
    world.reset(MUICO.neutral(), v)
    world.heed_itself()
    falling, deepest = Falling(MUICO), 0.0
    for _ in range(300):
        try:
            world.step(falling)
        except DivergedError as error:
            pytest.fail(str(error))
        deepest = min(deepest, world.contacts.gap.min(initial=0.0))
    assert np.abs(world.v).max() < 0.5
    assert deepest > -0.01


def test_legs_pass_through_each_other_where_they_are_let_and_nothing_else_does():
    pairs = own_pairs(MUICO)
    legs = {pair for pair, of_legs in zip(pairs, between_legs(MUICO, pairs), strict=True) if of_legs}
    assert ("left_thigh", "right_shank") in legs
    assert ("left_shank", "right_toe_left") in legs
    assert not any("arm" in a + b or "hand" in a + b or "pelvis" in (a, b) for a, b in legs)
    touching = np.arcsin((APART - 2.0 * RADIUS) / (2.0 * LENGTH))
    character = pincers("free")
    bar, *arms = character.bodies
    bodies = (bar, *(replace(arm, name=f"{arm.name}_thigh") for arm in arms))
    balls = tuple(replace(ball, body=f"{ball.body}_thigh") for ball in character.contacts)
    thighs = Character("thighs", bodies, balls, (0.0, 0.0, 0.0))
    push = Push.constant("bar", (0.0, 0.0, 20.0), 0.0, 0.05)
    for crossing in (False, True):
        world = World(thighs, DEPTHS, rate=RATE, pushes=(push,), inside=np.zeros(len(own_pairs(thighs))))
        world.reset()
        for step in range(1500):
            world.step(np.array([-1.0, 1.0]) - world.v[-2:])
            if step == 10:
                assert world.heeds_itself
                world.let_legs_cross(crossing)
        if crossing:
            assert world.q[-1] > touching + 0.1
        else:
            assert world.q[-1] == pytest.approx(touching, abs=1e-3)


def test_it_is_part_of_the_state():
    """A rehearsal begins as the world that it is taken from, and one that is reset heeds nothing."""
    world = World(pincers(), DEPTHS, rate=RATE)
    closed(world, TURNS, 0.0, seconds=0.2)
    twin, copy = World(pincers(), DEPTHS, rate=RATE), world.copy()
    twin.load_state(world.save_state())
    for one in (world, twin, copy):
        for _ in range(200):
            one.step()
    np.testing.assert_array_equal(world.q, twin.q)
    np.testing.assert_array_equal(world.q, copy.q)
    world.reset(None, np.array([-TURNS, TURNS]))
    for _ in range(400):
        world.step()
    assert world.q[1] == pytest.approx(0.4 * TURNS)


def test_capsules_that_end_in_their_joints_meet_beyond_these_only():
    """At hips a few millimetres apart no joint can move thighs off each other: there is nothing to solve there."""
    start, end, radius = (0.0, 0.0, 0.0), (LENGTH, 0.0, 0.0), 0.5 * APART - 0.005
    arms = tuple(Capsule(name, name, start, end, radius) for name in ("left", "right"))
    world = World(pincers().with_contacts(arms), DEPTHS, rate=RATE)
    world.reset(np.array([0.5, -0.5]), np.zeros(2))
    world.heed_itself()
    world.step(np.array([-1.0, 1.0]))
    assert not len(world.contacts.gap)
    for _ in range(2000):
        world.step(np.array([-1.0, 1.0]))
    np.testing.assert_allclose(world.q, (-0.005 / LENGTH, 0.005 / LENGTH), atol=1e-4)
