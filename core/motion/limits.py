# SPDX-License-Identifier: GPL-3.0-or-later
"""Joint limits that contain a motion: no performer is outside his own range."""

import math
from dataclasses import replace

import numpy as np

from ..character import Body, Character, Cone, Range
from ..maths.angles import direction
from . import quaternions
from .quaternions import Array

MARGIN = math.radians(5.0)


def widened(character: Character, q: Array) -> Character:
    """The character with limits moved outwards where positions (nf, nq) come closer to them than 5°."""
    tree = character.tree
    bodies = [_widened(body, q[:, start:]) for body, start in zip(character.bodies, tree.position_start, strict=True)]
    return Character(character.name, tuple(bodies), character.contacts, character.gravity)


def swing_and_twist(cone: Cone, rotation: Array) -> tuple[Array, Array]:
    """Angles (n,) of a ball's rotations (n, 4) as `Cone` measures them."""
    axis, center = np.array(cone.axis), np.array(cone.center)
    carried = quaternions.rotate(rotation, axis)
    swing = direction(np.linalg.norm(np.cross(carried, center), axis=1), carried @ center)
    twist = 2.0 * direction(rotation[:, 1:] @ axis, rotation[:, 0])
    return swing, (twist + np.pi) % (2.0 * np.pi) - np.pi


def _widened(body: Body, q: Array) -> Body:
    joint = body.joint
    if joint.limits is None:
        return body
    if isinstance(joint.limits, Cone):
        cone = joint.limits
        swing, twist = swing_and_twist(cone, q[:, :4])
        wide = replace(
            cone,
            swing=min(max(cone.swing, float(swing.max()) + MARGIN), math.pi),
            twist=_around(cone.twist, twist),
        )
        return replace(body, joint=replace(joint, limits=wide))
    ranges = tuple(_around(limit, q[:, i]) for i, limit in enumerate(joint.limits))
    return replace(body, joint=replace(joint, limits=ranges))


def _around(limit: Range, angles: Array) -> Range:
    lower, upper = float(angles.min()) - MARGIN, float(angles.max()) + MARGIN
    return Range(min(limit.lower, lower), max(limit.upper, upper))
