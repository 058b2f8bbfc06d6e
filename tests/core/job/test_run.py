# SPDX-License-Identifier: GPL-3.0-or-later
"""Whole runs of small jobs: stages, progress, cancelling, the cache, and the same bits every time."""

import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from heft import core
from heft.core import cache
from heft.core.contact.terrain import Plane
from heft.core.control.methods import METHODS
from heft.core.job import BakeJob, BakeResult, CancelledError, Load, Scene, precompute, run
from heft.core.motion.clip import Clip
from heft.core.simulation import Grab, Prop, Push
from heft.core.worker import tasks
from heft.core.worker.messages import Message
from heft.core.worker.process import Line

from tests.core.job import golden
from tests.core.job.jobs import lively_job, waving_clip, waving_job
from tests.core.motion.skeletons import rooted

KEYS = {
    "outcome",
    "upright_seconds",
    "simulated_seconds",
    "joint_rms_deg",
    "root_rms_m",
    "max_penetration_m",
    "max_foot_slide_m",
    "contact_residual_max",
    "lcp_failures",
    "peak_torque_nm",
    "real_time_factor",
    "step_us_median",
    "step_us_p99",
    "seconds",
    "why",
    "sentences",
}
STAGES = ["fit", "reference", "policy", "rehearse", "simulate"]


@pytest.fixture
def told_at_once(monkeypatch):
    """The simulation tells of every step, however fast the machine is."""
    monkeypatch.setattr("heft.core.job.shown.REPORT_AFTER", 0.0)


@pytest.fixture(scope="module")
def result():
    return run(waving_job())


def test_standing_and_waving(result):
    report = result.report
    assert set(report) >= KEYS
    assert set(report["seconds"]) == {*STAGES, "measure"}
    assert result.outcome == "completed"
    assert report["upright_seconds"] == report["simulated_seconds"] == 0.5
    assert report["joint_rms_deg"] < 1.0
    assert report["root_rms_m"] < 0.005
    assert report["max_foot_slide_m"] < 0.001
    assert report["max_penetration_m"] < 0.001
    assert report["lcp_failures"] == 0
    assert result.why.startswith("Stayed up to the end")
    assert result.fall is None
    json.dumps(report)


def test_frames_are_the_scenes(result):
    clip = waving_clip(0.5)
    assert result.fps == 30.0
    np.testing.assert_array_equal(result.frames, np.arange(10.0, 26.0))
    assert result.bones == clip.skeleton.names
    assert result.poses.shape == (16, len(clip.skeleton.names), 4, 4)
    turns = result.poses[..., :3, :3]
    np.testing.assert_allclose(turns @ turns.swapaxes(-1, -2), np.broadcast_to(np.eye(3), turns.shape), atol=1e-9)
    np.testing.assert_array_equal(result.poses[..., 3, :], np.broadcast_to([0, 0, 0, 1], (*turns.shape[:2], 4)))
    # what is baked is what was animated, but for what physics changed
    assert np.abs(result.poses[..., :3, 3] - clip.position).max() < 0.02
    assert np.abs(result.reference[..., :3, 3] - clip.position).max() < 0.02


def test_who_stands_is_balanced_over_both_feet(result):
    weight = 9.81 * sum(body.mass for body in precompute(waving_job()).reference.character.bodies)
    feet = [result.curves[f"contact_force_{side}_foot_n"] for side in ("left", "right")]
    assert np.sum(feet, axis=0) == pytest.approx(weight, rel=0.1)
    assert result.curves["balance_margin_m"].min() > 0.01
    assert np.diff(result.support.start).min() >= 4
    assert set(result.forces.body) == {"left_foot", "right_foot"}
    assert np.abs(result.forces.point[:, 2]).max() < 0.001
    np.testing.assert_allclose(result.center_of_mass[:, 2], result.center_of_mass[0, 2], atol=0.02)


def test_progress_goes_up_through_all_stages_and_shows_every_frame_once(result, told_at_once):
    told = []
    done = run(waving_job(), told.append)
    assert done == result
    stages = [at.stage for at in told]
    assert sorted(set(stages), key=stages.index) == STAGES
    whole = [at.whole for at in told]
    assert whole == sorted(whole)
    assert 0.0 <= whole[0] <= whole[-1] <= 1.0
    assert all(at.text for at in told)
    assert stages.count("reference") > 5
    with_frames = [at for at in told if len(at.poses)]
    assert len(with_frames) > 2
    assert [at.first for at in with_frames] == np.cumsum([0, *(len(at.poses) for at in with_frames[:-1])]).tolist()
    np.testing.assert_allclose(np.concatenate([at.poses for at in with_frames]), done.poses, atol=1e-9)


