# SPDX-License-Identifier: GPL-3.0-or-later
"""Characters of skeletons: a mannequin and a dog with known measures, and refusals."""

import dataclasses

import numpy as np
import pytest
from heft.core import dynamics
from heft.core.character import Capsule, Cone, Corner
from heft.core.character.anthropometry import segment_inertia
from heft.core.motion import quaternions, roles
from heft.core.motion.body_plan import make_body_plan, plausible_scale
from heft.core.motion.clip import LocalPoses, Skeleton, from_local
from heft.core.motion.fit import body_poses
from heft.core.motion.landmarks import heading_of

from tests.core.motion.skeletons import dog, skeleton, still, waving, wooden, wooden_roles


@pytest.fixture(scope="module")
def simple():
    return make_body_plan(wooden(), wooden_roles())


@pytest.fixture(scope="module")
def full():
    return make_body_plan(wooden(), wooden_roles(), detail="full")


def body(plan, name):
    return plan.character.bodies[plan.character.index(name)]


def striding(hips=1.0):
    """The mannequin with its left foot ahead and its right one behind; its hips this much as wide as they were."""
    rest, roles = wooden(), wooden_roles()
    ahead = {"thigh": 0.0, "shin": 0.15, "foot": 0.3, "toe": 0.3}
    head, tail = rest.head.copy(), rest.tail.copy()
    for i, name in enumerate(rest.names):
        part, _, side = name.partition(".")
        if part in ahead:
            shift = np.array([0.0, -ahead[part] if side == "L" else ahead[part], 0.0])
            head[i], tail[i] = head[i] + shift, tail[i] + shift
    thighs = [rest.names.index(f"thigh.{side}") for side in "LR"]
    head[thighs, 0] *= hips
    return dataclasses.replace(rest, head=head, tail=tail), roles


@pytest.mark.parametrize("hips", [1.0, 0.5])
def test_who_strides_at_rest_faces_where_hips_and_shoulders_do(hips):
    rest, chosen = striding(hips)
    heading = heading_of(rest, roles.checked(chosen, rest))
    np.testing.assert_allclose(quaternions.rotate(heading, np.array([1.0, 0.0, 0.0])), [0.0, -1.0, 0.0], atol=1e-9)


def test_who_has_hips_in_one_place_and_no_arms_faces_by_its_feet():
    rest, chosen = striding(hips=0.0)
    straight = dataclasses.replace(rest, head=np.where(np.arange(3) == 1, 0.0, rest.head))
    legs = {role: chain for role, chain in chosen.items() if "arm" not in role and "hand" not in role}
    heading = heading_of(straight, roles.checked(legs, straight))
    np.testing.assert_allclose(quaternions.rotate(heading, np.array([1.0, 0.0, 0.0])), [0.0, -1.0, 0.0], atol=1e-9)


def test_a_mannequin_of_1_75_m_has_31_or_45_degrees_of_freedom_and_23_times_its_stature_squared(simple, full):
    assert simple.character.nv == 31
    assert full.character.nv == 45
    for plan in (simple, full):
        assert plan.stature == pytest.approx(1.75, rel=0.01)
        assert plan.character.total_mass == pytest.approx(23.0 * plan.stature**2, rel=1e-12)
        assert not plan.quadruped


def test_de_leva_table_4_thigh_of_the_mannequin(simple):
    thigh = body(simple, "left_thigh")
    length = 1.75 * np.hypot(0.530 - 0.285, 0.006)
    wanted = segment_inertia("thigh", length, simple.character.total_mass, "male")
    assert thigh.mass == pytest.approx(wanted.mass, rel=1e-3)
    assert np.linalg.norm(thigh.center_of_mass) == pytest.approx(wanted.center, rel=1e-6)
    assert np.linalg.eigvalsh(thigh.inertia)[0] == pytest.approx(wanted.longitudinal, rel=1e-3)


