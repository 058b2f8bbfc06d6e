# SPDX-License-Identifier: GPL-3.0-or-later
"""Where the stances of a reference come to lie in a scene: on its ground, or at footholds that were set."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ...character import Character
from ...contact.terrain import Terrain
from ...motion.tracks import ground_under
from ...simulation import Foothold
from .course import Stance
from .states import Outline

Array = NDArray[np.float64]

ABOVE, BELOW = 0.6, 0.6  # m over and under where the reference has it that ground is looked for
LEVEL = 0.01  # m, by which the ground below all steps may vary for them to be moved
TOUCHING = 1e-5  # m
MOST = 200  # steps of the search


def place_stances(
    character: Character,
    outline: Outline,
    stances: Sequence[Stance],
    terrain: Terrain,
    lift: float,
    footholds: Sequence[Foothold] = (),
) -> tuple[list[Array], list[bool]]:
    """By how much each stance is moved (3,), and whether there is ground under it.

    `lift` is the height of the ground at the start over the reference's own. What holds on is lifted, no more.
    """
    bodies = np.unique(outline.body)
    names = [character.bodies[body].name for body in bodies]
    grips = [bool(outline.grip[outline.body == body].all()) for body in bodies]
    plain = np.array([0.0, 0.0, lift])
    wanted = [one.place + plain for one in stances]
    for foothold in footholds:
        own = [i for i, one in enumerate(stances) if names[one.limb] == foothold.body and one.first > 0]
        if not own:
            raise ValueError(
                f"A foothold is for '{foothold.body}', which never steps in this motion: remove the "
                "foothold, or choose a foot."
            )
        place = np.array(foothold.place)
        nearest = min(own, key=lambda i: float(np.linalg.norm(stances[i].place[:2] - place[:2])))
        wanted[nearest] = place
    moves, found = [], []
    for one, place in zip(stances, wanted, strict=True):
        height = None if grips[one.limb] else ground_height(terrain, place, one.first * outline.dt)
        found.append(height is not None or grips[one.limb])
        moves.append(place - one.place if height is None else np.array([*place[:2], height]) - one.place)
    return moves, found


def ground_height(terrain: Terrain, place: Array, time: float) -> float | None:
    """How high the ground is under or a little above a place; None where there is none near.

    From above, down by the distance to whatever is nearest, which can leap over nothing.
    """
    point = np.array(place, dtype=np.float64)
    point[2] += ABOVE
    for _ in range(MOST):
        distance = float(ground_under(terrain, point[None, None], np.zeros(1), 1.0, time).height[0, 0])
        if distance < TOUCHING:
            return float(point[2] - max(distance, 0.0))
        point[2] -= distance
        if point[2] < place[2] - BELOW:
            break
    return None
