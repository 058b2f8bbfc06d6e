# SPDX-License-Identifier: GPL-3.0-or-later
"""Steps of runners, told by how long a body is pushed up."""

import numpy as np
import pytest
from heft.core.motion.strides import pushing

RATE, GRAVITY = 120.0, 9.81
BODIES = (3, 3, 7, 7)  # heel and toe of the left foot and of the right


def running(speed=6.0, frames=90):
    """Two steps, in frames 10 to 30 of the left foot and 50 to 70 of the right, each told of in passing."""
    path = np.column_stack([speed * np.arange(frames) / RATE, np.zeros(frames), np.ones(frames)])
    push = np.zeros((frames, 3))
    height = np.full((frames, 4), 0.4)
    pace = np.full((frames, 4), 2.0 * speed)
    active = np.zeros((frames, 4), dtype=np.bool_)
    for toe, start in ((1, 10), (3, 50)):
        push[start : start + 20, 2] = 3.0 * GRAVITY
        height[start : start + 20, toe - 1] = 0.11
        height[start : start + 20, toe] = np.linspace(0.09, 0.0, 20)
        pace[start : start + 20, toe - 1 : toe + 1] = 1.2
        active[start + 15 : start + 18, toe] = True
    return active, height, pace, path, push


def test_a_foot_stands_for_as_long_as_it_pushes():
    active, height, pace, path, push = running()
    found = pushing(active, BODIES, height, pace, path, push, RATE)
    assert found[10:30, 1].all()
    assert found[50:70, 3].all()
    assert found.sum() == 40


@pytest.mark.parametrize("speed", [1.0, 2.0])
def test_who_walks_is_left_alone(speed):
    active, height, pace, path, push = running(speed)
    assert (pushing(active, BODIES, height, pace, path, push, RATE) == active).all()


def test_a_foot_that_swings_or_is_high_does_not_stand():
    active, height, pace, path, push = running()
    pace[10:14] = 9.0
    height[50:55] = 0.3
    found = pushing(active, BODIES, height, pace, path, push, RATE)
    assert (np.flatnonzero(found[:, 1]) == np.arange(14, 30)).all()
    assert (np.flatnonzero(found[:, 3]) == np.arange(55, 70)).all()
