# SPDX-License-Identifier: GPL-3.0-or-later
"""Contacts as keys that are read back, and Build Reference in the background."""

import bpy
import numpy as np
import pytest
from heft.blender_addon import contacts
from heft.blender_addon.baking.gather import gather
from heft.blender_addon.contacts import Samples, are_edited, edited_contacts, key_contacts, keyed, read_contacts
from heft.blender_addon.reference import report_of
from heft.blender_addon.rig.setting_up import frames_of_motion
from heft.blender_addon.writer import assigned_curves
from heft.core.job import ContactInterval

from tests.blender.bake.conftest import cache, heft_enabled, one_worker
from tests.blender.scene.stage import add_box, key, mark, select

__all__ = ["cache", "heft_enabled", "one_worker"]

SAMPLES = Samples(1.0, 105.0, 0.2)
FOUND = [
    ContactInterval("left_foot_heel", 1.0, 11.0),
    ContactInterval("left_foot_heel", 27.0, 36.8),
    ContactInterval("left_foot_toe", 4.2, 16.8),
    ContactInterval("right_foot_toe", 90.2, 105.0),
]


@pytest.fixture
def rig(heft_enabled):
    bpy.ops.heft.add_mannequin()
    bpy.ops.heft.set_up()
    return bpy.context.active_object


@pytest.fixture
def labelled(rig):
    key_contacts(rig, contacts.points_of(rig), FOUND, SAMPLES)
    return rig


def job_of(rig):
    select(rig)
    return gather(bpy.context, [rig])[0].job


def curve_of(rig, point):
    return keyed(rig)[point]


def shorten(rig, point="left_foot_heel", by=2.0):
    """The first contact ends earlier."""
    key = curve_of(rig, point).keyframe_points[1]
    key.co.x -= by


def rounded(intervals):
    return [ContactInterval(one.point, round(one.start, 6), round(one.end, 6)) for one in intervals]


# Keys


def test_what_is_keyed_is_read_back(labelled):
    assert rounded(read_contacts(labelled, SAMPLES)) == FOUND
    assert not are_edited(labelled)
    assert edited_contacts(labelled, SAMPLES) is None


def test_keys_are_switches_in_the_assigned_slot_and_do_not_lengthen_the_motion(rig):
    before = frames_of_motion(bpy.context.scene, rig).tolist()
    key_contacts(rig, contacts.points_of(rig), FOUND, SAMPLES)
    curves = {curve.data_path: curve for curve in assigned_curves(rig, rig.animation_data.action)}
    heel = curves["heft.contacts.left_foot_heel"]
    assert heel.group.name == "Contacts"
    np.testing.assert_allclose(
        [tuple(point.co) for point in heel.keyframe_points],
        [(1.0, 1.0), (11.1, 0.0), (26.9, 1.0), (36.9, 0.0)],
        atol=1e-5,
    )
    assert {point.interpolation for point in heel.keyframe_points} == {"CONSTANT"}
    # a foot that never stands has its switch all the same
    assert len(curves["heft.contacts.right_foot_heel"].keyframe_points) == 1
    assert frames_of_motion(bpy.context.scene, rig).tolist() == before


def test_values_follow_the_frames(labelled):
    seen = []
    for frame in (1, 11, 12, 27, 40):
        bpy.context.scene.frame_set(frame)
        seen.append(labelled.heft.contacts.left_foot_heel)
    assert seen == [True, True, False, True, False]


def test_a_moved_key_is_an_edit(labelled):
    shorten(labelled)
    assert are_edited(labelled)
    first, *rest = edited_contacts(labelled, SAMPLES)
    assert first == ContactInterval("left_foot_heel", 1.0, pytest.approx(9.0))
    assert rounded(rest) == FOUND[1:]
    assert job_of(labelled).contacts[0].end == pytest.approx(9.0)


def test_a_key_set_by_hand_is_an_edit(labelled):
    """A hand that leans on something, keyed in the panel."""
    switch = labelled.heft.contacts
    for frame, on in ((1, False), (20, True), (30, False)):
        switch.left_hand = on
        switch.keyframe_insert("left_hand", frame=frame)
    for point in curve_of(labelled, "left_hand").keyframe_points:
        point.interpolation = "CONSTANT"
    found = edited_contacts(labelled, SAMPLES)
    assert ContactInterval("left_hand", 20.0, pytest.approx(29.8)) in found
    assert len(found) == len(FOUND) + 1


