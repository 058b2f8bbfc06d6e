# SPDX-License-Identifier: GPL-3.0-or-later
"""Clean Folder in a window of 240 pixels: pictures before, while and after, and what was written.

python3 run.py build --bare
blender-gui run tests/gui/folder.py -t 300 -o out/gui dist/heft-*-bare.zip tests/gui/window.py
"""

import tempfile
from pathlib import Path

import bpy
import guikit
import window

CLIPS = Path(tempfile.mkdtemp()) / "clips"


def fill():
    """Two clips of the mannequin's walk."""
    CLIPS.mkdir()
    with guikit.override():
        for name in ("walk", "walk again"):
            bpy.ops.export_anim.bvh(filepath=str(CLIPS / f"{name}.bvh"), frame_start=1, frame_end=60)
    bpy.context.scene.heft.folder.source = str(CLIPS)


def press():
    """Begin, as its button does."""
    bpy.ops.wm.save_userpref()  # the other Blender is to know the extension
    with guikit.override():
        assert bpy.ops.heft.clean_folder() == {"FINISHED"}


def half():
    """Wait until the first is done."""
    run = window.addon("blender_addon.folder_run").keeper.run
    return None if run.fraction > 0.0 or not run.running else 0.2


def ended():
    """Wait for the end."""
    run = window.addon("blender_addon.folder_run").keeper.run
    return 0.2 if run.running else None


def tell():
    """What it said, and what there is."""
    run = window.addon("blender_addon.folder_run").keeper.run
    out = CLIPS.with_name("clips cleaned")
    files = sorted(str(path.relative_to(out)) for path in out.rglob("*") if path.is_file())
    said = "\n".join([f"{run.status}: {run.line}", *files])
    Path(guikit.OUT, "folder.txt").write_text(said + "\n", encoding="utf-8")


guikit.steps(
    window.install,
    window.clear,
    window.opened("HEFT_PT_folder"),
    window.panels_alone("HEFT_PT_folder"),
    window.tab,
    window.add_mannequin,
    window.narrow,
    fill,
    1.0,
    guikit.shot("folder_before"),
    press,
    1.0,
    half,
    1.0,
    guikit.shot("folder_while"),
    ended,
    1.0,
    guikit.shot("folder_after"),
    tell,
)
