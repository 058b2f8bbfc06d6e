# SPDX-License-Identifier: GPL-3.0-or-later
"""The panel of the bake: what is taken of it, one large button, how far it is, and how it went."""

from typing import Any

import bpy

from ..blender_addon.baking import outcome, retiming
from ..blender_addon.baking.stack import stack_of
from ..blender_addon.properties.methods import method_of
from ..blender_addon.scene import supports
from ..blender_addon.typed import notes_on, progress_on, settings_on, shared_by
from ..blender_addon.words import interface as _
from ..blender_addon.words import why
from ..blender_addon.worker.keeper import keeper
from ..blender_addon.worker.kernels import are_ready, cache_folder
from ..core import cache
from ..operators.add_mannequin import HEFT_OT_add_mannequin
from ..operators.add_supports import HEFT_OT_add_supports
from ..operators.bake import HEFT_OT_bake
from ..operators.cancel import HEFT_OT_cancel
from ..operators.change_pace import HEFT_OT_change_pace
from ..operators.clear_cache import HEFT_OT_clear_cache
from ..operators.merge_down import HEFT_OT_merge_down
from ..operators.skip_rehearsals import HEFT_OT_skip_rehearsals
from ..operators.working import chosen_armatures
from .tab import ArmatureTab, Tab
from .text import is_narrow, sentence

ICONS = {"cancelled": "CANCEL", outcome.FAILED: "CANCEL"}


class HEFT_PT_bake(Tab):
    """Bake: the button."""

    bl_idname = "HEFT_PT_bake"
    bl_label = "Bake"
    bl_order = 0

    def draw(self, context: bpy.types.Context) -> None:
        """The button, or how far it is; then how it went; without an armature, how to get one."""
        layout = self.layout
        state = progress_on(context.window_manager)
        if state.running:
            column = layout.column()
            sentence(context, column, state.line)
            column.progress(factor=state.fraction, type="BAR", text=f"{100.0 * state.fraction:.0f} %  {state.left}")
            row = column.row()
            row.scale_y = 1.4
            if state.rehearses:
                row.operator(HEFT_OT_skip_rehearsals.bl_idname, icon="NEXT_KEYFRAME")
            row.operator(HEFT_OT_cancel.bl_idname, icon="CANCEL")
            return
        row = layout.row()
        row.scale_y = 1.8
        row.operator(HEFT_OT_bake.bl_idname, icon="PHYSICS")
        active = context.active_object
        if active is None or active.type != "ARMATURE":
            layout.label(text="Select an armature", icon="INFO")
            layout.operator(HEFT_OT_add_mannequin.bl_idname, text="Add Mannequin", icon="ARMATURE_DATA")
            return
        if len(chosen_armatures(context)) > 1:
            layout.prop(shared_by(context.scene), "together")
            if shared_by(context.scene).together:
                layout.prop(shared_by(context.scene), "find_holds")
        layout.prop(settings_on(active), "auto_bake")
        draw_state(context, layout, active)
        if settings_on(active).unsure:
            sentence(context, layout, _("Set Up was unsure: see Character"), "ERROR")
        report = outcome.shown(active)
        if report:
            draw_report(context, layout.box(), report)


class HEFT_PT_bake_blend(ArmatureTab):
    """Blend: how the keyed motion gives way to the simulated one."""

    bl_idname = "HEFT_PT_bake_blend"
    bl_label = "Blend"
    bl_parent_id = "HEFT_PT_bake"
    bl_options = {"DEFAULT_CLOSED"}

    def draw(self, context: bpy.types.Context) -> None:
        """Frames at both ends."""
        layout = self.layout
        layout.use_property_split = True
        layout.use_property_decorate = False
        settings = settings_on(context.active_object)
        column = layout.column(align=True)
        column.prop(settings, "blend_in")
        column.prop(settings, "blend_out")


class HEFT_PT_bake_output(ArmatureTab):
    """Output: what is written."""

    bl_idname = "HEFT_PT_bake_output"
    bl_label = "Output"
    bl_parent_id = "HEFT_PT_bake"
    bl_options = {"DEFAULT_CLOSED"}

    def draw(self, context: bpy.types.Context) -> None:
        """Where it goes, which bones, how much of it."""
        layout = self.layout
        layout.use_property_split = True
        layout.use_property_decorate = False
        settings = settings_on(context.active_object)
        layout.prop(settings, "output")
        row = layout.row()
        row.active = settings.output not in {"MUTE", "PROXY"}
        row.prop(settings, "layer")
        if stack_of(context.active_object) is not None:
            strip = stack_of(context.active_object).strip
            layout.prop(strip, "influence", text="Layer Influence")
            layout.operator(HEFT_OT_merge_down.bl_idname, icon="NLA_PUSHDOWN")
        layout.prop(settings, "bones")
        if settings.bones != "ALL":
            count = len(settings.chosen_bones)
            row = layout.row()
            row.label(text=_("{} bones chosen").format(count) if count else _("No bones chosen"), translate=False)
            row.operator("heft.choose_bones", text="Use Selected", icon="RESTRICT_SELECT_OFF")
        layout.prop(settings, "influence")
        column = layout.column()
        column.active = settings.output != "CONTROLS"
        column.prop(settings, "root_motion")
        if settings.root_motion != "NONE":
            row = column.row(heading="Its Way", align=True)
            row.prop(settings, "root_turns", toggle=True)
            row.prop(settings, "root_rises", toggle=True)
        column = layout.column()
        column.use_property_split = False  # beside an empty column a narrow sidebar cuts their names
        column.prop(settings, "reduce")
        if settings.reduce:
            column.prop(settings, "key_tolerance")
        column.prop(settings, "mark_asset")
        column.prop(settings, "write_diagnostics")
        size = cache_size(str(cache_folder()))
        row = layout.row()
        row.label(text=_("Cache: {:.1f} MB").format(size / 1e6), translate=False)
        row.operator(HEFT_OT_clear_cache.bl_idname, text="Clear", icon="TRASH")


