# SPDX-License-Identifier: GPL-3.0-or-later
"""The seven-link planar diver of da Silva 2010, chapter 6, after Sok, Kim and Lee 2007: 32 kg.

The thesis gives it "one set of extremities" and the same planar figures as the biped (planar.py): torso, head, upper
and lower arm, thigh, shin and foot. It flies, so its root is free.
"""

from ..character import Character
from ..parts import Joint
from . import person, planar, simbicon2d
from .planar import length


def make() -> Character:
    """The diver: 7 bodies, 6 hinges, upright with its arm hanging."""
    hips = length("thigh") + length("shin") + planar.ANKLE_HEIGHT
    top = (0.0, 0.0, length("torso"))
    bodies = (
        person.body("torso", None, Joint("root", "free"), planar.upright("torso", 1.0), (0.0, 0.0, hips)),
        person.body("head", "torso", person.hinge("neck", -50.0, 50.0), planar.upright("head", 1.0), top),
        *simbicon2d.limbs("", "torso"),
    )
    head = person.knob("head", (0.0, 0.0, 0.5 * length("head")), 0.5 * length("head"))
    return Character("diver7", bodies, (head, *simbicon2d.shapes("", "foot")))