def test_who_looks_on_is_sent_what_is_optimised_and_then_every_frame_once(result, told_at_once, monkeypatch):
    monkeypatch.setattr(tasks, "OFTEN", 0.0)
    monkeypatch.setattr(tasks, "SKETCHED", 0.0)
    sent = []
    line = Line(lambda _, said, heads: sent.append((said, heads)))
    values, arrays = tasks.request(waving_job(), None, "all")
    _, answered = tasks.bake(Message("bake", values, arrays), line)
    assert tasks.answer(Message("done", {}, answered)) == result
    heads = result.poses[..., :3, 3]
    sketches = [found["heads"] for said, found in sent if found and said["text"].startswith("Correcting")]
    assert len(sketches) > 3
    assert {sketch.shape for sketch in sketches} == {heads.shape}
    assert np.abs(sketches[-1] - heads).max() < 0.01
    frames = [(said["first"], found["heads"]) for said, found in sent if found and said["text"] == "Simulating"]
    assert [first for first, _ in frames] == np.cumsum([0, *(len(found) for _, found in frames[:-1])]).tolist()
    np.testing.assert_allclose(np.concatenate([found for _, found in frames]), heads, atol=1e-9)


@pytest.mark.parametrize("method", sorted(METHODS))
def test_a_run_is_cancelled_before_its_first_step(method, few_tours, steered):
    if method == "momentum":  # it knows no props
        job = waving_job(method=method)
    elif method == "steering":  # it needs a walk
        job = replace(golden.kept("walk"), method=method, settings={"sharpest": 15.0})
    else:  # a gait needs the rate
        others = (waving_clip(0.5),) if method == "combination" else ()
        job = replace(lively_job(), method=method, settings={}, rate=300.0, others=others)
    done = run(job, lambda at: at.stage != "simulate", steered if method == "steering" else None)
    assert done.outcome == "cancelled"
    assert len(done.frames) == 1
    assert done.prop_poses.shape == (1, len(job.scene.props), 4, 4)


@pytest.mark.parametrize("how", ["return", "raise"])
@pytest.mark.parametrize("stage", STAGES)
def test_a_run_is_cancelled_at_every_stage(stage, how, result, told_at_once):
    def stop(at):
        if at.stage != stage or (stage == "simulate" and at.fraction < 0.5):
            return True
        if how == "raise":
            raise CancelledError
        return False

    done = run(waving_job(), stop)
    assert done.outcome == "cancelled"
    assert set(done.report) >= KEYS
    if stage == "simulate":
        assert 6 <= len(done.frames) < 16
        np.testing.assert_array_equal(done.poses[:-1], result.poses[: len(done.frames) - 1])
        assert done.why == f"Cancelled after {done.report['simulated_seconds']:.1f} s of motion."
    else:
        assert len(done.frames) == 0
        assert done.poses.shape == (0, len(result.bones), 4, 4)


def test_cancelled_results_are_saved_and_loaded(tmp_path):
    done = run(waving_job(), lambda _: False)
    done.save(tmp_path / "a.heftresult")
    assert BakeResult.load(tmp_path / "a.heftresult") == done


def test_an_exception_of_the_callback_is_not_kept_back():
    def fail(_at):
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        run(waving_job(), fail)


def test_cached_runs_give_the_same_bits(result, tmp_path):
    assert run(waving_job(), cache=tmp_path) == result
    files = sorted(tmp_path.iterdir())
    assert len(files) == 3  # fit, reference, policy
    assert cache.size(tmp_path) == sum(file.stat().st_size for file in files)
    told = []
    assert run(waving_job(), lambda at: told.append(at.stage), cache=tmp_path) == result
    assert told.count("reference") == 2  # not made again
    pushed = waving_job(scene=Scene(pushes=(Push.constant("torso", (1.0, 0.0, 0.0), 0.1, 0.1),)))
    run(pushed, cache=tmp_path)
    assert sorted(tmp_path.iterdir()) == files  # a push makes nothing stale
    run(replace(waving_job(), scene=Scene(gravity=(0.0, 0.0, -9.0))), cache=tmp_path)
    assert len(list(tmp_path.iterdir())) == 5  # gravity does, but for the fit
    cache.clear(tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_damaged_cache_files_are_made_again(result, tmp_path):
    run(waving_job(), cache=tmp_path)
    for number, file in enumerate(sorted(tmp_path.iterdir())):
        file.write_bytes([b"", b"nonsense", file.read_bytes()[:-50]][number])
    assert run(waving_job(), cache=tmp_path) == result
    told = []
    assert run(waving_job(), lambda at: told.append(at.stage), cache=tmp_path) == result
    assert told.count("reference") == 2


def test_files_of_other_code_are_not_used(tmp_path, monkeypatch):
    run(waving_job(), cache=tmp_path)
    monkeypatch.setattr(cache, "code_version", lambda: "0" * 64)
    run(waving_job(), cache=tmp_path)
    assert len(list(tmp_path.iterdir())) == 6


def test_a_cache_that_cannot_be_written_is_told_of(result, tmp_path, monkeypatch):
    (tmp_path / "file").write_text("not a folder")
    done = run(waving_job(), cache=tmp_path / "file")
    assert any("cache could not be" in note for note in done.report["notes"])
    assert np.array_equal(done.poses, result.poses)

    def full(*_arguments, **_settings):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    done = run(waving_job(), cache=tmp_path / "folder")
    assert "The cache could not be written: No space left on device." in done.report["notes"]
    assert np.array_equal(done.poses, result.poses)
    assert list((tmp_path / "folder").iterdir()) == []


def test_two_processes_give_the_same_bits(result, tmp_path):
    job = tmp_path / "a.heftjob"
    waving_job().save(job)
    code = f"from heft import core; print(core.run(core.BakeJob.load({str(job)!r})).key())"
    environment = os.environ | {"PYTHONPATH": str(Path(core.__file__).resolve().parents[2])}
    found = [
        subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=environment)
        for _ in range(2)
    ]
    assert [one.stdout.strip() for one in found] == [result.key()] * 2


