# SPDX-License-Identifier: GPL-3.0-or-later
"""Make the selected meshes ground."""

import bpy

from ..blender_addon.rig.mesh import skinned
from ..blender_addon.scene.choosing import chosen_character, needs_character, own_collection
from ..blender_addon.scene.terrain import SHAPED
from .status import Status


class HEFT_OT_mark_terrain(bpy.types.Operator):
    """Use the selected meshes as ground: they are linked to the character's terrain collection"""

    bl_idname = "heft.mark_terrain"
    bl_label = "Mark as Terrain"
    bl_options = {"REGISTER", "UNDO"}

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        """Only for a character."""
        return needs_character(cls, context)

    def execute(self, context: bpy.types.Context) -> Status:
        """Link them into the collection; they stay where else they are."""
        armature = chosen_character(context)
        own = skinned(armature)
        chosen = [
            other
            for other in context.selected_objects
            if (other.type in SHAPED or other.instance_type == "COLLECTION") and other not in own
        ]
        if not chosen:
            self.report({"ERROR"}, "No meshes are selected: select those to use as ground")
            return {"CANCELLED"}
        try:
            collection = own_collection(context, armature, "terrain")
        except ValueError as error:
            self.report({"ERROR"}, str(error))
            return {"CANCELLED"}
        new = [other for other in chosen if other.name not in collection.objects]
        for other in new:
            collection.objects.link(other)
        self.report({"INFO"}, f"{len(new)} added to {collection.name}, which now has {len(collection.all_objects)}")
        return {"FINISHED"}
