# SPDX-License-Identifier: GPL-3.0-or-later
"""What operators that add a mannequin have in common."""

import bpy


class Adding(bpy.types.Operator):
    """Only where an object can be added; what was added becomes the active object."""

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        """Only where an object can be added."""
        if context.mode != "OBJECT":
            cls.poll_message_set("Switch to Object Mode to add a mannequin")
            return False
        return True

    @staticmethod
    def choose(context: bpy.types.Context, armature: bpy.types.Object) -> None:
        """Make it the active and the only selected object."""
        for other in context.selected_objects:
            other.select_set(state=False)
        armature.select_set(state=True)
        context.view_layer.objects.active = armature
