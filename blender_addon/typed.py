# SPDX-License-Identifier: GPL-3.0-or-later
"""Blender's data with their types, where bpy's own say too little.

They know nothing of what an add-on registers, and of a thing of many kinds only what all kinds have.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

import bpy

if TYPE_CHECKING:  # the groups stand on rooms that read settings by these
    from .properties.action import HEFT_PG_action
    from .properties.armature import HEFT_PG_armature
    from .properties.bake import HEFT_PG_progress
    from .properties.company import HEFT_PG_scene

Kind = TypeVar("Kind")


def settings_on(thing: bpy.types.Object) -> HEFT_PG_armature:
    """Return the settings of an armature, or of a thing around one: `obj.heft`."""
    return thing.heft  # type: ignore[attr-defined, no-any-return]


def notes_on(action: bpy.types.Action) -> HEFT_PG_action:
    """Return what is noted on an action: `action.heft`."""
    return action.heft  # type: ignore[attr-defined, no-any-return]


def shared_by(scene: bpy.types.Scene) -> HEFT_PG_scene:
    """Return the settings of a scene: `scene.heft`."""
    return scene.heft  # type: ignore[attr-defined, no-any-return]


def progress_on(manager: bpy.types.WindowManager) -> HEFT_PG_progress:
    """Return the progress of what runs: `window_manager.heft`."""
    return manager.heft  # type: ignore[attr-defined, no-any-return]


def as_kind(thing: object, kind: type[Kind]) -> Kind:
    """Return a thing as the kind that it is: a constraint, a strip, a property."""
    if not isinstance(thing, kind):
        raise TypeError(f"{thing!r} is not a {kind.__name__}")
    return thing


def set_input(node: bpy.types.Node, name: str, value: float | tuple[float, ...]) -> None:
    """Set the value of a node's input, whatever kind of socket it is."""
    node.inputs[name].default_value = value  # type: ignore[attr-defined]
