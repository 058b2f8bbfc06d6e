# SPDX-License-Identifier: GPL-3.0-or-later
"""What Auto Bake makes of the keys, as a stick figure over them while they play: as it comes, the old one until then.

It is of the running Blender, by the armatures' session numbers, and in no file; the bake itself is an action.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import bpy
import numpy as np

from ...core.job import BakeResult
from ...core.motion.quaternions import Array
from ..typed import notes_on, settings_on
from .data import Color, Lines, joined
from .record import stick_figure

BAKED: Color = (0.35, 0.9, 0.55, 0.9)


@dataclass(frozen=True, eq=False)
class Live:
    """A bake, or as much of one as there is."""

    first_frame: float
    parent: tuple[int, ...]  # of the bones
    heads: Array  # (nf, nb, 3) of the bones, in the world, m

    @classmethod
    def of(cls, result: BakeResult, parent: tuple[int, ...]) -> Live:
        """All of it."""
        return cls(float(result.frames[0]), parent, result.poses[..., :3, 3].copy())

    def with_rows(self, row: int, heads: Array) -> Live:
        """The same with places (n, nb, 3) from a row on."""
        count = max(len(self.heads), row + len(heads))
        found = np.full((count, *heads.shape[1:]), np.nan)
        found[: len(self.heads)] = self.heads
        found[row : row + len(heads)] = heads
        return replace(self, heads=found)

    def shows(self, frame: float) -> bool:
        """Whether there is something at a frame."""
        return 0 <= round(frame - self.first_frame) < len(self.heads)

    def lines_at(self, frame: float) -> Lines | None:
        """What is drawn at a frame, in metres."""
        heads = self.heads[round(frame - self.first_frame)] if self.shows(frame) else np.full((1, 3), np.nan)
        return joined(stick_figure(heads, self.parent, BAKED)) if np.isfinite(heads).all() else None


shown: dict[int, Live] = {}
"""By the armatures' session numbers."""


def live_of(armature: bpy.types.Object) -> Live | None:
    """Return what is known of the bake of an armature that follows its keys and plays them rather than a bake."""
    if not settings_on(armature).auto_bake:
        return None
    action = armature.animation_data.action if armature.animation_data is not None else None
    return None if action is None or notes_on(action).report else shown.get(armature.session_uid)
