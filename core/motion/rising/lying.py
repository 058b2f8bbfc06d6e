# SPDX-License-Identifier: GPL-3.0-or-later
"""How a body lies: which way it will face once it is up, which way up is near, and on what it may lean."""

import numpy as np

from ...character import Character
from ...character.parts import Capsule
from ...dynamics import body_poses, difference
from ..quaternions import Array, rotate
from ..schedule import SAME_PLACE, ContactPoint, contact_points
from .figure import posed
from .ways import FROM_BELLY, ON_ALL_FOURS, OVER_SIDE, TO_ITS_FEET, Key, mirrored

FACE_DOWN = 0.5  # cosine, of the belly's way and down
INSIDE = 0.02  # m by which a point may come out of what it is inside of
NEEDED = tuple(f"{side}_{part}" for side in ("left", "right") for part in ("thigh", "shank", "foot"))


def can_rise(character: Character) -> bool:
    """Whether it has a person's legs."""
    names = {body.name for body in character.bodies}
    return character.bodies[0].joint.kind == "free" and names.issuperset(NEEDED)


def heading_of(q: Array) -> float:
    """Where who lies will face, rad: the way of the head; of who sits or kneels, the belly's."""
    ahead, _, up = rotate(q[3:7], np.eye(3))
    way = up if abs(up[2]) < np.sqrt(0.5) else ahead * np.sign(up[2])
    return float(np.arctan2(way[1], way[0]))


def keys_of(character: Character, q: Array, foot: str) -> tuple[Key, ...]:
    """The way up from how it lies, with that foot first."""
    ahead, left, _ = rotate(q[3:7], np.eye(3))
    first: tuple[Key, ...] = OVER_SIDE if left[2] > 0.0 else mirrored(OVER_SIDE)
    if ahead[2] < -FACE_DOWN:
        first = FROM_BELLY
        if _away(character, q, ON_ALL_FOURS) < _away(character, q, FROM_BELLY[0]):  # its knees are under it
            first = FROM_BELLY[1:]
    to_its_feet = TO_ITS_FEET if foot == TO_ITS_FEET[-1].over else mirrored(TO_ITS_FEET)
    *before, on_fours = first
    holds = ON_ALL_FOURS.holds if foot == TO_ITS_FEET[-1].over else ON_ALL_FOURS.mirrored.holds
    return (*before, on_fours._replace(holds=holds), *to_its_feet)


def _away(character: Character, q: Array, key: Key) -> float:
    """How far joints are from those of a key pose, rad."""
    return float(np.linalg.norm(difference(character, posed(character, key.figure), q)[6:]))


def bearing_points(character: Character) -> tuple[ContactPoint, ...]:
    """The points that may bear weight of who lies: hips lie on the pelvis, knees on the thigh's end, if thicker."""
    position, turn = body_poses(character, character.neutral())
    root = character.bodies[0].name
    known = contact_points(character)
    ends = [
        ContactPoint(f"{shape.name}_{end}", character.index(shape.body), place, shape.radius)
        for shape in character.contacts
        if isinstance(shape, Capsule)
        for end, place in (("start", shape.start), ("end", shape.end))
    ]

    def place(point: ContactPoint) -> Array:
        result: Array = position[point.body] + rotate(turn[point.body], np.array(point.position))
        return result

    hips = [end for end in ends if character.bodies[end.body].name == root]
    inside = {
        point.name
        for point in known
        for hip in hips
        if np.linalg.norm(place(point) - place(hip)) + point.radius < hip.radius + INSIDE
    }

    def thickest(point: ContactPoint) -> ContactPoint:
        above = character.tree.parent[point.body]
        around = [end for end in ends if end.body == above and np.linalg.norm(place(end) - place(point)) < SAME_PLACE]
        found = max((point, *around), key=lambda one: one.radius)
        side, _, part = character.bodies[point.body].name.partition("_")
        at_joint = np.linalg.norm(point.position) < SAME_PLACE
        return found._replace(name=f"{side}_knee") if part == "shank" and at_joint else found

    own = [point if point.foot else thickest(point) for point in known if point.name not in inside]
    names = {point.name for point in own}
    return (*own, *(hip for hip in hips if hip.name not in names))
