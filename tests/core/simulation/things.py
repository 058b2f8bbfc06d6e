# SPDX-License-Identifier: GPL-3.0-or-later
"""Small characters whose motion has a closed form."""

from dataclasses import replace

import numpy as np
from heft.core.character import Body, Character, Corner, Joint
from heft.core.character.mass import box

GRAVITY = 9.81


def block(size=(0.4, 0.3, 0.2), mass=2.0, gravity=(0.0, 0.0, -GRAVITY)):
    """A free block whose eight corners touch; it starts with its lower face on z = 0."""
    corners = tuple(
        Corner(f"corner_{i}{j}{k}", "block", (x * size[0] / 2, y * size[1] / 2, z * size[2] / 2))
        for i, x in enumerate((-1, 1))
        for j, y in enumerate((-1, 1))
        for k, z in enumerate((-1, 1))
    )
    inertia = tuple(map(tuple, box(mass, size).inertia.tolist()))
    body = Body("block", None, Joint("root", "free"), mass, inertia, position=(0.0, 0.0, size[2] / 2))
    return Character("block", (body,), corners, gravity)


def tilted_gravity(slope, heading=0.0):
    """Gravity on a plane z = 0 that stands for one which falls by `slope` (rad) in the direction `heading`."""
    down = GRAVITY * np.sin(slope)
    return (down * np.cos(heading), down * np.sin(heading), -GRAVITY * np.cos(slope))


def pendulum(length=1.0, mass=1.0, root="hinge"):
    """A thin rod that hangs from the origin along -Z, or floats there."""
    across = mass * length**2 / 12
    inertia = ((across, 0.0, 0.0), (0.0, across, 0.0), (0.0, 0.0, 1e-4))
    axes = ((0.0, 1.0, 0.0),) if root == "hinge" else ()
    body = Body("rod", None, Joint("pivot", root, axes), mass, inertia, (0.0, 0.0, -length / 2))
    return Character("pendulum", (body,))


def locked(character):
    """The same character with every joint but the root's fixed."""
    return with_joints(character, lambda joint: Joint(joint.name, "fixed"))


def unlimited(character):
    """The same character without joint limits and without contacts."""
    return with_joints(character, lambda joint: replace(joint, limits=None)).with_contacts(())


def with_joints(character, change):
    """The same character with every joint but the root's changed."""
    bodies = tuple(
        body if body.parent is None else replace(body, joint=change(body.joint)) for body in character.bodies
    )
    return Character(character.name, bodies, character.contacts, character.gravity)


def simulate(world, seconds, action=None):
    """Step for some time; the positions at every step."""
    positions = [world.q]
    for _ in range(round(seconds / world.dt)):
        world.step(action)
        positions.append(world.q)
    return np.array(positions)
