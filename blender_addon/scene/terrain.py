# SPDX-License-Identifier: GPL-3.0-or-later
"""The ground: the meshes of a collection as the viewport shows them, and the floor at the height 0.

Modifiers, instances and nested collections are evaluated. What moves as a whole becomes moving ground; a mesh that
changes its shape or size keeps the one of the first frame, and a note says so.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import bpy
import numpy as np
from numpy.typing import NDArray

from ...core.contact.terrain import Mesh, Plane, RigidMotion, Surface
from ...core.motion import quaternions
from ...core.motion.quaternions import Array
from ..rig.mesh import skinned
from ..rig.reading import rotations_of
from ..typed import settings_on

SHAPED = {"MESH", "CURVE", "SURFACE", "META", "FONT"}
STILL = 1e-6  # of the largest number in a matrix: less than this is no motion

Key = tuple[str, ...]


@dataclass
class Piece:
    """One mesh of the ground, while the frames go by."""

    name: str
    friction: float
    points: Array  # (nv, 3) in the mesh's own space, Blender units
    triangles: NDArray[np.int64]  # (nt, 3)
    matrix: Array  # (nf, 4, 4) of the mesh in the world
    changes: bool = False  # its shape


@dataclass
class Ground:
    """The pieces of a collection, filled frame by frame."""

    armature: bpy.types.Object
    view_layer: bpy.types.ViewLayer
    frames: int
    pieces: dict[Key, Piece] = field(default_factory=dict)
    instanced: bool = False  # some pieces are instances, to be looked for in every frame

    def look(self, row: int, graph: bpy.types.Depsgraph) -> None:
        """Read frame `row`."""
        collection = settings_on(self.armature).terrain
        if collection is None:
            return
        members = [one for one in collection.all_objects if one.visible_get(view_layer=self.view_layer)]
        for member in members:
            if member.type in SHAPED:
                evaluated = member.evaluated_get(graph)
                self._see(row, (member.name_full,), member, evaluated, np.array(evaluated.matrix_world))
        if row == 0 or self.instanced:
            self._look_at_instances(row, graph, set(members))

    def _look_at_instances(self, row: int, graph: bpy.types.Depsgraph, members: set[bpy.types.Object]) -> None:
        for instance in graph.object_instances:
            if not instance.is_instance or instance.parent is None or instance.parent.original not in members:
                continue
            # What a curve is drawn as comes as an instance of the curve: that has been seen already.
            if instance.object.type in SHAPED and instance.object.original != instance.parent.original:
                self.instanced = True
                key = (instance.parent.name_full, instance.object.name_full, str(np.array(instance.persistent_id)))
                self._see(row, key, instance.object.original, instance.object, np.array(instance.matrix_world))

    def _see(
        self,
        row: int,
        key: Key,
        member: bpy.types.Object,
        evaluated: bpy.types.Object,
        place: Array,
    ) -> None:
        piece = self.pieces.get(key)
        if piece is None:
            points, triangles = read_mesh(evaluated)
            # What appears later has stood where it appears.
            matrix = np.tile(place, (self.frames, 1, 1))
            piece = Piece(member.name, settings_on(member).surface.friction, points, triangles, matrix)
            self.pieces[key] = piece
        elif row == self.frames - 1:
            points, _ = read_mesh(evaluated)
            piece.changes = points.shape != piece.points.shape or not np.allclose(points, piece.points, atol=1e-5)
        piece.matrix[row:] = place

    def surfaces(self, unit: float, rate: float, start: int) -> tuple[list[Surface], list[str]]:
        """The ground in metres, its time beginning at row `start`, and notes; ValueError for what is none.

        Without a collection there are no surfaces: the character's ground is the level floor that its motion is on.
        """
        settings = settings_on(self.armature)
        if settings.terrain is None:
            return [], []
        found: list[Surface] = [Plane(friction=settings.floor_friction)] if settings.use_floor else []
        name = settings.terrain.name
        if not self.pieces and not found:
            raise ValueError(
                f"There is no ground: the collection {name} shows no meshes, and Floor is off. Mark some meshes as "
                "terrain, or switch Floor on."
            )
        instancers = {key[0] for key in self.pieces if len(key) > 1}
        own = {body.name_full for body in skinned(self.armature)}
        notes = [] if self.pieces else [f"The collection {name} shows no meshes, so the floor is the only ground."]
        for key, piece in self.pieces.items():
            if key[0] in own:
                raise ValueError(
                    f"{piece.name} moves with {self.armature.name} and cannot be its ground: take it out of the "
                    f"collection {name}."
                )
            if len(piece.triangles) == 0 and (len(key) > 1 or key[0] in instancers):
                continue
            if len(piece.triangles) == 0:
                raise ValueError(
                    f"{piece.name} has no faces to stand on: add some, or take it out of the collection {name}."
                )
            surface, stretched = surface_of(piece, unit, rate, start)
            found.append(surface)
            if piece.changes or stretched:
                what = "shape" if piece.changes else "size"
                notes.append(f"{piece.name} changes its {what}, but as ground it keeps that of the first frame.")
        return found, notes


def read_mesh(evaluated: bpy.types.Object) -> tuple[Array, NDArray[np.int64]]:
    """Return vertices (nv, 3) and triangles (nt, 3) of an evaluated object, in its own space."""
    mesh = evaluated.to_mesh()
    if mesh is None:
        return np.zeros((0, 3)), np.zeros((0, 3), dtype=np.int64)
    mesh.calc_loop_triangles()
    points = np.empty(3 * len(mesh.vertices), dtype=np.float32)
    triangles = np.empty(3 * len(mesh.loop_triangles), dtype=np.int32)
    mesh.vertices.foreach_get("co", points)
    mesh.loop_triangles.foreach_get("vertices", triangles)
    evaluated.to_mesh_clear()
    return points.reshape(-1, 3).astype(np.float64), triangles.reshape(-1, 3).astype(np.int64)


def surface_of(piece: Piece, unit: float, rate: float, start: int) -> tuple[Mesh, bool]:
    """Return the surface in metres, at rest or moving, and whether its size changes meanwhile, which is left out."""
    matrix = piece.matrix
    size = max(float(np.abs(matrix).max()), 1.0)
    try:
        if np.abs(matrix - matrix[0]).max() <= STILL * size:
            vertices = unit * (piece.points @ matrix[0, :3, :3].T + matrix[0, :3, 3])
            return Mesh(vertices, piece.triangles, piece.friction, name=piece.name), False
        # What is not rotation stays with the vertices: p = t + R (R^T M) v.
        turn = rotations_of(matrix[:, :3, :3])
        stretch = np.swapaxes(turn, 1, 2) @ matrix[:, :3, :3]
        motion = RigidMotion(
            unit * matrix[:, :3, 3],
            quaternions.continuous(quaternions.from_matrix(turn)),
            rate,
            -start / rate,
        )
        vertices = unit * piece.points @ stretch[0].T
        changes = bool(np.abs(stretch - stretch[0]).max() > 1e-4 * np.abs(stretch[0]).max())
        return Mesh(vertices, piece.triangles, piece.friction, motion, piece.name), changes
    except ValueError as error:
        raise ValueError(f"{piece.name} cannot be ground: {error}") from error
