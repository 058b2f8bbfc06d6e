# SPDX-License-Identifier: GPL-3.0-or-later
"""Jobs that go along a path."""

import json
from dataclasses import replace

import numpy as np
import pytest
from heft.core.job import BakeJob, running
from heft.core.job.choosing import resolved
from heft.core.job.running import check, run
from heft.core.motion.path import Path

from tests.core.job import golden
from tests.core.job.jobs import waving_job
from tests.core.motion.skeletons import CMU_ROLES, cmu, needs_clips

CORNER = np.array([[0.0, 0.0], [2.5, 0.0], [2.5, 2.0]])


def test_a_path_is_saved_and_places_alone_are_one(tmp_path):
    job = waving_job(path=CORNER)
    assert isinstance(job.path, Path)
    assert job.cyclic
    assert not job.loop
    job.save(tmp_path / "a.heft")
    again = BakeJob.load(tmp_path / "a.heft")
    assert again == job
    np.testing.assert_array_equal(again.path.places, CORNER)
    assert waving_job() != job


def test_a_path_is_followed_by_methods_that_follow_a_motion_that_was_made_possible():
    with pytest.raises(ValueError, match="path"):
        check(waving_job(path=CORNER, method="gait", rate=300.0))
    with pytest.raises(ValueError, match="path"):
        check(waving_job(path=CORNER, method="replanning", optimise=False))


def test_what_does_not_walk_is_told():
    with pytest.raises(ValueError, match="no gait cycle"):
        run(waving_job(path=CORNER))


@needs_clips
def test_a_captured_walk_goes_round_a_corner_and_stands_at_the_end():
    result = run(BakeJob(cmu("02_01__walk_normal"), CMU_ROLES, frame_start=2.0, path=CORNER))
    report = result.report
    assert report["outcome"] == "completed"
    assert report["help_max"] == 0.0
    assert report["max_foot_slide_m"] < 0.01
    hips = result.poses[:, 0, :2, 3]
    away = Path(CORNER).distance_from(hips)
    assert away.mean() < 0.08
    assert away.max() < 0.3
    assert np.linalg.norm(hips[-1] - CORNER[-1]) < 0.12
    assert np.linalg.norm(hips[-1] - hips[-20]) < 0.01


@pytest.mark.parametrize("rise", [0.17, -0.17])
def test_a_walk_goes_along_a_path_over_stairs_to_its_end(rise):
    walk = golden.kept("walk")
    begin, ahead = walk.clip.position[0, 0, :2], np.array([np.cos(golden.heading()), np.sin(golden.heading())])
    drawn = np.array([begin, begin + 6.0 * ahead])
    scene = golden.stairs(rise=rise, going=0.29, first=2.0, steps=4)
    result = run(replace(walk, path=drawn, scene=scene, loop=False))
    assert result.report["outcome"] == "completed"
    assert result.report["help_max"] == 0.0
    hips = result.poses[:, 0, :3, 3]
    assert hips[-1, 2] - hips[0, 2] == pytest.approx(4.0 * rise, abs=0.1)
    assert Path(drawn).distance_from(hips[:, :2]).max() < 0.2
    assert np.linalg.norm(hips[-1, :2] - drawn[-1]) < 0.15


def test_who_cannot_wait_says_who_can():
    with pytest.raises(ValueError, match="cannot wait on its way: choose Steer"):
        check(waving_job(path=Path(CORNER, stops=(1,), wait=1.0)))


def test_automatic_lets_who_waits_or_follows_be_steered():
    waits = Path(CORNER, stops=(1,), wait=1.0)
    follows = Path(CORNER, target_time=[0.0, 1.0], target=CORNER[:2])
    ways = {"steering": (waits, follows), "lookahead": (CORNER, Path(CORNER, stops=(1,)))}
    for method, paths in ways.items():
        for path in paths:
            assert resolved(waving_job(path=path, method="auto"))[0].method == method


def test_who_cannot_be_led_goes_to_its_target_all_the_same(monkeypatch):
    """Automatic would steer it; by choice it is refused as before."""

    def plan(job, *_):
        if job.method == "steering":
            raise ValueError("Only a walk can be led.")
        return "motion", job.path

    monkeypatch.setattr(running, "planned", plan)
    job = waving_job(path=Path(CORNER, target_time=[0.0, 1.0], target=CORNER[:2]), method="auto")
    found, told, motion, path = running.planned_as_chosen(job, None, None, None)
    assert (found.method, motion, path.follows) == ("lookahead", "motion", False)
    np.testing.assert_array_equal(path.places, CORNER)
    assert told[-1] == "It goes to its target without waiting for it: Only a walk can be led."
    with pytest.raises(ValueError, match="can be led"):
        running.planned_as_chosen(replace(job, method="steering"), None, None, None)


def test_a_job_of_version_13_did_not_wait(tmp_path):
    job = waving_job(path=CORNER)
    data = job_as_of_13(job, tmp_path / "old.heft")
    assert data == job


def job_as_of_13(job, path):
    """Written then, and read now."""
    job.save(path)
    with np.load(path) as file:
        arrays = dict(file)
    header = json.loads(arrays["header"].tobytes())
    header["version"] = 13
    for name in ("stops", "wait", "target_time", "target"):
        del header["value"]["path"][name]
    arrays["header"] = np.frombuffer(json.dumps(header).encode(), dtype=np.uint8)
    with path.open("wb") as file:
        np.savez(file, **arrays)
    return BakeJob.load(path)
