# SPDX-License-Identifier: GPL-3.0-or-later
"""Bakes of what cannot be: help carries it, is followed in the simulation, and told."""

from dataclasses import replace

import numpy as np
import pytest
from heft.core.contact.terrain import Mesh, Plane
from heft.core.control.lookahead import LookAhead, Settings, Track
from heft.core.control.lookahead.carried import Carried
from heft.core.job import BakeJob, Scene, precompute, run
from heft.core.motion.fit import Trajectory
from heft.core.motion.make_reference import make_reference
from heft.core.motion.spacetime.help import WORTH_A_WORD
from heft.core.report import metrics
from heft.core.simulation import Push, World

from tests.core.contact.meshes import box
from tests.core.job import golden
from tests.core.job.jobs import hovering_job, waving_clip
from tests.core.motion.skeletons import CMU_ROLES, cmu, needs_clips, wooden_roles
from tests.core.motion.spacetime import motions


@pytest.fixture(scope="module")
def job():
    return hovering_job()


@pytest.fixture(scope="module", params=["as_needed", "as_keyed"])
def done(request, job):
    return run(replace(job, help=request.param))


def test_a_body_that_hovers_is_carried_as_it_is_keyed(done, job):
    report = done.report
    assert done.outcome == "completed"
    assert report["source_error_mm"] < 30.0
    assert report["joint_rms_deg"] < 1.0
    assert report["root_max_m"] < 0.02
    hovering = (done.frames > 10.0 + 30.0 * 0.75) & (done.frames < 10.0 + 30.0 * 1.25)
    np.testing.assert_allclose(done.curves["help_share"][hovering], 1.0, atol=0.15)
    upwards, turning = (done.curves[name][hovering] for name in ("help_z_n", "help_moment_nm"))
    weight = 9.81 * precompute(job).plan.character.total_mass
    assert upwards.mean() == pytest.approx(weight, rel=0.1)
    assert (turning >= 0.0).all()
    assert report["help_max"] >= 1.0
    assert 0.4 < report["help_mean"] < 0.9
    assert hovering.sum() < report["help_frames"]
    assert "% of its weight from nowhere in frames" in done.why


def test_without_help_it_is_refused_as_before(job):
    with pytest.raises(ValueError, match="Nothing holds the body up in frames"):
        run(replace(job, help="none"))


def test_only_methods_that_help_keep_a_motion_as_keyed(job):
    with pytest.raises(ValueError, match="cannot be helped"):
        run(replace(job, help="as_keyed", method="replanning"))


def test_what_can_be_takes_no_help():
    report = run(BakeJob(waving_clip(0.5), wooden_roles())).report
    assert report["help_mean"] == report["help_max"] == report["help_frames"] == 0
    assert report["supports"] == []


@needs_clips
@pytest.mark.parametrize("times", [1.0, 2.0])
def test_who_plays_too_fast_for_gravity_is_told_by_how_much(times):
    """A jump on the spot, as captured and at twice the pace."""
    clip = cmu("16_01__vertical_jump.bvh").cut(1, 10**6)
    report = run(BakeJob(replace(clip, rate=times * clip.rate), CMU_ROLES)).report
    assert (report["help_mean"] > WORTH_A_WORD) == (times > 1.0)
    assert report["too_fast"] is None if times == 1.0 else 1.6 <= report["too_fast"] <= 2.5
    assert ("times too fast for gravity: slow it down." in report["why"]) == (times > 1.0)


def test_who_is_about_to_fall_is_carried_back_to_its_motion():
    motion = motions.squat(120, 0.0)
    reference = make_reference(motion.character, Trajectory(motions.RATE, motion.q, motion.v)).reference
    track = Track.of(reference)
    push = Push.constant("torso", (350.0, 0.0, 0.0), 0.1, 0.2)
    heights = []
    for kind in (LookAhead, lambda *given: Carried(LookAhead(*given))):
        controller = kind(motion.character, track, Settings(rehearsals=0))
        world = World(motion.character, rate=reference.rate, pushes=(push,))
        world.reset(*controller.reference_state())
        for _ in range(240):
            world.step(controller)
        heights.append(world.q[2] - motion.q[-1, 2])
    assert heights[0] < -0.2
    assert abs(heights[1]) < 0.02
    assert 0.2 < controller.since < 1.5
    np.testing.assert_allclose(world.q[:2], controller.reference_state()[0][:2], atol=0.05)


def test_who_holds_itself_is_not_carried():
    motion = motions.squat(120, 0.0)
    reference = make_reference(motion.character, Trajectory(motions.RATE, motion.q, motion.v)).reference
    ends = []
    for kind in (LookAhead, lambda *given: Carried(LookAhead(*given))):
        controller = kind(motion.character, Track.of(reference), Settings(rehearsals=0))
        world = World(motion.character, rate=reference.rate)
        world.reset(*controller.reference_state())
        for _ in range(60):
            world.step(controller)
        ends.append(world.q)
    assert controller.since is None
    np.testing.assert_array_equal(*ends)


