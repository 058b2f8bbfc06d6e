# SPDX-License-Identifier: GPL-3.0-or-later
"""Recovery by planning again: where to step by the pendulum's closed form, what is planned, and that it is followed."""

import math
from dataclasses import replace

import numpy as np
import pytest
from heft.core.character import Character
from heft.core.contact.terrain import Plane, make_terrain
from heft.core.control.lookahead import LookAhead, Settings, Track
from heft.core.control.lookahead.lookahead import Place
from heft.core.control.lookahead.precompute import sweep
from heft.core.control.recovery import Recovering
from heft.core.control.recovery.arms import OFF, RISES, thrown
from heft.core.control.recovery.capture import deviation, growth_rate
from heft.core.control.recovery.footholds import Choice, choose_steps
from heft.core.control.recovery.going_on import going_on
from heft.core.control.recovery.homing import NEARER, SOONEST, Path, steps_home
from heft.core.control.recovery.legs import Legs, segment_distance
from heft.core.control.recovery.looseness import pose_shares
from heft.core.control.recovery.motion_ahead import FEWER, motion_ahead, touchdowns, unrolled
from heft.core.control.recovery.rehearsal import rehearse
from heft.core.control.stage import Stage
from heft.core.dynamics import body_poses, difference
from heft.core.motion.cycle import Cycle
from heft.core.motion.cycles import power
from heft.core.motion.schedule import ContactSchedule
from heft.core.simulation import Push
from heft.core.simulation.fall import FallDetector
from heft.core.simulation.scene import Scene

SETTINGS = Settings(rehearsals=0)
NEWTONS, PUSHED = 250.0, 0.1


@pytest.fixture(scope="module")
def controller(walk_on_corners):
    track = Track.of(walk_on_corners)
    return LookAhead(walk_on_corners.character, track, SETTINGS, terrain=make_terrain([Plane()]))


def stage_of(controller, aside=0.0, recovery=6, **more):
    """A push to the left of the way, that much of a right angle, as the second lap begins."""
    start = len(controller.track.q) * controller.track.dt
    x, y = controller.track.cycle.shift
    angle = math.atan2(y, x) + 0.5 * math.pi * aside
    force = (NEWTONS * math.cos(angle), NEWTONS * math.sin(angle), 0.0)
    scene = Scene(pushes=(Push.constant("torso", force, start, PUSHED),))
    rate = 1.0 / controller.track.dt
    return Stage(controller.character, controller.terrain, scene, rate, 6.0, 0.0, recovery=recovery, **more)


def walked(controller, reference, stage, seconds=5.0, goes_on=lambda: True):
    """The follower after it has walked, the pushed part of the way included; the states, and whether it fell."""
    controller.seek()
    follower = Recovering(controller, reference, stage) if stage.recovery else controller
    world = stage.world()
    world.reset(*controller.reference_state())
    fall = FallDetector(controller.character, world.rate)
    states = []
    for k in range(round(seconds * world.rate)):
        follower.between_steps(world, goes_on)
        world.step(follower)
        states.append(np.concatenate((world.q, world.v)))
        if fall.update(k, world.q, world.v, follower.reference_state()[0]):
            break
    return follower, np.array(states), fall.lost is not None


def test_two_pendula_part_by_the_rate_of_growth():
    """Deviations in closed form: q moved by a, v by b, so that xi is off by a + b / omega."""
    character = Character.preset("muico29")
    q, v = character.neutral(), np.zeros(character.nv)
    omega = growth_rate(character, q, 0.0)
    moved, fast = q.copy(), v.copy()
    moved[:2] += (0.03, -0.02)
    fast[:2] += (0.1, 0.4)
    expected = np.array([0.03, -0.02]) + np.array([0.1, 0.4]) / omega
    np.testing.assert_allclose(deviation(character, (moved, fast), (q, v), omega), expected, atol=1e-12)


