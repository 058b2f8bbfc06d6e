# SPDX-License-Identifier: GPL-3.0-or-later
"""Long work is done a little at a time: what comes of it is the same, and left half-way nothing is."""

import bpy
import numpy as np
import pytest
from heft.blender_addon.baking import gather as gathering
from heft.blender_addon.baking import output
from heft.blender_addon.baking.session import Session, Turn
from heft.blender_addon.rig.pose_space import rest_bones
from heft.blender_addon.slices import Slices, elsewhere, history, whole, within
from heft.blender_addon.writer import channels_to_key, needed_rows
from heft.core.job import BakeJob

from tests.blender.bake.keyed import KeyedWorker, result_of

BRIEFLY = 0.0  # s: a step at a time, however fast the machine is


def counted(upto, log):
    try:
        for number in range(upto):
            yield number / upto
    finally:
        log.append("ended")
    return upto


def test_all_at_once_or_in_slices_is_the_same():
    log = []
    assert whole(counted(5, log)) == 5
    work = Slices(lambda: counted(5, log))
    while not work.go_on(0.0):
        pass
    assert work.results == [5]


def test_a_part_goes_from_one_fraction_to_another_and_is_ended_with_the_whole():
    log = []
    part = within(counted(4, log), 0.5, 1.0)
    assert [next(part) for _ in range(4)] == [0.5, 0.625, 0.75, 0.875]
    part.close()
    assert log == ["ended"]


def test_undo_begins_it_anew():
    begun = []

    def begin():
        begun.append(1)
        return counted(3, [])

    work = Slices(begin)
    work.go_on(0.0)
    history.turn()
    while not work.go_on(0.01):
        pass
    assert (len(begun), work.results) == (2, [3])


def test_what_is_over_stays_so_until_it_is_undone():
    begun = []

    def begin():
        begun.append(1)
        return counted(2, [])

    work = Slices(begin)
    while not work.go_on():
        pass
    assert work.go_on()
    assert (len(begun), work.results) == (1, [2])
    history.turn()
    while not work.go_on(0.0):
        pass
    assert (len(begun), work.results) == (2, [2])


def test_arithmetic_elsewhere_gives_its_result_or_its_complaint():
    assert whole(elsewhere(lambda: 7)) == 7

    def wrong():
        raise ValueError("There is no ground.")

    with pytest.raises(ValueError, match="There is no ground"):
        whole(elsewhere(wrong))


def state(rig):
    scene, animation = bpy.context.scene, rig.animation_data
    return (
        scene.frame_current,
        scene.frame_subframe,
        animation.action.name,
        [(action.name, action.users) for action in bpy.data.actions],
        [one.name for one in bpy.data.objects],
        [one.name for one in bpy.data.armatures],
    )


def test_reading_in_slices_reads_the_same_and_leaves_the_scene_alone(rig):
    bpy.context.scene.frame_set(17)
    (at_once,) = gathering.gather(bpy.context, [rig])
    before = state(rig)
    work = gathering.gathering(bpy.context, [rig], at_once=BRIEFLY)
    seen = 0
    while True:
        try:
            next(work)
        except StopIteration as ended:
            (slowly,) = ended.value
            break
        seen += 1
        assert state(rig) == before
    assert seen > 2
    assert isinstance(slowly.job, BakeJob)
    assert slowly.job == at_once.job
    assert (slowly.sampling.pose == at_once.sampling.pose).all()


def test_a_source_that_is_not_assigned_plays_only_while_it_is_read(rig):
    bpy.ops.heft.set_up()
    source = rig.animation_data.action
    (found,) = gathering.gather(bpy.context, [rig])
    output.write(bpy.context, rig, found, result_of(found.job))
    baked = rig.animation_data.action
    assert baked != source
    work = gathering.gathering(bpy.context, [rig], at_once=BRIEFLY)
    for _ in range(2):
        next(work)
        assert rig.animation_data.action == baked
    work.close()
    assert rig.animation_data.action == baked


@pytest.mark.parametrize(("target", "share"), [("ACTION", 0.0), ("ACTION", 0.9), ("PROXY", 0.5)])
def test_writing_that_is_left_leaves_nothing(rig, target, share):
    rig.heft.output = target
    (found,) = gathering.gather(bpy.context, [rig])
    before = state(rig)
    turn = Turn(rig.session_uid, rig.name, found, result=result_of(found.job))
    work = output.writing_all(bpy.context, [turn])
    for done in work:
        if done is not None and done >= share:
            break
    work.close()
    assert state(rig) == before
    assert rig.heft.report == ""


def test_one_that_fails_does_not_keep_another_from_being_written(rig):
    (found,) = gathering.gather(bpy.context, [rig])
    good = Turn(rig.session_uid, rig.name, found, result=result_of(found.job))
    bad = Turn(rig.session_uid, rig.name, found, why="There is no ground.")
    written, lines = output.write_all(bpy.context, [bad, good])
    assert written == 1
    assert lines[0] == ("ERROR", "Mannequin: There is no ground.")


def test_a_session_reads_in_slices_and_can_be_stopped(rig):
    before = state(rig)
    running = Session(bpy.context, [rig], KeyedWorker(), "bake", at_once=BRIEFLY)
    assert running.stage == "Reading the motion"
    assert not running.over
    assert not running.turns
    running.take(())
    assert 0.0 < running.fraction < 1.0
    running.stop()
    assert running.over
    assert state(rig) == before

    again = Session(bpy.context, [rig], KeyedWorker(), "bake", at_once=BRIEFLY)
    while not again.turns:
        again.take(())
    assert again.turn.name == rig.name
    again.stop()


def test_a_rig_that_is_deleted_while_it_is_read_is_told(rig):
    running = Session(bpy.context, [rig], KeyedWorker(), "bake", at_once=BRIEFLY)
    bpy.data.objects.remove(rig)
    while not running.over:
        running.take(())
    assert running.refused == "It was deleted during the bake."


def test_what_never_moves_is_keyed_at_its_ends():
    frames = np.arange(50.0)
    assert needed_rows(frames, np.full(50, 0.3)).tolist() == [0, 49]
    assert needed_rows(frames, np.full(50, 0.3) + 1e-7 * np.sin(frames)).tolist() == [0, 49]
    assert len(needed_rows(frames, 1e-5 * np.sin(frames))) == 50


def test_what_goes_along_far_away_is_keyed_at_its_ends(rig):
    """Two hundred metres off, single precision tells places by a hundredth of a millimetre."""
    resting = rest_bones(rig)
    pose = np.array([rig.pose.bones[bone.name].matrix for bone in resting])[None].repeat(50, axis=0)
    pose[:, :, 1, 3] += np.linspace(0.0, 200.0, 50)[:, None]
    channels = channels_to_key(resting, pose.astype(np.float32).astype(np.float64))
    frames = np.arange(50.0)
    moving = {
        (bone, axis)
        for bone, parts in channels.items()
        for axis in range(3)
        if "location" in parts and len(needed_rows(frames, parts["location"][:, axis])) > 2
    }
    assert {bone for bone, _ in moving} == {resting[0].name}
