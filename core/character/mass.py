# SPDX-License-Identifier: GPL-3.0-or-later
"""Mass, centre and inertia as one value, and the sum of several."""

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray


class Mass(NamedTuple):
    """How matter is distributed, in some frame."""

    mass: float  # kg
    center: NDArray[np.float64]  # (3,) m
    inertia: NDArray[np.float64]  # (3, 3) about the centre, kg m²

    def moved(self, offset: ArrayLike) -> "Mass":
        """The same matter at another place."""
        return self._replace(center=self.center + np.asarray(offset, dtype=np.float64))


def combine(parts: list[Mass]) -> Mass:
    """The parts as one rigid body: first moments add, and inertias add by the parallel-axis theorem.

    A negative mass with a negative inertia takes matter away.
    """
    mass = sum(part.mass for part in parts)
    center = sum((part.mass * part.center for part in parts), np.zeros(3)) / mass
    inertia = np.zeros((3, 3))
    for part in parts:
        arm = part.center - center
        inertia += part.inertia + part.mass * (arm @ arm * np.eye(3) - np.outer(arm, arm))
    return Mass(mass, center, inertia)


def box(mass: float, size: tuple[float, float, float]) -> Mass:
    """A uniform box about the origin, with edges along the axes."""
    x, y, z = size
    moments = np.array([y * y + z * z, z * z + x * x, x * x + y * y]) * (mass / 12.0)
    return Mass(mass, np.zeros(3), np.diag(moments))


def cylinder(mass: float, start: ArrayLike, end: ArrayLike, radius: float) -> Mass:
    """A uniform cylinder around the segment from start to end."""
    start, end = np.asarray(start, dtype=np.float64), np.asarray(end, dtype=np.float64)
    length = float(np.linalg.norm(end - start))
    along = (end - start) / length
    across = mass * (3.0 * radius**2 + length**2) / 12.0
    around = 0.5 * mass * radius**2
    return Mass(mass, 0.5 * (start + end), across * np.eye(3) + (around - across) * np.outer(along, along))
