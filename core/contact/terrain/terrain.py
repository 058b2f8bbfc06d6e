# SPDX-License-Identifier: GPL-3.0-or-later
"""All surfaces of a scene in flat arrays, their poses in time, and the one query: what is nearest to a point.

One structure serves every kind of surface, so kernels that take it compile once.
"""

import math
from collections.abc import Sequence
from typing import NamedTuple, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ...maths.kernel import inlined_kernel, kernel
from ...maths.rotations import (
    Quaternion,
    quaternion_conjugate,
    quaternion_exp,
    quaternion_log,
    quaternion_multiply,
    quaternion_rotate,
)
from ...maths.vectors import Vector, add, add_scaled, cross, dot, row, scale, set_row, subtract
from .hierarchy import CORNER_A, EDGE_CA, FACE, STACK, nearest_triangle, second_face
from .surfaces import HeightGrid, Mesh, Plane, Surface

PLANE, HEIGHT_GRID, MESH = range(3)
KINDS = {Plane: PLANE, HeightGrid: HEIGHT_GRID, Mesh: MESH}

# Nearer than this the direction to the nearest point is rounding, and the feature's own normal is used, m.
TINY_DISTANCE = 1e-5
# A point less than this under a face that can be stood upon belongs to that face, however near a riser is, m.
LIFT = 0.005
# How far above the first side of a concave corner the second is looked for, m.
ABOVE = 1e-4
# Least z of the normal of a face that can be stood upon.
STANDABLE = 0.7


class Terrain(NamedTuple):
    """Surfaces (ns) and everything they are made of, one after another; `start` columns say where each begins."""

    kind: NDArray[np.int64]  # (ns,) PLANE, HEIGHT_GRID or MESH
    friction: NDArray[np.float64]  # (ns,)
    motion_start: NDArray[np.int64]  # (ns,) first row of motion_position
    motion_count: NDArray[np.int64]  # (ns,) samples, 1 at rest
    motion_rate: NDArray[np.float64]  # (ns,) 1/s
    motion_time: NDArray[np.float64]  # (ns,) time of the first sample, s
    motion_position: NDArray[np.float64]  # (nm, 3)
    motion_quaternion: NDArray[np.float64]  # (nm, 4) w-x-y-z
    plane: NDArray[np.float64]  # (ns, 4) unit normal and offset of a plane: normal . x = offset
    grid_size: NDArray[np.int64]  # (ns, 2) heights along x and y
    grid_frame: NDArray[np.float64]  # (ns, 3) x and y of the first height, spacing
    height_start: NDArray[np.int64]  # (ns,)
    heights: NDArray[np.float64]  # (nh,) rows along x
    root: NDArray[np.int64]  # (ns,) first node of a mesh
    vertices: NDArray[np.float64]  # (nv, 3) of all meshes, in their surfaces' frames
    triangles: NDArray[np.int64]  # (nt, 3) rows of vertices
    normals: NDArray[np.float64]  # (nt, 3)
    neighbors: NDArray[np.int64]  # (nt, 3) rows of triangles, -1 at a boundary
    corner_normals: NDArray[np.float64]  # (nv, 3)
    bounds: NDArray[np.float64]  # (nn, 6)
    right: NDArray[np.int64]  # (nn,)
    first: NDArray[np.int64]  # (nn,)
    leaf_size: NDArray[np.int64]  # (nn,)


class TerrainPose(NamedTuple):
    """Where the surfaces are at one time; filled by `pose_terrain`."""

    position: NDArray[np.float64]  # (ns, 3)
    quaternion: NDArray[np.float64]  # (ns, 4)
    velocity: NDArray[np.float64]  # (ns, 3) of the surface's origin, m/s
    angular_velocity: NDArray[np.float64]  # (ns, 3) in the world's frame, rad/s
    stack: NDArray[np.int64]  # (STACK,) of the tree walk


