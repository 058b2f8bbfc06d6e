# SPDX-License-Identifier: GPL-3.0-or-later
"""Feet that stand on their digits, and masses that balance, on skeletons of known measures."""

import numpy as np
import pytest
from heft.core.character.mass import Mass
from heft.core.motion import masses, quaternions
from heft.core.motion.body_plan import is_unlike_a_person, make_body_plan
from heft.core.motion.clip import Clip
from heft.core.motion.digits import on_digits
from heft.core.motion.pegs import with_feet

from .skeletons import dinosaur, dog, skeleton, wooden, wooden_roles

X = np.array([1.0, 0.0, 0.0])


def chains_of(some, roles):
    return {role: tuple(some.index(name) for name in names) for role, names in roles.items()}


def still(some, frames=24):
    return Clip(some, 24.0, np.tile(some.head, (frames, 1, 1)), np.tile(some.orientation, (frames, 1, 1)))


def test_a_dogs_hind_foot_is_a_metatarsus_and_a_paw():
    some, roles = dog()
    plan = make_body_plan(some, roles)
    parent = {body.name: body.parent for body in plan.character.bodies}
    assert parent["left_foot"] == "left_metatarsus"
    assert parent["left_metatarsus"] == "left_shank"
    joints = {body.name: body.joint.name for body in plan.character.bodies}
    assert joints["right_metatarsus"] == "right_ankle"
    assert joints["right_foot"] == "right_toes"
    weight = {body.name: body.mass for body in plan.character.bodies}
    # Kubo et al. 1992: metatarsus and digit together 0.7 hundredths
    assert weight["left_foot"] + weight["left_metatarsus"] == pytest.approx(0.007 * sum(weight.values()), rel=0.01)


def test_paws_stay_flat_while_the_metatarsus_turns_over_them():
    """The paw's bone keeps its place; the one above turns about where it begins, by 40 degrees in all."""
    some, roles = dog()
    clip = still(some)
    for foot, toe in (("foot.L", "toe.L"), ("foot.R", "toe.R")):
        i, joint = some.index(foot), some.head[some.index(toe)]
        angle = np.radians(20.0) * np.sin(np.linspace(0.0, 2.0 * np.pi, len(clip.position)))
        turn = quaternions.exp(angle[:, None] * np.array([0.0, 1.0, 0.0]))
        clip.position[:, i] = joint + quaternions.rotate(turn, some.head[i] - joint)
        clip.orientation[:, i] = quaternions.multiply(turn, clip.orientation[:, i])
    plan = make_body_plan(some, roles, clip=clip)
    place, turn = plan.body_targets(clip)
    for shape in plan.character.contacts:
        if shape.body == "left_foot":
            b = plan.character.index("left_foot")
            corner = place[:, b] + quaternions.rotate(turn[:, b], np.array(shape.position))
            assert np.ptp(corner, axis=0).max() < 1e-9
    b = plan.character.index("left_metatarsus")
    assert quaternions.angle(turn[:, b], turn[:1, b]).max() > np.radians(15.0)


def test_a_cannon_bone_of_a_front_leg_is_found_beyond_the_hand():
    """A horse's front leg: its long hand stands up from the digits, which have no role."""
    some, roles = dog()
    rows = [
        (name, some.names[parent] if parent >= 0 else None, head, tail)
        for name, parent, head, tail in zip(some.names, some.parent, some.head, some.tail, strict=True)
        if not name.startswith("paw")
    ]
    for side, y in (("L", 0.08), ("R", -0.08)):
        rows += [
            ("paw." + side, "forearm." + side, (0.17, y, 0.2), (0.18, y, 0.06)),
            ("pastern." + side, "paw." + side, (0.18, y, 0.06), (0.21, y, 0.02)),
            ("hoof." + side, "pastern." + side, (0.21, y, 0.02), (0.24, y, 0.0)),
        ]
    plan = make_body_plan(skeleton(rows), roles)
    bodies = {body.name: body for body in plan.character.bodies}
    assert bodies["right_hand"].parent == "right_metacarpus"
    assert bodies["right_hand"].joint.name == "right_fingers"
    assert bodies["right_metacarpus"].joint.name == "right_wrist"
    assert plan.skeleton.names[plan.leader[plan.character.index("right_hand")]] == "pastern.R"


def captured(some, roles):
    """A dog as captures have it, without toes; its hind feet turn over their ends by 30 degrees to either side."""
    keep = [i for i, name in enumerate(some.names) if not name.startswith("toe")]
    rows = [
        (some.names[i], some.names[some.parent[i]] if some.parent[i] >= 0 else None, some.head[i], some.tail[i])
        for i in keep
    ]
    clip = still(skeleton(rows), frames=60)
    for foot in ("foot.L", "foot.R"):
        i = clip.skeleton.index(foot)
        end = clip.skeleton.tail[i]
        angle = np.radians(30.0) * np.sin(np.linspace(0.0, 2.0 * np.pi, len(clip.position)))
        turn = quaternions.exp(angle[:, None] * np.array([0.0, 1.0, 0.0]))
        clip.position[:, i] = end + quaternions.rotate(turn, clip.skeleton.head[i] - end)
        clip.orientation[:, i] = quaternions.multiply(turn, clip.orientation[:, i])
    return clip, {role: names for role, names in roles.items() if not role.startswith("toe")}


