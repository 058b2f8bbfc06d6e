# SPDX-License-Identifier: GPL-3.0-or-later
"""A walk laid along a path: its feet stand, where and how the path has it, and it ends standing at the path's end."""

from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from heft.core.dynamics import center_of_mass
from heft.core.motion import quaternions
from heft.core.motion.along import laps_needed, lay_along
from heft.core.motion.cycles import make_cycle, repeat
from heft.core.motion.fit import body_poses
from heft.core.motion.labels import label
from heft.core.motion.path import Path
from heft.core.motion.planting import find_soles
from heft.core.motion.rest import ends_at_rest
from heft.core.motion.schedule import contact_points, runs
from heft.core.motion.steepness import LEVEL, Steepness
from heft.core.motion.tracks import point_places

from tests.core.motion.walkers import PERIOD, SPEED, STANCE, glide


@cache
def cycle_of_walk():
    walk = glide(seconds=5.0)
    found = make_cycle(walk.character, walk.trajectory, label(walk.character, walk.trajectory), begin=0)
    return walk.character, found


def laid_along(path, steepness=LEVEL):
    character, cycle = cycle_of_walk()
    row = repeat(character, replace(cycle, schedule=cycle.held), laps_needed(cycle, path, steepness))
    return character, lay_along(character, cycle, *row, path, steepness)


def soles_of(character):
    return [sole for sole in find_soles(character, contact_points(character)) if sole.corners]


def check_feet_stand(character, laid):
    """Corners that touch are where the schedule has them, in one place for each contact."""
    for i, point in enumerate(laid.schedule.points):
        for start, stop in runs(laid.schedule.active[:, i]):
            place = laid.schedule.place[start:stop, i]
            np.testing.assert_allclose(place, place[:1].repeat(len(place), axis=0), atol=1e-6)
            track = point_places(character, laid.trajectory.q[start:stop], [point])[:, 0]
            assert np.linalg.norm(track - place, axis=1).max() < 0.03


def test_straight_on_it_walks_as_it_does_and_stops_at_the_end():
    path = Path(np.array([[2.0, 1.0], [8.0, 1.0]]))
    character, laid = laid_along(path)
    check_feet_stand(character, laid)
    q, rate = laid.trajectory.q, laid.trajectory.rate
    np.testing.assert_allclose(q[0, :2], [2.0, 1.0], atol=0.02)
    assert np.abs(q[:, 1] - 1.0).max() < 0.03
    # it is made a little longer or shorter for a step to fall on the end
    speed = np.diff(q[: round(2.0 * rate), 0]).mean() * rate
    assert speed == pytest.approx(SPEED, rel=0.1)
    ends = [point_places(character, q[-1:], sole.corners)[0].mean(axis=0) for sole in soles_of(character)]
    for end in ends:
        assert end[0] == pytest.approx(8.0, abs=0.12)
    np.testing.assert_allclose(center_of_mass(character, q[-1])[:2], np.mean(ends, axis=0)[:2], atol=0.03)
    assert ends_at_rest(character, laid.trajectory, laid.schedule)


def test_where_the_ground_is_steep_steps_are_shorter_and_the_end_is_where_it_was():
    character, laid = laid_along(
        Path(np.array([[0.0, 0.0], [9.0, 0.0]])),
        Steepness(np.array([3.0, 3.1, 5.9, 6.0]), np.array([1.0, 0.5, 0.5, 1.0])),
    )
    check_feet_stand(character, laid)
    spots = []
    for sole in soles_of(character):
        columns = [i for i, p in enumerate(laid.schedule.points) if p.foot and p.body == sole.body]
        for start, stop in runs(laid.schedule.active[:, columns].any(axis=1)):
            spots.append(laid.schedule.place[(start + stop) // 2, columns, 0].max())
    length = np.diff(np.sort(spots))
    at = np.sort(spots)[1:]
    usual = np.median(length[at < 2.5])
    np.testing.assert_allclose(length[(at > 3.5 + usual) & (at < 5.5)], 0.5 * usual, rtol=0.15)
    assert at[-1] == pytest.approx(9.0, abs=0.3)
    assert laid.trajectory.q[-1, 0] == pytest.approx(9.0, abs=0.12)


def test_along_a_circle_each_foot_stands_along_its_tangent():
    angle = np.linspace(0.0, 1.5 * np.pi, 400)
    path = Path(2.0 * np.column_stack([np.sin(angle), 1.0 - np.cos(angle)]))
    character, laid = laid_along(path)
    check_feet_stand(character, laid)
    for sole in soles_of(character):
        columns = [i for i, p in enumerate(laid.schedule.points) if p.foot and p.body == sole.body]
        for start, stop in runs(laid.schedule.active[:, columns].any(axis=1))[1:-1]:
            place, turn = body_poses(character, laid.trajectory.q[(start + stop) // 2][None])
            ahead = quaternions.rotate(turn[0, sole.body], sole.frame[0])
            x, y = place[0, sole.body, :2]
            tangent = np.array([2.0 - y, x]) / np.hypot(2.0 - y, x)
            assert ahead[:2] @ tangent > np.cos(np.radians(8.0))


def test_twice_as_fast_takes_longer_and_quicker_steps():
    slow, fast = (Path(np.array([[0.0, 0.0], [9.0, 0.0]]), [0.0], [speed]) for speed in (0.7, 1.4))
    counts, seconds = [], []
    for path in (slow, fast):
        character, laid = laid_along(path)
        check_feet_stand(character, laid)
        columns = [i for i, p in enumerate(laid.schedule.points) if p.body == soles_of(character)[0].body]
        counts.append(len(runs(laid.schedule.active[:, columns].any(axis=1))))
        seconds.append(len(laid.trajectory.q) / laid.trajectory.rate)
    assert counts[0] > counts[1]
    assert seconds[0] > 1.6 * seconds[1]
    assert counts[1] / seconds[1] > counts[0] / seconds[0]


def test_a_step_at_least_is_needed():
    with pytest.raises(ValueError, match="too short"):
        laid_along(Path(np.array([[0.0, 0.0], [0.5, 0.0]]), [0.0], [2.0]))


def test_steps_take_as_long_as_the_cycles_on_the_way():
    character, laid = laid_along(Path(np.array([[0.0, 0.0], [6.0, 0.0]])))
    columns = [i for i, p in enumerate(laid.schedule.points) if p.body == soles_of(character)[0].body]
    whole = runs(laid.schedule.active[:, columns].any(axis=1))[1:-1]
    assert len(whole) >= 2
    for start, stop in whole:
        assert (stop - start) / laid.trajectory.rate == pytest.approx(STANCE, abs=0.1 * PERIOD)