def test_first_step_catches_all_and_the_next_follow(controller, walk_on_corners):
    controller.seek(10)
    ahead = motion_ahead(unrolled(controller, walk_on_corners), walk_on_corners)
    landings = touchdowns(ahead, walk_on_corners)
    assert len(landings) == 3
    off, omega = np.array([0.05, 0.0]), 3.2
    steps = choose_steps(ahead, walk_on_corners, off, omega, Choice(1.0), np.array([1.0, 0.0]))
    caught = off * math.exp(omega * landings[0][0] * controller.track.dt)
    for step in steps:  # what the first catches the others keep to
        np.testing.assert_allclose(step.shift, caught, atol=1e-9)


def test_a_step_stays_on_its_side_of_the_standing_foot(controller, walk_on_corners):
    controller.seek(10)
    ahead, facing = motion_ahead(unrolled(controller, walk_on_corners), walk_on_corners), np.array([1.0, 0.0])
    for side in (-1.0, 1.0):
        off = np.array([0.0, 0.1 * side])
        free = choose_steps(ahead, walk_on_corners, off, 3.2, Choice(0.9, apart=False), facing)
        kept = choose_steps(ahead, walk_on_corners, off, 3.2, Choice(0.9), facing)
        foot = free[0].body
        outwards = side == (1.0 if "left" in walk_on_corners.character.bodies[foot].name else -1.0)
        assert (abs(kept[0].shift[1] - free[0].shift[1]) < 1e-12) == outwards
        if not outwards:  # and the next has more to do
            assert abs(kept[1].shift[1]) > abs(free[0].shift[1])


def test_motion_ahead_in_less_time_ends_where_it_did(controller, walk_on_corners):
    controller.seek(10)
    ahead = motion_ahead(unrolled(controller, walk_on_corners), walk_on_corners)
    quick = ahead.sped_up(controller, 1.35)
    assert quick.steps == round(ahead.steps / 1.35)
    assert quick.places[-1] == ahead.places[-1]
    assert np.abs(difference(controller.character, quick.q[-1], ahead.q[-1])).max() < 1e-9


def test_sweep_from_the_cycles_own_value_gives_the_cycles_gains(controller, walk_on_corners):
    """A plan that is the cycle's own end, with the cost to go of the cycle's first frame, has the cycle's gains."""
    track = controller.track
    policy, value = sweep(controller.character, track, SETTINGS)
    frames = len(track.q)
    part = Track(
        track.dt,
        *(getattr(track, name)[frames - 20 :] for name in ("q", "v", "torque", "force", "loaded")),
        point_body=track.point_body,
        point_local=track.point_local,
        grip=track.grip,
    )
    end = value.curvature[-1], value.gradient[-1]
    found, _ = sweep(controller.character, part, SETTINGS, end)
    np.testing.assert_allclose(found.gain[0], policy.gain[frames - 20], rtol=1e-3, atol=1e-2)


def twice_round(walk):
    """Two laps of a cycle as a motion that ends after them."""
    laps = [power(walk.cycle, number) for number in (0, 1)]
    states = [lap.move_state(walk.character, *state) for lap in laps for state in zip(walk.q, walk.v, strict=True)]
    schedule = walk.schedule
    rows = [k for k in range(len(states)) if k != walk.steps]  # the first lap's end is the second one's beginning

    def two(array):
        return np.concatenate((array[: walk.steps], array))

    places = np.concatenate([lap.move_points(schedule.place) for lap in laps])[rows]
    q, v = (np.array(part)[rows] for part in zip(*states, strict=True))
    return replace(
        walk,
        q=q,
        v=v,
        torque=np.concatenate((walk.torque, walk.torque)),
        schedule=ContactSchedule(schedule.points, two(schedule.active), places * two(schedule.active)[..., None]),
        normal=two(walk.normal),
        carrying=np.concatenate((walk.carrying, walk.carrying)),
        force=np.concatenate((walk.force, walk.force)),
        cycle=None,
        quality=replace(
            walk.quality, joint_change=two(walk.quality.joint_change), root_change=two(walk.quality.root_change)
        ),
    )


