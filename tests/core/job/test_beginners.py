# SPDX-License-Identifier: GPL-3.0-or-later
"""Whatever beginners key is baked, near to what they keyed."""

import numpy as np
import pytest
from heft.core.job import run
from heft.examples import beginners

from tests.core.job.beginners import clip, job

# mm of mean distance to what was keyed, and the most help, as a share of the weight: who sits needs none on the seat
# that is put there, and 58 % without; `run.py study any_action` bakes them all
QUICK = {
    "kick": (45.0, 3.0),
    "dodge": (30.0, 3.0),
    "sit down on air": (33.0, 0.001),
    "floaty jump": (20.0, 3.0),
    "hover": (5.0, 4.0),  # 85 mm as long as a foot in the air was laid flat
    "push-ups": (40.0, 3.0),  # 81 mm on a floor at the middles of soles that are up on their tips
}


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
    near, helped = QUICK[name]
    assert report["source_error_mm"] < near
    assert report["help_max"] <= helped
