# SPDX-License-Identifier: GPL-3.0-or-later
"""Set up an armature as a physical character, and change by hand which bones play which role."""

import bpy
from bpy.props import BoolProperty, EnumProperty, IntProperty, StringProperty

from ..blender_addon.rig import setting_up
from ..blender_addon.typed import settings_on
from .status import Status


def active_armature(cls: type[bpy.types.Operator], context: bpy.types.Context) -> bool:
    """For polls: whether the active object is an armature that is not being edited."""
    armature = context.active_object
    if armature is None or armature.type != "ARMATURE":
        cls.poll_message_set("No armature is active: select one")
        return False
    if armature.mode == "EDIT":
        cls.poll_message_set("The armature is in Edit Mode: leave it first")
        return False
    return True


class HEFT_OT_set_up(bpy.types.Operator):
    """Detect the roles of the active armature's bones, and build a physical character that fits it"""

    bl_idname = "heft.set_up"
    bl_label = "Set Up"
    bl_options = {"REGISTER", "UNDO"}

    forget: BoolProperty(
        name="Detect All Again",
        description="Also detect the roles that you chose yourself",
        options={"SKIP_SAVE"},
    )

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        """Only with an armature."""
        return active_armature(cls, context)

    def execute(self, context: bpy.types.Context) -> Status:
        """Find everything first, then store it. Of what cannot be set up the roles are shown, to be completed."""
        armature = context.active_object
        try:
            done = setting_up.set_up(context, armature, keep_choices=not self.forget)
        except ValueError as error:
            setting_up.offer_roles(context, armature)
            self.report({"ERROR"}, str(error))
            return {"CANCELLED"}
        setting_up.store(armature, done)
        for line in done.lines:
            self.report({"INFO"}, line)
        character = done.plan.character
        self.report(
            {"WARNING" if done.found.unsure else "INFO"},
            f"{armature.name}: {character.nv} degrees of freedom, {character.total_mass:.1f} kg"
            + (f"; {len(done.found.unsure)} roles to check in the panel" if done.found.unsure else ""),
        )
        return {"FINISHED"}


class HEFT_OT_edit_role(bpy.types.Operator):
    """Add a bone to this role's chain, or remove the last one"""

    bl_idname = "heft.edit_role"
    bl_label = "Edit Role"
    bl_options = {"REGISTER", "UNDO", "INTERNAL"}

    role: StringProperty(name="Role", options={"HIDDEN"})
    action: EnumProperty(
        name="Action",
        items=[("ADD", "Add", "Add a bone at the end"), ("REMOVE", "Remove", "Remove a bone")],
        options={"HIDDEN"},
    )
    index: IntProperty(name="Index", default=-1, options={"HIDDEN"})

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        """Only with an armature."""
        return active_armature(cls, context)

    def execute(self, context: bpy.types.Context) -> Status:
        """Add or remove one entry."""
        role = settings_on(context.active_object).roles.get(self.role)
        if role is None:
            self.report({"ERROR"}, f"There is no role '{self.role}'")
            return {"CANCELLED"}
        if self.action == "ADD":
            role.bones.add()
        elif len(role.bones) > 1:
            role.bones.remove(self.index if 0 <= self.index < len(role.bones) else len(role.bones) - 1)
        else:
            role.bones[0].bone = ""
        return {"FINISHED"}