def test_what_the_character_lacks_is_not_read(labelled):
    switch = labelled.heft.contacts
    switch.left_hand_toe = True  # of a paw
    shorten(labelled)
    assert "left_hand_toe" not in {one.point for one in edited_contacts(labelled, SAMPLES)}


def test_nothing_keyed_is_nothing_said(rig):
    assert read_contacts(rig, SAMPLES) is None
    assert not are_edited(rig)
    assert job_of(rig).contacts is None


def test_edits_survive_saving_duplicating_and_appending(labelled, tmp_path):
    shorten(labelled)
    said = edited_contacts(labelled, SAMPLES)
    select(labelled)
    bpy.ops.object.duplicate()
    assert edited_contacts(bpy.context.active_object, SAMPLES) == said
    path = tmp_path / "labelled.blend"
    bpy.ops.wm.save_as_mainfile(filepath=str(path))
    bpy.ops.wm.open_mainfile(filepath=str(path))
    assert edited_contacts(bpy.data.objects["Mannequin"], SAMPLES) == said
    bpy.ops.wm.read_factory_settings(use_empty=True)
    bpy.ops.wm.append(filepath=str(path / "Object" / "Mannequin"), directory=str(path / "Object"), filename="Mannequin")
    assert edited_contacts(bpy.data.objects["Mannequin"], SAMPLES) == said


def test_found_contacts_of_a_duplicate_are_still_found(labelled):
    select(labelled)
    bpy.ops.object.duplicate()
    assert not are_edited(bpy.context.active_object)


def test_a_linked_action_is_refused(rig, tmp_path):
    action = rig.animation_data.action
    path = tmp_path / "action.blend"
    bpy.data.libraries.write(str(path), {action})
    rig.animation_data.action = None
    bpy.data.actions.remove(action)
    with bpy.data.libraries.load(str(path), link=True) as (_, linked):
        linked.actions = ["Walk"]
    rig.animation_data.action = linked.actions[0]
    rig.animation_data.action_slot = linked.actions[0].slots[0]
    with pytest.raises(ValueError, match="The action Walk of Mannequin is linked from another file"):
        key_contacts(rig, contacts.points_of(rig), FOUND, SAMPLES)


# Build Reference


@pytest.fixture
def built(rig):
    rig.heft.use_frame_range, rig.heft.frame_start, rig.heft.frame_end = True, 20, 60
    assert bpy.ops.heft.build_reference() == {"FINISHED"}
    return rig


def test_build_reference_keys_contacts_and_changes_and_says_how_good_it_is(built):
    report = report_of(built)
    assert report["fit_for_control"], report["why"]
    assert report["residual_newtons"] < 1e-3
    assert not are_edited(built)
    found = read_contacts(built, Samples(20.0, 60.0, 0.2))
    assert {one.point for one in found} == set(keyed(built))
    assert all(20.0 <= one.start < one.end <= 60.0 for one in found)
    curves = {curve.data_path: curve for curve in assigned_curves(built, built.animation_data.action)}
    knee = curves["heft.changes.left_knee"]
    assert knee.group.name == "Reference"
    values = np.array([tuple(point.co) for point in knee.keyframe_points])
    np.testing.assert_array_equal(values[:, 0], np.arange(20, 61))
    assert 0.0 < values[:, 1].max() < 0.5
    place = np.array([point.co.y for point in curves["heft.changes.place"].keyframe_points])
    assert place.max() == pytest.approx(report["root_max_metres"], rel=0.2)


