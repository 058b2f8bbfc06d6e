# SPDX-License-Identifier: GPL-3.0-or-later
"""How often the window is drawn while a bake goes on."""

import pytest
from heft.blender_addon.baking.pace import SHARE, Pace

EVERY = 0.05


def drawn(cost: float, passes: int = 1, seconds: float = 600.0) -> tuple[int, int]:
    """Times that a window is drawn anew, `passes` times over at `cost` seconds each, and events of its timer."""
    pace, now, times, events, left = Pace(EVERY), 0.0, 0, 0, 0
    while now < seconds:
        events += 1
        if pace.due(now):
            times += 1
            left = passes
        now += max(EVERY, cost) if left else EVERY
        left = max(left - 1, 0)
    return times, events


@pytest.mark.parametrize("cost", [0.0, 0.005, 0.04])
def test_what_is_drawn_quickly_is_drawn_every_time(cost):
    times, events = drawn(cost, 8)
    assert times == events


@pytest.mark.parametrize("cost", [0.15, 0.25, 1.0])
@pytest.mark.parametrize("passes", [1, 8])
def test_what_is_drawn_slowly_takes_a_small_share_of_the_time(cost, passes):
    times, _ = drawn(cost, passes)
    assert 1 < times <= 600.0 * SHARE / (passes * cost) + 1


def test_a_single_slow_picture_is_forgotten():
    pace = Pace(EVERY)
    assert pace.due(0.0)
    after = [0.5 + EVERY * k for k in range(400)]  # it took half a second
    due = [pace.due(now) for now in after]
    first = due.index(True)
    assert after[first] == pytest.approx(0.5 / SHARE, abs=2 * EVERY)
    assert all(due[first:])
