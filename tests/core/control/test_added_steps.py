# SPDX-License-Identifier: GPL-3.0-or-later
"""Steps that a standing motion does not have: where the pendulum asks for them, and that they are taken."""

import math

import numpy as np
import pytest
from heft.core.contact.terrain import Plane, make_terrain
from heft.core.control.lookahead import LookAhead, Settings, Track
from heft.core.control.recovery import Recovering
from heft.core.control.recovery.added import LANDS, WITHIN, Ahead, add_steps, in_air, stands, way_home, ways_to_step
from heft.core.control.recovery.capture import extrapolated, growth_rate
from heft.core.control.recovery.footholds import APART, Added
from heft.core.control.recovery.homing import FAR
from heft.core.control.recovery.motion_ahead import motion_ahead, touchdowns, unrolled
from heft.core.control.stage import Stage
from heft.core.motion.tracks import point_places
from heft.core.simulation import Push
from heft.core.simulation.fall import FallDetector
from heft.core.simulation.scene import Scene

from .conftest import load_motions, make_reference

AHEAD = np.array([1.0, 0.0])
SECONDS = 5.0


@pytest.fixture(scope="module")
def idle():
    motions = load_motions()
    return make_reference(motions.squat(frames=720, depth=0.01))


@pytest.fixture(scope="module")
def controller(idle):
    return LookAhead(idle.character, Track.of(idle), Settings(rehearsals=0), terrain=make_terrain([Plane()]))


def known(controller, idle, frame=60, rushing=(0.0, 0.0), bent=None):
    """The whole body rushes along x and y, m/s."""
    controller.seek(frame)
    whole = unrolled(controller, idle)
    q, v = whole.q[0].copy() if bent is None else bent, whole.v[0].copy()
    v[:2] += rushing
    return Ahead(whole, idle, (q, v), np.zeros(2), growth_rate(idle.character, q, 0.0), AHEAD)


def left_and_right(idle):
    return idle.character.index("left_foot"), idle.character.index("right_foot")


def test_a_motion_that_stands_is_known_by_its_coming_steps(controller, idle, walk_on_corners):
    controller.seek(60)
    assert stands(motion_ahead(unrolled(controller, idle), idle), idle)
    walking = LookAhead(walk_on_corners.character, Track.of(walk_on_corners), Settings(rehearsals=0))
    for frame in (0, 30):  # on both feet, one of which is about to leave, and on one
        walking.seek(frame)
        ahead = unrolled(walking, walk_on_corners)
        now = Ahead(ahead, walk_on_corners, (ahead.q[0], ahead.v[0]), np.zeros(2), 3.2, AHEAD)
        assert not (stands(ahead, walk_on_corners) and ways_to_step(now))


def test_feet_are_lifted_one_after_the_other_and_stand_again(controller, idle):
    left, right = left_and_right(idle)
    added = Added(first=left, count=3, wait=0.1, lands=0.3, swing=0.25, both=0.1)
    ahead, steps = add_steps(known(controller, idle, rushing=(0.5, 0.0)), added)
    landings = [(48, left), (90, right), (132, left)]
    assert touchdowns(ahead, idle) == landings
    assert [(step.frame, step.body) for step in steps] == landings
    feet = {foot: [i for i, point in enumerate(idle.schedule.points) if point.body == foot] for foot in (left, right)}
    assert not ahead.active[12:48, feet[left]].any()
    assert ahead.active[:60, feet[right]].all()
    assert ahead.rise[30, feet[left]].min() > 0.05
    np.testing.assert_array_equal(steps[-1].shift, steps[-2].shift)  # the feet stand to each other as they did


def test_nobody_steps_whose_foot_the_motion_lifts(controller, idle):
    left, _ = left_and_right(idle)
    late = len(controller.track.q)
    assert add_steps(known(controller, idle, late - 1), Added(left, 2, 0.04, 0.3, 0.3, 0.06)) is not None
    now = known(controller, idle)
    now.whole.active[40, [i for i, point in enumerate(idle.schedule.points) if point.body == left]] = False
    assert add_steps(now, Added(left, 2, 0.04, 0.3, 0.3, 0.06)) is None


def test_who_is_pushed_to_one_side_steps_as_who_is_pushed_to_the_other(controller, idle):
    """A mirror: the neutral pose, the feet and the pendulum are the same on both sides."""
    left, right = left_and_right(idle)
    found = []
    for side, foot in ((1.0, left), (-1.0, right)):
        _, steps = add_steps(known(controller, idle, rushing=(0.2, 0.4 * side)), Added(foot, 2, 0.1, 0.3, 0.3, 0.1))
        found.append(np.array([step.shift for step in steps]) * (1.0, side))
    np.testing.assert_allclose(found[0], found[1], atol=2e-3)
    assert found[0][0][1] > 0.05


