# SPDX-License-Identifier: GPL-3.0-or-later
"""The one query of a terrain: what is nearest to a point, and on which side of it the point is."""

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ...maths.kernel import inlined_kernel, kernel
from ...maths.rotations import quaternion_conjugate, quaternion_rotate, quaternion_row
from ...maths.structure import Structure
from ...maths.vectors import Vector, add, add_scaled, cross, dot, row, scale, set_row, subtract
from .hierarchy import CORNER_A, EDGE_CA, FACE, nearest_triangle, second_face
from .terrain import HEIGHT_GRID, MESH, PLANE, Terrain, TerrainPose, make_pose

# Nearer than this the direction to the nearest point is rounding, and the feature's own normal is used, m.
TINY_DISTANCE = 1e-5
# A point less than this under a face that can be stood upon belongs to that face, however near a riser is, m.
LIFT = 0.005
# How far above the first side of a concave corner the second is looked for, m.
ABOVE = 1e-4
# Least z of the normal of a face that can be stood upon.
STANDABLE = 0.7


@inlined_kernel
def surface_velocity(pose: TerrainPose, s: int, point: Vector) -> Vector:
    """Velocity of the surface's material at a point of the world."""
    arm = subtract(point, row(pose.position, s))
    return add(row(pose.velocity, s), cross(row(pose.angular_velocity, s), arm))


@inlined_kernel
def height_over_plane(terrain: Terrain, pose: TerrainPose, s: int, point: Vector) -> float:
    """Distance alone, where surface s is a plane: what most points need to know of it."""
    normal = quaternion_rotate(quaternion_row(pose.quaternion, s), row(terrain.plane, s))
    offset: float = terrain.plane[s, 3]
    return dot(normal, subtract(point, row(pose.position, s))) - offset


@inlined_kernel
def nearest_on_surface(
    terrain: Terrain, pose: TerrainPose, s: int, point: Vector, limit: float
) -> tuple[float, Vector, Vector]:
    """Signed distance from surface s to a point of the world, contact normal and nearest point there.

    Negative inside. The normal points away from the solid. Distance is infinite where the surface is further than
    `limit`.

    On a face the normal is the face's. Beside a convex edge or corner it is the direction from the nearest point;
    at less than a hundredth of a millimetre the feature's own, angle-weighted. A point on or less than LIFT under a
    face that can be stood upon belongs to that face even if a riser is nearer: a foot that has sunk by a fraction of a
    millimetre beside the edge of a stair is lifted, not pushed off the stair.
    """
    turn = quaternion_row(pose.quaternion, s)
    origin = row(pose.position, s)
    p = quaternion_rotate(quaternion_conjugate(turn), subtract(point, origin))
    if terrain.kind[s] == PLANE:
        distance, normal, touch = _nearest_on_plane(terrain, s, p, limit)
    elif terrain.kind[s] == HEIGHT_GRID:
        distance, normal, touch = _nearest_on_grid(terrain, s, p, limit)
    else:
        up = quaternion_rotate(quaternion_conjugate(turn), (0.0, 0.0, 1.0))
        distance, normal, touch = _nearest_on_mesh(terrain, s, p, up, limit, pose.stack)
    return distance, quaternion_rotate(turn, normal), add(origin, quaternion_rotate(turn, touch))


@kernel
def second_on_surface(
    terrain: Terrain,
    pose: TerrainPose,
    s: int,
    point: Vector,
    normal: Vector,
    touch: Vector,
    limit: float,
) -> tuple[float, Vector, Vector]:
    """The other side of a concave corner of a mesh near a point, given what `nearest_on_surface` found.

    Infinite where there is none: the point meets one side only, or the surface is not a mesh.
    """
    if terrain.kind[s] != MESH:
        return np.inf, normal, touch
    turn = quaternion_row(pose.quaternion, s)
    back = quaternion_conjugate(turn)
    origin = row(pose.position, s)
    # A point that has sunk through the first side is taken where it should be: just above it.
    if dot(subtract(point, touch), normal) < ABOVE:
        point = add_scaled(touch, ABOVE, normal)
    p = quaternion_rotate(back, subtract(point, origin))
    t, height = second_face(
        terrain.bounds,
        terrain.right,
        terrain.first,
        terrain.leaf_size,
        terrain.root[s],
        terrain.vertices,
        terrain.triangles,
        terrain.normals,
        p,
        quaternion_rotate(back, normal),
        quaternion_rotate(back, subtract(touch, origin)),
        limit,
        LIFT,
        pose.stack,
    )
    if t < 0:
        return np.inf, normal, touch
    n = row(terrain.normals, t)
    return height, quaternion_rotate(turn, n), add(origin, quaternion_rotate(turn, add_scaled(p, -height, n)))


