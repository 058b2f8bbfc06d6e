# SPDX-License-Identifier: GPL-3.0-or-later
"""From a bag of triangles to a mesh that can tell inside from outside.

Equal vertices are welded, degenerate triangles dropped, windings made to agree across edges, and each connected piece
turned outwards: a closed piece so that its volume is positive, an open one (a sheet of ground) so that most of its area
looks up, since ground is stood upon from above. An open piece that looks up as much as down, such as a pipe without
caps, goes by its volume too. What was changed is counted.

The sign of a distance comes from the angle-weighted normal of the nearest feature (Baerentzen and Aanaes 2005): of a
face its normal, of an edge the sum of the two faces' normals, of a corner the sum of the normals around it, each
weighted by its angle.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ...maths.kernel import allocating_kernel, kernel
from .hierarchy import build_hierarchy

# A triangle is degenerate if its height over its longest edge is below this share of that edge.
FLATTEST = 1e-9
# An open piece looks up if the areas of its shadow from above and from below differ by more than this share of its own.
LOOKS_UP = 0.05


class PreparedMesh(NamedTuple):
    """Triangles in the order of the hierarchy's leaves, and the counts of what had to be mended."""

    vertices: NDArray[np.float64]  # (nv, 3) m
    triangles: NDArray[np.int64]  # (nt, 3) counterclockwise seen from outside
    normals: NDArray[np.float64]  # (nt, 3) unit, outwards
    neighbors: NDArray[np.int64]  # (nt, 3) triangle across edges ab, bc, ca; -1 at a boundary
    corner_normals: NDArray[np.float64]  # (nv, 3) angle-weighted, not unit; zero at vertices of a boundary
    bounds: NDArray[np.float64]  # (nn, 6) boxes of the hierarchy
    right: NDArray[np.int64]  # (nn,)
    first: NDArray[np.int64]  # (nn,)
    leaf_size: NDArray[np.int64]  # (nn,)
    degenerate: int  # triangles dropped
    flipped: int  # triangles whose winding was turned
    pieces: int  # connected pieces
    closed: int  # of them without a boundary


def prepare_mesh(vertices: ArrayLike, triangles: ArrayLike, name: str = "mesh") -> PreparedMesh:
    """Mend, orient and index a mesh; ValueError says in one sentence what cannot be mended."""
    points = np.ascontiguousarray(vertices, dtype=np.float64)
    corners = np.asarray(triangles)
    if points.ndim != 2 or points.shape[1] != 3:
        raise ValueError(f"The vertices of {name} must have the shape (n, 3), not {points.shape}.")
    if corners.size == 0 or points.size == 0:
        raise ValueError(f"The mesh {name} has no triangles.")
    if corners.ndim != 2 or corners.shape[1] != 3 or not np.issubdtype(corners.dtype, np.integer):
        raise ValueError(f"The triangles of {name} must be integers of the shape (n, 3), not {corners.shape}.")
    corners = corners.astype(np.int64)
    finite = np.isfinite(points).all(axis=1)
    if not finite.all():
        raise ValueError(f"Vertex {int(np.argmin(finite))} of {name} is not finite.")
    if corners.min() < 0 or corners.max() >= len(points):
        worst = corners.max() if corners.max() >= len(points) else corners.min()
        raise ValueError(f"A triangle of {name} uses vertex {int(worst)}, but there are {len(points)} vertices.")

    points, corners = _weld(points, corners)
    kept = _is_sound(points, corners)
    degenerate = int(len(corners) - kept.sum())
    corners = np.ascontiguousarray(corners[kept])
    if len(corners) == 0:
        raise ValueError(f"All {degenerate} triangles of {name} are degenerate.")

    order, bounds, right, first, count = _hierarchy(points, corners)
    corners = np.ascontiguousarray(corners[order])
    neighbors = _neighbors(corners, len(points))
    flipped, pieces, closed = _orient(points, corners, neighbors)

    normals = np.cross(points[corners[:, 1]] - points[corners[:, 0]], points[corners[:, 2]] - points[corners[:, 0]])
    normals /= np.linalg.norm(normals, axis=1, keepdims=True)
    corner_normals = np.zeros_like(points)
    _add_corner_normals(points, corners, normals, corner_normals)
    edge_vertices = corners[neighbors < 0], np.roll(corners, -1, axis=1)[neighbors < 0]
    for boundary in edge_vertices:
        corner_normals[boundary] = 0.0
    return PreparedMesh(
        points,
        corners,
        normals,
        neighbors,
        corner_normals,
        bounds,
        right,
        first,
        count,
        degenerate,
        flipped,
        pieces,
        closed,
    )


def _weld(points: NDArray[np.float64], corners: NDArray[np.int64]) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Merge vertices at exactly the same place."""
    points = points + 0.0  # -0.0 and 0.0 are one place
    order = np.lexsort(points.T)
    ordered = points[order]
    new = np.ones(len(points), dtype=np.bool_)
    new[1:] = (ordered[1:] != ordered[:-1]).any(axis=1)
    if new.all():
        return points, corners
    place = np.empty(len(points), dtype=np.int64)
    place[order] = np.cumsum(new) - 1
    return np.ascontiguousarray(ordered[new]), place[corners]


def _is_sound(points: NDArray[np.float64], corners: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Whether a triangle has an area worth the name."""
    a, b, c = (points[corners[:, k]] for k in range(3))
    longest = np.maximum(np.maximum(((b - a) ** 2).sum(1), ((c - b) ** 2).sum(1)), ((a - c) ** 2).sum(1))
    twice_area = np.linalg.norm(np.cross(b - a, c - a), axis=1)
    sound: NDArray[np.bool_] = twice_area > FLATTEST * longest
    return sound


