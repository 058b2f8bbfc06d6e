# SPDX-License-Identifier: GPL-3.0-or-later
"""The stage: what somebody does there bakes to the same bits."""

import json
from dataclasses import replace

import numpy as np
import pytest
from heft.core.job import run
from heft.core.live import inputs
from heft.core.live.commands import Commands, room_for
from heft.core.live.pace import Metronome
from heft.core.live.playing import BALLS, play
from heft.core.live.take import taken
from heft.core.simulation import Course

from tests.core.job import golden
from tests.core.job.jobs import waving_job
from tests.core.live.directing import Anybody, baked


@pytest.fixture(scope="module")
def kept(tmp_path_factory):
    """References and gains, made once."""
    return tmp_path_factory.mktemp("cache")


def walk():
    return replace(golden.kept("walk"), settings={"rehearsals": 0})


@pytest.mark.parametrize("seed", range(3))
def test_take_of_a_walk_bakes_to_the_same_bits(seed, kept):
    job = walk()
    found = play(job, Anybody(seed, 300, np.array([0.0, 0.0, 1.0])), clock=None, cache=kept)
    again = baked(job, found.take, kept)
    live = found.simulation.recording
    assert found.take.loops
    assert len(found.take.pushes) > 1
    assert live.steps == again.recording.steps
    nq = found.simulation.character.nq + 7 * len(found.take.balls)
    np.testing.assert_array_equal(again.recording.q[:, :nq], live.q[:, :nq])
    np.testing.assert_array_equal(again.recording.torque, live.torque)


def test_what_the_stage_shows_is_what_the_bake_gives(kept):
    job = walk()
    found = play(job, Anybody(7, 200, np.array([0.0, 0.0, 1.0])), clock=None, cache=kept)
    result = run(taken(job, found.take), cache=kept)
    assert len(result.frames) == int(found.take.seconds * job.fps + 1e-6) + 1
    again = baked(job, found.take, kept)
    assert again.recording.steps == found.simulation.recording.steps


@pytest.mark.parametrize("changes", [{}, {"settings": {}}, {"help": "as_needed", "settings": {}}])
def test_clip_without_a_cycle_ends_with_its_motion(changes, kept):
    """With rehearsals too: what is a surprise plays no part in them, nor does how long the take is."""
    job = waving_job(**{"settings": {"rehearsals": 0}, **changes})
    script = Anybody(3, 40, np.array([0.0, 0.0, 1.2]), ("left_hand", "torso", "head"))
    found = play(job, script, clock=None, cache=kept)
    again = baked(job, found.take, kept)
    assert not found.take.loops
    assert found.take.pushes
    nq = found.simulation.character.nq
    np.testing.assert_array_equal(again.recording.q[:, :nq], found.simulation.recording.q[:, :nq])
    whole = play(job, lambda _: [], clock=None, cache=kept)
    assert whole.take.seconds == pytest.approx(job.duration, abs=1.0 / job.rate)


def test_who_is_knocked_down_falls_in_the_bake_as_on_the_stage(kept):
    job = walk()
    shove = inputs.Shove(0.0, "torso", (0.0, 0.0, 0.0), (0.0, 900.0, 0.0), 0.2)
    script = iter([[]] * 50 + [[shove]])
    found = play(job, lambda _: next(script, []), clock=None, cache=kept)
    again = baked(job, found.take, kept)
    assert found.simulation.lost is not None
    assert again.lost == found.simulation.lost
    np.testing.assert_array_equal(
        again.recording.q[:, : job_nq(found)], found.simulation.recording.q[:, : job_nq(found)]
    )
    assert found.simulation.recording.steps < 120 * 10


def job_nq(found):
    return found.simulation.character.nq


