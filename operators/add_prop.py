# SPDX-License-Identifier: GPL-3.0-or-later
"""Add Prop: make the selected meshes props, or weights that the character carries."""

import bpy
from bpy.props import BoolProperty, EnumProperty, FloatProperty

from ..blender_addon.rig.mesh import skinned
from ..blender_addon.scene.choosing import chosen_bone, chosen_character, needs_character, own_collection
from ..blender_addon.typed import settings_on
from .status import Status


class HEFT_OT_add_prop(bpy.types.Operator):
    """Give the selected meshes mass, so that the character can kick, lean on, pick up or carry them"""

    bl_idname = "heft.add_prop"
    bl_label = "Add Prop"
    bl_options = {"REGISTER", "UNDO"}

    mass: FloatProperty(
        name="Mass",
        description="Mass of each object, in kilograms",
        default=5.0,
        min=0.001,
        soft_max=50.0,
        max=100000.0,
    )
    shape: EnumProperty(
        name="Shape",
        description="Collision shape, in the size of the mesh",
        items=[
            ("BOX", "Box", "A box", "MESH_CUBE", 0),
            ("SPHERE", "Sphere", "A ball", "MESH_UVSPHERE", 1),
            ("CAPSULE", "Capsule", "A capsule along the object's Z axis", "MESH_CAPSULE", 2),
            ("CONVEX_HULL", "Convex Hull", "What a skin stretched over the mesh would hold", "MESH_ICOSPHERE", 3),
            ("MESH", "Mesh", "The mesh in convex pieces: a chair, a crate with handles", "MESH_DATA", 4),
        ],
    )
    carried: BoolProperty(
        name="Carried",
        description="The active bone carries them all the time, like a backpack: they add mass and touch nothing",
    )

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        """Only for a character."""
        return needs_character(cls, context)

    def execute(self, context: bpy.types.Context) -> Status:
        """Set them up as what they are to be."""
        armature = chosen_character(context)
        own = skinned(armature)
        chosen = [other for other in context.selected_objects if other.type == "MESH" and other not in own]
        if not chosen:
            self.report({"ERROR"}, "No meshes are selected: select those to use as props")
            return {"CANCELLED"}
        foreign = [other.name for other in chosen if not other.is_editable]
        if foreign:
            self.report({"ERROR"}, f"{foreign[0]} is linked from another file: make it local first")
            return {"CANCELLED"}
        try:
            collection = own_collection(context, armature, "props")
        except ValueError as error:
            self.report({"ERROR"}, str(error))
            return {"CANCELLED"}
        for thing in chosen:
            if thing.name not in collection.objects:
                collection.objects.link(thing)
        if self.carried:
            self.carry(armature, chosen)
        else:
            self.give_bodies(context, chosen)
            self.report({"INFO"}, f"{collection.name} now has {len(collection.objects)} objects")
        return {"FINISHED"}

    def carry(self, armature: bpy.types.Object, chosen: list[bpy.types.Object]) -> None:
        """Fix them to the active bone; what nothing else moves goes with it."""
        bone = chosen_bone(armature)
        for thing in chosen:
            if thing.parent is None and not thing.constraints:
                place = thing.matrix_world.copy()
                thing.parent, thing.parent_type, thing.parent_bone = armature, "BONE", bone
                thing.matrix_world = place
            weight = settings_on(thing).weight
            weight.armature, weight.bone, weight.mass = armature, bone, self.mass
        self.report({"INFO"}, f"{bone} carries {len(chosen) * self.mass:g} kg more")

    def give_bodies(self, context: bpy.types.Context, chosen: list[bpy.types.Object]) -> None:
        """Give each a rigid body, which Blender's own simulation leaves where it is."""
        for thing in chosen:
            settings_on(thing).weight.armature = None
            if thing.rigid_body is None:
                own = context.temp_override(object=thing, active_object=thing, selected_objects=[thing])
                with own:  # type: ignore[attr-defined]
                    bpy.ops.rigidbody.object_add(type="ACTIVE")
            body = thing.rigid_body
            body.type, body.kinematic = "ACTIVE", True
            body.mass, body.collision_shape = self.mass, self.shape
