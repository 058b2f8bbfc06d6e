# SPDX-License-Identifier: GPL-3.0-or-later
"""References of whole motions: they obey the laws of physics, checked from outside, and stay near the clip."""

import numpy as np
import pytest
from heft.core.character import Cone
from heft.core.contact.terrain import Plane, make_terrain
from heft.core.dynamics import PointForces, centroidal_momentum, step
from heft.core.motion.cycle import Cycle
from heft.core.motion.fit import Trajectory
from heft.core.motion.limits import swing_and_twist
from heft.core.motion.schedule import ContactPoint, ContactSchedule
from heft.core.motion.spacetime import Ends, NoReferenceError, Settings, build_reference
from heft.core.motion.spacetime.problem import point_positions
from scipy.spatial.transform import Rotation

from tests.core.motion.spacetime import motions

MOTIONS = {
    "squat": lambda: motions.squat(240, 0.15),
    "walk": motions.walk,
    "turning walk": lambda: motions.walk(turn=0.3),
    "walk on four corners": lambda: motions.walk(points_of=motions.corners),
    "jump": motions.jump,
    "hang": lambda: motions.hang(264, 0.2),
}
built = {}


def reference_of(name):
    """Each is made once for all tests."""
    if name not in built:
        motion = MOTIONS[name]()
        built[name] = motion, build(motion)
    return built[name]


def trajectory(motion):
    return Trajectory(motion.rate, motion.q, motion.v)


def build(motion, **arguments):
    arguments = {"bounds": Ends(cycle=motion.cycle)} | arguments
    return build_reference(motion.character, trajectory(motion), motion.schedule, **arguments)


@pytest.mark.parametrize("name", MOTIONS)
def test_replaying_each_step_reaches_the_next_state(name):
    _, reference = reference_of(name)
    points = reference.schedule.points
    bodies, local = [p.body for p in points], [p.position for p in points]
    for k in range(reference.steps):
        contacts = PointForces(bodies, local, reference.force[k])
        q, v = step(
            reference.character, reference.q[k], reference.v[k], reference.torque[k], 1 / reference.rate, contacts
        )
        assert np.abs(q - reference.q[k + 1]).max() < 1e-9
        assert np.abs(v - reference.v[k + 1]).max() < 1e-9


@pytest.mark.parametrize("name", MOTIONS)
def test_residual_is_within_a_millionth_of_the_weight(name):
    motion, reference = reference_of(name)
    weight = motion.character.total_mass * 9.81
    assert reference.quality.residual_newtons < 1e-6 * weight
    assert reference.quality.residual_newton_metres < 1e-6 * weight


@pytest.mark.parametrize("name", MOTIONS)
def test_forces_lie_in_the_true_cone_and_only_where_contact_lasts(name):
    _, reference = reference_of(name)
    active, cyclic = reference.schedule.active, reference.cycle is not None
    after = np.vstack((active, active[1:2] if cyclic else active[-1:]))
    for k in range(reference.steps):
        for i, point in enumerate(reference.schedule.points):
            force = reference.force[k, i]
            if not (after[k + 1, i] and after[k + 2, i]):
                assert not force.any()
            elif not point.grab:
                assert force[2] > 0.0
                assert np.hypot(force[0], force[1]) <= reference.friction * force[2]


@pytest.mark.parametrize("name", MOTIONS)
def test_held_points_stay_and_others_stay_above_the_ground(name):
    motion, reference = reference_of(name)
    where = point_positions(motion.character, reference.q, reference.schedule.points)
    active = reference.schedule.active
    off = np.linalg.norm(where - reference.schedule.place, axis=2)[active]
    assert off.max() < 1e-3
    if not reference.schedule.points[0].grab:
        corners = point_positions(motion.character, reference.q, motions.corners(motion.character))
        assert corners[:, :, 2].min() > -1e-3
        assert where[~active][:, 2].min(initial=1.0) > -1e-3


@pytest.mark.parametrize("name", MOTIONS)
def test_motion_stays_near_the_clip(name):
    _, reference = reference_of(name)
    quality = reference.quality
    assert quality.joint_rms_degrees < 4.0
    assert quality.root_max_metres < 0.12
    assert quality.iterations <= 25
    assert np.isclose(quality.root_max_metres, np.linalg.norm(quality.root_change, axis=1).max())


def test_cycle_closes():
    motion, reference = reference_of("turning walk")
    q, v = motion.cycle.move_state(motion.character, reference.q[0], reference.v[0])
    np.testing.assert_allclose(reference.v[-1], v, atol=1e-9)
    np.testing.assert_allclose(reference.q[-1][:3], q[:3], atol=1e-9)
    turned = Rotation.from_quat(q[3:7], scalar_first=True)
    assert (turned.inv() * Rotation.from_quat(reference.q[-1][3:7], scalar_first=True)).magnitude() < 1e-9


