# SPDX-License-Identifier: GPL-3.0-or-later
"""Pictures of a bake in a windowed Blender: running with its progress, cancelled by Esc, finished, its overlay.

A timer of 20 ms runs meanwhile, and how late it was is written down: in timer_bake.json while a bake goes on, in
timer_playing.json while the action is played, in timer_empty.json for an empty scene whose view is drawn anew once a
second: what drawing this window costs on this machine, whatever Heft does.

python3 run.py build --bare
blender-gui run tests/gui/bake.py -t 600 -o out/gui dist/heft-*-bare.zip tests/gui/window.py
"""

import json
import time
from pathlib import Path

import bpy
import guikit
import window
from window import rig, running, start_bake

EVERY = 0.02  # s
late: list[float] = []
due = [0.0]


def tick():
    """Called every 20 ms: note by how much too late, of a bake as long as it goes on."""
    now = time.perf_counter()
    if due[0] and (running() or not only_running):
        late.append(max(now - due[0], 0.0))
    due[0] = now + EVERY
    return EVERY


only_running: list[bool] = []


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


def simulating():
    return running() and bpy.context.window_manager.heft.fraction > 0.75


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
    window.view_selected()


def from_the_start():
    """Where playing begins, so that it is seen."""
    bpy.context.scene.frame_set(1)
    rig().heft.show_character = False
    window.view_selected()


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


def draw_view():
    """As often as once a second."""
    if not drawing:
        return None
    guikit.redraw()
    return 1.0


drawing: list[bool] = []


def start_drawing():
    drawing.append(True)
    bpy.app.timers.register(draw_view)


guikit.steps(
    window.install,
    window.clear,
    window.tab,
    window.small,
    window.add_mannequin,
    guikit.shot("bake_compiling"),
    window.compiled,
    guikit.shot("bake_ready"),
    walk_on,
    guikit.move(600, 400),
    start_bake,
    guikit.until(simulating, seconds=300, every=0.05),
    guikit.shot("bake_running"),
    guikit.move(1150, 400),
    guikit.key("Escape"),
    1.0,
    guikit.key("Return"),
    window.done(5.0),
    nothing_was_written,
    guikit.shot("bake_cancelled"),
    walk_once,
    remember,
    start_bake,
    window.done(300.0),
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
    lambda: only_running.append(True),
    start_bake,
    window.done(600.0),
    lambda: stop_timer("bake"),
    only_running.clear,
    window.clear,
    start_drawing,
    3.0,
    start_timer,
    20.0,
    lambda: stop_timer("empty"),
    drawing.clear,
    pause=0.4,
)
