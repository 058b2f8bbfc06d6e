# SPDX-License-Identifier: GPL-3.0-or-later
"""Pictures of what physics says of keys before any bake: the mannequin's walk, and the walk hovering in its middle.

physics.txt has what drawing it takes while one scrubs: milliseconds of a frame, all of Heft's handlers together.

python3 run.py build --bare
blender-gui run tests/gui/physics.py -t 900 -o out/gui dist/heft-*-bare.zip tests/gui/window.py
"""

import time
from pathlib import Path

import bpy
import guikit
import numpy as np
import window

HOVERING = (40.0, 62.0)  # frames
HEIGHT = 0.35  # m
MOST = 2.0  # ms


def show():
    """Switch it on, and show frames in the Dope Sheet."""
    window.rig().heft.show_physics, window.rig().heft.show_character = True, False
    shown, _, _, _ = guikit.view3d()
    next(area for area in shown.screen.areas if area.type == "DOPESHEET_EDITOR").ui_type = "DOPESHEET"


def hover():
    """Key the hips higher up in the middle."""
    from bl_ext.user_default.heft.blender_addon import writer

    rig = window.rig()
    action = rig.animation_data.action
    upward = rig.data.bones["pelvis"].matrix_local.to_3x3()[2]
    for curve in writer.only_bag(action).fcurves:
        if curve.data_path == 'pose.bones["pelvis"].location':
            for point in curve.keyframe_points:
                if HOVERING[0] < point.co.x < HOVERING[1]:
                    point.co.y += HEIGHT * upward[curve.array_index]
            curve.update()
    action.update_tag()


def looked(frame):
    """Steps: wait until it is known, and go to a frame."""
    from functools import partial

    def known():
        from bl_ext.user_default.heft.blender_addon.baking.following import following
        from bl_ext.user_default.heft.blender_addon.overlay import glance

        return glance.glance_of(window.rig()) is not None and not following.busy

    return 2.0, guikit.until(known, seconds=800), partial(bpy.context.scene.frame_set, frame), 1.0


spent = {}  # s, by what is drawn


def watch():
    """Draw everything once more, with a clock."""
    from bl_ext.user_default.heft.blender_addon.overlay import bars, draw

    def timed(name, function):
        def again():
            begun = time.perf_counter()
            function()
            spent.setdefault(name, []).append(time.perf_counter() - begun)

        return again

    views, sheets = bpy.types.SpaceView3D, bpy.types.SpaceDopeSheetEditor
    views.draw_handler_add(timed("lines", draw.draw), (), "WINDOW", "POST_VIEW")
    views.draw_handler_add(timed("labels", draw.write), (), "WINDOW", "POST_PIXEL")
    sheets.draw_handler_add(timed("strip", bars.draw), (), "WINDOW", "POST_PIXEL")


def scrub():
    """Frame after frame."""
    scene = bpy.context.scene
    scene.frame_set(scene.frame_current + 1)
    return None if scene.frame_current >= scene.frame_end else 0.05


def tell():
    """Write what it took."""
    lines = [
        f"{name}: {1e3 * np.median(took):.2f} ms median, {1e3 * max(took):.2f} at most, of {len(took)}; over "
        f"{MOST:g} ms: {[f'{1e3 * one:.2f} in draw {k}' for k, one in enumerate(took) if 1e3 * one > MOST]}"
        for name, took in spent.items()
    ]
    Path(guikit.OUT, "physics.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")


def back():
    """To the first frame."""
    bpy.context.scene.frame_set(1)


guikit.steps(
    window.install,
    window.clear,
    window.tab,
    window.add_mannequin,
    window.set_up,
    window.panels_alone("HEFT_PT_motion"),
    show,
    *looked(13),
    guikit.shot("physics_walk"),
    hover,
    *looked(52),
    window.view_selected,
    1.0,
    guikit.shot("physics_hovering"),
    back,
    watch,
    scrub,
    tell,
)