def _hierarchy(
    points: NDArray[np.float64], corners: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.float64], NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Order of the triangles, and nodes."""
    a, b, c = (points[corners[:, k]] for k in range(3))
    low = np.minimum(np.minimum(a, b), c)
    high = np.maximum(np.maximum(a, b), c)
    order = np.arange(len(corners), dtype=np.int64)
    size = 2 * len(corners)
    bounds = np.zeros((size, 6))
    right = np.zeros(size, dtype=np.int64)
    first = np.zeros(size, dtype=np.int64)
    count = np.zeros(size, dtype=np.int64)
    nodes = build_hierarchy(low, high, order, bounds, right, first, count)
    return order, bounds[:nodes].copy(), right[:nodes].copy(), first[:nodes].copy(), count[:nodes].copy()


def _neighbors(corners: NDArray[np.int64], vertex_count: int) -> NDArray[np.int64]:
    """Triangle across each edge; -1 where there is none, or more than one."""
    tails = corners.ravel()
    heads = np.roll(corners, -1, axis=1).ravel()
    key = np.minimum(tails, heads) * vertex_count + np.maximum(tails, heads)
    order = np.argsort(key, kind="stable")
    ordered = key[order]
    begins = np.flatnonzero(np.concatenate([[True], ordered[1:] != ordered[:-1]]))
    sizes = np.diff(np.append(begins, len(ordered)))
    pairs = begins[sizes == 2]
    one, other = order[pairs], order[pairs + 1]
    neighbors = np.full(len(key), -1, dtype=np.int64)
    neighbors[one] = other // 3
    neighbors[other] = one // 3
    return neighbors.reshape(-1, 3)


@allocating_kernel
def _orient(
    points: NDArray[np.float64], corners: NDArray[np.int64], neighbors: NDArray[np.int64]
) -> tuple[int, int, int]:
    """Make windings agree, then each piece look outwards or up; return triangles turned, pieces, closed pieces."""
    nt = corners.shape[0]
    turned = np.zeros(nt, dtype=np.bool_)
    seen = np.zeros(nt, dtype=np.bool_)
    queue = np.empty(nt, dtype=np.int64)
    pieces = 0
    closed_pieces = 0
    for seed in range(nt):
        if seen[seed]:
            continue
        pieces += 1
        seen[seed] = True
        queue[0] = seed
        head, tail = 0, 1
        closed = True
        volume = 0.0
        upward = 0.0
        area = 0.0
        # Volumes are taken about a point of the piece, where they do not cancel.
        ox, oy, oz = points[corners[seed, 0], 0], points[corners[seed, 0], 1], points[corners[seed, 0], 2]
        while head < tail:
            t = queue[head]
            head += 1
            a, b, c = corners[t, 0], corners[t, 1], corners[t, 2]
            sign = -1.0 if turned[t] else 1.0
            ax, ay, az = points[a, 0] - ox, points[a, 1] - oy, points[a, 2] - oz
            bx, by, bz = points[b, 0] - ox, points[b, 1] - oy, points[b, 2] - oz
            cx, cy, cz = points[c, 0] - ox, points[c, 1] - oy, points[c, 2] - oz
            volume += sign * (ax * (by * cz - bz * cy) + ay * (bz * cx - bx * cz) + az * (bx * cy - by * cx))
            ux, uy, uz = bx - ax, by - ay, bz - az
            vx, vy, vz = cx - ax, cy - ay, cz - az
            upward += sign * (ux * vy - uy * vx)
            area += np.sqrt((uy * vz - uz * vy) ** 2 + (uz * vx - ux * vz) ** 2 + (ux * vy - uy * vx) ** 2)
            for k in range(3):
                o = neighbors[t, k]
                if o < 0:
                    closed = False
                    continue
                if seen[o]:
                    continue
                seen[o] = True
                start, stop = corners[t, k], corners[t, (k + 1) % 3]
                agrees = True
                for l in range(3):
                    if corners[o, l] == start and corners[o, (l + 1) % 3] == stop:
                        agrees = False
                turned[o] = turned[t] if agrees else not turned[t]
                queue[tail] = o
                tail += 1
        if closed:
            closed_pieces += 1
        if (volume if closed or abs(upward) < LOOKS_UP * area else upward) < 0.0:
            for k in range(tail):
                turned[queue[k]] = not turned[queue[k]]
    count = 0
    for t in range(nt):
        if turned[t]:
            count += 1
            corners[t, 1], corners[t, 2] = corners[t, 2], corners[t, 1]
            neighbors[t, 0], neighbors[t, 2] = neighbors[t, 2], neighbors[t, 0]
    return count, pieces, closed_pieces


@kernel
def _add_corner_normals(
    points: NDArray[np.float64],
    corners: NDArray[np.int64],
    normals: NDArray[np.float64],
    corner_normals: NDArray[np.float64],
) -> None:
    """Sum over the triangles around each vertex of angle times normal."""
    for t in range(corners.shape[0]):
        for k in range(3):
            at, to, back = corners[t, k], corners[t, (k + 1) % 3], corners[t, (k + 2) % 3]
            along = 0.0
            first = 0.0
            second = 0.0
            for x in range(3):
                u = points[to, x] - points[at, x]
                v = points[back, x] - points[at, x]
                along += u * v
                first += u * u
                second += v * v
            angle = np.arccos(max(-1.0, min(1.0, along / np.sqrt(first * second))))
            for x in range(3):
                corner_normals[at, x] += angle * normals[t, x]
