# SPDX-License-Identifier: GPL-3.0-or-later
import numpy as np
import pytest
from heft.core.character import Character
from heft.core.character.tree import BALL
from heft.core.dynamics import difference
from heft.core.motion import fit
from heft.core.motion.cycle import Cycle
from heft.core.motion.cycles import close, find_cycles, make_cycle, planar_step, power, repeat
from heft.core.motion.fit import Trajectory
from heft.core.motion.labels import label
from heft.core.motion.tracks import point_places
from hypothesis import given
from hypothesis import strategies as st

from tests.core.motion.skeletons import needs_clips
from tests.core.motion.walkers import PERIOD, SPEED, captured, glide, turn

numbers = st.floats(-3.0, 3.0)


@given(numbers, numbers, numbers, st.integers(-4, 4))
def test_powers_of_a_step_are_its_repetitions(x, y, angle, count):
    step = Cycle((x, y), angle)
    point = np.array([0.3, -0.7, 1.1])
    there = power(step, count).move_points(point)
    for _ in range(abs(count)):
        if count > 0:
            point = step.move_points(point)
        else:
            there = step.move_points(there)
    np.testing.assert_allclose(there, point, atol=1e-9)


@given(numbers, numbers, numbers, st.integers(0, 1000))
def test_planar_step_between_poses_that_differ_by_one(x, y, angle, seed):
    character = Character.preset("muico29")
    rng = np.random.default_rng(seed)
    q = character.neutral()
    q[:7] = rng.normal(size=7)
    q[3:7] = np.array([2.0, 0.3, 0.3, 0.3]) * q[3:7] / np.linalg.norm(q[3:7])
    q[3:7] /= np.linalg.norm(q[3:7])
    step = Cycle((x, y), angle)
    found = planar_step(q, step.move_state(character, q, np.zeros(character.nv))[0])
    assert np.cos(found.turn - angle) == pytest.approx(1.0, abs=1e-9)
    np.testing.assert_allclose(found.shift, step.shift, atol=1e-7)


def test_closing_is_exact_and_leaves_what_is_closed_alone():
    character = Character.preset("muico29")
    rng = np.random.default_rng(1)
    q = np.tile(character.neutral(), (31, 1)) + 0.2 * rng.normal(size=(31, character.nq))
    for start, joint in zip(character.tree.position_start, character.tree.joint, strict=True):
        if joint == BALL or start == 0:
            part = q[:, (3 if start == 0 else start) : (7 if start == 0 else start + 4)]
            part /= np.linalg.norm(part, axis=1, keepdims=True)
    step = planar_step(q[0], q[-1])
    step = Cycle((step.shift[0] + 0.1, step.shift[1] - 0.2), step.turn + 0.3)
    closed, lacking = close(character, q, step)
    moved, _ = step.move_state(character, closed[0], np.zeros(character.nv))
    np.testing.assert_allclose(difference(character, moved, closed[-1]), 0.0, atol=1e-12)
    # half of what is lacking at either end, nothing in the middle
    np.testing.assert_allclose(difference(character, q[15], closed[15]), 0.0, atol=1e-12)
    np.testing.assert_allclose(difference(character, q[0], closed[0])[3:], 0.5 * lacking[3:], atol=1e-9)
    np.testing.assert_allclose(difference(character, closed[-1], q[-1]), 0.5 * lacking, atol=1e-9)
    again, lacking = close(character, closed, step)
    np.testing.assert_allclose(lacking, 0.0, atol=1e-12)
    np.testing.assert_allclose(again, closed, atol=1e-12)


def test_cycle_of_a_walk_by_construction_has_its_period_and_stride():
    walk = glide(heading=0.7)
    schedule = label(walk.character, walk.trajectory)
    found = find_cycles(walk.character, walk.trajectory, schedule)
    assert {round(one.stop - one.start) for one in found} == {round(PERIOD * 120.0)}
    assert found[0].pose < 1e-9
    cycle = make_cycle(walk.character, walk.trajectory, schedule)
    assert cycle.period == pytest.approx(PERIOD)
    np.testing.assert_allclose(cycle.step.shift, SPEED * PERIOD * np.array([np.cos(0.7), np.sin(0.7)]), atol=1e-9)
    assert cycle.step.turn == pytest.approx(0.0, abs=1e-9)
    assert np.degrees(cycle.moved.joint_rms) < 1.0


def test_walk_on_a_circle_turns_with_every_cycle():
    walk = glide()
    q = walk.trajectory.q.copy()
    radius, angle = 4.0, SPEED * np.arange(len(q)) / 120.0 / 4.0
    q[:, 0] = 0.0
    for frame, turned in enumerate(angle):
        q[frame, 1] = -radius
        turn(q[frame : frame + 1], turned)
    trajectory = Trajectory(120.0, q, fit.velocities(walk.character, q, 120.0))
    schedule = label(walk.character, walk.trajectory)  # the feet of the straight walk; on the circle they turn a little
    cycle = make_cycle(walk.character, trajectory, schedule)
    assert cycle.step.turn == pytest.approx(SPEED * PERIOD / radius, abs=1e-6)
    exact(walk.character, cycle)


