# SPDX-License-Identifier: GPL-3.0-or-later
"""Props that are tied to the world and to each other, against closed forms."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from heft.core.simulation import Grab, Prop, Push, World
from heft.core.simulation.props import Hinge

from .scenes import bystander, prop_state
from .things import GRAVITY

RATE = 480.0
HALF = (0.4, 0.02, 1.0)  # m: a door's half extents; its hinge is along Z, at x = -0.4
MASS = 20.0


def door(**placing):
    return Prop.box("door", HALF, MASS, (HALF[0], 0.0, HALF[2]), **placing)


def on_hinges():
    return door().tied_at((-HALF[0], 0.0, -0.7), (-HALF[0], 0.0, 0.7))


def yaw(world):
    w, _, _, z = prop_state(world)[0][3:7]
    return 2.0 * np.arctan2(z, w)


def test_a_door_on_two_points_swings_as_newton_says():
    """10 N at its middle, always along Y: about the hinge I = m (4 a^2 + b^2) / 3."""
    inertia = MASS * (4.0 * HALF[0] ** 2 + HALF[1] ** 2) / 3.0
    world = World(
        bystander(), [], rate=RATE, props=[on_hinges()], pushes=[Push.constant("door", (0.0, 10.0, 0.0), 0.0, 9.0)]
    )
    for _ in range(round(0.5 * RATE)):
        world.step()
    # at its middle, at the lever a cos(angle): I angle'' = F a cos(angle)
    angle, speed, dt = 0.0, 0.0, 1e-5
    for _ in range(50000):
        speed += dt * 10.0 * HALF[0] * np.cos(angle) / inertia
        angle += dt * speed
    assert yaw(world) == pytest.approx(angle, rel=0.01)
    place = prop_state(world)[0][:3]
    assert np.hypot(*place[:2]) == pytest.approx(HALF[0], abs=1e-6)
    assert place[2] == pytest.approx(HALF[2], abs=1e-6)


def test_a_door_on_two_points_is_one_on_a_hinge():
    """The same push to both, and the same swing, to a hundredth of a degree; a quarter of it at four times the rate."""
    off = []
    for rate in (RATE, 4.0 * RATE):
        hinged = door(hinge=Hinge((0.0, 0.0, 1.0), (-HALF[0], 0.0, 0.0)))
        worlds = [
            # a hinged prop's frame lies on the hinge
            World(
                bystander(), [], rate=rate, props=[one], pushes=[Push.constant("door", (3.0, 40.0, 0.0), 0.1, 0.2, at)]
            )
            for one, at in ((on_hinges(), (0.0, 0.0, 0.0)), (hinged, (HALF[0], 0.0, 0.0)))
        ]
        for _ in range(round(rate)):
            for world in worlds:
                world.step()
        off.append(abs(yaw(worlds[0]) - prop_state(worlds[1])[0][0]))
    assert off[0] < np.radians(0.01)
    assert off[1] == pytest.approx(off[0] / 4.0, rel=0.1)


def test_a_swing_on_two_ropes_keeps_its_period():
    """A seat under a beam 2 m above it: a physical pendulum, T = 2 pi sqrt(I / (m g l)) for small swings."""
    length, half = 2.0, (0.25, 0.15, 0.02)
    about = 8.0 * (half[0] ** 2 + half[2] ** 2) / 3.0 + 8.0 * length**2  # the hinge lies along Y
    seat = Prop.box("seat", half, 8.0, (0.0, 0.0, 0.5), velocity=(0.2, 0, 0, 0, -0.1, 0))
    world = World(bystander(), [], rate=RATE, props=[seat.tied_at((0.0, -0.3, length), (0.0, 0.3, length))])
    xs = []
    for _ in range(round(6.0 * RATE)):
        world.step()
        xs.append(prop_state(world)[0][0])
    crossings = [k + a / (a - b) for k, (a, b) in enumerate(pairwise(xs)) if a < 0.0 <= b]
    period = np.mean(np.diff(crossings)) / RATE
    assert period == pytest.approx(2.0 * np.pi * np.sqrt(about / (8.0 * GRAVITY * length)), rel=0.003)


def test_what_is_fixed_to_a_hinged_board_goes_with_it():
    """A weight on a board's end and none on the other: it tips, and the weight keeps its place on it."""
    board = Prop.box("board", (1.0, 0.1, 0.02), 5.0, (0.0, 0.0, 1.0)).tied_at((0.0, -0.1, 0.0), (0.0, 0.1, 0.0))
    weight = Prop.box("weight", (0.05,) * 3, 2.0, (0.8, 0.0, 1.07)).fixed("board")
    world = World(bystander(), [], rate=RATE, props=[board, weight])
    for _ in range(round(0.4 * RATE)):
        world.step()
    q = prop_state(world)[0]
    turn = 2.0 * np.arctan2(q[5], q[3])
    assert turn > 0.3
    there = np.array([0.8 * np.cos(turn) + 0.07 * np.sin(turn), 0.0, 1.0 - 0.8 * np.sin(turn) + 0.07 * np.cos(turn)])
    np.testing.assert_allclose(q[7:10], there, atol=1e-5)


