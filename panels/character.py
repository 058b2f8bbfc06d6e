# SPDX-License-Identifier: GPL-3.0-or-later
"""The first panel: which armature Heft would work on, and what it has to offer."""

import bpy

from ..operators.add_mannequin import HEFT_OT_add_mannequin


class HEFT_PT_character(bpy.types.Panel):
    """Character: the selected armature."""

    bl_idname = "HEFT_PT_character"
    bl_label = "Character"
    bl_space_type = "VIEW_3D"
    bl_region_type = "UI"
    bl_category = "Heft"

    def draw(self, context: bpy.types.Context) -> None:
        """The armature and its action, or how to get one."""
        layout = self.layout
        selected = context.active_object
        if selected is None or selected.type != "ARMATURE":
            layout.label(text="Select an armature", icon="INFO")
            layout.operator(HEFT_OT_add_mannequin.bl_idname, text="Add Walking Mannequin", icon="ARMATURE_DATA")
            return
        column = layout.column(align=True)
        column.label(text=selected.name, icon="ARMATURE_DATA")
        action = selected.animation_data.action if selected.animation_data else None
        column.label(text=f"{len(selected.data.bones)} bones", icon="BONE_DATA")
        column.label(text=action.name if action else "No action", icon="ACTION")
