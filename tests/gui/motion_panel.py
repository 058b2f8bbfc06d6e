# SPDX-License-Identifier: GPL-3.0-or-later
"""Pictures of the Motion panel: while the reference is built, when it is there, and its contacts in the Dope Sheet.

python3 run.py build --bare
blender-gui run tests/gui/motion_panel.py -o out/gui -t 900 dist/heft-*-bare.zip
"""

from pathlib import Path

import bpy
import guikit


def clear():
    """Start without Blender's cube."""
    with guikit.override():
        bpy.ops.object.select_all(action="SELECT")
        bpy.ops.object.delete()


def set_up():
    """A mannequin with its character."""
    with guikit.override():
        bpy.ops.heft.add_mannequin()
        assert bpy.ops.heft.set_up() == {"FINISHED"}
        bpy.ops.view3d.view_selected()
    bpy.context.scene.frame_end = 105


def motion_alone():
    """No other panel of the tab."""
    for panel in [panel for panel in bpy.types.Panel.__subclasses__() if panel.__name__.startswith("HEFT_PT_")]:
        bpy.utils.unregister_class(panel)
        if panel.__name__ not in {"HEFT_PT_motion", "HEFT_PT_contacts"}:
            panel.poll = classmethod(lambda _cls, _context: False)
        bpy.utils.register_class(panel)


def build():
    """Press the button; it goes on by itself."""
    with guikit.override():
        assert bpy.ops.heft.build_reference("INVOKE_DEFAULT") == {"RUNNING_MODAL"}


def idle():
    """Whether it is over."""
    return not bpy.context.window_manager.heft.running


def dope_sheet():
    """Half of the 3D Viewport as a Dope Sheet."""
    window, area, _, _ = guikit.view3d()
    with bpy.context.temp_override(window=window, area=area):
        bpy.ops.screen.area_split(direction="HORIZONTAL", factor=0.4)
    lower = min((a for a in window.screen.areas if a.type == "VIEW_3D"), key=lambda a: a.y)
    lower.type = "DOPESHEET_EDITOR"
    lower.ui_type = "DOPESHEET"
    region = next(r for r in lower.regions if r.type == "WINDOW")
    with bpy.context.temp_override(window=window, area=lower, region=region):
        bpy.ops.anim.channels_expand(all=True)
        bpy.ops.action.view_all()


def graph():
    """The same area as a Graph Editor."""
    window = bpy.context.window_manager.windows[0]
    area = max((a for a in window.screen.areas if a.type == "DOPESHEET_EDITOR"), key=lambda a: a.height)
    area.ui_type = "FCURVES"
    armature = bpy.data.objects["Mannequin"]
    bag = armature.animation_data.action.layers[0].strips[0].channelbags[0]
    for curve in bag.fcurves:
        curve.hide = not curve.data_path.startswith("heft.changes")
        curve.select = not curve.hide
    region = next(r for r in area.regions if r.type == "WINDOW")
    with bpy.context.temp_override(window=window, area=area, region=region):
        bpy.ops.graph.view_all()


HEADER = (1155, 97)  # of the tab's first panel
ZIP = next(Path(__file__).parent.glob("heft-*-bare.zip"))

guikit.steps(
    guikit.install(ZIP.name, "bl_ext.user_default.heft"),
    clear,
    guikit.sidebar("Heft"),
    set_up,
    motion_alone,
    1.0,
    guikit.shot("motion_empty"),
    build,
    1.0,
    guikit.shot("motion_building"),
    guikit.until(idle, seconds=800, every=1.0),
    1.0,
    guikit.shot("motion_built"),
    dope_sheet,
    1.0,
    guikit.shot("motion_contacts"),
    graph,
    1.0,
    guikit.shot("motion_changes"),
)
