# SPDX-License-Identifier: GPL-3.0-or-later
"""A motion of one skeleton for another, where the answer is known; and captures, by how their feet stand."""

from dataclasses import replace

import numpy as np
import pytest
from heft.core.motion import quaternions
from heft.core.motion.clip import LocalPoses, from_local, scaled, scaled_skeleton, to_local, turned_skeleton
from heft.core.motion.retarget import retarget
from heft.core.motion.two_links import reach

from tests.core.motion.skeletons import CMU_ROLES, cmu, dog, needs_clips, rooted, skeleton, still, waving, wooden
from tests.core.motion.skeletons import wooden_roles as roles

FRAMES = 120


@pytest.fixture(scope="module")
def swaying():
    return waving(wooden(), size=0.1)


def posed_at_rest(some, **bends):
    """The skeleton with bones turned at rest, by rotation vectors in the world; what hangs from them goes along."""
    head, tail, turn = some.head.copy(), some.tail.copy(), some.orientation.copy()
    for name, vector in bends.items():
        first = some.index(name.replace("_of_", "."))
        by = quaternions.exp(np.asarray(vector, dtype=float))
        below = [bone for bone in range(len(some.names)) if first in above(some, bone)]
        pivot = head[first].copy()
        for points in (head, tail):
            points[below] = pivot + quaternions.rotate(by, points[below] - pivot)
        turn[below] = quaternions.multiply(by, turn[below])
    return replace(some, head=head, tail=tail, orientation=turn)


def above(some, bone):
    found = [bone]
    while some.parent[found[-1]] >= 0:
        found.append(int(some.parent[found[-1]]))
    return found


def proportioned(some, changes):
    """The skeleton with other offsets of bones from their parents, as factors, its lowest point on z = 0 again."""
    offset = some.parent_offset.copy()
    tail = some.tail - some.head
    for name, factor in changes.items():
        children = [bone for bone in range(len(some.names)) if some.parent[bone] == some.index(name)]
        offset[children] *= factor
        tail[some.index(name)] *= factor
    head = offset.copy()
    for bone, parent in enumerate(some.parent):
        if parent >= 0:
            head[bone] += head[parent]
    lift = np.array([0.0, 0.0, -(head + tail)[:, 2].min() + (some.tail[:, 2]).min()])
    return replace(some, head=head + lift, tail=head + tail + lift)


def squatting(some, wanted=None):
    """Hips that sink, sway and turn over feet that stand still; hands as far apart as `wanted`, where given."""
    time = np.linspace(0.0, 2.0 * np.pi, FRAMES)
    local = LocalPoses(np.tile(some.parent_offset, (FRAMES, 1, 1)), np.tile(some.parent_orientation, (FRAMES, 1, 1)))
    pelvis = some.index("pelvis")
    sway = np.column_stack([0.06 * np.sin(time), 0.05 * np.cos(time), -0.12 - 0.1 * np.cos(time)])
    local.position[:, pelvis] += sway
    local.orientation[:, pelvis] = quaternions.exp(
        np.column_stack([0.2 * np.sin(time), 0.0 * time, 0.3 * np.sin(time)])
    )
    clip = from_local(still(some, FRAMES, 60.0), local)
    for side in "LR":
        foot = some.index(f"foot.{side}")
        ankle = np.tile(some.head[foot], (FRAMES, 1))
        clip = bent(clip, ("thigh", "shin", "foot"), side, ankle, [0.0, -1.0, 0.0])
        if wanted is not None:
            away = [wanted(time) * (0.5 if side == "L" else -0.5), -0.35 + 0.0 * time, 1.2 + 0.0 * time]
            clip = bent(clip, ("upper_arm", "forearm", "hand"), side, np.column_stack(away), [0.0, 1.0, 0.0])
    return clip


def bent(clip, limb, side, wanted, across):
    """The clip with a limb's end where it is wanted: a foot oriented as at rest, a hand in line with its forearm."""
    some = clip.skeleton
    upper, lower, end = (some.index(f"{part}.{side}") for part in limb)
    at = [clip.position[:, bone] for bone in (upper, lower, end)]
    turns = reach(*at, wanted, np.tile(np.array(across), (len(wanted), 1)))
    world = clip.orientation.copy()
    world[:, upper] = quaternions.multiply(turns.first, world[:, upper])
    world[:, lower] = quaternions.multiply(turns.second, world[:, lower])
    world[:, end] = some.orientation[end] if "foot" in limb else world[:, lower]
    local = to_local(clip)
    for bone in (upper, lower, end):
        back = quaternions.conjugate(world[:, some.parent[bone]])
        local.orientation[:, bone] = quaternions.multiply(back, world[:, bone])
    return from_local(clip, local)


def place_of(clip, name):
    return clip.position[:, clip.skeleton.index(name)]


