# SPDX-License-Identifier: GPL-3.0-or-later
import dataclasses

import numpy as np
import pytest
from heft.core.character import Character
from heft.core.dynamics import body_poses
from heft.core.motion import quaternions
from heft.core.motion.schedule import ContactSchedule, Interval, contact_points, from_intervals, to_intervals
from hypothesis import given
from hypothesis.extra.numpy import arrays


@pytest.fixture(scope="module")
def muico29():
    return Character.preset("muico29")


def test_points_of_muico29(muico29):
    points = contact_points(muico29)
    names = [point.name for point in points]
    assert [name for point, name in zip(points, names, strict=True) if point.foot] == [
        "left_foot_heel",
        "left_foot_toe",
        "right_foot_heel",
        "right_foot_toe",
    ]
    # knees, elbows, hands, seat, trunk and head; no ankles or wrists, where the next limb goes on
    assert {"left_shank_start", "left_forearm_start", "left_hand", "pelvis_start", "head"} <= set(names)
    assert not {"left_shank_end", "left_forearm_end", "left_thigh_end", "left_arm_end"} & set(names)


def test_heel_and_toe_are_on_the_ground_and_in_line_with_the_ankle(muico29):
    position, quaternion = body_poses(muico29, muico29.neutral())
    for point in contact_points(muico29):
        if point.foot:
            place = position[point.body] + quaternions.rotate(quaternion[point.body], np.array(point.position))
            assert place[2] == pytest.approx(0.0, abs=1e-12)
            assert place[1] == pytest.approx(position[point.body, 1], abs=1e-12)


@given(arrays(np.bool_, (23, 4)))
def test_intervals_and_arrays_are_the_same_thing(active):
    points = contact_points(Character.preset("muico29"))[:4]
    intervals = to_intervals(points, active)
    np.testing.assert_array_equal(from_intervals(points, intervals, 23), active)


def test_both_frames_of_an_interval_touch_and_what_hangs_over_is_cut(muico29):
    points = contact_points(muico29)
    name = points[1].name
    active = from_intervals(points, [Interval(name, 2, 3), Interval(name, 8, 40), Interval(name, -9, -3)], 10)
    np.testing.assert_array_equal(np.flatnonzero(active[:, 1]), [2, 3, 8, 9])
    assert active.sum() == 4


def test_intervals_that_make_no_sense_are_refused(muico29):
    points = contact_points(muico29)
    with pytest.raises(ValueError, match="no contact point 'wing'"):
        from_intervals(points, [Interval("wing", 0, 1)], 10)
    with pytest.raises(ValueError, match="ends in frame 3, before it starts in frame 4"):
        from_intervals(points, [Interval(points[0].name, 4, 3)], 10)


def test_schedule_checks_its_shapes(muico29):
    points = contact_points(muico29)
    with pytest.raises(ValueError, match="shapes"):
        ContactSchedule(points, np.zeros((5, 3), bool), np.zeros((5, 3, 3)))
    with pytest.raises(ValueError, match="finite"):
        ContactSchedule(points[:1], np.zeros((5, 1), bool), np.full((5, 1, 3), np.nan))


def test_heels_are_behind_toes_whichever_way_the_character_faces_at_rest(muico29):
    root = muico29.bodies[0]
    turned = dataclasses.replace(root, orientation=(np.sqrt(0.5), 0.0, 0.0, np.sqrt(0.5)))
    other = Character("turned", (turned, *muico29.bodies[1:]), muico29.contacts)
    assert contact_points(other) == contact_points(muico29)
