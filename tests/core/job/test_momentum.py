# SPDX-License-Identifier: GPL-3.0-or-later
"""Whole bakes by momentum control."""

import numpy as np
import pytest
from heft.core.contact.terrain import Plane
from heft.core.job import BakeJob, Scene, run
from heft.core.motion.bvh import read_bvh
from heft.core.simulation import Foothold, Prop, Push

from tests.core.job.jobs import waving_job
from tests.core.motion.skeletons import CMU_ROLES, CMU_UNIT, GOOD


def momentum_job(**changes):
    return waving_job(method="momentum", **changes)


@pytest.fixture(scope="module")
def result():
    return run(momentum_job())


def test_standing_and_waving(result):
    report = result.report
    assert result.outcome == "completed"
    assert report["method"] == "momentum"
    assert report["simulated_seconds"] == 0.5
    assert report["joint_rms_deg"] < 1.0
    assert report["root_rms_m"] < 0.005
    assert report["max_foot_slide_m"] < 0.001
    assert report["max_penetration_m"] < 0.001
    assert report["lcp_failures"] == 0
    assert 0.0 < report["peak_torque_nm"] < 200.0
    assert result.poses.shape[0] == 16


def test_the_same_job_gives_the_same_bits(result):
    again = run(momentum_job())
    assert again.poses.tobytes() == result.poses.tobytes()
    assert again.forces.force.tobytes() == result.forces.force.tobytes()


def test_forces_carry_the_weight(result):
    vertical = np.add.reduceat(result.forces.force[:, 2], result.forces.start[:-1])
    mass = 80.0
    assert vertical.mean() == pytest.approx(9.81 * mass, rel=0.3)
    assert (vertical > 0.0).all()


def test_a_push_too_strong_pulls_a_foot_away_and_is_told():
    push = Push.constant("torso", (0.0, 600.0, 0.0), 0.05, 0.4)
    fallen = run(momentum_job(scene=Scene(pushes=(push,))))
    assert fallen.outcome in {"fell", "diverged"}
    assert fallen.report["upright_seconds"] < 0.5
    assert "600 N push" in fallen.why


def test_feet_stand_on_the_scenes_ground(result):
    high = run(momentum_job(scene=Scene(surfaces=(Plane(point=(0.0, 0.0, 0.2)),))))
    assert high.outcome == "completed"
    assert high.center_of_mass[:, 2].mean() - result.center_of_mass[:, 2].mean() == pytest.approx(0.2, abs=0.01)
    # it stands all the time
    with pytest.raises(ValueError, match="A foothold is for 'left_foot', which never steps"):
        run(momentum_job(scene=Scene(footholds=(Foothold("left_foot", (0.0, 0.0, 0.0)),))))


def test_what_it_does_not_promise_is_told():
    slippery = run(momentum_job(scene=Scene(friction=0.3)))
    assert any("The forces need a friction of 0.8, but the ground has 0.3" in note for note in slippery.report["notes"])
    with pytest.raises(ValueError, match="Momentum control does not support props"):
        run(momentum_job(scene=Scene(props=(Prop.sphere("ball", 0.1, 1.0, (3.0, 0.0, 0.1)),))))
    with pytest.raises(ValueError, match="no setting 'adaptation' of momentum control"):
        run(momentum_job(settings={"adaptation": 0.1}))


@pytest.mark.skipif(not GOOD, reason="the clips are not beside the checkout")
def test_a_captured_walk_is_pushed_and_loops():
    clip = read_bvh(next(path for path in GOOD if path.name.startswith("02_01")), CMU_UNIT)
    push = Push.constant("pelvis", (0.0, 100.0, 0.0), 1.0, 0.3)
    walk = run(BakeJob(clip, CMU_ROLES, method="momentum", scene=Scene(pushes=(push,))))
    assert walk.outcome == "completed"
    assert walk.report["max_foot_slide_m"] < 0.001
    assert any(note.startswith("It took 0.") for note in walk.report["notes"])
    assert walk.report["simulated_seconds"] != pytest.approx(2.85, abs=0.02)
    aside = Push.constant("pelvis", (90.0, 0.0, 0.0), 1.0, 0.3)
    for chosen, moved in (({}, True), ({"step_aside": False}, False)):
        pushed = run(BakeJob(clip, CMU_ROLES, method="momentum", settings=chosen, scene=Scene(pushes=(aside,))))
        assert any(note.startswith("Steps were moved by up to") for note in pushed.report["notes"]) == moved
        assert (pushed.outcome == "completed") == moved
    loop = run(BakeJob(clip, CMU_ROLES, method="momentum", loop=True, seconds=3.0))
    assert loop.outcome == "completed"
    assert loop.report["simulated_seconds"] == 3.0
    assert loop.report["max_foot_slide_m"] < 0.001
