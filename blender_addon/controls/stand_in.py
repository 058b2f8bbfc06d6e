# SPDX-License-Identifier: GPL-3.0-or-later
"""A stand-in for a rig: a copy in a scene of its own, without meshes and without the bones that do not matter.

One evaluation of these bones takes a millisecond, where one of the whole scene takes many.
"""

from __future__ import annotations

from collections.abc import Collection

import bpy
import numpy as np

from ...core.motion.quaternions import Array
from ..rig.reading import ordered_bones
from ..typed import as_kind
from .recording import PARTS, Recorded

NAME = "Heft Controls"


class StandIn:
    """The copy; it is known by its session number, since it may be undone or deleted meanwhile."""

    def __init__(self, armature: bpy.types.Object, wanted: Collection[str]) -> None:
        """Keep the wanted bones and all that they hang on."""
        scene = bpy.data.scenes.new(NAME)
        copy = stripped(armature, needed_by(armature, wanted), scene)
        self._uids = scene.session_uid, copy.session_uid
        self._outside = looks_outside(copy)
        if not self._outside:
            copy.matrix_world.identity()
        self.names = tuple(bone.name for bone in ordered_bones(copy))
        self._order = [bone.name for bone in copy.pose.bones]
        self._flat = np.empty(16 * len(self._order), np.float32)
        self._back = [self._order.index(name) for name in self.names]
        self._set: dict[tuple[str, str], float] = {}

    def is_there(self) -> bool:
        """Whether nobody took it away."""
        return None not in self._found()

    def pose(self, recorded: Recorded, row: int) -> Array:
        """Return the evaluated poses (nb, 4, 4) of a row, in the order of `names`."""
        scene, copy = self._found()
        bones, layer = copy.pose.bones, scene.view_layers[0]
        columns = [recorded.place[name] for name in self._order]
        for part in PARTS:
            bones.foreach_set(part, recorded.parts[part][row, columns].astype(np.float32).ravel())
        for key, values in recorded.properties.items():
            if self._set.get(key) != values[row] and key[0] in bones:
                bone, name = key
                bones[bone][name] = type(bones[bone][name])(values[row])
                self._set[key] = values[row]
        if self._outside:
            whole = int(np.floor(recorded.frames[row]))
            copy.matrix_world = recorded.object_matrix[row].T
            scene.frame_set(whole, subframe=float(recorded.frames[row]) - whole)
        copy.update_tag(refresh={"OBJECT", "DATA"})
        layer.update()
        copy.evaluated_get(layer.depsgraph).pose.bones.foreach_get("matrix", self._flat)
        return self._flat.reshape(-1, 4, 4).transpose(0, 2, 1)[self._back].astype(np.float64)

    def evaluated(self) -> bpy.types.Object:
        """Return it as Blender has it now."""
        scene, copy = self._found()
        return copy.evaluated_get(scene.view_layers[0].depsgraph)

    def remove(self) -> None:
        """Take it away."""
        scene, copy = self._found()
        if copy is not None:
            data = as_kind(copy.data, bpy.types.Armature)
            bpy.data.objects.remove(copy)
            bpy.data.armatures.remove(data)
        if scene is not None:
            bpy.data.scenes.remove(scene)

    def _found(self) -> tuple[bpy.types.Scene | None, bpy.types.Object | None]:
        scene, copy = self._uids
        return (
            next((found for found in bpy.data.scenes if found.session_uid == scene), None),
            next((found for found in bpy.data.objects if found.session_uid == copy), None),
        )


def looks_outside(armature: bpy.types.Object) -> bool:
    """Whether a bone's constraints look at other objects."""
    return any(
        target not in {None, armature}
        for bone in armature.pose.bones
        for constraint in bone.constraints
        for target, _ in targets_of(constraint)
    )


