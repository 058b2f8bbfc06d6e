# SPDX-License-Identifier: GPL-3.0-or-later
"""Walks of 1.0 and 1.2 m a stride as one controller; what is made between motions that are far apart."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from heft.core.control.combination.middles import filled, sunk
from heft.core.control.combination.motions import CombinedMotion
from heft.core.control.lookahead import LookAhead, Settings, Track, sweep
from heft.core.dynamics import body_poses
from heft.core.motion.between import between
from heft.core.motion.fit import Trajectory
from heft.core.motion.spacetime import Ends, build_reference
from heft.core.simulation import World

from tests.core.motion.spacetime import motions


@pytest.fixture(scope="module")
def walks():
    made = [motions.walk(stride=stride, points_of=motions.corners) for stride in (1.0, 1.2)]
    return [
        build_reference(m.character, Trajectory(m.rate, m.q, m.v), m.schedule, bounds=Ends(cycle=m.cycle)) for m in made
    ]


@pytest.fixture(scope="module")
def far():
    made = [motions.walk(stride=stride, points_of=motions.corners) for stride in (0.9, 1.3)]
    return [
        build_reference(m.character, Trajectory(m.rate, m.q, m.v), m.schedule, bounds=Ends(cycle=m.cycle)) for m in made
    ]


@pytest.fixture(scope="module")
def line(far):
    return filled(far)


@pytest.fixture(scope="module")
def both(walks):
    return CombinedMotion(walks)


def ask(motion, stride):
    return motion.ask(motion.place_of(motion.strides, stride))


def begun(controller):
    world = World(controller.character)
    world.reset(*controller.reference_state())
    return world


def steps(world, controller, laps):
    """Lengths of steps, m, between feet in the middle of their stances."""
    feet = [controller.character.index(f"{side}_foot") for side in ("left", "right")]
    places = []
    while controller.lap < laps:
        before = controller.phase
        world.step(controller)
        for foot, middle in zip(feet, (0.3, 0.8), strict=True):
            if before < middle <= controller.phase:
                places.append(body_poses(controller.character, world.q)[0][foot, 0])
    return np.diff(places)


def test_the_cost_to_go_is_what_the_policy_descends(walks):
    character, track = walks[0].character, Track.of(walks[0])
    policy, value = sweep(character, track, Settings(stance=0.0))
    nv = character.nv
    assert value.curvature[1:, nv:, nv:] == pytest.approx(policy.curvature_velocity[:-1], rel=1e-9)
    assert value.curvature[1:, nv:, :nv] == pytest.approx(policy.curvature_position[:-1], rel=1e-9)
    assert value.gradient[1:, nv:] == pytest.approx(policy.gradient[:-1], rel=1e-9)


def test_asked_for_its_own_stride_a_walk_is_alone(both, walks):
    both.reset()
    ask(both, 1.0)
    alone = LookAhead(walks[0].character, Track.of(walks[0]))
    worlds = [begun(alone), begun(alone)]  # from the same bits: roundings grow at every touchdown
    for _ in range(200):
        for world, controller in zip(worlds, (both, alone), strict=True):
            world.step(controller)
    assert both.row == alone.row
    assert both.lap == alone.lap == 1
    assert worlds[0].q == pytest.approx(worlds[1].q, abs=1e-12)


@pytest.mark.parametrize("stride", [1.05, 1.1, 1.17])
def test_strides_between_those_of_two_walks(both, stride):
    both.reset()
    found = ask(both, stride)
    assert found.modes == 1
    lengths = steps(begun(both), both, 5)
    assert lengths == pytest.approx(0.5 * stride, abs=0.02)
    assert lengths[-2:] == pytest.approx(0.5 * stride, abs=0.005)


def test_a_stride_is_changed_while_walking(both):
    both.reset()
    ask(both, 1.0)
    world = begun(both)
    steps(world, both, 1)
    ask(both, 1.15)
    lengths = steps(world, both, 8)
    assert lengths[0] == pytest.approx(0.5, abs=0.01)
    assert lengths[3:] == pytest.approx(0.575, abs=0.02)
    assert lengths[-4:] == pytest.approx(0.575, abs=0.005)


def test_walks_of_different_duration_share_a_phase(walks):
    quick = motions.walk(stride=1.2, frames=124, points_of=motions.corners)
    reference = build_reference(
        quick.character, Trajectory(quick.rate, quick.q, quick.v), quick.schedule, bounds=Ends(cycle=quick.cycle)
    )
    both = CombinedMotion([walks[0], reference])
    ask(both, 1.1)
    world = begun(both)
    lengths = steps(world, both, 5)
    assert lengths[-4:] == pytest.approx(0.55, abs=0.01)
    assert world.time == pytest.approx(5 * 128 / 120.0, abs=0.1)


def test_what_cannot_be_combined(walks, squat):
    with pytest.raises(ValueError, match="two motions"):
        CombinedMotion(walks[:1])
    with pytest.raises(ValueError, match="A cyclic motion cannot be combined"):
        CombinedMotion([walks[0], squat])
    with pytest.raises(ValueError, match="steps out of time with the first"):
        CombinedMotion([walks[0], replace(walks[1], carrying=np.roll(walks[1].carrying, 66, axis=0))])
    with pytest.raises(ValueError, match="phase"):
        CombinedMotion(walks, Settings(reset_phase=True))
    both = CombinedMotion(walks)
    with pytest.raises(ValueError, match="do not lie between"):
        ask(both, 1.5)
    with pytest.raises(ValueError, match="between 0, the first motion, and 1"):
        both.ask(1.01)
    with pytest.raises(ValueError, match="must increase, or decrease"):
        both.place_of(np.array([1.0, 1.0]), 1.0)


def test_half_way_between_far_walks_a_motion_is_made(far, line):
    short, long = far
    assert sunk(short, long) == pytest.approx(0.0088, abs=0.0005)
    middle = between(short, long)
    assert middle.cycle.shift == pytest.approx((1.1, 0.0), abs=1e-12)
    assert middle.quality.fit_for_control
    assert middle.quality.residual_newtons < 1e-6
    assert sunk(short, middle) < 0.0025
    assert line.places == (0.0, 0.25, 0.5, 0.75, 1.0)
    assert max(sunk(*pair) for pair in pairwise(line.references)) < 0.0007


def test_between_two_walks_that_are_far_apart_no_toe_is_stubbed(line):
    """From the two alone, 0.95 m a stride ends in a fall."""
    walk = CombinedMotion(line.references, places=line.places)
    ask(walk, 0.95)
    assert np.count_nonzero(walk.weights) < 5
    lengths = steps(begun(walk), walk, 4)
    assert lengths == pytest.approx(0.475, abs=0.01)


def test_pushed_back_who_chooses_by_value_steps_shorter_and_pushed_ahead_longer(walks):
    walk, found = CombinedMotion(walks, by_value=True, softness=1.0), []
    for push in (-60.0, 0.0, 100.0):
        walk.reset()
        world, strides = begun(walk), []
        while walk.lap < 4:
            if 1.5 <= world.time < 1.6:
                world.apply_impulse("torso", np.array([push * world.dt, 0.0, 0.0]), (0.0, 0.0, 0.2))
            start, lap = walk._anchor[0], walk.lap
            world.step(walk)
            if walk.lap > lap:
                strides.append(walk._anchor[0] - start)
        found.append(strides)
    back, calm, ahead = found
    assert back[1] < calm[1] - 0.004
    assert ahead[1] > calm[1] + 0.001
    assert back[3] == pytest.approx(calm[3], abs=0.001)
