# SPDX-License-Identifier: GPL-3.0-or-later
"""Takes in the scene: what is read of one is what was done, to the bit."""

import json
import time

import bpy
import numpy as np
import pytest
from heft.blender_addon.baking.gather import gather
from heft.blender_addon.scene.takes import things_taken
from heft.blender_addon.stage.playing import Playing
from heft.blender_addon.worker.keeper import keeper
from heft.core.live import inputs
from heft.core.live.take import taken

PATIENCE = 900.0  # s: kernels may have to be compiled first


def look_until(playing, condition):
    until = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < until
        playing.take(keeper.poll())
        assert not playing.refused, playing.refused
        assert not (playing.over and playing.take_made is None), playing.turns[0].why
        time.sleep(0.005)


def played(rig, *done):
    """A take: what is done, each at so many seconds."""
    playing = Playing(bpy.context, rig, keeper)
    look_until(playing, lambda: playing.plays)
    for at, one in done:
        look_until(playing, lambda at=at: playing.seconds >= at)
        playing.do(one)
    look_until(playing, lambda: playing.over)
    return playing


def directed(rig):
    """A pull, a shove and a ball."""
    return played(
        rig,
        (0.2, inputs.Hold(0.0, "left_hand", (0.01, 0.02, 0.03), (0.6, -1.0, 1.4))),
        (0.3, inputs.Move(0.0, (0.7, -1.2, 1.5))),
        (0.5, inputs.Release()),
        (0.6, inputs.Shove(0.0, "torso", (0.0, 0.1, 0.0), (40.0, -30.0, 10.0), 0.1)),
        (0.7, inputs.Throw(0.0, (0.3, -3.0, 1.3), (0.1, 5.0, 1.0))),
        (1.0, inputs.End()),
    )


def test_kept_take_reads_as_it_was_played_and_bakes(rig):
    playing = directed(rig)
    job, take = playing.turns[0].gathered.job, playing.take_made
    assert take.loops
    assert [push.body for push in take.pushes] == ["left_hand", "torso"]
    assert len(take.balls) == 1
    playing.keep(bpy.context)
    playing.close()
    (again,) = gather(bpy.context, [rig])
    assert again.job.key() == taken(job, take).key()
    assert bpy.ops.heft.bake() == {"FINISHED"}
    report = json.loads(rig.heft.report)
    first, last = rig.animation_data.action.frame_range
    assert last - first == pytest.approx(24.0 * take.seconds, abs=1.0)
    assert report["simulated_seconds"] == pytest.approx(take.seconds, abs=1e-9)
    (once_more,) = gather(bpy.context, [rig])
    assert once_more.job.key() == taken(job, take).key()
    assert bpy.ops.heft.drop_take() == {"FINISHED"}
    assert things_taken(rig) == []
    (plain,) = gather(bpy.context, [rig])
    assert plain.job.ends is None
    assert plain.job.scene.pushes == ()
    assert plain.job.scene.props == ()


def test_another_take_adds_to_the_first(rig):
    playing = directed(rig)
    first = playing.take_made
    playing.keep(bpy.context)
    playing.close()
    playing = directed(rig)
    job, second = playing.turns[0].gathered.job, playing.take_made
    assert [len(push.force) for push in job.scene.pushes] == [len(push.force) for push in first.pushes]
    playing.keep(bpy.context)
    playing.close()
    (again,) = gather(bpy.context, [rig])
    assert again.job.key() == taken(job, second).key()
    assert len(again.job.scene.pushes) == 4
    assert len({prop.name for prop in again.job.scene.props}) == 2


def test_what_an_animator_changes_of_a_take_is_simulated(rig):
    playing = directed(rig)
    playing.keep(bpy.context)
    playing.close()
    pull, *_ = [one for one in things_taken(rig) if one.heft.push.taken == 1]
    (before,) = gather(bpy.context, [rig])
    bag = pull.animation_data.action.layers[0].strips[0].channelbag(pull.animation_data.action_slot)
    for curve in bag.fcurves:
        for point in curve.keyframe_points:
            point.co.y *= 2.0
        curve.update()
    (after,) = gather(bpy.context, [rig])
    np.testing.assert_array_equal(after.job.scene.pushes[0].force, 2.0 * before.job.scene.pushes[0].force)
    pull.hide_set(True)
    (hidden,) = gather(bpy.context, [rig])
    assert len(hidden.job.scene.pushes) == len(after.job.scene.pushes) - 1


