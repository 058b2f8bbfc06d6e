# SPDX-License-Identifier: GPL-3.0-or-later
"""Props of convex pieces: hulls that fall, slide and tip, and what sits on a chair, by closed forms and by MuJoCo."""

from dataclasses import replace

import numpy as np
import pytest
from heft.core.contact.hulls import solid_mass
from heft.core.contact.shapes import Box, Hull
from heft.core.contact.terrain import Plane
from heft.core.simulation import Prop, Push, World
from scipy.integrate import solve_ivp

from .scenes import bystander, prop_state
from .things import GRAVITY

RATE = 480.0
SIGNS = np.array([[x, y, z] for x in (-1.0, 1.0) for y in (-1.0, 1.0) for z in (-1.0, 1.0)])
# a shard without any symmetry
SHARD = np.array([[0.0, 0.0, 0.0], [0.5, 0.05, 0.0], [0.1, 0.3, 0.05], [0.15, 0.1, 0.4], [0.35, 0.25, 0.1]])
SEAT, LEG = 0.45, 0.02  # m: height of a seat's upper side, half a leg's width
PUSH_AT = 0.9  # m: the height at which the chair is pushed


def hull(name, body, points):
    return Hull(name, body, tuple(map(tuple, np.asarray(points, dtype=float).tolist())))


def block(name, body, half, place):
    return hull(name, body, SIGNS * half + place)


def chair(mass=6.0, at=(0.0, 0.0, 0.0), **changes):
    """A seat, a back and four legs, 40 cm square."""
    shapes = [block("seat", "chair", (0.2, 0.2, 0.02), (0.0, 0.0, SEAT - 0.02))]
    shapes.append(block("back", "chair", (0.02, 0.2, 0.25), (-0.18, 0.0, SEAT + 0.25)))
    for k, (x, y) in enumerate(((-1, -1), (-1, 1), (1, -1), (1, 1))):
        half = 0.5 * (SEAT - 0.04)
        shapes.append(block(f"leg {k}", "chair", (LEG, LEG, half), (0.18 * x, 0.18 * y, half)))
    return replace(Prop.of_shapes("chair", shapes, mass, at), **changes)


def stepped(world, seconds):
    for _ in range(round(seconds * world.rate)):
        world.step()
    return prop_state(world)


def test_a_block_of_pieces_weighs_what_a_block_does():
    """Two halves, a hull and a box, make one box."""
    halves = [
        block("left", "block", (0.15, 0.2, 0.1), (-0.15, 0.0, 0.0)),
        Box("right", "block", (0.15, 0.2, 0.1), (0.15, 0, 0)),
    ]
    whole = Prop.box("block", (0.3, 0.2, 0.1), 5.0, (1.0, 2.0, 3.0))
    found = Prop.of_shapes("block", halves, 5.0, (1.0, 2.0, 3.0))
    np.testing.assert_allclose(found.body.inertia, whole.body.inertia, atol=1e-12)
    np.testing.assert_allclose(found.body.position, whole.body.position, atol=1e-12)


def test_a_hull_slides_as_far_as_friction_lets_it():
    """A wedge on its side: v^2 / (2 mu g), and half a step's way, since positions move on before velocities do."""
    wedge = [(x, y, z) for y in (-0.1, 0.1) for x, z in ((-0.2, 0.0), (0.2, 0.0), (0.2, 0.1))]
    prop = Prop.of_shapes("wedge", [hull("wedge", "wedge", wedge)], 3.0, (0.0, 0.0, 0.0), velocity=(2.0, 0, 0, 0, 0, 0))
    start = prop.body.position[0]
    world = World(bystander(), rate=RATE, props=[replace(prop, friction=0.4)])
    q, v = stepped(world, 0.8)
    assert q[0] - start == pytest.approx(4.0 / (2.0 * 0.4 * GRAVITY) + 1.0 / RATE, rel=1e-3)
    np.testing.assert_allclose(q[3:7], (1.0, 0.0, 0.0, 0.0), atol=1e-6)
    np.testing.assert_allclose(v, 0.0, atol=1e-6)


