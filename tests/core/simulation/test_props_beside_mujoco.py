# SPDX-License-Identifier: GPL-3.0-or-later
"""Props on hinges and sliders beside MuJoCo, which has them as joints of a tree."""

from itertools import pairwise

import numpy as np
import pytest
from heft.core.simulation import Prop, World
from heft.core.simulation.props import Hinge

from .scenes import bystander, prop_state

mujoco = pytest.importorskip("mujoco")

RATES = (480.0, 1920.0)
SECONDS = 0.8


def simulated(text, rate=10000.0):
    """Positions of MuJoCo's joints at the end, by Runge-Kutta in short steps."""
    option = f'<option timestep="{1.0 / rate}" integrator="RK4" gravity="0 0 -9.81"/>'
    model = mujoco.MjModel.from_xml_string(f"<mujoco>{option}<worldbody>{text}</worldbody></mujoco>")
    data = mujoco.MjData(model)
    for _ in range(round(SECONDS * rate)):
        mujoco.mj_step(model, data)
    return data.qpos.copy()


def block(half, mass, joint, inside="", at="0 0 0", place="0 0 0"):
    """A body whose frame is at `place`, with a box at `at` in it."""
    x, y, z = half
    return (
        f'<body pos="{place}"><joint {joint}/><geom type="box" size="{x} {y} {z}" pos="{at}" mass="{mass}" '
        f'contype="0" conaffinity="0"/>{inside}</body>'
    )


def ours(props, of):
    """What `of` says of the props' state at the end, at each rate."""
    found = []
    for rate in RATES:
        world = World(bystander(), [], rate=rate, props=props)
        for _ in range(round(SECONDS * rate)):
            world.step()
        found.append(np.array(of(prop_state(world)[0])))
    return found


def assert_converges(found, expected, within):
    """Within so much at the high rate, and about a quarter as far off as at the low one: first order."""
    errors = [np.abs(one - expected).max() for one in found]
    assert errors[-1] < within
    assert all(fine < 0.4 * rough for rough, fine in pairwise(errors))


def test_a_double_pendulum_of_hinges():
    """A board on a hinge of its own, and another tied to its end at two points."""
    half = (0.4, 0.1, 0.02)
    first = Prop.box("first", half, 3.0, (0.4, 0.0, 2.0), hinge=Hinge((0.0, 1.0, 0.0), (-0.4, 0.0, 0.0)))
    second = Prop.box("second", half, 2.0, (1.2, 0.0, 2.0))
    second = second.tied_at((-0.4, -0.1, 0.0), (-0.4, 0.1, 0.0), other="first")
    low = block(half, 2.0, 'type="hinge" axis="0 1 0"', at="0.4 0 0", place="0.8 0 0")
    expected = simulated(block(half, 3.0, 'type="hinge" axis="0 1 0"', low, at="0.4 0 0", place="0 0 2"))
    found = ours([first, second], lambda q: (q[0], 2.0 * np.arctan2(q[6], q[4])))
    expected = np.array([expected[0], (expected[0] + expected[1] + np.pi) % (2.0 * np.pi) - np.pi])
    assert_converges(found, expected, 0.01)


def test_a_weight_that_slides_on_a_swinging_bar():
    """Gravity turns the bar, and the weight goes down it."""
    bar = Prop.box("bar", (0.8, 0.03, 0.03), 4.0, (0.8, 0.0, 2.0), hinge=Hinge((0.0, 1.0, 0.0), (-0.8, 0.0, 0.0)))
    weight = Prop.box("weight", (0.05, 0.05, 0.05), 1.5, (0.5, 0.0, 2.0)).sliding((1.0, 0.0, 0.0), "bar")
    inner = block((0.05,) * 3, 1.5, 'type="slide" axis="1 0 0"', place="0.5 0 0")
    expected = simulated(block((0.8, 0.03, 0.03), 4.0, 'type="hinge" axis="0 1 0"', inner, at="0.8 0 0", place="0 0 2"))
    place = 0.5 + expected[1]
    across = (place * np.cos(expected[0]), 2.0 - place * np.sin(expected[0]))
    found = ours([bar, weight], lambda q: (q[0], q[1], q[3]))
    assert_converges(found, np.array([expected[0], *across]), 0.01)


def test_a_board_that_falls_against_its_limit():
    """Both stop there: MuJoCo's limits are springs, which are made stiff."""
    half = (0.4, 0.1, 0.02)
    stops = 0.9
    hung = Prop.box("board", half, 3.0, (0.4, 0.0, 2.0)).hinged((0.0, 1.0, 0.0), (-0.4, 0.0, 0.0), -0.5, stops)
    joint = (
        f'type="hinge" axis="0 1 0" limited="true" range="{np.degrees(-0.5)} {np.degrees(stops)}" solreflimit="0.004 1"'
    )
    expected = simulated(block(half, 3.0, joint, at="0.4 0 0", place="0 0 2"))
    for found in ours([hung], lambda q: q[:1]):
        np.testing.assert_allclose(found, expected, atol=2e-3)
        assert found[0] == pytest.approx(stops, abs=2e-3)