def test_momentum_in_flight_changes_by_gravity_alone():
    _, reference = reference_of("jump")
    flight = np.flatnonzero(~reference.carrying.any(axis=1))
    assert len(flight) > 30
    momentum = np.array([centroidal_momentum(reference.character, reference.q[k], reference.v[k]) for k in flight])
    gravity = reference.character.total_mass * -9.81 / reference.rate
    np.testing.assert_allclose(
        np.diff(momentum, axis=0), np.tile((0, 0, gravity, 0, 0, 0), (len(flight) - 1, 1)), atol=1e-7
    )


def test_mean_vertical_force_of_a_cycle_is_the_weight():
    motion, reference = reference_of("walk")
    assert np.isclose(reference.force.sum(axis=1)[:, 2].mean(), motion.character.total_mass * 9.81, rtol=1e-9)


def test_pinned_ends_are_met():
    motion = motions.squat(120, 0.1)
    still = np.zeros(motion.character.nv)
    bounds = Ends(start=(motion.q[0], still), end=(motion.q[-1], still))
    reference = build(motion, bounds=bounds)
    for frame, (q, v) in ((0, bounds.start), (-1, bounds.end)):
        np.testing.assert_allclose(reference.q[frame], q, atol=1e-9)
        np.testing.assert_allclose(reference.v[frame], v, atol=1e-9)


def test_a_reference_continues_another():
    motion, first = reference_of("squat")
    bounds = Ends(start=(first.q[100], first.v[100]))
    rest = motion._replace(
        q=motion.q[100:],
        v=motion.v[100:],
        schedule=ContactSchedule(motion.schedule.points, motion.schedule.active[100:], motion.schedule.place[100:]),
    )
    reference = build(rest, bounds=bounds)
    np.testing.assert_allclose(reference.q[0], first.q[100], atol=1e-9)
    np.testing.assert_allclose(reference.v[0], first.v[100], atol=1e-9)


def test_torque_limit_is_kept():
    motion, free = reference_of("squat")
    limit = 0.8 * free.quality.peak_torque_newton_metres
    reference = build(motion, settings=Settings(torque_limit=limit))
    assert np.abs(reference.torque).max() <= limit


def test_six_sided_friction_is_closer_to_the_cone():
    motion, four = reference_of("walk")
    six = build(motion, settings=Settings(friction_sides=6, friction=0.3))
    assert six.quality.friction_use <= 1.0
    assert four.quality.friction_use <= 1.0


def test_standing_on_a_slope():
    """Where a motion ends as it began the ground bears the weight: on average m g sin 10° along the slope."""
    motion = motions.squat(60, 0.0)
    tilt = Rotation.from_euler("Y", np.radians(10.0))
    q = motion.q.copy()
    for side in ("left", "right"):
        q[:, motion.character.tree.position_start[motion.character.index(f"{side}_foot")]] += np.radians(10.0)
    place = point_positions(motion.character, q, motion.schedule.points)
    schedule = ContactSchedule(motion.schedule.points, motion.schedule.active, place)
    ground = make_terrain([Plane(tuple(place[0, 0]), tuple(tilt.apply((0.0, 0.0, 1.0))))])
    standing = motion._replace(q=q, schedule=schedule, cycle=Cycle((0.0, 0.0)))
    reference = build(standing, terrain=ground)
    assert reference.quality.slip_millimetres < 1.0
    assert reference.quality.penetration_millimetres < 1.0
    total = tilt.inv().apply(reference.force.sum(axis=1).mean(axis=0))
    weight = motion.character.total_mass * 9.81
    slope = np.radians(10.0)
    np.testing.assert_allclose(total, weight * np.array([-np.sin(slope), 0.0, np.cos(slope)]), atol=1e-6 * weight)
    along = tilt.inv().apply(reference.force.reshape(-1, 3))
    assert (np.hypot(along[:, 0], along[:, 1]) <= 0.8 * along[:, 2] + 1e-12).all()


def test_a_jump_that_hangs_is_shown_to_be_impossible():
    reference = build(motions.jump(hang=2.0))
    assert reference.quality.residual_newtons < 1e-3
    assert not reference.quality.fit_for_control
    assert "cm from the action, in frames" in reference.quality.why


def test_a_gliding_clip_is_shown_to_be_changed():
    motion = motions.squat(120, 0.1)
    motion.q[:, 0] += np.linspace(0.0, 0.5, len(motion.q))
    reference = build(motion._replace(v=motions.velocities(motion.character, motion.q)))
    assert not reference.quality.fit_for_control
    assert reference.quality.slip_millimetres < 1.0


