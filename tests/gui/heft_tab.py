# SPDX-License-Identifier: GPL-3.0-or-later
"""Pictures of the Heft tab in a windowed Blender: nothing selected, the mannequin added, set up, and playing.

python3 run.py build --bare
blender-gui run tests/gui/heft_tab.py -o out/gui dist/heft-*-bare.zip
"""

from pathlib import Path

import bpy
import guikit


def clear():
    """Start without Blender's cube."""
    with guikit.override():
        bpy.ops.object.select_all(action="SELECT")
        bpy.ops.object.delete()


def add_mannequin():
    """Press the tab's button."""
    with guikit.override():
        bpy.ops.heft.add_mannequin()
        bpy.ops.view3d.view_selected()


def set_up():
    """Press Set Up."""
    with guikit.override():
        assert bpy.ops.heft.set_up() == {"FINISHED"}


ZIP = next(Path(__file__).parent.glob("heft-*-bare.zip"))

guikit.steps(
    guikit.install(ZIP.name, "bl_ext.user_default.heft"),
    clear,
    guikit.sidebar("Heft"),
    guikit.shot("heft_tab_empty"),
    add_mannequin,
    guikit.shot("heft_tab_mannequin"),
    set_up,
    1.0,
    guikit.shot("heft_tab_set_up"),
    guikit.key("space"),
    1.0,
    guikit.shot("heft_tab_playing"),
)
