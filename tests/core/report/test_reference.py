# SPDX-License-Identifier: GPL-3.0-or-later
"""What is told of a reference: its figures as JSON, and its changes at the scene's whole frames."""

import json

import numpy as np
import pytest
from heft.core.motion.fit import Trajectory
from heft.core.motion.spacetime import build_reference
from heft.core.report.reference import changes, summary

from tests.core.motion.spacetime import motions


@pytest.fixture(scope="module")
def reference():
    """A squat at 120 Hz in a scene of 24 frames a second, from frame 10.5 on."""
    motion = motions.squat()
    return build_reference(motion.character, Trajectory(motion.rate, motion.q, motion.v, 10.5, 0.2), motion.schedule)


def test_summary_is_json_with_every_figure(reference):
    told = json.loads(json.dumps(summary(reference, ["one"]), allow_nan=False))
    assert told["lines"] == ["one"]
    assert told["fit_for_control"] is reference.quality.fit_for_control
    assert told["joint_rms_degrees"] == reference.quality.joint_rms_degrees
    assert "joint_change" not in told


def test_changes_are_those_of_the_nearest_samples(reference):
    found = changes(reference)
    last = 10.5 + 0.2 * (len(reference.q) - 1)
    np.testing.assert_array_equal(found.frames, np.arange(11.0, np.floor(last + 1e-6) + 1.0))
    row = 3  # frame 14, 3.5 frames after the start: between samples 17 and 18
    sample = int(np.round((14.0 - 10.5) / 0.2))
    knee = reference.character.joints.index(next(j for j in reference.character.joints if j.name == "left_knee"))
    assert found.joints["left_knee"][row] == reference.quality.joint_change[sample, knee]
    assert found.place[row] == pytest.approx(np.linalg.norm(reference.quality.root_change[sample]))
    assert set(found.joints) == {j.name for j in reference.character.joints if j.kind not in {"free", "fixed"}}
