# SPDX-License-Identifier: GPL-3.0-or-later
"""The panel of the stage: the button, what its director has at hand, and the take that there is."""

import bpy

from ..blender_addon.typed import settings_on
from ..blender_addon.words import interface as _
from ..operators.stage import HEFT_OT_drop_take, HEFT_OT_stage
from .tab import ArmatureTab
from .text import sentence


class HEFT_PT_stage(ArmatureTab):
    """Stage: direct the character while it acts."""

    bl_idname = "HEFT_PT_stage"
    bl_label = "Stage"
    bl_order = 12
    bl_options = {"DEFAULT_CLOSED"}

    def draw(self, context: bpy.types.Context) -> None:
        """What is at hand, and how long the take is."""
        layout = self.layout
        take = settings_on(context.active_object).take
        layout.operator(HEFT_OT_stage.bl_idname, icon="PLAY")
        column = layout.column(align=True)  # names in the fields: beside them a narrow sidebar cuts both
        column.prop(take, "strongest")
        column.prop(take, "shove")
        column.prop(take, "ball_mass")
        column.prop(take, "ball_speed")
        if take.seconds > 0.0:
            sentence(context, layout, _("A bake plays the take again, {:.1f} s").format(take.seconds), "REC")
            layout.operator(HEFT_OT_drop_take.bl_idname, icon="TRASH")
