# SPDX-License-Identifier: GPL-3.0-or-later
"""The panel of the motion: which action, when which foot stands, and how good the reference made of it is."""

import bpy

from ..blender_addon import contacts
from ..blender_addon.baking.source import shown_source
from ..blender_addon.overlay import glance
from ..blender_addon.properties.contacts import FEET, OTHER_POINTS
from ..blender_addon.reference import report_of
from ..blender_addon.typed import settings_on
from ..blender_addon.words import interface as _
from ..blender_addon.words import why
from ..operators.build_reference import HEFT_OT_build_reference
from ..operators.find_contacts import HEFT_OT_find_contacts
from .tab import Tab
from .text import sentence

# What is told of a reference: in words, by its name in the report, and in units (factor, digits, symbol and its space).
FIGURES = (
    ("Joint change (RMS)", "joint_rms_degrees", (1.0, 1, "°")),
    ("Root change (RMS)", "root_rms_metres", (100.0, 1, " cm")),
    ("Root change (max)", "root_max_metres", (100.0, 1, " cm")),
    ("Peak contact force", "peak_force_newtons", (1.0, 0, " N")),
    ("Peak joint torque", "peak_torque_newton_metres", (1.0, 0, " N m")),
)


def armature_with_character(context: bpy.types.Context) -> bool:
    """For polls: whether the active object is an armature that was set up."""
    active = context.active_object
    return active is not None and active.type == "ARMATURE" and bool(settings_on(active).character)


class HEFT_PT_motion(Tab):
    """Motion: the action that is to be simulated."""

    bl_idname = "HEFT_PT_motion"
    bl_label = "Motion"
    bl_order = 15

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        """For a character."""
        return armature_with_character(context)

    def draw(self, context: bpy.types.Context) -> None:
        """The action, its range, whether to go on with it, the button, and what came of it."""
        layout = self.layout
        layout.use_property_split = True
        layout.use_property_decorate = False
        armature = context.active_object
        settings = settings_on(armature)
        of = shown_source(armature)
        layout.prop(settings, "source_action", placeholder=of.name if of is not None else "")
        layout.prop(settings, "motion_from")
        column = layout.column(align=True)  # names in the fields: beside them a narrow sidebar cuts both
        column.use_property_split = False
        column.prop(settings, "use_frame_range")
        row = column.row(align=True)
        row.active = settings.use_frame_range
        row.prop(settings, "frame_start")
        row.prop(settings, "frame_end")
        column.separator()
        column.prop(settings, "loop")
        row = column.row()
        row.active = settings.extends
        row.prop(settings, "loop_seconds")
        layout.prop(settings, "travel")
        column = layout.column()
        column.use_property_split = False
        column.prop(settings, "show_physics")
        known = glance.glance_of(armature)
        if known is not None:
            sentence(context, column, glance.summary(known), "INFO")
        report = report_of(armature)
        layout.operator(HEFT_OT_build_reference.bl_idname, icon="FILE_REFRESH" if report else "PLAY")
        if not report:
            return
        good = report["fit_for_control"]
        box = layout.box()
        verdict = _("Good: physically correct") if good else _("Doubtful: check the points below")
        sentence(context, box, verdict, "CHECKMARK" if good else "ERROR")
        sentence(context, box, why(report))
        column = box.column(align=True)
        for text, name, unit in FIGURES:
            row = column.split(factor=0.6)
            row.label(text=_(text), translate=False)
            row.label(text=f"{unit[0] * report[name]:.{unit[1]}f}{unit[2]}", translate=False)


class HEFT_PT_contacts(Tab):
    """Contacts: when which part of the body stands on something."""

    bl_idname = "HEFT_PT_contacts"
    bl_label = "Contacts"
    bl_parent_id = "HEFT_PT_motion"
    bl_options = {"DEFAULT_CLOSED"}

    def draw(self, context: bpy.types.Context) -> None:
        """A switch to be keyed for each point: the feet's, those that touch somewhere, then the rest."""
        layout = self.layout
        armature = context.active_object
        keyed = contacts.keyed(armature)
        points = contacts.points_of(armature)
        if not keyed:
            sentence(context, layout, _("Not found yet: Build Reference finds them"), "INFO")
        elif contacts.are_edited(armature):
            sentence(context, layout, _("Edited: your keys are kept"), "VIEW_PAN")
        else:
            sentence(context, layout, _("Automatic: edit the keys in the Dope Sheet"), "CHECKMARK")
        layout.operator(HEFT_OT_find_contacts.bl_idname, icon="LOOP_BACK" if keyed else "PLAY")
        layout.prop(settings_on(armature), "show_contacts")
        layout.prop(settings_on(armature), "show_damage")
        layout.use_property_split = True
        column = layout.column(align=True)
        for name in (*FEET, *OTHER_POINTS):
            if name in points and (name in FEET or name in keyed):
                column.prop(settings_on(armature).contacts, name)
        header, body = layout.panel("heft_other_contacts", default_closed=True)
        header.label(text="Other Parts")
        if body is not None:
            column = body.column(align=True)
            for name in OTHER_POINTS:
                if name in points and name not in keyed:
                    column.prop(settings_on(armature).contacts, name)
