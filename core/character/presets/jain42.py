# SPDX-License-Identifier: GPL-3.0-or-later
"""The character of Jain and Liu 2011: 18 rigid links and 42 degrees of freedom.

S. Jain and C. K. Liu, "Modal-Space Control for Articulated Characters", ACM Transactions on Graphics 30(5), section 7.

The paper prints neither links nor masses. Ours are a man of 67 kg and 1.75 m: pelvis, abdomen, thorax, head, and on
either side clavicle, arm, forearm, hand, thigh, shank and foot. The lower back bends forward and sideways but does not
twist; neck, upper back, shoulders and hips are balls; clavicles, wrists and ankles universal; elbows and knees hinges.
Masses are de Leva's (1996) for men; each shoulder girdle takes 0.8 kg off the upper trunk. Joints are without stiffness
and damping: the paper's stiffness belongs to its controller.
"""

from ..anthropometry import Segment, segment_mass
from ..character import Character
from ..check import Vector
from ..mass import Mass, cylinder
from ..parts import Body, ContactShape, Joint
from . import person
from .person import PITCH, ROLL, SIDES

STATURE = 1.75
TOTAL_MASS = 67.0
CLAVICLE_MASS = 0.8


def make() -> Character:
    """The 42-DOF character: 18 bodies, 67 kg."""
    size = person.proportions(STATURE)
    # Heights above the hips. De Leva's xiphion and omphalion divide the way from hips to C7 in men as 0.24, 0.36, 0.40.
    omphalion, xiphion = 0.24 * size.neck_height, 0.60 * size.neck_height
    lower_trunk = _segment("lower_trunk", (0.0, 0.0, omphalion), (0.0, 0.0, 0.0))
    middle_trunk = _segment("middle_trunk", (0.0, 0.0, xiphion - omphalion), (0.0, 0.0, 0.0))
    upper_trunk = _segment("upper_trunk", (0.0, 0.0, size.neck_height - xiphion), (0.0, 0.0, 0.0))
    # The thorax is the upper trunk, thinned evenly by what the shoulder girdles weigh.
    rest = 1.0 - 2.0 * CLAVICLE_MASS / upper_trunk.mass
    thorax = Mass(rest * upper_trunk.mass, upper_trunk.center, rest * upper_trunk.inertia)
    head = size.vertex_height - size.neck_height
    shoulder = size.shoulder_height - xiphion
    bodies: list[Body] = [
        person.body("pelvis", None, Joint("root", "free"), lower_trunk, (0.0, 0.0, size.hip_height)),
        person.body(
            "abdomen",
            "pelvis",
            person.universal("lower_back", (PITCH, -25.0, 60.0), (ROLL, -25.0, 25.0)),
            middle_trunk,
            (0.0, 0.0, omphalion),
        ),
        person.body(
            "thorax",
            "abdomen",
            person.ball("upper_back", person.UP, 35.0, 40.0, forward=10.0),
            thorax,
            (0.0, 0.0, xiphion - omphalion),
        ),
        person.body(
            "head",
            "thorax",
            person.ball("neck", person.UP, 55.0, 75.0),
            _segment("head", (0.0, 0.0, head), (0.0, 0.0, 0.0)),
            (0.0, 0.0, size.neck_height - xiphion),
        ),
    ]
    contacts: list[ContactShape] = [
        person.limb("pelvis", (0.0, size.hip, 0.04), (0.0, -size.hip, 0.04), 0.10),
        person.limb("abdomen", (0.0, 0.06, 0.08), (0.0, -0.06, 0.08), 0.10),
        person.limb("thorax", (0.0, 0.06, 0.10), (0.0, -0.06, 0.10), 0.12),
        person.knob("head", (0.01, 0.0, head - 0.10), 0.10),
    ]
    for side, sign in SIDES:
        names = {part: f"{side}_{part}" for part in ("clavicle", "arm", "forearm", "hand", "thigh", "shank", "foot")}
        sternum, reach = 0.02 * sign, sign * (size.shoulder - 0.02)
        # The foot's segment runs along the sole's middle height, from heel to toes.
        middle = -0.6 * size.ankle
        bodies += [
            person.body(
                names["clavicle"],
                "thorax",
                person.universal(names["clavicle"], (ROLL, -30.0, 30.0), (person.UP, -25.0, 25.0)),
                cylinder(CLAVICLE_MASS, (0.0, 0.0, 0.0), (0.0, reach, 0.0), 0.05),
                (0.0, sternum, shoulder),
            ),
            person.body(
                names["arm"],
                names["clavicle"],
                person.shoulder(side, sign),
                _segment("upper_arm", (0.0, 0.0, 0.0), (0.0, 0.0, -size.upper_arm)),
                (0.0, reach, 0.0),
            ),
            person.body(
                names["forearm"],
                names["arm"],
                person.elbow(side),
                _segment("forearm", (0.0, 0.0, 0.0), (0.0, 0.0, -size.forearm)),
                (0.0, 0.0, -size.upper_arm),
            ),
            # Palms face the thighs, so a hand's transverse axis points forward.
            person.body(
                names["hand"],
                names["forearm"],
                person.universal(f"{side}_wrist", (ROLL, -70.0, 70.0), (PITCH, -25.0, 35.0)),
                _segment("hand", (0.0, 0.0, 0.0), (0.0, 0.0, -size.hand), lateral=ROLL),
                (0.0, 0.0, -size.forearm),
            ),
            person.body(
                names["thigh"],
                "pelvis",
                person.hip(side),
                _segment("thigh", (0.0, 0.0, 0.0), (0.0, 0.0, -size.thigh)),
                (0.0, sign * size.hip, 0.0),
            ),
            person.body(
                names["shank"],
                names["thigh"],
                person.knee(side),
                _segment("shank", (0.0, 0.0, 0.0), (0.0, 0.0, -size.shank)),
                (0.0, 0.0, -size.thigh),
            ),
            person.body(
                names["foot"],
                names["shank"],
                person.ankle(side),
                _segment("foot", (-size.heel, 0.0, middle), (size.toe, 0.0, middle)),
                (0.0, 0.0, -size.shank),
            ),
        ]
        contacts += person.limbs(side, size)
    return Character("jain42", tuple(bodies), tuple(contacts))


def _segment(segment: Segment, start: Vector, end: Vector, lateral: Vector = PITCH) -> Mass:
    return segment_mass(segment, start, end, TOTAL_MASS, "male", lateral)
