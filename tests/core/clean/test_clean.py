# SPDX-License-Identifier: GPL-3.0-or-later
"""`heft clean`: what is written of a folder, what is left alone, and what becomes of a run that ends early."""

import csv
import json
import re
import subprocess
from types import SimpleNamespace

import numpy as np
import pytest
from heft.core import cli
from heft.core.clean import command
from heft.core.clean.bvh import Bvh
from heft.core.clean.page import page
from heft.core.clean.rows import COLUMNS, is_fine, worst_of
from heft.core.job.showing import matrices
from heft.core.motion.bvh import UP_IS_Y, UP_IS_Z, read_bvh, read_bvh_file

from tests.core.clean.clips import HerePool, waving_bvh
from tests.core.job.jobs import waving_clip


@pytest.fixture
def folder(tmp_path):
    """Two clips, one of them with a pose inserted before the motion, in a folder within."""
    place = tmp_path / "clips"
    (place / "more").mkdir(parents=True)
    (place / "wave.bvh").write_bytes(waving_bvh())
    (place / "more" / "wave.BVH").write_bytes(waving_bvh(order="YXZ"))
    return place


@pytest.fixture
def clean(folder, tmp_path, monkeypatch):
    """Run the command with a pool of this process; the exit status and the names of what was baked."""
    monkeypatch.setattr(cli.importlib.util, "find_spec", lambda _: None)

    def run(*options, out="out", breaks_at=None):
        pool = HerePool(breaks_at)
        monkeypatch.setattr(command, "make_pool", lambda *_: pool)
        return cli.main(["clean", str(folder), "--out", str(tmp_path / out), *options]), pool.given

    return run


def files_in(place):
    """Contents of all files of an out folder by their paths, but for the journal, which tells how long it took."""
    return {
        str(path.relative_to(place)): path.read_bytes()
        for path in sorted(place.rglob("*"))
        if path.is_file() and not path.name.startswith("batch.")
    }


def test_each_clip_is_written_back_with_its_own_names_and_what_others_need(folder, clean, tmp_path):
    before = files_in(folder)
    status, baked = clean()
    out = tmp_path / "out"
    assert status == 0
    assert baked == ["more%2Fwave.BVH", "wave.bvh"]
    assert files_in(folder) == before
    assert set(files_in(out)) == {
        "clips.csv",
        "clips.json",
        "index.html",
        "more/wave.BVH",
        "wave.bvh",
        *(f"heft/more/wave.BVH{end}" for end in (".done.json", ".mjcf.xml", ".npz", ".urdf")),
        *(f"heft/wave.bvh{end}" for end in (".done.json", ".mjcf.xml", ".npz", ".urdf")),
    }
    for name in ("wave.bvh", "more/wave.BVH"):
        source, written = read_bvh_file(folder / name), read_bvh_file(out / name)
        assert written.head == source.head
        assert written.values.shape == source.values.shape
        with np.load(out / "heft" / f"{name}.npz") as arrays:
            clip = read_bvh(out / name)
            assert arrays["joint_names"].tolist() == list(clip.skeleton.names)
            assert np.abs(arrays["joint_positions"] - clip.position).max() < 1e-4
            assert np.abs(arrays["source_joint_positions"] - read_bvh(folder / name).position).max() < 1e-9
            steps, bodies = arrays["contact_forces"].shape[:2]
            assert arrays["qpos"].shape[0] == arrays["qvel"].shape[0] == steps + 1
            assert arrays["torques"].shape == (steps, len(arrays["torque_names"]))
            assert len(arrays["body_names"]) == bodies
            weight = 9.81 * arrays["masses"].sum()
            assert arrays["contact_forces"][:, :, 2].sum(axis=1).mean() == pytest.approx(weight, rel=0.02)


