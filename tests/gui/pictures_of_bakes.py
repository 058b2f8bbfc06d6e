# SPDX-License-Identifier: GPL-3.0-or-later
"""The documentation's pictures of bakes: finished, three in one go, and Auto Bake over the keys.

python3 run.py build --bare
blender-gui run tests/gui/pictures_of_bakes.py -t 900 -o out/gui dist/heft-*-bare.zip tests/gui/window.py
"""

import json
import subprocess
from pathlib import Path

import bpy
import guikit
import window

PUSHED = 60  # frame
FEW = 20  # frames
STRENGTH = 120.0  # N


def cropped(name, size):
    """A step: the view's and the sidebar's part of the screen, of such a size."""

    def take():
        guikit.shot(name)()
        path = str(Path(guikit.OUT, f"{name}.png"))
        subprocess.run(["convert", path, "-crop", size, "+repage", "-strip", path], check=True)

    return take


def only_this_method():
    """The first bake compiles what it needs; what others need would only take time meanwhile."""
    from bl_ext.user_default.heft.blender_addon.worker.keeper import keeper
    from bl_ext.user_default.heft.blender_addon.worker.kernels import note_ready

    keeper.forget_timer()
    keeper.give_way()
    note_ready("lookahead")


def look():
    """At the bake, without the character's own drawing."""
    window.rig().heft.show_character = False
    bpy.context.scene.frame_set(46)
    window.view_selected()


def more():
    """Two mannequins more, all selected, the others than the active one to walk for a minute."""
    for _ in range(2):
        with guikit.override():
            bpy.ops.heft.add_mannequin()
            bpy.ops.heft.set_up()
    bpy.context.scene.frame_set(1)
    bpy.context.scene.heft.together = False
    rigs = [one for one in bpy.data.objects if one.type == "ARMATURE"]
    for number, rig in enumerate(rigs):
        rig.location.x = 1.2 * number
        rig.heft.loop, rig.heft.loop_seconds, rig.heft.show_character = True, 60.0, False
    first = rigs[-1].heft  # it stays where its turn has left it: not out of sight
    first.loop, first.use_frame_range, first.frame_start, first.frame_end = False, True, 1, FEW
    window.select(*rigs)
    window.view_selected()


def second():
    """Whether the second has its turn, and moves."""
    state = bpy.context.window_manager.heft
    return window.running() and bool(state.who) and state.fraction > 0.45 and not state.stage.startswith("Reading")


def stop():
    """Press Cancel."""
    with guikit.override():
        bpy.ops.heft.cancel()


def alone():
    """One mannequin again, pushed from the side at the chest, with Auto Bake."""
    window.clear()
    window.add_mannequin()
    window.set_up()
    rig = window.rig()
    rig.heft.show_character = False
    rig.data.bones.active = rig.data.bones["chest"]
    bpy.context.scene.frame_set(PUSHED)
    with guikit.override():
        assert bpy.ops.heft.add_push(strength=STRENGTH) == {"FINISHED"}
    window.select(rig)
    rig.heft.auto_bake = True
    bpy.context.scene.frame_set(PUSHED + 14)
    window.view_selected()


def followed():
    """Wait until it is baked."""
    report = window.rig().heft.report
    return None if report and json.loads(report)["outcome"] == "completed" else 0.5


guikit.steps(
    window.install,
    window.clear,
    window.tab,
    window.small,
    window.add_mannequin,
    window.set_up,
    only_this_method,
    window.start_bake,
    window.done(600.0),
    look,
    1.0,
    cropped("bake_finished", "880x750+430+60"),
    more,
    window.start_bake,
    guikit.until(second, seconds=300, every=0.05),
    cropped("bake_running", "1010x750+300+60"),
    stop,
    window.done(60.0),
    alone,
    followed,
    2.0,
    cropped("auto_bake", "880x750+430+60"),
    pause=0.4,
)
