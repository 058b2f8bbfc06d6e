# SPDX-License-Identifier: GPL-3.0-or-later
"""The ground: planes, height grids and triangle meshes, at rest or moving, and what is nearest to a point of them."""

from .mesh import PreparedMesh, prepare_mesh
from .nearest import (
    NearestPoints,
    nearest_on_surface,
    nearest_points,
    second_on_surface,
    surface_velocity,
)
from .surfaces import HeightGrid, Mesh, Plane, RigidMotion, Surface, at_rest
from .terrain import Terrain, TerrainPose, make_pose, make_terrain, pose_terrain

__all__ = [
    "HeightGrid",
    "Mesh",
    "NearestPoints",
    "Plane",
    "PreparedMesh",
    "RigidMotion",
    "Surface",
    "Terrain",
    "TerrainPose",
    "at_rest",
    "make_pose",
    "make_terrain",
    "nearest_on_surface",
    "nearest_points",
    "pose_terrain",
    "prepare_mesh",
    "second_on_surface",
    "surface_velocity",
]
