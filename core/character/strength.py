# SPDX-License-Identifier: GPL-3.0-or-later
"""How much torque a person's joints give, from the body's mass and sex.

Figures are means of what young adults reach on dynamometers, isometrically, in each joint's strongest direction:

    hip, knee, ankle  D. E. Anderson, M. L. Madigan, M. A. Nussbaum, "Maximum voluntary joint torque as a function of
                      joint angle and angular velocity: model development and application to the lower limb", Journal of
                      Biomechanics 40(14), 2007, table 3, c1 at ages 18 to 25: shares of weight times stature, here
                      times the stature that anthropometry.py counts on
    shoulder          static flexion of 89.9 N m for men (26) with the arm at the side, and half as much for women (25):
                      abstract of "Dynamic shoulder flexion strength for use in occupational risk analysis and clinical
                      assessment"; here of 75 and 62 kg
    elbow             isometric flexion of T. Harbo, J. Brincks, H. Andersen, "Maximal isokinetic and isometric muscle
                      strength of major muscle groups related to age, body mass, height, and sex in 178 healthy
                      subjects", European Journal of Applied Physiology 112, 2012: their regressions, at an age of 25
                      and that stature: 50 N m for a man of 75 kg, 30 for a woman of 62
    trunk             extension of men, 288, 232 and 171 N m when bent forward by 20, 40 and 60 degrees: D. B. Chaffin,
                      G. B. J. Andersson, B. J. Martin, "Occupational Biomechanics", 1999, table 4.5, as quoted in
                      Journal of Electromyography and Kinesiology 22(6), 2012, pages 814 to 820, table 2. Here the
                      middle one, of 75 kg. For women no mean was found: the same share of weight times stature, which
                      is what sexes differ in little (abstract of "Posture-dependent isometric trunk extension and
                      flexion strength in normal male and female subjects"). That makes 191 N m at 62 kg, and is high:
                      101 women gave 38 to 168, in a posture that is not told (abstract of M. Nordin et al., "Normal
                      trunk muscle strength and endurance in women", part 1, 1987). Nor was one found for bending aside
                      and twisting, which are weaker (extension, flexion, rotation, in that order: a database of 27,176
                      subjects, Isokinetics and Exercise Science 5, 1995); they are given as much

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
TRUNK = 232.0 / (75.0 * GRAVITY * MEAN_STATURE["male"])
OF_WEIGHT_AND_STATURE: Mapping[Sex, Mapping[Role, float]] = {
    "female": {"hip": 0.181, "knee": 0.159, "ankle": 0.104, "trunk": TRUNK},
    "male": {"hip": 0.161, "knee": 0.163, "ankle": 0.095, "trunk": TRUNK},
}
SHOULDER: Mapping[Sex, float] = {"female": 45.0 / 62.0, "male": 90.0 / 75.0}  # N m/kg
AGE = 25.0
# Harbo et al.: N m, and per year, metre and kilogram
ELBOW: Mapping[Sex, tuple[float, float, float, float]] = {
    "female": (6.9, -0.13, 9.0, 0.18),
    "male": (-23.8, -0.13, 22.0, 0.51),
}


def mean_strength(what: Role, sex: Sex, mass: float) -> float:
    """The greatest torque of a joint in a body of that mass, N m."""
    if what == "shoulder":
        return SHOULDER[sex] * mass
    if what == "elbow":
        base, per_year, per_metre, per_kilogram = ELBOW[sex]
        return base + per_year * AGE + per_metre * MEAN_STATURE[sex] + per_kilogram * mass
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
