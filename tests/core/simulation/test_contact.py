# SPDX-License-Identifier: GPL-3.0-or-later
"""Contact and friction: cases with a closed form."""

import numpy as np
import pytest
from heft.core.character import Body, Character, Corner, Joint, Sphere
from heft.core.contact.terrain import Mesh, Plane, RigidMotion
from heft.core.simulation import Prop, World
from heft.core.simulation.correction import FASTEST, HELD, LEAVE, SHARE
from scenes import bystander, locked, prop_state, slope

from tests.core.contact import meshes
from tests.core.simulation.things import block

GRAVITY = 9.81


@pytest.mark.parametrize("sides", [4, 6])
@pytest.mark.parametrize("friction", [0.1, 0.5, 1.0])
def test_block_on_an_incline_sticks_below_arctan_mu(friction, sides):
    world = slope(np.degrees(np.arctan(friction)) - 0.5, friction, sides=sides)
    start = prop_state(world)[0]
    for _ in range(240):
        world.step()
    q, v = prop_state(world)
    assert np.abs(q - start).max() < 1e-9
    assert np.abs(v).max() < 1e-9


@pytest.mark.parametrize("sides", [4, 6])
@pytest.mark.parametrize("friction", [0.0, 0.1, 0.5, 1.0])
def test_block_on_an_incline_slides_above_arctan_mu_with_the_right_acceleration(friction, sides):
    angle = np.arctan(friction) + np.radians(2.0)
    world = slope(np.degrees(angle), friction, sides=sides)
    for _ in range(60):
        world.step()
    before = prop_state(world)[1][:3]
    for _ in range(120):
        world.step()
    acceleration = prop_state(world)[1][:3] - before
    wanted = GRAVITY * (np.sin(angle) - friction * np.cos(angle))
    assert acceleration @ [np.cos(angle), 0.0, -np.sin(angle)] == pytest.approx(wanted, rel=1e-3)
    assert abs(acceleration[1]) < 1e-9


def test_sliding_turns_the_pyramid_so_that_no_direction_is_a_diagonal():
    friction, speed = 0.5, 2.0
    for heading in np.radians([0.0, 20.0, 45.0, 70.0]):
        velocity = (speed * np.cos(heading), speed * np.sin(heading), 0.0, 0.0, 0.0, 0.0)
        box = Prop.box("box", (0.1, 0.1, 0.001), 1.0, (0.0, 0.0, 0.001), velocity=velocity)
        world = World(bystander(), [Plane(friction=friction)], props=[box])
        for _ in range(24):
            world.step()
        slowed = speed - np.linalg.norm(prop_state(world)[1][:3])
        # the pyramid is as of the step's start; a low box does not pitch
        assert slowed == pytest.approx(friction * GRAVITY * 24 / 120, rel=1e-3)


@pytest.mark.parametrize(("sides", "share"), [(4, np.cos(np.pi / 4)), (6, np.cos(np.pi / 6))])
def test_sticking_on_a_diagonal_holds_less_as_stated(sides, share):
    """A block at rest has the default pyramid; half-way between its edges it holds cos(pi / sides) of Coulomb's."""
    friction, heading = 0.5, np.pi / sides
    for factor, slides in ((0.98 * share, False), (1.02 * share, True)):
        push = factor * friction * GRAVITY * np.array([np.cos(heading), np.sin(heading), 0.0])
        box = Prop.box("box", (0.1, 0.1, 0.001), 1.0, (0.0, 0.0, 0.001))
        world = World(bystander(), [Plane(friction=friction)], props=[box], sides=sides)
        world.apply_impulse("box", push * world.dt)
        world.step()
        assert bool(np.linalg.norm(prop_state(world)[1][:3]) > 1e-6) is slides


@pytest.mark.parametrize("known", [3, 1])
def test_friction_takes_a_body_back_to_where_it_stuck_by_the_corners_that_know(known):
    """A limb that swings over a foot leaves it a tenth of a millimetre off; weight goes from corner to corner."""
    world = World(block(), [Plane(friction=0.8)])
    for _ in range(3):
        world.step()
    state = world.save_state()
    place = state["q"][:3].copy()
    state["q"][:2] += (1e-4, -0.5e-4)
    stuck = np.flatnonzero(np.isfinite(state["stuck"][:, 0]))
    assert len(stuck) >= 3
    state["stuck"][stuck[known:]] = np.nan  # those that carried nothing in the step before
    world.load_state(state)
    for _ in range(3):
        world.step()
        assert np.abs(world.contacts.force[:, :2].sum(axis=0)).max() < 0.8 * 2.0 * GRAVITY
    assert world.q[:3] == pytest.approx(place, abs=1e-9)
    assert np.abs(world.v).max() < 1e-9


