# SPDX-License-Identifier: GPL-3.0-or-later
"""Several characters in one world: who touches nobody goes alone to the bit; who touches gives what he takes."""

from dataclasses import replace

import numpy as np
import pytest
from heft.core import dynamics
from heft.core.character import Body, Character, Joint, Sphere
from heft.core.simulation import AffineLaw, Grab, Prop, Push, TorqueLimits, World
from heft.core.simulation.company import Company, Hold, simulate_together
from heft.core.simulation.recording import Recording, simulate
from heft.core.simulation.world import ANOTHER

from tests.core.simulation.things import GRAVITY, with_joints


def ball(mass=1.0, radius=0.1, gravity=(0.0, 0.0, 0.0)):
    """A solid ball."""
    inertia = 0.4 * mass * radius**2 * np.eye(3)
    body = Body("ball", None, Joint("root", "free"), mass, tuple(map(tuple, inertia.tolist())))
    return Character("ball", (body,), (Sphere("ball", "ball", (0.0, 0.0, 0.0), radius),), gravity)


def placed(world, place, velocity=(0.0, 0.0, 0.0), spin=(0.0, 0.0, 0.0)):
    """The world with its free character there."""
    q = world.character.neutral()
    q[:3] = place
    v = np.zeros(world.character.nv)
    v[:3], v[3:6] = velocity, spin
    world.reset(q, v)
    return world


def total_momentum(worlds):
    """Linear, and angular about the common centre of mass."""
    masses = [world.character.total_mass for world in worlds]
    centres = [dynamics.center_of_mass(world.character, world.q) for world in worlds]
    common = np.average(centres, axis=0, weights=masses)
    linear, angular = np.zeros(3), np.zeros(3)
    for world, centre in zip(worlds, centres, strict=True):
        own = dynamics.centroidal_momentum(world.character, world.q, world.v)
        linear += own[:3]
        angular += own[3:] + np.cross(centre - common, own[:3])
    return linear, angular


def walker(**options):
    """muico29 a little above the ground, in motion, so that contacts come and go."""
    character = Character.preset("muico29")
    limits = TorqueLimits({body.joint.name: 40.0 for body in character.bodies[1:] if body.joint.kind != "fixed"})
    return World(character, friction=0.6, torque_limits=limits, **options)


def start(world, seed, aside=0.0):
    """Somewhere near its neutral pose."""
    character, rng = world.character, np.random.default_rng(seed)
    q = dynamics.integrate(character, character.neutral(), 0.05 * rng.normal(size=character.nv), 1.0)
    q[1] += aside
    q[2] += 0.02
    world.reset(q, 0.3 * rng.normal(size=character.nv))
    return world


class Swaying:
    """A law with torques, an answer to contacts and an implicit part, the same at every call."""

    def __init__(self, seed):
        self.rng = np.random.default_rng(seed)

    def law(self, state, contacts):
        motors, n = len(state.v) - 6, int(contacts.filled[0])
        gain = 1e-3 * self.rng.normal(size=(motors, 3 * n))
        return AffineLaw(20.0 * self.rng.normal(size=motors), gain, np.full(motors, 0.05))


def same(one: Recording, other: Recording):
    for name, value in vars(one).items():
        if isinstance(value, np.ndarray):
            np.testing.assert_array_equal(value, getattr(other, name), err_msg=name)
    assert (one.outcome, one.reason) == (other.outcome, other.reason)


def test_who_touches_nobody_goes_as_alone_to_the_bit():
    """The whole of the recording: states, torques, forces, residuals; with laws, limits, grabs, pushes and a prop."""
    push = Push.constant("torso", (30.0, 10.0, 0.0), start=0.1, seconds=0.2)
    ball = Prop.sphere("ball", 0.1, 1.0, (0.4, 2.0, 0.5))
    makes = [
        lambda: start(walker(), 1),
        lambda: start(walker(pushes=[push], props=[ball]), 2, 2.0),
        lambda: start(walker(grabs=[Grab("left_hand", start=0.2)]), 3, -2.0),
    ]
    alone = [simulate(make(), Swaying(seed), seconds=0.6) for seed, make in enumerate(makes)]
    company = Company([make() for make in makes])
    together = simulate_together(company, [Swaying(seed) for seed in range(3)], seconds=0.6)
    for one, other in zip(alone, together, strict=True):
        assert one.steps == 72
        same(one, other)


