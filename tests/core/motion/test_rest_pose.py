# SPDX-License-Identifier: GPL-3.0-or-later
"""Rest poses: kept where they are poses, found in the motion where they are none; and which way is up."""

from dataclasses import replace

import numpy as np
import pytest
from heft.core.motion import quaternions
from heft.core.motion.body_plan import make_body_plan, plausible_scale
from heft.core.motion.clip import LocalPoses, from_local, scaled_skeleton, to_local, turned
from heft.core.motion.prepare import prepare
from heft.core.motion.residuals import with_residuals
from heft.core.motion.rest_pose import find_rest_pose, moved_vertices
from heft.core.motion.upright import AXES, facing_of, stood_up, turn_of, up_of

from tests.core.motion.skeletons import (
    CMU_ROLES,
    cmu,
    dinosaur,
    dog,
    needs_clips,
    rooted,
    scrambled,
    skeleton,
    still,
    waving,
    wooden,
    wooden_roles,
)

BACK = np.array([0.0, 1.0, 0.0])


@pytest.fixture(scope="module")
def swaying():
    return waving(wooden(), size=0.1)


@pytest.mark.parametrize("some", [wooden, rooted])
def test_a_rest_pose_that_is_one_is_kept(some):
    assert find_rest_pose(waving(some(), size=0.1), wooden_roles()) is None


def test_an_animals_rest_pose_is_kept():
    some, roles = dog()
    assert find_rest_pose(waving(some, size=0.05), roles) is None


def test_a_dinosaurs_rest_pose_is_kept_where_it_was_made_for_a_mesh():
    """With its trunk level, which on two legs is otherwise taken for no pose at all."""
    some, roles = dinosaur()
    clip = waving(some, size=0.05)
    assert find_rest_pose(clip, roles, made=True) is None
    assert "unusable" in find_rest_pose(clip, roles).line


def test_a_dinosaur_on_two_legs_is_none_on_four():
    for (some, roles), four in ((dinosaur(), False), (dog(), True)):
        assert make_body_plan(some, roles, clip=waving(some, size=0.05)).quadruped is four


@pytest.mark.parametrize("seed", range(4))
def test_a_rest_pose_turned_at_random_is_found_in_the_motion(swaying, seed):
    clip = scrambled(swaying, seed)
    found = find_rest_pose(clip, wooden_roles())
    assert "unusable" in found.line
    away = found.skeleton.head - found.skeleton.head[0] - (swaying.skeleton.head - swaying.skeleton.head[0])
    assert np.linalg.norm(away, axis=1).max() < 0.35  # arms and head sway by a tenth of a radian a joint
    plain, other = prepare(swaying, wooden_roles()), prepare(clip, wooden_roles())
    assert other.plan.stature == pytest.approx(plain.plan.stature, rel=1e-6)
    assert other.plan.character.total_mass == pytest.approx(plain.plan.character.total_mass, rel=1e-6)
    there, here = (with_residuals(each.plan, each.trajectory, each.residuals) for each in (plain, other))
    assert np.abs(there.position[..., :2] - here.position[..., :2]).max() < 0.005
    assert np.degrees(quaternions.angle(there.orientation, here.orientation)).max() < 0.5


def raised(clip):
    """A clip whose rest pose stands on nothing, as those of captures: nobody posed it."""
    some = clip.skeleton
    return replace(clip, skeleton=replace(some, head=some.head - [0.0, 0.0, 1.0], tail=some.tail - [0.0, 0.0, 1.0]))


@pytest.mark.parametrize("seed", range(3))
def test_files_of_one_motion_make_one_character_whatever_their_rest_poses(swaying, seed):
    plain, other = (prepare(each, wooden_roles()) for each in (raised(swaying), scrambled(raised(swaying), seed)))
    ours, theirs = (each.plan.character for each in (plain, other))
    for body, again in zip(ours.bodies, theirs.bodies, strict=True):
        assert again.mass == pytest.approx(body.mass, rel=1e-9)
        assert again.center_of_mass == pytest.approx(body.center_of_mass, abs=1e-7)
        assert again.position == pytest.approx(body.position, abs=1e-7)
        assert np.array(again.inertia) == pytest.approx(np.array(body.inertia), abs=1e-7)
    assert other.trajectory.q == pytest.approx(plain.trajectory.q, abs=1e-6)
    assert plain.rest == ""
    assert "unusable" in other.rest


def test_a_rest_pose_that_was_made_for_a_mesh_is_kept_wherever_it_is(swaying):
    assert find_rest_pose(raised(swaying), wooden_roles(), made=True) is None
    assert find_rest_pose(raised(swaying), wooden_roles()).line == ""


