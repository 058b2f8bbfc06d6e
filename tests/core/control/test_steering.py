# SPDX-License-Identifier: GPL-3.0-or-later
"""A walk that is steered: its transitions as motions, as actions under look-ahead control, and by the planner."""

import itertools
from dataclasses import replace

import numpy as np
import pytest
from heft.core import Course, Push, World, run
from heft.core.cache import Cache
from heft.core.contact.terrain import Plane
from heft.core.control.steering import method as door
from heft.core.control.steering.catching import lay_out
from heft.core.control.steering.costs import FirstStates
from heft.core.control.steering.library import NEAR, STAND, Library, Way, place_of
from heft.core.control.steering.method import METHOD
from heft.core.control.steering.planner import Planner
from heft.core.control.steering.repertoire import make_repertoire
from heft.core.control.steering.settings import Settings
from heft.core.control.steering.steering import Steering
from heft.core.control.steering.trials import is_enough, make_tour, missing, table
from heft.core.dynamics import difference, integrate
from heft.core.job import Scene
from heft.core.job.choosing import resolved
from heft.core.job.preparing import make_motion
from heft.core.job.progress import Clock, ProgressReporter
from heft.core.motion.cycle import Cycle
from heft.core.motion.moving_frame import yaw_of
from heft.core.motion.path import Path
from heft.core.motion.sequence import concatenate
from heft.core.motion.transitions import leading, starting, stopping, straight
from heft.core.planning import Trials, Wishes
from heft.core.simulation.looseness import natural

from tests.core.job import golden

SQUARE = np.pi / 2.0
ALONE = Scene()


@pytest.fixture(scope="module")
def walk():
    """The mannequin's walk, a cycle."""
    job = replace(golden.kept("walk"), loop=True, seconds=5.0)
    return make_motion(job, ProgressReporter(None), Cache(None), Clock()).reference


@pytest.fixture(scope="module")
def own(walk):
    return straight(walk, 1.0, NEAR)


@pytest.fixture(scope="module")
def library(own):
    """A square to the left at either step, stop and start."""
    turns = [
        Way("left", place_of(0, joint), place_of(0, joint), leading(own, own, joint, SQUARE, NEAR)) for joint in (0, 1)
    ]
    stop, stand = stopping(own, NEAR)
    there = place_of(0, 0)
    ways = (Way("stop", there, STAND, stop), Way("start", STAND, there, starting(own, stand, NEAR)))
    return Library((own,), ("straight",), stand, (*turns, *ways))


@pytest.fixture(scope="module")
def acts(library):
    return make_repertoire(library)


def number(acts, name, source):
    return next(k for k, act in enumerate(acts) if (act.action.name, act.action.source) == (name, source))


def planner_of(acts):
    size = len(acts)
    return Planner(acts, Trials(np.zeros((size, size)), np.zeros((size, size))), np.full(size, 1.0), Wishes())


def steered(acts, course, seconds):
    """The states of a steered walk, after each of its steps; and its actions."""
    planner = planner_of(acts)
    planner.head(course, 0.0)
    steering = Steering(acts, planner.choose)
    steering.begin(planner.begins(), Cycle((0.0, 0.0)), 0.0)
    character = acts[0].controller.character
    world = World(character, rate=120.0)
    world.reset(*steering.reference_state())
    found = []
    for _ in range(round(seconds * 120.0)):
        world.step(steering)
        found.append(world.q.copy())
        assert abs(difference(character, steering.reference_state()[0], world.q)[2]) < 0.1
    return np.array(found), [acts[k].action.name for k in steering.taken]


def test_the_cycle_goes_straight_on_at_the_speed_that_is_asked_for(walk, own):
    assert own.reference.cycle.turn == 0.0
    assert own.reference.cycle.shift[1] == 0.0
    assert own.speed == pytest.approx(1.4 * 120.0 / 130.0, rel=1e-3)  # as the clip goes
    slow = straight(walk, 0.7, NEAR)
    assert slow.reference.cycle.shift[0] * 120.0 / slow.reference.steps == pytest.approx(0.7 * own.speed, rel=1e-9)
    assert [joint.frame for joint in slow.joints] == pytest.approx([0, slow.reference.steps / 2], abs=2)


