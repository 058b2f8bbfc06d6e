# SPDX-License-Identifier: GPL-3.0-or-later
"""Whatever beginners key is baked, near to what they keyed."""

import numpy as np
import pytest
from heft.core.job import run
from heft.examples import beginners

from tests.core.job.beginners import clip, job

QUICK = ("kick", "dodge", "sit down on air", "floaty jump")  # `run.py study any_action` bakes them all


def test_there_are_twenty_of_them():
    assert len(beginners.ACTIONS) >= 20
    for name, keys in beginners.ACTIONS.items():
        assert [key.time for key in keys] == sorted(key.time for key in keys), name
        assert 0.5 < keys[-1].time < 4.0
        assert np.isfinite(clip(name).position).all()


def test_legs_that_bend_leave_the_feet_where_they_are():
    squat = clip("floaty jump")
    foot = squat.skeleton.index("foot.L")
    low = round(0.4 * squat.rate)
    np.testing.assert_allclose(squat.position[low, foot, 2], squat.position[0, foot, 2], atol=0.01)


@pytest.mark.parametrize("name", QUICK)
def test_it_is_baked_near_to_what_was_keyed(name):
    report = run(job(name)).report
    assert report["outcome"] == "completed"
    assert report["source_error_mm"] < 30.0
