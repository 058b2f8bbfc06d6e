# SPDX-License-Identifier: GPL-3.0-or-later
"""Add an arrow that pushes the active bone."""

import bpy
import numpy as np
from bpy.props import BoolProperty, FloatProperty, FloatVectorProperty, IntProperty
from mathutils import Vector

from ..blender_addon.scene.choosing import add_empty, chosen_bone, chosen_character, needs_character
from ..blender_addon.typed import settings_on
from ..blender_addon.writer import own_bag, write_steps
from .status import Status

ARROW = 0.5  # m


class HEFT_OT_add_push(bpy.types.Operator):
    """Add an arrow that pushes the active bone from the current frame on; move and rotate it to aim"""

    bl_idname = "heft.add_push"
    bl_label = "Add Push"
    bl_options = {"REGISTER", "UNDO"}

    strength: FloatProperty(
        name="Strength", description="Force along the arrow, in newtons", default=100.0, min=0.0, soft_max=500.0
    )
    duration: IntProperty(name="Duration", description="How many frames the push lasts", default=3, min=1, soft_max=100)
    continuous: BoolProperty(
        name="Continuous",
        description="Push all the time, like wind: set no keys, so that you can key the strength yourself",
    )
    direction: FloatVectorProperty(
        name="Direction", description="Direction of the arrow", subtype="DIRECTION", default=(0.0, 1.0, 0.0)
    )

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        """Only for a character."""
        return needs_character(cls, context)

    def execute(self, context: bpy.types.Context) -> Status:
        """Add the empty and its keys."""
        armature = chosen_character(context)
        bone, unit = chosen_bone(armature), context.scene.unit_settings.scale_length * settings_on(armature).scale
        try:
            empty = add_empty(context, armature, bone, f"Push {bone}", "SINGLE_ARROW", ARROW / unit)
        except ValueError as error:
            self.report({"ERROR"}, str(error))
            return {"CANCELLED"}
        empty.rotation_euler = Vector(self.direction).to_track_quat("Z", "Y").to_euler()
        push = settings_on(empty).push
        push.armature, push.bone, push.strength = armature, bone, self.strength
        now = context.scene.frame_current
        if not self.continuous:
            frames, values = np.array([now - 1.0, now, now + self.duration]), np.array([0.0, self.strength, 0.0])
            write_steps(own_bag(empty), "heft.push.strength", "Push", frames, values)
        self.report({"INFO"}, f"Added {empty.name} at frame {now}")
        return {"FINISHED"}
