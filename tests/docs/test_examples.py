# SPDX-License-Identifier: GPL-3.0-or-later
"""The documentation's examples say what they print."""

import doctest
import importlib.util
import pickle
import re

import numpy as np
import pytest
from heft.core import cli
from heft.core.batch.plan import Plan
from heft.core.clean import command

from tests.core.batch.nights import BVH
from tests.core.clean.clips import HerePool, waving_bvh
from tests.core.job.jobs import waving_job
from tools.environment import ROOT

PAGES = sorted(page for page in (ROOT / "docs").rglob("*.md") if ">>> " in page.read_text(encoding="utf-8"))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_examples_of_page(page):
    failed, tried = doctest.testfile(str(page), module_relative=False, encoding="utf-8")
    assert tried > 0
    assert failed == 0


def test_batch_file_of_the_page_asks_for_what_it_says(tmp_path):
    page = (ROOT / "docs" / "batch.md").read_text(encoding="utf-8")
    (text,) = re.findall(r"```toml\n(.*?)```", page, re.DOTALL)
    renamed = re.sub(
        "(Thigh|Shin|Foot)([LR])",
        lambda found: {"L": "Left", "R": "Right"}[found[2]] + {"Thigh": "UpLeg", "Shin": "Leg"}.get(found[1], found[1]),
        BVH,
    )
    for name in ("walk.bvh", "turn.bvh"):
        (tmp_path / name).write_text(renamed)
    (tmp_path / "saved").mkdir()
    for name in ("one", "two"):
        waving_job().save(tmp_path / "saved" / f"{name}.heftjob")
    path = tmp_path / "JOBS.toml"
    path.write_text(text, encoding="utf-8")
    plan = Plan.read(path)
    assert len(plan) == 48 + 4
    assert {"walk down 50N 3", "two-adaptation0.002"} <= set(plan)


def tracked(clip, motion, model, written):
    """What is written for trackers moves as the clip does."""
    every = round(float(clip["rate"]) / 30.0)
    frames = np.array(written["frames"])
    assert frames.shape == (len(clip["qpos"][::every]), model.nv)
    np.testing.assert_allclose(frames[:, :3], clip["qpos"][::every, :3])
    np.testing.assert_allclose(frames[:, 6:], motion["dof_pos"])
    bodies = (len(frames), len(clip["body_names"]))
    assert motion["rigid_body_contacts"].shape == bodies
    assert motion["rigid_body_rot"].shape == (*bodies, 4)
    np.testing.assert_allclose(np.linalg.norm(motion["rigid_body_rot"], axis=2), 1.0, atol=1e-9)
    between = np.diff(motion["rigid_body_pos"], axis=0) * 30.0
    mean = 0.5 * (motion["rigid_body_vel"][1:] + motion["rigid_body_vel"][:-1])
    assert np.abs(between - mean).max() < 0.1 * np.abs(motion["rigid_body_vel"]).max()


def test_arrays_of_a_cleaned_clip_are_what_the_page_says(tmp_path, monkeypatch, capsys):
    pytest.importorskip("mujoco")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(command, "make_pool", lambda *_: HerePool())
    (tmp_path / "captured" / "walks").mkdir(parents=True)
    (tmp_path / "captured" / "walks" / "a.bvh").write_bytes(waving_bvh(seconds=1.0))
    assert cli.main(["clean", "captured", "--out", "cleaned"]) == 0
    page = (ROOT / "docs" / "clean.md").read_text(encoding="utf-8")
    capsys.readouterr()
    known: dict[str, object] = {}
    written: list[dict[str, object]] = []
    monkeypatch.setattr(pickle, "dump", lambda found, _file: written.append(found))  # nothing is read from a pickle
    for block in re.findall(r"```python\n(.*?)```", page, re.DOTALL):
        if "import pinocchio" not in block or importlib.util.find_spec("pinocchio") is not None:
            exec(block, known)  # noqa: S102  # the page's own
    torques, *off = capsys.readouterr().out.splitlines()
    clip = known["clip"]
    assert torques.count(":") == len(clip["torque_names"])
    assert all(float(one) < 1e-4 * np.abs(clip["torques"]).max() for one in off)
    tracked(clip, known["motion"], known["model"], *written)
    named = set(re.findall(r"`([a-z_]+)`", "".join(re.findall(r"^\| `.*? \| \(", page, re.MULTILINE))))
    assert named == set(clip.files) - {"version"}