def test_a_step_ahead_catches_what_the_pendulum_says(controller, idle):
    """The same by stepping through the phases: with pressure in the middle of soles, and as far ahead as it may be."""
    left, _ = left_and_right(idle)
    now = known(controller, idle, rushing=(0.6, 0.0))
    points = [point for point in idle.schedule.points if point.body == left]
    sole = point_places(idle.character, now.actual[0][None], points)[0, :, 0]
    middle, half = 0.5 * (sole.max() + sole.min()), 0.5 * np.ptp(sole)
    wanted = extrapolated(idle.character, (now.whole.q[84], now.whole.v[84]), now.omega)[0]

    def off_at_the_end(shift, share):
        xi = extrapolated(idle.character, now.actual, now.omega)[0]
        for frames, moved in ((41, 0.0), (7, 0.5), (36, 1.0)):  # standing and the first step, both feet, the second
            press = middle + share * half + moved * shift
            xi = press + math.exp(now.omega * frames / 120.0) * (xi - press)
        return xi - wanted - shift

    def caught(share):
        none, one = off_at_the_end(0.0, share), off_at_the_end(1.0, share)
        return -none / (one - none)

    _, steps = add_steps(now, Added(left, 2, 0.04, 0.3, 0.3, 0.06))
    assert 0.1 < caught(WITHIN) < steps[0].shift[0] < caught(0.0)


def test_feet_keep_apart(controller, idle):
    """Pushed to its left, its right foot may come nearer first, but not across."""
    left, right = left_and_right(idle)
    now = known(controller, idle, rushing=(0.0, 0.5))
    _, steps = add_steps(now, Added(right, 2, 0.04, 0.26, 0.26, 0.06))
    place = {
        foot: np.mean([now.whole.place[0, i, 1] for i, p in enumerate(idle.schedule.points) if p.body == foot])
        for foot in (left, right)
    }
    assert place[left] - (place[right] + steps[0].shift[1]) > APART - 1e-6


def test_a_foot_in_the_air_is_put_down_first(controller, idle):
    left, _ = left_and_right(idle)
    bent = known(controller, idle).actual[0].copy()
    bent[int(idle.character.tree.position_start[idle.character.index("left_shank")])] += 0.6
    now = known(controller, idle, bent=bent)
    assert in_air(now) == [left]
    ways = ways_to_step(now)
    assert ways
    assert {way.first for way in ways} == {left}
    assert {way.lands for way in ways} <= set(LANDS)


def test_ways_are_told_the_same_each_time(controller, idle):
    now = known(controller, idle, rushing=(-0.5, 0.1))
    ways = ways_to_step(now)
    assert len(ways) == len(set(ways)) >= 4
    assert ways == ways_to_step(now)


def test_the_way_home_is_as_long_as_it_is_to_be(controller, idle):
    now = known(controller, idle)
    for aim in (np.array([0.2, 0.0]), np.array([0.0, -0.15])):
        _, steps = add_steps(now, way_home(now, aim), aim)
        np.testing.assert_allclose(steps[-1].shift, aim, atol=0.02)


def stood(controller, idle, newtons, *, recovery=6, returns=False):
    """The follower after a push to its back, the states, and whether it fell."""
    scene = Scene(pushes=(Push.constant("torso", (-newtons, 0.0, 0.0), 0.5, 0.1),))
    stage = Stage(
        controller.character, controller.terrain, scene, 120.0, SECONDS, 0.0, recovery=recovery, returns=returns
    )
    controller.seek()
    follower = Recovering(controller, idle, stage) if recovery else controller
    world = stage.world()
    world.reset(*controller.reference_state())
    fall, states = FallDetector(controller.character, world.rate), []
    for k in range(round(SECONDS * world.rate)):
        follower.between_steps(world, lambda: True)
        world.step(follower)
        states.append(np.concatenate((world.q, world.v)))
        if fall.update(k, world.q, world.v, follower.reference_state()[0]):
            break
    return follower, np.array(states), fall.lost is not None


def test_who_stands_and_is_pushed_over_steps_back_and_stands(controller, idle):
    """The same to the last bit when it is done again; with the setting it goes back to its place."""
    assert stood(controller, idle, 250.0, recovery=0)[2]
    follower, states, fell = stood(controller, idle, 250.0)
    assert not fell
    took = [one for one in follower.recoveries if one.added]
    assert took[0].what == "back"
    assert 0.05 < took[0].distance < 0.7
    assert np.abs(states[-60:, idle.character.nq :]).max() < 0.2  # at rest
    np.testing.assert_array_equal(stood(controller, idle, 250.0)[1], states)
    follower, again, fell = stood(controller, idle, 250.0, returns=True)
    assert not fell
    assert "home" in {one.what for one in follower.recoveries}
    home = np.hypot(*(again[-1, :2] - idle.q[0, :2]))
    assert home < FAR < np.hypot(*(states[-1, :2] - idle.q[0, :2]))
