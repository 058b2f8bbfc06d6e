# SPDX-License-Identifier: GPL-3.0-or-later
"""How near legs come to each other: the least distance between their bones' axes."""

from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from ...character import Character
from ...motion.quaternions import rotate
from ...motion.reference import Reference

Array = NDArray[np.float64]

UPPER = 0.5  # of a leg's topmost bone, which legs do not meet at


class Legs:
    """The chains of bodies that lead from the root to each foot."""

    def __init__(self, character: Character, reference: Reference) -> None:
        feet = dict.fromkeys(point.body for point in reference.schedule.points if point.foot)
        self._chains = [_chain(character, foot) for foot in feet]
        points = reference.schedule.points
        self._soles = [
            np.mean([point.position for point in points if point.foot and point.body == foot], axis=0) for foot in feet
        ]

    def distance(self, poses: tuple[Array, Array]) -> float:
        """Least distance of any two legs, m; infinite where there are fewer."""
        position, orientation = poses
        lines = []
        for chain, sole in zip(self._chains, self._soles, strict=True):
            line = [*position[chain], position[chain[-1]] + rotate(orientation[chain[-1]], sole)]
            if len(line) > 2:
                line[0] = line[0] + UPPER * (line[1] - line[0])
            lines.append(line)
        return min(
            (
                segment_distance(a[i], a[i + 1], b[j], b[j + 1])
                for a, b in combinations(lines, 2)
                for i in range(len(a) - 1)
                for j in range(len(b) - 1)
            ),
            default=np.inf,
        )


def _chain(character: Character, foot: int) -> list[int]:
    chain, body = [], foot
    while body > 0:
        chain.append(body)
        body = int(character.tree.parent[body])
    return chain[::-1]


def segment_distance(a: Array, b: Array, c: Array, d: Array) -> float:
    """Between segments a-b and c-d: C. Ericson, "Real-Time Collision Detection", 2005, section 5.1.9."""
    u, v, w = b - a, d - c, a - c
    uu, vv, uv, uw, vw = float(u @ u), float(v @ v), float(u @ v), float(u @ w), float(v @ w)
    cross = uu * vv - uv * uv
    s = min(max((uv * vw - uw * vv) / cross, 0.0), 1.0) if cross > 1e-12 else 0.0
    t = (uv * s + vw) / vv if vv > 1e-12 else 0.0
    if not 0.0 <= t <= 1.0:
        t = min(max(t, 0.0), 1.0)
        s = min(max((uv * t - uw) / uu, 0.0), 1.0) if uu > 1e-12 else 0.0
    return float(np.linalg.norm(w + s * u - t * v))
