# SPDX-License-Identifier: GPL-3.0-or-later
"""Boxes that a body may rest on, as large as the room that it leaves them: steps, seats, ledges and walls as meshes."""

from collections.abc import Container, Iterable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..character import Capsule, Character, Corner, Sphere
from ..contact.terrain import Mesh, make_terrain
from .fit import Trajectory
from .quaternions import Array
from .schedule import ContactPoint
from .tracks import ground_under, point_places

ALONG = 5  # places of each capsule that are looked at
EVERY = 0.04  # s, between frames that are looked at
TOUCHES, GIVES = 0.015, 0.05  # m that a body may be in a box, and flesh that gives way
TRIANGLES = np.array(
    [
        [0, 2, 1], [1, 2, 3], [4, 5, 6], [5, 7, 6], [0, 1, 4], [1, 5, 4],
        [2, 6, 3], [3, 6, 7], [0, 4, 2], [2, 4, 6], [1, 3, 5], [3, 7, 5],
    ]
)  # fmt: skip


class Box(NamedTuple):
    """An upright box around a place of the ground, along a direction and across it."""

    name: str
    place: tuple[float, float]  # m
    along: tuple[float, float]  # unit
    back: float  # m, how far it reaches against that direction
    front: float
    right: float
    left: float
    bottom: float
    top: float

    def mesh(self) -> Mesh:
        """Its faces."""
        ahead = np.array(self.along)
        aside = np.array([-ahead[1], ahead[0]])
        vertices = [
            (*(np.array(self.place) + x * ahead + y * aside).tolist(), z)
            for x in (-self.back, self.front)
            for y in (-self.right, self.left)
            for z in (self.bottom, self.top)
        ]
        return Mesh(np.array(vertices), TRIANGLES, name=self.name)

    def within(self, places: Array) -> NDArray[np.bool_]:
        """Which of places (n, 2) lie inside, seen from above."""
        x, y = self.seen(places).T
        return np.asarray((x > -self.back) & (x < self.front) & (y > -self.right) & (y < self.left))

    def seen(self, places: Array) -> Array:
        """Places (n, 2) along it and across it, from its own."""
        ahead = np.array(self.along)
        found: Array = (places - np.array(self.place)) @ np.array([[ahead[0], -ahead[1]], [ahead[1], ahead[0]]])
        return found


def body_points(character: Character) -> tuple[ContactPoint, ...]:
    """Balls with which the whole of a body is felt out."""
    found = []
    for shape in character.contacts:
        body = character.index(shape.body)
        if isinstance(shape, Corner):
            found.append(ContactPoint(shape.name, body, shape.position))
        elif isinstance(shape, Sphere):
            found.append(ContactPoint(shape.name, body, shape.position, shape.radius))
        elif isinstance(shape, Capsule):
            start, end = np.array(shape.start), np.array(shape.end)
            for share in np.linspace(0.0, 1.0, ALONG):
                x, y, z = ((1.0 - share) * start + share * end).tolist()
                found.append(ContactPoint(shape.name, body, (x, y, z), shape.radius))
    return tuple(found)


def depth_in(character: Character, trajectory: Trajectory, mesh: Mesh, yielding: Container[str] = ()) -> float:
    """How deep a body is in a mesh at its deepest, m; 0 where it never touches, or only with bodies that give way."""
    points = [point for point in body_points(character) if character.bodies[point.body].name not in yielding]
    every = max(1, round(EVERY * trajectory.rate))
    places = point_places(character, trajectory.q[::every], points)
    radius = np.array([point.radius for point in points])
    height = ground_under(make_terrain([mesh]), places, radius, trajectory.rate / every).height
    return max(0.0, -float(height.min()))


def clear(
    character: Character, trajectory: Trajectory, boxes: Iterable[Box], yielding: Container[str] = ()
) -> Box | None:
    """The first of some boxes that a body hardly is in, with bodies that give way deeper; None where it is in all."""
    for box in boxes:
        mesh = box.mesh()
        if (
            depth_in(character, trajectory, mesh, yielding) <= TOUCHES
            and depth_in(character, trajectory, mesh) <= GIVES
        ):
            return box
    return None
