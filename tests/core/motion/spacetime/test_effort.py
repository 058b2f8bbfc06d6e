# SPDX-License-Identifier: GPL-3.0-or-later
"""Effort: a body with a load leans as statics says, and one without moves as it did."""

import numpy as np
import pytest
from heft.core.character import Body, Character, Corner, Joint
from heft.core.character.mass import Mass
from heft.core.character.strength import motor_strengths
from heft.core.dynamics import body_poses
from heft.core.motion.fit import Trajectory
from heft.core.motion.schedule import ContactPoint, ContactSchedule
from heft.core.motion.spacetime import Carrying, Ends, Settings, build_reference
from heft.core.motion.spacetime.effort import NATURAL
from heft.core.motion.spacetime.problem import _pose_weights
from heft.core.motion.variants import carrying
from scipy.optimize import brentq, minimize_scalar

from tests.core.motion.spacetime import motions

G = 9.81
TRUNK, CENTER = 40.0, 0.3  # kg, m over the hinge
LOAD, ASIDE, OVER = 5.0, 0.35, 0.1  # kg, m to its left and over the hinge
STRENGTH = 200.0  # N m
FRAMES = 400
# with nothing else to weigh against the pose, and motion so dear that standing still is best
PLAIN = Settings(
    velocity=1e4, torque=1e-12, torque_smoothing=1e-6, force_normal=1e-9, force_tangential=1e-9, force_smoothing=1e-9
)


def leaner():
    """A broad foot that stands, and on it a trunk that leans aside about a hinge along X."""
    corners = tuple(
        Corner(f"corner_{i}{j}", "foot", (0.15 * x, 0.3 * y, -0.1))
        for i, x in enumerate((-1, 1))
        for j, y in enumerate((-1, 1))
    )
    foot = Body("foot", None, Joint("root", "free"), 5.0, tuple(map(tuple, 0.1 * np.eye(3))), position=(0, 0, 0.1))
    inertia = tuple(map(tuple, np.eye(3)))
    trunk = Body(
        "trunk", "foot", Joint("waist", "hinge", ((1.0, 0.0, 0.0),)), TRUNK, inertia, (0.0, 0.0, CENTER), (0, 0, 0.1)
    )
    return Character("leaner", (foot, trunk), corners)


def loaded(mass=LOAD):
    return carrying(leaner(), "trunk", Mass(mass, np.array([0.0, ASIDE, OVER]), 0.01 * np.eye(3)))


def stands(character, settings=PLAIN, lean=0.0, **arguments):
    """The reference of standing upright, or leaning."""
    q = np.tile(character.neutral(), (FRAMES, 1))
    q[:, 7] = lean
    points = tuple(ContactPoint(c.name, 0, c.position, foot=True) for c in character.contacts)
    place = np.array([[x, y, 0.0] for x, y, _ in (c.position for c in character.contacts)])
    schedule = ContactSchedule(points, np.ones((FRAMES, 4), bool), np.tile(place, (FRAMES, 1, 1)))
    trajectory = Trajectory(120.0, q, np.zeros((FRAMES, character.nv)))
    return build_reference(character, trajectory, schedule, settings=settings, **arguments)


def torque(angle):
    """About the hinge, that holds the trunk and its load at rest; a lean to the right is positive."""
    return G * (LOAD * ASIDE * np.cos(angle) - (TRUNK * CENTER + LOAD * OVER) * np.sin(angle))


def lean_of(reference):
    return reference.q[FRAMES // 2, 7]


@pytest.mark.parametrize("effort", [0.3, 1.0, 3.0])
def test_a_load_is_leaned_away_from_as_far_as_the_torque_saved_is_worth_the_pose(effort):
    """By hand: the minimum over the angle of half p angle^2 + C (torque / s)^2, with a pose more than steps."""
    found = stands(loaded(), carrying=Carrying(leaner(), np.array([STRENGTH]), effort))
    pose = _pose_weights(loaded(), PLAIN)[6]
    by_hand = minimize_scalar(
        lambda angle: FRAMES * pose * angle**2 + (FRAMES - 1) * NATURAL * effort * (torque(angle) / STRENGTH) ** 2,
        bounds=(-1.0, 1.0),
        method="bounded",
        options={"xatol": 1e-10},
    ).x
    assert abs(by_hand) > np.radians(1.0)
    assert lean_of(found) == pytest.approx(by_hand, rel=0.01)
    assert found.torque[FRAMES // 2, 0] == pytest.approx(torque(lean_of(found)), rel=0.01)


def test_with_endless_effort_the_trunk_and_its_load_balance_over_the_hinge():
    found = stands(loaded(), carrying=Carrying(leaner(), np.array([STRENGTH]), 1e5))
    assert lean_of(found) == pytest.approx(brentq(torque, 0.0, 1.5), abs=np.radians(0.1))


def test_without_effort_the_pose_is_kept():
    with_none = stands(loaded(), carrying=Carrying(leaner(), np.array([STRENGTH]), 0.0))
    np.testing.assert_array_equal(with_none.q, stands(loaded()).q)
    assert abs(lean_of(with_none)) < np.radians(0.1)


def test_who_carries_nothing_moves_as_before():
    """What the body itself takes is no effort: nothing is to be saved."""
    found = stands(leaner(), carrying=Carrying(leaner(), np.array([STRENGTH]), 1.0))
    np.testing.assert_allclose(found.q, stands(leaner()).q, atol=1e-6)


def test_twice_the_load_leans_farther():
    leans = [
        abs(lean_of(stands(loaded(mass), carrying=Carrying(leaner(), np.array([STRENGTH]), 1.0))))
        for mass in (2.0, 4.0, 6.0)
    ]
    assert leans[0] < leans[1] < leans[2]


def test_a_load_that_would_bend_the_body_beyond_recognition_is_carried_in_the_pose():
    """70 degrees to balance 80 kg would be no motion of the clip's any more."""
    found = stands(loaded(80.0), carrying=Carrying(leaner(), np.array([STRENGTH]), 1e5))
    np.testing.assert_array_equal(found.q, stands(loaded(80.0)).q)


def walks(kilograms, side="left"):
    """A walk with a bucket that hangs below a hand; the trunk's mean lean to the left, degrees."""
    walk = motions.walk()
    bare = walk.character
    bucket = Mass(kilograms, np.array([0.0, 0.0, -0.3]), 0.05 * np.eye(3))
    reference = build_reference(
        carrying(bare, f"{side}_hand", bucket) if kilograms else bare,
        Trajectory(walk.rate, walk.q, walk.v),
        walk.schedule,
        bounds=Ends(cycle=walk.cycle),
        carrying=Carrying(bare, motor_strengths(bare, "male"), 1.0),
    )
    places = [body_poses(bare, np.ascontiguousarray(q))[0] for q in reference.q[:-1:4]]
    up = np.array([place[bare.index("head")] - place[0] for place in places])
    return float(np.degrees(np.arctan2(up[:, 1], up[:, 2])).mean())


def test_ten_kilograms_in_one_hand_lean_a_walk_three_to_ten_degrees_to_the_other_side():
    bare = walks(0.0)
    assert 3.0 < bare - walks(10.0) < 10.0
    assert 3.0 < walks(10.0, "right") - bare < 10.0
