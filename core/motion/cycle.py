# SPDX-License-Identifier: GPL-3.0-or-later
"""The displacement of a periodic motion in one period."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..character import Character
from ..character.tree import FREE

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Cycle:
    """What one period does to a motion, x_N = T x_0: a turn about the vertical through the origin, then a shift."""

    shift: tuple[float, float]  # along x and y, m
    turn: float = 0.0  # rad

    def __post_init__(self) -> None:
        if not np.isfinite((*self.shift, self.turn)).all():
            raise ValueError("The shift and turn of a cycle must be finite.")
        x, y = self.shift
        object.__setattr__(self, "shift", (float(x), float(y)))
        object.__setattr__(self, "turn", float(self.turn))

    @property
    def rotation(self) -> Array:
        """The turn as a matrix (3, 3)."""
        c, s = np.cos(self.turn), np.sin(self.turn)
        return np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])

    def move_points(self, points: Array) -> Array:
        """Points (..., 3) a period later."""
        result: Array = points @ self.rotation.T + np.array([*self.shift, 0.0])
        return result

    def move_points_back(self, points: Array) -> Array:
        """Points (..., 3) a period earlier."""
        result: Array = (points - np.array([*self.shift, 0.0])) @ self.rotation
        return result

    def move_state(self, character: Character, q: Array, v: Array) -> tuple[Array, Array]:
        """Positions (nq,) and velocities (nv,) a period later: only a free root is in the world's axes."""
        q_moved, v_moved = q.copy(), v.copy()
        if character.tree.joint[0] == FREE:
            q_moved[:3] = self.move_points(q[:3])
            w, x, y, z = q[3:7].tolist()
            c, s = np.cos(0.5 * self.turn), np.sin(0.5 * self.turn)
            q_moved[3:7] = (c * w - s * z, c * x - s * y, c * y + s * x, c * z + s * w)
            v_moved[:3] = self.rotation @ v[:3]
        return q_moved, v_moved
