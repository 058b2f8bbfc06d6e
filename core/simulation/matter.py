# SPDX-License-Identifier: GPL-3.0-or-later
"""What shapes weigh where: filled evenly, each for itself, so that what two share counts twice."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ..character.mass import Mass, box, combine, cylinder
from ..character.parts import Capsule, Sphere
from ..contact.hulls import solid_mass
from ..contact.shapes import Box, Hull, Shape
from ..maths.rotations import quaternion_matrix


def filled(shapes: Sequence[Shape], mass: float) -> Mass:
    """Shapes of one density that weigh so much (kg) together."""
    parts = [_of_one_density(shape) for shape in shapes]
    whole = combine(parts)
    share = mass / whole.mass
    return Mass(mass, whole.center, share * whole.inertia)


def _of_one_density(shape: Shape) -> Mass:
    """At 1 kg per cubic metre."""
    if isinstance(shape, Hull):
        return solid_mass(np.array(shape.corners))
    if isinstance(shape, Box):
        x, y, z = shape.half_extents
        own = box(8.0 * x * y * z, (2.0 * x, 2.0 * y, 2.0 * z))
        turn = np.array(quaternion_matrix(shape.orientation)).reshape(3, 3)
        return Mass(own.mass, np.array(shape.position), turn @ own.inertia @ turn.T)
    if isinstance(shape, Sphere):
        return _ball(np.array(shape.position), shape.radius)
    if isinstance(shape, Capsule):
        return _capsule(np.array(shape.start), np.array(shape.end), shape.radius)
    raise ValueError(f"Contact '{shape.name}' is a point, which weighs nothing.")


def _ball(center: NDArray[np.float64], radius: float) -> Mass:
    mass = 4.0 / 3.0 * np.pi * radius**3
    return Mass(mass, center, 0.4 * mass * radius * radius * np.eye(3))


def _capsule(start: NDArray[np.float64], end: NDArray[np.float64], radius: float) -> Mass:
    """A cylinder and two half balls, whose own centres lie 3/8 of the radius beyond its ends."""
    length = float(np.linalg.norm(end - start))
    if length < 1e-9:
        return _ball(start, radius)
    along = (end - start) / length
    ball = _ball(np.zeros(3), radius)
    half = 0.5 * ball.mass
    out = 0.375 * radius * along
    own = 0.5 * ball.inertia - half * (out @ out * np.eye(3) - np.outer(out, out))
    middle = cylinder(np.pi * radius * radius * length, start, end, radius)
    return combine([middle, Mass(half, start - out, own), Mass(half, end + out, own)])