@pytest.mark.parametrize("fps", [1.0, 23.976, 24.0, 1000.0])
def test_any_frame_rate(fps):
    clip = waving_clip(1.0, fps=max(fps, 20.0))
    if fps == 1.0:
        clip = Clip(clip.skeleton, 1.0, clip.position[[0, 20]], clip.orientation[[0, 20]], 5.0, 1.0)
    job = replace(waving_job(), clip=clip)
    done = run(job)
    assert done.outcome == "completed"
    assert done.fps == fps
    assert len(done.frames) == len(clip.position)
    assert done.frames[0] == clip.first_frame
    assert np.abs(done.poses[-1, :, :3, 3] - clip.position[-1]).max() < 0.03


def test_a_range_of_frames_is_that_part_of_the_motion():
    clip = waving_clip(1.0)
    done = run(BakeJob(clip, waving_job().roles, frame_start=20.0, frame_end=30.0))
    np.testing.assert_array_equal(done.frames, np.arange(20.0, 31.0))
    assert np.abs(done.poses[..., :3, 3] - clip.position[10:21]).max() < 0.02


def test_times_of_the_scene_count_from_the_first_frame_of_the_range():
    push = Push.constant("torso", (0.0, 150.0, 0.0), 0.2, 0.1)
    job = BakeJob(waving_clip(1.0), waving_job().roles, scene=Scene(pushes=(push,)), frame_start=20.0)
    done, calm = run(job), run(replace(job, scene=Scene()))
    away = np.abs(done.center_of_mass - calm.center_of_mass).max(axis=1)
    assert away[:7].max() < 1e-6
    assert away[9] > 0.002


def test_a_rigs_master_bone_stays_where_it_is():
    clip, rig = waving_clip(0.5), rooted()
    first = (np.zeros((len(clip.position), 1, 3)), np.tile([1.0, 0.0, 0.0, 0.0], (len(clip.position), 1, 1)))
    under = replace(
        clip,
        skeleton=rig,
        position=np.concatenate([first[0], clip.position], axis=1),
        orientation=np.concatenate([first[1], clip.orientation], axis=1),
    )
    done, bare = run(BakeJob(under, waving_job().roles)), run(waving_job())
    np.testing.assert_allclose(done.poses[:, 0], np.tile(np.eye(4), (16, 1, 1)), atol=1e-12)
    np.testing.assert_allclose(done.poses[:, 1:], bare.poses, atol=1e-3)
    assert not (done.figure == 0).any()  # no line from the ground to the hips


def test_longer_than_the_motion_it_comes_to_a_stand():
    done = run(waving_job(seconds=1.5))
    assert done.outcome == "completed"
    assert len(done.frames) == 46
    assert np.abs(done.poses[-10:, :, :3, 3] - done.poses[-1, :, :3, 3]).max() < 0.005
    assert np.abs(done.poses[-1, :, :3, 3] - waving_clip(0.5).position[-1]).max() < 0.1


