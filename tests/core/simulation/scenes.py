# SPDX-License-Identifier: GPL-3.0-or-later
"""Worlds with a known answer."""

from dataclasses import replace

import numpy as np
from heft.core.character import Body, Character, Joint
from heft.core.contact.terrain import Plane
from heft.core.simulation import Prop, World


def bystander():
    """A world needs a character: a body on a hinge, far away, that does nothing."""
    joint = Joint("bystander", "hinge", axes=((0.0, 0.0, 1.0),))
    return Character("bystander", (Body("bystander", None, joint, 1.0, np.eye(3), position=(0.0, 0.0, 50.0)),))


def point_mass(mass=1.0, inertia=0.01):
    """One free body without shapes."""
    return Character("body", (Body("body", None, Joint("root", "free"), mass, inertia * np.eye(3)),))


def locked(character):
    """The same person cast in one piece: every joint but the root is fixed."""
    bodies = [
        body if body.parent is None else replace(body, joint=Joint(body.joint.name, "fixed"))
        for body in character.bodies
    ]
    return Character(f"{character.name} locked", tuple(bodies), character.contacts)


def slope(degrees, friction, **kwargs):
    """A block lying on a plane that falls towards +x; `turn` degrees about the normal, `downhill` speed."""
    angle = np.radians(degrees)
    normal = np.array([np.sin(angle), 0.0, np.cos(angle)])
    tilt = (np.cos(angle / 2), 0.0, np.sin(angle / 2), 0.0)
    velocity = kwargs.pop("speed", 0.0) * np.array([np.cos(angle), 0.0, -np.sin(angle)])
    box = Prop.box(
        "box", (0.1, 0.1, 0.05), 3.0, tuple(0.05 * normal), orientation=tilt, velocity=(*velocity, 0.0, 0.0, 0.0)
    )
    terrain = [Plane(normal=tuple(normal), friction=friction)]
    return World(bystander(), terrain, props=[box], **kwargs)


def prop_state(world):
    """Positions and velocities of the props."""
    return world.system_q[world.character.nq :], world.system_v[world.character.nv :]