def test_impossible_boundary_states_name_frames():
    """Two seconds without ground under the feet, but standing still before and after."""
    motion = motions.squat(240, 0.0)
    active = np.zeros_like(motion.schedule.active)
    schedule = ContactSchedule(motion.schedule.points, active, motion.schedule.place)
    still = np.zeros(motion.character.nv)
    bounds = Ends(start=(motion.q[0], still), end=(motion.q[-1], still))
    with pytest.raises(NoReferenceError, match=r"lacks up to \d+ N of support, most in frames \d+ to \d+"):
        build(motion._replace(schedule=schedule), bounds=bounds)


def test_noise_is_refused():
    motion = motions.squat(60, 0.1)
    rng = np.random.default_rng(0)
    q = motion.q + rng.normal(scale=1.0, size=motion.q.shape)
    with pytest.raises(NoReferenceError, match="frame"):
        build(motion._replace(q=q, v=motions.velocities(motion.character, q)))


def test_same_arguments_give_the_same_bits():
    motion, reference = reference_of("walk")
    again = build(motion)
    assert (again.q == reference.q).all()
    assert (again.torque == reference.torque).all()


def test_refusals_are_sentences():
    motion = motions.squat(20, 0.1)
    arguments = motion.character, trajectory(motion), motion.schedule
    short = ContactSchedule(motion.schedule.points, motion.schedule.active[:5], motion.schedule.place[:5])
    with pytest.raises(ValueError, match="contacts must cover 21 frames, not 5"):
        build_reference(*arguments[:2], short)
    lost = (ContactPoint("tail", 99, (0.0, 0.0, 0.0)),)
    with pytest.raises(ValueError, match="'tail' belongs to no body"):
        build_reference(
            *arguments[:2], ContactSchedule(lost, motion.schedule.active[:, :1], motion.schedule.place[:, :1])
        )
    with pytest.raises(ValueError, match="there is none within 2 m"):
        build_reference(*arguments, terrain=make_terrain([Plane((0, 0, -5))]))
    with pytest.raises(ValueError, match="must be finite"):
        build_reference(motion.character, Trajectory(120.0, motion.q * np.nan, motion.v), motion.schedule)
    with pytest.raises(ValueError, match="4 or 6 sides"):
        build_reference(*arguments, settings=Settings(friction_sides=5))
    with pytest.raises(ValueError, match="no ends to pin"):
        Ends(start=(motion.q[0], motion.v[0]), cycle=motions.walk().cycle)


def test_a_ball_joint_comes_back_into_its_cone():
    """The arm that a clip lifts 20° out of the shoulder's cone stays in it, and the hinges' clip stays as it was."""
    motion = motions.squat(60, 0.05)
    character = motion.character
    arm = character.index("left_arm")
    start = character.tree.position_start[arm]
    cone = character.bodies[arm].joint.limits
    assert isinstance(cone, Cone)
    across = np.cross(cone.center, cone.axis)
    across = across / np.linalg.norm(across) if np.linalg.norm(across) > 1e-6 else np.array([1.0, 0.0, 0.0])
    beyond = cone.swing + np.radians(20.0) - np.arccos(np.clip(np.dot(cone.center, cone.axis), -1.0, 1.0))
    motion.q[:, start : start + 4] = Rotation.from_rotvec(beyond * across).as_quat(scalar_first=True)
    swing = swing_and_twist(cone, motion.q[:, start : start + 4])[0]
    assert np.degrees(swing.min() - cone.swing) == pytest.approx(20.0, abs=1e-6)
    reference = build(motion._replace(v=motions.velocities(character, motion.q)))
    swing, twist = swing_and_twist(cone, reference.q[:, start : start + 4])
    assert np.degrees(swing.max() - cone.swing) < 0.5
    assert np.degrees(np.abs(twist).max() - cone.twist.upper) < 0.5
    assert reference.quality.residual_newtons < 1e-3


def test_a_ball_pushes_with_its_surface():
    """Knobs of 0.2 m under the soles: friction has a moment about their centres, as if the soles touched themselves."""
    motion = motions.squat(60, 0.0)
    character = motion.character
    stilts = tuple(
        ContactPoint(point.name, point.body, tuple(np.add(point.position, (0.0, 0.0, 0.2))), radius=0.2)
        for point in motion.schedule.points
    )
    place = motion.schedule.place + np.array([0.0, 0.0, 0.2])
    reference = build(motion._replace(schedule=ContactSchedule(stilts, motion.schedule.active, place)))
    pushing = [i for i in range(len(reference.schedule.points)) if reference.force[:, i].any()]
    assert len(pushing) == len(stilts)
    for i, before in zip(pushing, motion.schedule.points, strict=True):
        np.testing.assert_allclose(reference.schedule.points[i].position, before.position, atol=1e-3)
    below = point_positions(character, reference.q, [reference.schedule.points[i] for i in pushing])
    assert np.abs(below[..., 2]).max() < 1e-3
    direct = build(motion)
    np.testing.assert_allclose(reference.q, direct.q, atol=2e-3)
