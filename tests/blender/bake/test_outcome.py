# SPDX-License-Identifier: GPL-3.0-or-later
"""What is told of a bake, and which action it leaves: one for each source, with a report of its own."""

import dataclasses
import json

import bpy
import pytest
from heft.blender_addon.baking import outcome
from heft.blender_addon.baking.gather import gather
from heft.blender_addon.baking.output import write, write_all
from heft.blender_addon.baking.session import Turn, noted
from heft.core.report import source

from tests.blender.bake.keyed import result_of


def baked(rig, **report):
    """Bake with what is keyed as the simulation's result; return the action's name and the armature's."""
    (found,) = gather(bpy.context, [rig])
    result = result_of(found.job)
    text = json.dumps(result.report | source.nothing() | {"good": True} | report)
    return write(bpy.context, rig, found, dataclasses.replace(result, report_text=text))


def assign(rig, action):
    """As the Action editor does: Blender looks for the slot by itself."""
    rig.animation_data.action = action


@pytest.fixture
def walking(rig):
    """The mannequin, and its walk in a slot that has a name of its own."""
    action = rig.animation_data.action
    action.slots[0].name_display = "Slot"
    assign(rig, None)
    assign(rig, action)
    rig.animation_data.action_slot = action.slots[0]
    return rig, action


def test_the_source_is_played_when_it_is_chosen_again(walking):
    rig, walk = walking
    assert baked(rig) == ("Walk Simulated", "Mannequin")
    assign(rig, walk)
    assert rig.animation_data.action_slot == walk.slots[0]


def test_one_result_for_each_source_unless_it_is_kept(walking):
    rig, walk = walking
    other = bpy.data.actions.new("Other")  # neither a bake nor of this one
    baked(rig)
    track = rig.animation_data.nla_tracks.new()
    strip = track.strips.new("Strip", 1, rig.animation_data.action)
    strip.action_slot = rig.animation_data.action.slots[0]
    track.mute = True
    assert baked(rig)[0] == "Walk Simulated"
    assert {action.name for action in bpy.data.actions} == {"Walk", "Walk Simulated", other.name}
    now = rig.animation_data.action
    assert (strip.action, strip.action_slot, now.heft.source) == (now, now.slots[0], walk)
    now.heft.keep = True
    assert baked(rig)[0] == "Walk Simulated.001"
    assert baked(rig)[0] == "Walk Simulated.001"
    assert (strip.action, strip.action.name) == (now, "Walk Simulated")


def test_a_report_belongs_to_the_action_that_was_baked(walking):
    rig, walk = walking
    baked(rig, why="The first.")
    rig.animation_data.action.heft.keep = True
    first = rig.animation_data.action
    baked(rig, why="The second.")
    told = outcome.shown(rig)
    assert (told["why"], told["action"], told["armature"]) == ("The second.", "Walk Simulated.001", "Mannequin")
    assert len(told["when"]) == len("2026-11-19 11:41")
    assign(rig, first)
    assert (outcome.shown(rig)["why"], outcome.shown(rig)["action"]) == ("The first.", "Walk Simulated")
    assign(rig, walk)
    assert outcome.shown(rig)["why"] == "The second."


def test_a_bake_that_fails_leaves_no_tick(walking):
    rig, walk = walking
    (found,) = gather(bpy.context, [rig])
    baked(rig)
    assert outcome.is_good(outcome.shown(rig))
    rig.heft.source_action = walk
    failed = Turn(rig.session_uid, rig.name, found, why="There is no ground.")
    assert write_all(bpy.context, [failed]) == (0, [("ERROR", "Mannequin: There is no ground.")])
    told = outcome.shown(rig)
    assert (told["outcome"], told["why"], outcome.is_good(told)) == ("failed", "There is no ground.", False)
    baked(rig)
    assert outcome.is_good(outcome.shown(rig))
    rig.data.pose_position = "REST"
    with pytest.raises(RuntimeError, match="Rest Position"):
        bpy.ops.heft.bake()
    assert "Rest Position" in outcome.shown(rig)["why"]


@pytest.mark.parametrize("good", [True, False])
def test_only_what_is_good_gets_the_tick(walking, good):
    rig, _ = walking
    baked(rig, good=good)
    assert outcome.is_good(outcome.shown(rig)) == good


def test_a_proxy_is_named(walking):
    rig, _ = walking
    rig.heft.output = "PROXY"
    assert baked(rig) == ("Walk Simulated", "Mannequin Baked")
    assert outcome.shown(rig)["armature"] == "Mannequin Baked"


def test_what_a_parent_carries_along_is_told_where_it_fails(walking):
    rig, _ = walking
    cart = bpy.data.objects.new("Cart", None)
    bpy.context.collection.objects.link(cart)
    for frame, place in ((1, 0.0), (100, 3.0)):
        cart.location.x = place
        cart.keyframe_insert("location", frame=frame)
    rig.parent = cart
    (found,) = gather(bpy.context, [rig])
    failed = Turn(rig.session_uid, rig.name, found, why="It floats.")
    ((_, text),) = write_all(bpy.context, [failed])[1]
    assert text.startswith("Mannequin: It floats. Mannequin is parented to Cart, which carries it along")
    (doubt,) = found.doubts
    for share, said in ((0.0, False), (1.45, True)):
        done = result_of(found.job)
        helped = json.dumps(done.report | {"help_max": share})
        assert (doubt in noted(found, dataclasses.replace(done, report_text=helped))) == said


def test_a_mannequin_stands_beside_what_stands_at_the_cursor(heft_enabled):
    def add():
        bpy.ops.heft.add_mannequin()
        return bpy.context.active_object

    bpy.ops.mesh.primitive_cube_add(size=2.0)
    bpy.ops.mesh.primitive_plane_add(size=50.0)  # what lies there is ground
    bpy.context.scene.frame_end = 250
    first, second = add(), add()
    assert tuple(first.location) == pytest.approx((1.5, 0.0, 0.0))
    assert bpy.context.scene.frame_end == 105
    assert second.location.x > first.location.x + 0.7
    bpy.context.scene.cursor.location = (-4.0, 0.0, 0.0)
    bpy.context.scene.frame_end = 300
    assert tuple(add().location) == pytest.approx((-4.0, 0.0, 0.0))
    assert bpy.context.scene.frame_end == 300