def test_momentum_of_two_balls_that_meet_in_flight():
    """Friction and spin included; the normal speeds are those of an inelastic impact, in closed form."""
    company = Company(
        [
            placed(World(ball(1.0), []), (0.0, 0.0, 0.0), (2.0, 0.3, 0.0), (0.0, 5.0, 9.0)),
            placed(World(ball(3.0), []), (0.5, 0.05, 0.02), (-1.0, 0.0, 0.0)),
        ]
    )
    before = total_momentum(company.worlds)
    touched = 0
    for _ in range(60):
        assert company.step({0: None, 1: None}) == {}
        touched += any(world.contacts.force.any() for world in company.worlds)
        linear, angular = total_momentum(company.worlds)
        np.testing.assert_allclose(linear, before[0], atol=1e-10)
        np.testing.assert_allclose(angular, before[1], atol=1e-10)
    assert touched
    a, b = company.worlds
    normal = (a.q[:3] - b.q[:3]) / np.linalg.norm(a.q[:3] - b.q[:3])
    assert (a.v[:3] - b.v[:3]) @ normal > -1e-9
    assert abs(a.v[:3] @ (1.0, 0.0, 0.0) - -0.25) < 0.1  # the common speed, nearly head-on


def test_momentum_of_two_rag_dolls_that_meet_in_flight():
    weightless = replace(Character.preset("jain42"), gravity=(0.0, 0.0, 0.0))
    character = with_joints(weightless, lambda joint: replace(joint, limits=None))
    rng = np.random.default_rng(4)
    worlds = []
    for place, velocity in (((0.0, 0.0, 0.0), (1.5, 0.0, 0.0)), ((0.6, 0.1, 0.1), (-1.5, 0.0, 0.0))):
        world = World(character, [])
        q = character.neutral()
        q[:3] += place
        v = 0.3 * rng.normal(size=character.nv)
        v[:3] = velocity
        world.reset(q, v)
        worlds.append(world)
    company = Company(worlds)
    linear, _ = total_momentum(worlds)
    before = [dynamics.centroidal_momentum(character, world.q, world.v) for world in worlds]
    energy = sum(dynamics.kinetic_energy(character, world.q, world.v) for world in worlds)
    touched = 0
    for _ in range(90):
        assert company.step({0: None, 1: None}) == {}
        after = [dynamics.centroidal_momentum(character, world.q, world.v) for world in worlds]
        hit = any((world.contacts.other == ANOTHER).any() for world in worlds)
        np.testing.assert_allclose(after[0][:3] + after[1][:3], linear, atol=1e-10)
        if not any(world.corrected for world in worlds):
            # what they gave each other at the places where they are: its moments about the origin cancel
            given = [
                new[3:] - old[3:] + np.cross(dynamics.center_of_mass(character, world.q), new[:3] - old[:3])
                for new, old, world in zip(after, before, worlds, strict=True)
            ]
            np.testing.assert_allclose(given[0] + given[1], 0.0, atol=1e-10)
            touched += hit and bool(np.linalg.norm(given[0]) > 0.01)
        before = after
    assert touched >= 3
    # nothing springs: what they meet with is spent
    left = sum(dynamics.kinetic_energy(character, world.q, world.v) for world in worlds)
    assert left < 0.9 * energy
    assert max(np.linalg.norm(world.v[:3]) for world in worlds) < 1.6


def test_a_ball_that_rests_on_another_characters_is_borne_by_it():
    """Forces in closed form: the lower one bears both on the ground, and both are told of the touch."""
    down = (0.0, 0.0, -GRAVITY)
    lower, upper = (placed(World(ball(mass, gravity=down)), (0.0, 0.0, z)) for mass, z in ((2.0, 0.1), (3.0, 0.3)))
    company = Company([lower, upper])
    for _ in range(120):
        assert company.step({0: None, 1: None}) == {}
    (force,) = (f for f, other in zip(upper.contacts.force, upper.contacts.other, strict=True) if other == ANOTHER)
    np.testing.assert_allclose(force, (0.0, 0.0, 3.0 * GRAVITY), atol=1e-6)
    own = lower.contacts
    (on_ground,), (from_above,) = own.force[own.other == -1], own.force[own.other == ANOTHER]
    np.testing.assert_allclose(on_ground, (0.0, 0.0, 5.0 * GRAVITY), atol=1e-6)
    np.testing.assert_allclose(from_above, -force, atol=1e-12)
    np.testing.assert_allclose(lower.contact_wrenches()[0, :3], (0.0, 0.0, 2.0 * GRAVITY), atol=1e-6)
    assert upper.q[2] == pytest.approx(0.3, abs=1e-4)