@pytest.mark.parametrize("joint", [0, 1])
def test_a_turn_leads_from_the_straight_walks_state_to_the_same_turned(own, joint):
    made = leading(own, own, joint, SQUARE, NEAR)
    first, last = (made.reference.q[k] for k in (0, -1))
    there, fast = own.reference.q[own.joints[joint].frame], own.reference.v[own.joints[joint].frame]
    character = own.reference.character
    back = Cycle((-own.joints[joint].along, 0.0))
    assert np.abs(difference(character, back.move_state(character, there, fast)[0], first)).max() < 1e-9
    moved = made.step.move_state(character, *back.move_state(character, there, fast))
    assert np.abs(difference(character, moved[0], last)).max() < 1e-6
    assert np.abs(moved[1] - made.reference.v[-1]).max() < 1e-6
    assert made.step.turn == SQUARE
    assert made.reference.quality.slip_millimetres < 1.0


def test_the_foot_that_turns_the_walk_is_put_down_outside(own):
    """The pendulum: the velocity turns to the left if the foot goes to the right, and ahead, where it slows down."""
    ahead, left = (leading(own, own, 0, angle, NEAR).reference for angle in (0.0, np.radians(30.0)))

    def landed(reference):
        points, active = reference.schedule.points, reference.schedule.active
        stands = {point.body for k, point in enumerate(points) if active[0, k]}
        swings = [k for k, point in enumerate(points) if point.foot and point.body not in stands]
        frame = np.flatnonzero(active[:, swings].all(axis=1))[0]
        return reference.schedule.place[frame][swings].mean(axis=0)

    aside = landed(left) - landed(ahead)
    assert -0.15 < aside[1] < -0.03
    assert 0.0 < aside[0] < 0.05


def test_who_stops_stands_still_and_who_starts_begins_there(own, library):
    stop, start = (way.transition for way in library.ways[-2:])
    assert np.abs(stop.reference.v[-1]).max() < 1e-6
    assert np.abs(start.reference.v[0]).max() < 1e-6
    feet = [point.foot for point in stop.reference.schedule.points]
    assert stop.reference.schedule.active[-1, feet].all()
    character = own.reference.character
    stood = Cycle((-stop.step.shift[0], -stop.step.shift[1])).move_state(
        character, stop.reference.q[-1], stop.reference.v[-1]
    )
    assert np.abs(difference(character, stood[0], start.reference.q[0])).max() < 1e-6


def test_a_square_turn_takes_two_steps(acts):
    course = Course(np.array([0.0, 1.0, 1.0]), np.full(3, 1.3), np.zeros(3), np.array([0.0, 0.0, SQUARE]))
    q, taken = steered(acts, course, 4.0)
    assert taken.count("left") == 1
    begins = sum(acts[number(acts, "straight", 1)].steps for _ in range(taken.index("left")))
    facing = np.unwrap([yaw_of(row) for row in q])
    turned = facing - facing[:120].mean()
    lap = acts[0].steps + acts[1].steps
    # hips sway by some degrees
    assert np.abs(turned[begins + lap : begins + 2 * lap] - SQUARE).max() < np.radians(12.0)


def test_it_stops_and_starts_again(acts):
    course = Course(np.array([0.0, 1.0, 1.0, 5.0, 5.0]), np.array([1.3, 1.3, 0.0, 0.0, 1.3]), np.zeros(5), np.zeros(5))
    q, taken = steered(acts, course, 9.0)
    assert "stop" in taken
    assert taken.index("stand") > taken.index("stop")
    assert taken.index("start") > taken.index("stand")
    stands = q[round(4.5 * 120)], q[round(4.9 * 120)]
    assert np.linalg.norm(stands[1][:2] - stands[0][:2]) < 0.005
    assert np.linalg.norm(q[-1, :2] - q[-120, :2]) > 0.8


def test_who_goes_sideways_heads_there(acts):
    planner = planner_of(acts)
    planner.head(Course(left=np.full(1, 1.0)), 0.3)
    assert planner.wanted(0.0) == (acts[0].level, pytest.approx(0.3 + SQUARE))
    planner.head(Course.straight(0.1), 0.0)
    assert planner.wanted(0.0) == (0.0, 0.0)
    assert acts[planner.begins()].action.name == "stand"


def test_the_same_course_gives_the_same_bits(acts):
    course = Course(np.array([0.0, 1.0, 1.0]), np.full(3, 1.3), np.zeros(3), np.array([0.0, 0.0, SQUARE]))
    assert np.array_equal(steered(acts, course, 2.0)[0], steered(acts, course, 2.0)[0])


