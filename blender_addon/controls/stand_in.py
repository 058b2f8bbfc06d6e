# SPDX-License-Identifier: GPL-3.0-or-later
"""A stand-in for a rig: a copy in a scene of its own, without meshes and without the bones that do not matter.

One evaluation of these bones takes a millisecond or two, where one of the whole scene takes many. Played from keys it
takes half as long as with channels that are set: Blender copies a pose anew whenever one of them is.
"""

from __future__ import annotations

from collections.abc import Collection

import bpy
import numpy as np

from ...core.motion.quaternions import Array
from ..rig.reading import ordered_bones
from ..typed import as_kind
from ..writer import bone_path, new_action, write_curve
from .recording import PARTS, Recorded

NAME = "Heft Controls"


class StandIn:
    """The copy; it is known by its session number, since it may be undone or deleted meanwhile, and is made anew."""

    def __init__(self, armature: bpy.types.Object, wanted: Collection[str]) -> None:
        """Keep the wanted bones and all that they hang on."""
        self._uid, self._wanted = armature.session_uid, frozenset(wanted)
        self._make(armature)

    def _make(self, armature: bpy.types.Object) -> None:
        scene = bpy.data.scenes.new(NAME)
        copy = stripped(armature, needed_by(armature, self._wanted), scene)
        self._uids = scene.session_uid, copy.session_uid
        self._outside = looks_outside(copy)
        if not self._outside:
            copy.matrix_world.identity()
        self.names = tuple(bone.name for bone in ordered_bones(copy))
        self._order = [bone.name for bone in copy.pose.bones]
        self._flat = np.empty(16 * len(self._order), np.float32)
        self._back = [self._order.index(name) for name in self.names]
        self._set: dict[tuple[str, str], float] = {}
        self._playing: Recorded | None = None
        self._keys = 0  # the session number of the action with its keys

    def played(self, recorded: Recorded, row: int) -> Array:
        """Return the evaluated poses (nb, 4, 4) of a row of a recording that it is asked for row by row."""
        scene, copy = self._there()
        if self._outside:
            return self.pose(recorded, row)
        action = copy.animation_data and copy.animation_data.action
        if self._playing is not recorded or not action or action.session_uid != self._keys:
            self._play(recorded, copy)
        scene.frame_current = row
        return self._looked_at(scene, copy)

    def pose(self, recorded: Recorded, row: int) -> Array:
        """Return the evaluated poses (nb, 4, 4) of a row, in the order of `names`."""
        scene, copy = self._there()
        self._forget_keys(copy)
        self._set_channels(recorded, row, scene, copy)
        return self._looked_at(scene, copy)

    def evaluated(self) -> bpy.types.Object:
        """Return it as Blender has it now."""
        scene, copy = self._there()
        return copy.evaluated_get(scene.view_layers[0].depsgraph)

    def remove(self) -> None:
        """Take it away."""
        scene, copy = self._found()
        if copy is not None:
            self._forget_keys(copy)
            data = as_kind(copy.data, bpy.types.Armature)
            bpy.data.objects.remove(copy)
            bpy.data.armatures.remove(data)
        if scene is not None:
            bpy.data.scenes.remove(scene)

    def _play(self, recorded: Recorded, copy: bpy.types.Object) -> None:
        """Key what varies of a recording, a row a frame, and set what does not."""
        scene, _ = self._found()
        assert scene is not None
        self._forget_keys(copy)
        self._set_channels(recorded, 0, scene, copy)
        action, bag = new_action(NAME, copy.name)
        frames: Array = np.arange(len(recorded.frames), dtype=np.float64)
        for part, values in recorded.parts.items():
            varies = np.ptp(values, axis=0) > 0.0
            for bone in self._order:
                column = recorded.place[bone]
                for index in np.flatnonzero(varies[column]):
                    write_curve(bag, f"{bone_path(bone)}.{part}", int(index), bone, frames, values[:, column, index])
        for (bone, name), numbers in recorded.properties.items():
            if bone in copy.pose.bones and np.ptp(numbers) > 0.0:
                path = f'{bone_path(bone)}["{bpy.utils.escape_identifier(name)}"]'
                write_curve(bag, path, 0, bone, frames, numbers)
        animation = copy.animation_data or copy.animation_data_create()
        animation.action, animation.action_slot = action, action.slots[0]
        self._playing, self._keys = recorded, action.session_uid

    def _set_channels(self, recorded: Recorded, row: int, scene: bpy.types.Scene, copy: bpy.types.Object) -> None:
        bones = copy.pose.bones
        columns = [recorded.place[name] for name in self._order]
        for part in PARTS:
            bones.foreach_set(part, recorded.parts[part][row, columns].astype(np.float32).ravel())
        for key, values in recorded.properties.items():
            if self._set.get(key) != values[row] and key[0] in bones:
                bone, name = key
                bones[bone][name] = type(bones[bone][name])(values[row])
                self._set[key] = values[row]
        if self._outside:
            copy.matrix_world = recorded.object_matrix[row].T
            scene.frame_float = recorded.frames[row]
        copy.update_tag(refresh={"OBJECT", "DATA"})

    def _looked_at(self, scene: bpy.types.Scene, copy: bpy.types.Object) -> Array:
        layer = scene.view_layers[0]
        layer.update()
        copy.evaluated_get(layer.depsgraph).pose.bones.foreach_get("matrix", self._flat)
        return self._flat.reshape(-1, 4, 4).transpose(0, 2, 1)[self._back].astype(np.float64)

    def _forget_keys(self, copy: bpy.types.Object) -> None:
        """Take the keys away that it plays, which would overrule what is set."""
        self._playing = None
        action = copy.animation_data and copy.animation_data.action
        if action:
            copy.animation_data.action = None
            bpy.data.actions.remove(action)
            self._set.clear()

    def _there(self) -> tuple[bpy.types.Scene, bpy.types.Object]:
        scene, copy = self._found()
        if scene is None or copy is None:
            self.remove()
            self._make(known_by(self._uid))
            scene, copy = self._found()
        assert scene is not None
        assert copy is not None
        return scene, copy

    def _found(self) -> tuple[bpy.types.Scene | None, bpy.types.Object | None]:
        scene, copy = self._uids
        return (
            next((found for found in bpy.data.scenes if found.session_uid == scene), None),
            next((found for found in bpy.data.objects if found.session_uid == copy), None),
        )


def known_by(uid: int) -> bpy.types.Object:
    """Return the armature of a session number; ValueError where it is gone."""
    armature = next((found for found in bpy.data.objects if found.session_uid == uid), None)
    if armature is None:
        raise ValueError("It was deleted during the bake.")
    return armature


def looks_outside(armature: bpy.types.Object) -> bool:
    """Whether a bone's constraints or drivers look at other objects, or at the time."""
    bones = armature.pose.bones
    seen: set[bpy.types.ID | None] = {
        target for bone in bones for one in bone.constraints for target, _ in targets_of(one)
    }
    drivers = [curve.driver for curve in armature.animation_data.drivers] if armature.animation_data else []
    read = {target.id for driver in drivers for variable in driver.variables for target in variable.targets}
    seen |= {found for found in read if not isinstance(found, bpy.types.Armature)}
    return bool(seen - {None, armature}) or any("frame" in driver.expression for driver in drivers)


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