def needed_by(armature: bpy.types.Object, wanted: Collection[str]) -> set[str]:
    """Return bones with all that moves them: parents, what constraints look at, and drivers of constraints."""
    bones = armature.pose.bones
    driven: dict[str, set[str]] = {}
    for curve in armature.animation_data.drivers if armature.animation_data else ():
        owner = bone_in(curve.data_path)
        for variable in curve.driver.variables:
            for target in variable.targets:
                if target.id == armature:
                    driven.setdefault(owner, set()).update({bone_in(target.data_path), target.bone_target} - {""})
    solved: dict[str, set[str]] = {}  # what bones of a chain are solved by, which hangs from them
    for bone in bones:
        for constraint in bone.constraints:
            if isinstance(constraint, bpy.types.KinematicConstraint | bpy.types.SplineIKConstraint):
                chain = [bone, *bone.parent_recursive]
                for one in chain[: constraint.chain_count or len(chain)]:
                    solved.setdefault(one.name, set()).add(bone.name)
    found: set[str] = set()
    waiting = [name for name in wanted if name in bones]
    while waiting:
        name = waiting.pop()
        if name in found:
            continue
        found.add(name)
        bone = bones[name]
        if bone.parent is not None:
            waiting.append(bone.parent.name)
        waiting += [other for other in driven.get(name, ()) if other in bones]
        waiting += solved.get(name, ())
        for constraint in bone.constraints:
            waiting += [other for target, other in targets_of(constraint) if target == armature and other in bones]
    return found


def targets_of(constraint: bpy.types.Constraint) -> list[tuple[bpy.types.Object | None, str]]:
    """Return the objects that a constraint looks at, and the bones of them."""
    if isinstance(constraint, bpy.types.ArmatureConstraint):
        return [(target.target, target.subtarget) for target in constraint.targets]
    pairs = [(getattr(constraint, "target", None), getattr(constraint, "subtarget", ""))]
    if isinstance(constraint, bpy.types.KinematicConstraint):
        pairs.append((constraint.pole_target, constraint.pole_subtarget))
    return pairs


def bone_in(path: str) -> str:
    """Return the bone that a path begins at; nothing for other paths."""
    if not path.startswith('pose.bones["'):
        return ""
    return str(bpy.utils.unescape_identifier(path.removeprefix('pose.bones["').partition('"]')[0]))


def stripped(armature: bpy.types.Object, kept: Collection[str], scene: bpy.types.Scene) -> bpy.types.Object:
    """Return a copy of an armature, in another scene, with these bones only, no keys and no widgets."""
    copy = armature.copy()
    copy.name, copy.data, copy.parent = NAME, armature.data.copy(), None
    copy.data.animation_data_clear()
    copy.data.pose_position = "POSE"
    scene.collection.objects.link(copy)
    layer = scene.view_layers[0]
    layer.objects.active = copy
    retarget(copy, armature, copy)
    if copy.animation_data is not None:
        copy.animation_data.action = None
        for track in list(copy.animation_data.nla_tracks):
            copy.animation_data.nla_tracks.remove(track)
        for curve in list(copy.animation_data.drivers):
            if bone_in(curve.data_path) not in kept:
                copy.animation_data.drivers.remove(curve)
    for constraint in list(copy.constraints):
        copy.constraints.remove(constraint)
    for bone in copy.pose.bones:
        bone.custom_shape = None
    own = bpy.context.temp_override(scene=scene, view_layer=layer, active_object=copy, object=copy)
    with own:  # type: ignore[attr-defined]
        bpy.ops.object.mode_set(mode="EDIT")
        for bone in list(copy.data.edit_bones):
            if bone.name not in kept:
                copy.data.edit_bones.remove(bone)
        bpy.ops.object.mode_set(mode="OBJECT")
    return copy


def retarget(copy: bpy.types.Object, old: bpy.types.Object, new: bpy.types.Object) -> None:
    """Have what looked at one armature look at another: constraints and drivers."""
    for bone in copy.pose.bones:
        for constraint in bone.constraints:
            if isinstance(constraint, bpy.types.ArmatureConstraint):
                for target in constraint.targets:
                    if target.target == old:
                        target.target = new
                continue
            for name in ("target", "pole_target"):
                if getattr(constraint, name, None) == old:
                    setattr(constraint, name, new)
    if copy.animation_data is not None:
        for curve in copy.animation_data.drivers:
            for variable in curve.driver.variables:
                for read in variable.targets:
                    if read.id == old:
                        read.id = new
