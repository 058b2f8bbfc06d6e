# SPDX-License-Identifier: GPL-3.0-or-later
"""Add Supports: what a bake rested on becomes objects, in its place, and the next bake uses those."""

import json

import bpy
import numpy as np
import pytest
from heft.blender_addon.scene.supports import label
from heft.core.contact.terrain import Mesh, Plane
from heft.examples import beginners

from tests.blender.scene.stage import scene_of

pytestmark = pytest.mark.usefixtures("heft_registered")

SEAT = {
    "kind": "seat",
    "text": "a seat 45 cm high under the hips",
    "frames": [20.0, 60.0],
    "objects": [{"name": "Seat", "place": [1.0, 2.0, 0.1], "turn": 0.5, "size": [0.5, 0.4, 0.45]}],
    "grabs": [],
}
BAR = {
    "kind": "bar",
    "text": "a bar 2 m high in the hands",
    "frames": [10.0, 31.0],
    "objects": [{"name": "Bar", "place": [0.0, 0.0, 2.0], "turn": 0.0, "size": [1.0, 0.03, 0.03]}],
    "grabs": [{"bone": "hand.L", "place": [0.2, 0.0, 2.0], "frames": [10.4, 30.6]}],
}
DEEP = {
    "kind": "ground",
    "text": "2 steps of 17 cm",
    "frames": [1.0, 40.0],
    "objects": [
        {"name": "Step 1", "place": [0.0, 0.0, -0.5], "turn": 0.0, "size": [1.0, 1.0, 0.17]},
        {"name": "Step 2", "place": [1.0, 0.0, -0.5], "turn": 0.0, "size": [1.0, 1.0, 0.34]},
        {"name": "Floor", "place": [0.0, 0.0, -0.6], "turn": 0.0, "size": [9.0, 9.0, 0.1]},
    ],
    "grabs": [],
}


def told(rig, *supports):
    """A report as a bake leaves it."""
    figures = ("upright_seconds", "simulated_seconds", "joint_rms_deg", "root_rms_m", "max_foot_slide_m")
    report = dict.fromkeys((*figures, "peak_torque_nm"), 0.0)
    report |= {"outcome": "completed", "why": "Stayed up.", "when": "2030-01-01 12:00", "action": ""}
    rig.heft.report = json.dumps(report | {"supports": list(supports)})


def bake(rig):
    bpy.context.view_layer.objects.active = rig
    rig.select_set(True)
    assert bpy.ops.heft.bake() == {"FINISHED"}
    return json.loads(rig.heft.report)


def heads(rig):
    """Of all bones, over the frames of the scene."""
    found = []
    for frame in range(bpy.context.scene.frame_start, bpy.context.scene.frame_end + 1, 3):
        bpy.context.scene.frame_set(frame)
        found.append([tuple(rig.matrix_world @ bone.head) for bone in rig.pose.bones])
    return np.array(found)


def test_who_sat_on_air_sits_on_the_seat_that_is_added():
    rig = beginners.key(bpy.context, "sit down on air")
    before = set(bpy.data.objects)
    report = bake(rig)
    assert report["outcome"] == "completed"
    assert report["help_max"] < 0.001  # 107 % without a seat
    assert [support["kind"] for support in report["supports"]] == ["seat"]
    assert any("a seat 40 cm high" in note for note in report["notes"])
    guessed = heads(rig)
    assert bpy.ops.heft.add_supports() == {"FINISHED"}
    (seat,) = set(bpy.data.objects) - before
    assert seat.name in rig.heft.terrain.objects
    assert bpy.context.active_object == rig
    assert bpy.ops.heft.add_supports() == {"CANCELLED"}  # it is there
    again = bake(rig)
    assert again["supports"] == []
    assert again["help_max"] < 0.001
    np.testing.assert_allclose(heads(rig), guessed, atol=0.002)


@pytest.mark.parametrize("scale_length", [1.0, 0.01])
def test_objects_stand_in_the_world_whatever_the_armature_is_like(rig, scale_length):
    bpy.context.scene.unit_settings.scale_length = scale_length
    rig.scale, rig.rotation_euler.z, rig.location = (3.0,) * 3, 1.0, (5.0, -2.0, 0.5)
    bpy.context.view_layer.update()
    told(rig, SEAT)
    assert bpy.ops.heft.add_supports() == {"FINISHED"}
    unit = scale_length * rig.heft.scale
    seat = bpy.data.objects["Seat"]
    bpy.context.view_layer.update()
    corners = unit * np.array([seat.matrix_world @ vertex.co for vertex in seat.data.vertices])
    assert corners[:, 2].min() == pytest.approx(0.1, abs=1e-5)
    assert corners[:, 2].max() == pytest.approx(0.55, abs=1e-5)
    np.testing.assert_allclose(corners[:, :2].mean(axis=0), (1.0, 2.0), atol=1e-5)
    along = np.array([np.cos(0.5), np.sin(0.5)])
    assert np.ptp(corners[:, :2] @ along) == pytest.approx(0.5, abs=1e-5)
    # faces look outwards
    center = np.mean([vertex.co for vertex in seat.data.vertices], axis=0)
    assert all(np.dot(face.normal, np.array(face.center) - center) > 0.0 for face in seat.data.polygons)
    # as ground they are where the bake had them
    floor, mesh = scene_of(rig).surfaces
    assert isinstance(floor, Plane)
    assert isinstance(mesh, Mesh)
    np.testing.assert_allclose(sorted(mesh.vertices.tolist()), sorted(corners.tolist()), atol=1e-5)


def test_hands_hold_on_to_a_bar_by_grabs(rig):
    told(rig, BAR)
    assert bpy.ops.heft.add_supports() == {"FINISHED"}
    (empty,) = [other for other in bpy.data.objects if other.type == "EMPTY"]
    assert (empty.heft.grab.armature, empty.heft.grab.bone) == (rig, "hand.L")
    assert tuple(empty.location) == pytest.approx((0.2, 0.0, 2.0))
    on = []
    for frame in range(8, 34):
        bpy.context.scene.frame_set(frame)
        on += [frame] if empty.heft.grab.holding else []
    assert (on[0], on[-1], len(on)) == (11, 30, 20)
    assert rig.heft.terrain is None  # a bar is inside the hands: nothing to stand on
    assert "Bar" in bpy.context.scene.objects
    assert len(scene_of(rig).grabs) == 1


def test_a_floor_that_is_lower_takes_the_place_of_the_level_one(rig):
    told(rig, DEEP)
    assert bpy.ops.heft.add_supports() == {"FINISHED"}
    assert not rig.heft.use_floor
    assert all(isinstance(surface, Mesh) for surface in scene_of(rig).surfaces)


def test_with_nothing_to_add_it_says_so(rig):
    assert bpy.ops.heft.add_supports() == {"CANCELLED"}
    told(rig)
    assert bpy.ops.heft.add_supports() == {"CANCELLED"}
    assert rig.heft.terrain is None


def test_the_button_says_what_it_adds():
    assert label([SEAT]) == "Add the Seat"
    assert label([DEEP | {"objects": DEEP["objects"][:1]}]) == "Add the Ground"
    assert label([DEEP, SEAT, BAR, BAR]) == "Add the 2 Steps, the Seat and 2 Bars"
