# SPDX-License-Identifier: GPL-3.0-or-later
"""How long steps along a path are on slopes and stairs."""

import numpy as np
import pytest
from heft.core.contact.terrain import Mesh, Plane, make_terrain
from heft.core.motion.footholds import HIGH
from heft.core.motion.path import Path
from heft.core.motion.steepness import BLUR, LEVEL, steepness_of

from tests.core.contact.meshes import stairs

STEP = 0.7  # m
AHEAD = Path(np.array([[-3.0, 0.0], [6.0, 0.0]]))


def flight(steps, rise, going):
    """Steps along +X from 0 on, with level ground before and after them."""
    vertices, triangles = stairs(steps, rise, going, 4.0)
    vertices[:2, 0] -= 4.0
    vertices[-2:, 0] += 8.0
    return make_terrain([Mesh(vertices, triangles)])


@pytest.mark.parametrize("degrees", [0.0, 10.0, -10.0, 15.0])
def test_on_a_slope_that_people_walk_steps_stay_as_they_are(degrees):
    angle = np.radians(degrees)
    slope = make_terrain([Plane(normal=(-np.sin(angle), 0.0, np.cos(angle)))])
    assert steepness_of(AHEAD, slope, -3.0 * np.tan(angle), STEP) is LEVEL


def test_on_a_steep_ramp_no_step_rises_too_high():
    angle = np.radians(30.0)
    ramp = make_terrain([Plane(normal=(-np.sin(angle), 0.0, np.cos(angle)))])
    steep = steepness_of(AHEAD, ramp, -3.0 * np.tan(angle), STEP)
    assert steep.at(4.0) * STEP * np.tan(angle) == pytest.approx(HIGH, rel=1e-3)


@pytest.mark.parametrize(
    ("rise", "going", "length"), [(0.17, 0.29, 0.29), (-0.17, 0.29, 0.29), (0.25, 0.3, 0.3), (0.09, 0.3, 0.6)]
)
def test_on_stairs_each_step_comes_to_a_tread_as_far_as_none_rises_too_high(rise, going, length):
    steep = steepness_of(AHEAD, flight(8, rise, going), 0.0, STEP)
    middle = 3.0 + 4.0 * going
    assert steep.at(middle) * STEP == pytest.approx(length, abs=0.021)
    for beyond in (0.5, 8.5):
        assert steep.at(beyond) == pytest.approx(1.0)


def test_treads_that_steps_are_shorter_than_anyway_change_nothing_of_theirs():
    steep = steepness_of(AHEAD, flight(3, 0.1, 1.2), 0.0, STEP)
    assert steep is LEVEL


def test_as_much_longer_is_a_level_path_of_as_many_steps():
    steep = steepness_of(AHEAD, flight(8, 0.17, 0.29), 0.0, STEP)
    spent = 7.0 * 0.29 + 0.29  # from half a tread before the first riser to half a tread after the last
    assert steep.longer == pytest.approx(spent * (STEP / 0.29 - 1.0), rel=0.1)
    assert LEVEL.longer == 0.0
    assert BLUR < 0.29