def test_a_state_that_is_off_costs_more_and_cost_knows_no_direction(acts):
    """Half of x^T S x, and s^T x; the cost of the same deviation is the same wherever the walk leads."""
    character, act = acts[0].motion.character, acts[0]
    firsts, costs = FirstStates(character, acts), []
    for way in (Cycle((0.0, 0.0)), Cycle((3.0, -2.0), 1.1)):
        q, v = way.move_state(character, *act.first)
        still = firsts.costs(np.array([0]), q, v, way.turn, 0.0)[0]
        v[:3] += way.rotation @ np.array([0.3, 0.2, 0.0])
        q[2] += 0.02
        q = integrate(character, q, np.eye(character.nv)[-1], 0.1)
        costs.append((still, firsts.costs(np.array([1, 0]), q, v, way.turn, 0.0)[1]))
    away = np.zeros(2 * character.nv)
    away[2], away[character.nv - 1], away[character.nv : character.nv + 2] = 0.02, 0.1, (0.3, 0.2)
    assert costs[0][0] == pytest.approx(0.0, abs=1e-9)
    assert costs[0][1] == pytest.approx(0.5 * away @ act.cost.curvature @ away + act.cost.gradient @ away, rel=1e-6)
    assert costs[1] == pytest.approx(costs[0], rel=1e-6, abs=1e-9)


def test_tours_try_every_pair(acts):
    tours = []
    while not is_enough(acts, tours):
        tours.append(make_tour(acts, tours))
    assert missing(acts, tours) == 0
    found, dearest = table(acts, tours)
    assert found.falls.max() < 0.5
    assert (dearest[[act.action.speed > 0.0 for act in acts]] > 0.0).all()


def test_a_plan_that_is_stopped_goes_on_where_it_was(walk, tmp_path, few_tours):
    """The motions are made once, and so is each tour."""
    settings = Settings(sharpest=15.0)

    class StoppedError(Exception):
        pass

    def stop(share):
        if share > door.MOTIONS + 0.01:
            raise StoppedError

    with pytest.raises(StoppedError):
        METHOD.plan([walk], settings, Cache(tmp_path), stop)
    key = door.key_of(walk, settings)
    before = len(door.kept_tours(Cache(tmp_path), key))
    assert before > 0
    told = []
    plan = METHOD.plan([walk], settings, Cache(tmp_path), told.append)
    assert min(told) > door.MOTIONS
    assert len(door.kept_tours(Cache(tmp_path), key)) > before
    assert {act.action.name for act in plan.acts} >= {"straight", "15° to the left", "stop", "start", "fast", "slowly"}


@pytest.mark.parametrize(
    ("name", "done"), [("straight", 0), ("straight", 40), ("left", 30), ("stop", 12), ("stand", 7)]
)
def test_what_comes_next_goes_on_as_the_walk_does(acts, name, done):
    """Nothing jumps in what is laid out, and at each seam it is where the next action begins."""
    act = next(one for one in acts if one.action.name == name)
    then = {one.action.source: k for k, one in reversed(list(enumerate(acts))) if one.level is not None}
    laid = lay_out(acts, acts.index(act), done, lambda seam: then[acts[seam.number].action.target])
    whole = concatenate(laid.pieces)
    assert len(laid.looks) == len(whole.q) == laid.seams[-1].frame + 1
    assert unsteadiness(whole) < 1.01 * max(unsteadiness(one.motion.reference) for one in acts)
    for seam, after in itertools.pairwise(laid.seams):
        there = acts[after.number]
        q, v = seam.way.move_state(whole.character, *there.first)
        assert np.abs(difference(whole.character, q, whole.q[seam.frame])).max() < 1e-5
        assert np.abs(v - whole.v[seam.frame]).max() < 1e-5


def unsteadiness(reference):
    """By how much frames differ at most from where the velocities lead."""
    steps = [difference(reference.character, a, b) * reference.rate for a, b in itertools.pairwise(reference.q)]
    return float(np.abs(np.array(steps) - reference.v[1:]).max())


@pytest.fixture
def kept(steered, few_tours):
    """Where jobs find what others have made."""
    return steered


def test_a_job_is_steered_from_where_its_clip_begins(kept):
    course = Course(np.array([0.0, 2.0, 2.0]), np.full(3, 1.3), np.zeros(3), np.radians([0.0, 0.0, -15.0]))
    scene = Scene(course=course)
    job = replace(golden.kept("walk"), method="steering", settings={"sharpest": 15.0}, seconds=5.0, scene=scene)
    done = run(job, None, kept)
    assert done.outcome == "completed"
    assert done.report["good"]
    assert len(done.poses) == round(5.0 * done.fps) + 1
    hips = done.poses[:, 0, :2, 3]
    assert np.linalg.norm(hips[0] - job.clip.position[0, 0, :2]) < 0.15
    way = [
        np.arctan2(*(hips[b] - hips[a])[::-1]) for a, b in ((0, round(1.8 * done.fps)), (-round(1.1 * done.fps), -1))
    ]
    assert np.degrees((way[1] - way[0] + np.pi) % (2.0 * np.pi) - np.pi) == pytest.approx(-15.0, abs=4.0)


