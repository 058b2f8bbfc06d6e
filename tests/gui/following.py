# SPDX-License-Identifier: GPL-3.0-or-later
"""Auto Bake in a window: from an edit to the first changed frame and to the last, and how late a timer comes meanwhile.

Pictures of the stick figure over the keys, and following.txt: seconds of every edit of the mannequin's walk (4.3 s),
how long Heft held the window up each time it did something, and how long a picture of the window takes by itself.

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

EDITS = 5  # of each kind
EVERY = 0.02  # s
AFTER = 60  # frame of the keys that are moved, and of the push

edits = []  # kind, and seconds to the first changed frame and to the end; of the worker's stages
late = []  # s, by which every event of the timer is, while something is followed
held = []  # s, wall and the processor's, of each look at what there is to do
state = {"due": 0.0, "edit": None, "heads": None}


def watch():
    """Every 20 ms: how late it is, and whether frames have changed."""
    now = time.monotonic()
    if state["edit"] is not None:
        late.append(now - state["due"])
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
    next(point for point in curve.keyframe_points if point.co.x >= AFTER).co.y += 0.01
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
        edits.append(this)
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
        held.append((time.monotonic() - begun[0], time.thread_time() - begun[1]))

    kind.look = timed


def draw():
    """Seconds of a picture of the whole window, least of five."""
    took = []
    for _ in range(5):
        begun = time.monotonic()
        with guikit.override():
            bpy.ops.wm.redraw_timer(type="DRAW_WIN", iterations=1)
        took.append(time.monotonic() - begun)
    state["picture"] = min(took)


def follow():
    """Switch it on."""
    watch_looks()
    window.rig().heft.auto_bake = True
    bpy.app.timers.register(watch)


def tell():
    """Write what was found."""
    lines = []
    for kind in dict.fromkeys(edit["kind"] for edit in edits):
        own = [edit for edit in edits if edit["kind"] == kind]
        first, whole = ([edit[name] for edit in own] for name in ("first", "whole"))
        stages = {name: np.median([edit["seconds"][name] for edit in own]).round(3) for name in own[0]["seconds"]}
        lines.append(
            f"{kind}: first changed frame {np.median(first):.2f} s (worst {max(first):.2f}), "
            f"written {np.median(whole):.2f} s (worst {max(whole):.2f}), {own[0]['why']}; worker {stages}"
        )
    share = 1e3 * np.percentile(late, [50.0, 99.0, 100.0])
    lines.append(f"20 ms timer late by {share[0]:.0f} ms median, {share[1]:.0f} at 99 %, {share[2]:.0f} at most")
    for name, own in zip(("wall", "processor"), np.array(held).T, strict=True):
        shares = 1e3 * np.percentile(own, [50.0, 99.0, 100.0])
        lines.append(
            f"Heft's looks, {name}: {shares[0]:.1f} ms median, {shares[1]:.0f} at 99 %, {shares[2]:.0f} at most"
        )
    lines.append(f"a picture of the window takes {1e3 * state['picture']:.0f} ms")
    Path(guikit.OUT, "following.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")


guikit.steps(
    window.install,
    window.clear,
    window.tab,
    window.add_mannequin,
    window.set_up,
    window.nothing_prepared,
    follow,
    rested,
    *(step for _ in range(EDITS) for step in edited("a key moved", move_key)),
    guikit.shot("following_key"),
    add_push,
    1.0,
    rested,
    *(step for _ in range(EDITS) for step in edited("a push moved, recovery", move_push)),
    guikit.shot("following_push"),
    without_recovery,
    1.0,
    rested,
    *(step for _ in range(EDITS) for step in edited("a push moved, no recovery", move_push)),
    draw,
    tell,
    pause=0.1,
)
