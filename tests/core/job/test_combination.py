# SPDX-License-Identifier: GPL-3.0-or-later
"""Several motions of one skeleton through `run`, with a slider between them."""

from dataclasses import replace

import numpy as np
import pytest
from heft.core.job import BakeJob, Scene, run
from heft.core.motion import quaternions
from heft.core.motion.clip import from_local, to_local
from heft.core.motion.floor import Levelling
from heft.core.motion.playback import Playback
from heft.core.simulation import Slider

from tests.core.job.jobs import full_job, waving_clip, waving_job
from tests.core.job.test_files import altered


def raised(clip, angle):
    """The clip with its left upper arm turned, more and more."""
    local = to_local(clip)
    turn, bone = local.orientation.copy(), clip.skeleton.index("upper_arm.L")
    way = np.zeros((len(turn), 3))
    way[:, 0] = angle * np.linspace(0.0, 1.0, len(turn))
    turn[:, bone] = quaternions.multiply(turn[:, bone], quaternions.exp(way))
    return from_local(clip, replace(local, orientation=quaternions.continuous(turn)))


def combining(*sliders, **changes):
    """Of two motions that differ by how the left arm turns."""
    times, places = zip(*sliders, strict=True)
    scene = Scene(slider=Slider(np.array(times), np.array(places)))
    other = raised(waving_clip(0.5), 0.8)
    return waving_job(**{"method": "combination", "others": (other,), "scene": scene, **changes})


def arm(result):
    """Of the last pose, how far the left upper arm turned from the first."""
    bone = result.bones.index("upper_arm.L")
    turns = quaternions.from_matrix(result.poses[:, bone, :3, :3])
    return float(quaternions.angle(turns[0], turns[-1]))


def test_a_slider_between_two_motions(tmp_path):
    found = []
    for place in (0.0, 0.5, 1.0):
        job = combining((0.0, place))
        job.save(tmp_path / "a.heftjob")
        assert BakeJob.load(tmp_path / "a.heftjob") == job
        result = run(job, cache=tmp_path / "cache")
        assert result.report["outcome"] == "completed", result.report["why"]
        found.append(arm(result))
    own, between, other = found
    assert other - own > 0.5
    assert between == pytest.approx(0.5 * (own + other), abs=0.05)


def test_a_slider_is_keyed_over_time(tmp_path):
    early = run(combining((0.0, 0.0), (0.3, 1.0)), cache=tmp_path)
    late = run(combining((0.0, 1.0)), cache=tmp_path)
    assert arm(early) == pytest.approx(arm(late), abs=0.05)


@pytest.mark.parametrize(("place", "softness", "share"), [(0.3, 0.1, 0.0), (1.0, 5.0, 0.5)])
def test_who_chooses_does_what_costs_least_from_how_it_began(tmp_path, place, softness, share):
    """Begun nearer to one motion, it is soon that motion alone; a soft choice is none."""
    settings = {"choose": True, "softness": softness}
    assert arm(run(combining((0.0, place), settings=settings), cache=tmp_path)) == pytest.approx(0.79 * share, abs=0.03)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"others": ()}, "at least two actions"),
        ({"method": "lookahead"}, "Look-ahead control follows one motion, not 2"),
        ({"settings": {"gamma": 1.0}}, "no setting 'gamma' of a combination"),
        ({"settings": {"adaptation": -1.0}}, "adaptation"),
        ({"settings": {"softness": 0.0}}, "softness"),
    ],
)
def test_what_is_refused(changes, said):
    with pytest.raises(ValueError, match=said):
        run(combining((0.0, 0.5), **changes))


def test_motions_of_other_skeletons_are_refused():
    clip = waving_clip(0.5)
    strange = replace(clip, skeleton=replace(clip.skeleton, names=tuple(f"x{name}" for name in clip.skeleton.names)))
    with pytest.raises(ValueError, match="Motion 2 has another skeleton"):
        waving_job(others=(strange,))


@pytest.mark.parametrize(
    ("time", "place", "said"),
    [([1.0, 0.0], [0.0, 0.0], "decrease"), ([0.0], [1.5], "between 0"), ([0.0], [np.nan], "place"), ([], [], "time")],
)
def test_a_slider_checks_itself(time, place, said):
    with pytest.raises(ValueError, match=said):
        Slider(np.array(time), np.array(place))


@pytest.mark.parametrize("version", [3, 4, 5, 6, 7, 8])
def test_a_job_of_an_older_version_is_read_as_one_that_says_no_more(tmp_path, version):
    def older(header, _):
        header["version"] = version
        del header["value"]["effort"], header["value"]["return_to_path"]
        if version == 8:
            return
        del header["value"]["levelling"], header["value"]["strength"], header["value"]["scene"]["strength"]
        if version == 7:
            return
        for name in ("travel", "recovery", "recovery_effort", "looseness", "help"):
            del header["value"][name]
        if version == 6:
            return
        del header["value"]["choices"]
        if version == 5:
            return
        del header["value"]["others"], header["value"]["body"]["motions"], header["value"]["scene"]["slider"]
        if version == 3:
            del header["value"]["playback"]

    playback = Playback() if version == 3 else full_job().playback
    job = replace(full_job(), effort=0.0, flights="as_keyed")
    if version < 8:
        job = replace(job, levelling=Levelling(drift=False), strength=np.inf)
    if version < 7:
        job = replace(job, travel="travelling", recovery=False, looseness={}, help="none")
        far = {"place": 0.0, "pose_least": 5.0, "pose_most": 30.0, "root_of_clip": False}
        far |= {"root_place": 1.0, "root_turn": 1.0, "clearance_ramp": 0.1, "clearance_way": 0.0}
        job = replace(job, reference=far | dict(job.reference))
    if version < 6:
        job = replace(job, choices=())
    if version < 5:
        job = replace(job, others=(), body=replace(job.body, motions=()), playback=playback)
        job = replace(job, scene=replace(job.scene, slider=None))
    path = tmp_path / "old.heftjob"
    job.save(path)
    altered(path, older)
    assert BakeJob.load(path) == job

    def broken(header, _):
        older(header, _)
        header["value"]["scene"] = []

    job.save(path)
    altered(path, broken)
    with pytest.raises(ValueError, match=r"old\.heftjob is not a bake job"):
        BakeJob.load(path)