def led(kept, path, scene=ALONE):
    """The hips of who is led along it, frame by frame; gently, for few turns are made."""
    done = led_job(kept, path, scene)
    assert done.report["max_foot_slide_m"] < 0.01
    return done.poses[:, 0, :2, 3], done.fps


def led_job(kept, path, scene, **more):
    """What came of it."""
    job = replace(golden.kept("walk"), method="steering", settings={"sharpest": 15.0}, path=path, scene=scene, **more)
    done = run(job, None, kept)
    assert done.outcome == "completed"
    return done


def test_a_path_is_walked_along_to_its_end(kept):
    angle = np.linspace(0.0, 1.0, 200)
    drawn = 6.0 * np.column_stack([np.sin(angle), 1.0 - np.cos(angle)])
    hips, fps = led(kept, Path(drawn))
    off = Path(drawn).distance_from(hips)
    assert off.mean() < 0.15
    assert off.max() < 0.4
    assert np.linalg.norm(hips[-1] - drawn[-1]) < 0.15
    assert np.linalg.norm(hips[-1] - hips[-round(0.5 * fps)]) < 0.01


@pytest.mark.parametrize("force", [(0.0, 150.0, 0.0), (0.0, -150.0, 0.0), (-150.0, 0.0, 0.0)])
def test_who_is_pushed_on_the_way_steps_and_still_comes_to_its_end(kept, force):
    drawn = np.array([[0.0, 0.0], [8.0, 0.0]])
    scene = Scene(pushes=(Push.constant("torso", force, 2.5, 0.1),))
    done = led_job(kept, Path(drawn), scene, recovery=True, looseness=natural())
    assert [one["what"] for one in done.report["recoveries"]]
    hips = done.poses[:, 0, :2, 3]
    assert Path(drawn).distance_from(hips).max() < 0.4
    assert np.linalg.norm(hips[-1] - drawn[-1]) < 0.25


@pytest.mark.parametrize(("degrees", "told"), [(0.0, False), (3.0, True)])
def test_it_says_that_it_is_for_level_ground(kept, degrees, told):
    angle, way = np.radians(degrees), golden.heading()
    slope = Plane(normal=(np.sin(angle) * np.cos(way), np.sin(angle) * np.sin(way), np.cos(angle)))
    scene = Scene(surfaces=(slope,), course=Course.straight(1.3))
    job = replace(golden.kept("walk"), method="steering", settings={"sharpest": 15.0}, seconds=5.0, scene=scene)
    notes = run(job, None, kept).report["notes"]
    assert any("level ground" in note for note in notes) == told


def test_it_waits_where_it_is_to(kept):
    drawn = np.array([[0.0, 0.0], [4.0, 0.0], [8.0, 0.5]])
    hips, fps = led(kept, Path(drawn, stops=(1,), wait=1.5))
    still = np.linalg.norm(np.diff(hips, axis=0), axis=1) * fps < 0.02
    stood = hips[1:][still & (np.linalg.norm(hips[1:] - drawn[1], axis=1) < 0.3)]
    assert len(stood) > 1.2 * fps
    assert np.linalg.norm(hips[-1] - drawn[-1]) < 0.2


def test_a_target_is_waited_for_and_followed(kept):
    time = np.arange(0.0, 16.0, 0.1)
    begin = golden.kept("walk").clip.position[0, 0, :2]
    target = begin + np.where(time[:, None] < 8.0, [0.5, -4.0], [0.5, -8.0])
    hips, fps = led(kept, Path([begin, target[0]], target_time=time, target=target))
    assert len(hips) == pytest.approx(15.9 * fps, abs=2)
    assert np.linalg.norm(hips[round(7.9 * fps)] - target[0]) < 0.3
    assert np.linalg.norm(hips[-1] - target[-1]) < 0.3


def test_automatic_steers_a_walk_with_a_keyed_course():
    job = replace(golden.kept("walk"), method="auto", scene=Scene(course=Course.straight(1.0)))
    found, told = resolved(job)
    assert (found.method, found.loop) == ("steering", True)
    assert told == ("Method: Steer, because it walks along a keyed course.",)


def test_what_is_no_walk_is_refused(walk):
    with pytest.raises(ValueError, match="Only a gait cycle can be led"):
        straight(replace(walk, cycle=None), 1.0, NEAR)
