# SPDX-License-Identifier: GPL-3.0-or-later
"""Momentum control as it acts: timing, forces, poses, and whole motions under pushes and over stairs."""

from dataclasses import replace

import numpy as np
import pytest
import scipy.optimize
from heft.core.contact.terrain import Mesh, Plane, make_terrain
from heft.core.control.momentum import (
    Outline,
    Performer,
    Settings,
    make_course,
    place_stances,
    precompute,
    stances,
    unrolled,
)
from heft.core.control.momentum.forces import EVEN, correct_forces, make_force_work
from heft.core.control.momentum.placing import ground_height
from heft.core.control.momentum.pose import FEET, FORCES, LEAST, LEVER, make_pose_work, solve_velocities
from heft.core.control.momentum.recovery import USED, extrapolated, move_steps
from heft.core.control.momentum.timing import find_index, pace
from heft.core.dynamics import (
    body_jacobian,
    center_of_mass,
    centroidal_momentum,
    centroidal_momentum_matrix,
)
from heft.core.dynamics.inertia import update_mass_matrix
from heft.core.dynamics.kinematics import update_positions
from heft.core.dynamics.limits import make_limits
from heft.core.dynamics.workspace import make_workspace
from heft.core.motion import quaternions
from heft.core.simulation import Foothold, Push

from tests.core.contact.meshes import stairs

NOWHERE = np.zeros(12)
MILLIMETRE = 1e-3


@pytest.fixture(scope="module")
def outline(walk):
    return Outline.of(walk)


@pytest.fixture(scope="module")
def policy(walk, outline):
    return precompute(walk.character, outline, Settings())


@pytest.fixture(scope="module")
def course(walk, outline):
    return make_course(walk, outline)


def perform(walk, policy, course, pushes=(), flexible=True, aside=True):
    """The performer after the last step, and what each step left."""
    performer = Performer(walk.character, policy, course, pushes, flexible=flexible, aside=aside)
    performer.reset(walk.q[0] + np.pad(course.origin[0], (0, walk.character.nq - 3)), walk.v[0])
    steps = []
    for _ in range(2 * walk.steps):
        going = performer.step()
        steps.append((performer.touches(), performer.machine.memory.x.copy(), performer.torque, performer.pulled()[1]))
        if not going:
            break
    assert not performer.failed
    assert performer.at == walk.steps
    return performer, steps


def test_on_its_way_a_motion_is_where_time_says(policy):
    for segment in range(len(policy.first)):
        begin, end = policy.row[segment], policy.row[segment + 1]
        for k in range(0, end - begin - 2, 7):
            x = policy.x[begin + k].copy()
            assert find_index(policy, segment, float(k), float(k), 1.0 / 120.0, x, NOWHERE) == (k, True)


@pytest.mark.parametrize(("speed", "sign"), [(1.3, 1), (0.7, -1)])
def test_a_faster_body_is_sooner_at_the_end(policy, speed, sign):
    k = 20
    x = policy.x[k].copy()
    x[3] *= speed
    index, _ = find_index(policy, 0, float(k), float(k), 1.0 / 120.0, x, NOWHERE)
    assert sign * (index - k) > 0


def test_what_is_left_is_played_in_the_time_that_is_left():
    assert pace(60, 20.0, 20.0) == 1.0
    assert pace(60, 20.0, 30.0) == pytest.approx(40.0 / 30.0)
    assert pace(60, 30.0, 20.0) == pytest.approx(30.0 / 40.0)
    assert pace(60, 59.9, 10.0) == 1.0  # nothing is left to be played faster or slower


def test_equation_12_against_another_solver():
    rng = np.random.default_rng(2)
    for m in (4, 12):
        work = make_force_work(16)
        work.spread[:, :m] = rng.normal(size=(6, m))
        half = rng.normal(size=(6, 6))
        metric, wrench = half @ half.T, rng.normal(size=6)
        assert correct_forces(work, m, wrench, metric)
        system = np.concatenate((np.linalg.cholesky(metric).T @ work.spread[:, :m], np.sqrt(EVEN) * np.eye(m)))
        right = np.concatenate((np.linalg.cholesky(metric).T @ wrench, np.zeros(m)))
        expected, _ = scipy.optimize.nnls(system, right)
        assert work.ray[:m] == pytest.approx(expected, abs=1e-6)


