# SPDX-License-Identifier: GPL-3.0-or-later
"""The manual's film of the stage: the walk's hand is pulled, the walk shoved and hit by a ball, as the window shows it.

It is played in real time, and the film, of as many pictures as could be taken, is as quick. Look at it: where the mouse
misses the hand, a ball is thrown instead.

python3 run.py build --bare
blender-gui run tests/gui/stage_film.py -t 600 -o out/gui dist/heft-*-bare.zip tests/gui/window.py
"""

import subprocess
from pathlib import Path

import bpy
import guikit
import window
from bpy_extras.view3d_utils import location_3d_to_region_2d
from window import rig

EVERY, LASTS = 0.1, 6.0  # s of play, between pictures and in all
WIDE, HIGH = 640, 360  # pixels
DRAG = (130, -50)  # pixels
DRAGS = 1.5  # s

taken: list[Path] = []
played: list[float] = []  # s, at each
done: set[str] = set()


def look():
    """From the side, near, with nothing beside the view."""
    space = guikit.view3d()[3]
    space.show_region_ui = False
    space.region_3d.view_perspective = "PERSP"
    space.region_3d.view_location = (0.0, 0.0, 0.95)
    space.region_3d.view_distance = 5.0
    space.region_3d.view_rotation = (0.65, 0.62, 0.3, 0.32)


def start():
    settings = rig().heft.take
    settings.strongest, settings.shove = 60.0, 150.0
    with guikit.override():
        assert bpy.ops.heft.stage("INVOKE_DEFAULT") == {"RUNNING_MODAL"}


def plays():
    return window.session().plays


def pixel(bone):
    """Where a bone's middle is on the screen."""
    shown, _, region, space = guikit.view3d()
    pose = rig().pose.bones[bone]
    at = location_3d_to_region_2d(region, space.region_3d, rig().matrix_world @ (0.5 * (pose.head + pose.tail)))
    return round(region.x + at.x), round(shown.height - region.y - at.y)


def mouse(*words):
    subprocess.Popen(["xdotool", *map(str, words)])


def pull():
    """The hand."""
    x, y = pixel("hand.L")
    words, steps = ["mousemove", x, y, "sleep", 0.3, "mousedown", 1], 40
    for k in range(1, steps + 1):
        words += ["mousemove", round(x + DRAG[0] * k / steps), round(y + DRAG[1] * k / steps), "sleep", DRAGS / steps]
    mouse(*words, "mouseup", 1)


def shove():
    mouse("mousemove", *pixel("chest"), "sleep", 0.3, "key", "s")


def throw():
    mouse("mousemove", *pixel("chest"), "sleep", 0.3, "click", 1)


DOES = {"pull": (0.8, pull), "shove": (3.0, shove), "throw": (4.4, throw)}


def film():
    """A step, again and again: whatever it is time for."""
    seconds = window.session().seconds
    for name, (when, do) in DOES.items():
        if seconds >= when and name not in done:
            done.add(name)
            do()
    if seconds >= EVERY * len(taken):
        played.append(seconds)
        taken.append(Path(guikit.OUT) / f"stage_{len(taken):03}.png")
        _, _, region, _ = guikit.view3d()
        height = bpy.context.window_manager.windows[0].height
        wide = min(region.width, round(region.height * WIDE / HIGH))
        left = region.x + (region.width - wide) // 2
        crop = f"{wide}x{round(wide * HIGH / WIDE)}+{left}+{height - region.y - region.height}"
        size = f"{WIDE}x{HIGH}!"
        subprocess.run(
            ["import", "-window", "root", "-crop", crop, "+repage", "-resize", size, str(taken[-1])], check=True
        )
    return 0.05 if seconds < LASTS and not window.session().over else None


def write():
    """One file of them all."""
    write_animated_webp = window.addon("examples.film").write_animated_webp
    image_settings = bpy.context.scene.render.image_settings
    image_settings.file_format, image_settings.quality = "WEBP", 60
    pictures = []
    for path in taken:
        image = bpy.data.images.load(str(path))
        image.save_render(str(path.with_suffix(".webp")), scene=bpy.context.scene)
        pictures.append(path.with_suffix(".webp"))
    write_animated_webp(pictures, Path(guikit.OUT) / "stage.webp", round(1000.0 * played[-1] / len(pictures)))


def plain():
    """Colours of pictures as they are on the screen."""
    bpy.context.scene.view_settings.view_transform = "Standard"


guikit.steps(
    window.install,
    window.clear,
    window.tab,
    window.add_mannequin,
    window.set_up,
    window.compiled,
    look,
    start,
    guikit.until(plays, seconds=200.0, every=0.1),
    film,
    guikit.key("Escape"),
    1.0,
    guikit.key("x"),
    1.0,
    plain,
    write,
    pause=0.1,
)