def test_torques_are_those_of_mujocos_inverse_dynamics(clean, tmp_path):
    """With the accelerations that are written; at the root nothing is left."""
    mujoco = pytest.importorskip("mujoco")
    clean()
    model = mujoco.MjModel.from_xml_path(str(tmp_path / "out" / "heft" / "wave.bvh.mjcf.xml"))
    model.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_CONTACT
    data, jacobian = mujoco.MjData(model), np.zeros((3, model.nv))
    with np.load(tmp_path / "out" / "heft" / "wave.bvh.npz") as arrays:
        clip = {name: arrays[name] for name in arrays.files}
    for k in range(0, len(clip["torques"]), 7):
        data.qpos[:], data.qvel[:], data.qacc[:] = clip["qpos"][k + 1], clip["qvel"][k], clip["qacc"][k]
        mujoco.mj_inverse(model, data)
        torque = data.qfrc_inverse.copy()
        torque[:6] -= clip["help"][k]
        for row in range(clip["contact_start"][k], clip["contact_start"][k + 1]):
            mujoco.mj_jac(model, data, jacobian, None, clip["contact_points"][row], clip["contact_bodies"][row] + 1)
            torque -= jacobian.T @ clip["contact_point_forces"][row]
        np.testing.assert_allclose(torque[6:], clip["torques"][k], atol=1e-6)
        np.testing.assert_allclose(torque[:6], 0.0, atol=1e-5)


def test_files_for_opensim_are_written_where_they_are_asked_for(clean, tmp_path):
    assert clean("--opensim")[0] == 0
    out = tmp_path / "out" / "heft"
    for ending in (".forces.mot", ".torques.sto", ".joints.trc"):
        assert len((out / f"wave.bvh{ending}").read_text(encoding="utf-8").splitlines()) > 15
        assert (out / "more" / f"wave.BVH{ending}").is_file()


def test_the_table_and_the_page_tell_of_every_clip(folder, clean, tmp_path):
    (folder / "bad.bvh").write_text("nonsense")
    (folder / "still.bvh").write_bytes(still())
    (folder / "other.fbx").write_bytes(b"")
    status, _ = clean()
    assert status == 1
    out = tmp_path / "out"
    with (out / "clips.csv").open(newline="", encoding="utf-8") as file:
        rows = {row["file"]: row for row in csv.DictReader(file)}
    assert list(rows) == ["bad.bvh", "more/wave.BVH", "other.fbx", "still.bvh", "wave.bvh"]
    assert rows["bad.bvh"]["why"] == "bad.bvh, line 1: expected 'HIERARCHY', not 'nonsense'."
    assert "blender --command heft clean" in rows["other.fbx"]["why"]
    assert "holds no motion" in rows["still.bvh"]["why"]
    assert {name for name, row in rows.items() if row["outcome"] == "failed"} == {"bad.bvh", "other.fbx", "still.bvh"}
    assert float(rows["wave.bvh"]["skate_after_mm"]) < 0.5
    assert rows["bad.bvh"]["skate_after_mm"] == ""
    told = json.loads((out / "clips.json").read_text(encoding="utf-8"))
    assert [row["file"] for row in told] == list(rows)
    page = (out / "index.html").read_text(encoding="utf-8")
    assert "2 of 5 clips cleaned" in page
    assert page.count("<svg") == 2
    assert not re.search(r'(?:src|href)="', page)
    assert not (out / "bad.bvh").exists()


def test_a_clip_that_got_worse_needs_a_second_look():
    fine = {column.name: 0.0 for column in COLUMNS} | {"file": "a", "take": "", "outcome": "cleaned", "good": True}
    sunk = {**fine, "file": "b", "penetration_after_mm": 0.3}
    helped = {**fine, "file": "c", "help_max_percent": 50.0}
    assert [is_fine(row) for row in (fine, sunk, helped)] == [True, False, False]
    assert [row["file"] for row in worst_of([fine, sunk, helped], 2)] == ["c", "b"]
    shown = page("Clips", [{**row, "why": ""} for row in (fine, sunk, helped)], {})
    assert "1 of which need no second look" in shown
    assert shown.count('class="bad"') == 2


@pytest.mark.parametrize("up", [UP_IS_Y, UP_IS_Z], ids=["Y", "Z"])
def test_a_file_is_written_back_the_way_up_that_it_was(tmp_path, up):
    clip, path, out = waving_clip(0.4, 30.0), tmp_path / "wave.bvh", tmp_path / "out.bvh"
    path.write_bytes(waving_bvh(up=up))
    form = Bvh()
    found = form.job(path, "").clip
    frames = found.first_frame + np.arange(len(found.position))
    form.write(path, {"": SimpleNamespace(frames=frames, poses=matrices(found.position, found.orientation))}, out)
    before, after = read_bvh_file(path), read_bvh_file(out)
    assert len(before.values) == len(clip.position)
    np.testing.assert_allclose(after.values, before.values, atol=2e-6)