def test_channels_that_move_joints_make_the_bones_as_long_as_they_mostly_are(swaying):
    """Offsets that are a tenth of the channels', and a stretch now and then."""
    local = to_local(swaying)
    some = swaying.skeleton
    inner = some.parent >= 0
    place = local.position.copy()
    place[30:40, inner] *= 1.3
    clip = from_local(replace(swaying, skeleton=scaled_skeleton(some, 0.1)), LocalPoses(place, local.orientation))
    found = find_rest_pose(clip, wooden_roles())
    assert "lengthened as in the motion" in found.line
    assert np.abs(found.skeleton.head - found.skeleton.head[0] - (some.head - some.head[0])).max() < 1e-6


def test_a_rest_pose_that_lies_is_stood_up(swaying):
    flat = turned(swaying, turn_of("-Y"))
    found = find_rest_pose(replace(swaying, skeleton=flat.skeleton), wooden_roles(), made=True)
    assert found.line == "rest pose: stood up"
    height = np.ptp(found.skeleton.head[:, 2])
    assert height == pytest.approx(np.ptp(swaying.skeleton.head[:, 2]), rel=0.02)


def test_vertices_go_with_their_bones(swaying):
    some = swaying.skeleton
    clip = scrambled(swaying, 3)
    found = find_rest_pose(clip, wooden_roles()).skeleton
    cloud = {"foot.L": clip.skeleton.head[[clip.skeleton.index("foot.L")]] + np.eye(3)}
    moved = moved_vertices(cloud, clip.skeleton, found)["foot.L"]
    back = quaternions.rotate(
        quaternions.conjugate(found.orientation[some.index("foot.L")]), moved - found.head[some.index("foot.L")]
    )
    before = quaternions.rotate(quaternions.conjugate(clip.skeleton.orientation[some.index("foot.L")]), np.eye(3))
    assert back == pytest.approx(before, abs=1e-9)


@pytest.mark.parametrize("axis", ["X", "-X", "Y", "-Y"])
def test_what_lies_all_along_is_stood_up(swaying, axis):
    lying = turned(swaying, quaternions.conjugate(turn_of(axis)))
    assert up_of(lying, wooden_roles()) == axis
    assert stood_up(lying, axis).position == pytest.approx(swaying.position, abs=1e-9)
    assert set(AXES) == {"Z", "X", "-X", "Y", "-Y"}


def test_what_lies_for_a_while_stays_as_it_is(swaying):
    lying = turned(swaying, quaternions.conjugate(turn_of("Y")))
    both = replace(
        swaying,
        position=np.concatenate([lying.position, swaying.position[:30]]),
        orientation=np.concatenate([lying.orientation, swaying.orientation[:30]]),
    )
    assert up_of(swaying, wooden_roles()) == "Z"
    assert up_of(both, wooden_roles()) == "Z"


@pytest.mark.parametrize(("angle", "axis"), [(0.0, "-Y"), (80.0, "X"), (200.0, "Y"), (-85.0, "-X")])
def test_facing_is_the_axis_nearest_to_where_the_figure_looks_at_first(swaying, angle, axis):
    spun = turned(swaying, quaternions.exp(np.array([0.0, 0.0, np.radians(angle)])))
    assert facing_of(spun, wooden_roles()) == axis


def lying(clip, seed=0):
    """One who lies on the back and stays there, wherever that is."""
    down = turned(clip, quaternions.conjugate(turn_of("Y")))
    still_there = np.repeat(down.position[:1], len(down.position), axis=0)
    low = still_there[..., 2].min()
    away = np.random.default_rng(seed).uniform(-3.0, 3.0, 3) * [1.0, 1.0, 0.0] - [0.0, 0.0, low]
    turns = np.repeat(down.orientation[:1], len(down.position), axis=0)
    return replace(down, position=still_there + away, orientation=turns)


@pytest.mark.parametrize("seed", range(4))
def test_one_who_lies_or_crawls_is_not_stood_up(swaying, seed):
    """Of a rest pose that tells nothing, too."""
    still_there = scrambled(lying(swaying, seed), seed)
    assert up_of(still_there, wooden_roles()) == "Z"
    crawl = np.arange(len(swaying.position))[:, None, None] / 60.0 * [0.0, -1.0, 0.0]
    moving = replace(still_there, position=still_there.position + crawl)
    assert up_of(moving, wooden_roles()) == "Z"


@needs_clips
@pytest.mark.parametrize("axis", ["-Y", "X"])
@pytest.mark.parametrize("name", ["02_01", "43_02", "22_12"])
def test_captures_read_with_another_axis_up_are_stood_up(name, axis):
    """Who hangs from a bar is told by a rest pose that lies as the motion does."""
    clip = cmu(name)
    assert up_of(clip, CMU_ROLES) == "Z"
    assert up_of(turned(clip, quaternions.conjugate(turn_of(axis))), CMU_ROLES) == axis


@needs_clips
@pytest.mark.parametrize("seed", range(3))
def test_who_walks_is_stood_up_whatever_the_rest_pose(seed):
    clip = scrambled(cmu("132_20"), seed)
    lying = replace(turned(clip, quaternions.conjugate(turn_of("-Y"))), skeleton=clip.skeleton)
    assert up_of(lying, CMU_ROLES) == "-Y"


