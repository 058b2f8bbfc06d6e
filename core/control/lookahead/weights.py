# SPDX-License-Identifier: GPL-3.0-or-later
"""Weights by role: what the look-ahead policy and contact adaptation care about (Muico et al. 2009, tables 2 and 3).

Characters made of rigs name their bodies as the paper's, so one set of weights serves all. Joints that the paper's
character lacks (neck, wrists, toes, clavicles) take the weights of the elbow, the lightest of its joints.
"""

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...character import Character
from ...character.joint_roles import Role, role
from ...character.tree import FREE
from .settings import Settings

Array = NDArray[np.float64]


class Line(NamedTuple):
    """A joint's line of table 2 and of table 3."""

    position: float  # [Q_q]
    velocity: float  # [Q_v]
    change: float  # [R] of torque from the reference's
    effort: float  # [P] of torque
    feature: float  # [W]


HEIGHT = (10.0, 12e-2)  # [Q_q], [Q_v]
LOCATION = (4.0, 12e-2)
ORIENTATION = (12.0, 8e-2)
JOINTS: Mapping[Role, Line] = {
    "trunk": Line(5.0, 4e-2, 1.0e-7, 0.40e-5, 0.64),
    "ankle": Line(8.0, 4e-2, 0.20e-7, 0.30e-5, 0.090),
    "knee": Line(10.0, 6e-2, 0.40e-7, 0.30e-5, 0.20),
    "hip": Line(11.0, 8e-2, 0.60e-7, 0.30e-5, 0.38),
    "shoulder": Line(2.0, 2e-2, 1.0e-7, 0.60e-5, 0.67),
    "elbow": Line(2.0, 2e-2, 1.0e-7, 0.50e-5, 0.54),
}
FORCE = 0.060e-5  # [P] of contact forces; their [R] is zero
TORSO_LOCATION, TORSO_HEIGHT = 6.0, 0.010  # [W]
SHOULDER_LOCATION, SHOULDER_HEIGHT = 0.50, 0.0010

TORSO = ("torso", "thorax", "trunk")


class Weights(NamedTuple):
    """Diagonals in the order of v, of motors, and of features. Features are the joints, then points of bodies."""

    state: Array  # (2 nv,) [Q]
    change: Array  # (motors,) [R]
    effort: Array  # (motors,) [P]
    force: float  # [P] of each component of a contact force
    stance: float  # [Q] on each component of the velocity of a point that bears load
    joint_feature: Array  # (nv,) [W], zero for a free root
    feature_body: NDArray[np.int64]  # (nf,) bodies with a point that is a feature
    feature_point: Array  # (nf, 3) it, in the body's frame
    feature_weight: Array  # (nf, 3) [W] along x, y, z


def make_weights(character: Character, settings: Settings) -> Weights:
    """The tables' weights for this character, with the settings' factors."""
    tree, nv = character.tree, character.nv
    motors_start = 6 if tree.joint[0] == FREE else 0
    lines = [JOINTS[role(character.bodies[b].name)] for b in tree.velocity_body]
    state = np.array([line.position for line in lines] + [line.velocity for line in lines])
    if motors_start:
        for offset, index in ((0, 0), (nv, 1)):
            state[offset : offset + 2] = settings.location * LOCATION[index]
            state[offset + 2] = settings.height * HEIGHT[index]
            state[offset + 3 : offset + 6] = ORIENTATION[index]
    motors = lines[motors_start:]
    joint_feature = np.array([line.feature for line in lines])
    joint_feature[:motors_start] = 0.0
    points = []
    for name in TORSO:
        if any(body.name == name for body in character.bodies):
            b = character.index(name)
            points.append((b, tree.center_of_mass[b], (TORSO_LOCATION, TORSO_LOCATION, TORSO_HEIGHT)))
            break
    for b, body in enumerate(character.bodies):
        if role(body.name) == "shoulder":
            points.append((b, np.zeros(3), (SHOULDER_LOCATION, SHOULDER_LOCATION, SHOULDER_HEIGHT)))
    return Weights(
        state=state,
        change=settings.effort * np.array([line.change for line in motors]),
        effort=settings.effort * np.array([line.effort for line in motors]),
        force=settings.force * FORCE,
        stance=settings.stance,
        joint_feature=joint_feature,
        feature_body=np.array([body for body, _, _ in points], dtype=np.int64),
        feature_point=np.array([point for _, point, _ in points], dtype=np.float64).reshape(-1, 3),
        feature_weight=np.array([weight for _, _, weight in points], dtype=np.float64).reshape(-1, 3),
    )