def pose_problem(walk, rng):
    """A pose of the walk, random wishes, and eq. 13 as dense matrices."""
    character = walk.character
    tree, q, nv = character.tree, np.ascontiguousarray(walk.q[30]), character.nv
    feet = np.array([character.index(name) for name in ("left_foot", "right_foot")])
    bodies = make_workspace(tree)
    update_positions(tree, bodies, q)
    update_mass_matrix(tree, bodies)
    work = make_pose_work(nv, 2, 8, 6)
    work.wish[:] = rng.normal(size=nv)
    work.limb[:] = rng.normal(size=(2, 6))
    work.momentum[:] = rng.normal(scale=20.0, size=6)
    joint = np.where(np.arange(nv) < 6, LEAST, 1.0)
    H, g = np.diag(joint), joint * work.wish
    rows = FEET * np.repeat([1.0, LEVER**2], 3)
    for n, body in enumerate(feet):
        J = body_jacobian(character, q, int(body))
        H, g = H + J.T @ (rows[:, None] * J), g + J.T @ (rows * work.limb[n])
    return character, q, feet, bodies, work, H, g, centroidal_momentum_matrix(character, q)


def no_limits(character):
    limits = make_limits(character.bodies, character.tree)
    return type(limits)(*(array[:0] for array in limits))


def test_equation_13_as_one_dense_system(walk):
    character, q, feet, bodies, work, H, g, A = pose_problem(walk, np.random.default_rng(4))
    v = np.zeros(character.nv)
    forces, limits = make_force_work(8), no_limits(character)
    assert solve_velocities(character.tree, bodies, limits, feet, work, forces, 0, 1.0 / 120.0, q, v)
    system = np.block([[H, A.T], [A, np.zeros((6, 6))]])
    expected = np.linalg.solve(system, np.concatenate((g, work.momentum)))[: character.nv]
    assert v == pytest.approx(expected, abs=1e-6)
    assert A @ v == pytest.approx(work.momentum, abs=1e-9)


def test_equation_14_against_another_solver(walk):
    rng = np.random.default_rng(5)
    character, q, feet, bodies, work, H, g, A = pose_problem(walk, rng)
    dt, forces = 1.0 / 120.0, make_force_work(8)
    forces.spread[:] = rng.normal(size=(6, 8))
    forces.ray[:] = wanted = rng.uniform(0.0, 300.0, size=8)
    bare, v = work.momentum.copy(), np.zeros(character.nv)
    limits = no_limits(character)
    assert solve_velocities(character.tree, bodies, limits, feet, work, forces, 8, dt, q, v)
    # the best v for each choice of rays leaves (b - b0)' S^-1 (b - b0)
    solved = np.linalg.solve(H, np.column_stack((g, A.T)))
    root = np.linalg.inv(np.linalg.cholesky(A @ solved[:, 1:]))
    system = np.concatenate((root @ forces.spread * dt, np.sqrt(FORCES) * np.eye(8)))
    right = np.concatenate((root @ (A @ solved[:, 0] - bare), np.sqrt(FORCES) * wanted))
    expected, _ = scipy.optimize.nnls(system, right)
    assert forces.ray == pytest.approx(expected, abs=1e-5)
    assert np.abs(expected - wanted).max() > 1.0
    assert A @ v == pytest.approx(bare + dt * forces.spread @ expected, abs=1e-6)


def test_a_joint_is_stopped_at_the_end_of_its_range(walk):
    character, q, feet, bodies, work, *_ = pose_problem(walk, np.random.default_rng(6))
    limits = make_limits(character.bodies, character.tree)
    n = next(
        n for n in range(len(limits.kind)) if limits.kind[n] == 0 and "shank" in character.bodies[limits.body[n]].name
    )
    i, k, dt = int(limits.position[n]), int(limits.velocity[n]), 1.0 / 120.0
    work.wish[k] = -1e4
    v = np.zeros(character.nv)
    assert solve_velocities(character.tree, bodies, limits, feet, work, make_force_work(8), 0, dt, q, v)
    assert q[i] + dt * v[k] > limits.bound[n] - 0.02


