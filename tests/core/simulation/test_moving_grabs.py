# SPDX-License-Identifier: GPL-3.0-or-later
"""Grabs of what moves by itself: they go along, and give the force that this takes, by closed forms."""

from dataclasses import replace

import numpy as np
import pytest
from heft.core.contact.terrain import RigidMotion
from heft.core.motion import quaternions
from heft.core.simulation import Grab, World
from heft.core.simulation.company import Company, simulate_together

from tests.core.simulation.test_company import ball, placed

RATE, MASS = 120.0, 2.0
TIME = np.arange(241) / RATE


def moving(positions, turns=None):
    """A motion sampled once a step."""
    turns = np.zeros((len(TIME), 3)) if turns is None else turns
    return RigidMotion(positions, quaternions.exp(turns), RATE)


def along_x(x):
    return moving(np.column_stack([x, np.zeros((len(TIME), 2))]))


def held(motion, place=(0.0, 0.0, 0.0), velocity=(0.0, 0.0, 0.0), spin=(0.0, 0.0, 0.0), **grab):
    """A ball in space, held by its middle."""
    return placed(World(ball(MASS), [], grabs=[Grab("ball", motion=motion, **grab)]), place, velocity, spin)


def run_for(world, seconds):
    for _ in range(round(seconds * world.rate)):
        world.step()
    return world


def test_what_is_held_by_what_speeds_up_is_pulled_by_mass_times_acceleration():
    a = 3.0
    world = run_for(held(along_x(0.5 * a * TIME**2)), 1.0)
    np.testing.assert_allclose(world.grab_forces[0, :3], [MASS * a, 0.0, 0.0], atol=1e-6)
    # steps are taken by the velocity at their end
    assert world.q[0] == pytest.approx(0.5 * a, abs=a / RATE)
    assert world.v[0] == pytest.approx(a, abs=2.0 * a / RATE)


def test_what_goes_round_is_pulled_to_the_middle():
    """F = m w^2 r, and the ball turns along where its turn is held, too."""
    w, r = 2.0, 0.5
    spin = np.column_stack([np.zeros((len(TIME), 2)), w * TIME])
    motion = moving(np.zeros((len(TIME), 3)), spin)
    world = held(motion, (r, 0.0, 0.0), (0.0, w * r, 0.0), (0.0, 0.0, w), kind="full")
    run_for(world, 1.0)
    force = world.grab_forces[0, :3]
    assert np.linalg.norm(force) == pytest.approx(MASS * w * w * r, rel=0.01)
    out = world.q[:3] / np.linalg.norm(world.q[:3])
    assert out @ force == pytest.approx(-MASS * w * w * r, rel=0.01)
    assert np.linalg.norm(world.q[:3]) == pytest.approx(r, abs=1e-3)
    np.testing.assert_allclose(world.v[3:], [0.0, 0.0, w], atol=1e-6)
    turned = 2.0 * np.arctan2(world.q[6], world.q[3])
    assert turned == pytest.approx(w * 1.0, abs=1e-6)


def test_what_is_held_keeps_its_place_on_a_boat_that_heaves_and_turns():
    place = np.column_stack([1.5 * TIME, 0.2 * np.sin(3.0 * TIME), 0.3 * np.sin(2.0 * TIME)])
    turns = 0.3 * np.column_stack([np.sin(2.0 * TIME), np.sin(3.0 * TIME), TIME])
    motion = moving(place, turns)
    local = np.array([0.7, -0.4, 0.5])  # in the boat, which begins level at the origin
    world = held(motion, local, np.array([1.5, 0.6, 0.6]) + np.cross([0.6, 0.9, 0.3], local))
    run_for(world, 1.5)
    k = round(1.5 * RATE)
    np.testing.assert_allclose(world.q[:3], place[k] + quaternions.rotate(quaternions.exp(turns[k]), local), atol=2e-3)


def test_what_does_not_move_is_held_as_the_world_is():
    still = moving(np.zeros((len(TIME), 3)))
    worlds = [run_for(held(motion, (0.1, 0.2, 0.3), kind="full"), 0.2) for motion in (None, still)]
    np.testing.assert_array_equal(worlds[0].q, worlds[1].q)
    np.testing.assert_array_equal(worlds[0].grab_forces, worlds[1].grab_forces)


def test_it_goes_along_in_company_too():
    """As alone, where another touches it: both take part in one problem."""
    motion = along_x(0.5 * TIME)
    alone = run_for(held(motion), 0.5)
    near = placed(World(ball(1.0), []), (0.0, 0.21, 0.0), (0.0, -0.2, 0.0))
    pair = [held(motion), near]
    simulate_together(Company(pair), [None, None], seconds=0.5)
    np.testing.assert_allclose(pair[0].q[:3], alone.q[:3], atol=1e-3)


def test_a_body_is_no_thing_that_moves_by_itself():
    with pytest.raises(ValueError, match="leave out its motion"):
        replace(Grab("ball", other="box"), motion=along_x(TIME))