class Watched:
    """A controller of a free root, and the greatest force that it gave there."""

    def __init__(self, controller):
        self.controller, self.most = controller, 0.0

    def law(self, state, contacts):
        law = self.controller.law(state, contacts)
        if len(law.torque) == len(state.v):
            self.most = max(self.most, float(np.linalg.norm(law.torque[:3])))
        return law


def test_a_hand_on_the_root_gives_nothing_on_the_motion_and_little_beside_it():
    """Blown at by a twelfth of its weight, who is guided stays near its path for less force than the wind's."""
    motion = motions.squat(120, 0.0)
    reference = make_reference(motion.character, Trajectory(motions.RATE, motion.q, motion.v)).reference
    track, ways, forces = Track.of(reference), [], []
    for wind, used in ((60.0, track), (60.0, track.guided()), (0.0, track.guided())):
        controller = LookAhead(motion.character, used, Settings(rehearsals=0, location=1.0, help=1.0))
        watched = Watched(controller)
        push = Push.constant("torso", (wind, 0.0, 0.0), 0.1, 0.8)
        world = World(motion.character, rate=reference.rate, pushes=(push,))
        world.reset(*controller.reference_state())
        way = 0.0
        for _ in range(120):
            world.step(watched)
            way = max(way, float(np.linalg.norm(world.q[:3] - controller.reference_state()[0][:3])))
        ways.append(way)
        forces.append(watched.most)
    assert ways[1] < 0.3 * ways[0]
    assert forces[0] == 0.0
    assert 0.0 < forces[1] < 60.0
    assert forces[2] < 1.0


def test_a_dear_hand_on_the_root_leaves_more_to_the_feet():
    """Against the same wind it gives a fraction of what a cheap one gives, and yet holds."""
    motion = motions.squat(120, 0.0)
    reference = make_reference(motion.character, Trajectory(motions.RATE, motion.q, motion.v)).reference
    track, forces = Track.of(reference).guided(), []
    for dear in (1.0, 1000.0):
        settings = Settings(rehearsals=0, location=1.0, help=dear)
        watched = Watched(LookAhead(motion.character, track, settings))
        push = Push.constant("torso", (60.0, 0.0, 0.0), 0.1, 0.8)
        world = World(motion.character, rate=reference.rate, pushes=(push,))
        world.reset(*watched.controller.reference_state())
        for _ in range(120):
            world.step(watched)
        assert abs(world.q[2] - motion.q[-1, 2]) < 0.02
        forces.append(watched.most)
    assert 0.0 < forces[1] < 0.2 * forces[0]


def test_help_is_measured_as_a_share_of_the_weight():
    motion = motions.squat(120, 0.0)
    weight = motion.character.total_mass * 9.81

    class Helped:
        character, help = motion.character, np.array([[0.0, 0.3 * weight, 0.4 * weight, 0.0, 0.0, 0.1 * weight]])

    np.testing.assert_allclose(metrics.help_shares(Helped()), [0.5])


def test_who_is_helped_against_a_wall_is_told_of_the_wall():
    job = golden.kept("walk")
    c, s = np.cos(golden.heading()), np.sin(golden.heading())
    corners, triangles = box((1.2, -2.0, -0.1), (1.6, 2.0, 0.69))
    corners = corners @ np.array([[c, s, 0.0], [-s, c, 0.0], [0.0, 0.0, 1.0]])
    corners[:, :2] += job.clip.position[0, 0, :2]
    wall = Mesh(corners, triangles, name="Wall")
    done = run(replace(job, scene=Scene(surfaces=(Plane(), wall)), help="as_needed", seconds=3.0))
    assert not done.report["good"]
    assert "hit 'Wall' at frame" in done.why
    assert "missing" not in done.why
    assert done.why.endswith("against what it hit.")


def test_who_is_helped_over_ice_is_told_of_the_ice():
    job = golden.kept("walk")
    done = run(replace(job, scene=Scene(friction=0.02), help="as_needed", seconds=2.0))
    assert done.report["help_max"] > WORTH_A_WORD
    assert done.why.endswith("because the ground is slippery: raise its friction.")


@needs_clips
def test_cmu_step_down_is_walked_on_ground_that_its_feet_tell_of():
    job = BakeJob(cmu("83_10"), CMU_ROLES)
    done = run(job)
    assert done.outcome == "completed"
    assert done.report["help_max"] == 0.0
    assert done.report["source_error_mm"] < 30.0
    assert any("14 cm off the floor" in note for note in done.report["notes"])
    with pytest.raises(ValueError, match="Nothing holds the body up"):
        run(replace(job, help="none"))
