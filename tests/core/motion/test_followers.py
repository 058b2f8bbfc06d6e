# SPDX-License-Identifier: GPL-3.0-or-later
"""Bones that nothing simulates go along with what carries them in the motion."""

import numpy as np
import pytest
from heft.core.motion import quaternions
from heft.core.motion.body_plan import make_body_plan
from heft.core.motion.clip import Clip
from heft.core.motion.fit import Trajectory
from heft.core.motion.prepare import prepare
from heft.core.motion.residuals import take_residuals, with_residuals

from tests.core.motion.skeletons import skeleton, still, waving, wooden, wooden_roles

OTHERS = ("nose", "hand_control", "ball", "ik_root", "bird")


def rig():
    """The mannequin with a root, a nose and a control that hang from nothing that moves, a ball, a root of controls."""
    bones = [
        (name, "root" if p < 0 else wooden().names[p], h, t)
        for name, p, h, t in zip(wooden().names, wooden().parent, wooden().head, wooden().tail, strict=True)
    ]
    loose = [
        ("nose", "root", (0.0, -0.12, 1.62), (0.0, -0.14, 1.62)),
        ("hand_control", None, (0.6, -0.05, 0.85), (0.65, -0.05, 0.8)),
        ("ball", None, (0.2, -0.5, 0.1), (0.2, -0.5, 0.2)),
        ("ik_root", "root", (0.0, 0.0, 0.0), (0.0, 0.1, 0.0)),
        ("bird", None, (0.0, 2.0, 3.0), (0.0, 2.1, 3.0)),
    ]
    return skeleton([("root", None, (0.0, 0.0, 0.0), (0.0, 0.2, 0.0)), *bones, *loose])


def moving(some):
    """The mannequin waves, its root walks on; nose and control go with head and hand, the bird flies about."""
    clip = waving(some, frames=120, rate=60.0, size=0.2)
    place, turn = clip.position, clip.orientation
    at = {name: some.index(name) for name in (*OTHERS, "root", "head", "hand.L")}
    for follower, carrier in (("nose", "head"), ("hand_control", "hand.L")):
        back = quaternions.conjugate(some.orientation[at[carrier]])
        arm = quaternions.rotate(back, some.head[at[follower]] - some.head[at[carrier]])
        place[:, at[follower]] = place[:, at[carrier]] + quaternions.rotate(turn[:, at[carrier]], arm)
        turn[:, at[follower]] = turn[:, at[carrier]]
    place[:, at["ball"]], turn[:, at["ball"]] = some.head[at["ball"]], some.orientation[at["ball"]]
    place[:, at["ik_root"]], turn[:, at["ik_root"]] = place[:, at["root"]], turn[:, at["root"]]
    time = np.arange(len(place))[:, None] / clip.rate
    place[:, at["bird"]] = some.head[at["bird"]] + 3.0 * np.sin(time * np.array([5.0, 3.0, 4.0]))
    return Clip(some, clip.rate, place, quaternions.continuous(turn))


def body_of(plan, bone):
    number = int(plan.body[plan.skeleton.index(bone)])
    return None if number < 0 else plan.character.bodies[number].name


def test_what_moves_with_a_body_goes_along_with_it_and_nothing_else_does():
    some = rig()
    plan = make_body_plan(some, wooden_roles(), clip=moving(some), detail="full")
    assert {name: body_of(plan, name) for name in (*OTHERS, "root")} == {
        "nose": "head",
        "hand_control": "left_hand",
        "ball": None,
        "ik_root": None,
        "bird": None,
        "root": None,
    }
    assert [some.names[bone] for bone in np.flatnonzero(~plan.own)] == ["root", *OTHERS]


def test_in_a_pose_that_is_held_it_is_the_nearest():
    some = rig()
    plan = make_body_plan(some, wooden_roles(), clip=still(some), detail="full")
    assert (body_of(plan, "nose"), body_of(plan, "hand_control")) == ("head", "left_hand")
    assert make_body_plan(some, wooden_roles()).body[some.index("nose")] == -1  # nothing is known without a motion


def test_a_nose_stays_in_the_face_wherever_the_body_goes():
    some = rig()
    performance = prepare(moving(some), wooden_roles(), rate=60.0, detail="full")
    plan, trajectory = performance.plan, performance.trajectory
    fallen = trajectory.q.copy()
    fallen[:, 2] -= 0.8
    fallen[:, 3:7] = quaternions.multiply(quaternions.exp(np.array([1.4, 0.0, 0.0])), fallen[:, 3:7])
    residuals = take_residuals(plan, performance.clip, trajectory)
    laid = with_residuals(plan, Trajectory(trajectory.rate, fallen, trajectory.v), residuals)

    def seen_from_head(clip):
        head, nose = some.index("head"), some.index("nose")
        back = quaternions.conjugate(clip.orientation[:, head])
        return quaternions.rotate(back, clip.position[:, nose] - clip.position[:, head])

    assert np.abs(seen_from_head(laid) - seen_from_head(performance.clip)).max() == pytest.approx(0.0, abs=1e-9)
