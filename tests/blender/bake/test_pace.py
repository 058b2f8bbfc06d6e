# SPDX-License-Identifier: GPL-3.0-or-later
"""How often the window is drawn while a bake goes on."""

import pytest
from heft.blender_addon.baking.pace import SHARE, Pace

EVERY = 0.05


def drawn(cost: float, seconds: float = 60.0) -> tuple[int, int]:
    """Times that a window is drawn which takes `cost` seconds to draw, and events of its timer."""
    pace, now, times, events = Pace(EVERY), 0.0, 0, 0
    while now < seconds:
        events += 1
        draws = pace.due(now)
        times += draws
        now += max(EVERY, cost) if draws else EVERY
    return times, events


@pytest.mark.parametrize("cost", [0.0, 0.005, 0.04])
def test_what_is_drawn_quickly_is_drawn_every_time(cost):
    times, events = drawn(cost)
    assert times == events


@pytest.mark.parametrize("cost", [0.15, 0.25, 1.0])
def test_what_is_drawn_slowly_takes_a_small_share_of_the_time(cost):
    times, _ = drawn(cost)
    assert 1 < times < 60.0 * SHARE / (cost - EVERY) + 2


def test_a_single_slow_picture_is_forgotten():
    pace = Pace(EVERY)
    assert pace.due(0.0)
    assert not pace.due(0.5)  # it took half a second
    assert pace.due(10.0)
    assert [pace.due(10.0 + EVERY * k) for k in range(1, 5)] == [True] * 4
