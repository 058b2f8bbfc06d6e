# SPDX-License-Identifier: GPL-3.0-or-later
"""The mannequin's own walk, steered with the arrow keys in a window; kept, and baked to the same job.

python3 run.py build --bare
blender-gui run tests/gui/own_walk.py -t 600 -o out/gui dist/heft-*-bare.zip tests/gui/window.py
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


def start():
    rig().heft.controller = "STEERING"
    with guikit.override():
        assert bpy.ops.heft.stage("INVOKE_DEFAULT") == {"RUNNING_MODAL"}


def until(seconds):
    """A step: wait until so many have been played."""
    return guikit.until(lambda: window.session().seconds >= seconds, seconds=60.0, every=0.05)


def turned_to(degrees):
    """A step: wait until it is to head so."""
    return guikit.until(
        lambda: abs(window.session().walks.heading * 57.29578 - degrees) < 0.1, seconds=20.0, every=0.05
    )


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


guikit.steps(
    window.install,
    window.clear,
    window.tab,
    window.opened("HEFT_PT_stage"),
    window.add_mannequin,
    window.set_up,
    window.compiled,
    look,
    start,
    guikit.until(plays, seconds=400.0, every=0.1),
    until(1.0),
    guikit.key("Left"),
    guikit.key("Left"),
    guikit.key("Left"),
    guikit.key("Left"),
    turned_to(60.0),
    until(3.0),
    guikit.shot("own_walk_turning"),
    until(4.5),
    guikit.shot("own_walk_turned"),
    guikit.key("Right"),
    turned_to(45.0),
    until(6.0),
    remember,
    guikit.key("Escape"),
    1.0,
    guikit.key("Return"),
    guikit.until(lambda: kept["playing"].take_made is not None, seconds=30.0),
    2.0,
    window.done(120.0),
    guikit.shot("own_walk_kept"),
    compare,
    pause=0.1,
)
