# SPDX-License-Identifier: GPL-3.0-or-later
"""What the scripts for a windowed Blender have in common; handed to `blender-gui run` beside each of them."""

import importlib
import subprocess
from pathlib import Path

import bpy
import guikit

ZIP = next(Path(guikit.HERE).glob("heft-*-bare.zip"))
MODULE = "bl_ext.user_default.heft"
NARROW = 240  # pixels
BELOW = 40  # pixels from the sidebar's top
SLACK = 15  # pixels more are as narrow
DRAG, DRAGS = 12.0, 4  # s for a drag of the sidebar's edge, and so many are tried
HEIGHT = 900  # of the screen

install = guikit.install(ZIP.name, MODULE)
tab = guikit.sidebar("Heft")


def addon(name):
    """A module of the installed extension."""
    return importlib.import_module(f"{MODULE}.{name}")


def session():
    """What Heft does now."""
    return addon("blender_addon.baking.session").going_on[-1]


def clear():
    """Start without Blender's cube."""
    with guikit.override():
        bpy.ops.object.select_all(action="SELECT")
        bpy.ops.object.delete()


def add_mannequin():
    """Press the tab's button."""
    with guikit.override():
        bpy.ops.heft.add_mannequin()
        bpy.ops.view3d.view_selected()
    bpy.context.scene.render.fps = 24
    bpy.context.scene.frame_end = 105


def set_up():
    """Press Set Up."""
    with guikit.override():
        assert bpy.ops.heft.set_up() == {"FINISHED"}


def rig():
    """The first armature."""
    return next(o for o in bpy.data.objects if o.type == "ARMATURE")


def select(*chosen):
    """The last is the active one."""
    for other in bpy.context.view_layer.objects:
        other.select_set(other in chosen)
    bpy.context.view_layer.objects.active = chosen[-1]


def view_selected():
    """Bring what is selected to the middle."""
    with guikit.override():
        bpy.ops.view3d.view_selected()


def split(share=0.4):
    """The lower part of the 3D Viewport as a Dope Sheet."""
    shown, area, region, _ = guikit.view3d()
    with bpy.context.temp_override(window=shown, area=area, region=region):
        bpy.ops.screen.area_split(direction="HORIZONTAL", factor=share)
    areas = sorted((a for a in shown.screen.areas if a.type == "VIEW_3D"), key=lambda a: a.y)
    areas[0].ui_type = "DOPESHEET"
    areas[1].spaces.active.show_region_ui = True


def sized(width, height):
    """A step: the window is so large, in pixels."""

    def go():
        found = subprocess.run(
            ["xdotool", "search", "--onlyvisible", "--name", "Blender"], capture_output=True, text=True, check=True
        )
        for one in found.stdout.split():
            subprocess.run(["xdotool", "windowsize", one, str(width), str(height)], check=True)

    return go


def small():
    """All panels small enough to be seen at once."""
    bpy.context.preferences.view.ui_scale = 0.7


def narrow():
    """A step: drag the sidebar's edge, while Blender goes on; again where a busy machine let go of it."""
    _, area, _, _ = guikit.view3d()
    bar = next(region for region in area.regions if region.type == "UI")
    if bar.width < NARROW + SLACK:
        return None
    if len(_drags) == DRAGS:
        raise TimeoutError(f"the sidebar is still {bar.width} pixels wide")
    y = str(HEIGHT - (bar.y + bar.height) + BELOW)  # where there are no panels the edge is not Blender's to drag
    steps = []
    for x in (-60, -3, 0):
        steps += ["mousemove", str(bar.x + x), y, "sleep", "1"]
    steps += ["mousedown", "1", "sleep", "1"]
    for share in (0.1, 0.2, 0.4, 0.7, 1.0):
        steps += ["mousemove", str(bar.x + round(share * (bar.width - NARROW))), y, "sleep", "0.6"]
    _drags.append(subprocess.Popen(["xdotool", *steps, "mouseup", "1", "mousemove", "300", "300"]))
    return DRAG


_drags: list[subprocess.Popen] = []


def _anew(change):
    """Register all panels again, each changed: children after their parents, or they would stand alone."""
    panels = [getattr(bpy.types, name) for name in dir(bpy.types) if name.startswith("HEFT_PT_")]
    panels.sort(key=lambda panel: hasattr(panel, "bl_parent_id"))
    for panel in reversed(panels):
        bpy.utils.unregister_class(panel)
    for panel in panels:
        change(panel)
        bpy.utils.register_class(panel)


def panels_alone(*names):
    """A step: no other panels in the tab."""

    def choose(panel):
        if panel in _polls:
            own = _polls.pop(panel)
            if own is None:
                del panel.poll
            else:
                panel.poll = own
        if panel.__name__ not in names:
            _polls[panel] = vars(panel).get("poll")
            panel.poll = classmethod(lambda _cls, _context: False)

    return lambda: _anew(choose)


_polls = {}  # of panels that are not shown, as they were; None where it is inherited


def opened(*names):
    """A step, before they are first drawn: panels that are closed at first."""

    def open_it(panel):
        if panel.__name__ in names:
            panel.bl_options = set()

    return lambda: _anew(open_it)


def compiled():
    """A step: wait until the physics is prepared."""
    from bl_ext.user_default.heft.blender_addon.worker.keeper import keeper

    if keeper.trouble:
        raise RuntimeError(keeper.trouble)
    return 1.0 if keeper.preparing else None


def nothing_prepared():
    """What other methods need is compiled in the background, and would only take time from what is looked at."""
    from bl_ext.user_default.heft.blender_addon.worker.keeper import keeper

    keeper.forget_timer()
    keeper.give_way()


def running():
    """Whether a bake is going on."""
    return bpy.context.window_manager.heft.running


def start_bake():
    """Press Bake."""
    with guikit.override():
        assert bpy.ops.heft.bake("INVOKE_DEFAULT") == {"RUNNING_MODAL"}


def done(seconds=60.0):
    """A step: wait until the bake has ended."""
    return guikit.until(lambda: not running(), seconds=seconds, every=0.1)
