# SPDX-License-Identifier: GPL-3.0-or-later
"""Bakes of the weak and the strong: limits from norms, over time, in falls too, and what the report says."""

import math
from dataclasses import replace

import numpy as np
import pytest
from heft.core.character import Character
from heft.core.character.strength import joint_strengths, mean_strength
from heft.core.job import Scene, run
from heft.core.simulation import Push, Strength

from tests.core.job.jobs import waving_job

QUICK = {"settings": {"rehearsals": 0}, "recovery": False}


def test_norms_are_those_that_were_published():
    """Knee extension of young men: 0.163 of weight times stature (Anderson et al. 2007); a knee is a knee."""
    assert mean_strength("knee", "male", 70.0) == pytest.approx(0.163 * 70.0 * 9.81 * 1.741)
    assert mean_strength("ankle", "female", 60.0) == pytest.approx(0.104 * 60.0 * 9.81 * 1.735)
    # Harbo et al. 2012 at 25 years; trunk extension of men bent forward by 40 degrees; shoulder flexion of men
    assert mean_strength("elbow", "male", 75.0) == pytest.approx(-23.8 - 0.13 * 25.0 + 22.0 * 1.741 + 0.51 * 75.0)
    assert mean_strength("elbow", "female", 62.0) == pytest.approx(30.4, abs=0.1)
    assert mean_strength("trunk", "male", 75.0) == pytest.approx(232.0)
    assert mean_strength("shoulder", "male", 75.0) == pytest.approx(90.0)
    character = Character.preset("muico29")
    found = joint_strengths(character, "male")
    assert found["left_knee"] == found["right_knee"] == mean_strength("knee", "male", character.total_mass)
    assert set(found) == {joint.name for joint in character.joints if joint.kind not in {"free", "fixed"}}


def test_usual_strength_changes_nothing_where_nothing_needs_it():
    found, without = run(waving_job(**QUICK)), run(waving_job(strength=math.inf, **QUICK))
    np.testing.assert_array_equal(found.poses, without.poses)
    assert 0.0 < found.report["torque_share_max"] < 0.8
    assert without.report["torque_share_max"] == 0.0
    assert found.report["saturated"] == without.report["saturated"] == []


def test_the_weak_give_what_they_have():
    found = run(waving_job(strength=0.05, **QUICK))
    assert 1.0 - 1e-9 < found.report["torque_share_max"] <= 1.0
    first = found.report["saturated"][0]
    assert first["seconds"] > 0.0
    assert f"'{first['joint']}' gave all its strength for {first['seconds']:.2f} s" in found.why


def test_strength_that_fades_fells():
    """Who faints falls, by no joint's doing."""
    fading = Scene(strength=Strength([0.0, 0.5, 0.8], [2.0, 2.0, 0.0]))
    job = replace(waving_job(**QUICK), strength=1.0, seconds=3.0)
    assert run(job).outcome == "completed"
    found = run(replace(job, scene=fading))
    assert found.outcome == "fell"
    assert found.report["torque_share_max"] <= 1.0
    late = found.frames > found.frames[0] + 0.9 * job.fps
    assert all(np.abs(torque[late]).max() < 1e-9 for torque in found.torques.values())


@pytest.mark.parametrize("degrees", range(0, 360, 45))
def test_no_joint_gives_more_in_a_fall(degrees):
    """Thrown by 2,000 N, whichever way: not for one step more than a joint has, and what lies asks for less yet."""
    way = 2000.0 * np.array([math.cos(math.radians(degrees)), math.sin(math.radians(degrees)), 0.0])
    scene = Scene(pushes=(Push.constant("torso", tuple(way), 0.1, 0.1),))
    found = run(waving_job(scene=scene, seconds=2.5, **QUICK))
    assert found.outcome == "fell"
    assert 0.2 < found.report["torque_share_max"] <= 1.0
    assert found.report["peak_torque_nm"] < 700.0  # it was 8,230
    fallen = int(found.fall.frame - found.frames[0]) + 1
    late = slice(fallen + round(0.1 * found.fps), None)  # while limbs still meet each other it is braced
    assert max(np.abs(torque[late]).max() for torque in found.torques.values()) < 300.0
    way_down = found.poses[fallen:, :, :3, 3]
    assert len(way_down) > 1.5 * found.fps  # it is watched on,
    steps = np.abs(np.diff(way_down[: int(0.4 * found.fps)], axis=0)).max(axis=(1, 2))
    assert steps.min() > 0.01  # and does not freeze


def test_strength_that_makes_no_sense_is_refused():
    with pytest.raises(ValueError, match="strength must be at least 0, not -1"):
        waving_job(strength=-1.0)
