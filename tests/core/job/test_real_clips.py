# SPDX-License-Identifier: GPL-3.0-or-later
"""Captured motion baked from end to end, with defaults only, as an animator would have it."""

from dataclasses import replace

import numpy as np
import pytest
from heft.core.contact.terrain import Mesh, Plane
from heft.core.job import BakeJob, Scene, run
from heft.core.simulation import Grab, Push

from tests.core.motion.skeletons import CMU_ROLES, CMU_UNIT, DAMAGED, cmu, needs_clips, read_bvh, scrambled

pytestmark = needs_clips


@pytest.fixture(scope="module")
def walk():
    return BakeJob(cmu("02_01"), CMU_ROLES, name="walk")


@pytest.fixture(scope="module")
def cache(tmp_path_factory):
    return tmp_path_factory.mktemp("cache")


def stair(edge, height, *, down):
    """Two levels that meet at y = edge, the walk coming from +Y; the upper one at z = 0, or the lower one."""
    near, far = (0.0, -height) if down else (0.0, height)
    corners = [(x, y, z) for y, z in ((9.0, near), (edge, near), (edge, far), (-9.0, far)) for x in (-5.0, 5.0)]
    triangles = [(k, k + 1, k + 3) for k in (0, 2, 4)] + [(k, k + 3, k + 2) for k in (0, 2, 4)]
    return Mesh(np.array(corners), np.array(triangles), name="stair")


def test_a_walk_stays_up_near_its_clip_without_sliding(walk, cache):
    done = run(walk, cache=cache)
    report = done.report
    assert done.outcome == "completed"
    assert report["joint_rms_deg"] < 2.0
    assert report["root_rms_m"] < 0.05
    assert report["max_foot_slide_m"] < 0.005
    assert report["max_penetration_m"] < 0.002
    assert done.frames[0] == 2.0  # frame 1 is a pose inserted before the motion
    # every bone is near where it was captured, over a floor that is level at z = 0
    assert np.abs(done.poses[..., :3, 3] - walk.clip.position[1:]).max() < 0.12


def test_a_walk_repeats_for_ten_seconds(walk, cache):
    done = run(replace(walk, loop=True, seconds=10.0), cache=cache)
    assert done.outcome == "completed"
    assert len(done.frames) == 1201
    steps = np.linalg.norm(np.diff(done.poses[:, :, :3, 3], axis=0), axis=2)
    assert steps.max() < 0.08  # no bone jumps at a seam: the fastest toe goes at 5 m/s
    # root frames lie on a way of more than a metre a second
    assert np.linalg.norm(done.poses[-1, 0, :2, 3] - done.poses[0, 0, :2, 3]) > 9.0


def test_a_walk_with_a_rest_pose_that_is_none_bakes_the_same(walk, cache):
    """Asked: within 0.5 degrees and 5 mm."""
    plain, other = run(walk, cache=cache), run(replace(walk, clip=scrambled(walk.clip, 1)), cache=cache)
    assert other.outcome == "completed"
    carried = [plain.bones.index(name) for names in CMU_ROLES.values() for name in names]
    ours, theirs = plain.poses[:, carried], other.poses[:, carried]
    assert np.linalg.norm(ours[..., :3, 3] - theirs[..., :3, 3], axis=2).max() < 0.005
    turn = np.swapaxes(ours[..., :3, :3], 2, 3) @ theirs[..., :3, :3]
    assert np.degrees(np.arccos(np.clip((np.trace(turn, axis1=2, axis2=3) - 1.0) / 2.0, -1.0, 1.0))).max() < 0.5


def test_a_walk_in_place_bakes_as_the_walk_that_travels_less_the_way(walk, cache):
    clip = walk.clip.cut(1, len(walk.clip.position))
    hips = clip.position[:, 0, :2] - clip.position[0, 0, :2]
    still = clip.position.copy()
    still[..., :2] -= hips[:, None]
    travels = run(replace(walk, clip=clip), cache=cache)
    in_place = run(replace(walk, clip=replace(clip, position=still)), cache=cache)
    assert in_place.outcome == "completed"
    assert any(note.startswith("in place: moved along at 1.1") for note in in_place.report["notes"])
    less = travels.poses[..., :3, 3].copy()
    less[..., :2] -= hips[:, None]
    away = np.linalg.norm(in_place.poses[..., :3, 3] - less, axis=2)
    assert away.mean() < 0.01
    assert away.max() < 0.04  # of a toe that leaves the ground some frames sooner


def test_a_push_moves_a_walk_and_leaves_it_up(walk, cache):
    push = Push.constant("torso", (100.0, 0.0, 0.0), 1.0, 0.1)
    pushed = run(replace(walk, scene=Scene(pushes=(push,))), cache=cache)
    calm = run(walk, cache=cache)
    assert pushed.outcome == "completed"
    away = np.abs(pushed.center_of_mass - calm.center_of_mass)
    assert away[:120].max() < 1e-9
    # it walks along y: a quick step to the side brings it ahead by less than half a stride
    assert 0.005 < away[120:, [0, 2]].max() < 0.3
    assert away[120:, 1].max() < 0.6


