# SPDX-License-Identifier: GPL-3.0-or-later
"""The policy against linear theory, symmetry and itself; and adaptation against iteration."""

from dataclasses import replace

import numpy as np
import pytest
from heft.core.character import Character
from heft.core.character.parts import Body, Joint
from heft.core.contact.lcp import solve_lcp
from heft.core.control.lookahead import (
    LookAhead,
    Settings,
    Track,
    load_policy,
    policy_key,
    precompute,
    save_policy,
    standing,
)
from heft.core.control.lookahead.linear_steps import fill_steps, make_linear_steps
from heft.core.control.lookahead.weights import JOINTS, make_weights
from heft.core.dynamics import PointForces, difference, integrate, point_jacobian, step_derivatives
from heft.core.maths.beside import helped
from heft.core.motion.cycle import Cycle
from heft.core.simulation import World

DT = 1.0 / 120.0


def law_at(controller, world, q, v, frame=0, anchor=(0.0, 0.0, 0.0, 0.0)):
    world.reset(q, v)
    contacts = world.begin_step()
    controller.seek(frame, anchor)
    law = controller.law(world.state(), contacts)
    return law.torque.copy(), law.contact_gain.copy()


def two_flywheels():
    """Two coaxial wheels without gravity: a linear system."""
    bodies = (
        Body("hub", None, Joint("hub", "hinge", ((0.0, 0.0, 1.0),)), 2.0, np.diag([0.2, 0.2, 0.3])),
        Body("rim", "hub", Joint("rim", "hinge", ((0.0, 0.0, 1.0),)), 1.0, np.diag([0.15, 0.15, 0.2])),
    )
    return Character("flywheels", bodies, gravity=(0.0, 0.0, 0.0))


def track_of_flywheels(character, rng, frames=20):
    none = np.zeros((frames, 0, 3))
    return Track(
        DT,
        rng.normal(size=(frames, 2)),
        rng.normal(size=(frames, 2)),
        rng.normal(size=(frames, 2)),
        none,
        np.zeros((frames, 0), bool),
        np.zeros(0, int),
        np.zeros((0, 3)),
        np.zeros(0, bool),
    ).checked(character)


@pytest.mark.parametrize("about_reference", [True, False])
def test_nonlinear_regulator_equals_linear_one_on_linear_dynamics(rng, about_reference):
    character = two_flywheels()
    track = track_of_flywheels(character, rng)
    options = {"about_reference": about_reference, "follow_ground": False}
    nonlinear = LookAhead(character, track, Settings(**options))
    linear = LookAhead(character, track, Settings(policy="lqr", **options))
    world = World(character)
    for frame in range(len(track.q)):
        q, v = rng.normal(size=2), rng.normal(size=2)
        expected, _ = law_at(linear, world, q, v, frame)
        torque, _ = law_at(nonlinear, world, q, v, frame)
        assert torque == pytest.approx(expected, rel=1e-9, abs=1e-9)


def test_nonlinear_and_linear_regulator_agree_to_first_order_near_a_turning_walk(turning_walk, rng):
    """As long as s is zero: else G(x)^T s differs from B^T s to first order."""
    character, track = turning_walk.character, Track.of(turning_walk)
    options = {"adaptation": 0.0, "follow_ground": False}
    nonlinear = LookAhead(character, track, Settings(**options))
    linear = LookAhead(character, track, Settings(policy="lqr", **options))
    world = World(character)
    for frame in (0, 40, len(track.q) - 1):
        # a speed is as small as the joint that it moves in a step is
        change = rng.normal(size=2 * character.nv) * np.repeat((1.0, 10.0), character.nv)
        gaps = []
        for size in (1e-4, 1e-5):
            q = integrate(character, track.q[frame], size * change[: character.nv], 1.0)
            v = track.v[frame] + size * change[character.nv :]
            expected, _ = law_at(linear, world, q, v, frame)
            torque, _ = law_at(nonlinear, world, q, v, frame)
            gaps.append(np.abs(torque - expected).max())
        assert gaps[1] < 0.02 * gaps[0]