@pytest.mark.parametrize("speed", [1.0, 4.0])
def test_sliding_block_stops_after_v_squared_over_2_mu_g(speed):
    friction, rate = 0.6, 480.0
    box = Prop.box("box", (0.2, 0.2, 0.01), 2.0, (0.0, 0.0, 0.01), velocity=(speed, 0, 0, 0, 0, 0))
    world = World(bystander(), [Plane(friction=friction)], props=[box], rate=rate)
    for _ in range(round(1.2 * speed / (friction * GRAVITY) * rate)):
        world.step()
    q, v = prop_state(world)
    # the integrator moves by the velocity before the step: half a step's way further
    wanted = speed**2 / (2 * friction * GRAVITY) + 0.5 * speed / rate
    assert q[0] == pytest.approx(wanted, rel=1e-3)
    assert np.abs(v).max() < 1e-9


@pytest.mark.parametrize("heavy_on_top", [True, False])
def test_stack_of_ten_boxes_mass_ratio_100_stands_ten_seconds(heavy_on_top):
    masses = np.geomspace(1.0, 100.0, 10)[:: 1 if heavy_on_top else -1]
    boxes = [Prop.box(f"box_{i}", (0.1,) * 3, mass, (0.0, 0.0, 0.1 + 0.2 * i)) for i, mass in enumerate(masses)]
    world = World(bystander(), props=boxes)
    start = prop_state(world)[0]
    moved = 0.0
    for _ in range(1200):
        world.step()
        moved = max(moved, np.abs(prop_state(world)[0] - start).max())
    assert moved < 1e-6  # asked: 1 mm


def test_standing_locked_jain42_neither_sinks_nor_creeps_in_a_minute():
    character = locked(Character.preset("jain42"))
    world = World(character)
    start = world.q
    for _ in range(7200):
        world.step()
    assert np.abs(world.q - start).max() < 1e-9  # asked: 0.1 mm
    assert world.contacts.force[:, 2].sum() == pytest.approx(character.total_mass * GRAVITY)


@pytest.mark.parametrize("contacts", ["anticipating", "touching"])
def test_landing_does_not_bounce(contacts):
    character = locked(Character.preset("muico29"))
    world = World(character, contacts=contacts)
    q = world.q
    ground = q[2]
    q[2] += 0.5
    world.reset(q)
    for _ in range(40):
        world.step()
    for _ in range(240):
        world.step()
        assert world.v[2] < 1e-9
    assert world.q[2] == pytest.approx(ground, abs=2e-3 if contacts == "touching" else 1e-6)


def test_free_fall_is_the_integrators():
    world = World(locked(Character.preset("muico29")), [])
    q = world.q
    for k in range(1, 121):
        world.step()
        assert world.v[2] == pytest.approx(-GRAVITY * k * world.dt, rel=1e-12)
    # q_{k+1} = q_k + dt v_k: the sum 0 + 1 + ... + 119 of gravity's steps
    assert world.q[2] - q[2] == pytest.approx(-GRAVITY * world.dt**2 * 119 * 120 / 2, rel=1e-12)


def test_correction_of_depth_adds_no_velocity():
    box = Prop.box("box", (0.1, 0.1, 0.1), 2.0, (0.0, 0.0, 0.08))
    world = World(bystander(), props=[box])
    highest = 0.0
    for _ in range(240):
        world.step()
        q, v = prop_state(world)
        highest = max(highest, q[2])
        assert np.abs(v).max() < 1e-9
    assert highest <= 0.1
    assert highest > 0.1 - 2e-6


