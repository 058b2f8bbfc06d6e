# SPDX-License-Identifier: GPL-3.0-or-later
"""Convex hulls of few corners, out of the many points of a mesh."""

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import ConvexHull, QhullError

from ..character.mass import Mass

Array = NDArray[np.float64]

MOST_CORNERS = 32
# A point less far outside the hull of the others, as a share of the extent, changes nothing.
NEGLIGIBLE = 1e-3
# A hull thinner than this is none, m.
THINNEST = 1e-4


def check_corners(corners: Array, owner: str) -> None:
    """ValueError unless they span a hull, and are not too many."""
    if not 4 <= len(corners) <= MOST_CORNERS:
        raise ValueError(f"The hull of {owner} must have 4 to {MOST_CORNERS} corners, not {len(corners)}.")
    if not thickness(corners) >= THINNEST:
        raise ValueError(f"The hull of {owner} is flat: its corners must not lie in one plane.")


def thickness(points: Array) -> float:
    """Least distance (m) between two parallel planes with all points between them, one of them a side of the hull."""
    if len(points) < 4:
        return 0.0
    try:
        planes = ConvexHull(points).equations
    except QhullError:
        return 0.0
    depths = points @ planes[:, :3].T + planes[:, 3]  # negative inside
    return float((-depths.min(axis=0)).min())


def corners_of(points: Array) -> Array:
    """At most MOST_CORNERS of the points (n, 3), chosen so that the hull of all is hardly larger than theirs.

    The farthest along the axes, then again and again the one that is farthest outside.
    """
    outer = points[np.sort(ConvexHull(points).vertices)]
    extent = float(np.ptp(outer, axis=0).max())
    chosen = _first_four(outer)
    hull = ConvexHull(outer[chosen])
    while len(chosen) < min(MOST_CORNERS, len(outer)):
        outside = (outer @ hull.equations[:, :3].T + hull.equations[:, 3]).max(axis=1)
        outside[chosen] = 0.0
        farthest = int(outside.argmax())
        if outside[farthest] <= NEGLIGIBLE * extent:
            break
        chosen.append(farthest)
        hull = ConvexHull(outer[chosen])
    return np.asarray(outer[chosen][np.sort(hull.vertices)])


def _first_four(points: Array) -> list[int]:
    """Of a solid: two far apart, the one farthest from their line, and the one farthest from the three's plane."""
    axis = int(np.ptp(points, axis=0).argmax())
    a, b = int(points[:, axis].argmin()), int(points[:, axis].argmax())
    along = points[b] - points[a]
    away = np.linalg.norm(np.cross(points - points[a], along), axis=1)
    c = int(away.argmax())
    normal = np.cross(along, points[c] - points[a])
    d = int(np.abs((points - points[a]) @ normal).argmax())
    return [a, b, c, d]


def solid_mass(points: Array, density: float = 1.0) -> Mass:
    """Of the hull, filled evenly: tetrahedra between a point inside and the triangles of its surface.

    The second moments of a tetrahedron with corners 0, a, b, c are volume / 20 (sum of x x^T + s s^T), s = a + b + c
    (Tonon, Explicit exact formulas for the 3-D tetrahedron inertia tensor, 2004).
    """
    hull = ConvexHull(points)
    middle = points[hull.vertices].mean(axis=0)
    triangles = points[hull.simplices] - middle  # (n, 3, 3)
    volumes = np.abs(np.linalg.det(triangles)) / 6.0
    total = triangles.sum(axis=1)
    volume = float(volumes.sum())
    center = (volumes[:, None] * total).sum(axis=0) / (4.0 * volume)
    second = np.einsum("n,nki,nkj->ij", volumes, triangles, triangles) + np.einsum("n,ni,nj->ij", volumes, total, total)
    second = second / 20.0 - volume * np.outer(center, center)
    inertia = density * (np.trace(second) * np.eye(3) - second)
    return Mass(density * volume, middle + center, inertia)