def still():
    """A file whose frames are all alike."""
    lines = waving_bvh().decode().splitlines()
    last = next(number for number, line in enumerate(lines) if line.startswith("Frame Time")) + 1
    return "\n".join([*lines[:last], *[lines[last]] * (len(lines) - last)]).encode()


def test_a_run_that_ended_early_is_resumed_to_the_same_bits_and_bakes_nothing_twice(clean, tmp_path):
    assert clean(out="whole")[0] == 0
    status, first = clean(breaks_at=1)
    assert status == command.INTERRUPTED
    assert clean()[0] == 1  # it does not write over what is there
    out = tmp_path / "out"
    (out / "more").mkdir(exist_ok=True)
    for half in ("wave.bvh", "index.html", "more/wave.BVH", "heft/wave.bvh.npz"):
        (out / f"{half}.0123456789ab.part").write_bytes(b"half")  # as a process leaves it that is killed
    status, second = clean("--resume")
    assert status == 0
    assert sorted(first + second) == ["more%2Fwave.BVH", "wave.bvh"]
    assert files_in(tmp_path / "out") == files_in(tmp_path / "whole")
    assert clean("--resume") == (0, [])
    assert files_in(tmp_path / "out") == files_in(tmp_path / "whole")


def test_what_changed_is_cleaned_again(folder, clean):
    clean()
    (folder / "wave.bvh").write_bytes(waving_bvh(seconds=0.5))
    assert clean("--resume") == (0, ["wave.bvh"])
    assert clean("--resume", "--simulate")[1] == ["more%2Fwave.BVH", "wave.bvh"]


def test_a_result_that_was_not_written_yet_is_written_without_another_bake(clean, tmp_path, monkeypatch):
    def killed(*_):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr("heft.core.clean.cleaning.Cleaning._write", killed)
        status, baked = clean()
    assert status == command.INTERRUPTED
    assert (tmp_path / "out" / "heft" / f"{baked[0]}.heftresult").is_file()
    assert clean("--resume") == (0, ["wave.bvh"])
    assert (tmp_path / "out" / "more" / "wave.BVH").is_file()
    assert not list((tmp_path / "out").rglob("*.heftresult"))


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["clean", "nowhere", "--out", "out"], "There is no folder nowhere: check its name."),
        (["clean", "{folder}", "--out", "{folder}"], "The clips would be overwritten"),
        (["clean", "{empty}", "--out", "out"], "There is nothing to clean in"),
    ],
)
def test_folders_that_cannot_be_cleaned(folder, tmp_path, capsys, monkeypatch, words, said):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "empty").mkdir()
    assert cli.main([word.format(folder=folder, empty=tmp_path / "empty") for word in words]) == 1
    assert said in capsys.readouterr().err


@pytest.mark.parametrize(
    ("commands", "asked"), [("extension heft help", True), ("extension help", False), (None, False)]
)
def test_a_blender_that_knows_heft_is_started(folder, tmp_path, monkeypatch, capsys, commands, asked):
    started = []

    def started_with(line, **_):
        started.append(line)
        return subprocess.CompletedProcess(line, 7, stdout=commands)

    monkeypatch.setattr(cli.importlib.util, "find_spec", lambda _: None)
    monkeypatch.setattr(cli.shutil, "which", lambda name: None if commands is None else f"/programs/{name}")
    monkeypatch.setattr(cli.subprocess, "run", started_with)
    monkeypatch.setattr(command, "make_pool", lambda *_: HerePool())
    for clip in folder.rglob("wave.*"):
        clip.unlink()
    (folder / "man.glb").write_bytes(b"")
    words = ["clean", str(folder), "--out", str(tmp_path / "out")]
    assert cli.main(words) == (7 if asked else 1)
    assert started[1:] == ([["/programs/blender", "--command", "heft", *words]] if asked else [])
    assert ("only Blender reads .glb files" in capsys.readouterr().out) != asked


def test_blender_is_asked_where_it_is_a_module_and_needed(folder, tmp_path, monkeypatch):
    asked = []
    monkeypatch.setattr(cli.importlib.util, "find_spec", lambda name: name)
    monkeypatch.setattr(cli, "in_blender", lambda known: asked.append(known.words) or 7)
    (folder / "man.glb").write_bytes(b"")
    words = ["clean", str(folder), "--out", str(tmp_path / "out")]
    assert cli.main(words) == 7
    assert asked == [words]
