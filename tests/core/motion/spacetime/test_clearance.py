# SPDX-License-Identifier: GPL-3.0-or-later
"""How high feet are to be between their stances."""

import numpy as np
import pytest
from heft.core.motion.cycle import Cycle
from heft.core.motion.footholds import FOUND_CLEARANCE, past_found_edges
from heft.core.motion.spacetime.problem import least_heights
from heft.core.motion.spacetime.settings import Settings

RATE = 100.0
SLOW = Settings(clearance_height=0.01, clearance_ramp=0.1)


def swing(speed, frames=60, stands=10):
    """A point that stands, goes ahead at a speed (m/s), and stands again."""
    held = np.ones(frames, dtype=np.bool_)
    held[stands:-stands] = False
    x = speed * np.clip(np.arange(frames) - (stands - 1), 0, frames - 2 * stands + 1) / RATE
    return held, np.column_stack([x, np.zeros(frames), np.zeros(frames)])


def test_it_rises_with_time_to_all_of_the_height():
    held, way = swing(2.0)
    height = least_heights(held, way, SLOW, RATE)
    np.testing.assert_array_equal(height[held], 0.0)
    assert height[10] == 0.0  # it may still be there
    assert height[15] == pytest.approx(0.005)  # half of a tenth of a second after that
    np.testing.assert_allclose(height[20:40], 0.01)
    np.testing.assert_allclose(height, height[::-1])


def test_what_is_away_from_its_place_is_high_whatever_the_time():
    held, way = swing(1.0)
    height = least_heights(held, way, Settings(clearance_height=0.01, clearance_ramp=0.1, clearance_way=0.02), RATE)
    assert height[10] == pytest.approx(0.005)  # after 10 of 20 mm
    np.testing.assert_allclose(height[11:49], 0.01)
    assert height[49] == pytest.approx(0.005)


def test_feet_are_higher_over_ground_that_was_found_under_them():
    held, way = swing(2.0)
    height = least_heights(held, way, past_found_edges(SLOW), RATE)
    np.testing.assert_allclose(height[20:40], FOUND_CLEARANCE)
    high = Settings(clearance_height=0.05)
    assert past_found_edges(high) == high


def test_a_cycle_knows_the_lap_before_and_the_one_after():
    cycle = Cycle((1.0, 0.2), 0.4)
    held, way = swing(2.0, 31)
    held[10:] = False
    held[-1] = True  # the last frame is the first of the next lap
    way[-1] = cycle.move_points(way[0])
    way[10:30] = way[0] + np.linspace(0.0, 1.0, 22)[1:-1, None] * (way[-1] - way[0])
    laps = np.concatenate([cycle.move_points_back(way[:-1]), way[:-1], cycle.move_points(way)])
    settings = Settings(clearance_height=0.01, clearance_ramp=0.1, clearance_way=0.2)
    whole = least_heights(np.concatenate([held[:-1], held[:-1], held]), laps, settings, RATE)
    found = least_heights(held, way, settings, RATE, cycle)
    assert found[29] == pytest.approx(found[10])
    np.testing.assert_allclose(found, whole[30:61], atol=1e-12)
    np.testing.assert_allclose(cycle.move_points_back(cycle.move_points(way)), way, atol=1e-12)
