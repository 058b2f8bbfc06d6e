# SPDX-License-Identifier: GPL-3.0-or-later
"""Bridges between motions, and courses through the graph that they make."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from heft.core.control.balance.graph import ActionGraph, Bridge, candidates, find_bridge, make_graph
from heft.core.dynamics import difference
from heft.core.motion.cycle import Cycle
from heft.core.motion.reference import Reference
from heft.core.motion.sequence import NOWHERE, Choice, Piece, concatenate, standing


def velocities(character, q, dt):
    return np.array([difference(character, a, b) for a, b in pairwise(q)]) / dt


def test_the_nearest_states_of_a_motion_and_itself_turned_are_the_same_frames(walk_on_corners):
    walk, character = walk_on_corners, walk_on_corners.character
    away = Cycle((3.0, -2.0), 1.0)
    moved = [away.move_state(character, *state) for state in zip(walk.q, walk.v, strict=True)]
    q, v = (np.array(part) for part in zip(*moved, strict=True))
    shift = away.rotation[:2, :2] @ np.array(walk.cycle.shift)
    for distance, i, j in candidates(walk, replace(walk, q=q, v=v, cycle=Cycle(tuple(shift)))):
        assert i == j
        assert distance < 1e-6


def test_a_bridge_lies_on_both_motions_and_a_course_has_no_seams(walk_on_corners, turning_walk):
    """In positions and velocities, over several laps before it and after."""
    walk, turning, character, dt = walk_on_corners, turning_walk, walk_on_corners.character, 1.0 / walk_on_corners.rate
    bridge = find_bridge(walk, turning)
    graph = ActionGraph({"ahead": walk, "around": turning}, {("ahead", "around"): bridge})
    pieces = graph.sequence([Choice("ahead", 0.0), Choice("around", 2.0)], 6.0)
    course = concatenate(pieces)
    assert [piece.name for piece in pieces] == ["ahead", "ahead to around", "around"]
    before = len(pieces[0].frames)
    assert 0 <= before - round(2.0 / dt) < walk.steps
    after = before + bridge.reference.steps
    assert course.steps == round(6.0 / dt)
    v = velocities(character, course.q, dt)
    np.testing.assert_allclose(course.v[:-1], v, atol=1e-7)
    change = np.abs(np.diff(v, axis=0)).max(axis=1)
    own = np.abs(np.diff(velocities(character, bridge.reference.q, dt), axis=0)).max()
    for seam in (before, after):
        assert change[seam - 2 : seam + 1].max() < 1.5 * max(own, change[: seam - 2].max())
    np.testing.assert_allclose(course.q[: len(walk.q)], walk.q, atol=1e-12)
    # what follows is the turning walk, wherever it is
    lap = turning.steps
    turn = 2.0 * np.arctan2(*(course.q[[after, after + lap]][:, [6, 3]].T))
    assert np.diff(turn)[0] % (2.0 * np.pi) == pytest.approx(turning.cycle.turn, abs=1e-6)


def still(reference: Reference, height: float, steps: int) -> Reference:
    """A motion that stands at that height."""
    pose = reference.character.neutral() + np.eye(reference.character.nq)[2] * height
    return standing(replace(reference, q=np.repeat(pose[None], len(reference.q), axis=0)), steps)


def made(reference):
    """Three motions that stand, a step apart in height, and bridges one way round."""
    motions = {name: still(reference, height, 6) for name, height in zip("abc", (0.0, 0.1, 0.2), strict=True)}
    step = Cycle((1.0, 0.0), 0.5 * np.pi)
    over = replace(still(reference, 0.0, 4), cycle=None)
    return ActionGraph(motions, {pair: Bridge(3, 2, 0.0, over, step) for pair in (("a", "b"), ("b", "c"))})


def test_a_course_takes_the_way_that_there_is(walk_on_corners):
    graph, character = made(walk_on_corners), walk_on_corners.character
    assert graph.way("a", "c") == ["a", "b", "c"]
    assert graph.way("b", "b") == ["b"]
    with pytest.raises(ValueError, match="No transition was found from 'c' to 'a'"):
        graph.way("c", "a")
    pieces = graph.sequence([Choice("a", 0.0), Choice("a", 7 / 120), Choice("c", 8 / 120)], 23 / 120)
    # a to frame 9, a bridge, b from 2 to 3, a bridge, c from 2 on
    assert [len(piece.frames) for piece in pieces] == [9, 4, 1, 4, 6]
    course = concatenate(pieces)
    heights = np.round((course.q[:, 2] - character.neutral()[2]) / 0.1).astype(int)
    np.testing.assert_array_equal(heights, [0] * 13 + [1] + [0] * 4 + [2] * 6)
    # forwards, and then forwards as seen from there: a quarter to the left
    np.testing.assert_allclose(course.q[-1, :2], (1.0, 1.0), atol=1e-12)
    assert course.cycle is None


def test_points_that_only_some_motions_touch_with_have_a_column_too(walk_on_corners):
    walk = walk_on_corners
    fewer = replace(
        walk.schedule,
        points=walk.schedule.points[2:],
        active=walk.schedule.active[:, 2:],
        place=walk.schedule.place[:, 2:],
    )
    other = replace(
        walk, schedule=fewer, normal=walk.normal[:, 2:], carrying=walk.carrying[:, 2:], force=walk.force[:, 2:]
    )
    course = concatenate([Piece("fewer", other, range(5), NOWHERE), Piece("all", walk, range(5, 10), NOWHERE)])
    order = [course.schedule.points.index(point) for point in walk.schedule.points]
    assert not course.schedule.active[:5, order[:2]].any()
    np.testing.assert_array_equal(course.force[:5, order[2:]], walk.force[:5, 2:])
    np.testing.assert_array_equal(course.schedule.active[5:, order], walk.schedule.active[5:10])


def test_a_course_ends_when_it_is_to_end(walk_on_corners):
    graph = made(walk_on_corners)
    for frames in (3, 9, 11, 30):
        pieces = graph.sequence([Choice("a", 0.0), Choice("b", 8 / 120)], frames / 120)
        assert sum(len(piece.frames) for piece in pieces) == frames + 1


def test_what_makes_no_sense_is_refused(walk_on_corners):
    graph = made(walk_on_corners)
    for choices, seconds, words in (
        ([Choice("d", 1.0)], 1.0, "no motion 'd'; choose from a, b, c"),
        ([Choice("a", np.nan)], 1.0, "finite time"),
        ([Choice("a", 1.0), Choice("b", 0.5)], 1.0, "in order of time"),
        ([Choice("a", 0.0)], 0.0, "must last longer than 0 s"),
        ([], 1.0, "at least one motion"),
    ):
        with pytest.raises(ValueError, match=words):
            graph.sequence(choices, seconds)
    with pytest.raises(ValueError, match="'once' is not cyclic"):
        make_graph({"once": replace(walk_on_corners, cycle=None)})