def test_the_neutral_pose_is_the_rest_pose_with_its_soles_on_the_ground(simple, full):
    for plan in (simple, full):
        place, turn = body_poses(plan.character, plan.character.neutral()[None])
        targets = plan.body_targets(still(wooden(), 1))
        assert place[0] == pytest.approx(targets[0][0], abs=1e-9)
        assert np.degrees(quaternions.angle(turn, targets[1])).max() < 1e-5
        corners = [shape for shape in plan.character.contacts if isinstance(shape, Corner)]
        assert len(corners) == 8
        for corner in corners:
            index = plan.character.index(corner.body)
            world = place[0, index] + quaternions.rotate(turn[0, index], np.array(corner.position))
            assert world[2] == pytest.approx(0.0, abs=1e-9)
            # the mannequin faces -Y: heels behind, toes in front of the ankle, left feet at +X
            assert (world[1] - place[0, index, 1] > 0.0) == ("heel" in corner.name)
            assert (world[0] > 0.0) == corner.name.startswith("left")


def test_knees_and_elbows_bend_the_way_of_the_presets(simple):
    """Positive angles bend knees backwards, negative ones elbows forwards; straight limbs are at the tables' ends."""
    for side in ("left", "right"):
        for name, point, sign, forwards in (("shank", "foot", 1.0, False), ("forearm", "hand", -1.0, True)):
            character = simple.character
            q = character.neutral()
            index = character.index(f"{side}_{name}")
            before = body_poses(character, q[None])[0][0, character.index(f"{side}_{point}")]
            q[character.tree.position_start[index]] = sign * 0.5
            after = body_poses(character, q[None])[0][0, character.index(f"{side}_{point}")]
            assert (after[1] - before[1] < -0.05) == forwards
            (limit,) = character.bodies[index].joint.limits
            assert max(limit.upper, -limit.lower) == pytest.approx(np.radians(150.0), abs=np.radians(10.0))
            assert limit.lower <= 0.0 <= limit.upper


def test_the_sides_are_mirror_images(simple, full):
    for plan in (simple, full):
        for left in plan.character.bodies:
            if left.name.startswith("left"):
                right = body(plan, left.name.replace("left", "right"))
                assert left.mass == pytest.approx(right.mass, rel=1e-9)
                assert np.multiply(left.center_of_mass, [1, -1, 1]) == pytest.approx(right.center_of_mass, abs=1e-9)
                assert np.multiply(left.position, [1, -1, 1]) == pytest.approx(right.position, abs=1e-9)


def test_limits_contain_the_rest_pose(full):
    for joint in full.character.joints:
        if isinstance(joint.limits, Cone):
            assert np.degrees(np.arccos(np.clip(np.dot(joint.limits.axis, joint.limits.center), -1, 1))) <= np.degrees(
                joint.limits.swing
            )
        for limit in joint.limits if isinstance(joint.limits, tuple) else ():
            assert limit.lower <= 1e-9
            assert limit.upper >= -1e-9


def test_a_motion_of_hinges_makes_hinges_about_its_own_axes():
    """The wave turns every joint about all axes, so knees and elbows become balls; held still they are hinges."""
    some = wooden()
    loose = make_body_plan(some, wooden_roles(), clip=waving(some))
    assert body(loose, "left_shank").joint.kind == "ball"
    held = make_body_plan(some, wooden_roles(), clip=still(some))
    assert body(held, "left_shank").joint.kind == "hinge"
    assert body(held, "left_foot").joint.kind == "ball"


