# SPDX-License-Identifier: GPL-3.0-or-later
"""The panel of the bake: what is taken of it, one large button, how far it is, and how it went."""

import json
from functools import lru_cache
from typing import Any, ClassVar

import bpy
from bpy.app.translations import pgettext_iface as _

from ..blender_addon.words import why
from ..blender_addon.worker.keeper import keeper
from ..blender_addon.worker.kernels import cache_folder
from ..core import cache
from ..operators.bake import HEFT_OT_bake
from ..operators.cancel import HEFT_OT_cancel
from ..operators.clear_cache import HEFT_OT_clear_cache
from .tab import ArmatureTab
from .text import sentence

ICONS = {"completed": "CHECKMARK", "fell": "ERROR", "diverged": "ERROR", "cancelled": "CANCEL"}


class HEFT_PT_bake(ArmatureTab, bpy.types.Panel):
    """Bake: the button."""

    bl_idname = "HEFT_PT_bake"
    bl_label = "Bake"
    bl_order = 40

    def draw(self, context: bpy.types.Context) -> None:
        """The button, or how far it is; then how it went."""
        layout = self.layout
        state = context.window_manager.heft
        if state.running:
            column = layout.column()
            sentence(context, column, state.line)
            column.progress(factor=state.fraction, type="BAR", text=f"{100.0 * state.fraction:.0f} %  {state.left}")
            row = column.row()
            row.scale_y = 1.4
            row.operator(HEFT_OT_cancel.bl_idname, icon="CANCEL")
            return
        row = layout.row()
        row.scale_y = 1.8
        row.operator(HEFT_OT_bake.bl_idname, icon="PHYSICS")
        if keeper.preparing:
            text = _("Preparing {}, {:.0f} %").format(_(keeper.preparing), 100.0 * keeper.fraction)
            layout.progress(factor=keeper.fraction, type="BAR", text=text, translate=False)
        elif keeper.trouble:
            sentence(context, layout, keeper.trouble, "ERROR")
        report = read_report(context.active_object.heft.report)
        if report:
            draw_report(context, layout.box(), report)


class HEFT_PT_bake_blend(ArmatureTab, bpy.types.Panel):
    """Blend: how the keyed motion gives way to the simulated one."""

    bl_idname = "HEFT_PT_bake_blend"
    bl_label = "Blend"
    bl_parent_id = "HEFT_PT_bake"
    bl_options: ClassVar[set[str]] = {"DEFAULT_CLOSED"}

    def draw(self, context: bpy.types.Context) -> None:
        """Frames at both ends."""
        layout = self.layout
        layout.use_property_split = True
        layout.use_property_decorate = False
        settings = context.active_object.heft
        column = layout.column(align=True)
        column.prop(settings, "blend_in")
        column.prop(settings, "blend_out")


class HEFT_PT_bake_output(ArmatureTab, bpy.types.Panel):
    """Output: what is written."""

    bl_idname = "HEFT_PT_bake_output"
    bl_label = "Output"
    bl_parent_id = "HEFT_PT_bake"
    bl_options: ClassVar[set[str]] = {"DEFAULT_CLOSED"}

    def draw(self, context: bpy.types.Context) -> None:
        """Where it goes, which bones, how much of it."""
        layout = self.layout
        layout.use_property_split = True
        layout.use_property_decorate = False
        settings = context.active_object.heft
        layout.prop(settings, "output")
        layout.prop(settings, "bones")
        if settings.bones != "ALL":
            count = len(settings.chosen_bones)
            row = layout.row()
            row.label(text=_("{} bones chosen").format(count) if count else _("No bones chosen"), translate=False)
            row.operator("heft.choose_bones", text="Use Selected", icon="RESTRICT_SELECT_OFF")
        layout.prop(settings, "influence")
        layout.prop(settings, "reduce")
        layout.prop(settings, "write_diagnostics")
        size = cache_size(str(cache_folder()))
        row = layout.row()
        row.label(text=_("Cache: {:.1f} MB").format(size / 1e6), translate=False)
        row.operator(HEFT_OT_clear_cache.bl_idname, text="Clear", icon="TRASH")


class HEFT_PT_bake_overlay(ArmatureTab, bpy.types.Panel):
    """Overlay: what is drawn over the bake."""

    bl_idname = "HEFT_PT_bake_overlay"
    bl_label = "Overlay"
    bl_parent_id = "HEFT_PT_bake"
    bl_options: ClassVar[set[str]] = {"DEFAULT_CLOSED"}

    def draw(self, context: bpy.types.Context) -> None:
        """A switch for each thing."""
        layout = self.layout
        settings = context.active_object.heft
        grid = layout.grid_flow(columns=2, align=True)
        for name in ("show_ghost", "show_balance", "show_forces", "show_pushes", "show_fall"):
            grid.prop(settings, name)


def draw_report(context: bpy.types.Context, layout: bpy.types.UILayout, report: dict[str, Any]) -> None:
    """How it went, in words and a few figures."""
    sentence(context, layout, why(report), ICONS.get(report["outcome"], "INFO"))
    if report["outcome"] == "cancelled":
        return
    rows = (
        ("Upright", _("{:.1f} of {:.1f} s").format(report["upright_seconds"], report["simulated_seconds"])),
        ("Error", f"{report['joint_rms_deg']:.1f}°, {100.0 * report['root_rms_m']:.1f} cm"),
        ("Max foot slide", f"{1000.0 * report['max_foot_slide_m']:.1f} mm"),
        ("Peak joint torque", f"{report['peak_torque_nm']:.0f} N m"),
    )
    column = layout.column(align=True)
    for name, value in rows:
        split = column.split(factor=0.55)
        split.label(text=name)
        split.label(text=value, translate=False)


@lru_cache(maxsize=8)
def read_report(text: str) -> dict[str, Any]:
    """A report's figures; none where the text is not one."""
    try:
        report = json.loads(text or "{}")
    except ValueError:
        return {}
    needed = {"why", "outcome", "upright_seconds", "simulated_seconds", "joint_rms_deg", "root_rms_m"}
    return report if isinstance(report, dict) and needed | {"max_foot_slide_m", "peak_torque_nm"} <= set(report) else {}


def cache_size(folder: str) -> int:
    """Bytes of what is kept."""
    try:
        return cache.size(folder)
    except OSError:
        return 0