@pytest.mark.parametrize(("drag", "share"), [(1.5, 1.5 * 2.0 / 7.0), (2.0, 0.5)])
def test_friction_between_two_is_coulombs(drag, share):
    """A solid ball dragged over another's head rolls by 2/7 of the drag, until friction bears no more of it."""
    lower = placed(World(ball(1e7, gravity=(0.0, 0.0, -GRAVITY))), (0.0, 0.0, 0.1))
    upper = placed(World(ball(1.0, gravity=(0.0, 0.0, -GRAVITY))), (0.0, 0.0, 0.3))
    company = Company([lower, upper], friction=0.5)
    upper.apply_impulse("ball", (drag * GRAVITY * upper.dt, 0.0, 0.0))
    assert company.step({0: None, 1: None}) == {}
    (force,) = upper.contacts.force[upper.contacts.other == ANOTHER]
    np.testing.assert_allclose(force, (-share * GRAVITY, 0.0, GRAVITY), atol=1e-5)


@pytest.mark.parametrize("kind", ["point", "full"])
def test_two_who_hold_each_other_turn_as_one(kind):
    """A hold in flight: momentum is kept, and the points stay together."""
    company = Company(
        [
            placed(World(ball(1.0), []), (0.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 3.0)),
            placed(World(ball(2.0), []), (0.4, 0.0, 0.0), (0.0, -1.0, 0.0)),
        ],
        [Hold(0, Grab("ball", (0.2, 0.0, 0.0), kind, start=0.05), 1, "ball")],
    )
    linear, angular = total_momentum(company.worlds)
    for _ in range(12):
        company.step({0: None, 1: None})
    spot = None
    for _ in range(60):
        assert company.step({0: None, 1: None}) == {}
        now = total_momentum(company.worlds)
        np.testing.assert_allclose(now[0], linear, atol=1e-10)
        a, b = company.worlds
        points = [dynamics.body_poses(world.character, world.q) for world in (a, b)]
        (pa, qa), (pb, qb) = points
        held = pa[0] + rotate(qa[0], np.array([0.2, 0.0, 0.0]))
        own = rotate(conjugate(qb[0]), held - pb[0])
        spot = own if spot is None else spot
        np.testing.assert_allclose(own, spot, atol=2e-3)
    assert np.linalg.norm(now[1] - angular) < 0.05 * np.linalg.norm(angular)


def rotate(quaternion, vector):
    w, axis = quaternion[0], quaternion[1:]
    twice = 2.0 * np.cross(axis, vector)
    return vector + w * twice + np.cross(axis, twice)


def conjugate(quaternion):
    return quaternion * np.array([1.0, -1.0, -1.0, -1.0])


def test_laws_act_in_one_problem_as_alone():
    """Two who are joined by a touch of their fingers, as it were, still get the torques that their own laws ask for."""
    worlds = [start(walker(), 1), start(walker(), 2, 0.75)]
    company = Company(worlds)
    laws = [Swaying(0), Swaying(1)]
    joined = 0
    for _ in range(60):
        assert company.step(dict(enumerate(laws))) == {}
        joined += any((world.contacts.other == ANOTHER).any() for world in worlds)
        for world in worlds:
            assert np.abs(world.torque).max() <= np.sqrt(3) * 40.0
            assert world.residual < 1e-6
    assert joined > 3


def test_who_comes_later_meets_the_other_on_one_clock():
    later = placed(World(ball(1.0), []), (0.5, 0.0, 0.0))
    first = placed(World(ball(1.0), []), (0.0, 0.0, 0.0), (1.0, 0.0, 0.0))
    company = Company(
        [first, later],
        [Hold(1, Grab("ball", start=0.5), 0, "ball")],
        begins=(0.0, 0.25),
    )
    found = simulate_together(company, [None, None], seconds=0.6)
    assert [one.steps for one in found] == [72, 72]
    # alone for a quarter of a second, then they meet at 0.3 s, and from half a second on they are one
    assert found[0].v[29, 0] == pytest.approx(1.0)
    np.testing.assert_allclose(found[1].v[-1, 0], 0.5, atol=1e-9)


def test_pairs_that_are_kept_apart_pass_through_each_other():
    company = Company(
        [
            placed(World(ball(1.0), []), (0.0, 0.0, 0.0), (2.0, 0.0, 0.0)),
            placed(World(ball(1.0), []), (0.5, 0.0, 0.0)),
        ],
        apart=[(1, 0)],
    )
    simulate_together(company, [None, None], seconds=0.5)
    assert company.worlds[0].v[0] == 2.0


