# SPDX-License-Identifier: GPL-3.0-or-later
"""Set up an armature as a physical character, and change by hand which bones play which role."""

from typing import ClassVar

import bpy
from bpy.props import BoolProperty, EnumProperty, IntProperty, StringProperty

from ..blender_addon.rig import setting_up


def active_armature(cls: type[bpy.types.Operator], context: bpy.types.Context) -> bool:
    """For polls: whether the active object is an armature that is not being edited."""
    armature = context.active_object
    if armature is None or armature.type != "ARMATURE":
        cls.poll_message_set("Select an armature")
        return False
    if armature.mode == "EDIT":
        cls.poll_message_set("Leave Edit Mode first")
        return False
    return True


class HEFT_OT_set_up(bpy.types.Operator):
    """Find out what the bones of the active armature stand for, and make a physical character that fits it"""

    bl_idname = "heft.set_up"
    bl_label = "Set Up"
    bl_options: ClassVar[set[str]] = {"REGISTER", "UNDO"}

    forget: BoolProperty(
        name="Find All Again",
        description="Also find the roles that were chosen by hand",
        options={"SKIP_SAVE"},
    )

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        """Only with an armature."""
        return active_armature(cls, context)

    def execute(self, context: bpy.types.Context) -> set[str]:
        """Find everything first, then store it. Of what cannot be set up the roles are shown, to be completed."""
        armature = context.active_object
        try:
            done = setting_up.set_up(context, armature, keep_choices=not self.forget)
        except ValueError as error:
            setting_up.offer_roles(armature)
            self.report({"ERROR"}, str(error))
            return {"CANCELLED"}
        setting_up.store(armature, done)
        for line in done.lines:
            self.report({"INFO"}, line)
        character = done.plan.character
        self.report(
            {"WARNING" if done.found.unsure else "INFO"},
            f"{armature.name}: {character.nv} degrees of freedom, {character.total_mass:.1f} kg"
            + (f"; {len(done.found.unsure)} things to check in the panel" if done.found.unsure else ""),
        )
        return {"FINISHED"}


class HEFT_OT_edit_role(bpy.types.Operator):
    """Add a bone to a role's chain, or take its last one away"""

    bl_idname = "heft.edit_role"
    bl_label = "Edit Role"
    bl_options: ClassVar[set[str]] = {"REGISTER", "UNDO", "INTERNAL"}

    role: StringProperty(name="Role", options={"HIDDEN"})
    action: EnumProperty(
        name="Action",
        items=[("ADD", "Add", "Add a bone at the tip"), ("REMOVE", "Remove", "Take a bone away")],
        options={"HIDDEN"},
    )
    index: IntProperty(name="Index", default=-1, options={"HIDDEN"})

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        """Only with an armature."""
        return active_armature(cls, context)

    def execute(self, context: bpy.types.Context) -> set[str]:
        """Add or remove one entry."""
        role = context.active_object.heft.roles.get(self.role)
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
