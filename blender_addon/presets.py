# SPDX-License-Identifier: GPL-3.0-or-later
"""The presets that come with Heft, in Blender's own menus of presets."""

from pathlib import Path

import bpy

FOLDER = "heft/controller"
ROOT = str(Path(__file__).parents[1])


def register() -> None:
    """Have Blender look for them."""
    bpy.utils.register_preset_path(ROOT)


def unregister() -> None:
    """Have it stop."""
    bpy.utils.unregister_preset_path(ROOT)
