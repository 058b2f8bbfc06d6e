# SPDX-License-Identifier: GPL-3.0-or-later
"""The controller against joint space, inverse dynamics and its own plans; and in the simulator."""

from dataclasses import replace

import numpy as np
import pytest
from heft.core.character import Character
from heft.core.character.parts import Body, Joint
from heft.core.control.replanning import Replanning, Settings, Unfelt, transition
from heft.core.control.replanning.modes import subtree_stiffness
from heft.core.control.track import Track
from heft.core.dynamics import difference, integrate, mass_matrix
from heft.core.motion.playback import Playback
from heft.core.simulation import Push, World

from tests.core.control.replanning.tracks import DT, hanging, held, squatting

ALL_LOW = 1e8


@pytest.fixture(scope="module")
def character():
    return Character.preset("jain42")


@pytest.fixture(scope="module")
def walking(walk_on_corners):
    return walk_on_corners.character, Track.of(walk_on_corners)


def law_at(controller, world, q, v, frame=0):
    world.reset(q, v)
    contacts = world.begin_step()
    controller.seek(frame)
    law = controller.law(world.state(), contacts)
    return law.torque.copy(), law.contact_gain.copy()


def away_from_limits(character):
    """In the air, elbows and knees bent."""
    q = character.neutral()
    q[2] += 5.0
    for side in ("left", "right"):
        q[character.tree.position_start[character.index(f"{side}_forearm")]] = -0.5
        q[character.tree.position_start[character.index(f"{side}_shank")]] = 0.5
    return q


def followed(controller, world, seconds):
    """Worst RMS of joints, rad, and of the root's place, m."""
    world.reset(*controller.reference_state())
    joints = root = 0.0
    for _ in range(round(seconds / DT)):
        world.step(controller)
        error = difference(controller.character, controller.reference_state()[0], world.q)
        joints = max(joints, float(np.sqrt(np.mean(error[6:] ** 2))))
        root = max(root, float(np.linalg.norm(error[:3])))
    return joints, root


def test_modal_and_joint_space_solutions_give_equal_torques(character):
    """In the air, with all modes kept: the plan is one least-squares problem, whatever its coordinates."""
    rng = np.random.default_rng(0)
    n, nv = 5, character.nv
    settings = Settings(window=n * DT, threshold=ALL_LOW, effort_low=0.3)
    q = character.neutral()
    q[2] += 5.0
    track = held(character, [integrate(character, q, 0.1 * rng.normal(size=nv), 1.0) for _ in range(9)])
    world = World(character)
    start = integrate(character, track.q[0], 0.1 * rng.normal(size=nv), 1.0)
    torque, _ = law_at(Replanning(character, track, settings), world, start, rng.normal(size=nv))

    world.begin_step()
    state = world.state()
    here, v, bias = state.q_next, state.v, state.work.bias
    M, K = mass_matrix(character, here), np.diag(subtree_stiffness(character.tree))
    inverse = np.linalg.inv(M)
    # positions and velocities at the end, affine in the joints' impulses of all steps
    place, rate = np.zeros((nv, 1 + n * (nv - 6))), np.zeros((nv, 1 + n * (nv - 6)))
    rate[:, 0] = v
    for k in range(n):
        push = np.zeros_like(rate)
        push[:, 0] = -DT * bias
        push[6:, 1 + k * (nv - 6) : 1 + (k + 1) * (nv - 6)] = np.eye(nv - 6)
        rate = rate + inverse @ (push - DT * K @ place)
        place = place + DT * rate
    place[:, 0] -= difference(character, here, track.q[n + 1])
    rate[:, 0] -= difference(character, track.q[n], track.q[n + 1]) / DT
    # in modal coordinates of the joints' motion, |p|^2 is what M^ = M_jj - M_jr M_rr^-1 M_rj measures
    joint = M[6:, 6:] - M[6:, :6] @ np.linalg.solve(M[:6, :6], M[:6, 6:])
    root = np.linalg.cholesky(joint).T
    effort = np.linalg.inv(np.linalg.cholesky(joint))
    rows = np.concatenate(
        (
            np.sqrt(settings.position_low) * root @ place[6:],
            np.sqrt(settings.velocity_low) * root @ rate[6:],
            np.pad(np.sqrt(settings.effort_low) * np.kron(np.eye(n), effort), ((0, 0), (1, 0))),
        )
    )
    expected = np.linalg.lstsq(rows[:, 1:], -rows[:, 0], rcond=None)[0][: nv - 6] / DT
    np.testing.assert_allclose(torque, expected, rtol=1e-6, atol=1e-6)


