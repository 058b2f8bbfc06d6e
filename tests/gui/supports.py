# SPDX-License-Identifier: GPL-3.0-or-later
"""Pictures of what is missing: the arrow of help over who hovers, the seat that is offered and added.

python3 run.py build --bare
blender-gui run tests/gui/supports.py -t 900 -o out/gui dist/heft-*-bare.zip tests/gui/window.py
"""

import bpy
import guikit
import window
from window import rig, select, start_bake


def act(name):
    """A step: a mannequin that does what a beginner keyed."""

    def make():
        from bl_ext.user_default.heft.examples import beginners

        window.clear()
        with guikit.override():
            beginners.key(bpy.context, name)
        rig().heft.show_character = False
        select(rig())

    return make


def look(frame):
    """A step: go to a frame, and look at the figure there."""

    def go():
        bpy.context.scene.frame_set(frame)
        window.view_selected()

    return go


def added():
    """Press the button: the seat is there."""
    with guikit.override():
        assert bpy.ops.heft.add_supports() == {"FINISHED"}
    assert any(one.name.startswith("Seat") for one in rig().heft.terrain.objects)


guikit.steps(
    window.install,
    window.tab,
    window.small,
    act("hover"),
    window.panels_alone("HEFT_PT_bake", "HEFT_PT_bake_overlay"),
    window.compiled,
    start_bake,
    window.done(600.0),
    look(30),
    1.0,
    guikit.shot("supports_help"),
    act("sit down on air"),
    start_bake,
    window.done(300.0),
    look(40),
    1.0,
    guikit.shot("supports_offered"),
    added,
    guikit.shot("supports_added"),
    pause=0.4,
)