def test_a_knee_that_hardly_moves_tells_its_axis_where_it_is_sure_of_it():
    """Three degrees about an axis 20 degrees off a knee's usual one; and as much twist, which is no knee's axis."""
    some = wooden()
    knee = some.index("shin.L")
    angle = np.radians(3.0) * np.sin(np.linspace(0.0, 6.0, 60))[:, None]
    plan = make_body_plan(some, wooden_roles())
    usual = np.array(body(plan, "left_shank").joint.axes[0])
    frame = plan.frame[plan.character.index("left_shank")]
    leaning = quaternions.rotate(quaternions.exp(np.array([0.0, 0.0, np.radians(20.0)])), usual)
    for axis, found in ((leaning, leaning), (np.array([0.0, 0.0, 1.0]), usual)):
        local = np.tile(some.parent_orientation, (60, 1, 1))
        to_bone = quaternions.multiply(quaternions.conjugate(some.orientation[knee]), frame)
        turned = quaternions.exp(angle * quaternions.rotate(to_bone, axis))
        local[:, knee] = quaternions.multiply(local[:, knee], turned)
        clip = from_local(still(some, 60), LocalPoses(np.tile(some.parent_offset, (60, 1, 1)), local))
        joint = body(make_body_plan(some, wooden_roles(), clip=clip), "left_shank").joint
        assert joint.kind == "hinge"
        assert abs(np.array(joint.axes[0]) @ found) == pytest.approx(1.0, abs=1e-3)


def test_kinds_of_joints_and_the_mass_can_be_chosen():
    plan = make_body_plan(
        wooden(), wooden_roles(), joints={"left_knee": "ball", "neck": "universal"}, total_mass=50.0, sex="female"
    )
    assert body(plan, "left_shank").joint.kind == "ball"
    assert body(plan, "head").joint.kind == "universal"
    assert plan.character.total_mass == pytest.approx(50.0)
    with pytest.raises(ValueError, match="no joint 'left_wing'"):
        make_body_plan(wooden(), wooden_roles(), joints={"left_wing": "ball"})
    with pytest.raises(ValueError, match="mass must be positive"):
        make_body_plan(wooden(), wooden_roles(), total_mass=-1.0)


def test_soles_come_from_the_mesh_where_there_is_one():
    some = wooden()
    ankle = some.head[some.index("foot.L")]
    x, y = np.meshgrid(np.linspace(-0.05, 0.04, 20), np.linspace(-0.20, 0.08, 40))
    block = np.concatenate([np.column_stack([x.ravel(), y.ravel(), np.full(x.size, z)]) for z in (0.0, 0.05)])
    plan = make_body_plan(some, wooden_roles(), vertices={"foot.L": block + np.array([ankle[0], ankle[1], 0.0])})
    corners = np.array(
        [
            shape.position
            for shape in plan.character.contacts
            if shape.name.startswith("left_") and isinstance(shape, Corner)
        ]
    )
    assert corners[:, 2] == pytest.approx(-ankle[2], abs=1e-6)
    assert corners[:, 0].max() == pytest.approx(0.20, abs=0.01)
    assert corners[:, 0].min() == pytest.approx(-0.08, abs=0.01)
    assert np.ptp(corners[:, 1]) == pytest.approx(0.09, abs=0.01)


def test_a_dog_stands_on_four_paws():
    some, roles = dog()
    for detail in ("simple", "full"):
        plan = make_body_plan(some, roles, detail=detail)
        assert plan.quadruped
        assert 15.0 < plan.character.total_mass < 30.0
        masses = {one.name: one.mass / plan.character.total_mass for one in plan.character.bodies}
        # Kubo et al. 1992: thighs of 13.8 and upper arms of 9.2 hundredths, both sides together
        assert masses["left_thigh"] == pytest.approx(0.069, rel=0.01)
        assert masses["right_arm"] == pytest.approx(0.046, rel=0.03)
        corners = [shape for shape in plan.character.contacts if isinstance(shape, Corner)]
        assert {corner.body for corner in corners} == {"left_hand", "right_hand", "left_foot", "right_foot"}
        place, turn = body_poses(plan.character, plan.character.neutral()[None])
        world = np.array(
            [
                place[0, i] + quaternions.rotate(turn[0, i], np.array(corner.position))
                for corner in corners
                for i in [plan.character.index(corner.body)]
            ]
        )
        assert np.abs(world[:, 2]).max() < 0.02
        middle = dynamics.center_of_mass(plan.character, plan.character.neutral())
        assert world[:, 0].min() < middle[0] < world[:, 0].max()


