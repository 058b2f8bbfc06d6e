# SPDX-License-Identifier: GPL-3.0-or-later
"""Pictures of the Motion panel with a reference and its contacts, of these in the Dope Sheet, and of changes as curves.

python3 run.py build --bare
PYTHON tests/gui/motion_file.py out/motion.blend      with the Python of an environment in .venv
blender-gui run tests/gui/motion_panel.py -o out/gui --file out/motion.blend dist/heft-*-bare.zip tests/gui/window.py
"""

import bpy
import guikit
import window


def look():
    """At the mannequin as it walks."""
    bpy.context.scene.frame_set(22)
    window.view_selected()


def lower():
    """The area that was split off, and its main region."""
    shown = bpy.context.window_manager.windows[0]
    kinds = {"DOPESHEET_EDITOR", "GRAPH_EDITOR"}
    area = max((a for a in shown.screen.areas if a.type in kinds), key=lambda a: a.height)
    return shown, area, next(r for r in area.regions if r.type == "WINDOW")


def contacts():
    """All of the motion in the Dope Sheet, the contacts' channels alone."""
    shown, area, region = lower()
    sheet = area.spaces.active.dopesheet
    sheet.use_multi_word_filter, sheet.filter_fcurve_name = True, "Heel Toe"
    area.spaces.active.show_region_ui = False
    with bpy.context.temp_override(window=shown, area=area, region=region):
        bpy.ops.action.view_all()
        bpy.ops.anim.channels_expand(all=True)


def changes():
    """The reference's changes in the Graph Editor."""
    shown, area, _ = lower()
    area.ui_type = "FCURVES"
    bag = bpy.data.objects["Mannequin"].animation_data.action.layers[0].strips[0].channelbags[0]
    for curve in bag.fcurves:
        curve.hide = not curve.data_path.startswith("heft.changes")
        curve.select = not curve.hide
    _, area, region = lower()
    with bpy.context.temp_override(window=shown, area=area, region=region):
        bpy.ops.graph.view_all()


guikit.steps(
    window.install,
    window.opened("HEFT_PT_contacts"),
    window.tab,
    window.panels_alone("HEFT_PT_motion", "HEFT_PT_contacts"),
    look,
    1.0,
    guikit.shot("motion_built"),
    window.split,
    1.0,
    window.view_selected,
    contacts,
    1.0,
    guikit.shot("motion_contacts"),
    changes,
    1.0,
    guikit.shot("motion_changes"),
)
