# SPDX-License-Identifier: GPL-3.0-or-later
"""Thrown props: they fly as thrown, and until then the others move to the same bits as without them."""

from dataclasses import replace

import numpy as np
import pytest
from heft.core.character import Character
from heft.core.simulation import Prop, World
from heft.core.simulation.props import Hinge

RATE = 120.0
START = 0.25  # s


def ball(**changes):
    placing = {"velocity": (1.0, -2.0, 3.0, 0.0, 4.0, 0.0), "thrown": START} | changes
    return Prop.sphere("ball", 0.1, 2.0, (0.0, 5.0, 4.0), **placing)


def test_ball_flies_its_parabola_from_where_and_when_it_is_thrown():
    world = World(Character.preset("muico29"), rate=RATE, props=[ball()])
    nq, steps = world.character.nq, 60
    places = []
    for _ in range(steps):
        world.step()
        places.append(world.system_q[nq : nq + 3])
    first = round(START * RATE)
    assert min(place[2] for place in places[:first]) > 900.0
    dt = 1.0 / RATE
    count = np.arange(1, steps - first + 1)[:, None]
    # semi-implicit Euler moves by the velocity before the step: the sum of 0, 1, …, n - 1
    expected = [0.0, 5.0, 4.0] + count * dt * np.array([1.0, -2.0, 3.0])
    expected[:, 2] -= 0.5 * 9.81 * dt**2 * (count * (count - 1))[:, 0]
    np.testing.assert_allclose(places[first:], expected, rtol=0.0, atol=1e-9)


def test_until_it_is_thrown_nothing_else_changes_by_a_bit():
    character = Character.preset("muico29")
    crate = Prop.box("crate", (0.2, 0.2, 0.2), 5.0, (0.1, 0.0, 2.5))
    alone = World(character, rate=RATE, props=[crate])
    later = replace(ball(thrown=9.0), body=named("later"), shapes=())
    other = World(character, rate=RATE, props=[crate, ball(), later])
    for _ in range(round(START * RATE)):
        alone.step()
        other.step()
        count = len(alone.system_q)
        np.testing.assert_array_equal(other.system_q[:count], alone.system_q)
        np.testing.assert_array_equal(other.system_v[: len(alone.system_v)], alone.system_v)


def named(name):
    body = ball().body
    return replace(body, name=name, joint=replace(body.joint, name=name))


def test_momentum_of_a_spinning_ball_is_that_of_its_velocity():
    """What momentum says is carried on by the steps: were it another, the ball would fly with that."""
    world = World(Character.preset("muico29"), rate=RATE, props=[ball(thrown=0.0)])
    world.step()
    nv = world.character.nv
    dt = 1.0 / RATE
    np.testing.assert_allclose(world.system_v[nv:], [1.0, -2.0, 3.0 - 9.81 * dt, 0.0, 4.0, 0.0], rtol=0.0, atol=1e-9)


def test_what_is_on_a_hinge_cannot_be_thrown():
    with pytest.raises(ValueError, match="is on a hinge"):
        replace(Prop.box("door", (0.5, 0.02, 1.0), 9.0, (0.0, 3.0, 1.0), hinge=Hinge((0.0, 0.0, 1.0))), thrown=1.0)
