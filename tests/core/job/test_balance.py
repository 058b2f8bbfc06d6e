# SPDX-License-Identifier: GPL-3.0-or-later
"""Balance control as a method of `run`."""

import json

import pytest
from heft.core.job import run

from tests.core.job.jobs import waving_job


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
