# SPDX-License-Identifier: GPL-3.0-or-later
"""Distances to the source and figures of the ground, where they are known."""

import numpy as np
import pytest
from heft.core.contact.terrain import Plane, make_terrain
from heft.core.motion.schedule import contact_points
from heft.core.motion.tracks import point_places
from heft.core.report import source

from tests.core.motion.spacetime import motions

FLOOR = make_terrain([Plane()])
FPS = 30.0
UPHELD = np.zeros(31, dtype=np.bool_)


@pytest.fixture(scope="module")
def standing():
    motion = motions.squat(30, 0.0)
    q = np.repeat(motion.q[:1], 31, axis=0)
    lowest = min(
        (places[..., 2] - point.radius).min()
        for point in contact_points(motion.character)
        for places in [point_places(motion.character, q, [point])]
    )
    q[:, 2] -= lowest
    return motion.character, q


def moved(q, *way):
    result = q.copy()
    result[:, :3] += way
    return result


def test_a_body_that_stands_neither_floats_sinks_nor_skates(standing):
    character, q = standing
    assert source.on_ground(character, q, FLOOR, UPHELD, FPS) == dict.fromkeys(source.GROUNDED, 0.0)
    within = source.on_ground(character, moved(q, 0.0, 0.0, 0.004), FLOOR, UPHELD, FPS)
    assert within["float_mm"] == 0.0


@pytest.mark.parametrize(("height", "name"), [(0.02, "float_mm"), (-0.02, "penetration_mm")])
def test_a_body_off_the_ground_is_as_far_as_it_was_moved(standing, height, name):
    character, q = standing
    figures = source.on_ground(character, moved(q, 0.0, 0.0, height), FLOOR, UPHELD, FPS)
    assert figures[name] == pytest.approx(20.0)
    twice = 2 if name == "float_mm" else 1  # outside flights too
    assert sum(figures.values()) == pytest.approx(twice * 20.0)


def test_flights_float_but_not_outside_flights(standing):
    """Ten frames of a jump, 30 cm high, and one of hovering at 2 cm."""
    character, q = standing
    jumped, flies = q.copy(), np.zeros(len(q), dtype=np.bool_)
    jumped[5:15, 2] += 0.3
    flies[5:15] = True
    jumped[20, 2] += 0.02
    figures = source.on_ground(character, jumped, FLOOR, flies, FPS)
    assert figures["float_mm"] == pytest.approx((10 * 300.0 + 20.0) / 31)
    assert figures["float_outside_flights_mm"] == pytest.approx(20.0 / 21)
    assert source.on_ground(character, jumped, FLOOR, ~UPHELD, FPS)["float_outside_flights_mm"] == 0.0


def test_feet_skate_by_as_much_as_the_body_glides(standing):
    character, q = standing
    gliding = q.copy()
    gliding[:, 0] += 0.007 * np.arange(len(q))
    assert source.on_ground(character, gliding, FLOOR, UPHELD, FPS)["skate_mm_per_frame"] == pytest.approx(7.0)


def test_distances_are_means_over_bones_and_frames(standing):
    character, q = standing
    places = np.zeros((len(q), 2, 3))
    other = places.copy()
    other[:, 1, 0] = 0.05
    figures = source.compare(character, q, q, (other, places), FLOOR, UPHELD, FPS)
    assert figures["source_error_mm"] == pytest.approx(25.0)
    assert figures["source_joint_rms_deg"] == 0.0
    assert figures["acceleration_error"] == pytest.approx(0.0, abs=1e-12)
    assert set(figures) == set(source.NUMBERS)


@pytest.mark.parametrize("fps", [24.0, 30.0, 120.0])
def test_acceleration_error_of_a_parabola_is_its_acceleration(fps):
    time = np.arange(60) / fps
    places = np.zeros((60, 3, 3))
    places[..., 2] = -0.5 * 9.81 * time[:, None] ** 2
    assert source.acceleration_error(places, np.zeros_like(places), fps) == pytest.approx(9.81)


def test_a_tick_needs_all_of_it():
    figures = source.nothing() | {"outcome": "completed", "max_foot_slide_m": 0.002, "max_penetration_m": 0.001}
    assert source.is_good(figures)
    for spoiled in (
        {"outcome": "fell"},
        {"source_error_mm": 31.0},
        {"max_foot_slide_m": 0.02, "skate_mm_per_frame": 3.0},
        {"max_foot_slide_m": 0.135, "skate_mm_per_frame": 1.0, "source_skate_mm_per_frame": 1.0},  # once, and far
        {"max_penetration_m": 0.007, "penetration_mm": 8.0},
        {"max_penetration_m": 0.05, "source_penetration_mm": 8.0},  # in a step that the action goes through, too
    ):
        assert not source.is_good(figures | spoiled)
    # a foot that glides in the action may glide
    assert source.is_good(
        figures
        | {
            "max_foot_slide_m": 0.2,
            "skate_mm_per_frame": 3.0,
            "source_foot_slide_m": 0.19,
            "source_skate_mm_per_frame": 4.0,
        }
    )
