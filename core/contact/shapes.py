# SPDX-License-Identifier: GPL-3.0-or-later
"""Contact shapes as kernels see them: of characters (corners, spheres, capsules) and of props (boxes and hulls too)."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from ..character import check
from ..character.check import Quaternion, Vector
from ..character.parts import Capsule, ContactShape, Corner, Sphere
from ..maths.rotations import quaternion_matrix, quaternion_multiply
from ..maths.structure import Structure
from .hulls import check_corners
from .solids import Solids, make_solids

POINT, BALL, LIMB, BOX, HULL = range(5)


@dataclass(frozen=True)
class Box:
    """A block: a prop, or the seat of a chair."""

    name: str
    body: str
    half_extents: Vector  # m
    position: Vector = (0.0, 0.0, 0.0)  # its centre in the body's frame, m
    orientation: Quaternion = (1.0, 0.0, 0.0, 0.0)  # w-x-y-z

    def __post_init__(self) -> None:
        owner = f"contact '{check.name(self.name, 'contact')}'"
        extents = check.vector(self.half_extents, "half extents", owner)
        for extent in extents:
            check.positive(extent, "half extent", owner)
        object.__setattr__(self, "half_extents", extents)
        object.__setattr__(self, "position", check.vector(self.position, "position", owner))
        object.__setattr__(self, "orientation", check.quaternion(self.orientation, "orientation", owner))


@dataclass(frozen=True)
class Hull:
    """The convex hull of some corners: a piece of a prop's mesh. `hulls.corners_of` finds them among many points."""

    name: str
    body: str
    corners: tuple[Vector, ...]  # in the body's frame, m

    def __post_init__(self) -> None:
        owner = f"contact '{check.name(self.name, 'contact')}'"
        corners = tuple(check.vector(corner, "corner", owner) for corner in self.corners)
        check_corners(np.array(corners).reshape(-1, 3), owner)
        object.__setattr__(self, "corners", corners)


Shape = ContactShape | Box | Hull


def moved(shape: Shape, by: Vector, turn: Quaternion = (1.0, 0.0, 0.0, 0.0)) -> Shape:
    """A shape in a frame in which its own one stands there, turned so."""
    rotation = np.array(quaternion_matrix(turn)).reshape(3, 3)

    def place(point: Vector) -> Vector:
        x, y, z = (rotation @ point + by).tolist()
        return x, y, z

    if isinstance(shape, Capsule):
        return replace(shape, start=place(shape.start), end=place(shape.end))
    if isinstance(shape, Hull):
        return replace(shape, corners=tuple(place(corner) for corner in shape.corners))
    if isinstance(shape, Box):
        orientation = quaternion_multiply(turn, shape.orientation)
        return replace(shape, position=place(shape.position), orientation=orientation)
    return replace(shape, position=place(shape.position))


class Shapes(Structure):
    """Shapes (ns) on bodies, and the pairs of them (np) that may touch each other."""

    kind: NDArray[np.int64]  # (ns,) POINT, BALL, LIMB, BOX or HULL
    body: NDArray[np.int64]  # (ns,) row of the bodies' positions
    start: NDArray[np.float64]  # (ns, 3) point, centre or one end, in the body's frame, m; of a hull the frame's own
    end: NDArray[np.float64]  # (ns, 3) a capsule's other end, otherwise `start`
    radius: NDArray[np.float64]  # (ns,) zero for points, boxes and hulls
    half_extents: NDArray[np.float64]  # (ns, 3) of a box
    orientation: NDArray[np.float64]  # (ns, 4) of a box in the body's frame, w-x-y-z
    friction: NDArray[np.float64]  # (ns,) factor on the friction of what is touched
    meets_terrain: NDArray[np.bool_]  # (ns,)
    solids: Solids  # flat sides of boxes and hulls, and of the corners of a body
    solid: NDArray[np.int64]  # (ns,) row of a box or hull in `solids`, otherwise -1
    pair: NDArray[np.int64]  # (np, 2) shapes; contact pushes the first off the second
    pair_friction: NDArray[np.float64]  # (np,) coefficient