def test_walk_that_ends_on_its_way_goes_on_as_a_lap_before(turning_walk):
    """Two laps of a walk in a curve: the end is like the end of the first, and what comes next is the second lap."""
    walk = twice_round(turning_walk)
    onward = going_on(walk)
    assert onward.last == 2 * turning_walk.steps
    assert onward.frame == turning_walk.steps
    np.testing.assert_allclose((*onward.step.shift, onward.step.turn), (*turning_walk.cycle.shift, 0.5), atol=1e-9)
    assert onward.rise == pytest.approx(0.0, abs=1e-9)
    controller = LookAhead(walk.character, Track.of(walk), SETTINGS)
    end = Place(onward.last, (0.3, -0.2, 0.0, 0.7))
    held = controller.after(controller.after(end))
    np.testing.assert_array_equal(controller.reference_state(held)[1], 0.0)
    controller.onward = onward
    place, third = end, power(turning_walk.cycle, 2)
    for k in range(1, 20):
        place = controller.after(place)
        q, v = third.move_state(walk.character, turning_walk.q[k], turning_walk.v[k])
        wanted = Cycle(end.anchor[:2], end.anchor[3]).move_state(walk.character, q, v)
        for found, known in zip(controller.reference_state(place), wanted, strict=True):
            np.testing.assert_allclose(found, known, atol=1e-8)
        assert (controller.row_of(place), controller.lap_of(place)) == (onward.last, 0)


def test_motion_that_ends_at_rest_does_not_go_on(squat):
    assert going_on(squat) is None


def test_distance_of_segments():
    a, b = np.zeros(3), np.array([1.0, 0.0, 0.0])
    assert segment_distance(a, b, np.array([0.5, -1.0, 0.3]), np.array([0.5, 1.0, 0.3])) == pytest.approx(0.3)
    assert segment_distance(a, b, np.array([2.0, 1.0, 0.0]), np.array([3.0, 5.0, 0.0])) == pytest.approx(math.sqrt(2.0))
    assert segment_distance(a, b, np.array([0.2, 0.4, 0.0]), np.array([0.8, 0.4, 0.0])) == pytest.approx(0.4)


def test_looseness_is_by_region():
    character = Character.preset("muico29")
    shares = pose_shares(character, {"arms": 1.0, "trunk": 0.5})
    names = [character.bodies[b].name for b in character.tree.velocity_body]
    for name, share in zip(names, shares, strict=True):
        expected = 0.01 if "arm" in name else 0.1 if name == "torso" else 1.0
        assert share == pytest.approx(expected), name
    assert (pose_shares(character, {}) == 1.0).all()


def test_arms_are_thrown_higher_on_the_far_side_and_lowered_again():
    """Pushed to its left, by as much as arms as loose as can be are raised by 60 and 30 degrees for."""
    character = Character.preset("muico29")
    q = np.tile(character.neutral(), (140, 1))
    found = thrown(character, q, 120.0, np.array([0.0, OFF]), 1.0)
    np.testing.assert_array_equal(thrown(character, q, 120.0, np.array([0.0, OFF]), 0.0), q)
    np.testing.assert_array_equal(found[[0, -1]], q[[0, -1]])
    top = round(RISES * 120.0)
    for side, degrees in (("right", 60.0), ("left", 30.0)):
        arm = character.index(f"{side}_arm")
        start = int(character.tree.position_start[arm])
        turned = 2.0 * math.acos(found[top, start])
        assert math.degrees(turned) == pytest.approx(degrees)
        hand = character.index(f"{side}_hand")
        before, after = (body_poses(character, pose)[0][hand] for pose in (q[top], found[top]))
        assert after[2] > before[2] + 0.05
        assert abs(after[1]) > abs(before[1]) + 0.1


def test_push_that_fells_the_walk_is_recovered_from(controller, walk_on_corners):
    """The same to the last bit when it is done again, and to those of the walk until the push is over."""
    _, fallen, fell = walked(controller, walk_on_corners, stage_of(controller, 1.0, recovery=0))
    assert fell
    follower, states, fell = walked(controller, walk_on_corners, stage_of(controller, 1.0))
    assert not fell
    over = round((len(controller.track.q) * controller.track.dt + PUSHED) / controller.track.dt)
    np.testing.assert_array_equal(states[:over], fallen[:over])
    assert follower.recoveries
    first = follower.recoveries[0]
    assert first.what == "left"
    assert first.time == pytest.approx(over * controller.track.dt)
    assert 0.05 < first.distance < 1.5
    _, again, _ = walked(controller, walk_on_corners, stage_of(controller, 1.0))
    np.testing.assert_array_equal(again, states)