def make_terrain(surfaces: Sequence[Surface] = ()) -> Terrain:
    """Put surfaces one after another; an empty sequence is empty space."""
    ns = len(surfaces)
    meshes = [surface.prepared for surface in surfaces if isinstance(surface, Mesh)]
    grids = [surface for surface in surfaces if isinstance(surface, HeightGrid)]
    motions = [surface.motion for surface in surfaces]
    plane = np.zeros((ns, 4))
    grid_size = np.zeros((ns, 2), dtype=np.int64)
    grid_frame = np.zeros((ns, 3))
    height_start = np.zeros(ns, dtype=np.int64)
    root = np.full(ns, -1, dtype=np.int64)
    node = triangle = vertex = height = 0
    triangles, neighbors, rights, firsts = [], [], [], []
    for s, surface in enumerate(surfaces):
        if isinstance(surface, Plane):
            normal = np.asarray(surface.normal, dtype=np.float64)
            plane[s, :3] = normal / np.linalg.norm(normal)
            plane[s, 3] = plane[s, :3] @ np.asarray(surface.point, dtype=np.float64)
        elif isinstance(surface, HeightGrid):
            grid_size[s] = surface.heights.shape
            grid_frame[s] = surface.origin[0], surface.origin[1], surface.spacing
            height_start[s] = height
            height += surface.heights.size
        else:
            mesh = surface.prepared
            root[s] = node
            triangles.append(mesh.triangles + vertex)
            neighbors.append(np.where(mesh.neighbors >= 0, mesh.neighbors + triangle, -1))
            rights.append(np.where(mesh.right >= 0, mesh.right + node, -1))
            firsts.append(np.where(mesh.first >= 0, mesh.first + triangle, -1))
            node += len(mesh.leaf_size)
            triangle += len(mesh.triangles)
            vertex += len(mesh.vertices)
    counts = np.array([len(motion.positions) for motion in motions], dtype=np.int64)
    terrain = Terrain(
        kind=np.array([KINDS[type(surface)] for surface in surfaces], dtype=np.int64),
        friction=np.array([surface.friction for surface in surfaces], dtype=np.float64),
        motion_start=np.concatenate([[0], np.cumsum(counts)[:-1]]).astype(np.int64)[:ns],
        motion_count=counts,
        motion_rate=np.array([motion.rate for motion in motions], dtype=np.float64),
        motion_time=np.array([motion.start for motion in motions], dtype=np.float64),
        motion_position=_stacked([motion.positions for motion in motions], np.zeros((0, 3))),
        motion_quaternion=_stacked([motion.quaternions for motion in motions], np.zeros((0, 4))),
        plane=plane,
        grid_size=grid_size,
        grid_frame=grid_frame,
        height_start=height_start,
        heights=np.concatenate([np.zeros(0), *(grid.heights.ravel() for grid in grids)]),
        root=root,
        vertices=_stacked([mesh.vertices for mesh in meshes], np.zeros((0, 3))),
        triangles=_stacked(triangles, np.zeros((0, 3), dtype=np.int64)),
        normals=_stacked([mesh.normals for mesh in meshes], np.zeros((0, 3))),
        neighbors=_stacked(neighbors, np.zeros((0, 3), dtype=np.int64)),
        corner_normals=_stacked([mesh.corner_normals for mesh in meshes], np.zeros((0, 3))),
        bounds=_stacked([mesh.bounds for mesh in meshes], np.zeros((0, 6))),
        right=np.concatenate([np.zeros(0, dtype=np.int64), *rights]),
        first=np.concatenate([np.zeros(0, dtype=np.int64), *firsts]),
        leaf_size=np.concatenate([np.zeros(0, dtype=np.int64), *(mesh.leaf_size for mesh in meshes)]),
    )
    for array in terrain:
        array.flags.writeable = False
    return terrain


Scalar = TypeVar("Scalar", np.float64, np.int64)


def _stacked(parts: Sequence[NDArray[Scalar]], empty: NDArray[Scalar]) -> NDArray[Scalar]:
    """The parts one after another; `empty` gives columns and type where there are none."""
    return np.concatenate([empty, *parts])


def make_pose(terrain: Terrain, time: float = 0.0) -> TerrainPose:
    """Allocate and fill the poses of a terrain's surfaces."""
    ns = len(terrain.kind)
    pose = TerrainPose(
        position=np.zeros((ns, 3)),
        quaternion=np.zeros((ns, 4)),
        velocity=np.zeros((ns, 3)),
        angular_velocity=np.zeros((ns, 3)),
        stack=np.zeros(STACK, dtype=np.int64),
    )
    pose_terrain(terrain, time, pose)
    return pose


@kernel
def pose_terrain(terrain: Terrain, time: float, pose: TerrainPose) -> None:
    """Poses and velocities of all surfaces at `time`."""
    for s in range(terrain.kind.shape[0]):
        last = terrain.motion_count[s] - 1
        rate = terrain.motion_rate[s]
        place = (time - terrain.motion_time[s]) * rate
        moving = last > 0 and 0.0 <= place < last
        sample = int(min(max(place, 0.0), float(last)))
        i = terrain.motion_start[s] + sample
        start = row(terrain.motion_position, i)
        turn = _quaternion_row(terrain.motion_quaternion, i)
        set_row(pose.velocity, s, (0.0, 0.0, 0.0))
        set_row(pose.angular_velocity, s, (0.0, 0.0, 0.0))
        if moving:
            share = place - sample
            step = subtract(row(terrain.motion_position, i + 1), start)
            # The rotation between samples, seen from the world.
            swing = quaternion_log(
                quaternion_multiply(_quaternion_row(terrain.motion_quaternion, i + 1), quaternion_conjugate(turn))
            )
            start = add_scaled(start, share, step)
            turn = quaternion_multiply(quaternion_exp(scale(share, swing)), turn)
            set_row(pose.velocity, s, scale(rate, step))
            set_row(pose.angular_velocity, s, scale(rate, swing))
        set_row(pose.position, s, start)
        for k in range(4):
            pose.quaternion[s, k] = turn[k]


@inlined_kernel
def _quaternion_row(array: NDArray[np.float64], i: int) -> Quaternion:
    return array[i, 0], array[i, 1], array[i, 2], array[i, 3]


@inlined_kernel
def surface_velocity(pose: TerrainPose, s: int, point: Vector) -> Vector:
    """Velocity of the surface's material at a point of the world."""
    arm = subtract(point, row(pose.position, s))
    return add(row(pose.velocity, s), cross(row(pose.angular_velocity, s), arm))


@inlined_kernel
def height_over_plane(terrain: Terrain, pose: TerrainPose, s: int, point: Vector) -> float:
    """Distance alone, where surface s is a plane: what most points need to know of it."""
    normal = quaternion_rotate(_quaternion_row(pose.quaternion, s), row(terrain.plane, s))
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
    turn = _quaternion_row(pose.quaternion, s)
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
    turn = _quaternion_row(pose.quaternion, s)
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
    """Distance to the plane of the triangle above or below p: exact on even ground, first order elsewhere."""
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


class NearestPoints(NamedTuple):
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
