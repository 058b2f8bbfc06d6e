# SPDX-License-Identifier: GPL-3.0-or-later
"""Presets of a controller's settings, by Blender's own menu of presets."""

from typing import ClassVar

import bpy
from bl_operators.presets import AddPresetBase

from ..blender_addon.presets import FOLDER
from ..blender_addon.properties.methods import method_of
from ..blender_addon.typed import settings_on
from ..core.settings import settings_of


class HEFT_OT_add_preset(AddPresetBase, bpy.types.Operator):
    """Save the current settings as a preset, or remove the selected one"""

    bl_idname = "heft.add_preset"
    bl_label = "Add Controller Preset"
    preset_menu = "HEFT_PT_controller_presets"
    preset_subdir = FOLDER
    preset_defines: ClassVar[list[str]] = ["heft = bpy.context.active_object.heft"]

    @property
    def preset_values(self) -> list[str]:
        """What is kept: the method, its rate, and all of its settings."""
        settings = settings_on(bpy.context.active_object)
        method = method_of(settings)
        names = [f"heft.{method.name}.{name}" for name in settings_of(method.settings)]
        return ["heft.controller", "heft.rate", "heft.optimise", *names]
