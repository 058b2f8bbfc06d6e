# SPDX-License-Identifier: GPL-3.0-or-later
"""What came first: in recordings that are made up, and in falls that are brought about on purpose."""

from dataclasses import replace

import numpy as np
import pytest
from heft.core.contact.terrain import Mesh, Plane, make_terrain
from heft.core.control.lookahead import LookAhead, Settings, Track
from heft.core.control.lookahead.method import METHOD, Plan
from heft.core.control.loop import act
from heft.core.control.stage import Stage
from heft.core.job import Scene
from heft.core.motion.fit import Trajectory
from heft.core.motion.spacetime import Ends, build_reference
from heft.core.report.explanation import explain
from heft.core.report.failure import first_trouble, planned_stances
from heft.core.report.metrics import measure
from heft.core.sentences import join
from heft.core.simulation import Push

from tests.core.contact.meshes import box
from tests.core.motion.spacetime import motions

SECONDS = 4.0


@pytest.fixture(scope="module")
def walk():
    motion = motions.walk()
    return build_reference(
        motion.character,
        Trajectory(motion.rate, motion.q, motion.v),
        motion.schedule,
        bounds=Ends(cycle=motion.cycle),
    )


def walk_over(walk, *surfaces, scene=None, settings=None):
    character = walk.character
    stage = Stage(character, make_terrain(surfaces), scene or Scene(), walk.rate, SECONDS, 0.0)
    return act(METHOD, Plan(LookAhead(character, Track.of(walk), settings), walk), stage, lambda *_: True)


def test_a_walk_that_stays_up_has_no_trouble(walk):
    assert first_trouble(walk_over(walk, Plane()), walk) is None


def test_a_ledge_is_met_early_or_scuffed(walk):
    ledge = Mesh(*box((1.0, -2.0, -0.1), (3.0, 2.0, 0.06)))
    simulation = walk_over(walk, Plane(), ledge, settings=Settings(follow_ground=False))
    assert simulation.lost is not None
    trouble = first_trouble(simulation, walk)
    assert trouble.kind in {"early", "scuffed"}
    assert trouble.what in {"left_foot", "right_foot"}
    assert 0.3 < simulation.recording.q[trouble.step, 0] < 1.2  # a foot reaches up to 0.6 m ahead of the root
    sentence = join(explain(simulation, measure(simulation), (), lambda seconds: 120.0 * seconds, (), trouble))
    assert f"'{trouble.what}' " in sentence
    assert f"at frame {trouble.step}: " in sentence


def test_a_wall_is_named_and_so_is_the_bone_that_hit_it(walk):
    wall = Mesh(*box((1.0, -2.0, -0.1), (1.4, 2.0, 0.69)), name="Wall")
    simulation = walk_over(walk, Plane(), wall)
    assert simulation.lost is not None
    trouble = first_trouble(simulation, walk, ("", "Wall"))
    assert (trouble.kind, trouble.thing) == ("hit", "Wall")
    sentence = str(trouble.sentence(lambda seconds: 120.0 * seconds, 120.0, {trouble.what: "DEF-shin.L"}))
    assert sentence.startswith(f"'DEF-shin.L' hit 'Wall' at frame {trouble.step}: ")
    assert first_trouble(walk_over(walk, Plane(friction=0.02)), walk, ("Floor",)).kind == "slid"


def test_after_a_push_that_is_to_blame_nothing_else_is(walk):
    simulation = replace(walk_over(walk, Plane()), lost=200)
    push = Push.constant("torso", (600.0, 0.0, 0.0), 1.5, 0.1)
    skipped = simulation.followed.frame.copy()
    skipped[191:] = (skipped[191:] + 7) % walk.steps
    simulation = replace(simulation, followed=replace(simulation.followed, frame=skipped))
    trouble = first_trouble(simulation, walk)
    told_of = explain(
        simulation, measure(simulation), (push,), lambda seconds: seconds, (), trouble, {"torso": "spine"}
    )
    assert len(told_of) == 1
    assert "600 N push on 'spine'" in join(told_of)


def test_a_pit_is_met_late(walk):
    simulation = walk_over(walk, Mesh(*box((-1.0, -2.0, -1.0), (0.75, 2.0, 0.0))))
    trouble = first_trouble(simulation, walk)
    assert trouble.kind == "late"
    sentence = str(trouble.sentence(lambda seconds: 120.0 * seconds, 120.0))
    assert "as high" in sentence


