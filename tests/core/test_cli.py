# SPDX-License-Identifier: GPL-3.0-or-later
"""The command line: what it says, what it leaves behind, and its exit status."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from heft import core
from heft.core import BakeResult, cli, command_line
from heft.core.job import Scene
from heft.core.simulation import Push

from tests.core.job.jobs import waving_job

ENVIRONMENT = os.environ | {"PYTHONPATH": str(Path(core.__file__).resolve().parents[2])}


@pytest.fixture
def job(tmp_path):
    path = tmp_path / "wave.heftjob"
    waving_job().save(path)
    return path


def test_a_job_is_baked_beside_itself(job, capsys):
    assert cli.main(["bake", str(job), "--report", str(job.parent / "report")]) == 0
    told = capsys.readouterr()
    assert "Stayed up to the end" in told.out
    assert "Simulating" in told.err
    assert BakeResult.load(job.with_suffix(".heftresult")) == core.run(waving_job())
    assert "Stayed up" in (job.parent / "report" / "index.html").read_text(encoding="utf-8")


def test_frames_and_output_are_chosen(job, tmp_path):
    output = tmp_path / "other.heftresult"
    assert cli.main(["bake", str(job), "--frames", "12:20", "--output", str(output)]) == 0
    assert BakeResult.load(output).frames[[0, -1]].tolist() == [12.0, 20.0]
    assert not job.with_suffix(".heftresult").exists()


def test_a_fall_shows_in_the_status(tmp_path):
    path = tmp_path / "fall.heftjob"
    waving_job(seconds=2.0, scene=Scene(pushes=(Push.constant("torso", (0.0, 900.0, 0.0), 0.1, 0.2),))).save(path)
    assert cli.main(["bake", str(path)]) == 3
    assert BakeResult.load(path.with_suffix(".heftresult")).outcome == "fell"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["bake", "nowhere.heftjob"], "There is no file nowhere.heftjob: check its name."),
        (["bake", "scene.blend"], "blender --command heft bake scene.blend"),
        (["bake", "{job}", "--controller", "magic"], "no method 'magic'"),
        (["bake", "{job}", "--frames", "1:100"], "reaches beyond the motion, which has frames"),
        (["bake", "{job}", "--output", "{folder}/missing/out.heftresult"], "No such file"),
        (["bake", "{broken}"], "broken.heftjob is not a bake job"),
    ],
)
def test_errors_are_one_line(job, arguments, message, capsys):
    broken = job.parent / "broken.heftjob"
    broken.write_text("nonsense")
    filled = [argument.format(job=job, broken=broken, folder=job.parent) for argument in arguments]
    assert cli.main(filled) == 1
    error = capsys.readouterr().err.splitlines()[-1]
    assert error.startswith("heft: ")
    assert message in error


@pytest.mark.parametrize("frames", ["5", "a:b", "9:3", "5:5", ":"])
def test_ranges_that_are_none(job, frames, capsys):
    with pytest.raises(SystemExit) as raised:
        cli.main(["bake", str(job), "--frames", frames])
    assert raised.value.code == 2
    assert "not a frame range: write it like 1:100" in capsys.readouterr().err


def test_doctor_tries_what_it_finds(capsys):
    assert cli.main(["doctor"]) == 0
    told = capsys.readouterr().out
    for word in ("numpy", "scipy", "numba", "osqp", "Kernels:", "rag doll", "passed", "report a bug"):
        assert word in told


def test_doctor_names_what_is_missing(capsys, monkeypatch):
    monkeypatch.setattr(cli, "PACKAGES", ("numpy", "no-such-package"))
    assert cli.main(["doctor"]) == 1
    assert "pip install no-such-package" in capsys.readouterr().err


def test_bench_belongs_to_the_source(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(command_line, "ROOT", tmp_path)
    assert cli.main(["bench"]) == 1
    assert "run.py bench" in capsys.readouterr().err


def test_demo_wants_blender(monkeypatch, capsys):
    monkeypatch.setattr(cli.importlib.util, "find_spec", lambda name: None if name == "bpy" else name)
    assert cli.main(["demo"]) == 1
    assert "blender --command heft demo" in capsys.readouterr().err


def test_blender_makes_the_demo_in_a_process_of_its_own(monkeypatch, tmp_path):
    started = []
    monkeypatch.setattr(cli.importlib.util, "find_spec", lambda name: name)
    monkeypatch.setattr(
        cli.subprocess, "run", lambda line, **_: started.append(line) or subprocess.CompletedProcess(line, 7)
    )
    assert cli.main(["demo", "--output", str(tmp_path)]) == 7
    assert started == [[sys.executable, "-m", "heft.blender_module", "demo", "--output", str(tmp_path)]]


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such signal to send")
def test_an_interrupted_bake_keeps_its_frames(tmp_path):
    path = tmp_path / "long.heftjob"
    waving_job(seconds=600.0).save(path)
    process = subprocess.Popen(
        [sys.executable, "-m", "heft.core.cli", "bake", str(path)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=ENVIRONMENT,
    )
    for line in process.stderr:
        if line.startswith("Simulating"):
            break
    time.sleep(1.0)
    process.send_signal(signal.SIGINT)
    told, _ = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "Cancelled after" in told
    done = BakeResult.load(path.with_suffix(".heftresult"))
    assert done.outcome == "cancelled"
    assert len(done.frames) > 10
