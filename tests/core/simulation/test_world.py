# SPDX-License-Identifier: GPL-3.0-or-later
"""What the world promises of itself: laws folded in, limits, momentum, the same bits, and refusals."""

import subprocess
import sys

import numpy as np
import pytest
from heft.core import dynamics
from heft.core.character import Character
from heft.core.contact.terrain import Mesh, Plane
from heft.core.simulation import AffineLaw, DivergedError, Prop, Push, World

from tests.core.simulation.things import GRAVITY, block, pendulum, simulate, unlimited


def standing(**options):
    """muico29 a little above the ground, so that contacts come and go, with joints and root in motion."""
    character = Character.preset("muico29")
    world = World(character, friction=0.6, **options)
    rng = np.random.default_rng(3)
    q = dynamics.integrate(character, character.neutral(), 0.05 * rng.normal(size=character.nv), 1.0)
    q[2] += 0.02
    v = 0.3 * rng.normal(size=character.nv)
    world.reset(q, v)
    return world


def test_muico_eq_16_equals_control_and_simulation_by_turns_to_convergence():
    """The law's gain inside the LCP, against its torque found by fixed-point iteration outside it.

    Forces of one sole's corners are not unique, their sum is: the gain answers all corners of a body alike.
    """
    rng = np.random.default_rng(8)
    world = standing()
    motors, bodies = world.character.nv - 6, len(world.character.bodies)
    compared = 0
    for _ in range(60):
        by_turns = world.copy()
        contacts = world.begin_step()
        n = int(contacts.filled[0])
        answers = 1e-3 * rng.normal(size=(bodies, motors, 3))
        gain = np.concatenate([np.zeros((motors, 0)), *answers[contacts.body[:n]]], axis=1)
        law = AffineLaw(5.0 * rng.normal(size=motors), gain)
        torque = law.torque
        for _ in range(200):
            trial = by_turns.copy()
            trial.step(torque)
            answer = law.torque + gain @ trial.contacts.force.ravel()
            changed = np.abs(answer - torque).max()
            torque = answer
            if changed < 1e-12:
                break
        assert changed < 1e-12
        world.solve(law)
        np.testing.assert_allclose(world.v, trial.v, atol=1e-8)
        np.testing.assert_allclose(world.torque, torque, atol=1e-7)
        compared += np.abs(torque - law.torque).max() > 0.1
    assert compared > 30


def test_implicit_law_is_a_stable_spring_where_an_explicit_one_is_not():
    """One joint, kp and kd far beyond what an explicit step bears: the implicit one settles at the target."""
    character = pendulum()
    world = World(character, terrain=[Plane((0.0, 0.0, -10.0))])
    stiffness, damping, target = 1e5, 1e3, 0.3
    dt = world.dt
    for _ in range(240):
        torque = stiffness * (target - world.q - dt * world.v) - damping * world.v
        world.step(AffineLaw(torque, implicit=np.full(1, dt * damping + dt**2 * stiffness)))
    weight = GRAVITY * 0.5 * np.sin(target)
    assert world.q[0] == pytest.approx(target - weight / stiffness, abs=1e-6)


def test_joint_limits_hold_while_a_rag_doll_falls():
    character = Character.preset("jain42")
    world = World(character)
    start = character.neutral()
    start[2] += 0.5
    world.reset(start, 2.0 * np.random.default_rng(1).normal(size=character.nv))
    hinges = [
        (int(character.tree.position_start[b]), body.joint.limits[0])
        for b, body in enumerate(character.bodies)
        if body.joint.kind == "hinge" and body.joint.limits
    ]
    assert hinges
    path = simulate(world, 3.0)
    for at, limit in hinges:
        assert path[:, at].min() > limit.lower - 0.02
        assert path[:, at].max() < limit.upper + 0.02


@pytest.mark.parametrize("rate", [120.0, 1000.0])
def test_momentum_of_jain42_in_free_flight_is_conserved(rate):
    character = unlimited(Character.preset("jain42"))
    tree = character.tree
    world = World(character, rate=rate, terrain=[Plane((0.0, 0.0, -1e4))])
    world.reset(None, 0.3 * np.random.default_rng(5).normal(size=character.nv))
    before = dynamics.centroidal_momentum(character, world.q, world.v)
    steps = round(2.0 * rate)
    simulate(world, 2.0)
    after = dynamics.centroidal_momentum(character, world.q, world.v)
    weight = character.total_mass * tree.gravity * steps / rate
    np.testing.assert_allclose(after[:3] - weight, before[:3], atol=1e-9 * np.linalg.norm(weight))
    np.testing.assert_allclose(after[3:], before[3:], atol=1e-9 * np.linalg.norm(before[3:]))


def test_momentum_in_flight_is_carried_over_corrections_of_joint_limits():
    """A correction puts limbs elsewhere without moving them; momentum is what it was, to rounding, at every step."""
    character = Character.preset("jain42")
    world = World(character, terrain=[])
    world.reset(None, 2.0 * np.random.default_rng(5).normal(size=character.nv))
    before = dynamics.centroidal_momentum(character, world.q, world.v)
    weight = character.total_mass * character.tree.gravity * world.dt
    corrections = 0
    for step in range(1, 241):
        world.step()
        corrections += world.corrected
        after = dynamics.centroidal_momentum(character, world.q, world.v)
        np.testing.assert_allclose(after[:3] - step * weight, before[:3], atol=1e-12 * np.linalg.norm(step * weight))
        np.testing.assert_allclose(after[3:], before[3:], atol=1e-12 * np.linalg.norm(before[3:]))
    assert corrections > 20