def test_plans_of_a_step_are_inverse_dynamics(character):
    """In the air all modes but the rigid ones reach the next pose in one step, exactly."""
    rng = np.random.default_rng(0)
    q = away_from_limits(character)
    track = held(character, [integrate(character, q, 0.003 * k * np.ones(character.nv), 1.0) for k in range(9)])
    controller = Replanning(character, track, Settings(threshold=1e-6))
    world = World(character)
    world.reset(integrate(character, q, 0.01 * rng.normal(size=character.nv), 1.0), 0.1 * rng.normal(size=character.nv))
    world.step(controller)
    world.step()
    error = difference(character, track.q[2], world.q)
    # what is left is a motion of the whole body as one
    assert np.linalg.norm(error[:6]) > 1e-3
    np.testing.assert_allclose(error[6:], 0.0, atol=1e-3)


def test_a_squat_is_followed_and_a_grip_holds(character):
    assert max(followed(Replanning(character, squatting(character)), World(character), 2.0)) < 0.03
    track, grabs = hanging(character)
    controller = Replanning(character, track)
    assert controller.window == 24
    joints, root = followed(controller, World(character, grabs=grabs), 1.0)
    assert joints < np.radians(3.0)
    assert root < 0.05


def test_a_walk_is_followed_lap_by_lap(walking):
    character, track = walking
    joints, root = followed(Replanning(character, track), World(character), 3.0)
    assert joints < np.radians(8.0)
    assert root < 0.06


def test_a_foot_about_to_leave_is_not_pushed_with(walking):
    """It is near the ground still. Were it planned to push, its ankle would be driven by a force that is not there."""
    character, track = walking
    controller = Replanning(character, track)
    world = World(character)
    leaving = next(k for k in range(40, len(track.q)) if track.loaded[k - 1].sum() > track.loaded[k].sum())
    law_at(controller, world, track.q[leaving], difference(character, *track.q[leaving : leaving + 2]) / DT, leaving)
    work, contacts = controller._scratch, world.contacts
    forces = work.planned[: 3 * len(contacts.key)].reshape(-1, 3)
    pushing = contacts.body[np.linalg.norm(forces, axis=1) > 1.0]
    near = contacts.body[contacts.gap < 0.004]
    bodies = set(track.point_body[track.loaded[leaving]])
    assert set(pushing) <= bodies
    assert bodies
    assert len(near) >= len(pushing)


def test_a_push_is_felt_after_the_delay(character):
    track = squatting(character)
    world = World(character)
    q, v = track.q[10], difference(character, track.q[10], track.q[11]) / DT
    rng = np.random.default_rng(2)
    pushed = v + 0.02 * rng.normal(size=character.nv)
    settings = Settings(threshold=ALL_LOW, delay=0.2)
    controller = Replanning(character, track, settings)
    expected, _ = law_at(controller, world, q, v, 10)
    felt, _ = law_at(controller, world, q, pushed, 10)
    world.reset(q, pushed)
    contacts = world.begin_step()
    controller.seek(10, surprises=(0.0,))
    unfelt = controller.law(world.state(), contacts).torque.copy()
    assert np.abs(unfelt - expected).max() < 0.2 * np.abs(felt - expected).max()


def test_a_push_of_nothing_that_is_felt_late_changes_nothing(walking):
    """To the last bit: the body knows where it would be without it. With the reference's state this walk falls."""
    character, track = walking
    push = Push.constant("torso", (0.0, 0.0, 0.0), 0.3, 10 * DT)
    ways = []
    for delay, pushes in ((0.0, ()), (0.2, (push,))):
        world = World(character, pushes=pushes)
        controller = Replanning(character, track, Settings(delay=delay))
        controller.seek(surprises=[each.start for each in pushes], unfelt=Unfelt(world, World(character)))
        world.reset(*controller.reference_state())
        for _ in range(72):
            world.step(controller)
        ways.append(world.q)
    np.testing.assert_array_equal(*ways)


