# SPDX-License-Identifier: GPL-3.0-or-later
"""Replanning as a method of `run`: motions as they are keyed, pushes, grabs, and what it refuses."""

import json

import numpy as np
import pytest
from heft.core.job import BakeJob, Scene, run
from heft.core.simulation import Push

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
    assert ("as it is" in found["reference"]) is not optimise


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


def test_what_it_cannot_do_is_told():
    with pytest.raises(ValueError, match="Look-ahead control cannot follow a motion as it is keyed"):
        run(waving_job(optimise=False))
    with pytest.raises(ValueError, match="no setting 'adaptation' of replanning control"):
        run(waving_job(method="replanning", settings={"adaptation": 0.1}))
    with pytest.raises(ValueError, match=r"slow down a motion by 0\.95"):
        run(waving_job(method="replanning", settings={"slowing": 0.95}))