def test_a_drawer_on_a_sloping_rail_slides_as_galilei_says():
    """Pulled aside and turned it keeps its way and its attitude; down its rail it goes g sin(slope) t^2 / 2."""
    slope = np.radians(30.0)
    axis = (np.cos(slope), 0.0, -np.sin(slope))
    drawer = Prop.box("drawer", (0.2, 0.15, 0.1), 3.0, (0.0, 0.0, 1.0)).sliding(axis)
    pull = Push.constant("drawer", (0.0, 25.0, 0.0), 0.0, 9.0, (0.1, 0.0, 0.05))
    world = World(bystander(), [], rate=RATE, props=[drawer], pushes=[pull])
    for _ in range(round(0.5 * RATE)):
        world.step()
    q, v = prop_state(world)
    away = 0.5 * GRAVITY * np.sin(slope) * 0.5 * (0.5 - 1.0 / RATE)  # positions move on before velocities do
    np.testing.assert_allclose(q[:3], np.array([0.0, 0.0, 1.0]) + away * np.array(axis), atol=1e-9)
    np.testing.assert_allclose(q[3:], (1.0, 0.0, 0.0, 0.0), atol=1e-9)
    np.testing.assert_allclose(v[:3], GRAVITY * np.sin(slope) * 0.5 * np.array(axis), atol=1e-9)
    across = 3.0 * GRAVITY * np.cos(slope) * np.array([np.sin(slope), 0.0, np.cos(slope)])
    # what the rail gives: all of the weight but what lies along it, all of the pull, and its moment about the drawer
    force = world.grab_forces[0]
    np.testing.assert_allclose(force[:3], across - (0.0, 25.0, 0.0), atol=1e-6)
    np.testing.assert_allclose(force[3:], -np.cross((0.1, 0.0, 0.05), (0.0, 25.0, 0.0)), atol=1e-6)


def test_a_weight_on_a_turning_bar_keeps_energy_and_angular_momentum():
    """It slides outwards on a bar that turns on a hinge: (I + m r^2) omega stays, and so does the energy."""
    bar = Prop.box("bar", (1.0, 0.02, 0.02), 6.0, (0.0, 0.0, 1.0), hinge=Hinge((0.0, 0.0, 1.0)), velocity=(3.0,))
    weight = Prop.box("weight", (0.05,) * 3, 1.0, (0.2, 0.0, 1.0), velocity=(0.0, 0.6, 0.0, 0.0, 0.0, 3.0))
    found = []
    for rate in (RATE, 4.0 * RATE):
        world = World(bystander(), [], rate=rate, props=[bar, weight.sliding((1.0, 0.0, 0.0), "bar")])
        for _ in range(round(0.4 * rate)):
            world.step()
        q, v = prop_state(world)
        found.append((np.hypot(*q[1:3]), v[0], np.hypot(*v[1:3])))
    own, of_weight = 6.0 * (1.0 + 0.02**2) / 3.0, 2.0 * 0.05**2 / 3.0
    about = [own + of_weight + 1.0 * r * r for r, _, _ in found]
    start = own + of_weight + 1.0 * 0.2**2
    momentum, energy = start * 3.0, 0.5 * start * 3.0**2
    assert found[0][0] > 0.3
    for (_, turn, speed), inertia in zip(found, about, strict=True):
        assert inertia * turn == pytest.approx(momentum, rel=1e-3)
        assert 0.5 * (own + of_weight) * turn**2 + 0.5 * speed**2 == pytest.approx(energy, rel=2e-3)


