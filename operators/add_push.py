# SPDX-License-Identifier: GPL-3.0-or-later
"""Add an arrow that pushes the active bone."""

import math

import bpy
import numpy as np
from bpy.props import BoolProperty, EnumProperty, FloatProperty, FloatVectorProperty, IntProperty
from mathutils import Vector

from ..blender_addon.scene.choosing import add_empty, chosen_bone, chosen_character, needs_character
from ..blender_addon.typed import settings_on
from ..blender_addon.writer import own_bag, write_steps
from .status import Status

ARROW = 0.5  # m
KINDS = {  # name, newtons, seconds; by what they are like
    "TAP": ("Tap", 60.0, 0.1),
    "SHOVE": ("Shove", 200.0, 0.1),
    "TACKLE": ("Tackle", 600.0, 0.2),
    "BLAST": ("Blast", 2000.0, 0.2),
}
LIKE = ((12.0, "a tap"), (60.0, "a shove"), (200.0, "a tackle"), (math.inf, "a blast"))  # N s, up to which


def in_words(newtons: float, frames: int, fps: float) -> str:
    """Return a push's impulse, and what it is like."""
    impulse = newtons * frames / fps
    return f"{impulse:.0f} N s, like {next(word for most, word in LIKE if impulse <= most)}"


class HEFT_OT_add_push(bpy.types.Operator):
    """Add an arrow that pushes the active bone from the current frame on; move and rotate it to aim"""

    bl_idname = "heft.add_push"
    bl_label = "Add Push"
    bl_options = {"REGISTER", "UNDO"}

    kind: EnumProperty(
        name="Kind",
        description="How hard it is",
        items=[
            ("CUSTOM", "Custom", "Strength and duration as they are set here", 0),
            *(
                (key, name, f"{newtons:.0f} N for {seconds:.1f} s: {newtons * seconds:.0f} N s", number)
                for number, (key, (name, newtons, seconds)) in enumerate(KINDS.items(), 1)
            ),
        ],
        default="CUSTOM",
    )
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
        armature, render = chosen_character(context), context.scene.render
        fps = render.fps / render.fps_base
        if self.kind != "CUSTOM":
            _, self.strength, seconds = KINDS[self.kind]
            self.duration = max(1, round(seconds * fps))
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
        told = "" if self.continuous else f": {in_words(self.strength, self.duration, fps)}"
        self.report({"INFO"}, f"Added {empty.name} at frame {now}{told}")
        return {"FINISHED"}

    def draw(self, context: bpy.types.Context) -> None:
        """The kind, its force and duration, and what it is like in words."""
        layout, render = self.layout, context.scene.render
        layout.use_property_split = True
        layout.prop(self, "kind")
        column = layout.column()
        column.active = self.kind == "CUSTOM"
        column.prop(self, "strength")
        column.prop(self, "duration")
        layout.prop(self, "continuous")
        layout.prop(self, "direction")
        if not self.continuous:
            layout.label(text=in_words(self.strength, self.duration, render.fps / render.fps_base), translate=False)
