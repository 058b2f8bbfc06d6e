# SPDX-License-Identifier: GPL-3.0-or-later
"""The panel of the method: which one, what it is good for, the few settings that matter; the rest under Advanced."""

from collections.abc import Sequence

import bpy
from bl_ui.utils import PresetPanel

from ..blender_addon.presets import FOLDER
from ..blender_addon.properties import course, playback, reactions
from ..blender_addon.properties.armature import HEFT_PG_armature
from ..blender_addon.properties.methods import choice_of, group_in, method_of, names_shown
from ..blender_addon.typed import settings_on
from ..blender_addon.words import interface as _
from ..blender_addon.words import tip
from .tab import ArmatureTab
from .text import sentence


def settings_column(layout: bpy.types.UILayout) -> bpy.types.UILayout:
    """A column of settings with their names in the fields: beside them there is no room for so many words."""
    column = layout.column()
    column.use_property_split = False
    column.use_property_decorate = False
    return column


def keyed(layout: bpy.types.UILayout, owner: bpy.types.PropertyGroup, names: Sequence[str]) -> None:
    """What is keyed for a method."""
    column = layout.column()
    column.use_property_decorate = True
    for name in names:
        column.prop(owner, name)


def others(layout: bpy.types.UILayout, settings: HEFT_PG_armature, choosing: str) -> None:
    """The actions beside the source, and what is keyed to choose among them."""
    column = settings_column(layout)
    for index, entry in enumerate(settings.others):
        split = column.split(factor=0.1, align=True)  # a narrow one: by itself it takes a third from the action's name
        split.label(text=str(index + 1), translate=False)
        row = split.row(align=True)
        row.prop(entry, "action", text="")
        row.operator("heft.remove_action", text="", icon="X").index = index
    column.operator("heft.add_action", icon="ADD")
    column = layout.column()
    column.use_property_decorate = True
    column.prop(settings, choosing, slider=choosing == "slider")


class HEFT_PT_controller_presets(PresetPanel, bpy.types.Panel):
    """Presets of all of a method's settings."""

    bl_label = "Controller Presets"
    preset_subdir = FOLDER
    preset_operator = "script.execute_preset"
    preset_add_operator = "heft.add_preset"


class HEFT_PT_controller(ArmatureTab):
    """Controller: how the character moves itself."""

    bl_idname = "HEFT_PT_controller"
    bl_label = "Controller"
    bl_order = 25
    bl_options = {"DEFAULT_CLOSED"}

    def draw_header_preset(self, _context: bpy.types.Context) -> None:
        """The menu of presets."""
        HEFT_PT_controller_presets.draw_panel_header(self.layout)

    def draw(self, context: bpy.types.Context) -> None:
        """The method and its first settings."""
        layout = self.layout
        layout.use_property_split = True
        layout.use_property_decorate = False
        settings = settings_on(context.active_object)
        layout.prop(settings, "controller")
        method, group = method_of(settings), group_in(settings)
        choice = choice_of(settings)
        sentence(context, layout, f"{tip(method.description)}." if choice is None else choice.told)
        column = settings_column(layout)
        if method.needs.follows_keys and not (choice is not None and choice.as_it_is):
            column.prop(settings, "optimise")
            if settings.optimise and not settings.extends:
                column.prop(settings, "flights")
        if method.needs.helps:
            column.prop(settings, "help")
        for name in names_shown(method, "basic"):
            column.prop(group, name)
        if method.needs.blends:
            others(layout, settings, "slider")
        if method.needs.switches and settings.loop:
            others(layout, settings, "motion")
        if method.needs.follows_keys:
            keyed(layout, settings.playback, playback.KEYED)
        if method.needs.led:
            keyed(layout, settings.course, course.KEYED)
        if method.needs.strength:
            keyed(layout, settings, ("strength",))


class HEFT_PT_controller_reactions(ArmatureTab):
    """Reactions: what happens after a push."""

    bl_idname = "HEFT_PT_controller_reactions"
    bl_label = "Reactions"
    bl_parent_id = "HEFT_PT_controller"
    bl_options = {"DEFAULT_CLOSED"}

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        """Only for methods that recover."""
        return super().poll(context) and method_of(settings_on(context.active_object)).needs.recovers

    def draw_header(self, context: bpy.types.Context) -> None:
        """The switch."""
        self.layout.prop(settings_on(context.active_object), "recovery", text="")

    def draw(self, context: bpy.types.Context) -> None:
        """How hard it tries, and how loose it is meanwhile."""
        layout = self.layout
        layout.use_property_split = True
        layout.use_property_decorate = False
        settings = settings_on(context.active_object)
        layout.prop(settings, "get_up")
        row = layout.row()
        row.active = settings.get_up
        row.prop(settings, "get_up_action")
        column = layout.column(align=True)
        column.active = settings.recovery
        column.prop(settings, "recovery_effort")
        column.prop(settings, "return_to_path")
        column.separator()
        column.prop(settings, "looseness")
        for name in reactions.BY_REGION:
            column.prop(settings, name)


class HEFT_PT_controller_advanced(ArmatureTab):
    """Advanced: everything else about the method."""

    bl_idname = "HEFT_PT_controller_advanced"
    bl_label = "Advanced"
    bl_parent_id = "HEFT_PT_controller"
    bl_options = {"DEFAULT_CLOSED"}

    def draw(self, context: bpy.types.Context) -> None:
        """The rate, and the method's other settings."""
        settings = settings_on(context.active_object)
        method, group = method_of(settings), group_in(settings)
        column = settings_column(self.layout)
        column.prop(settings, "rate")
        if settings.rate < method.needs.least_rate:
            text = _("This method uses at least {rate:.0f} steps per second.")
            sentence(context, column, text.format(rate=method.needs.least_rate), "INFO")
        for name in names_shown(method, "advanced"):
            column.prop(group, name)
        self.layout.operator("heft.precompute", icon="SHADERFX")
