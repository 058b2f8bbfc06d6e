# SPDX-License-Identifier: GPL-3.0-or-later
"""Where a hand of one is at the body of another for a time: a hold, found in the motions of two.

Hands that shake, link or lead stay near what they hold, and move with it; those that pass, slap or wave do not.
Captured ones stay some centimetres off, since shapes and markers are not flesh, and slide about as grips do.
"""

from typing import NamedTuple

import numpy as np

from ..character import Character
from ..character.check import Vector
from ..character.parts import Capsule, Sphere
from . import quaternions
from .clean_up import CUTOFF
from .fit import Trajectory, body_poses
from .quaternions import Array
from .resample import smoothed
from .schedule import Mask, runs

NEAR = 0.08  # m between a hand's surface and that of what it holds
ALONG = 0.7  # m/s, RMS, at which a hand that holds on moves over it
SHORTEST, BRIDGED = 0.4, 0.15  # s
CALM = 5.0  # Hz: what is quicker is noise
OF_HANDS = 1.5  # times as well do hands hold hands as anything else
LIMBS = ("_hand", "_forearm", "_arm", "_foot", "_shank")


class Acting(NamedTuple):
    """A character and what it does, over frames that are those of the other, too."""

    character: Character
    trajectory: Trajectory


class Found(NamedTuple):
    """A hand of the one of two at a body of the other, from a first to a last frame; or two trunks (leans.py)."""

    hand_of_first: bool
    hand: str  # or what leans
    body: str
    frames: tuple[int, int]
    point: Vector  # where they meet, in the hand's frame, m
    way: Array  # (n, 3) the same in the body's frame, of the frames in turn
    leans: bool = False  # the two press against each other, and hold nothing


def is_limb(body: str) -> bool:
    """Whether it can be led without moving all of the character."""
    return body.endswith(LIMBS)


def find_meetings(first: Acting, second: Acting) -> list[Found]:
    """Those of hands; each hand has one at a time, the longest and nearest."""
    poses = [body_poses(each.character, each.trajectory.q) for each in (first, second)]
    found: list[tuple[float, Found]] = []
    for side, (own, other) in enumerate(((first, second), (second, first))):
        for hand in _hands(own.character):
            for body in other.character.bodies:
                if side == 1 and body.name in _hands(other.character):
                    continue  # two hands are one pair
                found += _between(own, other, (poses[side], poses[1 - side]), hand, body.name, side == 0)
    kept: list[Found] = []
    for _, one in sorted(found, key=lambda each: -each[0]):
        if not any(_is_in_use(one, other) for other in kept):
            kept.append(one)
    return sorted(kept, key=lambda one: one.frames)


def _between(
    own: Acting,
    other: Acting,
    poses: tuple[tuple[Array, Array], tuple[Array, Array]],
    hand: str,
    body: str,
    hand_of_first: bool,
) -> list[tuple[float, Found]]:
    """A hand at one body of another, each time with what that is worth."""
    rate = own.trajectory.rate
    (place, turn), (place_there, turn_there) = poses
    h, b = own.character.index(hand), other.character.index(body)
    center, radius = _palm(own.character, hand)
    palm = place[:, h] + quaternions.rotate(turn[:, h], center)
    local = quaternions.rotate(quaternions.conjugate(turn_there[:, b]), palm - place_there[:, b])
    surfaces = surfaces_of(other.character, body)
    if not surfaces:
        return []
    near = [nearest_on(shape, local) for shape in surfaces]
    gaps = np.array([np.linalg.norm(local - at, axis=1) - wide - radius for at, wide in near])
    which = gaps.argmin(axis=0)
    gap = gaps.min(axis=0)
    touched = np.array([near[w][0][k] for k, w in enumerate(which)])
    found = []
    for start, stop in runs(_bridged(gap < NEAR, round(BRIDGED * rate))):
        if stop - start < SHORTEST * rate:
            continue
        calm = smoothed(local[start:stop], rate, CALM)
        speed = np.linalg.norm(np.diff(calm, axis=0), axis=1) * rate
        if np.sqrt(np.mean(speed**2)) > ALONG:
            continue
        middle = 0.5 * (local[start:stop] + touched[start:stop])
        there = place_there[start:stop, b] + quaternions.rotate(turn_there[start:stop, b], middle)
        back = quaternions.rotate(quaternions.conjugate(turn[start:stop, h]), there - place[start:stop, h])
        point = back.mean(axis=0)
        held = place[start:stop, h] + quaternions.rotate(turn[start:stop, h], point)
        way = quaternions.rotate(quaternions.conjugate(turn_there[start:stop, b]), held - place_there[start:stop, b])
        worth = (stop - start) / rate * (1.0 - float(np.clip(gap[start:stop].mean(), 0.0, NEAR)) / (2.0 * NEAR))
        worth *= OF_HANDS if body in _hands(other.character) else 1.0
        way = smoothed(way, rate, CUTOFF)
        found.append((worth, Found(hand_of_first, hand, body, (start, stop - 1), _vector(point), way)))
    return found


def _is_in_use(one: Found, other: Found) -> bool:
    """Whether a hand of the one is in the other at the same time, or the two are between the same arms."""
    if one.frames[1] < other.frames[0] or other.frames[1] < one.frames[0]:
        return False
    return bool(_hands_in(one) & _hands_in(other)) or _limbs_in(one) == _limbs_in(other)


def _hands_in(one: Found) -> set[tuple[bool, str]]:
    """Hands that take part: whose, and which."""
    return {(whose, body) for whose, body in _bodies_in(one) if body.endswith("_hand")}


def _limbs_in(one: Found) -> set[tuple[bool, str]]:
    """What takes part, by its side: a hand and its forearm are one."""
    return {(whose, body.split("_")[0]) for whose, body in _bodies_in(one)}


def _bodies_in(one: Found) -> set[tuple[bool, str]]:
    return {(one.hand_of_first, one.hand), (not one.hand_of_first, one.body)}


def _hands(character: Character) -> list[str]:
    return [body.name for body in character.bodies if body.name.endswith("_hand") and surfaces_of(character, body.name)]


def surfaces_of(character: Character, body: str) -> list[Sphere | Capsule]:
    """Shapes of a body that can touch another's."""
    return [shape for shape in character.contacts if isinstance(shape, Sphere | Capsule) and shape.body == body]


def _palm(character: Character, hand: str) -> tuple[Array, float]:
    """The middle of a hand's shape, in its frame, and how thick it is, m."""
    shape = surfaces_of(character, hand)[0]
    if isinstance(shape, Sphere):
        return np.array(shape.position), shape.radius
    return 0.5 * (np.array(shape.start) + np.array(shape.end)), shape.radius


def nearest_on(shape: Sphere | Capsule, places: Array) -> tuple[Array, float]:
    """The places (n, 3) of a shape's middle line that are nearest to some, in its body's frame; and its radius, m."""
    if isinstance(shape, Sphere):
        return np.broadcast_to(np.array(shape.position), places.shape), shape.radius
    start, along = np.array(shape.start), np.array(shape.end) - np.array(shape.start)
    share = np.clip((places - start) @ along / max(float(along @ along), 1e-12), 0.0, 1.0)
    return start + share[:, None] * along, shape.radius


def _bridged(mask: Mask, most: int) -> Mask:
    """With gaps between true ones closed that are no longer."""
    result = mask.copy()
    for start, stop in runs(~mask):
        if stop - start <= most and start > 0 and stop < len(mask):
            result[start:stop] = True
    return result


def _vector(a: Array) -> Vector:
    x, y, z = a.tolist()
    return x, y, z