def palm(clip, side):
    """The middle of a hand."""
    some = clip.skeleton
    hand = some.index(f"hand.{side}")
    return clip.position[:, hand] + quaternions.rotate(
        clip.orientation[:, hand], 0.5 * (some.tail[hand] - some.head[hand])
    )


def assert_alike(one, other, metres=1e-6, degrees=1e-4):
    np.testing.assert_allclose(one.position, other.position, atol=metres)
    assert np.degrees(quaternions.angle(one.orientation, other.orientation)).max() < degrees


def test_the_same_skeleton_does_the_same(swaying):
    done = retarget(swaying, roles(), still(wooden(), FRAMES, 120.0), roles())
    assert_alike(done.clip, swaying)
    assert done.ratio == pytest.approx(1.0)


@pytest.mark.parametrize("factor", [0.5, 1.7])
def test_a_scaled_skeleton_does_the_scaled_motion(swaying, factor):
    own = still(scaled_skeleton(wooden(), factor), FRAMES, 120.0)
    done = retarget(swaying, roles(), own, roles())
    assert_alike(done.clip, scaled(swaying, factor))
    assert done.ratio == pytest.approx(factor)


def test_another_rest_pose_of_the_same_body_gives_the_same_pose_in_the_world(swaying):
    """Arms hang, legs stand apart, and the figure faces another way."""
    other = posed_at_rest(
        wooden(),
        upper_arm_of_L=[0.0, 0.8, 0.0],
        upper_arm_of_R=[0.0, -0.7, 0.0],
        forearm_of_L=[0.0, 0.3, 0.2],
        thigh_of_L=[0.0, -0.15, 0.0],
        foot_of_L=[0.0, 0.15, 0.0],
        thigh_of_R=[0.0, 0.15, 0.0],
        foot_of_R=[0.0, -0.15, 0.0],
    )
    fallen = np.array([0.0, 0.0, wooden().tail[:, 2].min() - other.tail[:, 2].min()])
    other = replace(other, head=other.head + fallen, tail=other.tail + fallen)
    other = turned_skeleton(other, quaternions.exp(np.array([0.0, 0.0, 1.0])))
    done = retarget(swaying, roles(), still(other, FRAMES, 120.0), roles())
    np.testing.assert_allclose(done.clip.position, swaying.position, atol=1e-3)


def test_bones_oriented_otherwise_in_themselves_are_no_matter(swaying):
    some = wooden()
    rng = np.random.default_rng(1)
    own = quaternions.normalize(rng.normal(size=(len(some.names), 4)))
    other = replace(some, orientation=quaternions.multiply(some.orientation, own))
    done = retarget(swaying, roles(), still(other, FRAMES, 120.0), roles())
    assert_alike(done.clip, replace(swaying, orientation=quaternions.multiply(swaying.orientation, own)))


def test_four_legs_do_as_four_legs():
    some, of_dog = dog()
    clip = waving(some, size=0.05)
    done = retarget(clip, of_dog, still(scaled_skeleton(some, 2.0), FRAMES, 120.0), of_dog)
    assert_alike(done.clip, scaled(clip, 2.0), 1e-5, 1e-3)
    with pytest.raises(ValueError, match="four legs, the other on two"):
        retarget(clip, of_dog, still(wooden(), FRAMES, 120.0), roles())


def test_a_trunk_of_more_bones_bends_by_degrees_to_the_same_end(swaying):
    """Three bones along the line of one: the last is turned as the one is, those before by their shares."""
    plain = wooden()
    head, tail = plain.head[plain.index("chest")], plain.tail[plain.index("chest")]
    bones = []
    for i, name in enumerate(plain.names):
        parent = plain.names[plain.parent[i]] if plain.parent[i] >= 0 else None
        parent = "chest3" if parent == "chest" else parent
        if name == "chest":
            cuts = [head + share * (tail - head) for share in (0.0, 0.25, 0.5, 1.0)]
            above_it = [parent, "chest1", "chest2"]
            bones += [(f"chest{k + 1}", above_it[k], cuts[k], cuts[k + 1]) for k in range(3)]
        else:
            bones.append((name, parent, plain.head[i], plain.tail[i]))
    other = skeleton(bones)
    three = {**roles(), "chest": ("chest1", "chest2", "chest3")}
    done = retarget(swaying, roles(), still(other, FRAMES, 120.0), three)
    turned_by = [done.clip.orientation[:, other.index(name)] for name in ("spine", "chest1", "chest2", "chest3")]
    np.testing.assert_allclose(
        quaternions.angle(turned_by[3], swaying.orientation[:, plain.index("chest")]), 0.0, atol=1e-6
    )
    whole = quaternions.angle(turned_by[0], turned_by[3])
    np.testing.assert_allclose(quaternions.angle(turned_by[0], turned_by[2]), 0.5 * whole, atol=1e-6)
    np.testing.assert_allclose(quaternions.angle(turned_by[0], turned_by[1]), 0.25 * whole, atol=1e-6)


