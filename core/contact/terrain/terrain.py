# SPDX-License-Identifier: GPL-3.0-or-later
"""All surfaces of a scene in flat arrays, and their poses in time.

One structure serves every kind of surface, so kernels that take it compile once.
"""

from collections.abc import Sequence
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from ...maths.kernel import kernel
from ...maths.rotations import (
    quaternion_conjugate,
    quaternion_exp,
    quaternion_log,
    quaternion_multiply,
    quaternion_row,
)
from ...maths.structure import Structure
from ...maths.vectors import add_scaled, row, scale, set_row, subtract
from .hierarchy import STACK
from .surfaces import HeightGrid, Mesh, Plane, Surface

PLANE, HEIGHT_GRID, MESH = range(3)
KINDS = {Plane: PLANE, HeightGrid: HEIGHT_GRID, Mesh: MESH}


class Terrain(Structure):
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


class TerrainPose(Structure):
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
        turn = quaternion_row(terrain.motion_quaternion, i)
        set_row(pose.velocity, s, (0.0, 0.0, 0.0))
        set_row(pose.angular_velocity, s, (0.0, 0.0, 0.0))
        if moving:
            share = place - sample
            step = subtract(row(terrain.motion_position, i + 1), start)
            # The rotation between samples, seen from the world.
            swing = quaternion_log(
                quaternion_multiply(quaternion_row(terrain.motion_quaternion, i + 1), quaternion_conjugate(turn))
            )
            start = add_scaled(start, share, step)
            turn = quaternion_multiply(quaternion_exp(scale(share, swing)), turn)
            set_row(pose.velocity, s, scale(rate, step))
            set_row(pose.angular_velocity, s, scale(rate, swing))
        set_row(pose.position, s, start)
        for k in range(4):
            pose.quaternion[s, k] = turn[k]