def test_a_walk_by_momentum_obeys_the_equation_of_motion(walk, policy, course):
    character, dt = walk.character, 1.0 / 120.0
    performer, steps = perform(walk, policy, course)
    assert len(steps) == walk.steps
    before = np.concatenate(
        (center_of_mass(character, walk.q[0]), centroidal_momentum(character, walk.q[0], walk.v[0]))
    )
    for touches, x, _, pulled in steps:
        center = x[:3]
        force = touches.force.sum(axis=0)
        moment = np.cross(touches.point - center, touches.force).sum(axis=0)
        weight = character.total_mass * np.array(character.gravity)
        assert x[3:6] == pytest.approx(before[3:6] + dt * (force + weight), abs=1e-9)
        assert x[9:] == pytest.approx(before[6:] + dt * moment, abs=1e-9)
        # forces press, and pull no more than friction allows
        assert (np.abs(touches.force[:, :2]).sum(axis=1) <= 0.8 * touches.force[:, 2] + 1e-6).all()
        assert pulled < 0.5 * MILLIMETRE
        before = np.concatenate((center, x[3:6], x[9:]))
    q, v = performer.q, performer.v
    assert centroidal_momentum(character, q, v) == pytest.approx(before[3:], abs=1e-8)
    assert center_of_mass(character, q) == pytest.approx(before[:3], abs=1e-9)
    # nothing pulls the root but the ground: the torques found explain the step
    assert np.abs(performer.machine.outcome.torque[:6]).max() < 1e-6
    assert np.linalg.norm(x[:3] - (policy.x[-1, :3])) < 0.005


@pytest.mark.parametrize(("force", "sign"), [(60.0, -1), (-60.0, 1)])
def test_a_push_ahead_shortens_a_walk_and_a_push_back_lengthens_it(walk, policy, course, force, sign):
    push = [Push.constant(walk.character.bodies[0].name, (force, 0.0, 0.0), 0.2, 0.3)]
    _, steps = perform(walk, policy, course, push)
    assert sign * (len(steps) - walk.steps) >= 2
    assert max(pulled for *_, pulled in steps) < MILLIMETRE
    _, steps = perform(walk, policy, course, push, flexible=False)
    assert len(steps) == walk.steps


def test_a_push_changes_momentum_by_its_impulse(walk, policy, course):
    performer = Performer(
        walk.character, policy, course, [Push.constant("torso", (0.0, 30.0, 0.0), 0.0, 0.05, (0.0, 0.0, 0.2))]
    )
    performer.reset(walk.q[0], walk.v[0])
    impulse, momentum = np.zeros(3), performer.machine.memory.x[3:6].copy()
    for _ in range(12):
        performer.step()
        touches = performer.touches()
        impulse += (touches.force.sum(axis=0) + walk.character.total_mass * np.array(walk.character.gravity)) / 120.0
    assert performer.machine.memory.x[3:6] - momentum - impulse == pytest.approx([0.0, 30.0 * 0.05, 0.0], abs=1e-9)


def sideways(newtons, start, seconds=0.2):
    return [Push.constant("pelvis", (0.0, newtons, 0.0), start, seconds)]


def test_a_push_that_feet_can_take_moves_no_step(walk, policy, course):
    for newtons in (0.0, 20.0):
        plain, moved = (
            perform(walk, policy, course, sideways(newtons, 0.2), aside=aside)[0] for aside in (False, True)
        )
        assert moved.aside < 1e-9
        assert moved.q.tobytes() == plain.q.tobytes()


def test_a_push_aside_is_caught_by_a_step_aside(walk, policy, course):
    performer, steps = perform(walk, policy, course, sideways(160.0, 0.25))
    memory = performer.machine.memory
    assert max(pulled for *_, pulled in steps) < MILLIMETRE
    assert 0.05 < memory.moved[:, 1].max() < 0.5
    assert abs(memory.moved[:, 0]).max() < 0.02
    _, plain = perform(walk, policy, course, sideways(160.0, 0.25), aside=False)
    assert max(pulled for *_, pulled in plain) > 50.0 * MILLIMETRE


