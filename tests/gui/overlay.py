# SPDX-License-Identifier: GPL-3.0-or-later
"""Pictures of the overlay in playback: pushed, with forces and support; after a fall; and several armatures at once.

python3 run.py build --bare
blender-gui run tests/gui/overlay.py -t 900 -o out/gui dist/heft-*-bare.zip tests/gui/window.py
"""

import json

import bpy
import guikit
import window
from window import rig, select, start_bake

PUSHED = 44  # frame
GENTLE, HARD = (100.0, (0.0, -1.0, 0.0)), (600.0, (1.0, 0.0, 0.0))  # N and where to: from behind, and from the side


def push(strength, direction):
    """A step: a push in place of an earlier one."""

    def add():
        for other in [other for other in bpy.data.objects if other.heft.push.armature]:
            bpy.data.objects.remove(other)
        bpy.context.scene.frame_set(PUSHED)
        with guikit.override():
            select(rig())
            rig().data.bones.active = rig().data.bones["chest"]
            assert bpy.ops.heft.add_push(strength=strength, duration=4, direction=direction) == {"FINISHED"}
            select(rig())

    return add


def bake_anew():
    """Without the character's own drawing, which would hide the bake's."""
    rig().heft.show_character = False
    select(rig())
    start_bake()


def outcome(wanted):
    """A step: see how the last bake ended."""

    def check():
        report = json.loads(rig().heft.report)
        assert report["outcome"] == wanted, report["why"]

    return check


def look(frame):
    """A step: go to a frame, and look at the figure there."""

    def go():
        bpy.context.scene.frame_set(frame)
        window.view_selected()

    return go


def play_from(frame):
    """A step: begin to play."""

    def play():
        bpy.context.scene.frame_set(frame)
        with guikit.override():
            bpy.ops.screen.animation_play()

    return play


def stop_playing():
    """Stay where playing has come to."""
    with guikit.override():
        bpy.ops.screen.animation_cancel(restore_frame=False)


def two_more():
    """A row of three."""
    for x in (1.2, -1.2):
        bpy.context.scene.cursor.location = (x, 0.4, 0.0)
        with guikit.override():
            bpy.ops.heft.add_mannequin()
    armatures = [other for other in bpy.data.objects if other.type == "ARMATURE"]
    for one in armatures:
        one.heft.show_character, one.heft.loop, one.heft.loop_seconds = False, True, 60.0
    select(*armatures)
    bpy.context.scene.frame_set(1)
    window.view_selected()


def at_the_second():
    """Whether the second of several is being baked."""
    state = bpy.context.window_manager.heft
    return state.running and state.who.endswith(".001") and state.fraction > 0.3


guikit.steps(
    window.install,
    window.clear,
    window.tab,
    window.small,
    window.add_mannequin,
    window.compiled,
    window.set_up,
    push(*GENTLE),
    bake_anew,
    window.done(300.0),
    outcome("completed"),
    look(PUSHED + 2),
    1.0,
    guikit.shot("overlay_push"),
    play_from(PUSHED - 4),
    guikit.until(lambda: bpy.context.scene.frame_current >= PUSHED + 8, seconds=60, every=0.01),
    guikit.shot("overlay_playing"),
    stop_playing,
    push(*HARD),
    bake_anew,
    window.done(300.0),
    outcome("fell"),
    look(PUSHED + 30),
    1.0,
    guikit.shot("overlay_fall"),
    window.clear,
    window.add_mannequin,
    two_more,
    start_bake,
    guikit.until(at_the_second, seconds=300, every=0.05),
    guikit.shot("bake_several"),
    window.done(300.0),
    lambda: bpy.context.scene.frame_set(40),
    window.view_selected,
    1.0,
    guikit.shot("bake_several_finished"),
    pause=0.4,
)
