# SPDX-License-Identifier: GPL-3.0-or-later
"""What bones' channels are over frames, as Blender evaluates them: keys, layers and drivers, before constraints."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import bpy
import numpy as np
from numpy.typing import NDArray

from ...core.motion.quaternions import Array
from ..rig.reading import ordered_bones

PARTS = {"location": 3, "rotation_quaternion": 4, "rotation_euler": 3, "rotation_axis_angle": 4, "scale": 3}
PART_OF_MODE = {"QUATERNION": "rotation_quaternion", "AXIS_ANGLE": "rotation_axis_angle"}


@dataclass(frozen=True)
class Recorded:
    """Channels and custom properties of an armature's bones, over frames."""

    place: dict[str, int]  # of each bone, by its name
    frames: Array  # (nf,)
    object_matrix: Array  # (nf, 4, 4)
    parts: dict[str, Array]  # (nf, nb, width)
    properties: dict[tuple[str, str], Array]  # (nf,) by bone and property

    def at(self, rows: NDArray[np.int64]) -> Recorded:
        """Return a copy with these rows."""
        return Recorded(
            self.place,
            self.frames[rows],
            self.object_matrix[rows],
            {part: values[rows] for part, values in self.parts.items()},
            {key: values[rows] for key, values in self.properties.items()},
        )

    def of(self, bones: Sequence[str]) -> Recorded:
        """Return a copy with these bones, in their order, and all properties."""
        columns = [self.place[name] for name in bones]
        return Recorded(
            {name: index for index, name in enumerate(bones)},
            self.frames,
            self.object_matrix,
            {part: values[:, columns] for part, values in self.parts.items()},
            self.properties,
        )


class Recorder:
    """Looks at an armature frame by frame."""

    def __init__(self, armature: bpy.types.Object, count: int) -> None:
        """For so many frames."""
        self._armature = armature
        bones = armature.pose.bones
        self._parts = {part: np.empty((count, len(bones) * width), np.float32) for part, width in PARTS.items()}
        self._properties = {key: np.zeros(count) for key in numbers_of(bones)}

    def look(self, row: int, graph: bpy.types.Depsgraph) -> None:
        """Read a frame."""
        bones = self._armature.evaluated_get(graph).pose.bones
        for part, values in self._parts.items():
            bones.foreach_get(part, values[row])
        for (bone, name), numbers in self._properties.items():
            numbers[row] = float(bones[bone][name])

    def recorded(self, frames: Array, object_matrix: Array) -> Recorded:
        """All that was read, with the bones ordered as everywhere."""
        place = {bone.name: index for index, bone in enumerate(self._armature.pose.bones)}
        names = [bone.name for bone in ordered_bones(self._armature)]
        columns = [place[name] for name in names]
        parts = {
            part: values.reshape(len(values), -1, PARTS[part])[:, columns].astype(np.float64)
            for part, values in self._parts.items()
        }
        return Recorded({name: i for i, name in enumerate(names)}, frames, object_matrix, parts, self._properties)


def numbers_of(bones: Iterable[bpy.types.PoseBone]) -> list[tuple[str, str]]:
    """Return the custom properties of bones that are numbers: switches, and what drivers read."""
    return [
        (bone.name, name)
        for bone in bones
        for name in bone.keys()  # noqa: SIM118 - a bone is no mapping
        if isinstance(bone[name], bool | int | float)
    ]
