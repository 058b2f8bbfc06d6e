# SPDX-License-Identifier: GPL-3.0-or-later
"""A walk made on the level, put on stairs as they are built: 17 cm by 29 cm, wherever they begin."""

from dataclasses import replace

import numpy as np
import pytest
from heft.core.job import run

from tests.core.job import golden

RISE, GOING = 0.17, 0.29
STILL = 0.004  # m a frame
SHORTEST = 4  # frames


def stances(result, rise):
    """Of both feet, in order: on which step each stands, counted from where the first does."""
    names = golden.kept("walk").clip.skeleton.names
    found = []
    for bone in ("foot.L", "foot.R"):
        place = result.poses[:, names.index(bone), :3, 3]
        still = np.linalg.norm(np.diff(place, axis=0), axis=1) < STILL
        edges = np.flatnonzero(np.diff(np.concatenate([[False], still, [False]]).astype(int)))
        found += [(a, place[a:b, 2].mean()) for a, b in edges.reshape(-1, 2) if b - a >= SHORTEST]
    heights = np.array([height for _, height in sorted(found)])
    return (heights - heights[0]) / rise


@pytest.mark.parametrize(("first", "rise"), [(0.6, RISE), (0.75, RISE), (0.9, RISE), (1.05, RISE), (0.9, -RISE)])
def test_steps_are_taken_one_or_two_at_a_time(first, rise):
    result = run(replace(golden.kept("walk"), scene=golden.stairs(rise, GOING, first, steps=12)))
    assert result.outcome == "completed"
    assert result.report["max_penetration_m"] < 0.01
    steps = stances(result, rise)
    assert len(steps) >= 7
    np.testing.assert_allclose(steps, np.round(steps), atol=0.1)  # on treads
    assert np.diff(np.round(steps)).max() <= 2
    assert steps[-1] > 6.5
