# SPDX-License-Identifier: GPL-3.0-or-later
"""Views that go along with who is on the stage."""

from __future__ import annotations

from collections.abc import Iterator

import bpy
import numpy as np
from mathutils import Vector

from ...core.motion.quaternions import Array
from ..typed import settings_on


class Following:
    """Moves all 3D Viewports that look through no camera, level with the ground, and puts them back at the end."""

    def __init__(self, context: bpy.types.Context, armature: bpy.types.Object) -> None:
        """Begin where they are."""
        self._unit = context.scene.unit_settings.scale_length * settings_on(armature).scale
        self._last: Array | None = None
        self._moved: Array = np.zeros(3)
        self.follows = True

    def follow(self, context: bpy.types.Context, hips: Array) -> None:
        """The hips are there now, in metres."""
        way = np.zeros(3) if self._last is None else (hips - self._last) / self._unit
        self._last = hips
        if self.follows:
            way[2] = 0.0
            self._moved += way
            move(context, way)

    def put_back(self) -> None:
        """As if nobody had walked."""
        move(bpy.context, -self._moved)
        self._moved = np.zeros(3)


def move(context: bpy.types.Context, way: Array) -> None:
    """Move them by as much of the scene's units."""
    for data in _views(context):
        if data.view_perspective != "CAMERA":
            data.view_location = data.view_location + Vector(way.tolist())


def _views(context: bpy.types.Context) -> Iterator[bpy.types.RegionView3D]:
    for window in context.window_manager.windows:
        for area in window.screen.areas:
            space = area.spaces.active
            if isinstance(space, bpy.types.SpaceView3D) and space.region_3d is not None:
                yield space.region_3d
