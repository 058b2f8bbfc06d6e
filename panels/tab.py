# SPDX-License-Identifier: GPL-3.0-or-later
"""What the panels of the sidebar's tab have in common."""

import bpy


class Tab(bpy.types.Panel):
    """A panel in the tab Heft."""

    bl_space_type = "VIEW_3D"
    bl_region_type = "UI"
    bl_category = "Heft"


class ArmatureTab(Tab):
    """The same, shown only for an armature."""

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        """Only for an armature."""
        return context.active_object is not None and context.active_object.type == "ARMATURE"