def test_bones_without_a_role_ride_on_their_nearest_ancestor_and_loose_ones_on_nothing():
    bones = [
        (bone, None if p < 0 else wooden().names[p], h, t)
        for bone, p, h, t in zip(wooden().names, wooden().parent, wooden().head, wooden().tail, strict=True)
    ]
    bones += [("finger", "hand.L", (1, 0, 1), (1.1, 0, 1)), ("target", None, (0, 0, 0), (0, 1, 0))]
    some = skeleton(bones)
    plan = make_body_plan(some, wooden_roles())
    assert plan.body[some.index("finger")] == plan.character.index("left_hand")
    assert plan.body[some.index("target")] == -1
    assert plan.hangs_from[some.index("finger")] == some.index("hand.L")
    assert plan.hangs_from[some.index("pelvis")] == -1


def test_roles_that_are_missing_or_wrong_are_named():
    some, roles = wooden(), wooden_roles()

    def without(*names):
        return {role: chain for role, chain in roles.items() if role not in names}

    legs = [f"{role}.{side}" for role in ("thigh", "shin", "foot") for side in "LR"]
    for broken, says in (
        (without(*legs), "no legs"),
        (without("shin.R"), "No bone has the role 'shin.R'"),
        (without("pelvis"), "No bone has the role 'pelvis'"),
        (without("upper_arm.L"), "none has 'upper_arm.L'"),
        (roles | {"wing": ("head",)}, "no role 'wing'"),
        (roles | {"neck": ("head",)}, "Bone 'head' has two roles"),
        (roles | {"neck": ("nape",)}, "no bone 'nape'"),
        (without("head") | {"neck": ("head", "neck")}, "are not a chain"),
    ):
        with pytest.raises(ValueError, match=says) as refusal:
            make_body_plan(some, broken)
        assert str(refusal.value).count(".") >= 1
        assert "\n" not in str(refusal.value)


def test_bones_without_length_are_named():
    some = wooden()
    head = some.head.copy()
    head[some.index("shin.L")] = head[some.index("thigh.L")]
    with pytest.raises(ValueError, match=r"Bone 'thigh\.L' has no length"):
        make_body_plan(dataclasses.replace(some, head=head), wooden_roles())
    with pytest.raises(ValueError, match=r"Bone 'shin\.L' has no length"):
        dataclasses.replace(some, tail=np.where((np.array(some.names) == "shin.L")[:, None], some.head, some.tail))
    lone = Skeleton(("bone",), np.array([-1]), np.zeros((1, 3)), np.ones((1, 3)), np.array([[1.0, 0, 0, 0]]))
    with pytest.raises(ValueError, match="One bone"):
        make_body_plan(lone, {"pelvis": ("bone",)})


def test_a_rig_in_centimetres_is_told_its_scale():
    some = wooden()
    big = dataclasses.replace(some, head=100.0 * some.head, tail=100.0 * some.tail)
    assert plausible_scale(still(some), wooden_roles()) == 1.0
    assert plausible_scale(still(big), wooden_roles()) == pytest.approx(0.01)
    with pytest.raises(ValueError, match="scale of the skeleton"):
        make_body_plan(big, wooden_roles())


def test_legs_that_are_not_side_by_side_are_refused():
    some = wooden()
    flat = dataclasses.replace(some, head=some.head * [0, 1, 1], tail=some.tail * [0, 1, 1] + [0, 1e-3, 0])
    with pytest.raises(ValueError, match="in the same place at rest"):
        make_body_plan(flat, wooden_roles())


def test_a_person_without_arms_head_or_spine_still_weighs_the_whole(simple):
    needed = ("pelvis", "thigh", "shin", "foot")
    roles = {role: chain for role, chain in wooden_roles().items() if role.startswith(needed)}
    plan = make_body_plan(wooden(), roles, total_mass=60.0)
    assert plan.character.total_mass == pytest.approx(60.0)
    assert len(plan.character.bodies) == 7
    assert all(isinstance(shape, (Corner, Capsule)) for shape in plan.character.contacts)