def test_rehearsal_tells_how_far_the_root_is_led_off(controller, walk_on_corners):
    """As far as it really went: next to nothing by itself, decimetres after a push that fells it."""
    legs = Legs(controller.character, walk_on_corners)
    steps, found = round(1.6 / controller.track.dt), []
    for pushed in (False, True):
        controller.seek()
        world = stage_of(controller, 1.0).world()
        if not pushed:
            world = replace(stage_of(controller), scene=Scene()).world()
        world.reset(*controller.reference_state())
        found.append(rehearse(controller.character, world, controller, steps, legs, lambda: True).strays)
        off = np.hypot(*(world.q - controller.reference_state()[0])[:2])
        assert found[-1] >= off - 1e-12
    assert found[0] < 0.01
    assert found[1] > 0.1


def test_nothing_is_planned_where_nobody_waits(controller, walk_on_corners):
    _, fallen, _ = walked(controller, walk_on_corners, stage_of(controller, 1.0, recovery=0), seconds=3.0)
    follower, states, _ = walked(
        controller, walk_on_corners, stage_of(controller, 1.0), seconds=3.0, goes_on=lambda: False
    )
    assert not follower.recoveries
    n = min(len(states), len(fallen))
    np.testing.assert_array_equal(states[:n], fallen[:n])


def test_fewer_steps_are_the_first_of_more(controller, walk_on_corners):
    controller.seek(10)
    whole = motion_ahead(unrolled(controller, walk_on_corners), walk_on_corners)
    short = motion_ahead(unrolled(controller, walk_on_corners), walk_on_corners, FEWER)
    assert short.steps < whole.steps
    assert touchdowns(short, walk_on_corners) == touchdowns(whole, walk_on_corners)[:FEWER]
    np.testing.assert_array_equal(short.q, whole.q[: short.steps + 1])


def test_steps_home_lead_back_a_little_each_and_cross_no_legs(controller, walk_on_corners):
    """Half a metre to its right: its right foot leads, its left one follows. Back: both do."""
    controller.seek(10)
    ahead = motion_ahead(unrolled(controller, walk_on_corners), walk_on_corners)
    facing, right = np.array([1.0, 0.0]), walk_on_corners.character.index("right_foot")
    reached, led = 0.0, 0
    for step in steps_home(ahead, walk_on_corners, np.array([0.0, 0.5]), facing):
        if step.frame >= SOONEST * walk_on_corners.rate and step.body == right:
            reached, led = reached + NEARER, led + 1
        np.testing.assert_allclose(step.shift, [0.0, -min(reached, 0.5)], atol=1e-12)
    assert led > 0
    last = steps_home(ahead, walk_on_corners, np.array([0.3, 0.0]), facing)[-1]
    np.testing.assert_allclose(last.shift, [-0.3, 0.0], atol=1e-12)


def test_path_is_where_the_motion_would_have_been(controller):
    controller.seek()
    path = Path(controller)
    there = controller.place
    for _ in range(3 * len(controller.track.q)):
        there = controller.after(there)
    np.testing.assert_allclose(path.away(there), 0.0, atol=1e-12)
    x, y, z, yaw = there.anchor
    np.testing.assert_allclose(path.away(there._replace(anchor=(x + 0.1, y - 0.3, z, yaw))), [0.1, -0.3], atol=1e-12)


def test_who_was_pushed_aside_walks_back_to_the_path(controller, walk_on_corners):
    """A push to the left; with the setting it comes back, without it walks on beside."""
    distances = []
    for returns in (False, True):
        stage = stage_of(controller, aside=1.0, returns=returns)
        follower, _, fell = walked(controller, walk_on_corners, stage, seconds=8.0)
        assert not fell
        undisturbed = Place(0, (0.0, 0.0, 0.0, 0.0))
        while undisturbed.lap < follower.lap:
            undisturbed = controller.after(undisturbed._replace(frame=len(controller.track.q) - 1))
        distances.append(float(np.hypot(*np.subtract(controller.place.anchor[:2], undisturbed.anchor[:2]))))
        assert ("home" in {one.what for one in follower.recoveries}) == returns
    assert distances[0] > 0.1
    assert distances[1] < 0.05
