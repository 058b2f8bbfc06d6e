# SPDX-License-Identifier: GPL-3.0-or-later
"""A walk on the stage in a window: pulled by the mouse, shoved, hit by a ball; kept, and baked to the same job.

Pictures on the way, and stage.json: pictures and steps in a second, how long it takes from the mouse to the force, and
by how much it ran late.

python3 run.py build --bare
blender-gui run tests/gui/stage.py -t 400 -o out/gui dist/heft-*-bare.zip tests/gui/window.py
"""

import json
import subprocess
import time
from pathlib import Path

import bpy
import guikit
import numpy as np
import window
from bpy_extras.view3d_utils import location_3d_to_region_2d
from window import rig

drawn: list[tuple[float, float]] = []  # when, and which second of the play
kept = {}


def note():
    """Called whenever a view is drawn."""
    going_on = window.addon("blender_addon.baking.session").going_on
    if going_on and getattr(going_on[-1], "plays", False) and not (drawn and drawn[-1][1] == going_on[-1].seconds):
        drawn.append((time.perf_counter(), going_on[-1].seconds))


def look():
    """From the side, with room around."""
    space = guikit.view3d()[3]
    space.region_3d.view_perspective = "PERSP"
    space.region_3d.view_location = (0.4, -0.5, 0.9)
    space.region_3d.view_distance = 5.5
    space.region_3d.view_rotation = (0.65, 0.62, 0.3, 0.32)
    bpy.types.SpaceView3D.draw_handler_add(note, (), "WINDOW", "POST_VIEW")


def start():
    rig().heft.take.strongest = 60.0
    with guikit.override():
        assert bpy.ops.heft.stage("INVOKE_DEFAULT") == {"RUNNING_MODAL"}


def pixel(bone):
    """Where a bone's middle is on the screen."""
    shown, _, region, space = guikit.view3d()
    pose = rig().pose.bones[bone]
    at = location_3d_to_region_2d(region, space.region_3d, rig().matrix_world @ (0.5 * (pose.head + pose.tail)))
    return round(region.x + at.x), round(shown.height - region.y - at.y)


def mouse(*words):
    """A step: what xdotool is to do, while Blender goes on."""
    return lambda: subprocess.Popen(["xdotool", *map(str, words)]) and None


def point_at(bone):
    """A step: the mouse goes to a bone."""

    def go():
        kept["at"] = pixel(bone)
        mouse("mousemove", *kept["at"])()

    return go


def pull(way, seconds):
    """A step: from there a way of pixels in so many seconds."""

    def go():
        words, steps = [], 40
        for k in range(1, steps + 1):
            x, y = (round(at + step * k / steps) for at, step in zip(kept["at"], way, strict=True))
            words += ["mousemove", x, y, "sleep", seconds / steps]
        mouse(*words)()

    return go


def until(seconds):
    """A step: wait until so many have been played."""
    return guikit.until(lambda: window.session().seconds >= seconds, seconds=60.0, every=0.05)


def plays():
    return window.session().plays


def holds():
    return window.session().grip is not None


def is_at(pace):
    """A step: wait until time goes as it is to."""
    return guikit.until(lambda: window.session().pace == pace, seconds=20.0, every=0.05)


def begun_once():
    kept["first"] = window.session()
    drawn.clear()


def begun_again():
    going_on = window.addon("blender_addon.baking.session").going_on
    return bool(going_on) and going_on[-1] is not kept["first"] and plays()


def remember():
    """What is about to be kept."""
    kept["playing"] = window.session()


def time_pictures():
    """How long a picture takes on this machine by itself."""
    times = []
    for _ in range(5):
        before = time.perf_counter()
        with guikit.override():
            bpy.ops.wm.redraw_timer(type="DRAW_WIN_SWAP", iterations=1)
        times.append(time.perf_counter() - before)
    kept["picture"] = sorted(times)[2]


def compare():
    """The scene says what was played."""
    gather = window.addon("blender_addon.baking.gather").gather
    taken = window.addon("core.live.take").taken
    played = kept["playing"]
    (again,) = gather(bpy.context, [rig()])
    assert again.job.key() == taken(played.turns[0].gathered.job, played.take_made).key()
    assert len(played.take_made.pushes) >= 2, played.take_made.pushes
    assert len(played.take_made.balls) == 1
    report = json.loads(rig().heft.report)
    delays = np.array(played.turns[0].said["delays"])
    times, seconds = np.array(drawn).T
    gone = times[-1] - times[0]
    figures = {
        "picture_seconds": round(kept["picture"], 3),
        "pictures_a_second": round(len(times) / gone, 1),
        "longest_gap_seconds": round(float(np.diff(times).max()), 3),
        "steps_a_second": round(120.0 * (seconds[-1] - seconds[0]) / gone, 1),
        "ran_late_seconds": round(played.turns[0].said["slipped"], 3),
        "mouse_to_force_ms": [round(1e3 * float(value), 1) for value in np.percentile(delays, (50, 95, 100))],
        "pulls": len(delays),
        "outcome": report["outcome"],
        "why": report["why"],
    }
    Path(guikit.OUT, "stage.json").write_text(json.dumps(figures, indent=1))


guikit.steps(
    window.install,
    window.clear,
    window.tab,
    window.opened("HEFT_PT_stage"),
    window.add_mannequin,
    window.set_up,
    window.compiled,
    look,
    time_pictures,
    start,
    guikit.shot("stage_setting"),
    guikit.until(plays, seconds=120.0, every=0.1),
    until(0.5),
    begun_once,
    guikit.key("r"),
    guikit.until(begun_again, seconds=120.0, every=0.1),
    until(0.5),
    guikit.key("space"),  # the mouse is slower than a walk where a picture takes a second
    is_at(0.0),
    point_at("hand.L"),
    1.0,
    mouse("mousedown", 1),
    1.0,
    guikit.key("1"),
    pull((110, -30), 1.2),
    guikit.until(holds, seconds=20.0, every=0.05),
    0.8,
    guikit.shot("stage_pull"),
    mouse("mouseup", 1),
    guikit.until(lambda: not holds(), seconds=20.0, every=0.1),
    point_at("chest"),
    guikit.key("s"),
    1.0,
    guikit.key("4"),
    is_at(0.1),
    point_at("chest"),
    1.0,
    mouse("click", 1),
    guikit.until(lambda: len(window.session().balls) > 0, seconds=20.0, every=0.05),
    guikit.shot("stage_ball"),
    guikit.key("1"),
    is_at(1.0),
    1.0,
    remember,
    guikit.key("Escape"),
    is_at(0.0),
    1.0,
    guikit.shot("stage_asks"),
    guikit.key("Return"),
    guikit.until(lambda: kept["playing"].take_made is not None, seconds=30.0),
    2.0,
    window.done(200.0),
    2.0,  # panels grow in steps
    guikit.shot("stage_kept"),
    compare,
    pause=0.1,
)
