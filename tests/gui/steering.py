# SPDX-License-Identifier: GPL-3.0-or-later
"""Walks that are steered with the arrow keys in one window; each kept, and baked to the same job. Pictures on the way.

First a walk without a clip; then the mannequin's own, after that take was dropped; then that again, on top of its take.

python3 run.py build --bare
blender-gui run tests/gui/steering.py -t 900 -o out/gui dist/heft-*-bare.zip tests/gui/window.py
"""

import bpy
import guikit
import window
from window import rig

kept = {}


def plays():
    return window.session().plays


def look():
    """From above, with room around."""
    space = guikit.view3d()[3]
    space.region_3d.view_perspective = "PERSP"
    space.region_3d.view_location = (0.0, 0.0, 0.9)
    space.region_3d.view_distance = 6.5
    space.region_3d.view_rotation = (0.78, 0.48, 0.2, 0.34)


def start(method):
    """A step: onto the stage, by a method."""

    def now():
        rig().heft.controller = method
        with guikit.override():
            assert bpy.ops.heft.stage("INVOKE_DEFAULT") == {"RUNNING_MODAL"}

    return now


def until(seconds):
    """A step: wait until so many have been played."""
    return guikit.until(lambda: window.session().seconds >= seconds, seconds=60.0, every=0.05)


def is_told(degrees, speed=None):
    """A step: wait until it is to walk so."""

    def so():
        walks = window.session().walks
        right = speed is None or abs(walks.forward - speed) < 1e-6
        return right and abs(walks.heading * 57.29578 - degrees) < 0.1

    return guikit.until(so, seconds=20.0, every=0.05)


def remember():
    kept["playing"] = window.session()


def compare():
    """The scene says what was walked."""
    gather = window.addon("blender_addon.baking.gather").gather
    taken = window.addon("core.live.take").taken
    played = kept["playing"]
    (again,) = gather(bpy.context, [rig()])
    assert again.job.key() == taken(played.turns[0].gathered.job, played.take_made).key()
    assert not played.fell
    assert bpy.data.objects["Take Course"].heft.course.walker == rig()


def drop():
    with guikit.override():
        assert bpy.ops.heft.drop_take() == {"FINISHED"}


def keep(name):
    """Steps: end the take, keep it, and see that it bakes to the same job."""
    return (
        remember,
        guikit.key("Escape"),
        1.0,
        guikit.key("Return"),
        guikit.until(lambda: kept["playing"].take_made is not None, seconds=30.0),
        2.0,
        window.done(180.0),
        guikit.shot(f"{name}_kept"),
        compare,
    )


guikit.steps(
    window.install,
    window.clear,
    window.tab,
    window.opened("HEFT_PT_stage"),
    window.add_mannequin,
    window.set_up,
    window.compiled,
    look,
    start("GAIT"),
    guikit.until(plays, seconds=120.0, every=0.1),
    until(1.0),
    guikit.key("Down"),
    is_told(0.0, 0.8),
    guikit.key("Left"),
    is_told(15.0, 0.8),
    guikit.key("Left"),
    guikit.key("Left"),
    is_told(45.0, 0.8),
    until(4.0),
    guikit.shot("steering"),
    guikit.key("Right"),
    is_told(30.0, 0.8),
    until(5.5),
    *keep("steering"),
    drop,
    look,
    start("STEERING"),
    guikit.until(plays, seconds=500.0, every=0.1),
    until(1.0),
    guikit.key("Left"),
    guikit.key("Left"),
    guikit.key("Left"),
    guikit.key("Left"),
    is_told(60.0),
    until(3.0),
    guikit.shot("own_walk_turning"),
    until(4.5),
    guikit.shot("own_walk_turned"),
    guikit.key("Right"),
    is_told(45.0),
    until(6.0),
    *keep("own_walk"),
    look,
    start("STEERING"),
    guikit.until(plays, seconds=200.0, every=0.1),
    until(1.0),
    guikit.key("Right"),
    guikit.key("Right"),
    is_told(-30.0),
    until(4.0),
    guikit.shot("own_walk_again"),
    *keep("own_walk_again"),
    pause=0.1,
)