def test_hand_pulls_towards_the_mouse_and_no_harder_than_it_can(kept):
    job = walk()
    script = iter(
        [[]] * 20 + [[inputs.Hold(0.0, "left_hand", (0.0, 0.0, 0.0), (0.0, 5.0, 1.0))]] + [[]] * 30 + [[inputs.End()]]
    )
    found = play(job, lambda _: next(script, []), clock=None, cache=kept)
    (push,) = found.take.pushes
    assert push.start == 20 / job.rate
    size = np.linalg.norm(push.force, axis=1)
    assert size[0] == size[-1] == 0.0
    np.testing.assert_allclose(size[1:-1], 500.0, rtol=1e-6)
    assert (push.force[1:-1, 1] > 400.0).all()
    np.testing.assert_array_equal(push.force, push.force.astype(np.float32))


def test_only_some_balls_are_at_hand(kept):
    job = walk()
    throw = inputs.Throw(0.0, (3.0, 3.0, 1.0), (0.0, 0.0, 1.0))
    script = iter([[throw]] * 12 + [[inputs.End()]])
    found = play(job, lambda _: next(script, []), clock=None, cache=kept)
    assert len(found.take.balls) == BALLS
    starts = [ball.thrown for ball in found.take.balls]
    assert starts == sorted(starts)


def test_method_that_looks_ahead_of_time_is_refused_with_what_can_be_chosen(kept):
    with pytest.raises(ValueError, match="Momentum control cannot be played on the stage: choose Look Ahead or Walk"):
        play(replace(walk(), method="momentum"), lambda _: [], clock=None, cache=kept)


class Walker:
    """Says how fast to walk and where to, at some states; shoves once; ends."""

    def __init__(self, steps, said, shove=None):
        self._steps, self._said, self._shove, self._at = steps, said, shove, -1

    def __call__(self, _):
        self._at += 1
        if self._at >= self._steps:
            return [inputs.End()]
        done = [self._said[self._at]] if self._at in self._said else []
        return done if self._shove is None or self._at != self._steps // 2 else [*done, self._shove]


def walker():
    job = golden.kept("walk")
    return replace(job, method="gait", settings={}, optimise=False, rate=300.0, loop=False, seconds=None)


def yaw(q):
    return 2.0 * np.arctan2(q[:, 6], q[:, 3])


def test_walk_goes_where_it_is_told_and_bakes_to_the_same_bits(kept):
    job = walker()
    said = {
        150: inputs.Command(0.0, 0.7, 0.0, 0.0),
        701: inputs.Command(0.0, 0.8, 0.1, 0.5),
        1201: inputs.Command(0.0, 0.5, 0.0, 0.9),
    }
    shove = inputs.Shove(0.0, "torso", (0.0, 0.0, 0.0), (0.0, 60.0, 0.0), 0.1)
    found = play(job, Walker(2700, said, shove), clock=None, cache=kept)
    live = found.simulation.recording
    assert found.simulation.lost is None
    assert live.steps == 2700  # beyond the action's own frames
    turned = yaw(live.q[-300:]) - yaw(live.q[:1])
    assert np.unwrap(turned).mean() == pytest.approx(0.9, abs=0.1)
    course = found.take.course
    assert course.heading[-1] == np.float32(0.9)
    assert course.at(150 / 300.0) == pytest.approx(job.scene.course.at(0.5))  # what was, stays
    again = baked(job, found.take, kept).recording
    nq = found.simulation.character.nq
    assert again.steps == live.steps
    np.testing.assert_array_equal(again.q[:, :nq], live.q[:, :nq])
    np.testing.assert_array_equal(again.torque, live.torque)


