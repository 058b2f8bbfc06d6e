# SPDX-License-Identifier: GPL-3.0-or-later
"""A hand that holds a point of a body by a spring: what it pulls with, and for how long."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..character import Character
from ..character.check import Vector
from ..dynamics import body_poses
from ..motion.quaternions import rotate
from .forces import Done, Forces

Array = NDArray[np.float64]

STIFFNESS = 800.0  # N/m, less for what is light: the force of a step is known before it
STEADY = 0.1  # times mass over the step squared: at most that stiff
DAMPING = 0.7  # of critical, of the body by itself


@dataclass(frozen=True)
class Grip:
    """What a hand does now, to be shown."""

    point: Vector  # where it holds, in the world, m
    place: Vector  # where it pulls to
    force: Vector  # N


class Hand:
    """One pull from Hold to Release. The spring is a person's arm: it gives at most so much."""

    def __init__(self, character: Character, rate: float, forces: Forces, strongest: float) -> None:
        self._character, self._rate, self._forces, self._strongest = character, rate, forces, strongest
        self._force: Done | None = None
        self._place: Array = np.zeros(3)
        self._before: Array | None = None  # where the point was in the state before
        self.grip: Grip | None = None

    @property
    def holds(self) -> bool:
        """Whether it does."""
        return self._force is not None

    def take(self, body: str, point: Vector, place: Vector, state: int) -> None:
        """Take hold; ValueError where there is no such body."""
        self.let_go()
        self._force = self._forces.begin(body, point, state)
        self._place, self._before = np.array(place), None

    def move(self, place: Vector) -> None:
        """Pull to another place."""
        self._place = np.array(place)

    def let_go(self) -> None:
        """Not hold any more."""
        if self._force is not None:
            self._forces.end(self._force)
        self._force = self.grip = None

    def act(self, q: Array, way: Array) -> None:
        """Pull in the next step, by where the body is and how fast it goes, so far from where it is seen."""
        if self._force is None:
            return
        character = self._character
        b = character.index(self._force.body)
        position, orientation = body_poses(character, np.ascontiguousarray(q[: character.nq]))
        point = position[b] + rotate(orientation[b], np.array(self._force.point))
        velocity = np.zeros(3) if self._before is None else (point - self._before) * self._rate
        self._before = point
        mass = character.bodies[b].mass
        stiffness = min(STIFFNESS, STEADY * mass * self._rate * self._rate)
        wanted = stiffness * (self._place + way - point) - 2.0 * DAMPING * np.sqrt(stiffness * mass) * velocity
        size = float(np.linalg.norm(wanted))
        taken = self._forces.go_on(self._force, wanted * min(1.0, self._strongest / max(size, 1e-9)))
        self.grip = Grip(_vector(point - way), _vector(self._place), _vector(taken))


def _vector(values: Array) -> Vector:
    x, y, z = values.tolist()
    return x, y, z