def test_a_column_tips_over_its_edge_as_a_pendulum_does():
    """About an edge that does not slip: I angle'' = m g r sin(angle), from just past its balance."""
    half = np.array([0.1, 0.2, 0.5])
    radius, stand = np.hypot(half[0], half[2]), np.arctan2(half[0], half[2])
    about = 4.0 / 3.0 * radius**2  # I / m about the edge
    start = 0.1
    lean = stand + start  # of the column, its edge at the origin and its diagonal `start` past the plumb line
    middle = (radius * np.sin(start), 0.0, radius * np.cos(start))
    turn = (np.cos(0.5 * lean), 0.0, np.sin(0.5 * lean), 0.0)
    prop = Prop.of_shapes("column", [hull("column", "column", SIGNS * half)], 10.0, middle, turn)
    found = []
    for rate in (RATE, 4.0 * RATE):
        q, _ = stepped(World(bystander(), rate=rate, props=[prop]), 0.5)
        found.append(2.0 * np.arctan2(q[5], q[3]) - stand)
    swing = solve_ivp(
        lambda _, y: (y[1], GRAVITY * radius / about * np.sin(y[0])), (0.0, 0.5), (start, 0.0), rtol=1e-9, atol=1e-9
    )
    expected = swing.y[0, -1]
    assert expected > 0.2
    assert found[1] == pytest.approx(expected, rel=5e-3)
    assert abs(found[1] - expected) < 0.5 * abs(found[0] - expected)


def test_a_shard_that_fell_lies_on_a_side():
    """Still, with three corners on the ground and none in it."""
    prop = Prop.of_shapes(
        "shard", [hull("shard", "shard", SHARD)], 2.0, (0.0, 0.0, 0.4), velocity=(0.5, 0, 0, 1.0, 2.0, 0)
    )
    world = World(bystander(), rate=240.0, props=[prop])
    _, v = stepped(world, 3.0)
    np.testing.assert_allclose(v, 0.0, atol=1e-3)
    found = world.contacts
    assert np.sort(found.gap)[:3] == pytest.approx(0.0, abs=1e-4)
    assert found.force.sum(axis=0) == pytest.approx((0.0, 0.0, 2.0 * GRAVITY), abs=0.05)


def test_a_chair_stands_on_four_legs_and_carries_what_sits_on_it():
    crate = Prop.box("crate", (0.1, 0.1, 0.1), 20.0, (0.03, 0.02, SEAT + 0.15))
    world = World(bystander(), rate=240.0, props=[chair(), crate])
    q, v = stepped(world, 1.0)
    np.testing.assert_allclose(v, 0.0, atol=1e-4)
    np.testing.assert_allclose(q[:3], chair().body.position, atol=1e-3)
    assert q[9] == pytest.approx(SEAT + 0.1, abs=2e-3)
    found = world.contacts
    ground = found.force[found.other < 0].sum(axis=0)
    np.testing.assert_allclose(ground, (0.0, 0.0, 26.0 * GRAVITY), atol=0.5)
    legs = found.force[(found.other < 0), 2]
    assert (legs >= -1e-9).all()


@pytest.mark.parametrize(("share", "tips"), [(0.95, False), (1.05, True)])
def test_a_chair_tips_when_it_is_pushed_hard_enough(share, tips):
    """About its back legs: F h = m g d, d how far its centre of mass is in front of their outer edges."""
    prop = replace(chair(), friction=2.0)
    center = np.array(prop.body.position)
    edge = -0.18 - LEG
    force = share * 6.0 * GRAVITY * (center[0] - edge) / PUSH_AT
    push = Push.constant("chair", (-force, 0.0, 0.0), 0.0, 9.0, tuple((0.0, 0.0, PUSH_AT) - center))
    world = World(bystander(), rate=240.0, props=[prop], pushes=[push])
    q, _ = stepped(world, 1.0)
    lean = 2.0 * np.arcsin(-q[5])
    assert (lean > 0.02) == tips
    if not tips:
        assert lean == pytest.approx(0.0, abs=1e-3)


def by_mujoco(pieces, mass, seconds, others="", options="", rate=2000.0, start=None):
    """Free bodies in MuJoCo: one of hulls, which weigh so much together, and others; positions at the end."""
    mujoco = pytest.importorskip("mujoco")
    total = sum(volume_of(points) for points in pieces)
    assets = "".join(
        f'<mesh name="m{k}" inertia="exact" vertex="{" ".join(map(str, np.ravel(points)))}"/>'
        for k, points in enumerate(pieces)
    )
    geoms = "".join(
        f'<geom type="mesh" mesh="m{k}" mass="{mass * volume_of(points) / total}" friction="1 0 0"/>'
        for k, points in enumerate(pieces)
    )
    text = (
        f'<mujoco><option timestep="{1.0 / rate}" integrator="implicitfast" cone="elliptic" {options}/>'
        f"<asset>{assets}</asset>"
        f'<default><geom solref="0.004 1" condim="3"/></default>'
        f"<worldbody>{others}<body><freejoint/>{geoms}</body></worldbody></mujoco>"
    )
    model = mujoco.MjModel.from_xml_string(text)
    data = mujoco.MjData(model)
    if start is not None:
        start(data)
    for _ in range(round(seconds * rate)):
        mujoco.mj_step(model, data)
    return data