def test_one_controller_serves_worlds_with_any_room_for_contacts(walk, walk_track):
    character = walk.character
    controller = LookAhead(character, walk_track)
    laws = [
        law_at(controller, World(character, max_contacts=room), walk_track.q[0], walk_track.v[0])
        for room in (64, 200, 16)
    ]
    for torque, gain in laws[1:]:
        np.testing.assert_array_equal(torque, laws[0][0])
        np.testing.assert_array_equal(gain, laws[0][1])


@pytest.mark.parametrize("policy", ["nqr", "lqr"])
def test_law_does_not_depend_on_where_the_anchor_lies(turning_walk, rng, policy):
    character, track = turning_walk.character, Track.of(turning_walk)
    controller = LookAhead(character, track, Settings(policy=policy, follow_ground=False))
    world = World(character)
    cycle = Cycle((1.3, -0.4), 2.1)
    for frame in (7, len(track.q) - 1):
        q = integrate(character, track.q[frame], 0.01 * rng.normal(size=character.nv), 1.0)
        v = track.v[frame] + 0.1 * rng.normal(size=character.nv)
        expected, _ = law_at(controller, world, q, v, frame)
        torque, _ = law_at(controller, world, *cycle.move_state(character, q, v), frame, (1.3, -0.4, 0.0, 2.1))
        assert torque == pytest.approx(expected, rel=1e-7, abs=1e-7)


