# SPDX-License-Identifier: GPL-3.0-or-later
"""Add Grab: let a hand hold on."""

import bpy
import numpy as np
from bpy.props import EnumProperty, IntProperty

from ..blender_addon.properties.scene import HEFT_PG_grab
from ..blender_addon.scene.choosing import add_empty, chosen_bone, chosen_character, needs_character
from ..blender_addon.typed import settings_on
from ..blender_addon.writer import own_bag, write_steps
from .status import Status

MARK = 0.08  # m


class HEFT_OT_add_grab(bpy.types.Operator):
    """Let the active bone, usually a hand, hold the other selected object, or its place, from the current frame on"""

    bl_idname = "heft.add_grab"
    bl_label = "Add Grab"
    bl_options = {"REGISTER", "UNDO"}

    duration: IntProperty(
        name="Duration",
        description="How many frames the hand holds on; 0 to hold to the end",
        default=24,
        min=0,
        soft_max=250,
    )
    kind: EnumProperty(
        name="Grip",
        description="What the grip fixes",
        items=[
            ("POINT", "Turns Freely", "The hand stays in place but may turn, as around a bar"),
            ("FULL", "Firm", "The hand neither moves nor turns"),
        ],
    )

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        """Only for a character."""
        return needs_character(cls, context)

    def execute(self, context: bpy.types.Context) -> Status:
        """Add the empty and its keys."""
        armature = chosen_character(context)
        bone, unit = chosen_bone(armature), context.scene.unit_settings.scale_length * settings_on(armature).scale
        others = [other for other in context.selected_objects if other != armature]
        held = next((other for kind in ("MESH", "ARMATURE") for other in others if other.type == kind), None)
        try:
            empty = add_empty(context, armature, bone, f"Grab {bone}", "SPHERE", MARK / unit)
        except ValueError as error:
            self.report({"ERROR"}, str(error))
            return {"CANCELLED"}
        grab: HEFT_PG_grab = settings_on(empty).grab
        grab.armature, grab.bone, grab.target, grab.kind, grab.holding = armature, bone, held, self.kind, True
        now = context.scene.frame_current
        keys = [(now - 1.0, 0.0), (float(now), 1.0)]
        if self.duration:
            keys.append((now + self.duration, 0.0))
        write_steps(own_bag(empty), "heft.grab.holding", "Grab", *np.array(keys).T)
        what = held.name if held else "its place"
        self.report({"INFO"}, f"{bone} holds {what} from frame {now}")
        return {"FINISHED"}
