# SPDX-License-Identifier: GPL-3.0-or-later
"""How much torque a person's joints give, from the body's mass and sex.

Figures are means of what young adults reach on dynamometers, isometrically, in each joint's strongest direction:

    hip, knee, ankle  D. E. Anderson, M. L. Madigan, M. A. Nussbaum, "Maximum voluntary joint torque as a function of
                      joint angle and angular velocity: model development and application to the lower limb", Journal of
                      Biomechanics 40(14), 2007, table 3, c1 at ages 18 to 25: shares of weight times stature, here
                      times the stature that anthropometry.py counts on
    shoulder          flexion of 90 N m for men (26 men of 75 kg), and half as much for women (25), statically with the
                      arm at the side
    trunk, elbow      T. J. Stobbe, "The development of a practical strength testing program for industry",
                      University of Michigan, 1982 (in D. B. Chaffin, G. B. J. Andersson, "Occupational Biomechanics"):
                      medians of trunk extension 234 and 184 N m, elbow flexion 77 and 41 N m for men and women, here
                      of 75 and 62 kg

They are for a person's mean effort against a machine. What a body gives for a moment is more: muscles that are being
stretched give up to half as much again, and athletes twice the mean. `Strength` is a factor of them.
"""

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from .anthropometry import MEAN_STATURE, Sex
from .character import Character
from .joint_roles import Role, role
from .tree import FREE

GRAVITY = 9.81  # m/s²
OF_WEIGHT_AND_STATURE: Mapping[Sex, Mapping[Role, float]] = {
    "female": {"hip": 0.181, "knee": 0.159, "ankle": 0.104},
    "male": {"hip": 0.161, "knee": 0.163, "ankle": 0.095},
}
OF_MASS: Mapping[Sex, Mapping[Role, float]] = {  # N m/kg
    "female": {"trunk": 184.0 / 62.0, "shoulder": 45.0 / 62.0, "elbow": 41.0 / 62.0},
    "male": {"trunk": 234.0 / 75.0, "shoulder": 90.0 / 75.0, "elbow": 77.0 / 75.0},
}


def mean_strength(what: Role, sex: Sex, mass: float) -> float:
    """The greatest torque of a joint in a body of that mass, N m."""
    if what in OF_MASS[sex]:
        return OF_MASS[sex][what] * mass
    return OF_WEIGHT_AND_STATURE[sex][what] * mass * GRAVITY * MEAN_STATURE[sex]


def motor_strengths(character: Character, sex: Sex) -> NDArray[np.float64]:
    """The same of each of its motors (nv, less six of a free root), in the order of its velocities."""
    tree = character.tree
    names = [character.bodies[b].name for b in tree.velocity_body[6 if tree.joint[0] == FREE else 0 :]]
    return np.array([mean_strength(role(name), sex, character.total_mass) for name in names])


def joint_strengths(character: Character, sex: Sex) -> dict[str, float]:
    """The same by name of each joint that moves."""
    return {
        body.joint.name: mean_strength(role(body.name), sex, character.total_mass)
        for body in character.bodies
        if body.joint.kind not in {"free", "fixed"}
    }
