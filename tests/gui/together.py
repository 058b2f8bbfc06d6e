# SPDX-License-Identifier: GPL-3.0-or-later
"""Two mannequins that walk into one another, baked together in a window: while it runs, and at the moment they meet.

python3 run.py build --bare
blender-gui run tests/gui/together.py -t 900 -o out/gui dist/heft-*-bare.zip tests/gui/window.py
"""

import json
import math

import bpy
import guikit
import window

ASIDE, APART = -0.52, -4.0  # m


def two():
    """Both selected, the second comes towards the first."""
    for _ in range(2):
        window.add_mannequin()
    first, second = (o for o in bpy.data.objects if o.type == "ARMATURE")
    second.location = (ASIDE, APART, 0.0)
    second.rotation_euler.z = math.pi
    for rig in (first, second):
        rig.heft.use_frame_range, rig.heft.frame_start, rig.heft.frame_end = True, 1, 70
        rig.heft.show_character = False
    window.select(second, first)
    window.view_selected()


def simulated():
    """Whether both move."""
    return window.running() and bpy.context.window_manager.heft.fraction > 0.77


def at(frame):
    """A step: the frame, with both in the middle."""

    def go():
        bpy.context.scene.frame_set(frame)
        window.view_selected()

    return go


def told():
    """Both were touched, and both are baked; one undo step takes both back."""
    rigs = [o for o in bpy.data.objects if o.type == "ARMATURE"]
    for rig in rigs:
        report = json.loads(rig.heft.report)
        assert any("Other characters touched it" in note for note in report["notes"])
        assert rig.animation_data.action.name.endswith("Simulated")
    with guikit.override():
        bpy.ops.ed.undo()
    for rig in [o for o in bpy.data.objects if o.type == "ARMATURE"]:
        assert not rig.animation_data.action.name.endswith("Simulated")


guikit.steps(
    window.install,
    window.clear,
    window.tab,
    window.small,
    two,
    guikit.shot("together_before"),
    window.start_bake,
    guikit.until(lambda: simulated() or not window.running(), seconds=500, every=0.05),
    guikit.shot("together_running"),
    window.done(600.0),
    at(36),
    1.0,
    guikit.shot("together_meeting"),
    at(48),
    1.0,
    guikit.shot("together_after"),
    told,
    pause=0.4,
)