@pytest.mark.parametrize(("groups", "meets"), [((1, 2), True), ((1,), False), ((), False)])
def test_props_of_two_characters_meet_that_share_a_group(groups, meets):
    light = replace(Prop.sphere("light", 0.1, 1.0, (-0.5, 0.0, 1.0), velocity=(2.0, 0, 0, 0, 0, 0)), groups=groups)
    heavy = replace(Prop.sphere("heavy", 0.1, 9.0, (0.0, 0.0, 1.0)), groups=(2,))
    worlds = [
        placed(World(ball(), [], rate=480.0, props=[prop]), (0.0, 10.0 * aside, 0.0))
        for aside, prop in ((1.0, light), (2.0, heavy))
    ]
    company = Company(worlds)
    for _ in range(240):
        company.step({0: None, 1: None})
    assert worlds[1].system_v[6] == pytest.approx(0.2 if meets else 0.0, abs=1e-6)


def test_who_begins_inside_another_is_not_pushed_out_but_goes_no_deeper():
    """Two balls of 0.1 m, 0.16 m apart: at rest they stay; sent at each other they stop there, and leave freely."""
    company = Company([placed(World(ball()), (0.16 * k, 0.0, 0.0)) for k in range(2)])
    first, second = simulate_together(company, [np.zeros(0)] * 2, seconds=0.2)
    assert company.inside == {(0, 1): {("ball", "ball"): pytest.approx(0.04)}}
    assert np.abs(second.q[:, 0] - 0.16).max() < 1e-12
    assert np.abs(first.q[:, 0]).max() < 1e-12
    for speed in (-1.0, 1.0):
        worlds = [placed(World(ball()), (0.0, 0.0, 0.0)), placed(World(ball()), (0.16, 0.0, 0.0), (speed, 0.0, 0.0))]
        one, other = simulate_together(Company(worlds), [np.zeros(0)] * 2, seconds=0.2)
        between = other.q[:, 0] - one.q[:, 0]
        assert between.min() > 0.16 - 1.0 / 120.0 - 1e-9  # the first step goes by the velocity that it was given
        assert (between[-1] > 0.3) == (speed > 0.0)


def test_who_comes_to_another_later_touches_as_ever():
    """Balls that begin apart have no such leave."""
    worlds = [placed(World(ball()), (0.0, 0.0, 0.0)), placed(World(ball()), (0.5, 0.0, 0.0), (-2.0, 0.0, 0.0))]
    company = Company(worlds)
    one, other = simulate_together(company, [np.zeros(0)] * 2, seconds=0.4)
    assert company.inside == {}
    assert (other.q[:, 0] - one.q[:, 0]).min() > 0.2 - 1e-3


def test_one_alone_is_the_special_case():
    one = simulate(start(walker(), 5), Swaying(7), seconds=0.3)
    (other,) = simulate_together(Company([start(walker(), 5)]), [Swaying(7)], seconds=0.3)
    same(one, other)


def test_what_cannot_be_together_is_refused():
    with pytest.raises(ValueError, match="same rate of steps"):
        Company([World(ball(), []), World(ball(), [], rate=240.0)])
    with pytest.raises(ValueError, match="same gravity"):
        Company([World(ball(), []), World(ball(gravity=(0.0, 0.0, -1.6)), [])])
    with pytest.raises(ValueError, match="unknown body 'hand'"):
        Company([World(ball(), []), World(ball(), [])], [Hold(0, Grab("ball"), 1, "hand")])
    with pytest.raises(ValueError, match="not to another's body"):
        Hold(0, Grab("ball", other="box"), 1, "ball")
    with pytest.raises(ValueError, match="a character and itself"):
        Hold(1, Grab("ball"), 1, "ball")


def test_a_step_that_fails_leaves_the_others_be():
    """Whoever has no law ends; the other goes on as alone."""
    good, bad = start(walker(), 1), start(walker(), 2, 3.0)
    alone = simulate(start(walker(), 1), Swaying(0), seconds=0.2)

    class Broken(Swaying):
        def law(self, state, contacts):
            law = super().law(state, contacts)
            return AffineLaw(law.torque * (np.nan if state.time > 0.1 else 1.0))

    company = Company([good, bad])
    one, other = simulate_together(company, [Swaying(0), Broken(1)], seconds=0.2)
    same(alone, one)
    assert other.outcome == "diverged"
    assert other.steps == 13