@pytest.mark.parametrize("restitution", [0.3, 0.8, 1.0])
def test_ball_bounces_by_newtons_law_and_to_the_square_of_it_in_height(restitution):
    ball = Prop.sphere("ball", 0.05, 0.4, (0.0, 0.0, 1.05))
    world = World(bystander(), props=[ball], restitution=restitution, rate=10000.0)
    before, after = 0.0, 0.0
    while after <= 0.0:
        before = after
        world.step()
        after = prop_state(world)[1][2]
    assert after == pytest.approx(-restitution * before, rel=1e-12)
    highest = 0.0
    while prop_state(world)[1][2] > 0.0:
        world.step()
        highest = prop_state(world)[0][2] - 0.05
    assert highest == pytest.approx(restitution**2, rel=1e-2)


def test_bouncing_ends_at_rest_on_the_ground():
    ball = Prop.sphere("ball", 0.05, 0.4, (0.0, 0.0, 0.55))
    world = World(bystander(), props=[ball], restitution=0.7)
    for _ in range(600):
        world.step()
    q, v = prop_state(world)
    assert q[2] == pytest.approx(0.05, abs=2e-6)
    assert np.abs(v).max() < 1e-9


def test_anticipating_lets_nothing_through_thin_air():
    ball = Prop.sphere("ball", 0.05, 0.4, (0.0, 0.0, 3.0), velocity=(0.0, 0.0, -60.0, 0.0, 0.0, 0.0))
    world = World(bystander(), props=[ball])
    for _ in range(60):
        world.step()
        assert prop_state(world)[0][2] > 0.05 - 1e-9


def test_friction_of_each_surface_and_moving_ground():
    step = RigidMotion(np.array([[0.0, 0, 0], [4.0, 0, 0]]), np.tile([1.0, 0, 0, 0], (2, 1)), rate=0.5)
    belt = Plane(friction=0.5, motion=step)
    box = Prop.box("box", (0.2, 0.2, 0.01), 1.0, (0.0, 0.0, 0.01))
    world = World(bystander(), [belt], props=[box])
    for _ in range(24):
        world.step()
    assert prop_state(world)[1][0] == pytest.approx(0.5 * GRAVITY * 24 * world.dt, rel=1e-3)
    for _ in range(120):
        world.step()
    assert prop_state(world)[1][0] == pytest.approx(2.0, rel=1e-6)


@pytest.mark.parametrize("friction", [0.0, 1e6])
def test_no_and_huge_friction_have_a_defined_result(friction):
    world = World(locked(Character.preset("muico29")), friction=friction)
    q = world.q
    world.reset(q, np.r_[1.0, np.zeros(5)])
    for _ in range(30):
        world.step()
    assert np.isfinite(world.q).all()
    if friction == 0.0:
        assert world.v[0] == pytest.approx(1.0, rel=1e-9)
    else:
        # feet that cannot slide: it tips over its toes, or has stopped
        assert world.v[0] < 0.9


@pytest.mark.parametrize(
    ("mesh", "offset", "height"),
    [
        (meshes.roof(), (0.0, 0.0), 0.0),
        (meshes.pyramid(height=0.3), (0.0, 0.0), 0.3),
        (meshes.box((-0.07, -0.08, 0.0), (0.07, 0.08, 1.0)), (0.02, -0.03), 1.0),
        (meshes.stairs(), (0.04, 0.0), 0.15),
    ],
    ids=["ridge", "tip", "table", "stair"],
)
@pytest.mark.parametrize("made_of", ["box", "corners"])
def test_what_bulges_between_its_corners_carries_a_block(mesh, offset, height, made_of):
    """Dropped flat, with the centre over what carries it: it comes to rest there, and neither sinks nor tips."""
    half, mass = (0.1, 0.12, 0.05), 3.0
    if made_of == "box":
        world = World(bystander(), [Mesh(*mesh)], props=[Prop.box("box", half, mass, (*offset, height + 0.1))])
        first = world.character.nq
    else:
        world = World(block(tuple(2.0 * x for x in half), mass), [Mesh(*mesh)])
        world.reset([*offset, height + 0.1, 1.0, 0.0, 0.0, 0.0])
        first = 0
    for _ in range(240):
        world.step()
    np.testing.assert_allclose(world.system_q[first : first + 3], [*offset, height + 0.05], atol=1e-6)
    assert abs(world.system_q[first + 3]) == pytest.approx(1.0, abs=1e-9)
    np.testing.assert_allclose(world.contacts.force.sum(axis=0), [0.0, 0.0, mass * GRAVITY], atol=1e-6)


