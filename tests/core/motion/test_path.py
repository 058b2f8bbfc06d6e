# SPDX-License-Identifier: GPL-3.0-or-later
"""Paths: what was drawn, as a walk can follow it; and the way of who goes to a target."""

import numpy as np
import pytest
from heft.core.motion.path import TURNING, Path, towards


def test_a_straight_line_is_itself():
    path = Path(np.array([[1.0, 2.0, 9.0], [1.0, 6.0, -9.0]]))
    assert path.length == pytest.approx(4.0)
    place, heading = path.at(np.array([-0.5, 0.0, 2.5, 4.0, 5.0]))
    np.testing.assert_allclose(place, [[1.0, 1.5], [1.0, 2.0], [1.0, 4.5], [1.0, 6.0], [1.0, 7.0]], atol=1e-9)
    np.testing.assert_allclose(heading, np.pi / 2.0)


def test_a_circle_keeps_its_radius_and_its_heading_is_the_tangent():
    angle = np.linspace(0.0, 1.5 * np.pi, 400)
    path = Path(2.0 * np.column_stack([np.sin(angle), 1.0 - np.cos(angle)]))
    distance = np.linspace(1.0, path.length - 1.0, 50)
    place, heading = path.at(distance)
    radius = np.linalg.norm(place - [0.0, 2.0], axis=1)
    assert np.abs(radius - 2.0).max() < 0.04  # rounding corners of its size cuts so much off
    np.testing.assert_allclose(heading, np.arctan2(place[:, 0], 2.0 - place[:, 1]) % (2.0 * np.pi), atol=1e-2)


def test_corners_are_rounded_and_the_ends_stay():
    drawn = np.array([[0.0, 0.0], [3.0, 0.0], [3.0, 3.0]])
    path = Path(drawn)
    place, heading = path.at(np.linspace(0.0, path.length, 200))
    np.testing.assert_allclose(place[[0, -1]], drawn[[0, -1]], atol=1e-9)
    assert path.distance_from(place).max() < 0.2
    turning = np.gradient(heading) / np.gradient(np.linspace(0.0, path.length, 200))
    assert 1.0 / np.abs(turning).max() > 0.2  # m, of the tightest turn


def test_speeds_are_linear_in_time_and_none_are_the_motions_own():
    path = Path(np.array([[0.0, 0.0], [5.0, 0.0]]), [0.0, 2.0], [1.0, 2.0])
    assert [path.speed_at(t, 9.0) for t in (-1.0, 1.0, 7.0)] == [1.0, 1.5, 2.0]
    assert Path(path.places).speed_at(1.0, 1.3) == 1.3


@pytest.mark.parametrize(
    ("places", "time", "speed"),
    [
        ([[0.0, 0.0]], [0.0], []),
        ([[0.0, 0.0], [0.1, 0.0]], [0.0], []),
        ([[0.0, 0.0], [np.nan, 0.0]], [0.0], []),
        ([[0.0], [4.0]], [0.0], []),
        ([[0.0, 0.0], [4.0, 0.0]], [0.0], [0.0]),
        ([[0.0, 0.0], [4.0, 0.0]], [0.0], [99.0]),
        ([[0.0, 0.0], [4.0, 0.0]], [1.0, 1.0], [1.0, 1.0]),
        ([[0.0, 0.0], [4.0, 0.0]], [0.0, 1.0], [1.0]),
    ],
)
def test_what_is_no_path_is_refused(places, time, speed):
    with pytest.raises(ValueError, match="path"):
        Path(np.array(places), time, speed)


def test_who_goes_to_a_target_goes_straight_there_and_stands():
    found = towards((0.0, 0.0, 1.0), 0.0, np.tile([3.0, 0.0, 0.0], (120, 1)), 24.0, 1.0)
    np.testing.assert_allclose(found[:, 1], 0.0, atol=1e-9)
    assert np.linalg.norm(found[-1] - [3.0, 0.0]) < 1.0 / 24.0
    steps = np.linalg.norm(np.diff(found, axis=0), axis=1)
    np.testing.assert_allclose(steps[steps > 0.0], 1.0 / 24.0)


def test_who_goes_to_a_target_behind_turns_in_a_circle():
    found = towards((0.0, 0.0), 0.0, np.tile([-4.0, 0.0, 0.0], (240, 1)), 24.0, 1.0)
    assert np.abs(found[:, 1]).max() > TURNING
    assert np.linalg.norm(found[-1] - [-4.0, 0.0]) < 0.1


def test_a_bend_leads_at_its_ends_where_it_was_drawn_to():
    """Rounded by mirroring it through its ends, a bend of a metre's radius led 11 degrees aside there."""
    angle = np.linspace(0.0, 2.5, 200)
    path = Path(np.column_stack([np.sin(angle), 1.0 - np.cos(angle)]))
    place, heading = path.at(np.array([0.0, path.length]))
    np.testing.assert_allclose(np.degrees(heading), np.degrees([0.0, 2.5]), atol=2.0)
    np.testing.assert_allclose(place, path.places[[0, -1]], atol=1e-9)


def test_a_path_with_stops_has_legs_that_lead_up_to_them():
    drawn = np.array([[0.0, 0.0], [3.0, 0.0], [3.0, 3.0]])
    path = Path(drawn, stops=(1,), wait=2.0)
    assert path.waits
    (first, east), (second, north) = path.legs()
    np.testing.assert_allclose(first[[0, -1]], drawn[:2], atol=1e-9)
    np.testing.assert_allclose(second[[0, -1]], drawn[1:], atol=1e-9)
    np.testing.assert_allclose(east, 0.0, atol=1e-9)
    np.testing.assert_allclose(north, np.pi / 2.0, atol=1e-9)
    assert len(Path(drawn).legs()) == 1
    assert not Path(drawn, stops=(1,)).waits


def test_a_targets_place_is_known_at_each_moment():
    path = Path([[0.0, 0.0], [3.0, 0.0]], target_time=[0.0, 2.0], target=[[1.0, 0.0], [3.0, 4.0]])
    assert path.follows
    assert path.target_at(1.0) == (2.0, 2.0)


@pytest.mark.parametrize(
    "more",
    [
        {"stops": (0,)},
        {"stops": (2,)},
        {"stops": (1,), "wait": -1.0},
        {"stops": (1,), "wait": 1e3},
        {"target_time": [0.0, 0.0], "target": [[0.0, 0.0], [1.0, 1.0]]},
        {"target_time": [0.0], "target": np.zeros((0, 2))},
        {"target_time": [0.0], "target": [[np.nan, 0.0]]},
    ],
)
def test_waits_that_make_no_sense_are_refused(more):
    with pytest.raises(ValueError, match="path"):
        Path([[0.0, 0.0], [3.0, 0.0], [3.0, 3.0]], **more)
