# SPDX-License-Identifier: GPL-3.0-or-later
"""The controller in the simulator."""

import numpy as np
import pytest
from heft.core.character import Character
from heft.core.character.parts import Body, Corner, Joint
from heft.core.control.balance import Balance, Settings
from heft.core.control.track import Track
from heft.core.dynamics import difference, integrate
from heft.core.simulation import Push, World

from tests.core.control.balance.poses import one_leg
from tests.core.control.replanning.tracks import hanging, held, soles, squatting


def followed(controller, world, seconds, noise=0.0):
    """Worst RMS of joints, rad, and distance of the root's place, m."""
    q, v = controller.reference_state()
    world.reset(q, v + noise)
    joints = root = 0.0
    for _ in range(round(seconds / world.dt)):
        world.step(controller)
        error = difference(controller.character, controller.reference_state()[0], world.q)
        joints = max(joints, float(np.sqrt(np.mean(error[6:] ** 2))))
        root = max(root, float(np.linalg.norm(error[:3])))
    return joints, root


def law_at(controller, world, q, v, frame=0):
    world.reset(q, v)
    contacts = world.begin_step()
    controller.seek(frame)
    law = controller.law(world.state(), contacts)
    return law.torque.copy(), law.implicit.copy()


@pytest.fixture(scope="module")
def walking(walk_on_corners):
    return walk_on_corners.character, Track.of(walk_on_corners)


def test_a_walk_is_followed_lap_by_lap_from_a_noisy_start(walking, rng):
    character, track = walking
    noise = rng.normal(scale=0.05, size=character.nv)
    joints, root = followed(Balance(character, track), World(character), 4.0, noise)
    assert joints < np.radians(1.0)
    assert root < 0.03


def test_a_turning_walk_keeps_its_heading_in_mind(turning_walk):
    character = turning_walk.character
    controller = Balance(character, Track.of(turning_walk), Settings(balance=0.5))
    joints, root = followed(controller, World(character), 6.0)
    assert joints < np.radians(2.0)
    assert root < 0.05
    turned = controller.track.cycle.turn * controller.track.lap(controller.frame)
    assert abs(turned) > 2.0


def test_pushes_that_feet_in_place_can_take_are_taken(walking):
    character, track = walking
    for force in ((150.0, 0.0, 0.0), (0.0, 50.0, 0.0)):
        world = World(character, pushes=[Push.constant("torso", force, 1.2, 0.1)])
        _, root = followed(Balance(character, track), world, 4.0)
        assert root < 0.25


def test_on_the_reference_balance_has_nothing_to_say(walking):
    """The model's accelerations count only by how they differ from those on the reference; contacts left alone."""
    character, track = walking
    style, both = (
        Balance(character, track, Settings(balance=share, contact=1e-9, friction=2.0)) for share in (0.0, 0.5)
    )
    phases = np.flatnonzero(both.policy.stance >= 0)
    assert len(phases) > 60
    world = World(character)
    for frame in phases[::20]:
        style.seek(frame)
        q, v = style.reference_state()
        expected, _ = law_at(style, world, q, v, frame)
        found, _ = law_at(both, world, q, v, frame)
        np.testing.assert_allclose(found, expected, atol=0.05)
        off, _ = law_at(both, world, q, v + 0.1, frame)
        other, _ = law_at(style, world, q, v + 0.1, frame)
        assert np.abs(off - other).max() > 0.5


def test_arms_may_balance_too(walking):
    """On the reference they have nothing to say either; beside it they have, and the walk goes on."""
    character, track = walking
    trunk, arms = (
        Balance(character, track, Settings(balance=0.5, contact=1e-9, friction=2.0, arms=one)) for one in (False, True)
    )
    assert [len(each.policy.models[0].mass) for each in (trunk, arms)] == [3, 5]
    world, frame = World(character), int(np.flatnonzero(arms.policy.stance >= 0)[20])
    trunk.seek(frame)
    q, v = trunk.reference_state()
    np.testing.assert_allclose(law_at(arms, world, q, v, frame)[0], law_at(trunk, world, q, v, frame)[0], atol=0.05)
    off = [law_at(each, world, q, v + 0.1, frame)[0] for each in (trunk, arms)]
    assert np.abs(off[1] - off[0]).max() > 0.5
    joints, root = followed(Balance(character, track, Settings(balance=0.3, arms=True)), world, 2.5, 0.02)
    assert joints < np.radians(5.0)
    assert root < 0.05