@pytest.mark.parametrize("over", [-0.02, 0.02])
def test_box_falls_off_a_stair_when_its_centre_is_past_the_edge(over):
    box = Prop.box("box", (0.1, 0.1, 0.1), 3.0, (over, 0.0, 0.25))
    world = World(bystander(), [Mesh(*meshes.stairs(), friction=0.8)], props=[box])
    for _ in range(600):
        world.step()
    q, v = prop_state(world)
    assert np.abs(v).max() < 1e-6
    assert q[2] == pytest.approx(0.25 if over > 0.0 else 0.1, abs=1e-6)


@pytest.mark.parametrize(("angle", "speed"), [(0.6, 80.0), (0.8, 105.0), (0.292, 36.0)])
def test_what_a_flung_limb_digs_in_within_a_step_is_taken_back_in_that_step(angle, speed):
    """An arm of length L, hinged on the ground at an angle a over it, ends a step of w dt at L sin(w dt - a) below.

    Its row, L sin a - w dt L cos a >= 0, holds. What is deeper than HELD comes out whole; who begins there, slowly.
    """
    length, dt = 0.4, 1.0 / 120.0
    tiny = ((1e-3, 0.0, 0.0), (0.0, 1e-3, 0.0), (0.0, 0.0, 1e-3))
    bodies = (
        Body("base", None, Joint("root", "fixed"), 1.0, tiny),
        Body("arm", "base", Joint("hinge", "hinge", ((0.0, 1.0, 0.0),)), 1.0, tiny, (length, 0.0, 0.0)),
    )
    arm = Character("arm", bodies, (Corner("tip", "arm", (length, 0.0, 0.0)),), (0.0, 0.0, 0.0))
    world = World(arm, [Plane()], rate=1.0 / dt)

    def depth():
        return length * np.sin(world.q[0])

    world.reset(np.array([-angle]), np.array([speed]))
    came = length * np.sin(speed * dt - angle)
    assert np.tan(angle) > speed * dt
    world.step()
    slowly = came - min(SHARE * (came - LEAVE), FASTEST * dt)
    assert depth() == pytest.approx(min(slowly, HELD), abs=1e-3)
    assert world.v[0] == pytest.approx(0.0, abs=1e-9)
    world.reset(np.array([np.arcsin(came / length)]), np.array([0.0]))
    world.step()
    assert depth() == pytest.approx(slowly, abs=1e-5)


def test_a_door_that_is_keyed_pushes_what_is_in_its_way():
    """Without friction a ball slides out on it as on a turning rod: r'' = omega^2 r, its centre ahead of it."""
    omega, thick, radius, start = 2.0, 0.02, 0.1, 0.5
    body = Body("ball", None, Joint("root", "free"), 5.0, 0.02 * np.eye(3), position=(start, thick + radius, 0.5))
    ball = Character("ball", (body,), (Sphere("ball", "ball", (0.0, 0.0, 0.0), radius),), (0.0, 0.0, 0.0))
    corners = np.array([[x, y, z] for x in (0.0, 1.5) for y in (-thick, thick) for z in (0.0, 2.0)])
    quads = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]
    triangles = np.array([t for a, b, c, d in quads for t in ((a, b, c), (a, c, d))])
    time = np.arange(0.0, 1.0, 1.0 / 24.0)
    turn = np.column_stack([np.cos(0.5 * omega * time), 0.0 * time, 0.0 * time, np.sin(0.5 * omega * time)])
    door = Mesh(corners, triangles, 0.0, RigidMotion(np.zeros((len(time), 3)), turn, 24.0), "door")
    world = World(ball, [door], rate=480.0)
    for _ in range(240):
        world.step()
    angle = omega * world.time
    along, across = (np.cos(angle), np.sin(angle), 0.0), (-np.sin(angle), np.cos(angle), 0.0)
    away = start * np.cosh(angle) + (thick + radius) * np.sinh(angle)
    assert along @ world.q[:3] == pytest.approx(away, rel=5e-3)
    assert across @ world.q[:3] == pytest.approx(thick + radius, abs=5e-4)
    assert across @ world.v[:3] == pytest.approx(omega * away, rel=5e-3)