def exact(character, cycle):
    """Periodic to rounding: poses, velocities, contacts, places."""
    q, v = cycle.step.move_state(character, cycle.trajectory.q[0], cycle.trajectory.v[0])
    np.testing.assert_allclose(difference(character, q, cycle.trajectory.q[-1]), 0.0, atol=1e-9)
    np.testing.assert_allclose(v, cycle.trajectory.v[-1], atol=1e-9)
    schedule = cycle.schedule
    np.testing.assert_array_equal(schedule.active[0], schedule.active[-1])
    moved = np.where(schedule.active[0][:, None], cycle.step.move_points(schedule.place[0]), 0.0)
    np.testing.assert_allclose(moved, schedule.place[-1], atol=1e-6)
    # and the feet stand where they are planned to
    feet = [i for i, point in enumerate(schedule.points) if point.foot]
    places = point_places(character, cycle.trajectory.q, [schedule.points[i] for i in feet])
    off = np.where(schedule.active[:, feet, None], places - schedule.place[:, feet], 0.0)
    assert np.abs(off).max() < 1e-3


def test_repeated_cycle_runs_on_without_a_seam():
    walk = glide(slip=0.03)
    cycle = make_cycle(walk.character, walk.trajectory, label(walk.character, walk.trajectory))
    exact(walk.character, cycle)
    trajectory, schedule = repeat(walk.character, cycle, 3)
    count = len(cycle.trajectory.q) - 1
    assert len(trajectory.q) == len(trajectory.v) == len(schedule.active) == 3 * count + 1
    steps = np.array(
        [difference(walk.character, a, b) for a, b in zip(trajectory.q[:-1], trajectory.q[1:], strict=True)]
    )
    np.testing.assert_allclose(steps[count - 1], steps[2 * count - 1], atol=1e-9)
    jerk = np.abs(np.diff(steps[:, 6:], axis=0)).max(axis=1)
    assert jerk[[count - 1, 2 * count - 1]].max() <= jerk[: count - 2].max() * 1.01
    # stances across the seam have one place each
    for i in np.flatnonzero(schedule.active.any(axis=0)):
        for seam in (count, 2 * count):
            if schedule.active[seam - 1 : seam + 1, i].all():
                np.testing.assert_allclose(schedule.place[seam - 1, i], schedule.place[seam, i], atol=1e-6)
    with pytest.raises(ValueError, match="at least once"):
        repeat(walk.character, cycle, 0)


@pytest.mark.parametrize("begin", [0, 7, 500])
def test_cycle_that_begins_elsewhere_is_the_same_motion(begin):
    walk = glide()
    character, trajectory = walk.character, walk.trajectory
    schedule = label(character, trajectory)
    own = make_cycle(character, trajectory, schedule)
    other = make_cycle(character, trajectory, schedule, begin=begin)
    assert other.period == own.period
    exact(character, other)
    assert other.trajectory.first_frame == trajectory.frame(0) + begin * trajectory.frames_per_sample
    count = len(own.trajectory.q) - 1
    for k in (0, 11, count):
        lap, frame = divmod(begin + k - own.candidate.start, count)
        q, _ = power(own.step, lap).move_state(character, own.trajectory.q[frame], own.trajectory.v[frame])
        np.testing.assert_allclose(other.trajectory.q[k, :3], q[:3], atol=2e-3)
    if begin < len(trajectory.q) - count:
        np.testing.assert_allclose(other.trajectory.q[:, :3], trajectory.q[begin : begin + count + 1, :3], atol=0.02)


def test_standing_has_no_cycle():
    character = Character.preset("muico29")
    trajectory = Trajectory(120.0, np.tile(character.neutral(), (300, 1)), np.zeros((300, character.nv)))
    schedule = label(character, trajectory)
    assert find_cycles(character, trajectory, schedule) == []
    with pytest.raises(ValueError, match="holds no gait cycle"):
        make_cycle(character, trajectory, schedule)


def test_character_on_a_pivot_has_no_cycle():
    character = Character.preset("gymnast2")
    trajectory = Trajectory(120.0, np.zeros((9, character.nq)), np.zeros((9, character.nv)))
    with pytest.raises(ValueError, match="free root"):
        find_cycles(character, trajectory, label(character, trajectory))


# name, period (s), speed (m/s) by eye from the labels' strips
CYCLES = [
    ("02_01", 1.10, 1.2),
    ("07_04", 1.51, 0.9),
    ("08_05", 1.13, 1.65),
    ("09_02", 0.74, 3.5),
    ("113_01", 1.40, 0.75),
    ("120_08", 2.3, 0.65),
    ("132_20", 0.84, 2.0),
    ("16_11", 1.17, 1.0),
    ("20_06", 1.62, 1.0),
    ("35_17", 0.76, 3.2),
    ("39_11", 1.45, 0.82),
]


@needs_clips
@pytest.mark.parametrize(("name", "period", "speed"), CYCLES)
def test_cmu_gaits_close(name, period, speed):
    """FINDINGS, clean-up: closing errors of 1 to 4.5 degrees."""
    character, trajectory = captured(name)
    cycle = make_cycle(character, trajectory, label(character, trajectory))
    assert cycle.period == pytest.approx(period, abs=0.06)
    assert np.hypot(*cycle.step.shift) / cycle.period == pytest.approx(speed, abs=0.12)
    assert np.degrees(np.sqrt(np.mean(cycle.closing[6:] ** 2))) < 6.0
    assert np.degrees(cycle.moved.joint_rms) < 4.0
    assert max(slide.after for slide in cycle.clean.slides) < 3e-3
    exact(character, cycle)


@needs_clips
@pytest.mark.parametrize("name", ["05_11", "22_12", "43_02", "115_06", "16_01"])
def test_cmu_clips_without_a_gait_are_refused(name):
    character, trajectory = captured(name)
    with pytest.raises(ValueError, match="holds no gait cycle"):
        make_cycle(character, trajectory, label(character, trajectory))
