# SPDX-License-Identifier: GPL-3.0-or-later
"""The character of Muico et al. 2009: 29 degrees of freedom.

U. Muico, Y. Lee, J. Popović and Z. Popović, "Contact-aware Nonlinear Control of Dynamic Characters", ACM
Transactions on Graphics 28(3), section 5.1.

Masses and inertias are those of table 1; trunk, hips and shoulders are balls, ankles universal, knees and elbows
hinges, and clavicles, hands, neck and head are welded on. The table's axes are to the side (x), up (y) and forward (z):
its clavicle, which runs to the side, is slimmest about x, and its foot, which runs forward, about z.

The paper prints no lengths: those here are of a person of 1.75 m (person.py). Centres of mass lie where de Leva (1996)
puts them in men.
"""

import numpy as np

from ..anthropometry import DE_LEVA
from ..character import Character
from ..check import Vector
from ..mass import Mass
from ..parts import Body, ContactShape, Joint
from . import person
from .person import SIDES

STATURE = 1.75

# Muico et al. 2009, table 1: mass, I_x (to the side), I_y (up), I_z (forward).
TABLE_1 = {
    "pelvis": (12.8, 0.120, 0.148, 0.174),
    "thigh": (9.01, 0.208, 0.0356, 0.204),
    "shank": (3.91, 0.0600, 8.70e-3, 0.0585),
    "foot": (0.757, 1.99e-3, 1.99e-3, 1.16e-4),
    "torso": (17.0, 0.281, 0.167, 0.335),
    "clavicle": (2.51, 6.91e-3, 0.0111, 0.0111),
    "arm": (1.42, 0.0133, 1.40e-3, 0.0132),
    "forearm": (0.570, 3.00e-3, 3.00e-4, 3.00e-3),
    "hand": (0.451, 2.18e-4, 1.30e-5, 2.18e-4),
    "neck": (0.230, 2.00e-4, 2.00e-4, 2.00e-4),
    "head": (4.07, 0.0248, 0.0176, 0.0200),
}


def make() -> Character:
    """The 29-DOF character: 18 bodies, 71.4 kg."""
    size = person.proportions(STATURE)
    center = {name: line.center for name, line in DE_LEVA["male"].items()}
    chest = size.shoulder_height - size.waist
    neck = size.head_height - size.neck_height
    bodies: list[Body] = [
        person.body("pelvis", None, Joint("root", "free"), _mass("pelvis", (0.0, 0.0, 0.03)), (0, 0, size.hip_height)),
        person.body(
            "torso",
            "pelvis",
            person.ball("trunk", person.UP, 50.0, 45.0, forward=20.0),
            _mass("torso", (0.0, 0.0, 0.5 * chest)),
            (0.0, 0.0, size.waist),
        ),
        person.body(
            "neck",
            "torso",
            Joint("neck", "fixed"),
            _mass("neck", (0.0, 0.0, 0.5 * neck)),
            (0.0, 0.0, size.neck_height - size.waist),
        ),
        person.body("head", "neck", Joint("head", "fixed"), _mass("head", (0.01, 0.0, 0.09)), (0.0, 0.0, neck)),
    ]
    contacts: list[ContactShape] = [
        person.limb("pelvis", (0.0, size.hip, 0.04), (0.0, -size.hip, 0.04), 0.10),
        person.limb("torso", (0.0, 0.0, 0.08), (0.0, 0.0, chest - 0.08), 0.13),
        person.knob("head", (0.01, 0.0, 0.10), 0.10),
    ]
    for side, sign in SIDES:
        names = {part: f"{side}_{part}" for part in ("clavicle", "arm", "forearm", "hand", "thigh", "shank", "foot")}
        sternum = 0.02 * sign
        bodies += [
            person.body(
                names["clavicle"],
                "torso",
                Joint(names["clavicle"], "fixed"),
                _mass("clavicle", (0.0, 0.5 * (sign * size.shoulder - sternum), 0.0)),
                (0.0, sternum, chest),
            ),
            person.body(
                names["arm"],
                names["clavicle"],
                person.shoulder(side, sign),
                _mass("arm", (0.0, 0.0, -center["upper_arm"] * size.upper_arm)),
                (0.0, sign * size.shoulder - sternum, 0.0),
            ),
            person.body(
                names["forearm"],
                names["arm"],
                person.elbow(side),
                _mass("forearm", (0.0, 0.0, -center["forearm"] * size.forearm)),
                (0.0, 0.0, -size.upper_arm),
            ),
            person.body(
                names["hand"],
                names["forearm"],
                Joint(names["hand"], "fixed"),
                _mass("hand", (0.0, 0.0, -center["hand"] * size.hand)),
                (0.0, 0.0, -size.forearm),
            ),
            person.body(
                names["thigh"],
                "pelvis",
                person.hip(side),
                _mass("thigh", (0.0, 0.0, -center["thigh"] * size.thigh)),
                (0.0, sign * size.hip, 0.0),
            ),
            person.body(
                names["shank"],
                names["thigh"],
                person.knee(side),
                _mass("shank", (0.0, 0.0, -center["shank"] * size.shank)),
                (0.0, 0.0, -size.thigh),
            ),
            person.body(
                names["foot"],
                names["shank"],
                person.ankle(side),
                _mass("foot", (center["foot"] * (size.heel + size.toe) - size.heel, 0.0, -0.5 * size.ankle)),
                (0.0, 0.0, -size.shank),
            ),
        ]
        contacts += person.limbs(side, size)
    return Character("muico29", tuple(bodies), tuple(contacts))


def _mass(part: str, center: Vector) -> Mass:
    """A line of table 1, turned from its axes (side, up, forward) to ours (forward, left, up)."""
    mass, side, up, forward = TABLE_1[part]
    return Mass(mass, np.array(center), np.diag([forward, side, up]))
