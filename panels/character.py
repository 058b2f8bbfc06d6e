# SPDX-License-Identifier: GPL-3.0-or-later
"""The panel of the character: which armature it is, what its bones stand for, and the character made of it."""

import bpy

from ..blender_addon.baking.source import shown_source
from ..blender_addon.baking.stack import stack_of
from ..blender_addon.typed import settings_on
from ..blender_addon.words import interface as _
from ..core.rig.role_names import SURE
from ..operators.set_up import HEFT_OT_edit_role, HEFT_OT_set_up
from .tab import ArmatureTab, Tab
from .text import sentence

LABELS = {"upper_arm": "Upper Arm", "clavicle": "Collar Bone"}


def label_of(role: str) -> str:
    """A role as a person calls it: Upper Arm L."""
    part, _, side = role.partition(".")
    return f"{LABELS.get(part, part.title())} {side}".strip()


class HEFT_PT_character(ArmatureTab):
    """Character: the selected armature."""

    bl_idname = "HEFT_PT_character"
    bl_label = "Character"
    bl_order = 20
    bl_options = {"DEFAULT_CLOSED"}

    def draw(self, context: bpy.types.Context) -> None:
        """The armature, the button and what it found."""
        layout = self.layout
        selected = context.active_object
        action = selected.animation_data.action if selected.animation_data else None
        if stack_of(selected) is not None:
            action = shown_source(selected)
        column = layout.column(align=True)
        column.label(text=selected.name, icon="ARMATURE_DATA", translate=False)
        column.label(text=action.name if action else _("No action"), icon="ACTION", translate=False)
        settings = settings_on(selected)
        layout.operator(HEFT_OT_set_up.bl_idname, icon="FILE_REFRESH" if settings.character else "PLAY")
        if settings.character:
            if settings.unsure:
                for line in settings.unsure.splitlines():
                    sentence(context, layout, line, "ERROR")
            else:
                layout.label(text="All roles found", icon="CHECKMARK")
            if settings.up_in_motion() != "Z":
                text = _(
                    "The motion lies down: {axis} is its up axis. It is simulated standing and written back lying."
                )
                sentence(context, layout, text.format(axis=settings.up_in_motion()), "INFO")
            if settings.found_facing:
                layout.label(text=_("Faces {axis} at first").format(axis=settings.found_facing), translate=False)
            for line in settings.found_floor.splitlines():
                sentence(context, layout, line, "INFO")
            if settings.found_damage:
                sentence(context, layout, _("Damage was mended: see the bars in the Dope Sheet"), "INFO")
            layout.prop(settings, "show_character", text="Show in Viewport")


class HEFT_PT_body(ArmatureTab):
    """Body: what kind of character Set Up makes."""

    bl_idname = "HEFT_PT_body"
    bl_label = "Body"
    bl_parent_id = "HEFT_PT_character"
    bl_options = {"DEFAULT_CLOSED"}

    def draw(self, context: bpy.types.Context) -> None:
        """Whose names the bones have, how many joints it has, how heavy it is."""
        layout = self.layout
        layout.use_property_split = True
        layout.use_property_decorate = False
        settings = settings_on(context.active_object)
        column = layout.column()
        column.prop(settings, "family")
        column.prop(settings, "detail")
        column.prop(settings, "masses_from")
        inner = column.column()
        inner.active = settings.masses_from != "MESH"
        inner.prop(settings, "sex")
        row = column.row(heading="Mass", align=True)
        row.prop(settings, "use_total_mass", text="")
        inner = row.row()
        inner.active = settings.use_total_mass
        inner.prop(settings, "total_mass", text="")
        column.prop(settings, "scale")
        column.prop(settings, "up")
        column.prop(settings, "facing")
        row = column.row(heading="Level", align=True)
        for name in ("level_height", "level_tilt", "level_drift"):
            row.prop(settings, name, toggle=True)


class HEFT_PT_roles(Tab):
    """Roles: which bone stands for what, each to be changed."""

    bl_idname = "HEFT_PT_roles"
    bl_label = "Roles"
    bl_parent_id = "HEFT_PT_character"
    bl_options = {"DEFAULT_CLOSED"}

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        """For an armature."""
        selected = context.active_object
        return selected is not None and selected.type == "ARMATURE"

    def draw(self, context: bpy.types.Context) -> None:
        """A field for each bone of each role; doubtful ones with a warning, those chosen by hand with a hand."""
        layout = self.layout
        armature = context.active_object
        if not len(settings_on(armature).roles):
            sentence(context, layout, _("Set Up finds them; what it does not find is chosen here"), "INFO")
        for role in settings_on(armature).roles:
            names = role.names()
            gone = any(name not in armature.data.bones for name in names)
            if role.is_by_hand():
                icon = "ERROR" if gone else "VIEW_PAN"
            else:
                icon = "ERROR" if gone or (names and role.score < SURE) else "NONE"
            column = layout.column(align=True)
            for index, entry in enumerate(role.bones):
                row = column.row(align=True)
                split = row.split(factor=0.4, align=True)
                split.label(text=label_of(role.name) if index == 0 else "", icon=icon if index == 0 else "NONE")
                split.prop_search(entry, "bone", armature.data, "bones", text="")
                edit = row.operator(HEFT_OT_edit_role.bl_idname, text="", icon="ADD" if index == 0 else "REMOVE")
                edit.role, edit.action, edit.index = role.name, "ADD" if index == 0 else "REMOVE", index
        layout.operator(HEFT_OT_set_up.bl_idname, text="Detect All Again", icon="LOOP_BACK").forget = True


class HEFT_PT_joints(Tab):
    """Joints: how each of the character's joints moves."""

    bl_idname = "HEFT_PT_joints"
    bl_label = "Joints"
    bl_parent_id = "HEFT_PT_character"
    bl_options = {"DEFAULT_CLOSED"}

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        """Once there is a character."""
        selected = context.active_object
        return selected is not None and selected.type == "ARMATURE" and len(settings_on(selected).joints) > 0

    def draw(self, context: bpy.types.Context) -> None:
        """A choice for each joint."""
        layout = self.layout
        layout.use_property_split = True
        layout.use_property_decorate = False
        column = layout.column(align=True)
        for joint in settings_on(context.active_object).joints:
            column.prop(joint, "kind", text=joint.name)
