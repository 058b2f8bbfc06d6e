# SPDX-License-Identifier: GPL-3.0-or-later
"""How long a window is kept waiting, on the mannequin and on a rig of 700 bones that walks through 5,000 frames.

A timer of 20 ms runs while Set Up, Bake, Cancel, and what comes after them go on; gaps.json has the longest gap between
two of its calls, and those of more than 0.3 s, by step: by the clock, and in processor time of the interface's own
thread, which does not count other programs. Physics runs in another process and is none of a window's affair: here it
answers at once with the keyed poses. Pictures show what each step looks like; one bake is cancelled half-written.

python3 run.py build --bare
blender-gui run tests/gui/long.py -t 900 -o out/gui dist/heft-*-bare.zip tests/gui/window.py tests/blender/bake/keyed.py
"""

import json
import sys
import time
from pathlib import Path

import bpy
import guikit
import numpy as np
import window
from window import rig, running

FRAMES, BONES = 5000, 700
EVERY = 0.02  # s
LONG = 0.3  # s

gaps: dict[str, list[tuple[float, float]]] = {}  # by the clock, and of the processor
step = [""]
last = [0.0, 0.0]


def tick():
    """Note how long nothing could happen."""
    now = [time.perf_counter(), time.thread_time()]
    if step[0]:
        gaps.setdefault(step[0], []).append((now[0] - last[0], now[1] - last[1]))
    last[:] = now
    return EVERY


def told(found):
    """The longest of some gaps, and those that are too long."""
    longest = {"longest": round(max(found), 3), "over": [round(gap, 3) for gap in found if gap > LONG]}
    return {"seconds": round(sum(found), 1)} | longest


def watch(name):
    """A step: from here on gaps are of that name; of none, they are nobody's."""

    def begin():
        step[0], last[:] = name, [time.perf_counter(), time.thread_time()]
        figures = {
            one: {"clock": told([gap for gap, _ in found]), "processor": told([gap for _, gap in found])}
            for one, found in gaps.items()
        }
        Path(guikit.OUT, "gaps.json").write_text(json.dumps(figures, indent=1))

    return begin


def press(name):
    """A step: as its button does."""

    def go():
        with guikit.override():
            getattr(bpy.ops.heft, name)("INVOKE_DEFAULT")

    return go


def without_physics():
    """The worker answers with the keyed motion."""
    from bl_ext.user_default.heft.blender_addon.worker import keeper as keepers
    from bl_ext.user_default.heft.core.worker import worker as workers

    def keyed_worker(folder):
        return workers.Worker(folder, tasks="keyed_tasks")

    Path(guikit.HERE, "keyed_tasks.py").write_text(TASKS)
    if guikit.HERE not in sys.path:
        sys.path.append(guikit.HERE)
    keepers.Worker = keyed_worker


TASKS = """
import dataclasses
from heft.core import archive
from heft.core.job import BakeResult, result
from heft.core.worker import tasks
from keyed import result_of

def bake(message, send):
    done = result_of(tasks.unpack_job(message))
    packed = archive.pack(done, BakeResult, result.FORMAT, result.VERSION)
    return {"report": done.report}, tasks.packed("result", packed)

TASKS = {"bake": bake}
"""


def grow():
    """5,000 frames of the mannequin's walk, and 700 bones."""
    armature = rig()
    bag = armature.animation_data.action.layers[0].strips[0].channelbags[0]
    frames = 1.0 + np.arange(FRAMES)
    for curve in bag.fcurves:
        cycles = curve.modifiers.new("CYCLES")
        cycles.mode_after = "REPEAT_OFFSET"
        values = [curve.evaluate(frame) for frame in frames]
        curve.modifiers.remove(cycles)
        curve.keyframe_points.clear()
        curve.keyframe_points.add(FRAMES)
        curve.keyframe_points.foreach_set("co", np.column_stack([frames, values]).astype(np.float32).ravel())
        curve.update()
    window.select(armature)
    with guikit.override():
        bpy.ops.object.mode_set(mode="EDIT")
        bones = armature.data.edit_bones
        own = list(bones)
        for number in range(BONES - len(own)):
            above = own[number % len(own)]
            bone = bones.new(f"helper_{number}")
            bone.head, bone.tail = above.head, above.head + 0.3 * (above.tail - above.head)
            bone.parent = above
        bpy.ops.object.mode_set(mode="OBJECT")
    bpy.context.scene.frame_end = FRAMES


def remember():
    """As after anything that a person does."""
    with guikit.override():
        bpy.ops.ed.undo_push(message="Before")


def cancel_while_writing():
    """A step: at once where it is found to write; that takes a second, and a picture a good part of it."""
    heft = bpy.context.window_manager.heft
    assert heft.running
    if heft.stage != "Writing the motion" or heft.fraction < 0.1:
        return EVERY
    return press("cancel")()


def nothing_was_written():
    assert [action.name for action in bpy.data.actions] == ["Walk"], list(bpy.data.actions)
    assert rig().animation_data.action.name == "Walk"


def was_written():
    assert rig().animation_data.action.name.startswith("Walk Simulated"), rig().animation_data.action


def start():
    bpy.app.timers.register(tick)


def done():
    return guikit.until(lambda: not running(), seconds=600.0, every=0.1)


def bake(name):
    return (
        watch(f"{name}: Set Up"),
        press("set_up"),
        done(),
        watch(f"{name}: Bake"),
        press("bake"),
        1.0,
        guikit.shot(f"{name}_reading"),
        done(),
        watch(""),
        was_written,
        guikit.shot(f"{name}_baked"),
    )


guikit.steps(
    window.install,
    window.clear,
    window.tab,
    without_physics,
    window.nothing_prepared,
    window.add_mannequin,
    remember,
    start,
    watch("nothing"),
    5.0,
    *bake("mannequin"),
    window.clear,
    lambda: [bpy.data.actions.remove(action) for action in list(bpy.data.actions)] and None,
    window.add_mannequin,
    grow,
    remember,
    watch("nothing with 700 bones"),
    5.0,
    watch("700 bones: Cancel"),
    press("bake"),
    cancel_while_writing,
    done(),
    watch(""),
    nothing_was_written,
    *bake("700 bones"),
    pause=0.4,
)
