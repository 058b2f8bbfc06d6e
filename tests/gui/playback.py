# SPDX-License-Identifier: GPL-3.0-or-later
"""A picture of keyed speed and transitions: the Controller panel, and their channels in the Dope Sheet.

python3 run.py build --bare
blender-gui run tests/gui/playback.py -o out/gui dist/heft-*-bare.zip tests/gui/window.py
"""

from functools import partial

import bpy
import guikit
import window

KEYS = ((1, 1.0), (45, 1.0), (50, 0.5), (80, 0.5), (85, 1.0))


def add_jump():
    """The scene that goes over from a jump to a swing."""
    with guikit.override():
        bpy.ops.heft.add_key_poses(scene="JUMP_TO_BAR")


def key():
    """Slow in the swing, and a transition in its middle."""
    rig = window.rig()
    for frame, speed in KEYS:
        rig.heft.playback.speed = speed
        rig.heft.playback.keyframe_insert("speed", frame=frame)
    for frame, on in ((1, False), (60, True), (61, False)):
        rig.heft.playback.go_over = on
        rig.heft.playback.keyframe_insert("go_over", frame=frame)
    window.select(rig)
    bpy.context.scene.frame_set(48)
    window.view_selected()


def channels():
    """All of the motion, these two channels alone."""
    shown = bpy.context.window_manager.windows[0]
    sheets = (a for a in shown.screen.areas if a.type == "DOPESHEET_EDITOR")
    area = max(sheets, key=lambda a: a.height)
    region = next(r for r in area.regions if r.type == "WINDOW")
    sheet = area.spaces.active.dopesheet
    sheet.use_multi_word_filter, sheet.filter_fcurve_name = True, "Speed Transition"
    area.spaces.active.show_region_ui = False
    with bpy.context.temp_override(window=shown, area=area, region=region):
        bpy.ops.action.view_all()
        bpy.ops.anim.channels_expand(all=True)


guikit.steps(
    window.install,
    window.opened("HEFT_PT_controller"),
    window.clear,
    add_jump,
    key,
    window.panels_alone("HEFT_PT_controller"),
    partial(window.split, 0.3),
    1.0,
    window.view_selected,
    channels,
    window.tab,
    1.0,
    guikit.move(300, 300),
    guikit.shot("playback"),
)
