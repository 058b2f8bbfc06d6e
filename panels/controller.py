# SPDX-License-Identifier: GPL-3.0-or-later
"""The panel of the method: which one, what it is good for, the few settings that matter; the rest under Advanced."""

from typing import ClassVar

import bpy
from bl_ui.utils import PresetPanel
from bpy.app.translations import pgettext_iface as _
from bpy.app.translations import pgettext_tip

from ..blender_addon.presets import FOLDER
from ..blender_addon.properties.armature import HEFT_PG_armature
from ..blender_addon.properties.bake import COMBINES, FOLLOW_KEYS, GOES_BETWEEN, LEAST_RATE
from .tab import ArmatureTab
from .text import sentence

FIRST = {
    "LOOKAHEAD": ("adaptation", "follow_ground", "reset_phase", "await_touchdown"),
    "REPLANNING": ("window", "delay", "transition", "slowing"),
    "MOMENTUM": ("flexible_time", "step_aside", "damping"),
    "BALANCE": ("balance",),
    "GAIT": ("style",),
    "COMBINATION": ("choose",),
}
"""The settings of each method that are shown at once."""
KEYED = {"REPLANNING": ("playback", ("speed", "go_over")), "GAIT": ("course", ("forward", "left", "heading"))}
"""What is keyed for a method, and where it belongs."""


def settings_column(layout: bpy.types.UILayout) -> bpy.types.UILayout:
    """A column of settings with their names in the fields: beside them there is no room for so many words."""
    column = layout.column()
    column.use_property_split = False
    column.use_property_decorate = False
    return column


def others(layout: bpy.types.UILayout, settings: HEFT_PG_armature, keyed: str) -> None:
    """The actions beside the source, and what is keyed to choose among them."""
    column = settings_column(layout)
    for index, entry in enumerate(settings.others):
        row = column.row(align=True)
        row.prop(entry, "action", text=str(index + 1), translate=False)
        row.operator("heft.remove_action", text="", icon="X").index = index
    column.operator("heft.add_action", icon="ADD")
    column = layout.column()
    column.use_property_decorate = True
    column.prop(settings, keyed, slider=keyed == "slider")


class HEFT_PT_controller_presets(PresetPanel, bpy.types.Panel):
    """Presets of all of a method's settings."""

    bl_label = "Controller Presets"
    preset_subdir = FOLDER
    preset_operator = "script.execute_preset"
    preset_add_operator = "heft.add_preset"


class HEFT_PT_controller(ArmatureTab, bpy.types.Panel):
    """Controller: how the character moves itself."""

    bl_idname = "HEFT_PT_controller"
    bl_label = "Controller"
    bl_order = 25

    def draw_header_preset(self, _context: bpy.types.Context) -> None:
        """The menu of presets."""
        HEFT_PT_controller_presets.draw_panel_header(self.layout)

    def draw(self, context: bpy.types.Context) -> None:
        """The method and its first settings."""
        layout = self.layout
        layout.use_property_split = True
        layout.use_property_decorate = False
        settings = context.active_object.heft
        layout.prop(settings, "controller")
        item = settings.bl_rna.properties["controller"].enum_items[settings.controller]
        sentence(context, layout, pgettext_tip(item.description).partition("[")[0].strip() + ".")
        group = getattr(settings, settings.controller.lower())
        column = settings_column(layout)
        if settings.controller in FOLLOW_KEYS:
            column.prop(settings, "optimise")
        column.prop(settings, "help")
        for name in FIRST[settings.controller]:
            column.prop(group, name)
        if settings.controller in COMBINES:
            others(layout, settings, "slider")
        if settings.controller in GOES_BETWEEN and settings.loop:
            others(layout, settings, "motion")
        if settings.controller in KEYED:
            owner, names = KEYED[settings.controller]
            column = layout.column()
            column.use_property_decorate = True
            for name in names:
                column.prop(getattr(settings, owner), name)


class HEFT_PT_controller_advanced(ArmatureTab, bpy.types.Panel):
    """Advanced: everything else about the method."""

    bl_idname = "HEFT_PT_controller_advanced"
    bl_label = "Advanced"
    bl_parent_id = "HEFT_PT_controller"
    bl_options: ClassVar[set[str]] = {"DEFAULT_CLOSED"}

    def draw(self, context: bpy.types.Context) -> None:
        """The rate, and the method's other settings."""
        settings = context.active_object.heft
        group = getattr(settings, settings.controller.lower())
        column = settings_column(self.layout)
        column.prop(settings, "rate")
        least = LEAST_RATE.get(settings.controller, 0)
        if settings.rate < least:
            sentence(context, column, _("This method takes {rate} at least.").format(rate=least))
        for entry in group.bl_rna.properties:
            if entry.identifier not in {"rna_type", "name", *FIRST[settings.controller]}:
                column.prop(group, entry.identifier)
        self.layout.operator("heft.precompute", icon="SHADERFX")
