# SPDX-License-Identifier: GPL-3.0-or-later
"""Replanning as a method of `run`: motions as they are keyed, pushes, grabs, and what it refuses."""

import json

import numpy as np
import pytest
from heft.core.job import BakeJob, Scene, run
from heft.core.job.simulated_scene import played
from heft.core.motion.playback import Playback
from heft.core.simulation import Grab, Push

from tests.core.job.jobs import waving_clip, waving_job
from tests.core.motion.skeletons import wooden_roles


def report(job):
    return json.loads(run(job).report_text)


@pytest.mark.parametrize("optimise", [True, False])
def test_a_motion_is_followed_optimised_or_as_it_is(optimise):
    found = report(BakeJob(waving_clip(1.0), wooden_roles(), method="replanning", optimise=optimise))
    assert found["outcome"] == "completed", found["why"]
    assert found["joint_rms_deg"] < 1.0
    assert found["root_rms_m"] < 0.01
    assert ("as they are" in found["reference"]) is not optimise


def test_a_push_bends_what_is_followed_as_it_is():
    push = Push.constant("torso", (0.0, -60.0, 0.0), 0.2, 0.1)
    job = waving_job(method="replanning", optimise=False, seconds=1.5, settings={"delay": 0.2, "slowing": 0.25})
    calm = run(job)
    pushed = run(
        BakeJob(
            job.clip,
            job.roles,
            method="replanning",
            optimise=False,
            seconds=1.5,
            settings=job.settings,
            scene=Scene(pushes=(push,)),
        )
    )
    assert json.loads(pushed.report_text)["outcome"] == "completed"
    moved = np.linalg.norm((pushed.poses - calm.poses)[:, :, :3, 3], axis=2).max(axis=1)
    assert moved[: round(0.2 * job.fps)].max() < 1e-9
    assert moved.max() > 0.01
    assert moved[-1] < moved.max()


def test_a_motion_takes_as_long_as_its_speeds_have_it_take():
    """Arms that wave at half their speed are at the same places at twice the times."""
    clip = waving_clip(1.0)
    known, slow = (
        run(BakeJob(clip, wooden_roles(), method="replanning", optimise=False, playback=playback))
        for playback in (Playback(), Playback(speed=np.array([0.5])))
    )
    assert len(slow.frames) == 2 * len(known.frames) - 1
    away = np.linalg.norm((slow.poses[::2] - known.poses)[:, :, :3, 3], axis=2)
    assert away.max() < 0.02
    assert np.ptp(known.poses[:, :, :3, 3], axis=0).max() > 0.1


def test_pushes_and_grabs_come_when_the_motion_gets_there():
    push = Push.constant("torso", (0.0, -60.0, 0.0), 0.25, 0.1)
    grab = Grab("left_hand", start=0.2, end=0.4)
    playback = Playback(np.array([0.0, 0.2, 0.3, 1.0]), np.array([0.5, 0.5, 1.0, 1.0]))
    scene = played(Scene(pushes=(push,), grabs=(grab, Grab("right_hand"))), playback)
    assert scene.pushes[0].start == pytest.approx(playback.played(0.25))
    assert 1.0 / scene.pushes[0].rate == pytest.approx(0.1)
    assert scene.grabs[0].start == pytest.approx(0.4)
    assert scene.grabs[0].end == pytest.approx(playback.played(0.4))
    assert (scene.grabs[1].start, scene.grabs[1].end) == (-np.inf, np.inf)


@pytest.mark.parametrize("seconds", [0.0, 0.2])
def test_a_transition_that_takes_no_time_is_told(seconds):
    job = waving_job(
        method="replanning",
        optimise=False,
        settings={"transition": seconds},
        playback=Playback(speed=np.array([1.0]), transitions=(0.25,)),
    )
    told = [note for note in report(job)["notes"] if note.startswith("Transition is keyed")]
    assert len(told) == (seconds == 0.0)


def test_what_it_cannot_do_is_told():
    with pytest.raises(ValueError, match="Look-ahead control cannot change a motion's timing"):
        run(waving_job(playback=Playback(speed=np.array([0.5]))))
    with pytest.raises(ValueError, match="Look-ahead control cannot follow the keys as they are"):
        run(waving_job(optimise=False))
    with pytest.raises(ValueError, match="no setting 'adaptation' of replanning control"):
        run(waving_job(method="replanning", settings={"adaptation": 0.1}))
    with pytest.raises(ValueError, match=r"'slowing' of replanning control must be at most 0\.9, not 0\.95"):
        run(waving_job(method="replanning", settings={"slowing": 0.95}))