def test_dropped_take_leaves_nothing(rig):
    playing = directed(rig)
    playing.close()
    assert things_taken(rig) == []
    assert rig.heft.take.seconds == 0.0


def test_walk_is_steered_and_reads_as_it_was_walked(rig):
    rig.heft.controller = "GAIT"
    playing = Playing(bpy.context, rig, keeper)
    look_until(playing, lambda: playing.plays)
    for seconds, forward, heading in ((0.5, -0.1, 0.0), (0.9, 0.0, 0.3), (1.4, 0.0, 0.3)):
        look_until(playing, lambda seconds=seconds: playing.seconds >= seconds)
        playing.command(forward, heading)
    assert playing.walks.forward == pytest.approx(0.8)
    look_until(playing, lambda: playing.seconds >= 6.0)
    playing.do(inputs.End())
    look_until(playing, lambda: playing.over)
    job, take = playing.turns[0].gathered.job, playing.take_made
    assert not playing.fell
    playing.keep(bpy.context)
    playing.close()
    (course,) = things_taken(rig)
    assert course.name == "Take Course"
    (again,) = gather(bpy.context, [rig])
    assert again.job.key() == taken(job, take).key()
    assert bpy.ops.heft.bake() == {"FINISHED"}
    assert json.loads(rig.heft.report)["simulated_seconds"] == pytest.approx(take.seconds, abs=1e-9)
    bag = course.animation_data.action.layers[0].strips[0].channelbag(course.animation_data.action_slot)
    bag.fcurves.remove(bag.fcurves.find("heft.course.forward"))
    course.heft.course.forward = 0.5
    (slow,) = gather(bpy.context, [rig])
    np.testing.assert_array_equal(slow.job.scene.course.forward, 0.5)
    np.testing.assert_array_equal(slow.job.scene.course.heading, take.course.heading)
    course.animation_data_clear()
    (own,) = gather(bpy.context, [rig])
    assert not own.job.scene.course.heading.any()
    assert course.animation_data is None
    course.hide_set(True)
    (straight,) = gather(bpy.context, [rig])
    assert not straight.job.scene.course.heading.any()
    assert bpy.ops.heft.drop_take() == {"FINISHED"}
    assert things_taken(rig) == []


def test_method_that_cannot_is_refused_in_a_sentence(rig):
    rig.heft.controller = "MOMENTUM"
    playing = Playing(bpy.context, rig, keeper)
    until = time.monotonic() + PATIENCE
    while not playing.over:
        assert time.monotonic() < until
        playing.take(keeper.poll())
        time.sleep(0.005)
    assert "cannot be played on the stage: choose Look Ahead" in playing.turns[0].why
    playing.close()


def test_without_a_window_there_is_no_stage(rig):
    with pytest.raises(RuntimeError, match="needs a window"):
        bpy.ops.heft.stage()


def test_ball_waits_out_of_sight_where_it_is_thrown_from(rig):
    playing = directed(rig)
    playing.keep(bpy.context)
    playing.close()
    assert bpy.ops.heft.bake() == {"FINISHED"}
    (ball,) = [one for one in things_taken(rig) if one.heft.throw.taken]
    start = playing.take_made.balls[0]
    thrown = rig.animation_data.action.frame_range[0] + 24.0 * start.thrown
    bpy.context.scene.frame_set(int(thrown) - 2)
    assert ball.hide_render
    np.testing.assert_allclose(ball.matrix_world.translation, start.body.position, atol=1e-6)
    bpy.context.scene.frame_set(int(thrown) + 3)
    assert not ball.hide_render
    assert ball.matrix_world.translation.y > start.body.position[1] + 0.2
