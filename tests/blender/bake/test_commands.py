# SPDX-License-Identifier: GPL-3.0-or-later
"""`blender --command heft …`: a file is baked and saved, with a report; what is wrong is said in a line."""

import json
from functools import partial

import bpy
import pytest
from heft.blender_addon import commands
from heft.registration import make_demo

run = partial(commands.run, make_demo=make_demo)


@pytest.fixture
def scene(rig, tmp_path, monkeypatch):
    monkeypatch.setattr(commands.keeper, "stop", lambda: None)
    path = tmp_path / "walk.blend"
    bpy.ops.wm.save_as_mainfile(filepath=str(path))
    return path


def test_bake_saves_the_result_and_a_report(scene, tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(commands, "STRIP", 1)  # one picture is as good as eight, and sooner there
    output, report = tmp_path / "baked.blend", tmp_path / "report"
    line = ["bake", str(scene), "--armature", "Mannequin", "--controller", "lookahead", "--frames", "10:60"]
    assert run([*line, "--output", str(output), "--report", str(report)]) == commands.DONE
    assert "Stayed up" in capsys.readouterr().out
    assert {path.name for path in (report / "Mannequin").iterdir()} == {"index.html", "film_strip.png", "report.json"}
    bpy.ops.wm.open_mainfile(filepath=str(output))
    rig = bpy.data.objects["Mannequin"]
    assert rig.animation_data.action.name == "Walk Simulated"
    assert json.loads(rig.heft.report)["simulated_seconds"] == pytest.approx(50 / 24, abs=0.02)
    bpy.ops.wm.open_mainfile(filepath=str(scene))
    assert [action.name for action in bpy.data.actions] == ["Walk"]


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--armature", "Anna"], "There is no armature 'Anna' in the scene; choose from: Mannequin."),
        (["--controller", "magic"], "There is no controller 'magic'"),
        (["--frames", "50:10"], "'50:10' is not a frame range"),
    ],
)
def test_what_is_wrong_is_said_in_a_line(scene, options, said, capsys):
    assert run(["bake", str(scene), *options]) != commands.DONE
    assert said in capsys.readouterr().err


def test_a_batch_of_scenes_leaves_results_and_scenes(scene, tmp_path, capsys):
    jobs = tmp_path / "night.toml"
    jobs.write_text(
        f'output = "out"\n[[bake]]\nscene = "{scene.name}"\nframes = "10:30"\npush = [0, 20]\nsettings.rehearsals = 0\n'
    )
    line = ["batch", str(jobs), "--workers", "1"]
    assert run(line) == commands.DONE
    assert "2 bakes: 2 completed" in capsys.readouterr().out
    there = {path.name for path in (tmp_path / "out").iterdir()}
    assert there >= {f"walk-push{push}.{kind}" for push in (0, 20) for kind in ("blend", "heftresult")}
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "out" / "walk-push20.blend"))
    assert bpy.data.objects["Mannequin"].animation_data.action.name == "Walk Simulated"
    saved = (tmp_path / "out" / "walk-push0.blend").stat().st_mtime
    assert run([*line, "--resume"]) == commands.DONE
    assert (tmp_path / "out" / "walk-push0.blend").stat().st_mtime == saved
    jobs.write_text(jobs.read_text().replace("[[bake]]", '[[bake]]\narmature = "Anna"'))
    assert run([*line, "--resume"]) == commands.FAILED
    assert "line 4: walk.blend: There is no armature 'Anna'" in capsys.readouterr().err


def test_no_file(heft_enabled, tmp_path, capsys):
    assert run(["bake", str(tmp_path / "gone.blend")]) == commands.FAILED
    assert "There is no file" in capsys.readouterr().err


def test_doctor(heft_enabled, monkeypatch, capsys):
    monkeypatch.setattr(commands.keeper, "stop", lambda: None)
    assert run(["doctor"]) == commands.DONE
    told = capsys.readouterr().out
    for words in ("numpy", "Cache:", "Kernels:", "The physics process answers", "passed", "report a bug"):
        assert words in told


def test_demo_goes_where_it_is_wanted(heft_enabled, tmp_path, monkeypatch):
    from heft.examples import demo

    made = []
    monkeypatch.setattr(demo, "main", made.append)
    assert run(["demo", "--output", str(tmp_path)]) == commands.DONE
    assert made == [tmp_path]


def test_command_is_registered_and_taken_back(heft_enabled):
    assert len(commands._handles) == 1
