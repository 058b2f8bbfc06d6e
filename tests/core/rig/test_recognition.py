# SPDX-License-Identifier: GPL-3.0-or-later
"""Clips of which nothing is known: who is who, what is up, and how long a unit is."""

import numpy as np
import pytest
from heft.core.motion import quaternions
from heft.core.motion.clip import scaled, turned
from heft.core.rig.recognition import recognise

from tests.core.job.jobs import waving_clip
from tests.core.motion.skeletons import still, wooden, wooden_roles


def test_a_clip_in_centimetres_that_lies_on_its_side_stands_up_in_metres():
    lying = quaternions.exp(np.array([-0.5 * np.pi, 0.0, 0.0]))
    found = recognise(turned(scaled(waving_clip(), 100.0), lying))
    assert found.unit == pytest.approx(0.01)
    assert np.abs(found.clip.position - waving_clip().position).max() < 1e-9
    assert quaternions.angle(quaternions.multiply(found.turn, lying), np.array([1.0, 0.0, 0.0, 0.0])) < 1e-9
    known = wooden_roles()
    assert {role: found.roles[role] for role in ("pelvis", "thigh.L", "shin.R", "hand.L")} == {
        role: known[role] for role in ("pelvis", "thigh.L", "shin.R", "hand.L")
    }


def test_a_single_pose_is_no_motion():
    with pytest.raises(ValueError, match="holds no motion"):
        recognise(still(wooden(), 5, 30.0))
