# SPDX-License-Identifier: GPL-3.0-or-later
"""Surfaces as a caller describes them: plane, height grid, triangle mesh, each at rest or moving.

Immutable values that check themselves; `make_terrain` turns a list of them into the arrays that kernels read.
"""

import math
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .mesh import PreparedMesh, prepare_mesh

LARGEST_FRICTION = 1e6


def _finite(values: ArrayLike, shape: tuple[int | None, ...], what: str) -> NDArray[np.float64]:
    """A read-only array of finite floats; None in `shape` stands for any length."""
    array = np.array(values, dtype=np.float64)
    fits = array.ndim == len(shape) and all(want in {None, got} for want, got in zip(shape, array.shape, strict=True))
    if not fits:
        wanted = ", ".join("n" if want is None else str(want) for want in shape)
        raise ValueError(f"The {what} must have the shape ({wanted}), not {array.shape}.")
    if not np.isfinite(array).all():
        raise ValueError(f"The {what} must be finite.")
    array.flags.writeable = False
    return array


def _check_friction(friction: float) -> None:
    if not 0.0 <= friction <= LARGEST_FRICTION:
        raise ValueError(f"The friction must lie between 0 and {LARGEST_FRICTION:g}, not be {friction}.")


@dataclass(frozen=True, eq=False)
class RigidMotion:
    """Poses sampled at a constant rate from time `start` on, and held before and after.

    Between samples the surface moves at constant velocity and turns at constant angular velocity, so that the velocity
    given to contacts is exactly the one that carries it from sample to sample.
    """

    positions: NDArray[np.float64]  # (n, 3) m
    quaternions: NDArray[np.float64]  # (n, 4) w-x-y-z
    rate: float  # samples per second
    start: float = 0.0  # s

    def __post_init__(self) -> None:
        positions = _finite(self.positions, (None, 3), "positions of a motion")
        quaternions = _finite(self.quaternions, (None, 4), "quaternions of a motion")
        if len(positions) == 0 or len(positions) != len(quaternions):
            raise ValueError(
                f"A motion needs as many positions as quaternions, not {len(positions)} and {len(quaternions)}."
            )
        lengths = np.linalg.norm(quaternions, axis=1, keepdims=True)
        if lengths.min() < 1e-6:
            raise ValueError("A quaternion of a motion is zero.")
        if not (math.isfinite(self.rate) and self.rate > 0.0 and math.isfinite(self.start)):
            raise ValueError("The rate of a motion must be positive and its start finite.")
        object.__setattr__(self, "positions", positions)
        object.__setattr__(self, "quaternions", _finite(quaternions / lengths, (None, 4), "quaternions of a motion"))

    @property
    def moves(self) -> bool:
        """Whether its poses differ."""
        return bool(np.ptp(self.positions, axis=0).any() or np.ptp(self.quaternions, axis=0).any())


def at_rest() -> RigidMotion:
    """The motion of what does not move."""
    return RigidMotion(np.zeros((1, 3)), np.array([[1.0, 0.0, 0.0, 0.0]]), 1.0)


@dataclass(frozen=True, eq=False)
class Plane:
    """A half-space: everything behind `point` against `normal` is solid."""

    point: tuple[float, float, float] = (0.0, 0.0, 0.0)
    normal: tuple[float, float, float] = (0.0, 0.0, 1.0)
    friction: float = 1.0
    motion: RigidMotion = field(default_factory=at_rest)

    def __post_init__(self) -> None:
        _check_friction(self.friction)
        _finite(self.point, (3,), "point of a plane")
        length = float(np.linalg.norm(_finite(self.normal, (3,), "normal of a plane")))
        if length < 1e-12:
            raise ValueError("The normal of a plane must not be zero.")


@dataclass(frozen=True, eq=False)
class HeightGrid:
    """Heights over a regular grid; each cell is two triangles split along the diagonal from its low corner."""

    heights: NDArray[np.float64]  # (nx, ny) m, at origin + (i, j) * spacing
    spacing: float  # m
    origin: tuple[float, float] = (0.0, 0.0)  # x and y of heights[0, 0], m
    friction: float = 1.0
    motion: RigidMotion = field(default_factory=at_rest)

    def __post_init__(self) -> None:
        _check_friction(self.friction)
        heights = _finite(self.heights, (None, None), "heights of a grid")
        if min(heights.shape) < 2:
            raise ValueError(f"A height grid needs at least 2 by 2 heights, not {heights.shape}.")
        if not (math.isfinite(self.spacing) and self.spacing > 0.0):
            raise ValueError(f"The spacing of a height grid must be positive, not {self.spacing}.")
        _finite(self.origin, (2,), "origin of a height grid")
        object.__setattr__(self, "heights", heights)


@dataclass(frozen=True, eq=False)
class Mesh:
    """Triangles, closed or open; `prepared` says what had to be mended."""

    vertices: NDArray[np.float64]  # (nv, 3) m
    triangles: NDArray[np.int64]  # (nt, 3)
    friction: float = 1.0
    motion: RigidMotion = field(default_factory=at_rest)
    name: str = "mesh"

    def __post_init__(self) -> None:
        _check_friction(self.friction)
        object.__setattr__(self, "prepared", prepare_mesh(self.vertices, self.triangles, self.name))

    prepared: PreparedMesh = field(init=False, repr=False)


Surface = Plane | HeightGrid | Mesh
