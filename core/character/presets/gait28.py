# SPDX-License-Identifier: GPL-3.0-or-later
"""SIMBICON's three-dimensional body with toes as boxes: 28 joint degrees of freedom, and six of its free root.

K. Yin, K. Loken and M. van de Panne, "SIMBICON: Simple Biped Locomotion Control", ACM Transactions on Graphics 26(3),
2007, with the toes that S. Carensac, N. Pronost and S. Bouakaz gave it for low-frequency control. Balls at waist, neck,
shoulders and hips, universal ankles, hinges at elbows, knees and toes; hands are welded on.

Masses and inertias: M. da Silva, "Feedback Control for Simulated Characters", PhD thesis, MIT, 2010, table 3.2, "3D
SIMBICON", whose axes are to the side, up and forward, with the arms stretched out to the sides. (The hand's moments
there are some hundred times a real hand's. They are kept: arms swing slowly with them.) Places of joints and centres:
the skeleton of the DANCE animation system, to which these figures belong, here with arms hanging. Toes of 150 g are cut
off the foot, so that foot and toes together have its printed mass, centre and inertia.
"""

import numpy as np

from .. import check
from ..character import Character
from ..check import Vector
from ..mass import Mass, box, combine
from ..parts import Body, ContactShape, Corner, Joint
from . import person
from .person import SIDES

# da Silva 2010, table 3.2, "3D SIMBICON": mass, I_x (to the side), I_y (up), I_z (forward).
TABLE_3_2 = {
    "hip": (16.61, 0.0996, 0.1284, 0.1882),
    "trunk": (29.27, 0.498, 0.285, 0.568),
    "head": (6.89, 0.0416, 0.0309, 0.0331),
    "upper_arm": (2.79, 0.00056, 0.021, 0.021),
    "lower_arm": (1.21, 0.00055, 0.0076, 0.0076),
    "hand": (0.55, 0.05, 0.2, 0.16),
    "thigh": (8.35, 0.145, 0.0085, 0.145),
    "shin": (4.16, 0.069, 0.0033, 0.069),
    "foot": (1.34, 0.0056, 0.0056, 0.00036),
}

# The DANCE skeleton, in our axes (forward, left, up) from the ground under its midline; limbs are those of the left.
PELVIS = (0.011, 0.0, 0.9766)
HIP_CENTER = (0.0052, 0.0, 1.0172)
WAIST = (0.0552, 0.0, 1.1378)
TRUNK_CENTER = (0.0201, 0.0, 1.2841)
NECK = (0.0188, 0.0, 1.5304)
HEAD_CENTER = (0.0575, 0.0, 1.6791)
SHOULDER = (0.0214, 0.1768, 1.4732)
HIP = (0.011, 0.1118, 0.9766)
THIGH_CENTER = (0.0253, 0.0949, 0.7387)
KNEE = (0.0396, 0.078, 0.5008)
SHIN_CENTER = (0.0357, 0.0702, 0.285)
ANKLE = (0.0318, 0.0624, 0.0692)
FOOT_CENTER = (0.0708, 0.0624, 0.025)
UPPER_ARM, LOWER_ARM, HAND = 0.2652, 0.2756, 0.13  # lengths; their centres lie halfway

# Sole and toes, from the ankle. A box with the foot's mass and inertia would be 22 cm long, a man's foot is 27.
HEEL, BALL, TIP, HALF_WIDTH = -0.075, 0.125, 0.19, 0.045
TOE_MASS, TOE_HEIGHT = 0.15, 0.03