def test_a_step_down_is_walked_down(walk, cache):
    level = run(walk, cache=cache)
    edge = float(level.center_of_mass[150, 1])
    done = run(replace(walk, scene=Scene(surfaces=(stair(edge, 0.03, down=True),)), ground="level"), cache=cache)
    assert done.outcome == "completed"
    feet = [done.bones.index(name) for name in ("LeftFoot", "RightFoot")]
    drop = (done.poses - level.poses)[-1, feet, 2, 3]
    assert drop.min() == pytest.approx(-0.03, abs=0.012)


def flight(edge, rise, going, steps=12):
    """Stairs that the walk, coming from +Y, meets at y = edge."""
    profile = [(9.0, 0.0)]
    for k in range(steps):
        profile += [(edge - going * k, rise * (k + top)) for top in (0, 1)]
    profile.append((edge - 30.0, rise * steps))
    corners = [(x, y, z) for y, z in profile for x in (-5.0, 5.0)]
    triangles = [t for k in range(0, len(corners) - 2, 2) for t in ((k, k + 1, k + 3), (k, k + 3, k + 2))]
    return Mesh(np.array(corners), np.array(triangles), name="flight")


@pytest.mark.parametrize("loop", [False, True])
@pytest.mark.parametrize("rise", [-0.12, 0.17])
def test_stairs_under_a_level_walk_are_walked(walk, cache, rise, loop):
    edge = float(walk.clip.position[120, 0, 1])
    stairs = flight(edge, rise, 0.29)
    done = run(replace(walk, scene=Scene(surfaces=(stairs,)), loop=loop, seconds=6.0 if loop else None), cache=cache)
    report = done.report
    assert done.outcome == "completed"
    assert report["joint_rms_deg"] < 1.0
    assert report["root_rms_m"] < 0.02
    assert report["max_foot_slide_m"] < 0.01
    climbed = done.center_of_mass[-1, 2] - done.center_of_mass[0, 2]
    first, last = np.clip(np.ceil((edge - done.center_of_mass[[0, -1], 1]) / 0.29), 0, 12)
    assert abs(climbed) > 2.0 * abs(rise)
    # the body is over the foremost foot's tread before it is as high
    assert climbed == pytest.approx(rise * (last - first), abs=1.2 * abs(rise))
    steps = np.linalg.norm(np.diff(done.poses[:, :, :3, 3], axis=0), axis=2)
    assert steps.max() < 0.08  # no bone jumps where laps meet


def test_where_a_walk_cannot_be_put_it_goes_on_as_on_level_ground(walk, cache):
    """A cliff: the reference stays level, and the report says why."""
    cliff = Mesh(
        np.array([(-5.0, 9.0, 0.0), (5.0, 9.0, 0.0), (5.0, -1.0, 0.0), (-5.0, -1.0, 0.0)]),
        np.array([(0, 2, 1), (0, 3, 2)]),
    )
    done = run(replace(walk, scene=Scene(surfaces=(cliff,)), settings={"rehearsals": 0}), cache=cache)
    assert any(
        "could not be adapted to the scene's ground: There is no ground under" in note for note in done.report["notes"]
    )


def test_ground_under_a_level_walk_is_not_what_it_was_made_for(walk, cache):
    plain, given = run(walk, cache=cache), run(replace(walk, scene=Scene(surfaces=(Plane(),))), cache=cache)
    assert given == plain


def test_a_fall_is_told_with_its_frame_and_cause(walk, cache):
    push = Push.constant("torso", (600.0, 0.0, 0.0), 1.0, 0.2)
    done = run(replace(walk, scene=Scene(pushes=(push,))), cache=cache)
    assert done.outcome == "fell"
    assert done.fall is not None
    assert 122.0 < done.fall.frame < 344.0
    assert "600 N push on 'Spine1'" in done.why


def test_a_lost_frame_is_repaired_and_told_of():
    clip = read_bvh(next(DAMAGED.glob("07_12*.bvh")), CMU_UNIT)
    done = run(BakeJob(clip, CMU_ROLES))
    assert done.outcome == "completed"
    assert any(note.startswith("frame 1:") for note in done.report["notes"])
    assert len(done.report["notes"]) > 3


def test_feet_that_turn_over_are_mended_and_told_of():
    clip = read_bvh(next(DAMAGED.glob("138_05*.bvh")), CMU_UNIT)
    done = run(BakeJob(clip, CMU_ROLES))
    assert done.outcome == "completed"
    assert any("bone 'LeftFoot' was flipped, turned back, by up to 180°" in note for note in done.report["notes"])


def test_hanging_by_the_hands_is_no_fall(cache):
    grabs = (Grab("left_hand"), Grab("right_hand"))
    done = run(
        BakeJob(cmu("43_02"), CMU_ROLES, scene=Scene(grabs=grabs), frame_start=200.0, frame_end=400.0), cache=cache
    )
    assert done.outcome == "completed"
    hands = [done.bones.index(name) for name in ("LeftHand", "RightHand")]
    places = done.poses[:, hands][..., :3, 3]
    assert np.abs(places - places[0]).max() < 0.05
