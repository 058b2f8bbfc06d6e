# SPDX-License-Identifier: GPL-3.0-or-later
"""A method is one folder: put beside the others, it is in the panel, bakes, is saved and documented by itself."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("bpy", reason="bpy is not in this environment")

from tools import bare
from tools.environment import ROOT

TOY = Path(__file__).parent / "toy"
SCRIPT = """
import json, os, sys, traceback
from pathlib import Path
from types import SimpleNamespace


class Rows:
    '''A layout that notes what is put into it.'''

    def __init__(self, names):
        self.names = names

    def prop(self, owner, name, **_):
        self.names.append(name)

    def column(self, **_):
        return Rows(self.names)

    def label(self, **_):
        pass

    def operator(self, *_, **__):
        return SimpleNamespace()


def drawn(panel):
    rows = Rows([])
    panel.draw(SimpleNamespace(layout=rows), bpy.context)
    return rows.names


def main(folder):
    import heft
    from heft.blender_addon.baking.gather import gather
    from heft.core.job import BakeJob, run
    from heft.operators.add_preset import HEFT_OT_add_preset
    from heft.panels import controller
    from tools import made

    assert Path(heft.__file__).parent == folder / "heft", heft.__file__
    bpy.ops.wm.read_factory_settings(use_empty=True)
    heft.register()
    bpy.ops.heft.add_mannequin()
    rig = bpy.context.active_object
    said = {"items": [item.name for item in rig.heft.bl_rna.properties["controller"].enum_items]}
    rig.heft.controller, rig.heft.optimise = "TOY", False
    rig.heft.use_frame_range, rig.heft.frame_start, rig.heft.frame_end = True, 1, 8
    rig.heft.toy.stiffness, rig.heft.toy.metal = 0.25, "TIN"
    said["rows"] = drawn(controller.HEFT_PT_controller), drawn(controller.HEFT_PT_controller_advanced)
    said["preset"] = HEFT_OT_add_preset.preset_values.fget(None)
    assert bpy.ops.heft.bake() == {"FINISHED"}
    said["report"] = json.loads(rig.heft.report)
    bpy.ops.wm.save_as_mainfile(filepath=str(folder / "toy.blend"))
    bpy.ops.wm.read_factory_settings(use_empty=True)
    bpy.ops.wm.open_mainfile(filepath=str(folder / "toy.blend"))
    rig = bpy.context.active_object
    job = gather(bpy.context, [rig])[0].job
    job.save(folder / "toy.heftjob")
    loaded = BakeJob.load(folder / "toy.heftjob")
    assert loaded == job
    said["job"] = [loaded.method, dict(loaded.settings), loaded.rate]
    said["again"] = run(loaded).report["notes"]
    bpy.utils.execfile(str(folder / "heft/presets/heft/controller/Tin_Toy.py"))
    said["after the preset"] = [rig.heft.rate, rig.heft.toy.stiffness]
    heft.unregister()
    (folder / "said.json").write_text(json.dumps(said))


status = 0
try:
    folder, root = Path(sys.argv[1]), sys.argv[2]
    sys.path[:0] = [str(folder), root]
    from tools import made
    for path, text in made.files(folder / "heft").items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    assert made.stale(folder / "heft") == []
    import bpy
    main(folder)
except BaseException:
    traceback.print_exc()
    status = 1
sys.stdout.flush()
sys.stderr.flush()
os._exit(status)
"""


def own_kernels(folder):
    """Variables for a folder with all kernels that there are: a core with other classes must not touch those."""
    common = os.environ.get("NUMBA_CACHE_DIR")
    if common is None or not Path(common).is_dir():
        return {}
    shutil.copytree(common, folder, ignore=shutil.ignore_patterns("*.txt", "*.tmp.*"))
    return {"NUMBA_CACHE_DIR": str(folder)}


@pytest.fixture(scope="module")
def with_toy(tmp_path_factory):
    """Heft in a folder of its own with the toy in it, and what a Blender with it says."""
    folder = tmp_path_factory.mktemp("toy")
    heft = folder / "heft"
    bare.stage(heft, (ROOT / "blender_manifest.toml").read_text(encoding="utf-8"))
    toy = heft / "core" / "control" / "toy"
    toy.mkdir()
    for path in TOY.glob("*.py"):
        (toy / path.name).write_text(path.read_text(encoding="utf-8"), encoding="utf-8")
    (heft / "docs").mkdir()
    page = ROOT / "docs" / "bake.md"
    (heft / "docs" / "bake.md").write_text(page.read_text(encoding="utf-8"), encoding="utf-8")
    variables = os.environ | {"BLENDER_USER_RESOURCES": str(folder / "user")} | own_kernels(folder / "kernels")
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, str(folder), str(ROOT)],
        capture_output=True,
        text=True,
        env=variables,
        cwd=folder,
        timeout=600,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return folder, json.loads((folder / "said.json").read_text())


def test_it_is_in_the_menu_and_in_the_panel(with_toy):
    _, said = with_toy
    assert said["items"][-1] == "Springs"
    assert said["rows"] == [
        ["controller", "optimise", "stiffness", "speed", "go_over", "strength"],
        ["rate", "turns", "metal"],
    ]


def test_it_bakes_at_the_rate_that_it_needs(with_toy):
    _, said = with_toy
    report = said["report"]
    assert report["method"] == "toy"
    assert report["simulated_seconds"] > 0.2
    steps = round(240 * report["simulated_seconds"])
    assert f"The springs were pulled for {steps} steps." in report["notes"]


def test_it_is_saved_and_loaded_in_scenes_jobs_and_presets(with_toy):
    _, said = with_toy
    assert said["job"] == ["toy", {"metal": "tin", "rusty": False, "stiffness": 0.25, "turns": 3}, 240.0]
    assert said["again"] == said["report"]["notes"]
    assert said["preset"][3:] == ["heft.toy.stiffness", "heft.toy.turns", "heft.toy.metal", "heft.toy.rusty"]
    assert said["after the preset"] == [300, 0.5]


def test_it_is_documented(with_toy):
    folder, _ = with_toy
    page = (folder / "heft" / "docs" / "methods" / "toy.md").read_text(encoding="utf-8")
    assert "# Springs" in page
    assert "| Spring Stiffness | `stiffness` | 0.5 s⁻² | Higher pulls harder |" in page
    assert "| Metal | `metal` | Steel |" in page
    assert "at least 240 simulation steps per second" in page
    overview = (folder / "heft" / "docs" / "bake.md").read_text(encoding="utf-8")
    assert "| [Springs](methods/toy.md) | Pulls every joint by a spring | Hooke 1678 |" in overview
