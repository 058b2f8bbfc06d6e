# SPDX-License-Identifier: GPL-3.0-or-later
"""What Heft knows of an action: `action.heft`."""

import bpy
from bpy.props import BoolProperty, PointerProperty, StringProperty


class HEFT_PG_action(bpy.types.PropertyGroup):
    """What Heft found in an action, or made of it."""

    contacts: StringProperty(
        description="The contacts that were found, by which a change by hand is known, as JSON text"
    )

    report: StringProperty(description="What the bake was like that made this action, as JSON text; empty for others")
    source: PointerProperty(name="Source", description="The action that was simulated", type=bpy.types.Action)
    source_slot: StringProperty(description="The slot of it that was")
    armature: StringProperty(description="The armature that it was baked for, by its name then")
    keep: BoolProperty(
        name="Keep",
        description="The next bake of the same source leaves this action as it is and makes another; "
        "otherwise it replaces it",
    )
    kept: StringProperty(description="What the bake changed besides: constraints, channels without keys, as JSON text")
    overlay: StringProperty(description="What is drawn over the bake, frame by frame")


CLASSES = (HEFT_PG_action,)


def register() -> None:
    """Hang it on every action."""
    bpy.types.Action.heft = PointerProperty(type=HEFT_PG_action)


def unregister() -> None:
    """Take it off."""
    del bpy.types.Action.heft
