# SPDX-License-Identifier: GPL-3.0-or-later
"""Gait control through `run`."""

import numpy as np
import pytest
from heft.core.job import BakeJob, Scene, run
from heft.core.simulation import Course

from tests.core.job.jobs import waving_job


def walking_job(**changes):
    """From the pose of somebody who stands."""
    course = Course(np.array([0.0, 3.0]), np.full(2, 0.7), np.zeros(2), np.array([0.0, 0.5]))
    return waving_job(**{"method": "gait", "rate": 300.0, "optimise": False, "scene": Scene(course=course), **changes})


def test_who_stands_in_the_clip_walks_for_as_long_as_asked(tmp_path):
    job = walking_job(seconds=6.0)
    job.save(tmp_path / "walk.job")
    assert BakeJob.load(tmp_path / "walk.job") == job
    result = run(job)
    assert result.report["outcome"] == "completed", result.report["why"]
    way = result.center_of_mass[-1] - result.center_of_mass[0]
    assert np.linalg.norm(way[:2]) > 2.0


def test_few_steps_a_second_are_refused_with_a_word_on_what_to_do():
    with pytest.raises(ValueError, match=r"300 steps .* not 120: raise the rate"):
        run(walking_job(rate=120.0))


def test_an_unknown_style_is_refused():
    with pytest.raises(ValueError, match=r"must be one of normal, .* not 'moon'"):
        run(walking_job(settings={"style": "moon"}))


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        (
            {"time": np.array([1.0, 0.0]), "forward": np.zeros(2), "left": np.zeros(2), "heading": np.zeros(2)},
            "decrease",
        ),
        ({"forward": np.array([np.nan])}, "forward"),
        ({"heading": np.zeros(3)}, "heading"),
        ({"left": np.array([11.0])}, "10 m/s"),
    ],
)
def test_a_course_checks_itself(wrong, said):
    with pytest.raises(ValueError, match=said):
        Course(**wrong)