def test_until_a_push_is_felt_the_body_takes_itself_to_be_where_it_would_be_without(walking):
    character, track = walking
    push = Push.constant("torso", (-60.0, 0.0, 0.0), 0.2, 10 * DT)
    calm, world = World(character), World(character, pushes=[push])
    controllers = [Replanning(character, track, Settings(delay=0.1)) for _ in range(2)]
    controllers[1].seek(surprises=[push.start], unfelt=Unfelt(world, World(character)))
    for each, controller in zip((calm, world), controllers, strict=True):
        each.reset(*controller.reference_state())
    for k in range(48):
        for each, controller in zip((calm, world), controllers, strict=True):
            each.step(controller)
        felt = [controller._goal.q_felt for controller in controllers]
        if k < 36:
            np.testing.assert_array_equal(*felt)
    assert np.abs(difference(character, *felt)).max() > 1e-2


def test_laws_do_not_depend_on_what_was_before(walking):
    character, track = walking
    controller = Replanning(character, track)
    first = law_at(controller, World(character, max_contacts=16), track.q[5], np.zeros(character.nv), 5)
    law_at(controller, World(character), track.q[50], np.ones(character.nv), 50)
    again = law_at(controller, World(character), track.q[5], np.zeros(character.nv), 5)
    for a, b in zip(first, again, strict=True):
        np.testing.assert_array_equal(a, b)


def test_a_track_is_exchanged_while_it_is_followed(character):
    """Deeper from the middle on, as an animator would have it; nothing jumps."""
    track = squatting(character)
    controller, world = Replanning(character, track), World(character)
    world.reset(*controller.reference_state())
    for k in range(200):
        if k == 60:
            edited = track.q.copy()
            x = np.clip((np.arange(len(edited)) - 80) / 40.0, 0.0, 1.0)
            fade = x * x * (3.0 - 2.0 * x)
            arm = int(character.tree.position_start[character.index("left_forearm")])
            edited[:, arm] -= 0.5 * fade
            controller.track = replace(track, q=edited)
        before = world.v
        world.step(controller)
        assert np.abs(world.v - before).max() < 1.0
    error = difference(character, controller.reference_state()[0], world.q)
    assert np.sqrt(np.mean(error[6:] ** 2)) < np.radians(2.0)


def test_a_motion_slows_down_after_a_push_and_comes_back_to_its_speed(walking):
    """By a quarter for a second and back within the next: 45 frames behind, and still walking.

    Back from one step to the next, this walk fell 2.7 s after the second, push or none.
    """
    character, track = walking
    halfway = track.pose(character, 20.5)
    np.testing.assert_allclose(
        difference(character, track.q[20], halfway), difference(character, halfway, track.q[21]), atol=1e-9
    )
    controller, world = Replanning(character, track, Settings(slowing=0.25)), World(character)
    controller.seek(surprises=(0.5,))
    world.reset(*controller.reference_state())
    for _ in range(600):
        world.step(controller)
    assert controller.frame == pytest.approx(600 - 45, abs=0.5)
    error = difference(character, controller.reference_state()[0], world.q)
    assert np.sqrt(np.mean(error[6:] ** 2)) < np.radians(5.0)
    assert np.linalg.norm(error[:3]) < 0.1


def test_a_squat_is_played_at_its_keyed_speeds(character):
    """Half as fast while it goes down: what is followed at any time is what `Playback` says."""
    track = squatting(character)
    moment = np.arange(49) / 24.0
    playback = Playback(moment, np.interp(moment, [0.5, 0.7, 1.0, 1.2], [1.0, 0.5, 0.5, 1.0]))
    controller, world = Replanning(character, track), World(character)
    controller.seek(playback=playback)
    world.reset(*controller.reference_state())
    for k in range(round(playback.played(2.0) / DT)):
        assert controller.frame * DT == pytest.approx(playback.shown(k * DT), abs=DT)
        world.step(controller)
    error = difference(character, controller.reference_state()[0], world.q)
    assert np.sqrt(np.mean(error**2)) < 0.01
    assert playback.played(2.0) > 2.4