def test_captured_dogs_get_paws_that_stay_level_where_their_feet_end():
    clip, roles = captured(*dog())
    whole, found = with_feet(clip, roles)
    assert found["toe.L"] == ("foot.L paw",)
    paw = whole.skeleton.index("foot.L paw")
    assert np.ptp(whole.position[:, paw], axis=0).max() < 1e-9
    assert quaternions.angle(whole.orientation[:, paw], whole.orientation[:1, paw]).max() < 1e-9
    assert whole.position[0, paw] == pytest.approx(clip.skeleton.tail[clip.skeleton.index("foot.L")])
    assert "left_metatarsus" in [
        body.name for body in make_body_plan(whole.skeleton, found, clip=whole).character.bodies
    ]


def test_people_and_feet_with_toes_get_no_paws():
    clip = still(wooden())
    assert with_feet(clip, wooden_roles())[0] is clip
    some, roles = dog()
    whole, found = with_feet(still(some), roles)
    assert found == roles
    assert set(whole.skeleton.names) - set(some.names) == {"paw.L paw", "paw.R paw"}  # its front feet are one bone


def test_people_walk_on_whole_feet_and_a_lizard_on_two_legs_on_its_toes():
    mannequin = chains_of(wooden(), wooden_roles())
    assert on_digits(wooden(), mannequin, 0.85, quadruped=False) == mannequin
    some, roles = dinosaur()
    assert "left_metatarsus" in [body.name for body in make_body_plan(some, roles).character.bodies]


def test_who_has_a_tail_is_unlike_a_person_with_or_without_arms():
    some, roles = dinosaur()
    wingless = {role: names for role, names in roles.items() if not role.startswith(("upper_arm", "forearm", "hand"))}
    tailless = {role: names for role, names in wingless.items() if role != "tail"}
    assert is_unlike_a_person(still(some), roles)
    assert is_unlike_a_person(still(some), wingless)
    assert not is_unlike_a_person(still(some), tailless)


def test_two_masses_balance_by_their_levers():
    """Masses at -1 and 2 m of which the middle is to be at 0.5 m, half-way: they must weigh the same."""
    parts = {"tail": [Mass(1.0, -1.0 * X, np.eye(3))], "head": [Mass(3.0, 2.0 * X, np.eye(3))]}
    (tail,), (head,) = masses.balanced(parts, X, 0.0, 0.5).values()
    assert tail.mass == pytest.approx(2.0, abs=1e-9)
    assert head.mass == pytest.approx(2.0, abs=1e-9)
    assert head.inertia == pytest.approx(2.0 / 3.0 * np.eye(3), abs=1e-9)


def test_masses_that_balance_already_stay_to_the_bit():
    parts = {"tail": [Mass(1.0, -1.0 * X, np.eye(3))], "head": [Mass(3.0, 2.0 * X, np.eye(3))]}
    assert masses.balanced(parts, X, 1.0, 1.5) is parts


def test_a_lizard_whose_head_hangs_over_is_balanced_by_its_mesh():
    """Its head's mesh alone is as large as all the rest: its middle comes to lie within the middle of its soles."""
    some, roles = dinosaur()
    corners = np.array([[x, y, z] for x in (-1.0, 1.0) for y in (-1.0, 1.0) for z in (-1.0, 1.0)])
    middle = 0.5 * (some.head + some.tail)
    sizes = {"head": 0.12, "hip": 0.08, "tail": 0.06, "ribs": 0.08}
    vertices = {name: middle[some.index(name)] + size * corners for name, size in sizes.items()}
    plan = make_body_plan(some, roles, vertices=vertices, masses_from_mesh=True)
    place, turn = plan.body_targets(still(some, frames=1))
    bodies = plan.character.bodies
    centers = [
        place[0, b] + quaternions.rotate(turn[0, b], np.array(one.center_of_mass)) for b, one in enumerate(bodies)
    ]
    x = sum(one.mass * at[0] for one, at in zip(bodies, centers, strict=True)) / plan.character.total_mass
    soles = [
        (place[0, b] + quaternions.rotate(turn[0, b], np.array(shape.position)))[0]
        for shape in plan.character.contacts
        if shape.body.endswith("_foot")
        for b in [plan.character.index(shape.body)]
    ]
    assert x == pytest.approx(max(soles) - 0.25 * np.ptp(soles), abs=1e-6)
