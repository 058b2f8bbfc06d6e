# SPDX-License-Identifier: GPL-3.0-or-later
"""The meshes that an armature moves, at rest: where its soles are, and how much there is around each bone."""

from collections.abc import Collection

import bpy
import numpy as np
from numpy.typing import NDArray

from ...core.motion.quaternions import Array

Rows = NDArray[np.intp]


class Weights:
    """The vertices that each bone moves the most, of meshes that were asked for; until one has changed."""

    def __init__(self) -> None:
        self._known: dict[tuple[object, ...], dict[str, Rows]] = {}

    def rows(self, mesh_object: bpy.types.Object, bones: Collection[str]) -> dict[str, Rows]:
        """Vertices by bones."""
        groups = tuple(group.name for group in mesh_object.vertex_groups)
        mesh = mesh_object.data
        key = (mesh_object.session_uid, mesh.session_uid, len(mesh.vertices), groups, frozenset(bones))
        if key not in self._known:
            found: dict[str, list[int]] = {}
            for row, bone in enumerate(strongest_bones(mesh_object, bones)):
                found.setdefault(bone, []).append(row)
            self._known[key] = {bone: np.array(rows, dtype=np.intp) for bone, rows in found.items()}
        return self._known[key]

    def forget(self) -> None:
        """Some mesh has changed."""
        self._known.clear()


def vertices_of_bones(
    armature: bpy.types.Object, bones: Collection[str], unit: float, place: Array, weights: Weights | None = None
) -> dict[str, Array]:
    """Return the vertices (n, 3) of each bone that moves them more than any other, in metres, in the world at rest.

    `place` (4, 4) is where the armature stands; the meshes stand to it as they do now. Their weights may be known.
    """
    weights = weights or Weights()
    clouds: dict[str, list[Array]] = {}
    to_place = place @ np.linalg.inv(np.array(armature.matrix_world))
    for mesh_object in skinned(armature):
        deforming = {bone.name for bone in armature.data.bones if bone.use_deform}
        rows = weights.rows(mesh_object, deforming)
        points = np.empty(3 * len(mesh_object.data.vertices), dtype=np.float32)
        mesh_object.data.vertices.foreach_get("co", points)
        matrix = to_place @ np.array(mesh_object.matrix_world)
        world = unit * (points.reshape(-1, 3) @ matrix[:3, :3].T + matrix[:3, 3])
        for bone in bones:
            if bone in rows:
                clouds.setdefault(bone, []).append(world[rows[bone]])
    return {bone: np.concatenate(parts) for bone, parts in clouds.items()}


def skinned(armature: bpy.types.Object) -> list[bpy.types.Object]:
    """Return the mesh objects that an armature modifier binds to the armature."""
    return [
        other
        for other in bpy.data.objects
        if other.type == "MESH"
        and any(
            isinstance(modifier, bpy.types.ArmatureModifier) and modifier.object == armature
            for modifier in other.modifiers
        )
    ]


def strongest_bones(mesh_object: bpy.types.Object, bones: Collection[str]) -> list[str]:
    """Return for each vertex the bone of the largest weight, "" where it has none."""
    names = {group.index: group.name for group in mesh_object.vertex_groups if group.name in bones}
    result = []
    for vertex in mesh_object.data.vertices:
        weights = [(group.weight, names[group.group]) for group in vertex.groups if group.group in names]
        result.append(max(weights)[1] if weights else "")
    return result