def test_what_has_no_role_stays_as_it_is_in_what_it_hangs_from(swaying):
    """A root above the pelvis stays; a finger keeps its keys relative to the hand."""
    some = rooted()
    hand = some.index("hand.L")
    bones = [
        (name, some.names[some.parent[i]] if some.parent[i] >= 0 else None, some.head[i], some.tail[i])
        for i, name in enumerate(some.names)
    ]
    other = skeleton([*bones, ("finger", "hand.L", some.tail[hand], some.tail[hand] + [0.0, 0.0, -0.05])])
    local = LocalPoses(np.tile(other.parent_offset, (FRAMES, 1, 1)), np.tile(other.parent_orientation, (FRAMES, 1, 1)))
    curl = quaternions.exp(np.linspace(0.0, 1.0, FRAMES)[:, None] * np.array([1.0, 0.0, 0.0]))
    local.orientation[:, other.index("finger")] = curl
    own = from_local(still(other, FRAMES, 120.0), local)
    done = to_local(retarget(swaying, roles(), own, roles()).clip)
    finger = other.index("finger")
    np.testing.assert_allclose(done.position[:, finger], local.position[:, finger], atol=1e-9)
    np.testing.assert_allclose(quaternions.angle(done.orientation[:, finger], curl), 0.0, atol=1e-6)
    np.testing.assert_allclose(done.position[:, other.index("master")], 0.0, atol=1e-12)


@pytest.mark.parametrize(
    "changes",
    [
        {"thigh.L": 1.2, "thigh.R": 1.2, "shin.L": 0.9, "shin.R": 0.9},
        {"foot.L": 1.4, "foot.R": 1.4, "pelvis": 1.2},
        {"shin.L": 0.8, "shin.R": 0.8, "upper_arm.L": 1.3},
    ],
)
def test_feet_that_stand_stand_on_another_body(changes):
    clip = squatting(wooden())
    other = proportioned(wooden(), changes)
    done = retarget(clip, roles(), still(other, FRAMES, 60.0), roles())
    for side in "LR":
        for name in (f"foot.{side}", f"toe.{side}"):
            place = place_of(done.clip, name)
            assert np.ptp(place, axis=0).max() < 1e-4
        assert place_of(done.clip, f"foot.{side}")[0, 2] == pytest.approx(
            other.head[other.index(f"foot.{side}"), 2], abs=1e-3
        )
    away = np.linalg.norm(place_of(done.clip, "thigh.L") - place_of(done.clip, "foot.L"), axis=1)
    theirs = np.linalg.norm(place_of(clip, "thigh.L") - place_of(clip, "foot.L"), axis=1)
    assert np.abs(away / away.max() - theirs / theirs.max()).max() < 0.08


@pytest.mark.parametrize("factor", [0.85, 1.2])
def test_hands_that_touch_touch_at_arms_of_another_length(factor):
    clip = squatting(wooden(), lambda time: 0.15 - 0.1 * np.cos(2.0 * time))
    other = proportioned(wooden(), {f"{part}.{side}": factor for part in ("upper_arm", "forearm") for side in "LR"})
    done = retarget(clip, roles(), still(other, FRAMES, 60.0), roles())
    apart = [palm(each, "L") - palm(each, "R") for each in (clip, done.clip)]
    near = np.linalg.norm(apart[0], axis=1) < 0.1
    assert near.any()
    assert not near.all()
    np.testing.assert_allclose(apart[1][near], done.ratio * apart[0][near], atol=5e-3)
    assert "Hands that touch were kept together." in done.lines


def test_clips_of_other_lengths_are_refused(swaying):
    with pytest.raises(ValueError, match="as many"):
        retarget(swaying, roles(), still(wooden(), 30), roles())


@needs_clips
@pytest.mark.parametrize("name", ["02_01", "16_18", "22_14", "39_11", "120_08"])
def test_captured_feet_slide_no_more_on_another_body(name):
    """Balls of feet that stand in the capture: how far they stray from the scaled ones, over each stance."""
    clip = cmu(name)
    clip = clip.cut(1, len(clip.position))
    other = proportioned(wooden(), {"thigh.L": 1.1, "thigh.R": 1.1, "foot.L": 1.15, "foot.R": 1.15, "pelvis": 1.2})
    done = retarget(clip, CMU_ROLES, still(other, len(clip.position), clip.rate), roles())
    most = 0.0
    for side in "LR":
        theirs, ours = place_of(clip, CMU_ROLES[f"toe.{side}"][0]), place_of(done.clip, f"toe.{side}")
        stands = np.flatnonzero(np.linalg.norm(np.gradient(theirs, axis=0), axis=1) * clip.rate < 0.1)
        for stance in np.split(stands, np.flatnonzero(np.diff(stands) > 1) + 1):
            away = ours[stance] - done.ratio * theirs[stance]
            most = max(most, float(np.ptp(away[:, :2], axis=0).max()))
    assert 0.0 < most < 5e-3
