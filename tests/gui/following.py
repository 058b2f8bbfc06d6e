# SPDX-License-Identifier: GPL-3.0-or-later
"""Auto Bake in a window: from an edit to the first changed frame and to the last, and how late a timer comes meanwhile.

Pictures of the stick figure over the keys, and following.txt, by the window's size: seconds of every edit of the
mannequin's walk (4.3 s), how long Heft held the window up each time it did something, how late a timer of 20 ms came,
and how long a picture of the window takes by itself. Where no graphics card draws, a large picture takes ten times as
long as Blender's own part of it, and takes the processor from the physics: a small window shows what a card would.

python3 run.py build --bare
blender-gui run tests/gui/following.py -t 900 -o out/gui dist/heft-*-bare.zip tests/gui/window.py
"""

import json
import time
from pathlib import Path

import bpy
import guikit
import numpy as np
import window

EDITS = 4  # of each kind in each size
EVERY = 0.02  # s
AFTER = 60  # frame of the keys that are moved, and of the push
BY = 0.01 + 1e-6 * (time.time() % 1e3)  # of a quaternion: never the same again, or what was kept on disk would do

SIZES = ((640, 360), (1600, 900))


class Found:
    """What was found in a window of some size."""

    def __init__(self):
        self.edits = []  # kind, and seconds to the first changed frame and to the end; of the worker's stages
        self.late = []  # s, by which every event of the timer is, while something is followed
        self.held = []  # s, wall and the processor's, of each look at what there is to do meanwhile
        self.picture = 0.0  # s


found = {size: Found() for size in SIZES}
state = {"due": 0.0, "edit": None, "heads": None, "now": found[SIZES[0]]}


def watch():
    """Every 20 ms: how late it is, and whether frames have changed."""
    now = time.monotonic()
    if state["edit"] is not None:
        state["now"].late.append(now - state["due"])
        known = window.addon("blender_addon.overlay.live").shown.get(window.rig().session_uid)
        heads = None if known is None else known.heads
        if "first" not in state["edit"] and heads is not state["heads"]:
            state["edit"]["first"] = now - state["edit"]["begun"]
    state["due"] = time.monotonic() + EVERY
    return EVERY


def push():
    """The first push."""
    return next(one for one in bpy.data.objects if one.heft.push.armature is not None)


def move_key():
    """As if it had been moved in the Graph Editor."""
    writer = window.addon("blender_addon.writer")
    action = window.rig().animation_data.action
    curve = [curve for curve in writer.only_bag(action).fcurves if "thigh.L" in curve.data_path][1]
    next(point for point in curve.keyframe_points if point.co.x >= AFTER).co.y += BY
    curve.update()
    action.update_tag()


def move_push():
    """As if it had been dragged in the view."""
    push().location.x += 0.02


def edited(kind, edit):
    """Steps: make an edit, and wait until it is baked."""

    def begin():
        rig = window.rig()
        known = window.addon("blender_addon.overlay.live").shown.get(rig.session_uid)
        state["heads"] = None if known is None else known.heads
        state["edit"] = {"kind": kind, "begun": time.monotonic(), "report": rig.heft.report}
        state["due"] = time.monotonic() + EVERY
        edit()

    def wait():
        following, this = window.addon("blender_addon.baking.following").following, state["edit"]
        if following.busy or window.rig().heft.report == this["report"]:
            return EVERY
        this["whole"] = time.monotonic() - this["begun"]
        report = json.loads(window.rig().heft.report)
        this["seconds"], this["why"] = report["seconds"], report["outcome"]
        state["now"].edits.append(this)
        state["edit"] = None
        return None

    return 1.0, begin, 0.02, wait


def rested():
    """Wait until nothing is followed."""
    following = window.addon("blender_addon.baking.following").following
    return 0.5 if following.busy or not window.rig().heft.report else None


def add_push():
    """At the chest, forwards, as weak as leaves the walk as it is."""
    rig = window.rig()
    rig.data.bones.active = rig.data.bones["chest"]
    bpy.context.scene.frame_set(AFTER)
    with guikit.override():
        assert bpy.ops.heft.add_push(strength=40.0) == {"FINISHED"}
    window.select(rig)


def without_recovery():
    """No steps are planned after a push."""
    window.rig().heft.recovery = False


def watch_looks():
    """Note how long each takes."""
    kind = window.addon("blender_addon.baking.following").Following
    look = kind.look

    def timed(self, *arguments):
        begun = time.monotonic(), time.thread_time()
        look(self, *arguments)
        if state["edit"] is not None:
            state["now"].held.append((time.monotonic() - begun[0], time.thread_time() - begun[1]))

    kind.look = timed


def draw():
    """Seconds of a picture of the whole window, least of five."""
    took = []
    for _ in range(5):
        begun = time.monotonic()
        with guikit.override():
            bpy.ops.wm.redraw_timer(type="DRAW_WIN", iterations=1)
        took.append(time.monotonic() - begun)
    state["now"].picture = min(took)


def follow():
    """Switch it on."""
    watch_looks()
    window.rig().heft.auto_bake = True
    bpy.app.timers.register(watch)


def told_of(one):
    """Lines about a window."""
    for kind in dict.fromkeys(edit["kind"] for edit in one.edits):
        own = [edit for edit in one.edits if edit["kind"] == kind]
        first, whole = ([edit[name] for edit in own] for name in ("first", "whole"))
        stages = {name: float(np.median([edit["seconds"][name] for edit in own])) for name in own[0]["seconds"]}
        told = ", ".join(f"{name} {seconds:.3f}" for name, seconds in stages.items())
        yield (
            f"{kind}: first changed frame {np.median(first):.2f} s (worst {max(first):.2f}), "
            f"written {np.median(whole):.2f} s (worst {max(whole):.2f}), {own[0]['why']}; worker: {told}"
        )
    walls, processors = zip(*one.held, strict=True)
    spans = {"20 ms timer late by": one.late, "Heft's looks, wall:": walls, "Heft's looks, processor:": processors}
    for name, seconds in spans.items():
        share = 1e3 * np.percentile(seconds, [50.0, 99.0, 100.0])
        yield f"{name} {share[0]:.1f} ms median, {share[1]:.0f} at 99 %, {share[2]:.0f} at most"


def tell():
    """Write what was found."""
    lines = []
    for (width, height), one in found.items():
        lines.append(f"{width} x {height}, of which a picture takes {1e3 * one.picture:.0f} ms")
        lines += (f"  {line}" for line in told_of(one))
    Path(guikit.OUT, "following.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")


def sized(size):
    """Steps: a window of that size from now on."""

    def note():
        state["now"] = found[size]

    return window.sized(*size), 1.0, note, 0.5, draw, rested


def in_each(kind, edit, name):
    """Steps: edits of a kind, in a window of each size."""
    return [
        step
        for size in SIZES
        for step in (
            *sized(size),
            *(step for _ in range(EDITS) for step in edited(kind, edit)),
            guikit.shot(f"following_{name}_{size[0]}"),
        )
    ]


guikit.steps(
    window.install,
    window.clear,
    window.tab,
    window.add_mannequin,
    window.set_up,
    window.nothing_prepared,
    follow,
    rested,
    *in_each("a key moved", move_key, "key"),
    add_push,
    1.0,
    rested,
    *in_each("a push moved, recovery", move_push, "push"),
    without_recovery,
    1.0,
    rested,
    *in_each("a push moved, no recovery", move_push, "unplanned"),
    tell,
    pause=0.1,
)