def test_edited_contacts_change_the_reference(built):
    """The right toe leaves the ground a little earlier; what was edited stays as it was edited."""
    before = report_of(built)
    toe = curve_of(built, "right_foot_toe")
    (last_off,) = [point for point in toe.keyframe_points if point.co.y < 0.5 and point.co.x > 21.0][:1]
    last_off.co.x -= 1.0
    said = edited_contacts(built, Samples(20.0, 60.0, 0.2))
    assert bpy.ops.heft.build_reference() == {"FINISHED"}
    after = report_of(built)
    assert after["peak_force_newtons"] != before["peak_force_newtons"]
    assert edited_contacts(built, Samples(20.0, 60.0, 0.2)) == said
    # and Find Contacts forgets it
    assert bpy.ops.heft.find_contacts() == {"FINISHED"}
    assert not are_edited(built)
    assert bpy.ops.heft.build_reference() == {"FINISHED"}
    assert report_of(built)["peak_force_newtons"] == before["peak_force_newtons"]


def test_building_again_after_a_change_of_the_action_finds_contacts_anew(built):
    for curve in assigned_curves(built, built.animation_data.action):
        if not curve.data_path.startswith("heft."):
            for point in curve.keyframe_points:
                point.co.x += 2.0
            curve.update()
    first = read_contacts(built, Samples(20.0, 60.0, 0.2))
    assert bpy.ops.heft.build_reference() == {"FINISHED"}
    assert read_contacts(built, Samples(20.0, 60.0, 0.2)) != first


def test_a_motion_in_the_air_is_refused_by_its_frames(rig):
    """From frame 26 to 70 it walks on nothing, and does not fall."""
    key(rig, "location", (20, (0.0, 0.0, 0.0)), (26, (0.0, 0.0, 0.6)), (70, (0.0, 0.0, 0.6)), (76, (0.0, 0.0, 0.0)))
    before = len(assigned_curves(rig, rig.animation_data.action))
    rig.heft.help = "NONE"
    with pytest.raises(RuntimeError, match="Nothing holds the body up in frames"):
        bpy.ops.heft.build_reference()
    assert len(assigned_curves(rig, rig.animation_data.action)) == before
    assert report_of(rig) == {}


def test_a_motion_in_the_air_is_had_with_help(rig):
    key(rig, "location", (20, (0.0, 0.0, 0.0)), (26, (0.0, 0.0, 0.6)), (70, (0.0, 0.0, 0.6)), (76, (0.0, 0.0, 0.0)))
    assert bpy.ops.heft.build_reference() == {"FINISHED"}
    assert "% of its weight from nowhere in frames" in report_of(rig)["why"]


def test_terrain_that_the_motion_is_made_for_is_what_it_stands_on(rig):
    """A floor of the scene half a metre up, and the mannequin on it."""
    rig.location.z = 0.5
    rig.heft.use_floor = False
    rig.heft.use_frame_range, rig.heft.frame_start, rig.heft.frame_end = True, 20, 60
    mark(rig, add_box("Stage", 20.0, (0.0, 0.0, -9.5)))
    assert bpy.ops.heft.build_reference() == {"FINISHED"}
    assert report_of(rig)["fit_for_control"]


def test_the_nla_has_no_place_for_keys(rig):
    rig.heft.use_frame_range, rig.heft.frame_start, rig.heft.frame_end = True, 20, 60
    data = rig.animation_data
    action, slot = data.action, data.action_slot
    strip = data.nla_tracks.new().strips.new("Walk", 1, action)
    strip.action_slot = slot
    data.action = None
    assert bpy.ops.heft.build_reference() == {"FINISHED"}
    assert report_of(rig)["fit_for_control"]
    assert data.action is None
    with pytest.raises(RuntimeError, match="has no action of its own"):
        bpy.ops.heft.find_contacts()


def test_all_of_it_is_one_step_of_undo(rig):
    rig.heft.use_frame_range, rig.heft.frame_start, rig.heft.frame_end = True, 20, 60
    bpy.ops.ed.undo_push(message="Before")
    bpy.ops.heft.build_reference()
    bpy.ops.ed.undo_push(message="After")
    bpy.ops.ed.undo()
    rig = bpy.data.objects["Mannequin"]
    assert keyed(rig) == {}
    assert report_of(rig) == {}
    bpy.ops.ed.redo()
    rig = bpy.data.objects["Mannequin"]
    assert len(keyed(rig)) == 4
    assert report_of(rig)["fit_for_control"]
