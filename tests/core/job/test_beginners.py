# SPDX-License-Identifier: GPL-3.0-or-later
"""Whatever beginners key is baked, near to what they keyed."""

import numpy as np
import pytest
from heft.core.job import run
from heft.examples import beginners

from tests.core.job.beginners import clip, job

# mm of mean distance to what was keyed; `run.py study any_action` bakes them all
QUICK = {"kick": 45.0, "dodge": 30.0, "sit down on air": 30.0, "floaty jump": 20.0}


def test_there_are_twenty_of_them():
    assert len(beginners.ACTIONS) >= 20
    for name, keys in beginners.ACTIONS.items():
        assert [key.time for key in keys] == sorted(key.time for key in keys), name
        assert 0.5 < keys[-1].time < 4.0
        assert np.isfinite(clip(name).position).all()


@pytest.mark.parametrize("name", QUICK)
def test_it_is_baked_near_to_what_was_keyed(name):
    report = run(job(name)).report
    assert report["outcome"] == "completed"
    assert report["source_error_mm"] < QUICK[name]