def make_shapes(
    shapes: Sequence[Shape],
    body_index: Mapping[str, int],
    *,
    pairs: Iterable[tuple[str, str]] = (),
    pair_friction: float = 1.0,
    friction: Mapping[str, float] | None = None,
    without_terrain: Iterable[str] = (),
) -> Shapes:
    """Flatten shapes.

    body_index
        Row of each body in the arrays of positions that `detect` is given.
    pairs
        Names of shapes that may touch each other, on different bodies.
    friction
        Factors for shapes by name, on the friction of whatever they touch; one where not given.
    without_terrain
        Names of shapes that pass through terrain.
    """
    count = len(shapes)
    names = {shape.name: i for i, shape in enumerate(shapes)}
    if len(names) < count:
        raise ValueError("Two contact shapes have the same name.")
    factors = dict(friction or {})
    excluded = set(without_terrain)
    chosen = [tuple(pair) for pair in pairs]
    for name in [*factors, *excluded, *(name for pair in chosen for name in pair)]:
        if name not in names:
            raise ValueError(f"There is no contact shape '{name}'.")
    for name, factor in factors.items():
        check.not_negative(factor, "friction", f"contact '{name}'")
    own, of_corners = _solid_corners(shapes, excluded)
    solids = make_solids(own + of_corners)
    flat = Shapes(
        kind=np.zeros(count, dtype=np.int64),
        body=np.zeros(count, dtype=np.int64),
        start=np.zeros((count, 3)),
        end=np.zeros((count, 3)),
        radius=np.zeros(count),
        half_extents=np.zeros((count, 3)),
        orientation=np.tile([1.0, 0.0, 0.0, 0.0], (count, 1)),
        friction=np.array([factors.get(shape.name, 1.0) for shape in shapes], dtype=np.float64),
        meets_terrain=np.array([shape.name not in excluded for shape in shapes], dtype=np.bool_),
        solids=solids,
        solid=np.full(count, -1, dtype=np.int64),
        pair=np.array([[names[a], names[b]] for a, b in chosen], dtype=np.int64).reshape(-1, 2),
        pair_friction=np.full(len(chosen), check.not_negative(pair_friction, "friction", "pairs of shapes")),
    )
    for i, shape in enumerate(shapes):
        if shape.body not in body_index:
            raise ValueError(f"Contact '{shape.name}' belongs to an unknown body '{shape.body}'.")
        flat.body[i] = body_index[shape.body]
        if isinstance(shape, Capsule):
            flat.kind[i] = LIMB
            flat.start[i], flat.end[i], flat.radius[i] = shape.start, shape.end, shape.radius
            continue
        if isinstance(shape, Hull):
            flat.kind[i] = HULL
            continue
        flat.start[i] = flat.end[i] = shape.position
        if isinstance(shape, Corner):
            flat.kind[i] = POINT
        elif isinstance(shape, Sphere):
            flat.kind[i] = BALL
            flat.radius[i] = shape.radius
        else:
            flat.kind[i] = BOX
            flat.half_extents[i] = shape.half_extents
            flat.orientation[i] = shape.orientation
    flat.solid[solids.shape[: len(own)]] = np.arange(len(own))
    for a, b in chosen:
        if flat.body[names[a]] == flat.body[names[b]]:
            raise ValueError(f"Contacts '{a}' and '{b}' belong to the same body and cannot touch each other.")
    for array in (*flat, *flat.solids):
        if isinstance(array, np.ndarray):
            array.flags.writeable = False
    return flat


Corners = list[tuple[int, NDArray[np.float64]]]


def _solid_corners(shapes: Sequence[Shape], excluded: set[str]) -> tuple[Corners, Corners]:
    """Of boxes and hulls by their rows, and of all corners of a body that meet terrain, under the row of the first."""
    solids: Corners = []
    soles: dict[str, tuple[int, list[Vector]]] = {}
    for i, shape in enumerate(shapes):
        if isinstance(shape, Corner) and shape.name not in excluded:
            soles.setdefault(shape.body, (i, []))[1].append(shape.position)
        elif isinstance(shape, Box):
            signs = np.array([[x, y, z] for x in (-1.0, 1.0) for y in (-1.0, 1.0) for z in (-1.0, 1.0)])
            turn = np.array(quaternion_matrix(shape.orientation)).reshape(3, 3)
            solids.append((i, signs * shape.half_extents @ turn.T + shape.position))
        elif isinstance(shape, Hull):
            solids.append((i, np.array(shape.corners)))
    return solids, [(i, np.array(points)) for i, points in soles.values()]