def test_steps_to_first_order_are_those_of_the_step_itself(walk_track, walk):
    character = walk.character
    policy = precompute(character, walk_track, Settings())
    linear = make_linear_steps(character.tree, policy)
    fill_steps(character.tree, policy, walk_track.slips, walk_track.dt, 3.0, linear, 0, len(policy.q))
    for k in (0, len(policy.q) // 2, len(policy.q) - 1):
        used = policy.point[k, : policy.points[k]]
        forces = PointForces(policy.body[used], policy.local[used], policy.force[k, used])
        step = step_derivatives(
            character, policy.q_before[k], policy.v_before[k], policy.torque[k], walk_track.dt, forces
        )
        np.testing.assert_array_equal(linear.state[k], step.A)
        np.testing.assert_array_equal(linear.control[k, : step.B.size].reshape(step.B.shape), step.B)
        defect = np.concatenate((difference(character, policy.q[k], step.q), step.v - policy.v[k]))
        np.testing.assert_array_equal(linear.defect[k], defect)
        J = np.concatenate([point_jacobian(character, policy.q[k], policy.body[p], policy.local[p]) for p in used])
        np.testing.assert_allclose(linear.stance[k], 3.0 * J.T @ J, atol=1e-12)


def test_with_a_helping_thread_gains_have_the_same_bits(walk_track, walk):
    alone = precompute(walk.character, walk_track, Settings())
    with helped():
        beside = precompute(walk.character, walk_track, Settings())
    for one, other in zip(alone, beside, strict=True):
        assert one.tobytes() == other.tobytes()


def test_on_the_reference_the_law_is_the_reference(walk_track, walk):
    """With P (u - u_reference) the reference is the policy's own fixed point."""
    controller = LookAhead(walk.character, walk_track, Settings(adaptation=0.0, follow_ground=False))
    world = World(walk.character)
    for frame in (0, 30, 90, len(walk_track.q) - 1):
        torque, gain = law_at(controller, world, walk_track.q[frame], walk_track.v[frame], frame)
        assert torque == pytest.approx(walk_track.torque[frame], abs=1e-3)
        assert not gain.any()


TRUNK_AND_ARMS = slice(6, 17)
EVERYTHING = slice(0, 29)


def folded(walk, walk_track, change, adaptation, frame):
    """A step with the law folded in, velocities off the reference; the world before it and after it, and the law."""
    settings = Settings(adaptation=adaptation, possible_forces=False, follow_ground=False)
    controller = LookAhead(walk.character, walk_track, settings)
    world = World(walk.character)
    v = walk_track.v[frame] + change
    torque, gain = law_at(controller, world, walk_track.q[frame], v, frame)
    world.reset(walk_track.q[frame], v)
    before = world.copy()
    controller.seek(frame)
    world.step(controller)
    return before, world, torque, gain


def off_reference(rng, part, size=0.1):
    change = np.zeros(29)
    change[part] = size * rng.normal(size=29)[part]
    return change


def iterated(before, torque, gain):
    """Simulate with a torque, correct the torque by the contact forces found, and so on: torque and world at the end.

    Plain iteration converges by half a percent a time; Newton's needs differences, and is done in a few.
    """

    def disagreement(applied):
        other = before.copy()
        other.step(applied)
        return applied - torque - gain @ other.contacts.force.ravel(), other

    applied = torque.copy()
    for _ in range(10):
        gap, _ = disagreement(applied)
        slope = np.array([disagreement(applied + 1e-3 * e)[0] - gap for e in np.eye(len(torque))]).T / 1e-3
        applied -= np.linalg.solve(slope, gap)
    gap, other = disagreement(applied)
    assert np.abs(gap).max() < 1e-8
    return applied, other


def miss(M, q, z):
    return np.abs(np.minimum(z, M @ z + q)).max()


def groups_of(world):
    """First unknowns of contacts and limits by their names, -1 where they take no part, and how many each has."""
    names, first = world._memory.key[: world._memory.known[0]], world._scratch.groups.first
    return {name: (first[g], 6 if name >= 0 else 1) for g, name in enumerate(names.tolist())}


def in_problem_of(world, other, z):
    """What another world found, as unknowns of this one's problem; contacts that it left out slide as they may."""
    M, q = world.contact_problem()
    found, out = groups_of(other), np.zeros(len(q))
    for name, (i, width) in groups_of(world).items():
        j = found[name][0]
        if i < 0:
            assert j < 0 or z[j] == 0.0
        elif j >= 0:
            out[i : i + width] = z[j : j + width]
    speed = M @ out + q
    for name, (i, width) in groups_of(world).items():
        if i >= 0 and found[name][0] < 0 and width > 1:
            out[i + width - 1] = max(0.0, -speed[i + 1 : i + width - 1].min())
    return out


@pytest.mark.parametrize("frame", [3, 20, 35, 80, 100])
def test_muico_equation_16_equals_control_and_simulation_iterated_to_convergence(walk, walk_track, rng, frame):
    """Eq. 14. The trunk and arms are off their reference and the feet stand."""
    change = off_reference(rng, TRUNK_AND_ARMS)
    before, after, torque, gain = folded(walk, walk_track, change, 0.002, frame)
    assert gain.any()
    applied, other = iterated(before, torque, gain)
    assert after.v == pytest.approx(other.v, abs=1e-7)
    assert after.torque == pytest.approx(applied, abs=1e-6)


@pytest.mark.parametrize("frame", [19, 35, 51])
def test_where_feet_slide_iteration_ends_in_another_answer_of_the_folded_problem(walk, walk_track, rng, frame):
    """The feet are off their reference too and slide: to less than a millimetre per second, but velocities differ.

    Neither is wrong: the forces that iteration ends with solve the folded problem as well as its own solution does.
    """
    change = off_reference(rng, EVERYTHING, 0.05)
    before, after, torque, gain = folded(walk, walk_track, change, 0.002, frame)
    _, other = iterated(before, torque, gain)
    assert np.abs(after.v - other.v).max() > 1e-6
    M, q = after.contact_problem()
    forces = in_problem_of(after, other, solve_lcp(*other.contact_problem()).z)
    assert miss(M, q, forces) < 1e-9
    assert miss(M, q, solve_lcp(M, q).z) < 1e-9


def test_sliding_corners_leave_several_answers_without_any_law(walk, walk_track):
    """Each corner slides its own way, so how the sole's load is shared among them decides where friction pulls.

    A rigid sole leaves the shares open: this is Coulomb's law, not the unsymmetry of the folded matrix.
    """
    apart = [answers_apart(walk, walk_track, np.random.default_rng(seed)) for seed in range(8)]
    assert np.median(apart) < 1e-9  # where there is but one answer, both methods find it
    assert max(apart) > 1e-5


def answers_apart(walk, walk_track, rng):
    """By how much two methods' answers to one contact problem without feedback differ, in m/s and rad/s."""
    before, after, _, _ = folded(walk, walk_track, off_reference(rng, EVERYTHING, 0.05), 0.002, 83)
    before.step(after.torque)
    M, q = before.contact_problem()
    contacts = len(before.contacts.gap)
    limits = len(q) - 6 * contacts
    cones = limits + 6 * np.arange(contacts) + 5
    rows = np.setdiff1d(np.arange(len(q)), cones)
    D = M[np.ix_(rows, rows)]
    assert np.abs(D - D.T).max() < 1e-12
    speeds = []
    for method in ("lemke", "interior_point"):
        z = solve_lcp(M, q, method).z
        assert miss(M, q, z) < 1e-9
        speeds.append(D @ z[rows] + q[rows])
    return np.abs(speeds[0] - speeds[1]).max()


@pytest.mark.parametrize("adaptation", [0.002, 0.02])
def test_muico_equation_14_holds_after_the_folded_step(walk, walk_track, rng, adaptation):
    """The torque that it applied answers the forces that it found, and alone leads to the same velocities."""
    for frame in (20, 35, 100):
        change = off_reference(rng, TRUNK_AND_ARMS)
        before, after, torque, gain = folded(walk, walk_track, change, adaptation, frame)
        assert after.torque == pytest.approx(torque + gain @ after.contacts.force.ravel(), abs=1e-9)
        before.step(after.torque)
        assert before.v == pytest.approx(after.v, abs=1e-7)


def test_muico_equation_15_is_the_least_squares_answer(stand, muico29, rng):
    """C from the features' own Jacobians, against the kernel's answer to one newton at every candidate."""
    settings = Settings(adaptation=0.02, follow_ground=False)
    controller = LookAhead(muico29, stand, settings)
    world = World(muico29)
    q = integrate(muico29, muico29.neutral(), 0.005 * rng.normal(size=29), 1.0)
    _, gain = law_at(controller, world, q, np.zeros(29))
    work, weights = world.state().work, make_weights(muico29, settings)
    inverse = np.linalg.inv(work.mass_matrix)
    features, W = [np.eye(29)[6:]], [weights.joint_feature[6:]]
    for b, point, weight in zip(weights.feature_body, weights.feature_point, weights.feature_weight, strict=True):
        features.append(jacobian(muico29, q, b, point))
        W.append(weight)
    J, W = np.concatenate(features), np.diag(np.concatenate(W))
    B_m = (J @ inverse)[:, 6:]
    C = -np.linalg.solve(np.eye(23) / 0.02 + B_m.T @ W @ B_m, B_m.T @ W)
    contacts = world.begin_step()
    n = int(contacts.filled[0])
    assert n > 0
    for c in range(n):
        b = int(contacts.body[c])
        local = work.rotation[b].T @ (contacts.point[c] - work.position[b])
        B_c = J @ inverse @ jacobian(muico29, q, b, local).T
        assert gain[:, 3 * c : 3 * c + 3] == pytest.approx(C @ B_c, abs=1e-10)


def jacobian(character, q, body, point):
    from heft.core.dynamics import point_jacobian

    return point_jacobian(character, q, int(body), point)


def test_balanced_stand_is_a_stable_fixed_point_of_the_idealised_system(stand, muico29):
    policy = precompute(muico29, stand, Settings(policy="lqr"))
    contacts = PointForces(stand.point_body, stand.point_local, stand.force[0])
    step = step_derivatives(muico29, stand.q[0], stand.v[0], stand.torque[0], DT, contacts)
    assert np.abs(step.v).max() < 1e-3
    assert np.abs(np.linalg.eigvals(step.A)).max() > 1.0
    assert np.abs(np.linalg.eigvals(step.A - step.B @ policy.gain[0])).max() < 1.0


def test_a_push_is_foreseen_to_move_the_body_over_feet_that_stay(stand, muico29, rng):
    """The idealised system does not hold its feet; to slide them costs."""
    contacts = PointForces(stand.point_body, stand.point_local, stand.force[0])
    step = step_derivatives(muico29, stand.q[0], stand.v[0], stand.torque[0], DT, contacts)
    J = np.concatenate(
        [jacobian(muico29, stand.q[0], b, p) for b, p in zip(stand.point_body, stand.point_local, strict=True)]
    )
    push = rng.normal(size=29)
    push -= np.linalg.pinv(J) @ (J @ push)  # the feet stand
    slid = []
    for stance in (0.0, 0.3, 30.0):
        policy = precompute(muico29, stand, Settings(policy="lqr", stance=stance))
        x = np.concatenate((np.zeros(29), push))
        way = 0.0
        for _ in range(24):
            x = (step.A - step.B @ policy.gain[0]) @ x
            way += float(np.linalg.norm(J @ x[29:])) * DT
        slid.append(way)
    assert slid[1] < 0.5 * slid[0]
    assert slid[2] < 0.5 * slid[1]


def test_forces_of_a_stand_bear_the_weight_and_respect_friction(stand, muico29):
    force = stand.force[0]
    assert force.sum(axis=0) == pytest.approx([0.0, 0.0, 9.81 * muico29.total_mass], abs=0.01)
    assert (np.abs(force[:, :2]).sum(axis=1) <= 0.5 * force[:, 2] + 1e-9).all()


def test_muico_section_5_2_two_cycles_are_a_sufficient_horizon(walk, walk_track):
    """The law of the linear regulator hardly changes any more, and much less than after one: by the paper's costs."""
    one, two, four = (precompute(walk.character, walk_track, Settings(cycles=n, stance=0.0)).gain for n in (1, 2, 4))
    scale = np.abs(four).max()
    assert np.abs(two - four).max() < 0.005 * scale
    assert np.abs(two - four).max() < 0.2 * np.abs(one - four).max()


def test_corners_carry_the_same_wrench_as_the_middle_of_a_sole(walk):
    character = walk.character
    two, four = Track.of(walk, corners=False), Track.of(walk)
    assert four.force.sum(axis=1) == pytest.approx(two.force.sum(axis=1), abs=1e-9)
    moments = [np.cross(t.point_local, t.force).sum(axis=1) for t in (two, four)]
    assert moments[1] == pytest.approx(moments[0], abs=1e-9)
    assert len(four.point_body) == 8
    assert character.index("left_foot") in four.point_body


def test_middles_share_their_force_with_corners_that_are_points_already(walk):
    """A foot held at its corners, and while it turns at its toe."""
    character, four = walk.character, Track.of(walk)
    foot = character.index("left_foot")
    own = four.point_local[four.point_body == foot]
    toe = own[own[:, 0] > own[:, 0].mean()].mean(axis=0)
    both = replace(
        four,
        force=np.concatenate((four.force, np.tile([[1.0, 2.0, 30.0]], (len(four.q), 1, 1))), axis=1),
        loaded=np.concatenate((four.loaded, np.ones((len(four.q), 1), bool)), axis=1),
        point_body=np.append(four.point_body, foot),
        point_local=np.concatenate((four.point_local, toe[None])),
        grip=np.append(four.grip, False),
    ).with_corners(character)
    assert (both.point_local == four.point_local).all()
    change = both.force - four.force
    assert change.sum(axis=1) == pytest.approx(np.tile([1.0, 2.0, 30.0], (len(four.q), 1)))
    shared = np.flatnonzero(change.any(axis=(0, 2)))
    assert len(shared) == 2
    assert both.loaded[:, shared].all()
    assert np.mean(four.point_local[shared], axis=0) == pytest.approx(toe)


def test_muico_table_2_weights_follow_roles():
    for name in ("muico29", "jain42", "gait28"):
        character = Character.preset(name)
        weights = make_weights(character, Settings(effort=1.0, force=1.0, location=1.0, height=1.0))
        nv, tree = character.nv, character.tree
        assert weights.state[:3] == pytest.approx([4.0, 4.0, 10.0])
        for b, body in enumerate(character.bodies):
            own = np.flatnonzero(tree.velocity_body == b)
            part = body.name.removeprefix("left_").removeprefix("right_")
            if part in {"thigh", "foot"}:
                line = JOINTS["hip" if part == "thigh" else "ankle"]
                assert weights.state[own] == pytest.approx(line.position)
                assert weights.state[nv + own] == pytest.approx(line.velocity)
                assert weights.effort[own - 6] == pytest.approx(line.effort)
        assert len(weights.feature_body) == 3


def altered(path, change):
    """Let `change(arrays)` work on the numbered arrays of a file."""
    with np.load(path) as file:
        header, arrays = file["header"], [file[f"array{number}"] for number in range(len(file.files) - 1)]
    change(arrays)
    with path.open("wb") as file:
        np.savez(file, header=header, **{f"array{number}": array for number, array in enumerate(arrays)})


def test_a_policy_survives_its_file(stand, muico29, tmp_path):
    settings = Settings()
    policy = precompute(muico29, stand, settings)
    key, path = policy_key(muico29, stand, settings), tmp_path / "policy.npz"
    save_policy(policy, path, key)
    assert [entry.name for entry in tmp_path.iterdir()] == ["policy.npz"]
    assert all((a == b).all() for a, b in zip(policy, load_policy(path, key), strict=True))
    assert key != policy_key(muico29, stand, Settings(effort=0.2))
    with pytest.raises(ValueError, match="made for something else"):
        load_policy(path, "other")
    with pytest.raises(ValueError, match="shape of its gradient"):
        save_policy(policy._replace(gradient=np.zeros((3, 2))), path, key)
    altered(path, lambda arrays: next(array for array in arrays if array.shape == policy.gain.shape).fill(np.nan))
    with pytest.raises(ValueError, match="numbers in its gain must be finite"):
        load_policy(path, key)
    save_policy(policy, path, key)
    altered(path, lambda arrays: arrays.__setitem__(0, arrays[0][:, :-1]))
    with pytest.raises(ValueError, match="shape of its q_before"):
        load_policy(path, key)
    path.write_bytes(b"nonsense")
    with pytest.raises(ValueError, match="is not a policy"):
        load_policy(path, key)


def test_settings_and_tracks_refuse_nonsense(stand, muico29):
    with pytest.raises(ValueError, match="one of nqr, lqr, not 'pid'"):
        Settings(policy="pid").checked()
    with pytest.raises(ValueError, match="effort"):
        Settings(effort=-1.0).checked()
    with pytest.raises(ValueError, match="`grip`"):
        standing(muico29, muico29.neutral(), [0], [[0.0, 0.0, 0.0]], grip=[True, False])
    controller = LookAhead(muico29, stand)
    with pytest.raises(ValueError, match="use the same rate for both"):
        World(muico29, rate=60.0).step(controller)


def test_a_settled_track_holds_its_last_pose(squat):
    track = Track.of(squat)
    assert (track.q[-1] == squat.q[-1]).all()
    assert not track.v[-1].any()
    controller = LookAhead(squat.character, track, Settings(follow_ground=False))
    controller.seek(len(track.q) - 1)
    place = controller.place
    world = World(squat.character)
    world.reset(track.q[-1], track.v[-1])
    world.step(controller)
    assert controller.place.frame == place.frame
    assert difference(squat.character, controller.reference_state()[0], track.q[-1]) == pytest.approx(0.0)
