# SPDX-License-Identifier: GPL-3.0-or-later
"""A character as three links, or five: the model on which da Silva 2010 balances, section 3.2.3 and figure 3-5.

A base link (the stance leg) stands on the ground by a ball joint; an upper body and a swing leg are joined to its top
by one ball each. "The inertial properties of each simple link are created by summing the inertial properties of
corresponding links", in the neutral pose. The stance foot stays on the ground and is left out; both hips are the one
point at the top of the base. "Adding additional links" for styles that need them (section 3.4.1) is up to arms here:
each a link that hangs from the upper body by a ball at its shoulder.
"""

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..maths.rotations import Quaternion, quaternion_matrix, quaternion_multiply
from . import check
from .character import Character
from .mass import Mass, combine
from .parts import Body, Corner, Joint

Array = NDArray[np.float64]

BASE, UPPER, SWING = range(3)  # of five links the arms come before the swing leg, which is the last
ARMS = (("left_arm", "right_arm"), ("left_upper_arm", "right_upper_arm"))  # where they begin, by either name
NO_LINK = -1


class ThreeLink(NamedTuple):
    """The model, its frames parallel to the world's in the neutral pose, and where each body has gone."""

    model: Character
    link: NDArray[np.int64]  # (nb,) number of its link; NO_LINK for the stance foot
    foot: int  # the character's stance foot, whose joint is the ankle


def feet(character: Character) -> tuple[int, ...]:
    """The bodies with soles; toes that hang from a foot are part of it."""
    soles = {character.index(shape.body) for shape in character.contacts if isinstance(shape, Corner)}
    parent = character.tree.parent
    return tuple(sorted(b for b in soles if not soles & set(_path(parent, b)[1:])))


def three_link(character: Character, stance: int, swing: int, *, arms: bool = False) -> ThreeLink:
    """The model of a character that stands on one foot, by the numbers of its feet; with `arms`, that of five links."""
    parent = character.tree.parent
    paths = [_path(parent, foot) for foot in (stance, swing)]
    shared = set(paths[0]) & set(paths[1])
    if not shared or stance in shared or swing in shared:
        raise ValueError(f"The feet of '{character.name}' share a leg: each foot needs a leg of its own.")
    hips = [next(b for b in reversed(path) if b not in shared) for path in paths]  # the first bodies of the legs
    link = np.full(len(parent), UPPER, dtype=np.int64)
    shoulders = _shoulders(character) if arms else []
    for b in range(len(parent)):
        above = _path(parent, b)
        if stance in above:
            link[b] = NO_LINK
        elif hips[0] in above:
            link[b] = BASE
        elif hips[1] in above:
            link[b] = SWING + len(shoulders)
    for k, shoulder in enumerate(shoulders, UPPER + 1):
        link[[b for b in range(len(parent)) if shoulder in _path(parent, b)]] = k
    places, turns = neutral_frames(character)
    ankle, hip, other_hip = places[stance], places[hips[0]], places[hips[1]]
    origins = (ankle, 0.5 * (hip + other_hip), *(places[b] for b in shoulders), other_hip)
    masses = [_sum(character, places, turns, np.flatnonzero(link == k), origin) for k, origin in enumerate(origins)]
    hanging = [
        _link(f"arm_{k}", "upper", f"shoulder_{k}", masses[UPPER + k], places[b] - origins[UPPER])
        for k, b in enumerate(shoulders, 1)
    ]
    model = Character(
        f"balance{len(masses)}",
        (
            _link("base", None, "ankle", masses[BASE], np.zeros(3)),
            _link("upper", "base", "trunk", masses[UPPER], hip - ankle),
            *hanging,
            _link("swing", "base", "hip", masses[-1], hip - ankle),
        ),
        gravity=character.gravity,
    )
    return ThreeLink(model, link, stance)


def _shoulders(character: Character) -> list[int]:
    names = [body.name for body in character.bodies]
    for pair in ARMS:
        if set(pair) <= set(names):
            return [names.index(name) for name in pair]
    raise ValueError(f"'{character.name}' has no arms to balance with: switch the use of arms off.")


def neutral_frames(character: Character) -> tuple[Array, Array]:
    """Origins (nb, 3) and rotations (nb, 3, 3) of the bodies in the neutral pose."""
    places: list[Array] = []
    turns: list[Array] = []
    quaternions: list[Quaternion] = []
    for body, parent in zip(character.bodies, character.tree.parent.tolist(), strict=True):
        place, turn = np.array(body.position), body.orientation
        if parent >= 0:
            place = places[parent] + turns[parent] @ place
            turn = quaternion_multiply(quaternions[parent], turn)
        places.append(place)
        quaternions.append(turn)
        turns.append(np.array(quaternion_matrix(turn)).reshape(3, 3))
    return np.array(places), np.array(turns)


def _path(parent: NDArray[np.int64], body: int) -> list[int]:
    """A body and all that it hangs from, up to the root."""
    path = [body]
    while parent[path[-1]] >= 0:
        path.append(int(parent[path[-1]]))
    return path


def _sum(character: Character, places: Array, turns: Array, bodies: Iterable[int], origin: Array) -> Mass:
    """The bodies as one, seen from an origin, in the world's axes."""
    parts = []
    for b in bodies:
        body, turn = character.bodies[b], turns[b]
        center = places[b] + turn @ np.array(body.center_of_mass) - origin
        parts.append(Mass(body.mass, center, turn @ np.array(body.inertia) @ turn.T))
    return combine(parts)


def _link(name: str, parent: str | None, joint: str, mass: Mass, position: Array) -> Body:
    return Body(
        name,
        parent,
        Joint(joint, "ball"),
        mass.mass,
        check.inertia((0.5 * (mass.inertia + mass.inertia.T)).tolist(), name),
        check.vector(mass.center.tolist(), "centre of mass", name),
        check.vector(position.tolist(), "position", name),
    )
