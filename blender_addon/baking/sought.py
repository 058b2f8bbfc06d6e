# SPDX-License-Identifier: GPL-3.0-or-later
"""What fewer keys are sought for: poses, how far they may be off, and where feet come down and lift."""

from __future__ import annotations

import bpy
import numpy as np
from numpy.typing import NDArray

from ...core.job import BakeResult
from ...core.motion.quaternions import Array
from ..controls.mapping import recorded_now
from ..properties.armature import HEFT_PG_armature
from ..rig.reading import mean_scale
from ..writer import Channelled
from .fewer_keys import ENDS, Sought, Tolerance
from .gather import Gathered
from .keyed_motion import Motion
from .looping import Loop

SIDES = {"L": "left_", "R": "right_"}  # how a character's bodies of a side are called


def keys_sought(
    armature: bpy.types.Object,
    target: bpy.types.Object,
    gathered: Gathered,
    result: BakeResult,
    motion: Motion,
    channels: Channelled,
    layer: str,
    loop: Loop | None,
) -> Sought:
    """Return what fewer keys are sought for."""
    if target != armature:
        now = recorded_now(target)
        recorded = now.at(np.zeros(len(motion.frames), dtype=np.int64))
    elif gathered.recorded is None:
        raise ValueError(f"Fewer Keys of {armature.name} was changed during the bake: bake again.")
    else:
        recorded = gathered.recorded.at(motion.rows)
    roles = {role: bones for role, bones in gathered.job.roles.items() if role.partition(".")[0] in ENDS}
    ends = {name: role for role, bones in roles.items() for name in bones if name in target.data.bones}
    events = {name: events_of(role, result, motion.frames) for name, role in ends.items()}
    return Sought(motion.frames, channels, recorded, tuple(ends), events, loop is not None, layer == "COMBINE")


def events_of(role: str, result: BakeResult, frames: Array) -> NDArray[np.intp]:
    """Return the rows at which a foot comes down or lifts; none of what is no foot."""
    side = role.partition(".")[2]
    found: list[NDArray[np.intp]] = [np.zeros(0, dtype=np.intp)]
    for name, values in result.curves.items():
        foot = name.removeprefix("contact_force_").removesuffix("_n")
        if foot != name and role.partition(".")[0] != "hand" and foot.startswith(SIDES.get(side, "?")):
            changes = np.flatnonzero(np.diff((values > 0.0).astype(int))) + 1
            found.append(np.searchsorted(frames, result.frames[changes]))
    rows: NDArray[np.intp] = np.unique(np.concatenate(found))
    return rows[rows < len(frames)]


def tolerance_of(settings: HEFT_PG_armature, gathered: Gathered) -> Tolerance:
    """Return how far hands and feet may be off with fewer keys."""
    scale = gathered.sampling.unit * mean_scale(gathered.sampling.object_matrix[0])
    return Tolerance(settings.key_tolerance / 1000.0, 1.0 / scale)
