# SPDX-License-Identifier: GPL-3.0-or-later
"""Hits: thrown and swinging props give the body their momentum, all of it is accounted for, and it is felt."""

import numpy as np
import pytest
from heft.core.character import Character
from heft.core.control.recovery.hits import FELT, Hits, force_of_things
from heft.core.dynamics import momentum
from heft.core.simulation import Grab, Prop, World
from heft.core.simulation.props import Hinge
from heft.core.simulation.scene import Scene

CHEST = (0.0, 0.0, 1.25)


def person(gravity=(0.0, 0.0, 0.0)):
    character = Character.preset("muico29")
    return Character(character.name, character.bodies, character.contacts, gravity)


def thrown(mass, speed):
    """A ball on its way to the chest from behind."""
    return Prop.sphere("ball", 0.11, mass, (-0.5, 0.02, CHEST[2]), velocity=(speed, 0.0, 0.0, 0.0, 0.0, 0.0))


def floating(prop, **changes):
    """A person who floats limply in the way of a prop, without gravity or ground."""
    return World(person(), [], props=[prop], **changes)


def ball_momentum(world, mass):
    return mass * world.system_v[world.character.nv : world.character.nv + 3]


def test_what_a_thrown_ball_loses_the_body_gains_and_the_contacts_tell():
    world = floating(thrown(5.0, 8.0))
    gained, told = momentum(world.character, world.q, world.v)[:3], np.zeros(3)
    lost = ball_momentum(world, 5.0)
    for _ in range(60):
        world.step()
        told += force_of_things(world) * world.dt
    gained = momentum(world.character, world.q, world.v)[:3] - gained
    lost = lost - ball_momentum(world, 5.0)
    assert gained[0] > 20.0
    np.testing.assert_allclose(gained, lost, atol=1e-8)
    np.testing.assert_allclose(told, lost, atol=1e-8)


def test_what_a_swinging_door_loses_the_body_gains():
    """About its hinge the door loses the moment of what it gives: I w."""
    mass, half = 20.0, (0.02, 0.45, 0.9)
    hinge = Hinge((0.0, 0.0, 1.0), (0.0, -half[1], 0.0))
    door = Prop.box("door", half, mass, (-0.6, 0.3, 1.0), hinge=hinge, velocity=(-4.0,))
    inertia = mass * (half[0] ** 2 + half[1] ** 2) / 3.0 + mass * half[1] ** 2
    world = floating(door)
    before, told, moment = world.system_v[world.character.nv], np.zeros(3), 0.0
    own = len(world.character.bodies)
    for _ in range(90):
        world.step()
        told += force_of_things(world) * world.dt
        pivot = world.poses()[0][own]
        contacts = world.contacts
        for body, other, point, force in zip(
            contacts.body, contacts.other, contacts.point, contacts.force, strict=True
        ):
            sign = 1.0 if body == own else -1.0 if other == own else 0.0
            moment += sign * np.cross(point - pivot, force)[2] * world.dt
    after = world.system_v[world.character.nv]
    gained = momentum(world.character, world.q, world.v)[:3]
    assert abs(after - before) > 0.5
    assert inertia * (after - before) == pytest.approx(moment, rel=0.02)
    np.testing.assert_allclose(gained, told, atol=1e-8)


def felt(world, scene, seconds):
    """The times at which a hit ends that is felt."""
    hits, found = Hits(scene, {body.name for body in world.character.bodies}), []
    for _ in range(round(seconds * world.rate)):
        world.step()
        if hits.ended(world):
            found.append(world.time)
    return found


def test_a_hit_is_felt_once_when_it_is_over():
    ball = thrown(1.0, 8.0)
    world = floating(ball)
    (time,) = felt(world, Scene(props=(ball,)), 0.6)
    touched = (0.5 - 0.13 - 0.11) / 8.0
    assert touched < time < touched + 0.4


def test_a_tap_is_not_felt():
    ball = thrown(0.9 * FELT / 8.0, 8.0)
    assert felt(floating(ball), Scene(props=(ball,)), 0.6) == []


def test_what_is_held_does_not_hit():
    ball = thrown(1.0, 8.0)
    grab = Grab("left_hand", other="ball", start=10.0)
    assert felt(floating(ball, grabs=[grab]), Scene(props=(ball,), grabs=(grab,)), 0.6) == []


def test_what_bears_the_body_does_not_hit_it():
    """A limp body comes down onto a block."""
    block = Prop.box("block", (0.6, 0.6, 0.2), 200.0, (0.0, 0.0, 0.2))
    character = person((0.0, 0.0, -9.81))
    world = World(character, props=[block])
    q = character.neutral()
    q[2] += 0.45
    world.reset(q)
    hits = Hits(Scene(props=(block,)), {body.name for body in character.bodies})
    for _ in range(36):
        world.step()
        assert not hits.ended(world)
    assert force_of_things(world)[2] > 100.0
    np.testing.assert_array_equal(hits.impulse, 0.0)
