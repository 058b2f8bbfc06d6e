# SPDX-License-Identifier: GPL-3.0-or-later
"""The panel of a folder of clips: which one, what is wanted of it, and how far it is."""

import bpy

from ..blender_addon.folder_run import keeper
from ..blender_addon.typed import shared_by
from ..blender_addon.words import interface as _
from ..operators.clean_folder import HEFT_OT_clean_folder, HEFT_OT_stop_cleaning
from .tab import Tab
from .text import sentence


class HEFT_PT_folder(Tab):
    """Folder: clean all clips of one."""

    bl_idname = "HEFT_PT_folder"
    bl_label = "Folder"
    bl_order = 90
    bl_options = {"DEFAULT_CLOSED"}

    def draw(self, context: bpy.types.Context) -> None:
        """Settings and the button; while it goes on, how far it is."""
        layout, run = self.layout, keeper.run
        asked = shared_by(context.scene).folder
        column = layout.column(align=True)
        column.active = not keeper.running
        column.label(text="Clips")
        column.prop(asked, "source", text="")
        column.label(text="Output")
        column.prop(asked, "target", text="")
        row = layout.row()
        row.active = not keeper.running
        row.prop(asked, "simulate")
        row.prop(asked, "opensim")
        layout.prop(asked, "workers")
        if run is None or not run.running:
            layout.operator(HEFT_OT_clean_folder.bl_idname, icon="FILE_FOLDER")
        else:
            row = layout.row(align=True)
            row.progress(factor=run.fraction, type="BAR", text=f"{100.0 * run.fraction:.0f} %")
            row.operator(HEFT_OT_stop_cleaning.bl_idname, text="", icon="CANCEL")
        if run is not None:
            text = _("Stopped: Clean Folder goes on with the rest") if run.stopped else run.line
            sentence(context, layout, text, "NONE" if run.running or run.status == 0 else "ERROR")
