# SPDX-License-Identifier: GPL-3.0-or-later
"""A mesh as few convex pieces: each loose part by itself, and one that is not convex cut in two, again and again.

Where a part is solid is asked at points in its box, by the winding number of its triangles (Jacobson et al., Robust
inside-outside segmentation using generalized winding numbers, 2013), so that a mesh may have holes. A cut lies along a
side of the mesh: what people model has its hollows between flat sides, so the legs of a table part from its top without
a rest. Of all sides the one is taken that leaves the least hollow in the hulls of what it parts.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components
from scipy.spatial import ConvexHull, QhullError

from .hulls import THINNEST, corners_of, thickness

Array = NDArray[np.float64]
Indices = NDArray[np.int64]

# Of more loose parts the largest count, and one of more triangles is not cut.
MOST_CUTS, MOST_PARTS, MOST_TRIANGLES = 24, 64, 20_000
# A piece is left as it is if no more of its hull than this is hollow.
HOLLOW = 0.04
# A cut along a side is taken if it leaves no more than this share of what is hollow.
ENOUGH = 0.9
# Points at which a part is asked whether it is solid there, and triangles times points at most.
POINTS = 1500
WORK = 6_000_000
# Sides along which it is tried to cut, the largest: fewer where there are many triangles, so that none takes long.
SIDES, FEWEST_SIDES, TRIED = 48, 4, 10_000
# Planes that differ by no more than this, in direction and as a share of the extent, are one.
SAME = 1e-3
# Nearer to a cut than this is on it, m.
ON_IT = 1e-6


class Part(NamedTuple):
    """A loose part, and where it is solid."""

    triangles: Array  # (nt, 3, 3)
    points: Array  # (n, 3) spread evenly over its box
    solid: NDArray[np.bool_]  # (n,)
    planes: Array  # (m, 4) normal and offset of its sides, the largest first


class Cell(NamedTuple):
    """What lies on one side of some cuts."""

    cuts: Array  # (k, 4): n . p + d <= 0
    polygons: list[Array]  # (n, 3) each: what they leave of the part's triangles
    corners: Array  # (n, 3) of the hull of what the part has there
    hollow: int  # points in their hull that are not solid
    inside: int  # points in their hull


def pieces_of(vertices: Array, triangles: Indices) -> list[Array]:
    """Corners of convex hulls that together are about the mesh; none where it is flat."""
    cells: list[tuple[Part, Cell]] = []
    for own in _loose_parts(vertices, triangles):
        part = _part(own)
        cell = _cell(part, np.zeros((0, 4)), list(own))
        if cell is not None:
            cells.append((part, cell))
    whole = len(cells)
    open_cells = [_share(cell) > HOLLOW and len(part.triangles) <= MOST_TRIANGLES for part, cell in cells]
    while any(open_cells) and len(cells) - whole < MOST_CUTS:
        worst = max((k for k, is_open in enumerate(open_cells) if is_open), key=lambda k: _volume(*cells[k]))
        part, cell = cells[worst]
        halves = _best_cut(part, cell)
        if halves is None:
            open_cells[worst] = False
            continue
        cells[worst : worst + 1] = [(part, half) for half in halves]
        open_cells[worst : worst + 1] = [_share(half) > HOLLOW for half in halves]
    return [corners_of(cell.corners) for _, cell in cells]


def _share(cell: Cell) -> float:
    return cell.hollow / max(cell.inside, 1)


def _volume(part: Part, cell: Cell) -> float:
    """Of its hollow."""
    return float(np.ptp(part.points, axis=0).prod()) * cell.hollow / len(part.points)


def _loose_parts(vertices: Array, triangles: Indices) -> list[Array]:
    """Triangles (n, 3, 3) by what hangs together; vertices at the same place are one."""
    _, same = np.unique(np.round(vertices / max(float(np.ptp(vertices)), 1e-12), 6), axis=0, return_inverse=True)
    corners = same.reshape(-1)[triangles]
    count = int(corners.max()) + 1 if len(corners) else 0
    rows, columns = corners[:, [0, 1]].ravel(), corners[:, [1, 2]].ravel()
    links = coo_array((np.ones(len(rows)), (rows, columns)), shape=(count, count))
    _, label = connected_components(links, directed=False)
    own = label[corners[:, 0]]
    parts = [vertices[triangles[own == one]] for one in np.unique(own)]
    sizes = [-float(np.ptp(part.reshape(-1, 3), axis=0).prod()) for part in parts]
    return [parts[k] for k in sorted(np.argsort(sizes, kind="stable")[:MOST_PARTS])]


def _part(triangles: Array) -> Part:
    corners = triangles.reshape(-1, 3)
    low, high = corners.min(axis=0), corners.max(axis=0)
    count = max(min(POINTS, WORK // len(triangles)), 64)
    points = low + _spread(count) * (high - low)
    return Part(triangles, points, winding_numbers(triangles, points) > 0.5, _sides(triangles))


def _spread(count: int) -> Array:
    """Points evenly over a cube of edge 1: the R3 sequence (Roberts, 2018), after the root of x^4 = x + 1."""
    root = 1.2207440846057596
    steps = np.array([root**-1, root**-2, root**-3])
    return np.asarray((0.5 + np.arange(1, count + 1)[:, None] * steps) % 1.0)


def winding_numbers(triangles: Array, points: Array) -> Array:
    """How often triangles (nt, 3, 3) go round each point (n, 3): solid angles (van Oosterom and Strackee, 1983)."""
    total = np.zeros(len(points))
    for start in range(0, len(points), 64):
        a, b, c = np.moveaxis(triangles[None] - points[start : start + 64, None, None], 2, 0)
        size = [np.linalg.norm(one, axis=2) for one in (a, b, c)]
        volume = np.einsum("pti,pti->pt", a, np.cross(b, c))
        rest = size[0] * size[1] * size[2]
        for one, other, third in ((a, b, size[2]), (b, c, size[0]), (c, a, size[1])):
            rest = rest + np.einsum("pti,pti->pt", one, other) * third
        total[start : start + 64] = np.arctan2(volume, rest).sum(axis=1) / (2.0 * np.pi)
    return np.abs(total)


def _sides(triangles: Array) -> Array:
    """Planes of the triangles, those of one plane taken together, the largest first."""
    normal = np.cross(triangles[:, 1] - triangles[:, 0], triangles[:, 2] - triangles[:, 0])
    area = np.linalg.norm(normal, axis=1)
    there = area > 1e-12 * max(float(area.max()), 1e-300)
    normal = normal[there] / area[there, None]
    offset = -np.einsum("ni,ni->n", normal, triangles[there, 0])
    extent = float(np.ptp(triangles.reshape(-1, 3), axis=0).max())
    # a plane and its reverse cut alike
    first = np.take_along_axis(normal, np.abs(normal).argmax(axis=1)[:, None], axis=1)
    planes = np.column_stack([normal, offset]) * np.sign(first)
    name = np.round(planes / np.array([SAME, SAME, SAME, SAME * extent])).astype(np.int64)
    _, where, which = np.unique(name, axis=0, return_index=True, return_inverse=True)
    total = np.bincount(which.reshape(-1), area[there])
    most = min(max(TRIED // len(triangles), FEWEST_SIDES), SIDES)
    return np.asarray(planes[where[np.argsort(-total, kind="stable")[:most]]])


def _best_cut(part: Part, cell: Cell) -> tuple[Cell, Cell] | None:
    """Both sides of the cut that leaves least hollow; where no side of the mesh helps, of one through the middle."""
    best, least = None, ENOUGH * cell.hollow
    for plane in part.planes:
        halves = _halves(part, cell, plane)
        if halves is not None and halves[0].hollow + halves[1].hollow < least:
            best, least = halves, halves[0].hollow + halves[1].hollow
    if best is None:
        longest = np.eye(3)[np.ptp(cell.corners, axis=0).argmax()]
        middle = 0.5 * (cell.corners.min(axis=0) + cell.corners.max(axis=0))
        best = _halves(part, cell, np.append(longest, -longest @ middle))
    return best


def _halves(part: Part, cell: Cell, plane: Array) -> tuple[Cell, Cell] | None:
    """Both sides of a cut; None where one of them has nothing."""
    heights = cell.corners @ plane[:3] + plane[3]
    if heights.min() > -THINNEST or heights.max() < THINNEST:
        return None
    below, above = (_cell(part, np.vstack([cell.cuts, side]), _cut(cell.polygons, side)) for side in (plane, -plane))
    return None if below is None or above is None else (below, above)


def _cell(part: Part, cuts: Array, polygons: list[Array]) -> Cell | None:
    """What the part has within some cuts, which leave these of its triangles; None where that is nothing."""
    meeting = _meetings(cuts)
    if len(meeting):
        meeting = meeting[winding_numbers(part.triangles, meeting) > 0.5]
    corners = np.concatenate([meeting, *polygons])
    if thickness(corners) < THINNEST:
        return None
    try:
        hull = ConvexHull(corners)
    except QhullError:
        return None
    depth = (part.points @ hull.equations[:, :3].T + hull.equations[:, 3]).max(axis=1)
    inside = depth < 0.0
    return Cell(cuts, polygons, corners[hull.vertices], int((inside & ~part.solid).sum()), int(inside.sum()))


def _cut(polygons: list[Array], plane: Array) -> list[Array]:
    """What of polygons is not above a plane."""
    if not polygons:
        return []
    height = np.concatenate(polygons) @ plane[:3] + plane[3]
    height[np.abs(height) < ON_IT] = 0.0
    start = np.cumsum([0, *map(len, polygons)])
    lowest, highest = np.minimum.reduceat(height, start[:-1]), np.maximum.reduceat(height, start[:-1])
    # what lies in the cut bounds one side only, which has its corners from the walls that stand on it
    return [
        polygons[k] if highest[k] <= 0.0 else _clipped(polygons[k], height[start[k] : start[k + 1]])
        for k in np.flatnonzero(lowest < 0.0)
    ]


def _clipped(polygon: Array, height: Array) -> Array:
    """What of a polygon is not above 0."""
    corners = []
    for k in range(len(polygon)):
        j = (k + 1) % len(polygon)
        if height[k] <= 0.0:
            corners.append(polygon[k])
        if (height[k] < 0.0 < height[j]) or (height[j] < 0.0 < height[k]):
            corners.append(polygon[k] + height[k] / (height[k] - height[j]) * (polygon[j] - polygon[k]))
    return np.array(corners)


def _meetings(cuts: Array) -> Array:
    """Points where three cuts meet and that none of the others cuts off."""
    found = []
    for i in range(len(cuts)):
        for j in range(i):
            for k in range(j):
                three = cuts[[i, j, k]]
                if abs(np.linalg.det(three[:, :3])) > 1e-3:
                    found.append(np.linalg.solve(three[:, :3], -three[:, 3]))
    points = np.array(found).reshape(-1, 3)
    return points[(points @ cuts[:, :3].T + cuts[:, 3] <= 1e-9).all(axis=1)] if len(points) else points
