# SPDX-License-Identifier: GPL-3.0-or-later
"""Holds whose anchor goes a way: they lead where they are to, and take momentum from nobody."""

import numpy as np
import pytest
from heft.core.motion import quaternions
from heft.core.simulation import Grab, World
from heft.core.simulation.company import Company, Hold, simulate_together

from tests.core.simulation.test_company import ball, placed, total_momentum

POINT = np.array([0.1, 0.05, -0.02])


def two(holds):
    """Balls that fly and spin on their own."""
    first = placed(World(ball(1.0), []), (0.0, 0.0, 0.0), (0.3, -0.2, 0.5), (1.0, 3.0, -2.0))
    second = placed(World(ball(3.0), []), (0.6, 0.2, 0.0), (-0.1, 0.4, 0.0), (2.0, -1.0, 1.5))
    return Company([first, second], holds)


def ways(recordings):
    """The first's point in the second's frame, in every state."""
    first, second = (np.array(recording.q) for recording in recordings)
    point = first[:, :3] + quaternions.rotate(first[:, 3:7], POINT)
    return quaternions.rotate(quaternions.conjugate(second[:, 3:7]), point - second[:, :3])


def test_what_goes_that_way_by_itself_is_left_alone():
    free = simulate_together(two([]), [None, None], seconds=0.5)
    held = two([Hold(0, Grab("ball", tuple(POINT.tolist()), start=-1e-3), 1, "ball", ways(free))])
    found = simulate_together(held, [None, None], seconds=0.5)
    for one, other in zip(free, found, strict=True):
        # a step's path bends by the square of the turn in it
        np.testing.assert_allclose(one.q, other.q, atol=5e-3)
        np.testing.assert_allclose(one.v[:, :3], other.v[:, :3], atol=0.1)


def test_who_stands_still_is_led_by_the_anchors_pace():
    """Two balls held at their middles: the relative speed is the anchor's, shared by the masses, in closed form."""
    pace, rate = 0.4, 120.0
    steps = np.arange(61)[:, None] / rate
    way = np.array([0.5, 0.0, 0.0]) + pace * steps * np.array([1.0, 0.0, 0.0])
    worlds = [placed(World(ball(1.0), []), (0.5, 0.0, 0.0)), placed(World(ball(3.0), []), (0.0, 0.0, 0.0))]
    company = Company(worlds, [Hold(0, Grab("ball", start=-1e-3), 1, "ball", way)])
    simulate_together(company, [None, None], seconds=0.4)
    assert worlds[0].v[0] - worlds[1].v[0] == pytest.approx(pace, abs=1e-6)
    assert worlds[0].v[0] == pytest.approx(0.75 * pace, abs=1e-3)
    linear, _ = total_momentum(worlds)
    np.testing.assert_allclose(linear, 0.0, atol=1e-10)


def test_linear_momentum_is_kept_along_any_way():
    rng = np.random.default_rng(3)
    way = 0.5 + 0.1 * np.cumsum(rng.normal(size=(70, 3)), axis=0) / 8.0
    company = two([Hold(0, Grab("ball", tuple(POINT.tolist()), start=0.05), 1, "ball", way)])
    before, _ = total_momentum(company.worlds)
    simulate_together(company, [None, None], seconds=0.5)
    after, _ = total_momentum(company.worlds)
    np.testing.assert_allclose(after, before, atol=1e-10)


@pytest.mark.parametrize("way", [np.zeros((0, 3)), np.zeros(3), np.full((4, 3), np.nan)])
def test_a_way_that_makes_no_sense_is_refused(way):
    with pytest.raises(ValueError, match="way of the grab"):
        Hold(0, Grab("ball"), 1, "ball", way)