def volume_of(points):
    return solid_mass(np.asarray(points, dtype=float)).mass


def test_a_shard_tumbles_as_in_mujoco():
    """Thrown without gravity; angular velocities in the body's frame as MuJoCo has them."""
    prop = Prop.of_shapes(
        "shard", [hull("shard", "shard", SHARD)], 2.0, (0.0, 0.0, 0.0), velocity=(0, 0, 0, 3.0, -4.0, 5.0)
    )
    around = bystander()
    world = World(replace(around, gravity=(0.0, 0.0, 0.0)), [], rate=1920.0, props=[prop])
    q, _ = stepped(world, 0.5)

    def throw(data):
        data.qvel[3:6] = 3.0, -4.0, 5.0
        # about the centre of mass, which the body's frame is not at
        data.qvel[:3] = -np.cross(data.qvel[3:6], prop.body.position)

    data = by_mujoco([SHARD], 2.0, 0.5, options='gravity="0 0 0"', rate=20000.0, start=throw)
    away = abs(np.dot(q[3:7], data.qpos[3:7]))
    assert 2.0 * np.degrees(np.arccos(min(away, 1.0))) < 0.3
    np.testing.assert_allclose(q[:3], prop.body.position, atol=1e-6)


def test_a_crate_that_slides_off_a_sloping_seat_goes_as_in_mujoco():
    """Onto a seat that is tilted by 20 degrees, with friction 0.2 of its own: down it, and over its edge."""
    tilt = np.radians(20.0)
    normal = np.array([np.sin(tilt), 0.0, np.cos(tilt)])
    turn = (np.cos(0.5 * tilt), 0.0, np.sin(0.5 * tilt), 0.0)
    pieces = [SIGNS * (0.1, 0.1, 0.05), SIGNS * (0.03, 0.1, 0.03) + (-0.07, 0.0, 0.08)]
    start = tuple((0.05 + 1e-4) * normal + 0.05 * np.array([np.cos(tilt), 0.0, -np.sin(tilt)]))
    crate = Prop.of_shapes(
        "crate", [hull(str(k), "crate", points) for k, points in enumerate(pieces)], 4.0, start, turn
    )
    seconds = 0.4
    world = World(bystander(), [Plane(normal=tuple(normal))], rate=960.0, props=[replace(crate, friction=0.2)])
    q, _ = stepped(world, seconds)
    data = by_mujoco(
        pieces,
        4.0,
        seconds,
        f'<geom type="plane" size="5 5 1" quat="{" ".join(map(str, turn))}" friction="0.2 0 0" priority="1"/>',
        start=lambda data: data.qpos.__setitem__(slice(0, 7), (*start, *turn)),
    )
    np.testing.assert_allclose(q[:3], data.xipos[1], atol=2e-3)
    assert np.linalg.norm(q[:3] - np.array(crate.body.position)) > 0.1


def test_a_crate_dropped_on_a_chair_ends_as_in_mujoco():
    """Off the middle, on a seat of one piece among six: chair and crate come to rest where MuJoCo's do."""
    pieces = [np.array(shape.corners) + chair().body.position for shape in chair().shapes]
    half, at = (0.08, 0.08, 0.08), (0.1, -0.05, SEAT + 0.08 + 0.05)
    crate = Prop.box("crate", half, 8.0, at)
    q, _ = stepped(World(bystander(), rate=480.0, props=[chair(), crate]), 1.0)
    crate_there = (
        f'<body pos="{" ".join(map(str, at))}"><freejoint/><geom type="box" size="0.08 0.08 0.08" mass="8"/></body>'
    )
    data = by_mujoco(pieces, 6.0, 1.0, f'<geom type="plane" size="5 5 1"/>{crate_there}')
    np.testing.assert_allclose(q[:3], data.xipos[2], atol=2e-3)
    np.testing.assert_allclose(q[7:10], data.xipos[1], atol=2e-3)