class HEFT_PT_bake_overlay(ArmatureTab):
    """Overlay: what is drawn over the bake."""

    bl_idname = "HEFT_PT_bake_overlay"
    bl_label = "Overlay"
    bl_parent_id = "HEFT_PT_bake"
    bl_options = {"DEFAULT_CLOSED"}

    def draw(self, context: bpy.types.Context) -> None:
        """A switch for each thing."""
        layout = self.layout
        settings = settings_on(context.active_object)
        grid = layout.grid_flow(columns=1 if is_narrow(context) else 2, align=True)
        for name in ("show_ghost", "show_balance", "show_forces", "show_help", "show_pushes", "show_fall"):
            grid.prop(settings, name)


def draw_state(context: bpy.types.Context, layout: bpy.types.UILayout, armature: bpy.types.Object) -> None:
    """By which method, and whether its physics is compiled, in a line."""
    if keeper.preparing:
        text = _("Preparing {}, {:.0f} %").format(_(keeper.preparing), 100.0 * keeper.fraction)
        layout.progress(factor=keeper.fraction, type="BAR", text=text, translate=False)
    elif keeper.trouble:
        sentence(context, layout, keeper.trouble, "ERROR")
    elif progress_on(context.window_manager).following:
        sentence(context, layout, _("Baking in the background"), "TIME")
    else:
        method = method_of(settings_on(armature))
        ready = are_ready(method.name)
        compiling = _("{}: compiling in the background") if keeper.prepares else _("{}: compiles at the first bake")
        text = _("{}: ready") if ready else compiling
        sentence(context, layout, text.format(_(method.label)), "CHECKMARK" if ready else "TIME")


def draw_report(context: bpy.types.Context, layout: bpy.types.UILayout, report: dict[str, Any]) -> None:
    """How it went, in words and a few figures with the frames at which they were so; then whose it is and of when."""
    good = outcome.is_good(report)
    tick = "INFO" if outcome.is_carried(report) else "CHECKMARK"
    sentence(context, layout, why(report), tick if good else ICONS.get(report["outcome"], "ERROR"))
    for note in report.get("notes", ()):
        sentence(context, layout, note, "INFO")
    missing = supports.missing(report)
    if missing:
        layout.operator(HEFT_OT_add_supports.bl_idname, text=supports.label(missing), icon="ADD", translate=False)
    times = retiming.wanted(report)
    if times is not None:
        layout.operator(HEFT_OT_change_pace.bl_idname, text=retiming.label(times), icon="TIME", translate=False)
    if report["outcome"] not in {"cancelled", outcome.FAILED}:
        draw_figures(context, layout, report)
    if report.get("action"):
        row = layout.row(align=True)
        row.label(text=report["action"], icon="ACTION", translate=False)
        kept: bpy.types.Action | None = bpy.data.actions.get(report["action"])
        if kept is not None and notes_on(kept).report:
            row.prop(
                notes_on(kept), "keep", text="", icon="PINNED" if notes_on(kept).keep else "UNPINNED", emboss=False
            )
    if report.get("armature", context.active_object.name) != context.active_object.name:
        layout.label(text=report["armature"], icon="ARMATURE_DATA", translate=False)
    if report.get("when"):
        layout.label(text=report["when"], icon="TIME", translate=False)


def draw_figures(context: bpy.types.Context, layout: bpy.types.UILayout, report: dict[str, Any]) -> None:
    """A few of a report's figures, with the frames at which they were so; where columns would be cut, as sentences."""
    rows = [
        ("Upright", _("{:.1f} of {:.1f} s").format(report["upright_seconds"], report["simulated_seconds"]), ""),
        ("Joint error", _("{:.1f}° RMS").format(report["joint_rms_deg"]), ""),
        ("Max root error", f"{100.0 * report['root_max_m']:.1f} cm", "root_max_m"),
        ("Max foot slide", f"{1000.0 * report['max_foot_slide_m']:.1f} mm", "max_foot_slide_m"),
        ("Peak joint torque", f"{report['peak_torque_nm']:.0f} N m", "peak_torque_nm"),
    ]
    if outcome.is_helped(report):
        shares = (100.0 * report["help_mean"], 100.0 * report["help_max"])
        rows.append(("Help", _("{:.0f} % of its weight, at most {:.0f} %").format(*shares), ""))
    column = layout.column(align=True)
    for name, value, figure in rows:
        worst = report.get("worst", {}).get(figure)
        text = value if worst is None else _("{}, frame {}").format(value, worst["frame"])
        if is_narrow(context):
            sentence(context, column, f"{_(name)}: {text}")
        else:
            split = column.split(factor=0.45)
            split.label(text=name)
            split.label(text=text, translate=False)


def cache_size(folder: str) -> int:
    """Bytes of what is kept."""
    try:
        return cache.size(folder)
    except OSError:
        return 0
