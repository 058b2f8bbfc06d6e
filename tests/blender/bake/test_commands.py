# SPDX-License-Identifier: GPL-3.0-or-later
"""`blender --command heft …`: a file is baked and saved, with a report; what is wrong is said in a line."""

import json
import os
import subprocess
import sys
from functools import partial

import bpy
import pytest
from heft.blender_addon import commands
from heft.blender_addon.baking import scenes
from heft.core import cli, command_line
from heft.core.batch import command
from heft.registration import make_demo

from tests.blender.bake.keyed import KeyedPool, KeyedWorker

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


@pytest.fixture
def two(rig, tmp_path, monkeypatch):
    """Two characters beside each other, and what saves them."""
    monkeypatch.setattr(commands, "keeper", KeyedWorker())
    monkeypatch.setattr(commands.Session, "wait", KeyedWorker().wait())
    bpy.ops.heft.set_up()
    other = rig.copy()
    other.name, other.location.x = "Other", 3.0
    rig.users_collection[0].objects.link(other)

    def save():
        path = tmp_path / "two.blend"
        bpy.ops.wm.save_as_mainfile(filepath=str(path))
        return path

    return other, save


def what_was_saved(path):
    bpy.ops.wm.open_mainfile(filepath=str(path))
    return {name: bpy.data.objects[name].animation_data.action.name for name in ("Mannequin", "Other")}


def test_what_succeeded_is_saved_before_a_failure_is_told(two, tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(commands.Session, "wait", KeyedWorker().wait({"Mannequin": "It stumbled over itself."}))
    _, save = two
    output = tmp_path / "baked.blend"
    assert run(["bake", str(save()), "--frames", "10:30", "--output", str(output)]) == commands.FAILED
    told = capsys.readouterr()
    assert f"Saved {output}" in told.out
    assert told.err == "heft: Mannequin: It stumbled over itself.\n"
    assert what_was_saved(output) == {"Mannequin": "Walk", "Other": "Walk Simulated"}


def test_a_rig_that_cannot_be_read_keeps_none_from_being_baked(two, tmp_path, capsys):
    other, save = two
    other.heft.bones = "CHOSEN"
    output = tmp_path / "baked.blend"
    assert run(["bake", str(save()), "--frames", "10:30", "--output", str(output)]) == commands.FAILED
    assert "heft: No bones of Other are chosen" in capsys.readouterr().err
    assert what_was_saved(output) == {"Mannequin": "Walk Simulated", "Other": "Walk"}


def test_where_nothing_succeeds_nothing_is_saved(two, tmp_path, capsys):
    other, save = two
    for armature in (other, bpy.data.objects["Mannequin"]):
        armature.heft.bones = "CHOSEN"
    output = tmp_path / "baked.blend"
    assert run(["bake", str(save()), "--output", str(output)]) == commands.FAILED
    assert not output.exists()
    assert capsys.readouterr().err.count("No bones of") == 2


def test_a_batch_reads_each_scene_once(scene, tmp_path, monkeypatch):
    (tmp_path / "again.blend").write_bytes(scene.read_bytes())
    read, gather = [], scenes.gather

    def counted(context, armatures):
        read.append(bpy.path.basename(bpy.data.filepath))
        return gather(context, armatures)

    monkeypatch.setattr(scenes, "gather", counted)
    monkeypatch.setattr(command, "pool", lambda *_: KeyedPool())
    jobs = tmp_path / "night.toml"
    jobs.write_text(
        '[[bake]]\nscene = ["walk.blend", "again.blend"]\nframes = "10:20"\nseed = [1, 2]\nsettings.rehearsals = 0\n'
    )
    assert run(["batch", str(jobs), "--workers", "1"]) == commands.DONE
    assert read == ["walk.blend", "again.blend"]
    saved = sorted(path.name for path in (tmp_path / "night").glob("*.blend"))
    assert saved == ["again-seed1.blend", "again-seed2.blend", "walk-seed1.blend", "walk-seed2.blend"]
    for name in saved:
        bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "night" / name))
        assert bpy.data.objects["Mannequin"].animation_data.action.name == "Walk Simulated"


def test_both_command_lines_understand_the_same_words():
    line = ["bake", "wave", "--controller", "lookahead", "--frames", "1:9", "--output", "out", "--report", "folder"]
    here = cli.make_parsers()
    there = command_line.make_parsers("blender", "SCENE.blend", "OUT.blend", "the same file", int)
    known, found = vars(here.whole.parse_args(line)), vars(there.whole.parse_args(line))
    assert {name: known[name] for name in found} == found
    assert set(there.commands) == set(here.commands)


def test_bench_belongs_to_the_source(heft_enabled, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(commands.keeper, "stop", lambda: None)
    monkeypatch.setattr(command_line, "ROOT", tmp_path)
    assert run(["bench"]) == commands.FAILED
    assert "run.py bench" in capsys.readouterr().err


def test_blender_as_a_module_has_the_command_too(tmp_path):
    line = [sys.executable, "-m", "heft.blender_module", "bake", str(tmp_path / "gone.blend")]
    done = subprocess.run(line, capture_output=True, text=True, check=False, env=os.environ, timeout=120)
    assert done.returncode == commands.FAILED
    assert f"heft: There is no file {tmp_path / 'gone.blend'}: check its name." in done.stderr.splitlines()


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


def test_replay_takes_a_failed_step_again(heft_enabled, tmp_path, monkeypatch, capsys):
    from heft.core import Character, DivergedError, World, trace

    monkeypatch.setattr(commands.keeper, "stop", lambda: None)
    monkeypatch.setenv(trace.VARIABLE, str(tmp_path / "trace.jsonl"))
    with pytest.raises(DivergedError):
        World(Character.preset("muico29")).step([float("nan")] * 23)
    assert run(["replay", str(tmp_path / "trace.jsonl")]) == commands.DONE
    told = capsys.readouterr().out
    assert told.count("is not finite.") == 2
    assert "no finite torque at: trunk" in told


def test_demo_goes_where_it_is_wanted(heft_enabled, tmp_path, monkeypatch):
    from heft.examples import demo

    made = []
    monkeypatch.setattr(demo, "main", made.append)
    assert run(["demo", "--output", str(tmp_path)]) == commands.DONE
    assert made == [tmp_path]


def test_command_is_registered_and_taken_back(heft_enabled):
    assert len(commands._handles) == 1
