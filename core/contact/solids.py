# SPDX-License-Identifier: GPL-3.0-or-later
"""Flat sides of bodies, for what corners alone do not feel: a ridge, or the edge of a stair, between them.

A box has six faces, a hull those of its corners. The corners of a body, where there are three at least, are taken for
those of a solid of their own: four in a plane are a sole, whose one face looks away from the body's origin; more are
their convex hull.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import ConvexHull

from ..maths.structure import Structure

Array = NDArray[np.float64]

# Points lie in a line or a plane if they leave it by no more than this share of their own extent.
FLATTEST = 1e-6
# Depth inside a solid without thickness at which terrain is still found, m.
SOLE_DEPTH = 0.02


class Solids(Structure):
    """Convex solids (no) in their bodies' frames, their faces (nf), and the faces' corners (nc)."""

    shape: NDArray[np.int64]  # (no,) row of the shapes: body and friction
    center: Array  # (no, 3) m
    radius: Array  # (no,) of a sphere about it that holds all corners
    depth: Array  # (no,) how deep inside terrain is still found, at most half the thickness, m
    face: NDArray[np.int64]  # (no + 1,) first face of each, and one past the last
    normal: Array  # (nf, 3) unit, outwards
    corner: NDArray[np.int64]  # (nf + 1,) first corner of each face, and one past the last
    point: Array  # (nc, 3) counterclockwise seen from outside
    vertex: NDArray[np.int64]  # (no + 1,) first vertex of each, and one past the last
    place: Array  # (nv, 3) of the vertices
    edge: NDArray[np.int64]  # (no + 1,) first edge of each, and one past the last
    ends: Array  # (ne, 2, 3) of an edge
    sides: NDArray[np.int64]  # (ne, 2) the faces on both sides of it


def make_solids(points: Sequence[tuple[int, Array]]) -> Solids:
    """From shapes' rows and the corners (n, 3) that go with each; those without a face are left out."""
    shape, center, radius, depth, face, normal, corner = [], [], [], [], [0], [], [0]
    point = [np.zeros((0, 3))]
    vertex, place, edge, ends, sides = [0], [np.zeros((0, 3))], [0], [], []
    for row, corners in points:
        faces, thickness = _faces(corners)
        if not faces:
            continue
        shape.append(row)
        center.append(corners.mean(axis=0))
        radius.append(np.linalg.norm(corners - center[-1], axis=1).max())
        depth.append(0.5 * thickness if thickness > 0.0 else SOLE_DEPTH)
        for (a, b), pair in _edges([polygon for _, polygon in faces]):
            ends.append((a, b))
            sides.append((face[-1] + pair[0], face[-1] + pair[1]))
        edge.append(len(ends))
        place.append(corners)
        vertex.append(vertex[-1] + len(corners))
        face.append(face[-1] + len(faces))
        for outward, polygon in faces:
            normal.append(outward)
            corner.append(corner[-1] + len(polygon))
            point.append(polygon)
    return Solids(
        shape=np.array(shape, dtype=np.int64),
        center=np.array(center, dtype=np.float64).reshape(-1, 3),
        radius=np.array(radius, dtype=np.float64),
        depth=np.array(depth, dtype=np.float64),
        face=np.array(face, dtype=np.int64),
        normal=np.array(normal, dtype=np.float64).reshape(-1, 3),
        corner=np.array(corner, dtype=np.int64),
        point=np.concatenate(point),
        vertex=np.array(vertex, dtype=np.int64),
        place=np.concatenate(place),
        edge=np.array(edge, dtype=np.int64),
        ends=np.array(ends, dtype=np.float64).reshape(-1, 2, 3),
        sides=np.array(sides, dtype=np.int64).reshape(-1, 2),
    )


def _faces(points: Array) -> tuple[list[tuple[Array, Array]], float]:
    """Outward normals and polygons of a convex hull, and its least thickness; none of a line."""
    middle = points.mean(axis=0)
    _, extent, axes = np.linalg.svd(points - middle)
    if len(points) < 3 or extent[1] <= FLATTEST * extent[0]:
        return [], 0.0
    if len(points) == 3 or extent[2] <= FLATTEST * extent[0]:
        normal = axes[2] if axes[2] @ middle > 0.0 else -axes[2]
        outline = ConvexHull((points - middle) @ axes[:2].T).vertices
        return [(normal, _in_order(points[outline], normal))], 0.0
    hull = ConvexHull(points)
    planes = np.unique(np.round(hull.equations, 9), axis=0)
    heights = points @ planes[:, :3].T + planes[:, 3]
    on_it = heights > -FLATTEST * extent[0]
    # of triangles of one side that rounding has tilted, the one that most corners lie on stands for all
    within = (on_it[:, :, None] <= on_it[:, None, :]).all(axis=0) & ~np.eye(len(planes), dtype=np.bool_)
    again = (within & (~within.T | np.tri(len(planes), k=-1, dtype=np.bool_))).any(axis=1)
    faces = [
        (plane[:3], _in_order(points[corners], plane[:3]))
        for plane, corners, left_out in zip(planes, on_it.T, again, strict=True)
        if not left_out
    ]
    return faces, float((-heights.min(axis=0)).min())


def _edges(polygons: Sequence[Array]) -> list[tuple[tuple[Array, Array], tuple[int, int]]]:
    """Edges that two faces share: their ends, and the faces."""
    found: dict[tuple[bytes, bytes], int] = {}
    edges = []
    for number, polygon in enumerate(polygons):
        for a, b in zip(polygon, np.roll(polygon, -1, axis=0), strict=True):
            other = found.pop((b.tobytes(), a.tobytes()), None)
            if other is None:
                found[a.tobytes(), b.tobytes()] = number
            else:
                edges.append(((a, b), (other, number)))
    return edges


def _in_order(polygon: Array, normal: Array) -> Array:
    """Corners of a convex polygon, counterclockwise about its normal."""
    middle = polygon.mean(axis=0)
    first = polygon[0] - middle
    across = np.cross(normal, first)
    angle = np.arctan2((polygon - middle) @ across, (polygon - middle) @ first)
    return np.asarray(polygon[np.argsort(angle)])
