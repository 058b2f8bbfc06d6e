# SPDX-License-Identifier: GPL-3.0-or-later
"""The floor under who lies, sits on it, kneels or crawls.

Soles tell little of it: they stand on their tips, or not at all. Whatever rests then lies on the floor: knees, seat,
back, hands. Where most of the time such parts rest well below the floor that soles were found to stand on, the floor
is level, and as high as the middle one of all that rests.
"""

import numpy as np
from numpy.typing import NDArray

from . import quaternions
from .body_plan import BodyPlan
from .clip import Clip
from .feet import FLAT_SPEEDS
from .quaternions import Array
from .schedule import contact_points

SUNK = 0.03  # m below the floor: a limb's flesh gives way by as much
NEAR = 0.02  # m above it, up to which what rests lies on it
FEWEST = 10  # frames


def height_lain_on(plan: BodyPlan, clip: Clip, height: float, slope: tuple[float, float]) -> float | None:
    """The height of the floor that a body rests on; None where the one that its soles stand on will do."""
    points = contact_points(plan.character)
    foot = np.array([point.foot for point in points], dtype=np.bool_)
    if foot.all() or len(clip.position) < FEWEST:
        return None
    places = _places(plan, clip, [(point.body, point.position) for point in points])
    lowest = places[..., 2] - np.array([point.radius for point in points])
    above = lowest - height - places[..., :2] @ np.array(slope)
    speed = np.linalg.norm(np.gradient(places, axis=0), axis=-1) * clip.rate
    rests: NDArray[np.bool_] = (speed < FLAT_SPEEDS[0]) & (above < NEAR)
    sunk = (rests & ~foot & (above < -SUNK)).any(axis=1)
    stands = (rests & foot).any(axis=1) & ~sunk
    if sunk.sum() < FEWEST or sunk.sum() <= stands.sum():
        return None
    return float(np.median(np.nanmedian(np.where(rests, lowest, np.nan)[sunk], axis=1)))


def _places(plan: BodyPlan, clip: Clip, points: list[tuple[int, tuple[float, float, float]]]) -> Array:
    """Places (nf, np, 3) of points of bodies."""
    place, turn = plan.body_targets(clip)
    body = [index for index, _ in points]
    local = np.array([position for _, position in points])
    result: Array = place[:, body] + quaternions.rotate(turn[:, body], local[None])
    return result
