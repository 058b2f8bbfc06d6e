# SPDX-License-Identifier: GPL-3.0-or-later
"""The rig moves while it is simulated: poses without keys, and the pose from before at the end."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

import bpy
import numpy as np

from ...core.motion.quaternions import Array
from ..rig.pose_space import channels_of, rest_bones
from ..rig.reading import ordered_bones

WIDTHS = {"location": 3, "rotation_quaternion": 4, "rotation_euler": 3, "rotation_axis_angle": 4, "scale": 3}
PART_OF_MODE = {"QUATERNION": "rotation_quaternion", "AXIS_ANGLE": "rotation_axis_angle"}


class Preview:
    """Poses an armature for show. It keeps numbers only: the armature is handed in each time, as it may be gone."""

    def __init__(self, armature: bpy.types.Object, bones: Collection[str] | None = None) -> None:
        """Remember the pose. What is shown is that of some bones and of all that they hang from; of all by default."""
        self._kept = {part: get(armature, part) for part in WIDTHS}
        self._bones = [bone.name for bone in armature.pose.bones]
        resting = rest_bones(armature)
        wanted = np.array([bones is None or bone.name in bones for bone in resting])
        for row in reversed(range(len(resting))):
            if wanted[row] and resting[row].parent >= 0:
                wanted[resting[row].parent] = True
        self._columns = np.flatnonzero(wanted)
        place = {int(column): row for row, column in enumerate(self._columns)}
        self._resting = [
            replace(resting[column], parent=place.get(resting[column].parent, -1)) for column in self._columns
        ]

    def show(self, armature: bpy.types.Object, pose: Array) -> None:
        """Put the bones into poses (nb, 4, 4) in the armature's space."""
        if not self.fits(armature):
            return
        parts = {part: get(armature, part) for part in WIDTHS}
        place = {name: index for index, name in enumerate(self._bones)}
        for bone, channels in zip(self._resting, channels_of(self._resting, pose[None, self._columns]), strict=True):
            row = place[bone.name]
            parts[PART_OF_MODE.get(bone.rotation_mode, "rotation_euler")][row] = channels.rotation[0]
            parts["location"][row] = channels.location[0]
            parts["scale"][row] = channels.scale[0]
        put(armature, parts)

    def restore(self, armature: bpy.types.Object) -> None:
        """Put the pose from before back: where it is that, Blender need not evaluate it anew, nor draw it."""
        if self.fits(armature) and any((get(armature, part) != kept).any() for part, kept in self._kept.items()):
            put(armature, self._kept)

    def fits(self, armature: bpy.types.Object) -> bool:
        """Whether the armature still has the bones that it had."""
        return [bone.name for bone in armature.pose.bones] == self._bones and len(ordered_bones(armature)) == len(
            self._bones
        )


def get(armature: bpy.types.Object, part: str) -> Array:
    """Return a channel of all bones (nb, width), in the order of pose bones."""
    flat = np.empty(WIDTHS[part] * len(armature.pose.bones), dtype=np.float32)
    armature.pose.bones.foreach_get(part, flat)
    return flat.reshape(-1, WIDTHS[part]).astype(np.float64)


def put(armature: bpy.types.Object, parts: dict[str, Array]) -> None:
    """Set channels of all bones."""
    for part, values in parts.items():
        armature.pose.bones.foreach_set(part, np.ascontiguousarray(values, dtype=np.float32).ravel())
    armature.update_tag(refresh={"DATA"})
