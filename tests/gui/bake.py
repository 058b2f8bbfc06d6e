# SPDX-License-Identifier: GPL-3.0-or-later
"""Pictures of a bake in a windowed Blender: running with its progress, cancelled by Esc, finished, its overlay.

A timer of 20 ms runs meanwhile; how late it was is written to timer_bake.json, and to timer_playing.json for playing
without a bake: what a redraw of the window costs on this machine.

python3 run.py build --bare
blender-gui run tests/gui/bake.py -t 600 -o out/gui dist/heft-*-bare.zip
"""

import json
import time
from pathlib import Path

import bpy
import guikit

ZIP = next(Path(__file__).parent.glob("heft-*-bare.zip"))
MODULE = "bl_ext.user_default.heft"
EVERY = 0.02  # s
late: list[float] = []
due = [0.0]


def rig():
    return next(o for o in bpy.data.objects if o.type == "ARMATURE")


def clear():
    """Start without Blender's cube."""
    with guikit.override():
        bpy.ops.object.select_all(action="SELECT")
        bpy.ops.object.delete()


def add_mannequin():
    """Press the tab's button, with all panels small enough to be seen at once."""
    bpy.context.preferences.view.ui_scale = 0.7
    with guikit.override():
        bpy.ops.heft.add_mannequin()
        bpy.ops.view3d.view_selected()
    bpy.context.scene.render.fps = 24
    bpy.context.scene.frame_end = 105


def keeper():
    from bl_ext.user_default.heft.blender_addon.worker import keeper as module

    return module.keeper


def tick():
    """Called every 20 ms while a bake runs: note by how much too late."""
    now = time.perf_counter()
    if due[0]:
        late.append(max(now - due[0], 0.0))
    due[0] = now + EVERY
    return EVERY


def start_bake():
    """Press Bake."""
    with guikit.override():
        assert bpy.ops.heft.bake("INVOKE_DEFAULT") == {"RUNNING_MODAL"}


def start_timer():
    """Begin to note how late it is."""
    due[0] = 0.0
    late.clear()
    bpy.app.timers.register(tick)


def stop_timer(name):
    """Write down how late it was."""
    bpy.app.timers.unregister(tick)
    ordered = sorted(1000.0 * value for value in late)
    figures = {
        "calls": len(ordered),
        "median_ms": ordered[len(ordered) // 2],
        "p99_ms": ordered[int(0.99 * len(ordered))],
        "worst_ms": ordered[-1],
        "over_30_ms": sum(value > 30.0 for value in ordered),
    }
    Path(guikit.OUT, f"timer_{name}.json").write_text(json.dumps(figures, indent=1))


def running():
    return bpy.context.window_manager.heft.running


def not_running():
    return not running()


def simulating():
    return running() and bpy.context.window_manager.heft.share > 0.75


def nothing_was_written():
    assert [action.name for action in bpy.data.actions] == ["Walk"], list(bpy.data.actions)
    assert not rig().heft.report


def was_written():
    assert rig().animation_data.action.name.startswith("Walk Simulated"), rig().animation_data.action
    assert json.loads(rig().heft.report)["outcome"] == "completed", rig().heft.report


def walk_on():
    """A long bake, so that there is something to see of it."""
    rig().heft.loop, rig().heft.loop_seconds = True, 120.0


def walk_far():
    """A bake that goes on for a while."""
    rig().heft.loop, rig().heft.loop_seconds = True, 600.0


def walk_once():
    rig().heft.loop = False


def close_character():
    """The character's own drawing off, so that the bake's is seen."""
    rig().heft.show_character = False
    bpy.context.scene.frame_set(46)
    with guikit.override():
        bpy.ops.view3d.view_selected()


def from_the_start():
    """Where playing begins, so that it is seen."""
    bpy.context.scene.frame_set(1)
    rig().heft.show_character = False
    with guikit.override():
        bpy.ops.view3d.view_selected()


def remember():
    """A step of undo: Blender makes none for operators that a script calls."""
    with guikit.override():
        bpy.ops.ed.undo_push(message="Before the bake")


def undo():
    with guikit.override():
        bpy.ops.ed.undo()
    assert [a.name for a in bpy.data.actions if a.heft.report] == [], list(bpy.data.actions)
    assert rig().animation_data.action.name == "Walk"


def redo():
    with guikit.override():
        bpy.ops.ed.redo()
    was_written()


guikit.steps(
    guikit.install(ZIP.name, MODULE),
    clear,
    guikit.sidebar("Heft"),
    add_mannequin,
    guikit.shot("bake_compiling"),
    guikit.until(lambda: not keeper().compiling, seconds=500),
    guikit.shot("bake_ready"),
    walk_on,
    guikit.move(600, 400),
    start_bake,
    guikit.until(simulating, seconds=60, every=0.05),
    guikit.shot("bake_running"),
    guikit.key("Escape"),
    guikit.until(not_running, seconds=5, every=0.05),
    nothing_was_written,
    guikit.shot("bake_cancelled"),
    walk_once,
    remember,
    start_bake,
    guikit.until(not_running, seconds=60, every=0.1),
    was_written,
    close_character,
    guikit.shot("bake_finished"),
    undo,
    guikit.shot("bake_undone"),
    redo,
    from_the_start,
    guikit.key("space"),
    1.0,
    guikit.shot("bake_playing"),
    start_timer,
    3.0,
    lambda: stop_timer("playing"),
    guikit.key("space"),
    walk_far,
    start_timer,
    start_bake,
    guikit.until(not_running, seconds=60, every=0.1),
    lambda: stop_timer("bake"),
    pause=0.4,
)
