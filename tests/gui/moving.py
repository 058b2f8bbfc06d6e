# SPDX-License-Identifier: GPL-3.0-or-later
"""How often a window shows a new pose while a rig is simulated, and how long it is kept waiting meanwhile.

Physics is left out: the worker sends the walk's poses as a simulation does, 25 a second for ten seconds. moving.json
has, by the window's size and what the view is shaded with, the poses drawn in a second, the seconds that a picture
takes on this machine by itself and what of them is Blender's own thread's, and the longest gap of a timer of 20 ms.
Where no graphics card draws, a large picture takes ten times as long as Blender's own part of it: a small window then
shows what a card would.

python3 run.py build --bare
blender-gui run tests/gui/moving.py -t 300 -o out/gui dist/heft-*-bare.zip tests/gui/window.py \\
  tests/blender/bake/keyed.py
"""

import json
import sys
import time
from pathlib import Path

import bpy
import guikit
import window
from window import rig, running, sized, start_bake

EVERY = 0.02  # s
TASKS = """
import time
from heft.core import archive
from heft.core.job import BakeResult, result
from heft.core.worker import tasks
from keyed import result_of

def bake(message, send):
    done = result_of(tasks.unpack_job(message))
    for number in range(250):
        time.sleep(0.04)
        said = {"text": "Simulating", "fraction": number / 250, "of_stage": 0.0, "timed": True, "rehearses": False}
        send("progress", said, {"pose": done.poses[number % len(done.poses)]})
    packed = archive.pack(done, BakeResult, result.FORMAT, result.VERSION)
    return {"report": done.report}, tasks.packed("result", packed)

TASKS = {"bake": bake}
"""

figures: dict[str, dict[str, float]] = {}
drawn: list[tuple[float, ...]] = []
last = [0.0, 0.0]  # a call of the timer, and the longest gap
begun = [0.0]


def tick():
    """Note the longest gap while poses come."""
    now = time.perf_counter()
    if running() and len(drawn) > 1:
        last[1] = max(last[1], now - last[0])
    last[0] = now
    return EVERY


def note():
    """Called whenever a view is drawn."""
    place = tuple(rig().pose.bones["pelvis"].matrix.translation)
    if running() and (not drawn or drawn[-1] != place):
        if not drawn:
            begun[0] = time.perf_counter()
        drawn.append(place)
        last.append(time.perf_counter())


def shaded(name, kind):
    """A step: how the view looks, and how long a picture takes."""

    def go():
        guikit.view3d()[3].shading.type = kind
        times = []
        for _ in range(5):
            before = time.perf_counter(), time.thread_time()
            with guikit.override():
                bpy.ops.wm.redraw_timer(type="DRAW_WIN_SWAP", iterations=1)
            times.append((time.perf_counter() - before[0], time.thread_time() - before[1]))
        clock, own = min(times)
        figures[name] = {"picture_seconds": round(clock, 4), "of_them_own": round(own, 4)}
        drawn.clear()
        last[:] = [time.perf_counter(), 0.0]

    return go


def note_figures(name):
    """A step: write down what there was."""

    def go():
        seconds = last[-1] - begun[0]
        figures[name] |= {
            "poses_a_second": round((len(drawn) - 1) / seconds, 2),
            "longest_gap_seconds": round(last[1], 3),
        }
        Path(guikit.OUT, "moving.json").write_text(json.dumps(figures, indent=1))

    return go


def without_physics():
    """The worker sends what is keyed."""
    from bl_ext.user_default.heft.blender_addon.worker import keeper as keepers
    from bl_ext.user_default.heft.core.worker import worker as workers

    Path(guikit.HERE, "keyed_tasks.py").write_text(TASKS)
    if guikit.HERE not in sys.path:
        sys.path.append(guikit.HERE)
    keepers.Worker = lambda folder: workers.Worker(folder, tasks="keyed_tasks")


def start():
    bpy.app.timers.register(tick)
    bpy.types.SpaceView3D.draw_handler_add(note, (), "WINDOW", "POST_VIEW")


def moves(kind, width, height):
    name = f"{width}x{height} {kind.lower()}"
    return (
        sized(width, height),
        1.0,
        shaded(name, kind),
        start_bake,
        3.0,
        guikit.shot(f"moving_{width}_{kind.lower()}"),
        window.done(60.0),
        note_figures(name),
    )


guikit.steps(
    window.install,
    window.clear,
    window.tab,
    without_physics,
    window.nothing_prepared,
    window.add_mannequin,
    window.set_up,
    start,
    *moves("WIREFRAME", 560, 360),
    *moves("SOLID", 560, 360),
    *moves("SOLID", 800, 450),
    *moves("SOLID", 1600, 900),
    pause=0.4,
)
