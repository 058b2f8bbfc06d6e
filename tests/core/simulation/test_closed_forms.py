# SPDX-License-Identifier: GPL-3.0-or-later
"""Motions with a closed form: falling, landing, sticking, sliding, stacking, swinging, balancing."""

import numpy as np
import pytest
from heft.core import dynamics
from heft.core.character import Character
from heft.core.contact.terrain import Plane
from heft.core.simulation import Grab, Hinge, Prop, World

from tests.core.simulation.things import GRAVITY, block, locked, pendulum, simulate, tilted_gravity

FRICTION = 0.5
ANGLE = np.arctan(FRICTION)


def test_free_fall_drops_by_half_g_t_squared_and_what_the_scheme_lags():
    """Positions first: z_n = z_0 - g h² n (n - 1) / 2, exactly."""
    character = block()
    world = World(character, rate=120.0)
    start = character.neutral()
    start[2] += 10.0
    world.reset(start)
    path = simulate(world, 1.0)
    n = np.arange(len(path))
    np.testing.assert_allclose(path[:, 2], start[2] - GRAVITY * world.dt**2 * n * (n - 1) / 2, atol=1e-9)


def test_landing_does_not_bounce():
    character = block()
    world = World(character, rate=120.0)
    start = character.neutral()
    start[2] += 0.5
    world.reset(start)
    path = simulate(world, 1.0)
    touched = np.argmax(path[:, 2] < character.neutral()[2] + 1e-6)
    assert 0 < touched < len(path)
    assert np.abs(path[touched:, 2] - character.neutral()[2]).max() < 1e-9
    assert np.abs(world.v).max() < 1e-9


@pytest.mark.parametrize(("sides", "heading"), [(4, 0.0), (4, np.pi / 2), (4, np.pi), (6, 0.0), (6, np.pi / 3)])
def test_block_sticks_below_arctan_mu_along_edges_of_the_pyramid(sides, heading):
    world = World(block(gravity=tilted_gravity(0.999 * ANGLE, heading)), friction=FRICTION, sides=sides)
    path = simulate(world, 2.0)
    assert np.abs(path - path[0]).max() < 1e-9


@pytest.mark.parametrize("sides", [4, 6])
@pytest.mark.parametrize("heading", [0.0, 0.3, np.pi / 4, np.pi / 2, 2.0])
def test_block_slides_above_arctan_mu_with_the_acceleration_of_coulomb(sides, heading):
    """The pyramid turns with the sliding direction, so that this holds in all directions, diagonals included."""
    slope = 1.2 * ANGLE
    world = World(block(gravity=tilted_gravity(slope, heading)), friction=FRICTION, sides=sides)
    simulate(world, 0.5)
    before = np.linalg.norm(world.v[:2])
    simulate(world, 1.0)
    acceleration = np.linalg.norm(world.v[:2]) - before
    expected = GRAVITY * (np.sin(slope) - FRICTION * np.cos(slope))
    assert acceleration == pytest.approx(expected, rel=1e-3)
    assert np.arctan2(world.v[1], world.v[0]) == pytest.approx(heading, abs=1e-3)


def test_block_at_rest_on_a_diagonal_of_four_sides_creeps_between_the_inscribed_and_the_true_cone():
    """At rest the pyramid's edges lie along X and Y, and half-way between it holds mu cos(45°) only.

    What then begins to slide turns the pyramid, and is held again: it creeps at about the speed from which on a contact
    counts as sliding.
    """
    diagonal = np.pi / 4
    held = World(
        block(gravity=tilted_gravity(np.arctan(0.99 * FRICTION * np.cos(diagonal)), diagonal)), friction=FRICTION
    )
    path = simulate(held, 2.0)
    assert np.abs(path - path[0]).max() < 1e-9
    creeping = World(block(gravity=tilted_gravity(np.arctan(0.9 * FRICTION), diagonal)), friction=FRICTION)
    simulate(creeping, 5.0)
    assert np.linalg.norm(creeping.v[:2]) < 0.03


def test_sliding_block_stops_after_v_squared_over_2_mu_g():
    speed = 3.0
    character = block(size=(0.6, 0.6, 0.05))
    distances = []
    for rate in (120.0, 1200.0):
        world = World(character, friction=FRICTION, rate=rate)
        world.reset(v=[speed, 0.0, 0.0, 0.0, 0.0, 0.0])
        distances.append(simulate(world, 1.0)[-1, 0])
        assert np.abs(world.v).max() < 1e-9
    expected = speed**2 / (2 * FRICTION * GRAVITY)
    # positions move on with the velocity before the step: half a step too far
    assert distances[0] == pytest.approx(expected + speed / 240.0, rel=2e-3)
    assert distances[1] == pytest.approx(expected + speed / 2400.0, rel=2e-4)


