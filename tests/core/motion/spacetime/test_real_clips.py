# SPDX-License-Identifier: GPL-3.0-or-later
"""Captured motion, from file to reference, with defaults only."""

import pytest
from heft.core.motion.clean_up import clean_up
from heft.core.motion.labels import label
from heft.core.motion.prepare import prepare
from heft.core.motion.spacetime import build_reference

from tests.core.motion.skeletons import CMU_ROLES, cmu, needs_clips

pytestmark = needs_clips


def reference_of(name, joints=None):
    performance = prepare(cmu(name), CMU_ROLES, joints=joints)
    character = performance.plan.character
    clean = clean_up(character, performance.trajectory, label(character, performance.trajectory))
    return build_reference(character, clean.trajectory, clean.schedule)


@pytest.mark.parametrize("name", ["02_01", "09_02", "13_11", "16_01"])
def test_walk_run_and_jumps(name):
    quality = reference_of(name).quality
    assert quality.residual_newtons < 1e-6 * 700.0
    assert quality.friction_use <= 1.0
    assert quality.slip_millimetres < 1.0
    assert quality.penetration_millimetres < 1.0
    assert quality.joint_rms_degrees < 3.0
    assert quality.root_rms_metres < 0.04


def test_ankles_without_roll_keep_the_motion():
    """Ankles that yaw and pitch cannot level a rolled sole: better an edge under the ground than a bent leg."""
    quality = reference_of("16_18", {"left_ankle": "universal", "right_ankle": "universal"}).quality
    assert quality.joint_rms_degrees < 3.0
    assert quality.residual_newtons < 1e-6 * 700.0
    assert quality.slip_millimetres < 1.0
