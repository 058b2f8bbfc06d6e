# SPDX-License-Identifier: GPL-3.0-or-later
"""A pose said by where limbs point, and the same pose of a character, whatever its proportions and its rest pose.

Directions are ahead, aside (away from the body's middle) and up. How a body lies at rest says which way its limb
points: towards the next joint of its kind, or its centre of mass.
"""

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from ...character import Character
from ...dynamics import body_poses
from ..fit import joint_by_joint
from ..quaternions import Array, conjugate, from_matrix, multiply, rotate
from ..schedule import contact_points

Way = tuple[float, float, float]  # ahead, aside or to the left, up; of any length

BENT = 0.2  # sine of a knee's or an elbow's bend, from which on its plane is that of the joint


class Limbs(NamedTuple):
    """Of one side: where each points."""

    thigh: Way
    shank: Way
    foot: Way  # to the toes
    arm: Way
    forearm: Way


class Figure(NamedTuple):
    """A pose; `trunk` and `belly` count to the left, not aside."""

    trunk: Way  # from the hips to the head
    belly: Way  # the way that it faces
    left: Limbs
    right: Limbs

    @property
    def mirrored(self) -> "Figure":
        """Left and right exchanged."""
        flipped = [(ahead, -left, up) for ahead, left, up in (self.trunk, self.belly)]
        return Figure(flipped[0], flipped[1], self.right, self.left)


SPINE = ("pelvis", "torso", "abdomen", "thorax", "trunk")
NEXT: Mapping[str, str] = {"thigh": "shank", "shank": "foot", "arm": "forearm", "forearm": "hand"}


def posed(character: Character, figure: Figure) -> Array:
    """Positions (nq,) of a character, its root at the origin; the figure's axes are those of the world."""
    place, turn = body_poses(character, character.neutral())
    index = {body.name: b for b, body in enumerate(character.bodies)}
    upright = conjugate(turn[0])  # the root's own axes are ahead, left and up
    soles = _soles(character)
    wanted = turn.copy()
    for b, body in enumerate(character.bodies):
        side, _, part = body.name.partition("_")
        limbs = getattr(figure, side, None)
        if body.name in SPINE or b == 0:
            wanted[b] = multiply(_aimed(figure.trunk, figure.belly, UP, AHEAD), multiply(upright, turn[b]))
        elif isinstance(limbs, Limbs) and part in Limbs._fields:
            out = 1.0 if side == "left" else -1.0
            limb = _limb(part, side, index, (place, turn), b, np.array(body.center_of_mass), soles)
            aim = _sided(getattr(limbs, part), out)
            across = _across(limbs, part, out, figure)
            at_rest = rotate(upright, limb)
            rest_across = LEFT - (LEFT @ at_rest) * at_rest
            wanted[b] = multiply(_aimed(aim, across, at_rest, rest_across), multiply(upright, turn[b]))
        else:  # it follows the body that it hangs from
            parent = int(character.tree.parent[b])
            wanted[b] = multiply(wanted[parent], multiply(conjugate(turn[parent]), turn[b]))
    there = np.zeros((1, len(wanted), 3))
    q: Array = joint_by_joint(character, there, wanted[None])[0]
    return q


AHEAD, LEFT, UP = np.eye(3)


def _soles(character: Character) -> dict[int, Array]:
    """From heel to toe (3,) in the frame of each body with a sole."""
    ends = {(point.body, point.name): np.array(point.position) for point in contact_points(character) if point.foot}
    name = [body.name for body in character.bodies]
    return {
        b: place - ends[b, f"{name[b]}_heel"]
        for (b, end), place in ends.items()
        if end == f"{name[b]}_toe" and (b, f"{name[b]}_heel") in ends
    }


def _sided(way: Way, out: float) -> Array:
    return np.array([way[0], out * way[1], way[2]])


def _limb(
    part: str,
    side: str,
    index: Mapping[str, int],
    poses: tuple[Array, Array],
    b: int,
    center: Array,
    soles: Mapping[int, Array],
) -> Array:
    """Where it points at rest (3,), in the world, at unit length."""
    place, turn = poses
    if part == "foot":
        found = rotate(turn[b], soles.get(b, AHEAD))
    elif f"{side}_{NEXT.get(part)}" in index:
        found = place[index[f"{side}_{NEXT[part]}"]] - place[b]
    else:
        found = rotate(turn[b], center)
    result: Array = found / max(float(np.linalg.norm(found)), 1e-9)
    return result


def _across(limbs: Limbs, part: str, out: float, figure: Figure) -> Array:
    """The body's left as the limb has it: knees and elbows are hinges, whose plane is that of the limb's two bones."""
    trunk, belly = np.array(figure.trunk), np.array(figure.belly)
    left = _unit(np.asarray(np.cross(trunk, belly), dtype=np.float64))
    if part in {"thigh", "shank"}:
        bend = np.cross(_unit(_sided(limbs.thigh, out)), _unit(_sided(limbs.shank, out)))
    elif part in {"arm", "forearm"}:
        bend = -np.cross(_unit(_sided(limbs.arm, out)), _unit(_sided(limbs.forearm, out)))
    else:
        return left
    size = float(np.linalg.norm(bend))
    return left if size < BENT else np.asarray(bend / size, dtype=np.float64)


def _unit(vector: Array) -> Array:
    result: Array = vector / max(float(np.linalg.norm(vector)), 1e-9)
    return result


def _aimed(aim: Way | Array, beside: Way | Array, at_rest: Array, rest_beside: Array) -> Array:
    """The rotation that carries one direction to `aim`, and a second as near to `beside` as can be."""
    there, here = (
        _axes(np.array(a, dtype=np.float64), np.array(b)) for a, b in ((aim, beside), (at_rest, rest_beside))
    )
    return from_matrix(there @ here.T)


def _axes(first: Array, second: Array) -> Array:
    """Right-handed axes (3, 3) in columns: the first direction, and what is square to it of the second."""
    a = _unit(first)
    b = _unit(second - (second @ a) * a)
    return np.column_stack((a, b, np.cross(a, b)))