def test_push_gives_its_impulse_at_any_rate():
    character = block(mass=4.0, gravity=(0.0, 0.0, 0.0))
    for rate in (60.0, 77.0, 1000.0):
        push = Push.constant("block", (10.0, 0.0, 0.0), start=0.1, seconds=0.2)
        world = World(character.with_contacts(()), rate=rate, pushes=[push])
        simulate(world, 0.5)
        assert world.v[0] == pytest.approx(10.0 * 0.2 / 4.0, rel=1e-12)


def test_impulse_off_the_centre_turns_the_body():
    character = block(mass=4.0, gravity=(0.0, 0.0, 0.0))
    world = World(character.with_contacts(()))
    world.apply_impulse("block", (0.0, 2.0, 0.0), (0.1, 0.0, 0.0))
    world.step()
    momentum = dynamics.centroidal_momentum(character, world.q, world.v)
    np.testing.assert_allclose(momentum, [0.0, 2.0, 0.0, 0.0, 0.0, 0.2], atol=1e-12)


STATE_OF_A_FALL = """
import numpy as np
from heft.core.character import Character
from heft.core.simulation import World
character = Character.preset("jain42")
world = World(character)
world.reset(None, np.random.default_rng(2).normal(size=character.nv))
for _ in range(240):
    world.step()
print(world.q.tobytes().hex(), world.v.tobytes().hex())
"""


def test_same_bits_in_every_process():
    runs = [subprocess.Popen([sys.executable, "-c", STATE_OF_A_FALL], stdout=subprocess.PIPE) for _ in range(2)]
    first, second = (run.communicate(timeout=120)[0] for run in runs)
    assert len(first) > 1000
    assert first == second


def test_saved_state_and_copy_go_on_with_the_same_bits():
    world = standing()
    simulate(world, 0.3)
    state = world.save_state()
    twin = world.copy()
    path = simulate(world, 0.5)
    np.testing.assert_array_equal(simulate(twin, 0.5), path)
    world.load_state(state)
    np.testing.assert_array_equal(simulate(world, 0.5), path)


def test_force_on_the_ground_is_the_weight_of_what_stands():
    """Corner forces of a flat sole are not unique, their sum is."""
    character = block(mass=7.0)
    world = World(character)
    simulate(world, 0.5)
    np.testing.assert_allclose(world.contacts.force.sum(axis=0), [0.0, 0.0, 7.0 * GRAVITY], atol=1e-9)


def test_invalid_torque_ends_the_simulation_and_keeps_the_state():
    world = standing()
    simulate(world, 0.1)
    q, steps = world.q, world.steps
    with pytest.raises(DivergedError, match=f"ended at step {steps}, .* not finite"):
        world.step(np.full(world.character.nv - 6, np.nan))
    np.testing.assert_array_equal(world.q, q)
    assert world.steps == steps
    world.step()
    assert np.isfinite(world.q).all()


@pytest.mark.parametrize("friction", [0.0, 1e4])
def test_no_friction_and_huge_friction_have_a_defined_result(friction):
    world = World(block(), friction=friction)
    world.reset(v=[1.0, 0.0, 0.0, 0.0, 0.0, 0.0])
    simulate(world, 1.0)
    assert np.isfinite(world.q).all()
    if friction == 0.0:
        assert world.v[0] == pytest.approx(1.0, abs=1e-9)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda c: World(c, rate=0.0), "rate of the world"),
        (lambda c: World(c, rate=np.inf), "rate of the world"),
        (lambda c: World(c, sides=5), "4 or 6 sides"),
        (lambda c: World(c, friction=-1.0), "friction"),
        (lambda c: World(c, contacts="soft"), "anticipating, touching"),
        (lambda c: World(c, props=[Prop.sphere("block", 0.1, 1.0, (0.0, 0.0, 1.0))]), "names of props"),
        (lambda c: World(c, pushes=[Push.constant("hand", (1.0, 0.0, 0.0), 0.0, 1.0)]), "unknown body 'hand'"),
        (lambda c: World(c).reset([0.0]), "shape of q"),
        (lambda c: World(c).reset(np.full(7, np.nan)), "q must be finite"),
        (lambda c: World(c).step(np.zeros(3)), "torque must have the shape"),
    ],
)
def test_bad_input_is_one_sentence(make, message):
    with pytest.raises(ValueError, match=message) as error:
        make(block())
    assert "\n" not in str(error.value)


def test_box_comes_to_rest_on_stairs_of_triangles():
    """Treads of 30 cm and rises of 15: it must end on a tread, flat, and not in a riser."""
    corners, faces = [], []
    for step in range(4):
        x, z = 0.3 * step, 0.15 * step
        base = len(corners)
        for far in (-1.0, 1.0):
            corners += [(x, far, z - 0.15), (x, far, z), (x + 0.3, far, z)]
        faces += [(base, base + 1, base + 4), (base, base + 4, base + 3)]
        faces += [(base + 1, base + 2, base + 5), (base + 1, base + 5, base + 4)]
    stairs = Mesh(np.array(corners), np.array(faces)[:, ::-1], friction=0.8)
    character = block(size=(0.2, 0.2, 0.2))
    world = World(character, terrain=[stairs])
    world.reset([0.45, 0.0, 0.15 + 0.1 + 0.05, 1.0, 0.0, 0.0, 0.0])
    simulate(world, 2.0)
    np.testing.assert_allclose(world.q[:3], [0.45, 0.0, 0.25], atol=2e-3)
    assert abs(world.q[3]) == pytest.approx(1.0, abs=1e-5)