def test_a_step_goes_as_far_as_the_pendulum_falls(walk, policy, course):
    """In mid-swing, less what the foot that stands can do: e exp(w T) - integral of w a exp(w t)."""
    performer = Performer(walk.character, policy, course, sideways(1.0, 0.0), flexible=False)
    performer.reset(walk.q[0], walk.v[0])
    for _ in range(40):
        performer.step()
    machine = performer.machine
    memory, k = machine.memory, round(float(machine.memory.clock[1]))
    left = (course.land[k][course.land[k] >= 0].min() - k) * course.dt
    before = np.array(extrapolated(memory.x, walk.character.total_mass, course.falling, course.height))
    memory.x[4] += 0.5 * walk.character.total_mass
    after = np.array(extrapolated(memory.x, walk.character.total_mass, course.falling, course.height))
    assert after - before == pytest.approx([0.0, 0.5 / course.falling])
    move_steps(machine, 1.0)
    way = machine.rehearsed[course.last[0], :2] - machine.rehearsed[0, :2]
    aside = np.array([-way[1], way[0]]) / np.linalg.norm(way)
    time = np.linspace(0.0, left, 400)
    edges = [
        ((course.place[j + 1, course.loaded[j], :2] - course.pressure[j, :2]) @ aside).max()
        for j in (k + time[:-1] / course.dt).astype(int)
    ]
    held = np.mean(USED * np.array(edges) * np.exp(course.falling * (left - time[:-1]))) * course.falling * left
    expected = aside[1] * 0.5 / course.falling * np.exp(course.falling * left) - held
    assert expected > 0.1
    assert memory.shift[:2] == pytest.approx(expected * aside, abs=0.003)


def test_phi_tells_how_the_body_is_turned(walk, policy, course):
    """As one stiff body turned by a small angle about its centre of mass: inertia times angle."""
    still = course._replace(q=np.tile(course.q[0], (len(course.q), 1)))
    performer = Performer(walk.character, policy, still)
    angle = np.array([0.01, -0.005, 0.008])
    turn = quaternions.exp(angle)
    q = walk.q[0].copy()
    middle = center_of_mass(walk.character, q)
    q[:3] = middle + quaternions.rotate(turn, q[:3] - middle)
    q[3:7] = quaternions.multiply(turn, q[3:7])
    performer.reset(q, np.zeros(walk.character.nv))
    performer.step()
    v = np.zeros(walk.character.nv)
    v[3:6] = quaternions.rotate(quaternions.conjugate(q[3:7]), angle)
    expected = centroidal_momentum(walk.character, q, v)[3:]
    assert performer.machine.memory.x[6:9] - course.turned[1] == pytest.approx(expected, rel=0.02, abs=1e-3)


def test_a_body_far_behind_goes_by_the_gains_of_the_segment_before(walk, policy, course):
    performer = Performer(walk.character, policy, course)
    performer.reset(walk.q[0], walk.v[0])
    memory, begin = performer.machine.memory, int(course.first[1])
    while memory.segment[0] == 0:
        performer.step()
    assert memory.segment.tolist() == [1, 1]
    found = []
    for frame in range(begin - 40, begin):
        memory.x[:] = policy.x[frame]
        performer.step()
        assert memory.segment[0] == 1
        found.append(int(memory.segment[1]))
        assert (memory.clock[2] < begin) == (found[-1] == 0)
    assert found == sorted(found)
    assert (found[0], found[-1]) == (0, 1)


def steps_of(outline):
    """How many steps lie between the feet's first places and each stance."""
    begins = [one.first for one in stances(outline)]
    return [max(sorted(begins).index(begin) - 1, 0) for begin in begins]


