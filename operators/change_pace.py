# SPDX-License-Identifier: GPL-3.0-or-later
"""Change Pace: have the action play as fast as gravity allows."""

import bpy
from bpy.props import FloatProperty

from ..blender_addon.baking import outcome, retiming
from ..blender_addon.scene.choosing import chosen_character, needs_character
from .status import Status


class HEFT_OT_change_pace(bpy.types.Operator):
    """Play a copy of the action that is slower or quicker, at the pace that the last bake found possible"""

    bl_idname = "heft.change_pace"
    bl_label = "Change Pace"
    bl_options = {"REGISTER", "UNDO"}

    times: FloatProperty(
        name="Times",
        description="How many times as long the copy lasts; 0 is what the report of the last bake says",
        default=0.0,
        min=0.0,
        max=100.0,
        options={"SKIP_SAVE"},
    )

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        """Only for a character."""
        return needs_character(cls, context)

    def execute(self, context: bpy.types.Context) -> Status:
        """Copy the action, stretch the copy and assign it."""
        armature = chosen_character(context)
        report = outcome.shown(armature)
        times = self.times or retiming.wanted(report)
        if not times:
            done = "bake it first" if not report else "its last bake found nothing wrong with the pace"
            self.report({"INFO"}, f"There is nothing to change for {armature.name}: {done}")
            return {"CANCELLED"}
        try:
            action = retiming.retime(context.scene, armature, times)
        except ValueError as error:
            self.report({"ERROR"}, str(error))
            return {"CANCELLED"}
        if report:
            outcome.note_done(armature, report, retiming.RETIMED)
        self.report({"INFO"}, f"{armature.name} plays {action.name} now. Bake again")
        return {"FINISHED"}