@pytest.mark.parametrize(("own", "ground"), [(0.5, 1.0), (0.2, 1.0), (0.5, 0.6)])
def test_props_slide_as_far_as_their_own_friction_lets_them(own, ground):
    """v^2 / (2 mu g), mu the product of both, as in Blender's own rigid bodies."""
    sled = replace(
        Prop.box("sled", (0.3, 0.3, 0.05), 4.0, (0.0, 0.0, 0.05), velocity=(2.0, 0, 0, 0, 0, 0)), friction=own
    )
    crate = Prop.box("crate", (0.1,) * 3, 2.0, (0.0, 3.0, 0.1), velocity=(2.0, 0, 0, 0, 0, 0))
    world = World(bystander(), friction=ground, rate=RATE, props=[sled, crate])
    for _ in range(round(2.5 * RATE)):
        world.step()
    q, v = prop_state(world)
    more = 0.5 * 2.0 / RATE  # positions move on before velocities do
    assert q[0] == pytest.approx(4.0 / (2.0 * own * ground * GRAVITY) + more, rel=1e-3)
    assert q[7] == pytest.approx(4.0 / (2.0 * ground * GRAVITY) + more, rel=1e-3)
    np.testing.assert_allclose(v, 0.0, atol=1e-6)


def test_ties_touch_nothing_that_they_tie():
    """A lid that lies in its crate: tied to it the two do not push each other, and stay."""
    crate = Prop.box("crate", (0.2,) * 3, 10.0, (0.0, 0.0, 0.2))
    lid = Prop.box("lid", (0.2, 0.2, 0.02), 1.0, (0.0, 0.0, 0.39))
    world = World(bystander(), props=[crate, lid.fixed("crate")])
    for _ in range(60):
        world.step()
    assert prop_state(world)[0][9] == pytest.approx(0.39, abs=1e-4)


def test_ties_that_cannot_be():
    with pytest.raises(ValueError, match="must hold the prop itself"):
        Prop(door().body, door().shapes, ties=(Grab("window"),))
    with pytest.raises(ValueError, match="is tied to something, and cannot be thrown"):
        Prop(door().body, door().shapes, thrown=1.0, ties=(Grab("door"),))


def test_a_door_with_limits_goes_no_further_and_is_pushed_back_by_what_pushes_it():
    """Held at its limit, the stop gives the moment of the push: F a cos(limit). Within it all is as on two points."""
    limit, force = 0.5, 10.0
    hung = door().hinged((0.0, 0.0, 1.0), (-HALF[0], 0.0, 0.0), -0.2, limit)
    middle = (HALF[0], 0.0, 0.0)  # the frame lies on the hinge
    world = World(
        bystander(), [], rate=RATE, props=[hung], pushes=[Push.constant("door", (0.0, force, 0.0), 0.0, 9.0, middle)]
    )
    free = World(
        bystander(), [], rate=RATE, props=[on_hinges()], pushes=[Push.constant("door", (0.0, force, 0.0), 0.0, 9.0)]
    )
    for _ in range(round(0.4 * RATE)):
        world.step()
        free.step()
    assert prop_state(world)[0][0] == pytest.approx(yaw(free), abs=1e-4)
    for _ in range(round(1.6 * RATE)):
        world.step()
    assert prop_state(world)[0][0] == pytest.approx(limit, abs=1e-3)
    assert world.machine.scratch.outcome.limit_torque.sum() == pytest.approx(force * HALF[0] * np.cos(limit), rel=1e-3)


def test_a_hung_prop_stays_where_it_is_and_weighs_what_it_did():
    one = Prop.box("box", (0.2, 0.3, 0.1), 4.0, (1.0, 2.0, 3.0), orientation=(np.cos(0.3), 0.0, 0.0, np.sin(0.3)))
    hung = one.hinged((0.0, 0.0, 1.0), (0.2, 0.0, 0.0), -1.0, 1.0)
    world = World(bystander(), [], props=[hung])
    place, turn = world.poses()
    b = world.body_index["box"]
    w, z = turn[b, 0], turn[b, 3]
    angle = 2.0 * np.arctan2(z, w)
    center = np.array(hung.body.center_of_mass)
    c, s = np.cos(angle), np.sin(angle)
    there = place[b] + [c * center[0] - s * center[1], s * center[0] + c * center[1], center[2]]
    np.testing.assert_allclose(there, (1.0, 2.0, 3.0), atol=1e-12)
    assert (hung.body.mass, hung.body.inertia) == (one.body.mass, one.body.inertia)
    assert hung.hangs
    assert not one.hangs
