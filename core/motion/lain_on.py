# SPDX-License-Identifier: GPL-3.0-or-later
"""The floor under who lies, sits on it, kneels or crawls.

Soles tell little of it: they stand on their tips, or not at all. Whatever else rests then lies on the floor: knees,
seat, back, hands. Where nearly all of the time such parts rest well below the floor that soles were found to stand on,
the floor is level, and as high as the middle one of all that rests.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..character import Corner, Sphere
from . import quaternions
from .body_plan import BodyPlan
from .clip import Clip
from .feet import FLAT_SPEEDS
from .quaternions import Array

SUNK = 0.03  # m below the floor: a limb's flesh gives way by as much
NEAR = 0.02  # m above it, up to which what rests lies on it
FEWEST = 10  # frames
STANDING = 0.25  # of the frames that tell anything, in which soles that stand alone are the better witness


def height_lain_on(plan: BodyPlan, clip: Clip, height: float, slope: tuple[float, float]) -> float | None:
    """The height of the floor that a body rests on; None where the one that its soles stand on will do."""
    points = _points(plan)
    foot = np.array([point.foot for point in points], dtype=np.bool_)
    if foot.all() or len(clip.position) < FEWEST:
        return None
    places = _places(plan, clip, points)
    lowest = places[..., 2] - np.array([point.radius for point in points])
    above = lowest - height - places[..., :2] @ np.array(slope)
    speed = np.linalg.norm(np.gradient(places, axis=0), axis=-1) * clip.rate
    rests: NDArray[np.bool_] = (speed < FLAT_SPEEDS[0]) & (above < NEAR)
    sunk = (rests & ~foot & (above < -SUNK)).any(axis=1)
    stands = (rests & foot).any(axis=1) & ~sunk
    if sunk.sum() < FEWEST or stands.sum() > STANDING * (sunk.sum() + stands.sum()):
        return None
    return float(np.median(np.nanmedian(np.where(rests, lowest, np.nan)[sunk], axis=1)))


class _Point(NamedTuple):
    """Of a body's surface, or the middle of a ball under it."""

    body: int
    position: tuple[float, float, float]
    radius: float
    foot: bool


def _points(plan: BodyPlan) -> list[_Point]:
    """The ends of limbs and the corners of soles."""
    found = []
    for shape in plan.character.contacts:
        body = plan.character.index(shape.body)
        if isinstance(shape, Corner):
            found.append(_Point(body, shape.position, 0.0, True))
        elif isinstance(shape, Sphere):
            found.append(_Point(body, shape.position, shape.radius, False))
        else:
            found += [_Point(body, end, shape.radius, False) for end in (shape.start, shape.end)]
    return found


def _places(plan: BodyPlan, clip: Clip, points: Sequence[_Point]) -> Array:
    """Places (nf, np, 3) of points of bodies."""
    place, turn = plan.body_targets(clip)
    body = [point.body for point in points]
    local = np.array([point.position for point in points])
    result: Array = place[:, body] + quaternions.rotate(turn[:, body], local[None])
    return result