def test_a_steered_walk_turns_and_stops_and_bakes_to_the_same_bits(steered, few_tours):
    """A plan is made for it once, of which 15 degrees are the sharpest turn here."""
    still = Course(np.zeros(1), np.full(1, 1.3))
    scene = replace(golden.kept("walk").scene, course=still)
    job = replace(walk(), method="steering", settings={"sharpest": 15.0}, scene=scene)
    said = {130: inputs.Command(0.0, 1.3, 0.0, 0.25), 500: inputs.Command(0.0, 0.0, 0.0, 0.25)}
    shove = inputs.Shove(0.0, "torso", (0.0, 0.0, 0.0), (0.0, 40.0, 0.0), 0.1)
    found = play(job, Walker(1080, said, shove), clock=None, cache=steered)
    live = found.simulation.recording
    assert found.simulation.lost is None
    assert live.steps == 1080
    assert np.linalg.norm(live.q[-1, :2] - live.q[-60, :2]) < 0.01  # it stands
    turned = np.unwrap(yaw(live.q))
    assert turned[-1] - turned[:130].mean() == pytest.approx(np.radians(15.0), abs=0.12)
    again = baked(job, found.take, steered).recording
    nq = found.simulation.character.nq
    np.testing.assert_array_equal(again.q[:, :nq], live.q[:, :nq])
    np.testing.assert_array_equal(again.torque, live.torque)


def test_command_before_a_frame_is_walked_by_from_the_next_one():
    course = room_for(Course.straight(0.5), 1.0, 24.0)
    walks = Commands(course)
    walks.give(inputs.Command(0.0, 0.8, 0.1, 0.3), 0.25)
    frame = 6  # at 0.25 s: it may have been looked at
    assert course.forward[frame] == 0.5
    assert course.forward[frame + 1] == np.float32(0.8)
    walks.give(inputs.Command(0.0, 0.9, 0.1, 0.3), 0.26)
    assert course.forward[frame + 1] == np.float32(0.8)
    assert course.forward[frame + 2] == np.float32(0.9)
    taken_course = walks.taken(0.5, 24.0)
    np.testing.assert_array_equal(taken_course.time, np.arange(14) / 24.0)
    np.testing.assert_array_equal(taken_course.forward, course.forward[:14])


class Wristwatch:
    """Time that goes on by itself, and while one waits."""

    def __init__(self, each):
        self.now, self._each = 100.0, each

    def __call__(self):
        self.now += self._each
        return self.now


def test_steps_keep_a_clock_s_pace_and_slow_down():
    clock = Wristwatch(0.0)
    metronome = Metronome(0.01, clock)
    metronome.begin()
    assert metronome.wait(5) == pytest.approx(0.05)
    clock.now += 0.05
    assert metronome.wait(5) == pytest.approx(0.0)
    metronome.set_speed(0.25, 5)
    assert metronome.wait(6) == pytest.approx(0.04)
    metronome.set_speed(0.0, 5)
    assert metronome.wait(6) == np.inf
    metronome.set_speed(1.0, 5)
    clock.now += 0.5
    assert metronome.wait(6) == pytest.approx(-0.49)
    assert metronome.slipped == pytest.approx(0.49)
    assert metronome.wait(7) == pytest.approx(0.01)


@pytest.mark.parametrize(
    ("values", "reason"),
    [
        ({"does": "Dance"}, "'Dance' is nothing that can be done on the stage"),
        ({}, "nothing that can be done"),
        (
            {"does": "Hold", "body": "x", "place": [0.0, float("nan"), 0.0]},
            "place of the stage's input must be a finite",
        ),
        ({"does": "Move", "place": [0.0, 1.0]}, "must have 3 numbers"),
        ({"does": "Command", "forward": 50.0}, "told to go at 10 m/s at most"),
        ({"does": "Command", "heading": float("inf")}, "heading of the stage's input must be a finite number"),
        ({"does": "Pace", "speed": 3.0}, "Time can be slowed, not hurried"),
        ({"does": "Shove", "body": "x", "seconds": 0.0}, "A shove lasts at most 2 s"),
    ],
)
def test_inputs_that_make_no_sense_are_refused(values, reason):
    with pytest.raises(ValueError, match=reason):
        inputs.from_values(values)


def test_input_comes_out_of_a_message_as_it_went_in():
    for done in (
        inputs.Shove(3.5, "torso", (0.1, 0.2, 0.3), (1.0, 2.0, 3.0), 0.5),
        inputs.Command(0.0, -0.2, 0.1, -1.5),
    ):
        assert inputs.from_values(json.loads(json.dumps(inputs.to_values(done)))) == done