def test_a_hard_push_fells_and_the_sentence_says_so():
    push = Push.constant("torso", (0.0, 900.0, 0.0), 0.1, 0.2)
    done = run(waving_job(seconds=2.5, scene=Scene(pushes=(push,))))
    report = done.report
    assert done.outcome == "fell"
    assert 0.1 < report["upright_seconds"] < report["simulated_seconds"]
    assert done.fall is not None
    assert done.fall.seconds == report["upright_seconds"]
    assert done.fall.frame == pytest.approx(10.0 + 30.0 * done.fall.seconds)
    assert "900 N push on 'chest'" in done.why
    assert done.why.startswith("Fell ")
    # it lies and does not explode
    assert done.poses[-1, :, 2, 3].max() < 1.0
    assert np.abs(np.diff(done.poses[:, :, :3, 3], axis=0)).max() < 1.0


def test_no_hold_at_all_is_a_fall_on_ice():
    done = run(waving_job(seconds=2.5, scene=Scene(surfaces=(Plane(normal=(0.3, 0.0, 1.0), friction=0.0),))))
    assert done.report["max_foot_slide_m"] > 0.1


def test_ground_of_the_scene_lifts_the_motion():
    low, high = (run(waving_job(scene=Scene(surfaces=(Plane(point=(0.0, 0.0, z)),)))) for z in (0.0, 0.25))
    assert high.outcome == "completed"
    np.testing.assert_allclose(high.poses[..., 2, 3] - low.poses[..., 2, 3], 0.25, atol=1e-6)
    np.testing.assert_allclose(high.reference[..., 2, 3] - low.reference[..., 2, 3], 0.25, atol=1e-6)


def test_props_are_baked_beside_the_character():
    crate = Prop.box("crate", (0.1, 0.1, 0.1), 2.0, (1.0, 1.0, 0.6))
    done = run(waving_job(scene=Scene(props=(crate,))))
    assert done.props == ("crate",)
    assert done.prop_poses.shape == (16, 1, 4, 4)
    heights = done.prop_poses[:, 0, 2, 3]
    assert heights[0] == pytest.approx(0.6)
    assert heights[-1] == pytest.approx(0.1, abs=0.005)  # it fell 0.5 m in 0.32 s


def test_a_grab_holds_the_hand():
    hold = Grab("left_hand", start=0.1)
    done = run(waving_job(scene=Scene(grabs=(hold,))))
    hand = done.bones.index("hand.L")
    assert np.abs(done.poses[4:, hand, :3, 3] - done.poses[4, hand, :3, 3]).max() < 0.01


def test_loads_weigh_whether_planned_or_not():
    for planned in (True, False):
        load = Load("rucksack", "torso", 10.0, (-0.1, 0.0, 0.1), planned=planned)
        done, bare = run(waving_job(scene=Scene(loads=(load,)))), run(waving_job())
        force = sum(done.curves[f"contact_force_{side}_foot_n"][8] for side in ("left", "right"))
        light = sum(bare.curves[f"contact_force_{side}_foot_n"][8] for side in ("left", "right"))
        assert force - light == pytest.approx(98.1, rel=0.2)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"method": "magic"}, "no method 'magic'; choose from lookahead"),
        ({"settings": {"gamma": 1.0}}, "no setting 'gamma' of look-ahead control"),
        ({"settings": {"cycles": 1.5}}, "setting 'cycles' of look-ahead control cannot be 1.5"),
        ({"reference": {"friction": 10**400}}, "setting 'friction' of a reference cannot be 1000"),
        ({"settings": {"policy": "pid"}}, "setting 'policy'"),
        ({"settings": {"adaptation": -1.0}}, "setting 'adaptation' of look-ahead control must be at least 0, not -1"),
        ({"reference": {"friction": "much"}}, "setting 'friction' of a reference"),
        ({"ground": "terrain"}, "the scene has none"),
        ({"loop": True}, "no gait cycle"),
        ({"contacts": (("tail", 1.0, 2.0),)}, "no contact point 'tail'"),
        ({"character": core.Character.preset("muico29")}, "given character does not fit"),
        ({"scene": Scene(pushes=(Push.constant("tail", (1.0, 0.0, 0.0), 0.1, 0.1),))}, "unknown body 'tail'"),
        ({"scene": Scene(loads=(Load("bag", "tail", 1.0),))}, "load 'bag' is attached to an unknown body"),
    ],
)
def test_impossible_wishes_are_refused_in_a_sentence(changes, message):
    with pytest.raises(ValueError, match=message) as raised:
        run(waving_job(**changes))
    assert "\n" not in str(raised.value)


def test_a_given_character_is_used():
    made = precompute(waving_job()).plan.character
    heavy = replace(made, bodies=tuple(replace(body, mass=2.0 * body.mass) for body in made.bodies))
    done = run(waving_job(character=heavy))
    force = sum(done.curves[f"contact_force_{side}_foot_n"][8] for side in ("left", "right"))
    assert force == pytest.approx(2.0 * 9.81 * made.total_mass, rel=0.1)
