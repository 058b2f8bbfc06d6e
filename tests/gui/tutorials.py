# SPDX-License-Identifier: GPL-3.0-or-later
"""The tutorials' pictures: each is followed in a window from an empty file, and looked at where the page shows it.

python3 run.py build --bare
blender-gui run tests/gui/tutorials.py -t 900 -o docs/pictures dist/heft-*-bare.zip tests/gui/window.py
"""

import math
from pathlib import Path

import bpy
import guikit
import window
from window import rig, start_bake


def with_kernels():
    """As who has installed a zip for their system sees it: this one carries none, and compiles them."""
    from bl_ext.user_default.heft.panels import bake

    bake.are_ready = lambda _name: True
    window.nothing_prepared()


def frame(number):
    """A step: go there."""
    return lambda: bpy.context.scene.frame_set(number)


def from_the_side():
    """Look across the way."""
    space = guikit.view3d()[3]
    with guikit.override():
        bpy.ops.view3d.view_axis(type="RIGHT")
        bpy.ops.view3d.view_orbit(angle=math.radians(25.0), type="ORBITLEFT")
        bpy.ops.view3d.view_orbit(angle=math.radians(12.0), type="ORBITUP")
    space.region_3d.view_perspective = "PERSP"


def close_by():
    """The figure in the middle, where it is now."""
    window.select(rig())
    window.view_selected()


def wait(seconds=600.0):
    return window.done(seconds)


def shove(newtons=200.0):
    """A step: a push at frame 40."""

    def go():
        bpy.context.scene.frame_set(40)
        window.select(rig())
        with guikit.override():
            bpy.ops.heft.add_push(kind="CUSTOM", strength=newtons, duration=2, direction=(1.0, 0.0, 0.0))
        window.select(rig())

    return go


def unpush():
    """Take it away."""
    for one in [o for o in bpy.data.objects if o.type == "EMPTY"]:
        bpy.data.objects.remove(one)


def gliding_capture():
    """The mannequin's walk as a file of a capture whose feet glide, imported as the page says."""
    walk = rig().animation_data.action
    for curve in walk.layers[0].strips[0].channelbags[0].fcurves:
        if curve.data_path.endswith("location"):
            for key in curve.keyframe_points:
                key.co.y *= 1.15
    window.select(rig())
    path = str(Path(guikit.HERE) / "captured.bvh")
    with guikit.override():
        bpy.ops.export_anim.bvh(filepath=path, frame_start=1, frame_end=100, root_transform_only=True)
        bpy.ops.object.select_all(action="SELECT")
        bpy.ops.object.delete()
        bpy.ops.import_anim.bvh(
            filepath=path, use_fps_scale=True, update_scene_duration=True, axis_forward="Y", axis_up="Z"
        )
    window.select(rig())
    window.set_up()
    rig().heft.show_physics = True


def is_glanced():
    """Whether the physics of the keys is shown."""
    from bl_ext.user_default.heft.blender_addon.overlay import glance

    return bool(glance.shown)


def chin_up():
    """Add it by the menu's entry."""
    with guikit.override():
        bpy.ops.heft.add_key_poses(scene="CHIN_UP")


def baked(*steps):
    return (start_bake, wait(), *steps)


def show(name, at):
    return (frame(at), close_by, from_the_side, close_by, 2.0, guikit.shot(f"tutorial_{name}"))


guikit.steps(
    window.install,
    window.clear,
    window.tab,
    with_kernels,
    window.add_mannequin,
    *baked(*show("first_bake", 30)),
    shove(),
    *baked(*show("push", 50)),
    unpush,
    shove(2000.0),
    *baked(*show("fall", 56)),
    unpush,
    gliding_capture,
    guikit.until(is_glanced),
    1.0,
    *show("clean_a_clip", 30),
    window.clear,
    chin_up,
    *baked(*show("key_poses", 40)),
    pause=0.6,
)