def make() -> Character:
    """The 34-velocity character: 17 bodies, 89.6 kg."""
    bodies: list[Body] = [
        person.body("pelvis", None, Joint("root", "free"), _mass("hip", HIP_CENTER, PELVIS), PELVIS),
        person.body(
            "trunk",
            "pelvis",
            person.ball("waist", person.UP, 50.0, 45.0, forward=20.0),
            _mass("trunk", TRUNK_CENTER, WAIST),
            _from(PELVIS, WAIST),
        ),
        person.body(
            "head",
            "trunk",
            person.ball("neck", person.UP, 55.0, 75.0),
            _mass("head", HEAD_CENTER, NECK),
            _from(WAIST, NECK),
        ),
    ]
    contacts: list[ContactShape] = [
        person.limb("pelvis", (0.0, 0.09, 0.04), (0.0, -0.09, 0.04), 0.10),
        person.limb("trunk", (-0.03, 0.0, 0.08), (-0.03, 0.0, 0.26), 0.13),
        person.knob("head", _from(NECK, (0.063, 0.0, 1.6968)), 0.10),
    ]
    for side, sign in SIDES:
        names = {part: f"{side}_{part}" for part in (*TABLE_3_2, "toes")}
        foot, toes = _foot_and_toes()
        knee, ankle = _from(HIP, KNEE, sign), _from(KNEE, ANKLE, sign)
        bodies += [
            person.body(
                names["upper_arm"],
                "trunk",
                person.shoulder(side, sign),
                _arm("upper_arm", UPPER_ARM),
                _from(WAIST, SHOULDER, sign),
            ),
            person.body(
                names["lower_arm"],
                names["upper_arm"],
                person.elbow(side),
                _arm("lower_arm", LOWER_ARM),
                (0.0, 0.0, -UPPER_ARM),
            ),
            person.body(
                names["hand"],
                names["lower_arm"],
                Joint(names["hand"], "fixed"),
                _arm("hand", HAND),
                (0.0, 0.0, -LOWER_ARM),
            ),
            person.body(
                names["thigh"],
                "pelvis",
                person.hip(side),
                _mass("thigh", THIGH_CENTER, HIP, sign),
                _from(PELVIS, HIP, sign),
            ),
            person.body(names["shin"], names["thigh"], person.knee(side), _mass("shin", SHIN_CENTER, KNEE, sign), knee),
            person.body(names["foot"], names["shin"], person.ankle(side), foot, ankle),
            person.body(
                names["toes"],
                names["foot"],
                person.hinge(names["toes"], -60.0, 20.0),
                toes,
                (BALL, 0.0, 0.5 * TOE_HEIGHT - ANKLE[2]),
            ),
        ]
        contacts += [
            person.limb(names["upper_arm"], (0.0, 0.0, 0.0), (0.0, 0.0, -UPPER_ARM), 0.04),
            person.limb(names["lower_arm"], (0.0, 0.0, 0.0), (0.0, 0.0, -LOWER_ARM), 0.035),
            person.knob(names["hand"], (0.0, 0.0, -0.5 * HAND), 0.05),
            person.limb(names["thigh"], _scaled(knee, 0.1), knee, 0.07),
            person.limb(names["shin"], (0.0, 0.0, 0.0), ankle, 0.06),
            *person.sole(side, names["foot"], -HEEL, BALL, HALF_WIDTH, ANKLE[2]),
            *(
                Corner(f"{side}_tip_{edge}", names["toes"], (TIP - BALL, y, -0.5 * TOE_HEIGHT))
                for edge, y in (("left", HALF_WIDTH), ("right", -HALF_WIDTH))
            ),
        ]
    return Character("gait28", tuple(bodies), tuple(contacts))


def _mass(part: str, center: Vector, origin: Vector, sign: float = 1.0) -> Mass:
    """A line of the table with its centre seen from the body's origin."""
    mass, side, up, forward = TABLE_3_2[part]
    return Mass(mass, np.array(_from(origin, center, sign)), np.diag([forward, side, up]))


def _arm(part: str, length: float) -> Mass:
    """A part of the arm turned from stretched out to hanging: what ran to the side runs down."""
    mass, along, up, forward = TABLE_3_2[part]
    return Mass(mass, np.array([0.0, 0.0, -0.5 * length]), np.diag([forward, up, along]))


def _foot_and_toes() -> tuple[Mass, Mass]:
    """The printed foot less its toes, seen from the ankle, and the toes, seen from their joint."""
    toes = box(TOE_MASS, (TIP - BALL, 2.0 * HALF_WIDTH, TOE_HEIGHT)).moved((0.5 * (TIP - BALL), 0.0, 0.0))
    there = toes.moved((BALL, 0.0, 0.5 * TOE_HEIGHT - ANKLE[2]))
    foot = combine([_mass("foot", FOOT_CENTER, ANKLE), Mass(-there.mass, there.center, -there.inertia)])
    return foot, toes


def _from(origin: Vector, point: Vector, sign: float = 1.0) -> Vector:
    """The way from one point of the skeleton to another, mirrored for the right side."""
    x, y, z = np.subtract(point, origin)
    return check.vector((x, sign * y, z), "way", "the skeleton")


def _scaled(way: Vector, factor: float) -> Vector:
    return way[0] * factor, way[1] * factor, way[2] * factor
