# SPDX-License-Identifier: GPL-3.0-or-later
"""The method Automatic: told by keys and by what belongs to the armature, as the core tells it by the job."""

import json
from dataclasses import replace

import bpy
import pytest
from heft.blender_addon.baking.gather import gather
from heft.blender_addon.properties import automatic, methods
from heft.core.job import choosing
from heft.core.simulation import Course

FEW = "Method: Replan, because it is a few key poses."
HOLDS = "Method: Replan, because hands hold on to something."


@pytest.mark.parametrize(
    ("scene", "told"),
    [("CHIN_UP", HOLDS), ("SQUAT", FEW), ("JUMP_TO_BAR", HOLDS), ("PICK_UP_BOX", FEW)],
)
def test_key_poses_and_hanging_are_followed_as_they_are(heft_enabled, scene, told):
    assert bpy.ops.heft.add_key_poses(scene=scene) == {"FINISHED"}
    rig = bpy.context.active_object
    by_hand = gather(bpy.context, [rig])[0]
    assert by_hand.chosen == ""
    rig.heft.controller, rig.heft.optimise = "AUTO", True
    (made,) = gather(bpy.context, [rig])
    assert made.chosen == told
    assert made.job == by_hand.job  # which the example's own settings ask for
    # the core sees the same in the job alone, but for the course, which every armature has
    alone = replace(made.job, method="auto", optimise=True, scene=replace(made.job.scene, course=Course()))
    assert choosing.resolved(alone) == (replace(alone, method=made.job.method, optimise=False), (told,))


def test_a_walk_is_looked_ahead_for_and_the_report_says_so(rig):
    choice = methods.choice_of(rig.heft)
    assert choice.told == "Method: Look Ahead, because it suits most motions."
    (chosen,) = gather(bpy.context, [rig])
    rig.heft.controller = "LOOKAHEAD"
    assert methods.choice_of(rig.heft) is None
    (by_hand,) = gather(bpy.context, [rig])
    assert chosen.job == by_hand.job
    rig.heft.controller = "AUTO"
    rig.heft.use_frame_range, rig.heft.frame_start, rig.heft.frame_end = True, 1, 8
    assert bpy.ops.heft.bake() == {"FINISHED"}
    report = json.loads(rig.heft.report)
    assert report["method"] == "lookahead"
    assert report["notes"][0] == choice.told
    assert json.loads(rig.animation_data.action.heft.report)["notes"][0] == choice.told
    assert methods.choice_of(rig.heft) == choice  # of what the baked action was made from


def test_what_is_keyed_and_added_asks_for_a_method(rig):
    def signs():
        return automatic.signs_of(rig)

    assert signs() == choosing.Signs()
    rig.heft.playback.keyframe_insert("speed", frame=3)
    assert signs() == choosing.Signs(retimed=True)
    rig.heft.playback.keyframe_delete("speed", frame=3)
    rig.heft.course.keyframe_insert("forward", frame=1)
    assert signs() == choosing.Signs(led=True)  # it walks already
    rig.heft.help = "AS_KEYED"
    assert signs().carried
    entry = rig.heft.others.add()
    assert not signs().several
    entry.action = bpy.data.actions.new("Other")
    assert signs().several
    rig.heft.loop = True
    assert not signs().switched
    rig.heft.keyframe_insert("motion", frame=5)
    assert signs().switched
    bpy.ops.heft.set_up()
    rig.data.bones.active = rig.data.bones["hand.L"]
    assert bpy.ops.heft.add_grab() == {"FINISHED"}
    assert signs().holds
    boat = bpy.data.objects.new("Boat", None)
    rail = bpy.data.objects.new("Rail", None)
    rail.parent = boat
    grab = next(one for one in bpy.context.view_layer.objects if one.heft.grab.armature == rig).heft.grab
    grab.target = rail
    assert signs().holds
    boat.keyframe_insert("location", frame=1)  # what moves is followed by an optimised motion
    assert not signs().holds
    grab.target = None
    bpy.data.objects[next(one.name for one in bpy.data.objects if one.heft.grab.armature == rig)].hide_set(True)
    assert not signs().holds


def test_a_pose_with_a_keyed_course_walks_by_itself(rig):
    action = bpy.data.actions.new("Pose")
    rig.animation_data.action = action
    rig.pose.bones["pelvis"].keyframe_insert("location", frame=1)
    assert automatic.signs_of(rig).still
    assert methods.method_of(rig.heft).name == "lookahead"
    rig.heft.course.keyframe_insert("forward", frame=1)
    assert methods.method_of(rig.heft).name == "gait"
    rig.heft.use_frame_range, rig.heft.frame_start, rig.heft.frame_end = True, 1, 20
    (made,) = gather(bpy.context, [rig])
    assert (made.job.method, made.job.rate, made.job.optimise) == ("gait", 300.0, False)


def test_who_is_keyed_far_away_takes_steps(heft_enabled):
    assert bpy.ops.heft.add_key_poses(scene="SQUAT") == {"FINISHED"}
    rig = bpy.context.active_object
    rig.heft.controller = "AUTO"
    assert automatic.signs_of(rig).few_poses
    rig.location.x = 0.0
    rig.keyframe_insert("location", index=0, frame=1)
    rig.location.x = 2.0
    rig.keyframe_insert("location", index=0, frame=90)
    assert not automatic.signs_of(rig).few_poses


def test_a_file_of_before_keeps_its_method(rig, tmp_path):
    """Then the method was Look Ahead where nobody had chosen one."""
    bpy.ops.heft.set_up()
    path = str(tmp_path / "file.blend")

    def saved_and_opened():
        name = bpy.context.active_object.name
        bpy.ops.wm.save_as_mainfile(filepath=path)
        bpy.ops.wm.open_mainfile(filepath=path)
        return bpy.data.objects[name]

    now = saved_and_opened()
    assert now.heft.controller == "AUTO"
    now.heft.property_unset("layout")
    before = saved_and_opened()
    assert before.heft.controller == "LOOKAHEAD"
    before.heft.controller = "AUTO"
    assert saved_and_opened().heft.controller == "AUTO"
