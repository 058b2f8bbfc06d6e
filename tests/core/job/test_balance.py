# SPDX-License-Identifier: GPL-3.0-or-later
"""Balance control as a method of `run`."""

import json
from dataclasses import replace

import numpy as np
import pytest
from heft.core.job import run

from tests.core.job.jobs import waving_job
from tests.core.motion.skeletons import still, wooden


def test_a_motion_is_followed():
    found = json.loads(run(waving_job(method="balance", settings={"balance": 0.3})).report_text)
    assert found["outcome"] == "completed", found["why"]
    assert found["joint_rms_deg"] < 1.0
    assert found["root_rms_m"] < 0.01


def test_what_it_cannot_do_is_told():
    with pytest.raises(ValueError, match="no setting 'adaptation' of balance control"):
        run(waving_job(method="balance", settings={"adaptation": 0.1}))
    with pytest.raises(ValueError, match="Balance control cannot follow a motion as it is keyed"):
        run(waving_job(method="balance", optimise=False))


@pytest.fixture(scope="module")
def waiting():
    """A job that goes from standing to standing with the arms a little out, and back."""
    clip = still(wooden(), 16, 30.0)
    job = waving_job(method="balance", loop=True, seconds=4.0, others=(replace(clip, first_frame=1.0),))
    return replace(job, choices=((0.5, 1), (2.0, 0)))


def test_a_course_goes_to_the_motions_that_are_chosen(waiting):
    done = run(waiting)
    assert done.outcome == "completed", done.report["why"]
    assert len(done.frames) == round(4.0 * done.fps) + 1
    first, second = [line for line in done.report["notes"] if line.startswith("From motion")]
    assert first.startswith("From motion 0 to motion 1 in frames")
    assert second.startswith("From motion 1 to motion 0 in frames")
    # nothing jumps
    assert np.linalg.norm(np.diff(done.poses[:, :, :3, 3], axis=0), axis=2).max() < 0.01


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"choices": ((0.0, 2),)}, "There is no motion 2 to go to at 0 s: choose from 0 to 1"),
        ({"choices": ((1.0, 1), (0.5, 0))}, "one after the other"),
    ],
)
def test_choices_that_make_no_sense_are_refused(waiting, changes, words):
    with pytest.raises(ValueError, match=words):
        replace(waiting, **changes)


def test_who_does_not_walk_on_goes_nowhere_else(waiting):
    with pytest.raises(ValueError, match="needs Extend Cycle"):
        run(replace(waiting, loop=False))
    with pytest.raises(ValueError, match="follows one motion, not 2"):
        run(replace(waiting, method="lookahead"))
