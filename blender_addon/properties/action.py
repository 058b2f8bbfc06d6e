# SPDX-License-Identifier: GPL-3.0-or-later
"""What Heft knows of an action: `action.heft`."""

import bpy
from bpy.props import BoolProperty, PointerProperty, StringProperty


class HEFT_PG_action(bpy.types.PropertyGroup):
    """What Heft found in an action, or made of it."""

    contacts: StringProperty(description="The contacts that were found, to detect changes by hand, as JSON")

    report: StringProperty(description="Report of the bake that made this action, as JSON; empty for other actions")
    source: PointerProperty(name="Source", description="The action that was simulated", type=bpy.types.Action)
    source_slot: StringProperty(description="The slot that was simulated")
    armature: StringProperty(description="The armature that it was baked for, by its name then")
    keep: BoolProperty(
        name="Keep",
        description="The next bake of the same source leaves this action as it is and makes another; "
        "otherwise it replaces it",
    )
    is_layer: BoolProperty(description="It was baked to lie over its source in the NLA")
    is_beneath: BoolProperty(description="It holds values without keys beneath a bake that lies over its source")
    kept: StringProperty(description="Other changes by the bake: constraints, channels without keys, as JSON")
    overlay: StringProperty(description="Overlay of the bake, frame by frame")


CLASSES = (HEFT_PG_action,)


def register() -> None:
    """Hang it on every action."""
    bpy.types.Action.heft = PointerProperty(type=HEFT_PG_action)  # type: ignore[attr-defined]


def unregister() -> None:
    """Take it off."""
    del bpy.types.Action.heft  # type: ignore[attr-defined]
