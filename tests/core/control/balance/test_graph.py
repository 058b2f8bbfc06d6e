# SPDX-License-Identifier: GPL-3.0-or-later
"""Bridges between motions, and courses through the graph that they make."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from heft.core.control.balance.graph import ActionGraph, Bridge, _candidates, find_bridge, make_graph
from heft.core.control.track import Track
from heft.core.dynamics import difference
from heft.core.motion.cycle import Cycle

from tests.core.control.replanning.tracks import held

NOWHERE = Cycle((0.0, 0.0))


@pytest.fixture(scope="module")
def walking(walk_on_corners):
    return walk_on_corners.character, Track.of(walk_on_corners)


def velocities(character, q, dt):
    return np.array([difference(character, a, b) for a, b in pairwise(q)]) / dt


def test_the_nearest_states_of_a_motion_and_itself_turned_are_the_same_frames(walking):
    character, track = walking
    away = Cycle((3.0, -2.0), 1.0)
    q = np.array([away.move_state(character, q, np.zeros(character.nv))[0] for q in track.q])
    shift = away.rotation[:2, :2] @ np.array(track.cycle.shift)
    for distance, i, j in _candidates(character, track, replace(track, q=q, cycle=Cycle(tuple(shift)))):
        assert i == j
        assert distance < 1e-6


def test_a_bridge_lies_on_both_motions_and_a_course_has_no_seams(walking, turning_walk):
    """In positions and velocities, over several laps before it and after."""
    character, track = walking
    turning = Track.of(turning_walk)
    bridge = find_bridge(character, track, turning)
    graph = ActionGraph(character, {"ahead": track, "around": turning}, {("ahead", "around"): bridge})
    course = graph.course([("ahead", 2.0), ("around", 2.5)])
    before = round(2.0 / track.dt)
    before += (bridge.leave - before) % len(track.q)
    after = before + len(bridge.track.q)
    assert len(course.q) == after + round(2.5 / track.dt) + 1
    v = velocities(character, course.q, track.dt)
    change = np.abs(np.diff(v, axis=0)).max(axis=1)
    own = np.abs(np.diff(velocities(character, bridge.track.q, track.dt), axis=0)).max()
    for seam in (before, after):
        assert change[seam - 2 : seam + 1].max() < 1.5 * max(own, change[: seam - 2].max())
    np.testing.assert_allclose(course.q[: len(track.q)], track.q, atol=1e-12)
    # what follows is the turning walk, wherever it is
    lap = len(turning.q)
    turn = 2.0 * np.arctan2(*(course.q[[after, after + lap]][:, [6, 3]].T))
    assert np.diff(turn)[0] % (2.0 * np.pi) == pytest.approx(turning.cycle.turn, abs=1e-6)


def made(character):
    """Three motions that stand, a step apart in height, and bridges one way round."""
    poses = [character.neutral() + np.eye(character.nq)[2] * 0.1 * k for k in range(3)]
    tracks = {name: replace(held(character, [q] * 6), cycle=NOWHERE) for name, q in zip("abc", poses, strict=True)}
    step = Cycle((1.0, 0.0), 0.5 * np.pi)
    bridges = {pair: Bridge(3, 2, 0.0, held(character, [poses[0]] * 4), step) for pair in (("a", "b"), ("b", "c"))}
    return ActionGraph(character, tracks, bridges)


def test_a_course_takes_the_way_that_there_is(muico29):
    graph = made(muico29)
    assert graph.way("a", "c") == ["a", "b", "c"]
    assert graph.way("b", "b") == ["b"]
    with pytest.raises(ValueError, match="no way from 'c' to 'a'"):
        graph.way("c", "a")
    course = graph.course([("a", 8 / 120), ("a", 0.0), ("c", 5 / 120)])
    # a to frame 9, a bridge, b from 2 to 3, a bridge, c from 2 on
    assert len(course.q) == 9 + 4 + 1 + 4 + 6
    heights = np.round((course.q[:, 2] - muico29.neutral()[2]) / 0.1).astype(int)
    np.testing.assert_array_equal(heights, [0] * 13 + [1] + [0] * 4 + [2] * 6)
    # forwards, and then forwards as seen from there: a quarter to the left
    np.testing.assert_allclose(course.q[-1, :2], (1.0, 1.0), atol=1e-12)
    assert course.cycle is None


def test_what_makes_no_sense_is_refused(muico29):
    graph = made(muico29)
    with pytest.raises(ValueError, match="no motion 'd'; there are a, b, c"):
        graph.course([("d", 1.0)])
    with pytest.raises(ValueError, match="finite time"):
        graph.course([("a", -1.0)])
    with pytest.raises(ValueError, match="at least one motion"):
        graph.course([])
    with pytest.raises(ValueError, match="repeats, which 'once' does not"):
        make_graph(muico29, {"once": held(muico29, [muico29.neutral()] * 3)})