def test_one_who_stands_on_another_makers_floor_is_stood_up(swaying):
    flat = turned(still(wooden(), 60), quaternions.conjugate(turn_of("-Y")))
    assert up_of(scrambled(flat, 2), wooden_roles()) == "-Y"


def test_a_bird_that_folds_its_legs_back_is_upright():
    """A trunk that is level at rest, and legs that go back in flight as far as they were down."""
    some = wooden()
    place = some.head.copy()
    legs = [some.index(f"{part}.{side}") for part in ("thigh", "shin", "foot", "toe") for side in "LR"]
    rest = np.ones(len(some.names), dtype=bool)
    rest[legs] = False
    level = np.array([[1.0, 0.0, 0.0], [0.0, 0.0, -1.0], [0.0, 1.0, 0.0]])
    hips = some.head[some.index("pelvis")]
    head, tail = (np.where(rest[:, None], (points - hips) @ level.T + hips, points) for points in (place, some.tail))
    bird = replace(some, head=head, tail=tail)
    back = quaternions.exp(np.array([-0.5 * np.pi, 0.0, 0.0]))
    clip = still(bird, 40)
    position = clip.position.copy()
    position[:, legs] = hips + quaternions.rotate(back, position[:, legs] - hips)
    position[..., 2] += 0.3 * np.sin(np.arange(40))[:, None]
    assert up_of(replace(clip, position=position), wooden_roles()) == "Z"


def test_a_dog_is_upright():
    some, roles = dog()
    assert up_of(still(some), roles) == "Z"


@pytest.mark.parametrize(
    ("unit", "scale"), [(1.0, 1.0), (0.01, 0.01), (0.001, 0.001), (0.0254, 0.0254), (0.056444, 0.056444)]
)
def test_units_are_told_by_the_legs(unit, scale):
    assert plausible_scale(still(scaled_skeleton(wooden(), 1.0 / unit)), wooden_roles()) == pytest.approx(scale)


def test_a_child_in_centimetres_stays_a_child():
    assert plausible_scale(still(scaled_skeleton(wooden(), 50.0)), wooden_roles()) == pytest.approx(0.01)


def test_an_odd_unit_makes_a_person():
    scale = plausible_scale(still(scaled_skeleton(wooden(), 25.0)), wooden_roles())
    assert 0.033 < scale < 0.044


def test_a_tail_on_two_legs_rides_with_the_pelvis(swaying):
    some = swaying.skeleton
    bones = [
        (name, some.names[parent] if parent >= 0 else None, head, tail)
        for name, parent, head, tail in zip(some.names, some.parent, some.head, some.tail, strict=True)
    ]
    hips = some.head[some.index("pelvis")]
    tailed = skeleton([*bones, ("tail", "pelvis", hips + 0.1 * BACK, hips + 0.6 * BACK)])
    plan = prepare(waving(tailed, size=0.1), wooden_roles() | {"tail": ("tail",)}).plan
    assert plan.body[tailed.index("tail")] == plan.body[tailed.index("pelvis")]


@needs_clips
@pytest.mark.parametrize("name", ["05_11", "22_14", "111_09", "120_08"])
def test_a_captured_clip_with_a_scrambled_rest_pose_is_fitted_the_same(name):
    clip = cmu(name)
    plain, other = prepare(clip, CMU_ROLES), prepare(scrambled(clip), CMU_ROLES)
    there, here = (with_residuals(each.plan, each.trajectory, each.residuals) for each in (plain, other))
    assert np.abs(there.position - here.position).max() < 0.005
    assert np.degrees(quaternions.angle(there.orientation, here.orientation)).max() < 0.5


def test_a_pose_out_of_a_motion_on_four_legs_leans_as_the_motion_does():
    """A dog that stalks with its legs slanting back by 25 degrees, in a file whose rest pose is none."""
    some, roles = dog()
    lean = quaternions.exp(np.radians(25.0) * np.array([0.0, 1.0, 0.0]))
    clip = still(some)
    for side in "LR":  # each leg turns as a whole
        for root in (f"thigh.{side}", f"arm.{side}"):
            bones = [some.index(root)]
            for bone, parent in enumerate(some.parent):
                if parent in bones:
                    bones.append(bone)
            pivot = some.head[bones[0]]
            clip.position[:, bones] = pivot + quaternions.rotate(lean, clip.position[:, bones] - pivot)
            clip.orientation[:, bones] = quaternions.multiply(lean, clip.orientation[:, bones])
    found = find_rest_pose(scrambled(clip), roles)
    assert found is not None
    np.testing.assert_allclose(found.skeleton.head, clip.position[0], atol=1e-9)
    assert make_body_plan(found.skeleton, roles).quadruped
