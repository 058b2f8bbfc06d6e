# SPDX-License-Identifier: GPL-3.0-or-later
"""Forces at the corners of a sole, where a motion has them in the middle between some."""

import numpy as np
from numpy.typing import NDArray

from ..character import Character
from ..character.check import Vector
from ..character.parts import Corner

Array = NDArray[np.float64]


def spread_over_corners(
    character: Character, point_body: NDArray[np.int64], point_local: Array
) -> tuple[list[tuple[int, Vector]], list[list[tuple[int, float]]]]:
    """The corners, as body and place, of which points are the middles, and points that are no corners' as they are.

    With each, which of the points load it, and the share of their force that it takes.
    """
    corners: dict[int, list[Vector]] = {}
    for shape in character.contacts:
        if isinstance(shape, Corner):
            corners.setdefault(character.index(shape.body), []).append(shape.position)
    loads: dict[tuple[int, Vector], list[tuple[int, float]]] = {}
    for p, (body, local) in enumerate(zip(point_body.tolist(), point_local, strict=True)):
        places = _corners_around(local, corners.get(body, []))
        for place in places:
            loads.setdefault((body, place), []).append((p, 1.0 / len(places)))
    return list(loads), list(loads.values())


def _corners_around(local: Array, corners: list[Vector]) -> list[Vector]:
    """The fewest corners of which this place is the middle, the nearest first; else the place itself."""
    near = sorted(corners, key=lambda corner: float(np.linalg.norm(local - corner)))
    for count in range(1, len(near) + 1):
        if np.allclose(np.mean(near[:count], axis=0), local, atol=1e-6):
            return near[:count]
    x, y, z = local.tolist()
    return [(x, y, z)]
