# SPDX-License-Identifier: GPL-3.0-or-later
"""A walk that begins anywhere in a stride of an action: its steps, its arms, its strength."""

from dataclasses import replace

import numpy as np
import pytest
from heft.core.job import BakeJob, Scene, run
from heft.core.motion.bvh import read_bvh
from heft.core.simulation import Course

from tests.core.job.golden import kept
from tests.core.motion.skeletons import CMU_ROLES, CMU_UNIT, GOOD, needs_clips

SPEED = 0.9  # m/s
# Step length by steps a minute, m min: that of adults is 0.0065, over all speeds but the slowest (Sekiya and Nagasaki,
# "Reproducibility of the walking patterns of normal young adults", 1998).
WALK_RATIO = (0.005, 0.007)


@pytest.fixture(scope="module", params=[0.0, 8.0, 16.0, 20.0])
def walked(request):
    """From 0, 1/3, 2/3 and 5/6 of the stride's 24 frames on, until it has learnt its speed."""
    walk = kept("walk")
    first = walk.clip.first_frame + request.param
    scene = Scene(course=Course.straight(SPEED))
    job = replace(walk, method="gait", settings={}, rate=300.0, optimise=False, scene=scene, frame_start=first)
    return walk.clip.skeleton.names, run(replace(job, seconds=8.0))


def test_who_turns_about_at_a_brisk_walk_stays_up_and_its_feet_hold():
    """At the strength of a person. Without slowing down it fell within the turn."""
    walk, about = kept("walk"), np.radians([0.0, 0.0, -180.0, -180.0])
    course = Course(np.array([0.0, 2.0, 2.0, 9.0]), np.full(4, 1.0), np.zeros(4), about)
    job = replace(
        walk, method="gait", settings={}, rate=300.0, optimise=False, scene=Scene(course=course), strength=1.0
    )
    result = run(replace(job, seconds=7.0))
    assert result.outcome == "completed"
    assert result.report["max_foot_slide_m"] < 0.02


@needs_clips
@pytest.mark.parametrize("name", ["02_01", "132_20"])
def test_captured_people_walk_on_their_own_legs_at_their_own_strength(name):
    """Their frames were turned by up to 40 degrees, their legs spread, or their weight ahead of their toes."""
    path = next(path for path in GOOD if path.name.startswith(name))
    job = BakeJob(read_bvh(path, CMU_UNIT), CMU_ROLES, method="gait", rate=300.0, optimise=False, frame_start=20.0)
    result = run(replace(job, seconds=6.0, strength=1.0, scene=Scene(course=Course.straight(SPEED))))
    assert result.outcome == "completed"
    assert result.report["max_foot_slide_m"] < 0.025
    assert result.report["good"]  # wherever the action went meanwhile
    assert "from the action" not in result.why
    assert "RMS" not in result.why


def place(walked, bone):
    """Of its head in the second half, (n, 3)."""
    names, result = walked
    return result.poses[len(result.poses) // 2 :, names.index(bone), :3, 3]


def test_it_walks(walked):
    _, result = walked
    assert result.outcome == "completed"
    assert result.report["max_foot_slide_m"] < 0.04


def test_no_joint_is_thrown(walked):
    """While the first steps landed on the edge of a sole, there were up to 4,000 N m for a step."""
    _, result = walked
    assert result.report["peak_torque_nm"] < 400.0


def test_steps_are_as_long_and_as_many_as_a_persons(walked):
    left, right = place(walked, "foot.L"), place(walked, "foot.R")
    way = (left + right)[-1] - (left + right)[0]
    ahead = way / np.linalg.norm(way)
    apart = (left - right) @ ahead
    seconds = (len(apart) - 1) / kept("walk").clip.rate
    signs = np.sign(apart)
    steps = int((signs[1:] != signs[:-1]).sum())
    length = 0.5 * float(way @ ahead) / steps
    cadence = 60.0 * steps / seconds
    assert WALK_RATIO[0] < length / cadence < WALK_RATIO[1]


def test_arms_hang_and_swing(walked):
    left, right = place(walked, "foot.L"), place(walked, "foot.R")
    ahead = (left + right)[-1] - (left + right)[0]
    ahead /= np.linalg.norm(ahead)
    swings = []
    for side in "LR":
        arm = place(walked, f"hand.{side}") - place(walked, f"upper_arm.{side}")
        swings.append(np.degrees(np.arctan2(arm @ ahead, -arm[:, 2])))
    for swing in swings:
        assert 20.0 < np.ptp(swing) < 60.0
        assert swing.min() < 0.0 < swing.max()
    assert abs(swings[0].mean() - swings[1].mean()) < 5.0
    assert np.corrcoef(swings[0], swings[1])[0, 1] < -0.7
    # each goes ahead with the other side's leg
    assert np.corrcoef(swings[0], (right - left) @ ahead)[0, 1] > 0.5


@pytest.mark.parametrize("speed", [0.9, 1.1])
def test_who_walks_briskly_at_a_persons_strength_walks_on(speed):
    """It sank down after 37 and 12 seconds, in a knee that landed bent for the hips had sunk over a flat foot."""
    walk = kept("walk")
    scene = Scene(course=Course.straight(speed))
    job = replace(walk, method="gait", settings={}, rate=300.0, optimise=False, scene=scene, strength=1.0)
    result = run(replace(job, seconds=40.0))
    assert result.outcome == "completed"
    assert result.report["max_foot_slide_m"] < 0.025
    hips = result.poses[len(result.poses) // 2 :, 0, 2, 3]
    assert np.ptp(hips) < 0.08
