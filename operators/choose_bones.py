# SPDX-License-Identifier: GPL-3.0-or-later
"""Choose Bones: the selected bones become those that a bake treats separately."""

import bpy

from ..blender_addon.typed import settings_on
from .set_up import active_armature
from .status import Status


class HEFT_OT_choose_bones(bpy.types.Operator):
    """Use the bones that are selected in Pose Mode"""

    bl_idname = "heft.choose_bones"
    bl_label = "Choose Bones"
    bl_options = {"REGISTER", "UNDO"}

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        """Only with an armature."""
        return active_armature(cls, context)

    def execute(self, context: bpy.types.Context) -> Status:
        """Replace the choice."""
        armature = context.active_object
        chosen = settings_on(armature).chosen_bones
        chosen.clear()
        for bone in armature.pose.bones:
            if is_selected(bone):
                chosen.add().name = bone.name
        if not len(chosen):
            self.report({"WARNING"}, "No bones are selected: select some in Pose Mode")
        return {"FINISHED"}


def is_selected(bone: bpy.types.PoseBone) -> bool:
    """Whether a bone is selected; from Blender 5.0 on the pose's bone knows, before that the armature's."""
    return bool((bone if hasattr(bone, "select") else bone.bone).select)
