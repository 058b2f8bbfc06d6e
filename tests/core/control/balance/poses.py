# SPDX-License-Identifier: GPL-3.0-or-later
"""Poses in which somebody stands, and leans."""

import numpy as np
from heft.core.dynamics import body_poses, center_of_mass
from heft.core.motion.quaternions import exp, multiply, rotate

from tests.core.control.replanning.tracks import soles


def one_leg(character):
    """On the left foot, the right one up; and the corners that bear weight, by body and place."""
    q = character.neutral()
    start = character.tree.position_start
    q[start[character.index("right_shank")]] = 0.8
    thigh = start[character.index("right_thigh")]
    q[thigh : thigh + 4] = (np.cos(0.2), 0.0, -np.sin(0.2), 0.0)
    # lean to the left until the centre of mass is over the foot, whose ankle keeps it flat
    center = center_of_mass(character, q)
    hip = abs(character.bodies[character.index("left_thigh")].position[1])
    tilt = np.arcsin((hip - center[1]) / center[2])
    q[3:7] = (np.cos(0.5 * tilt), -np.sin(0.5 * tilt), 0.0, 0.0)
    q[:3] = (q[0], hip - hip * np.cos(tilt) + q[2] * np.sin(tilt), q[2] * np.cos(tilt) + hip * np.sin(tilt))
    q[_ankle(character, "left_foot", 0)] = tilt
    return q, [(corner.body, corner.position) for corner in soles(character) if corner.body == "left_foot"]


def leaning(character, q, feet, axis, angle):
    """The pose turned about an axis of the world (0: X, 1: Y) through the ankle of the first foot, the feet left flat.

    Positive is forwards about Y and to the right about X.
    """
    turn = angle * np.eye(3)[axis]
    pivot = body_poses(character, q)[0][character.index(feet[0])]
    leant = q.copy()
    leant[:3] = pivot + rotate(exp(turn), q[:3] - pivot)
    leant[3:7] = multiply(exp(turn), q[3:7])
    for foot in feet:
        leant[_ankle(character, foot, axis)] -= angle
    return leant


def _ankle(character, foot, axis):
    """Where the angle of a foot about an axis stands among positions."""
    body = character.index(foot)
    return character.tree.position_start[body] + [one[axis] for one in character.bodies[body].joint.axes].index(1.0)
