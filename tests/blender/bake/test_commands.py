# SPDX-License-Identifier: GPL-3.0-or-later
"""`blender --command heft`: what it leaves behind, what it says, and its exit status."""

import json

import bpy
import pytest
from heft.blender_addon import commands


@pytest.fixture
def scene_file(rig, tmp_path):
    path = tmp_path / "walk.blend"
    bpy.ops.wm.save_as_mainfile(filepath=str(path))
    return path


def test_bake_saves_the_scene_and_a_page_about_it(scene_file, tmp_path, capfd):
    output, report = tmp_path / "out.blend", tmp_path / "report"
    arguments = ["bake", str(scene_file), "--frames", "1:40", "--output", str(output), "--report", str(report)]
    assert commands.run(arguments) == 0
    assert "Stayed up" in capfd.readouterr().out
    (folder,) = report.iterdir()
    assert sorted(entry.name for entry in folder.iterdir()) == ["film_strip.png", "index.html", "report.json"]
    assert json.loads((folder / "report.json").read_text(encoding="utf-8"))["outcome"] == "completed"
    assert 'src="film_strip.png"' in (folder / "index.html").read_text(encoding="utf-8")
    bpy.ops.wm.open_mainfile(filepath=str(output))
    (armature,) = (one for one in bpy.context.scene.objects if one.type == "ARMATURE")
    assert armature.animation_data.action.name.endswith("Simulated")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["nowhere.blend"], "no file nowhere.blend"),
        (["{scene}", "--armature", "Nobody"], "no armature 'Nobody'"),
        (["{scene}", "--controller", "magic"], "no controller 'magic'"),
    ],
)
def test_errors_are_one_line(scene_file, arguments, message, capfd):
    assert commands.run(["bake", *(argument.format(scene=scene_file) for argument in arguments)]) == 1
    told = capfd.readouterr().err.splitlines()[-1]
    assert told.startswith("heft: ")
    assert message in told