@pytest.mark.parametrize("rise", [0.08, -0.02])  # as far as the ankles of muico29 bend
def test_a_flat_walk_goes_up_and_down_stairs(walk, outline, policy, rise):
    moves = [rise * number * np.array([0.0, 0.0, 1.0]) for number in steps_of(outline)]
    course = make_course(walk, outline, moves)
    _, steps = perform(walk, policy, course)
    assert max(pulled for *_, pulled in steps) < MILLIMETRE
    gained = steps[-1][1][2] - outline.x[-1, 2]
    assert gained == pytest.approx(course.origin[-1, 2], abs=0.01)
    assert abs(gained) > 0.8 * abs(rise)


def test_a_swing_that_the_motion_does_not_end_goes_along(walk, outline):
    lifted = outline.loaded.copy()
    lifted[100:, outline.body == np.unique(outline.body)[1]] = False
    outline = replace(outline, loaded=lifted)
    swinging = stances(outline)[-1]
    assert (swinging.limb, swinging.last) == (1, 101)
    rises = [0.1 * number * np.array([0.0, 0.0, 1.0]) for number in steps_of(outline)]
    moved = make_course(walk, outline, rises).limb_place - make_course(walk, outline).limb_place
    assert moved[100, 1, 2] == pytest.approx(0.1)
    assert moved[-1, 1, 2] == pytest.approx(max(rise[2] for rise in rises)) == pytest.approx(0.2)


def test_a_longer_step_takes_longer(walk, outline, policy):
    def lasting(stride):
        moves = [stride * number * np.array([1.0, 0.0, 0.0]) for number in steps_of(outline)]
        return len(perform(walk, policy, make_course(walk, outline, moves))[1])

    assert lasting(-0.05) < lasting(0.0) < lasting(0.05)


def test_stances_find_the_ground_and_footholds(walk, outline):
    places = stances(outline)
    flat = make_terrain([Plane(point=(0.0, 0.0, 0.3))])
    moves, found = place_stances(walk.character, outline, places, flat, 0.25)
    assert all(found)
    assert np.array(moves) == pytest.approx(np.tile([0.0, 0.0, 0.3], (len(places), 1)), abs=0.002)
    later = next(one for one in places if one.first > 0)
    name = walk.character.bodies[np.unique(outline.body)[later.limb]].name
    x, y, z = later.place.tolist()
    level, foothold = make_terrain([Plane()]), Foothold(name, (x + 0.02, y + 0.03, z))
    moves, _ = place_stances(walk.character, outline, places, level, 0.0, [foothold])
    for one, move in zip(places, moves, strict=True):
        assert move[:2] == pytest.approx([0.02, 0.03] if one is later else [0.0, 0.0], abs=1e-12)
    with pytest.raises(ValueError, match="A foothold is for 'head', which never steps"):
        place_stances(walk.character, outline, places, flat, 0.0, [Foothold("head", (0.0, 0.0, 0.0))])
    _, found = place_stances(walk.character, outline, places, make_terrain([Plane(point=(0.0, 0.0, -9.0))]), 0.0)
    assert not any(found)


def test_the_height_of_stairs_is_found_from_above():
    terrain = make_terrain([Mesh(*stairs(4, 0.15, 0.3))])
    heights = [ground_height(terrain, np.array([x, 0.0, 0.1]), 0.0) for x in (0.15, 0.45, 0.75)]
    assert heights == pytest.approx([0.15, 0.3, 0.45], abs=1e-4)


def test_laps_of_a_cycle_are_one_motion(turning_walk):
    twice = unrolled(turning_walk, 2)
    assert twice.steps == 2 * turning_walk.steps
    joined = Outline.of(twice)
    assert (
        np.abs(np.diff(joined.x[:, 3:6], axis=0)).max()
        < 1.2 * np.abs(np.diff(Outline.of(turning_walk).x[:, 3:6], axis=0)).max()
    )
    q, v = turning_walk.cycle.move_state(turning_walk.character, turning_walk.q[40], turning_walk.v[40])
    assert twice.q[turning_walk.steps + 40] == pytest.approx(q)
    assert twice.v[turning_walk.steps + 40] == pytest.approx(v)
    with pytest.raises(ValueError, match="Only a cyclic motion has laps"):
        unrolled(twice, 2)