def test_plans_do_not_look_beyond_a_transition_and_then_go_over(character):
    """In the middle of a squat a cut to bent elbows."""
    track = squatting(character)
    cut = 60
    q = track.q.copy()
    arms = [int(character.tree.position_start[character.index(f"{side}_forearm")]) for side in ("left", "right")]
    q[:, arms] = -0.2
    q[cut:, arms] = -1.4
    controller = Replanning(character, replace(track, q=q), Settings(transition=0.5))
    controller.seek(playback=Playback(transitions=(cut * DT,)))
    world = World(character)
    world.reset(*controller.reference_state())
    bent = []
    for _ in range(cut + 90):
        before = world.v
        world.step(controller)
        assert np.abs(world.v - before).max() < 1.0
        bent.append(float(world.q[arms].mean()))
    assert min(bent[: cut - 1]) > -0.25
    assert bent[cut + 5] > -0.4
    assert bent[-1] == pytest.approx(-1.4, abs=0.05)


def test_a_transition_begins_where_the_character_is_and_ends_in_the_other_motion(character):
    standing, (swing, _) = squatting(character), hanging(character)
    rng = np.random.default_rng(0)
    q = integrate(character, standing.q[30], 0.05 * rng.normal(size=character.nv), 1.0)
    v = rng.normal(size=character.nv)
    both = transition(character, standing, 30, (q, v), swing, 0.5).checked(character)
    np.testing.assert_allclose(difference(character, both.q[30], q), 0.0, atol=1e-12)
    np.testing.assert_allclose(difference(character, both.q[30], both.q[31]) / DT, v, atol=0.05)
    np.testing.assert_allclose(difference(character, both.q[30 + 60], swing.q[60]), 0.0, atol=1e-12)
    assert both.loaded[29].sum() == 8
    assert both.grip[both.loaded[-1]].all()
    assert both.loaded[-1].sum() == swing.loaded[-1].sum()


def test_a_catch_is_gone_over_from_and_counted_on_only_when_it_holds(character):
    """Hands that grip a bar half a second from now, where the keys have them far from here."""
    (swing, _) = hanging(character)
    taken = 60
    grips = swing.loaded & (np.arange(len(swing.q)) >= taken)[:, None]
    keys = swing.q.copy()
    keys[taken:, 0] += 0.3
    track = replace(swing, q=keys, loaded=grips)
    controller, world = Replanning(character, track, Settings(transition=0.5)), World(character)
    law_at(controller, world, track.q[taken - 2], np.zeros(character.nv), taken - 2)
    assert not controller._goal.loaded.any()
    law_at(controller, world, track.q[taken + 1], np.zeros(character.nv), taken + 1)
    assert controller._goal.loaded.all()

    world.reset(track.q[taken - 1])
    controller.seek(taken - 1, catches=[0.0])
    for _ in range(2):
        world.step(controller)
    here = taken + 1  # the state before the last step was led to by this frame
    np.testing.assert_allclose(controller.track.pose(character, here)[0], track.q[0, 0], atol=1e-3)
    np.testing.assert_allclose(controller.track.q[here + 60], keys[here + 60], atol=1e-12)
    controller.seek()
    np.testing.assert_array_equal(controller.track.q, keys)


def test_what_makes_no_sense_is_refused(character):
    track = squatting(character)
    with pytest.raises(ValueError, match="'window' of replanning control must be at most 1, not 3"):
        Replanning(character, track, Settings(window=3.0))
    with pytest.raises(ValueError, match="threshold' of replanning control must be at least"):
        Replanning(character, track, Settings(threshold=0.0))
    with pytest.raises(ValueError, match="frame must lie between"):
        Replanning(character, track).seek(10_000)
    with pytest.raises(ValueError, match="track steps by"):
        World(character, rate=60.0).step(Replanning(character, track))
    with pytest.raises(ValueError, match="`loaded` of a track"):
        Replanning(character, replace(track, loaded=track.loaded[:, :3]))
    pendulum = Character("pendulum", (Body("arm", None, Joint("pivot", "hinge", ((0.0, 1.0, 0.0),)), 1.0, np.eye(3)),))
    with pytest.raises(ValueError, match="free root"):
        Replanning(pendulum, track)


def test_cyclic_tracks_move_on(walking):
    character, track = walking
    lap = len(track.q)
    expected = track.cycle.move_state(character, track.q[3], np.zeros(character.nv))[0]
    np.testing.assert_allclose(track.pose(character, lap + 3), expected)
    assert (track.lap(lap - 1), track.lap(lap)) == (0, 1)