def test_one_leg_stands_by_the_endless_regulator(muico29):
    q, points = one_leg(muico29)
    controller = Balance(muico29, held(muico29, [q] * 10, points))
    assert (controller.policy.stance == 0).all()
    _, root = followed(controller, World(muico29), 3.0)
    assert root < 0.03


@pytest.mark.parametrize(("weight", "share"), [(1.0, 1.0 / 3.0), (100.0, 0.0)])
def test_a_foot_that_stands_turned_is_for_its_hip_to_bear_not_for_the_pelvis(muico29, weight, share):
    """By 10 degrees about the vertical: pelvis and two hips share it evenly where their rows weigh the same."""
    both = [(corner.body, corner.position) for corner in soles(muico29)]
    controller = Balance(muico29, held(muico29, [muico29.neutral()] * 10, both), Settings(root_weight=weight))
    world, turned = World(muico29), np.zeros(muico29.nv)
    turned[muico29.tree.velocity_start[muico29.index("left_thigh")] + 2] = np.radians(10.0)
    world.reset(integrate(muico29, muico29.neutral(), turned, 1.0), np.zeros(muico29.nv))
    for _ in range(120):
        world.step(controller)
    pelvis = np.degrees(difference(muico29, muico29.neutral(), world.q)[5])
    assert abs(pelvis) == pytest.approx(10.0 * share, abs=0.4)


def test_a_middle_loads_its_corners_though_they_have_points_of_their_own(muico29):
    """As where a foot rolls over one corner, and later stands on its toe."""
    toe = sorted((corner.position for corner in soles(muico29) if corner.body == "left_foot"), reverse=True)[:2]
    middle = tuple(np.mean(toe, axis=0))
    track = held(muico29, [muico29.neutral()] * 10, [("left_foot", place) for place in (*toe, middle)])
    track.loaded[:5, :2] = False
    track.loaded[5:, 1:] = False
    policy = Balance(muico29, track).policy
    assert len(policy.points.body) == 2
    np.testing.assert_array_equal(policy.loaded[:5], True)
    np.testing.assert_array_equal(policy.loaded[5:].sum(axis=1), 1)


def test_a_squat_is_followed_and_a_grip_holds():
    character = Character.preset("jain42")
    assert max(followed(Balance(character, squatting(character)), World(character), 2.0)) < 0.03
    track, grabs = hanging(character)
    joints, root = followed(Balance(character, track), World(character, grabs=grabs), 1.0)
    assert joints < np.radians(3.0)
    assert root < 0.05


def test_laws_do_not_depend_on_what_was_before(walking):
    character, track = walking
    controller = Balance(character, track)
    first = law_at(controller, World(character, max_contacts=16), track.q[5], np.zeros(character.nv), 5)
    law_at(controller, World(character), track.q[50], np.ones(character.nv), 50)
    again = law_at(controller, World(character), track.q[5], np.zeros(character.nv), 5)
    for a, b in zip(first, again, strict=True):
        np.testing.assert_array_equal(a, b)


def test_what_makes_no_sense_is_refused(walking):
    character, track = walking
    with pytest.raises(ValueError, match=r"'balance' of balance control must be at most 0\.999"):
        Balance(character, track, Settings(balance=1.0))
    with pytest.raises(ValueError, match="stiffness' of balance control must be at least"):
        Balance(character, track, Settings(stiffness=0.0))
    with pytest.raises(ValueError, match="frame must lie between"):
        Balance(character, track).seek(10_000)
    with pytest.raises(ValueError, match="track steps by"):
        World(character, rate=60.0).step(Balance(character, track))
    one = character.with_contacts(
        shape for shape in character.contacts if not (isinstance(shape, Corner) and shape.body == "left_foot")
    )
    with pytest.raises(ValueError, match="needs a character with two feet; 'muico29' has 1"):
        Balance(one, track)
    pendulum = Character("pendulum", (Body("arm", None, Joint("pivot", "hinge", ((0.0, 1.0, 0.0),)), 1.0, np.eye(3)),))
    with pytest.raises(ValueError, match="free root"):
        Balance(pendulum, track)