@inlined_kernel
def _nearest_on_plane(terrain: Terrain, s: int, p: Vector, limit: float) -> tuple[float, Vector, Vector]:
    """In the surface's frame, as all that follow."""
    n = row(terrain.plane, s)
    distance = dot(n, p) - terrain.plane[s, 3]
    # However deep a point has sunk into a half-space, the way out is known.
    if distance > limit:
        return np.inf, n, p
    return distance, n, add_scaled(p, -distance, n)


@inlined_kernel
def _nearest_on_grid(terrain: Terrain, s: int, p: Vector, limit: float) -> tuple[float, Vector, Vector]:
    """Distance to the plane of the triangle above or below p: exact on even ground, first order elsewhere.

    A point over a riser's upper edge is over level ground: to the plane of so steep a triangle it may be near however
    high it is.
    """
    x = (p[0] - terrain.grid_frame[s, 0]) / terrain.grid_frame[s, 2]
    y = (p[1] - terrain.grid_frame[s, 1]) / terrain.grid_frame[s, 2]
    nx, ny = terrain.grid_size[s, 0], terrain.grid_size[s, 1]
    if not (0.0 <= x <= nx - 1.0 and 0.0 <= y <= ny - 1.0):
        return np.inf, (0.0, 0.0, 1.0), p
    i = min(int(x), nx - 2)
    j = min(int(y), ny - 2)
    x -= i
    y -= j
    corner = terrain.height_start[s] + i * ny + j
    low = terrain.heights[corner]
    high = terrain.heights[corner + ny + 1]
    if x >= y:
        slope_x = terrain.heights[corner + ny] - low
        slope_y = high - terrain.heights[corner + ny]
    else:
        slope_x = high - terrain.heights[corner + 1]
        slope_y = terrain.heights[corner + 1] - low
    height = low + slope_x * x + slope_y * y
    slope_x /= terrain.grid_frame[s, 2]
    slope_y /= terrain.grid_frame[s, 2]
    inverse = 1.0 / math.sqrt(1.0 + slope_x * slope_x + slope_y * slope_y)
    if inverse < STANDABLE:
        top = max(low, high, terrain.heights[corner + ny if x >= y else corner + 1])
        if p[2] > top:
            height, slope_x, slope_y, inverse = top, 0.0, 0.0, 1.0
    n = (-slope_x * inverse, -slope_y * inverse, inverse)
    distance = (p[2] - height) * inverse
    if distance > limit:
        return np.inf, n, p
    return distance, n, add_scaled(p, -distance, n)


@kernel
def _nearest_on_mesh(
    terrain: Terrain, s: int, p: Vector, up: Vector, limit: float, stack: NDArray[np.int64]
) -> tuple[float, Vector, Vector]:
    """Sign and normal by the nearest feature, with the rule about what can be stood upon."""
    t, feature, touch, distance = _find(terrain, s, p, limit, stack)
    if t < 0:
        return np.inf, up, p
    own = _feature_normal(terrain, t, feature)
    arm = subtract(p, touch)
    outside = dot(arm, own) >= 0.0
    if not outside and _at_boundary(terrain, t, feature):
        # Beside an open sheet and below its rim is not inside anything.
        outside = True
        own = scale(1.0 / max(distance, 1e-300), arm)
    normal = own
    if feature != FACE and distance > TINY_DISTANCE:
        normal = scale((1.0 if outside else -1.0) / distance, arm)
    doubtful = feature != FACE or dot(normal, up) < STANDABLE
    if doubtful and distance < (TINY_DISTANCE if outside else LIFT):
        lifted = add_scaled(p, LIFT, up)
        above, _, touch_above, clearance = _find(terrain, s, lifted, 2.0 * LIFT, stack)
        if above >= 0:
            tread = row(terrain.normals, above)
            # The lifted point stands over the face itself, not beside it.
            over = dot(subtract(lifted, touch_above), tread) >= clearance * (1.0 - 1e-9)
            height = dot(subtract(p, touch_above), tread)
            if over and dot(tread, up) >= STANDABLE and -LIFT <= height <= TINY_DISTANCE:
                return height, tread, add_scaled(p, -height, tread)
    return (distance if outside else -distance), normal, touch


