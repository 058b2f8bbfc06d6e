# SPDX-License-Identifier: GPL-3.0-or-later
"""Steps of the motion in other times: the motion drawn together, and footholds that catch what the pendulum says."""

import math

import numpy as np
import pytest
from heft.core.contact.terrain import Plane, make_terrain
from heft.core.control.lookahead import LookAhead, Settings, Track
from heft.core.control.recovery import hurried
from heft.core.control.recovery.added import Ahead
from heft.core.control.recovery.capture import growth_rate
from heft.core.control.recovery.footholds import LEAST_APART, Hurry
from heft.core.control.recovery.hurried import ACROSS, FIRST, hurry, ways_to_hurry
from heft.core.control.recovery.motion_ahead import AFTER, cut, touchdowns, unrolled
from heft.core.motion.tracks import point_places

SINGLE = 40  # a frame of the made walk in which one foot stands


@pytest.fixture(scope="module")
def controller(walk_on_corners):
    return LookAhead(
        walk_on_corners.character, Track.of(walk_on_corners), Settings(rehearsals=0), terrain=make_terrain([Plane()])
    )


def known(controller, walk, rushing=(0.0, 0.0), frame=SINGLE):
    """The whole body rushes ahead and to its left, m/s."""
    controller.seek(frame)
    whole = unrolled(controller, walk)
    x, y = np.array(controller.track.cycle.shift) / np.hypot(*controller.track.cycle.shift)
    v = whole.v[0].copy()
    v[:2] += rushing[0] * np.array([x, y]) + rushing[1] * np.array([-y, x])
    omega = growth_rate(walk.character, whole.q[0], 0.0)
    return Ahead(whole, walk, (whole.q[0], v), np.zeros(2), omega, np.array([x, y]))


def test_feet_come_down_when_they_are_to_and_the_motion_goes_on_in_its_own_time(controller, walk_on_corners):
    now = known(controller, walk_on_corners)
    landings = touchdowns(now.whole, walk_on_corners)
    frames = [frame for frame, _ in landings[:2]]
    quick = now.whole.in_time(controller, frames, [10, 40])
    assert touchdowns(quick, walk_on_corners)[:2] == [(10, landings[0][1]), (40, landings[1][1])]
    np.testing.assert_allclose(quick.q[10], now.whole.q[frames[0]], atol=1e-12)
    np.testing.assert_allclose(quick.q[40 + AFTER], now.whole.q[frames[1] + AFTER], atol=1e-12)
    np.testing.assert_allclose(quick.v[40 + AFTER], now.whole.v[frames[1] + AFTER])
    np.testing.assert_allclose(quick.v[20], now.whole.v[round(frames[0] + (frames[1] - frames[0]) / 3)] * (
        (frames[1] - frames[0]) / 30
    ))  # fmt: skip


def test_footholds_catch_what_the_pendulum_says(controller, walk_on_corners, monkeypatch):
    """The same frame by frame, with pressure in the middle of soles: what a rush adds is gone at the last touchdown."""
    monkeypatch.setattr(hurried, "WITHIN", 1e-9)
    monkeypatch.setattr(hurried, "QUICK", 1e9)
    calm, rushed = (known(controller, walk_on_corners, (speed, 0.0)) for speed in (0.0, 0.25))
    way = Hurry((0, 20, 25, 65, 70, 110), crosses=False)
    (ahead, before), (_, after) = (hurry(now, controller, way) for now in (calm, rushed))
    moved = [float((b.shift - a.shift) @ calm.facing) for a, b in zip(before, after, strict=True)]
    points = walk_on_corners.schedule.points
    off = 0.25 / calm.omega
    for frame in range(before[-1].frame):
        presses = []
        for foot in calm.feet:
            if ahead.active[frame, [i for i, point in enumerate(points) if point.body == foot]].any():
                steps = [m for step, m in zip(before, moved, strict=True) if step.body == foot and step.frame <= frame]
                presses.append(steps[-1] if steps else 0.0)
        off = np.mean(presses) + math.exp(calm.omega / walk_on_corners.rate) * (off - np.mean(presses))
    assert moved[0] > 0.05
    assert off == pytest.approx(moved[-1], abs=0.01)


@pytest.mark.parametrize("side", [1.0, -1.0])
def test_no_foot_comes_down_across_the_other_unless_it_may(controller, walk_on_corners, side):
    now = known(controller, walk_on_corners, (0.0, 0.5 * side))
    ways = ways_to_hurry(now, controller)
    assert ways
    points = walk_on_corners.schedule.points
    left = np.array([-now.facing[1], now.facing[0]])
    for way in ways:
        ahead, steps = hurry(now, controller, way)
        assert steps[0].frame == way.times[1] <= round(max(FIRST) * walk_on_corners.rate)
        np.testing.assert_array_equal(steps[-1].shift, steps[-2].shift)  # the feet stand to each other as they did
        first = steps[0]
        foot = point_places(walk_on_corners.character, ahead.q[first.frame][None], points)[0, :, :2]
        place = {body: foot[[i for i, p in enumerate(points) if p.body == body]].mean(axis=0) for body in now.feet}
        stood = point_places(walk_on_corners.character, now.actual[0][None], points)[0, :, :2]
        other = next(body for body in now.feet if body != first.body)
        stands = stood[[i for i, p in enumerate(points) if p.body == other]].mean(axis=0)
        sign = 1.0 if "left" in walk_on_corners.character.bodies[first.body].name else -1.0
        apart = sign * float((place[first.body] + first.shift - stands) @ left)
        assert apart > (-ACROSS if way.crosses else LEAST_APART) - 1e-6


def test_the_hopeless_is_not_tried(controller, walk_on_corners):
    assert ways_to_hurry(known(controller, walk_on_corners, (0.0, 6.0)), controller) == []


def test_who_stands_on_both_feet_before_the_last_step_has_that_step_only(controller, walk_on_corners):
    """Near a clip's end; the other foot could step before it, but nothing of the motion's would come after."""
    for frame in range(walk_on_corners.steps):
        now = known(controller, walk_on_corners, frame=frame)
        landing, lands = touchdowns(now.whole, walk_on_corners)[0]
        last = now._replace(whole=cut(now.whole, landing + AFTER))
        lifted, *_ = hurried._knots(last, 1)
        if lifted > 0:
            break
    assert lifted > 0
    ways = ways_to_hurry(last, controller)
    assert ways
    for way in ways:
        assert way.before is None
        assert [step.body for step in hurry(last, controller, way)[1]] == [lands]
