# SPDX-License-Identifier: GPL-3.0-or-later
"""The mannequin's walk on a generated Rigify human, in a windowed Blender: chosen under Motion From, baked on controls.

Pictures of the panel before, and of both figures after.

python3 run.py build --bare
blender-gui run tests/gui/motion_from.py -t 600 -o out/gui dist/heft-*-bare.zip tests/gui/window.py
"""

import json

import bpy
import guikit
import window
from window import start_bake

ASIDE = (0.8, 0.8, 0.0)  # m, so that neither hides the other
SHOWN = {"DEF", "Torso", "Arm.L (IK)", "Arm.R (FK)", "Leg.L (IK)", "Leg.R (IK)"}


def rig():
    return bpy.data.objects["rig"]


def walker():
    return bpy.data.objects["Mannequin"]


def generate():
    """Rigify's basic human, a step beside the mannequin."""
    with guikit.override():
        bpy.ops.preferences.addon_enable(module="rigify")
        bpy.ops.object.armature_basic_human_metarig_add()
        metarig = bpy.context.object
        bpy.ops.pose.rigify_generate()
    bpy.data.objects.remove(metarig)
    rig().location = ASIDE
    bpy.context.view_layer.update()
    for collection in rig().data.collections_all:
        collection.is_visible = collection.name in SHOWN
    bpy.context.scene.frame_end = 60
    bpy.context.scene.frame_set(1)
    window.select(walker(), rig())
    window.view_selected()
    window.select(rig())


def choose():
    settings = rig().heft
    settings.motion_from, settings.output = walker(), "CONTROLS"
    settings.use_frame_range, settings.frame_start, settings.frame_end = True, 1, 60
    settings.show_character = False


def was_written():
    report = json.loads(rig().heft.report)
    assert report["outcome"] == "completed", report
    assert rig().animation_data.action.name == "Walk Simulated", rig().animation_data.action
    assert walker().animation_data.action.name == "Walk"
    bpy.context.scene.frame_set(40)
    window.select(walker(), rig())
    window.view_selected()
    window.select(rig())


guikit.steps(
    window.install,
    window.clear,
    window.tab,
    window.small,
    window.add_mannequin,
    generate,
    window.compiled,
    choose,
    window.set_up,
    guikit.shot("motion_from_chosen"),
    start_bake,
    window.done(400.0),
    was_written,
    guikit.shot("motion_from_baked"),
    pause=0.4,
)