@inlined_kernel
def _find(
    terrain: Terrain, s: int, p: Vector, limit: float, stack: NDArray[np.int64]
) -> tuple[int, int, Vector, float]:
    """The nearest triangle of mesh s."""
    return nearest_triangle(
        terrain.bounds,
        terrain.right,
        terrain.first,
        terrain.leaf_size,
        terrain.root[s],
        terrain.vertices,
        terrain.triangles,
        terrain.normals,
        p,
        limit,
        stack,
    )


@inlined_kernel
def _feature_normal(terrain: Terrain, t: int, feature: int) -> Vector:
    """Unit angle-weighted normal of a feature; of a boundary the triangle's own."""
    own = row(terrain.normals, t)
    n = own
    if feature >= CORNER_A:
        n = row(terrain.corner_normals, terrain.triangles[t, feature - CORNER_A])
    elif feature != FACE:
        other = terrain.neighbors[t, feature - 1]
        if other >= 0:
            n = add(own, row(terrain.normals, other))
    length = math.sqrt(dot(n, n))
    return scale(1.0 / length, n) if length > 1e-9 else own


@inlined_kernel
def _at_boundary(terrain: Terrain, t: int, feature: int) -> bool:
    """Whether a feature lies on the rim of an open mesh."""
    if feature == FACE:
        return False
    if feature <= EDGE_CA:
        return bool(terrain.neighbors[t, feature - 1] < 0)
    n = row(terrain.corner_normals, terrain.triangles[t, feature - CORNER_A])
    return dot(n, n) == 0.0


class NearestPoints(Structure):
    """What is nearest to each of n points, of all surfaces."""

    distance: NDArray[np.float64]  # (n,) m, negative inside, infinite where nothing is near
    normal: NDArray[np.float64]  # (n, 3) unit, away from the solid
    point: NDArray[np.float64]  # (n, 3) on the surface
    surface: NDArray[np.int64]  # (n,) -1 where nothing is near


def nearest_points(terrain: Terrain, points: ArrayLike, limit: float = 1.0, time: float = 0.0) -> NearestPoints:
    """Ask for many points at once, from Python."""
    where = np.ascontiguousarray(points, dtype=np.float64)
    if where.ndim != 2 or where.shape[1] != 3:
        raise ValueError(f"Points must have the shape (n, 3), not {where.shape}.")
    if not np.isfinite(where).all():
        raise ValueError("Points must be finite.")
    n = len(where)
    nearest = NearestPoints(np.full(n, np.inf), np.zeros((n, 3)), np.zeros((n, 3)), np.full(n, -1, dtype=np.int64))
    _fill_nearest(terrain, make_pose(terrain, time), where, limit, nearest)
    return nearest


@kernel
def _fill_nearest(
    terrain: Terrain, pose: TerrainPose, points: NDArray[np.float64], limit: float, nearest: NearestPoints
) -> None:
    """Smallest signed distance of all surfaces."""
    for i in range(points.shape[0]):
        for s in range(terrain.kind.shape[0]):
            distance, normal, touch = nearest_on_surface(terrain, pose, s, row(points, i), limit)
            if distance < nearest.distance[i]:
                nearest.distance[i] = distance
                nearest.surface[i] = s
                set_row(nearest.normal, i, normal)
                set_row(nearest.point, i, touch)
