# SPDX-License-Identifier: GPL-3.0-or-later
"""All that a bake is made from, to compare: what was read, and settings as they are."""

from __future__ import annotations

import json
from typing import Any, NamedTuple

import bpy

from ..typed import settings_on
from .gather import Gathered

WRITTEN = (
    "output",
    "layer",
    "bones",
    "influence",
    "blend_in",
    "blend_out",
    "root_motion",
    "root_turns",
    "root_rises",
    "reduce",
    "key_tolerance",
    "mark_asset",
    "write_diagnostics",
)  # not in the job
SHOWN = "show_"  # how the names of settings begin that only say what is drawn
MADE = {"report", "reference_report", "tracking_error", "root_error", "balance_margin", "help_share", "feet"}


class Wanted(NamedTuple):
    """What a bake is made from, all of it: equal ones give equal actions."""

    job: str
    source: str
    written: str


def settings_text(scene: bpy.types.Scene, armature: bpy.types.Object) -> str:
    """Return all settings that a bake of an armature may depend on, as text to compare."""
    around = [scene.use_gravity, *(scene.gravity[axis] for axis in range(3)), scene.frame_end]
    return json.dumps([values_of(settings_on(armature)), *around, scene.render.fps, scene.render.fps_base])


def values_of(group: Any) -> dict[str, Any]:
    """Return the values of a group of settings, of groups in it and of its lists."""
    found: dict[str, Any] = {}
    for entry in group.bl_rna.properties:
        name = entry.identifier
        if name in {"rna_type", "name"} | MADE or name.startswith(SHOWN):
            continue
        value = getattr(group, name)
        if entry.type == "POINTER":
            is_group = entry.fixed_type.base is not None and entry.fixed_type.base.identifier == "PropertyGroup"
            found[name] = values_of(value) if is_group else getattr(value, "name", None)
        elif entry.type == "COLLECTION":
            found[name] = [values_of(one) | {"name": one.name} for one in value]
        else:
            found[name] = list(value) if getattr(entry, "is_array", False) else value
    return found


def wanted_of(armature: bpy.types.Object, found: Gathered) -> Wanted:
    """Return what a bake would be made from."""
    settings = settings_on(armature)
    written = [*(getattr(settings, name) for name in WRITTEN), sorted(one.name for one in settings.chosen_bones)]
    return Wanted(found.job.key(), f"{found.source.uid} {found.source.slot}", json.dumps([*written, found.loop]))
