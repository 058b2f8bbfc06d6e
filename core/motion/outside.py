# SPDX-License-Identifier: GPL-3.0-or-later
"""Forces from outside: what another's hand gives, or a push that goes on. They act at points, which may be led, too."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..character import Character
from ..dynamics import mass_matrix, point_jacobian
from .schedule import ContactPoint

Array = NDArray[np.float64]

SURE = 1.0  # per squared newton by which a force that is known is off: millinewtons are left


class Outside(NamedTuple):
    """What acts in each of N steps; plain data."""

    points: tuple[ContactPoint, ...]  # that can be pulled in all directions
    local: Array  # (N + 1, n, 3) where they are in their bodies, over which they may move, m
    force: Array  # (N, n, 3) in the world, N
    held: NDArray[np.bool_]  # (N + 1, n) led to its place; none are where a force finds its point
    place: Array  # (N + 1, n, 3) in the world, m
    weight: Array  # (n,) of half the square by which a force differs from this one, per squared newton

    @classmethod
    def of_forces(cls, points: tuple[ContactPoint, ...], force: Array) -> "Outside":
        """Forces that find their points wherever they are."""
        shape = len(force) + 1, len(points)
        local = np.tile(np.array([point.position for point in points]).reshape(-1, 3), (shape[0], 1, 1))
        return cls(
            points, local, force, np.zeros(shape, dtype=np.bool_), np.zeros((*shape, 3)), np.full(len(points), SURE)
        )

    def lasting(self, frames: int) -> "Outside":
        """The same over so many frames: cut off, or with nothing that acts after it."""
        more = max(frames - len(self.held), 0)
        return self._replace(
            local=np.pad(self.local, ((0, more), (0, 0), (0, 0)), mode="edge")[:frames],
            force=np.pad(self.force, ((0, more), (0, 0), (0, 0)))[: frames - 1],
            held=np.pad(self.held, ((0, more), (0, 0)))[:frames],
            place=np.pad(self.place, ((0, more), (0, 0), (0, 0)))[:frames],
        )

    def check(self, character: Character, frames: int) -> None:
        """ValueError where it does not fit a character's motion of so many frames."""
        count = len(self.points)
        shapes: dict[str, tuple[int, ...]] = {
            "local": (frames, count, 3),
            "force": (frames - 1, count, 3),
            "held": (frames, count),
            "place": (frames, count, 3),
            "weight": (count,),
        }
        arrays = self._asdict()
        if any(arrays[name].shape != shape or not np.isfinite(arrays[name]).all() for name, shape in shapes.items()):
            raise ValueError(f"What acts from outside must be finite, and cover {frames} frames.")
        for point in self.points:
            if not 0 <= point.body < len(character.bodies):
                raise ValueError(f"What acts from outside at '{point.name}' finds no body of the character.")


NOTHING = Outside.of_forces((), np.zeros((0, 0, 3)))


def velocities_given(character: Character, q: Array, dt: float, outside: Outside) -> Array:
    """What the forces change velocities by (N, nv) in the steps between the poses q (N + 1, nq)."""
    change = np.zeros((len(q) - 1, character.nv))
    for k in np.flatnonzero(outside.force.any(axis=(1, 2))):
        there = q[k + 1]  # the equations of a step are those of the pose that it leads to
        impulse = np.zeros(character.nv)
        for point, local, force in zip(outside.points, outside.local[k + 1], outside.force[k], strict=True):
            impulse += dt * point_jacobian(character, there, point.body, local).T @ force
        change[k] = np.linalg.solve(mass_matrix(character, there), impulse)
    return change
