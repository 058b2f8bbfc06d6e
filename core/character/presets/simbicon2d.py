# SPDX-License-Identifier: GPL-3.0-or-later
"""SIMBICON's planar body as da Silva used it: torso, head, two arms and two legs, 51 kg.

Masses and inertias: table 3.2, "2D Model", of his thesis (planar.py). All joints are hinges; the root is free, and the
body stays in its plane because it starts there and nothing pushes it out: both legs stand in the plane, on soles of a
foot's width.
"""

from ..character import Character
from ..parts import Body, ContactShape, Joint
from . import person, planar
from .person import SIDES
from .planar import length


def make() -> Character:
    """The planar biped: 12 bodies, 11 hinges."""
    hips = length("thigh") + length("shin") + planar.ANKLE_HEIGHT
    top = (0.0, 0.0, length("torso"))
    bodies: list[Body] = [
        person.body("torso", None, Joint("root", "free"), planar.upright("torso", 1.0), (0.0, 0.0, hips)),
        person.body("head", "torso", person.hinge("neck", -50.0, 50.0), planar.upright("head", 1.0), top),
    ]
    contacts: list[ContactShape] = [person.knob("head", (0.0, 0.0, 0.5 * length("head")), 0.5 * length("head"))]
    for side, _ in SIDES:
        bodies += limbs(f"{side}_", "torso")
        contacts += shapes(f"{side}_", side)
    return Character("simbicon2d", tuple(bodies), tuple(contacts))


def limbs(prefix: str, torso: str) -> list[Body]:
    """One arm and one leg."""
    ankle = (0.0, 0.0, -length("shin"))
    parts = (
        ("upper_arm", torso, "shoulder", (-180.0, 60.0), (0.0, 0.0, length("torso"))),
        ("lower_arm", f"{prefix}upper_arm", "elbow", (-150.0, 0.0), (0.0, 0.0, -length("upper_arm"))),
        ("thigh", torso, "hip", (-120.0, 30.0), (0.0, 0.0, 0.0)),
        ("shin", f"{prefix}thigh", "knee", (0.0, 150.0), (0.0, 0.0, -length("thigh"))),
    )
    bodies = [
        person.body(
            f"{prefix}{part}", parent, person.hinge(f"{prefix}{joint}", *ends), planar.upright(part, -1.0), place
        )
        for part, parent, joint, ends, place in parts
    ]
    joint = person.hinge(f"{prefix}ankle", -30.0, 50.0)
    return [*bodies, person.body(f"{prefix}foot", f"{prefix}shin", joint, planar.foot(), ankle)]


def shapes(prefix: str, side: str) -> list[ContactShape]:
    """The hand's end of an arm, and a sole."""
    hand = person.knob(f"{prefix}lower_arm", (0.0, 0.0, -length("lower_arm")), 0.03)
    toe = length("foot") - planar.HEEL
    return [hand, *person.sole(side, f"{prefix}foot", planar.HEEL, toe, planar.HALF_WIDTH, planar.ANKLE_HEIGHT)]