def stance_of_the_left_foot(walk, simulation):
    """The left foot, and the steps at which its second stance begins and ends."""
    body = walk.character.index("left_foot")
    stands = planned_stances(walk, body)[simulation.followed.frame]
    begins = np.flatnonzero(stands[1:] & ~stands[:-1]) + 1
    ends = np.flatnonzero(~stands[1:] & stands[:-1]) + 1
    return body, int(begins[1]), int(ends[ends > begins[1]][0])


def lost_without_weight(simulation, body, weightless, lost):
    """The simulation as if a foot had borne no weight in some steps, and the character had been lost at one."""
    wrench = simulation.recording.wrench.copy()
    wrench[weightless, body] = 0.0
    return replace(simulation, lost=lost, recording=replace(simulation.recording, wrench=wrench))


def test_a_foot_that_lands_late_is_said_to_be_as_late_as_it_landed(walk):
    simulation = walk_over(walk, Plane())
    body, begin, _ = stance_of_the_left_foot(walk, simulation)
    late = lost_without_weight(simulation, body, slice(begin - 1, begin + 10), begin + 16)
    assert str(first_trouble(late, walk).sentence(lambda seconds: 120.0 * seconds, 120.0)).startswith(
        f"'left_foot' landed 83 ms late at frame {begin + 10}: "
    )
    never = lost_without_weight(simulation, body, slice(begin - 1, begin + 16), begin + 16)
    assert str(first_trouble(never, walk).sentence(lambda seconds: 120.0 * seconds, 120.0)).startswith(
        f"'left_foot' should have landed at frame {begin} and never did: "
    )


def test_a_foot_that_lifts_off_in_its_stance_is_not_said_to_land_late(walk):
    simulation = walk_over(walk, Plane())
    body, begin, end = stance_of_the_left_foot(walk, simulation)
    middle = (begin + end) // 2
    lifted = lost_without_weight(simulation, body, slice(middle, None), middle + 12)
    assert str(first_trouble(lifted, walk).sentence(lambda seconds: 120.0 * seconds, 120.0)).startswith(
        f"'left_foot' was off the ground at frame {middle}, where it should stand: "
    )


def test_a_foot_that_stands_from_the_first_frame_is_never_late(walk):
    simulation = walk_over(walk, Plane())
    frames = np.full_like(simulation.followed.frame, walk_frame_with_both_feet_down(walk))
    still = replace(simulation, followed=replace(simulation.followed, frame=frames))
    floating = lost_without_weight(still, walk.character.index("left_foot"), slice(None), 20)
    trouble = first_trouble(floating, walk)
    assert (trouble.kind, trouble.what, trouble.amount, trouble.at) == ("lifted", "left_foot", 0.0, 0)


def walk_frame_with_both_feet_down(walk):
    feet = [planned_stances(walk, walk.character.index(name)) for name in ("left_foot", "right_foot")]
    return int(np.flatnonzero(feet[0] & feet[1])[2])


def test_ice_makes_feet_slide(walk):
    simulation = walk_over(walk, Plane(friction=0.02))
    assert first_trouble(simulation, walk).kind == "slid"


def test_stances_follow_the_reference(walk):
    left = planned_stances(walk, walk.character.index("left_foot"))
    assert 0.5 < left.mean() < 0.75
    assert not planned_stances(walk, walk.character.index("torso")).any()


def test_a_step_that_fails_is_told(walk):
    simulation = walk_over(walk, Plane())
    reason = "no contact forces satisfy the contact problem of 40 unknowns (RAY)."
    broken = replace(simulation, recording=replace(simulation.recording, outcome="diverged", reason=reason))
    assert first_trouble(broken, walk).kind == "contact problem"


def test_a_phase_that_is_reset_is_told(walk):
    simulation = walk_over(walk, Plane())
    frame = simulation.followed.frame.copy()
    frame[191:] = (frame[191:] + 7) % walk.steps
    skipped = replace(simulation, lost=200, followed=replace(simulation.followed, frame=frame))
    trouble = first_trouble(skipped, walk)
    assert (trouble.kind, trouble.step, trouble.amount) == ("phase", 190, 7.0)
    assert str(trouble.sentence(lambda seconds: 120.0 * seconds, 120.0)) == "The motion skipped 7 frames at frame 190."