@pytest.mark.parametrize("heavy", ["lowest", "topmost"])
def test_stack_of_ten_boxes_with_mass_ratio_100_stands(heavy):
    masses = np.geomspace(1.0, 100.0, 10)
    masses = masses[::-1] if heavy == "lowest" else masses
    boxes = [
        Prop.box(f"box_{i}", (0.1, 0.1, 0.1), float(mass), (3.0, 0.0, 0.1 + 0.2 * i)) for i, mass in enumerate(masses)
    ]
    world = World(pendulum(), props=boxes, friction=0.8, max_contacts=128)
    before, _ = world.poses()
    simulate(world, 10.0)
    after, _ = world.poses()
    assert np.abs(after[1:] - before[1:]).max() < 1e-3


@pytest.mark.parametrize("name", ["muico29", "jain42"])
def test_locked_character_neither_sinks_nor_creeps(name):
    character = locked(Character.preset(name))
    world = World(character, rate=120.0)
    path = simulate(world, 60.0)
    assert np.abs(path[:, :3] - path[0, :3]).max() < 1e-4


def test_pendulum_on_a_grab_swings_as_one_on_a_hinge():
    """Both lose the energy that a first-order scheme loses; the grab adds nothing to it."""
    hinged, free = pendulum(), pendulum(root="free")
    held = World(free, terrain=[Plane((0.0, 0.0, -10.0))], rate=1000.0, grabs=[Grab("rod", anchor=(0.0, 0.0, 0.0))])
    angle = 0.5
    held.reset([0.0, 0.0, 0.0, np.cos(angle / 2), 0.0, np.sin(angle / 2), 0.0])
    world = World(hinged, rate=1000.0)
    world.reset([angle])
    turned = []
    swing = []
    for _ in range(2000):
        held.step()
        world.step()
        q = held.q
        turned.append(2 * np.arctan2(q[5], q[3]))
        swing.append(world.q[0])
        assert np.linalg.norm(q[:3]) < 1e-6
    np.testing.assert_allclose(turned, swing, atol=2e-3)
    # a rod's period at small angles, lengthened by the amplitude: 2 pi sqrt(2 L / 3 g) (1 + a² / 16)
    crossings = np.flatnonzero(np.diff(np.sign(turned)) != 0)
    period = 2 * np.mean(np.diff(crossings)) / 1000.0
    assert period == pytest.approx(2 * np.pi * np.sqrt(2 / (3 * GRAVITY)) * (1 + angle**2 / 16), rel=5e-3)


def test_pendulum_on_a_grab_keeps_its_energy_within_a_percent_over_a_second_at_1_khz():
    free = pendulum(root="free")
    world = World(free, terrain=[Plane((0.0, 0.0, -10.0))], rate=1000.0, grabs=[Grab("rod", anchor=(0.0, 0.0, 0.0))])
    world.reset([0.0, 0.0, 0.0, np.cos(0.5), 0.0, np.sin(0.5), 0.0])

    def energy():
        return dynamics.kinetic_energy(free, world.q, world.v) + dynamics.potential_energy(free, world.q)

    lowest = -GRAVITY * 0.5
    before = energy() - lowest
    simulate(world, 1.0)
    assert energy() - lowest == pytest.approx(before, rel=0.01)


@pytest.mark.parametrize(("arm", "tips"), [(0.5, 0), (0.45, -1), (0.55, 1)])
def test_see_saw_balances_where_the_levers_are_equal(arm, tips):
    """Two kilograms at a metre on the one side, four at half a metre on the other."""
    plank = Prop.box("plank", (1.5, 0.2, 0.02), 10.0, (0.0, 0.0, 1.0), hinge=Hinge((0.0, 1.0, 0.0)))
    light = Prop.box("light", (0.05, 0.05, 0.05), 2.0, (-1.0, 0.0, 1.0 + 0.02 + 0.05))
    heavy = Prop.box("heavy", (0.05, 0.05, 0.05), 4.0, (arm, 0.0, 1.0 + 0.02 + 0.05))
    away = pendulum()
    world = World(away, terrain=[Plane()], props=[plank, light, heavy], friction=0.9, rate=240.0)
    simulate(world, 0.5)
    tilt = world.system_q[away.nq]
    if tips == 0:
        assert abs(tilt) < 2e-3
    else:
        assert np.sign(tilt) == tips
        assert abs(tilt) > 0.02
