# SPDX-License-Identifier: GPL-3.0-or-later
"""The mannequin walks along a curve, and to where an object is."""

import json

import bpy
import numpy as np
import pytest
from heft.blender_addon.baking.gather import gather
from heft.blender_addon.properties import automatic

NEAR = 0.15  # m, as which the hips of who stands at a place count


def hips(rig):
    """Where they are, on the ground."""
    graph = bpy.context.evaluated_depsgraph_get()
    return np.array(rig.evaluated_get(graph).matrix_world @ rig.evaluated_get(graph).pose.bones["pelvis"].head)[:2]


def curve_through(places, kind="POLY"):
    data = bpy.data.curves.new("Way", "CURVE")
    data.dimensions = "3D"
    spline = data.splines.new(kind)
    points = spline.points
    points.add(len(places) - 1)
    for point, (x, y) in zip(points, places, strict=True):
        point.co = (x, y, 0.0, 1.0)
    spline.use_endpoint_u = True
    curve = bpy.data.objects.new("Way", data)
    bpy.context.scene.collection.objects.link(curve)
    return curve


def bake(rig):
    rig.select_set(True)
    bpy.context.view_layer.objects.active = rig
    assert bpy.ops.heft.bake() == {"FINISHED"}
    return json.loads(rig.heft.report)


def test_it_walks_along_a_thick_curve_that_was_moved_and_stands_at_its_end(rig):
    curve = curve_through([(0.0, 0.0), (0.0, -2.0), (1.0, -3.0)], "NURBS")
    curve.location, curve.data.bevel_depth = (1.0, 2.0, 0.0), 0.2
    rig.heft.path = curve
    report = bake(rig)
    assert report["outcome"] == "completed"
    assert report["help_max"] == 0.0
    first, last = rig.animation_data.action.frame_range
    assert last - first > 60  # frames: 3.4 m take more than 2.5 s
    bpy.context.scene.frame_set(round(first))
    assert np.linalg.norm(hips(rig) - [1.0, 2.0]) < NEAR
    bpy.context.scene.frame_set(round(last))
    assert np.linalg.norm(hips(rig) - [2.0, -1.0]) < NEAR
    bpy.context.scene.frame_set(round(last) - 6)
    before = hips(rig)
    bpy.context.scene.frame_set(round(last))
    assert np.linalg.norm(hips(rig) - before) < 0.02


def test_a_slower_walk_along_it_takes_longer(rig):
    rig.heft.path = curve_through([(0.0, 0.0), (0.0, -2.5)])
    lengths = []
    for speed in (1.2, 0.6):
        rig.heft.path_speed = speed
        rig.heft.source_action = bpy.data.actions[0]
        assert bake(rig)["outcome"] == "completed"
        lengths.append(np.ptp(rig.animation_data.action.frame_range))
    assert lengths[1] > 1.5 * lengths[0]


def test_it_walks_to_where_a_target_goes(rig):
    target = bpy.data.objects.new("Goal", None)
    bpy.context.scene.collection.objects.link(target)
    for frame, place in ((1, (0.0, -3.0, 0.0)), (60, (2.0, -3.0, 0.0))):
        target.location = place
        target.keyframe_insert("location", frame=frame)
    bpy.context.scene.frame_end = 150
    rig.heft.target = target
    assert bake(rig)["outcome"] == "completed"
    bpy.context.scene.frame_set(round(rig.animation_data.action.frame_range[1]))
    assert np.linalg.norm(hips(rig) - [2.0, -3.0]) < 2.0 * NEAR


def test_between_two_splines_it_waits_and_is_steered_for_that(rig):
    curve = curve_through([(0.0, 0.0), (0.0, -3.0)])
    other = curve.data.splines.new("POLY")
    other.points.add(2)
    for point, (x, y) in zip(other.points, [(0.0, -3.5), (0.0, -5.0), (1.0, -6.0)], strict=True):
        point.co = (x, y, 0.0, 1.0)
    rig.heft.path = curve
    (job,) = (one.job for one in gather(bpy.context, [rig]))
    assert not job.path.waits
    assert not automatic.signs_of(rig).waits
    rig.heft.path_wait = 2.0
    (job,) = (one.job for one in gather(bpy.context, [rig]))
    assert (job.path.stops, job.path.wait) == ((1,), 2.0)
    np.testing.assert_allclose(job.path.places[1], [0.0, -3.0], atol=1e-6)
    assert automatic.signs_of(rig).waits
    assert automatic.chosen_for(rig).method.name == job.method == "steering"


def test_a_target_is_followed_over_level_ground_alone(rig):
    rig.heft.target = bpy.data.objects.new("Goal", None)
    bpy.context.scene.collection.objects.link(rig.heft.target)
    rig.heft.target.location = (0.0, -3.0, 0.0)
    assert automatic.chosen_for(rig).method.name == "steering"
    (job,) = (one.job for one in gather(bpy.context, [rig]))
    assert job.path.target_at(0.0) == pytest.approx((0.0, -3.0))
    rig.heft.terrain = bpy.data.collections.new("Ground")
    assert automatic.chosen_for(rig).method.name == "lookahead"


def test_the_button_draws_a_path_ahead(rig):
    bpy.ops.heft.set_up()
    assert bpy.ops.heft.add_path() == {"FINISHED"}
    assert rig.heft.path.type == "CURVE"
    ends = [np.array(point.co) for point in rig.heft.path.data.splines[0].bezier_points]
    assert np.linalg.norm(ends[-1] - ends[0]) == pytest.approx(4.0, abs=1e-4)


def test_a_curve_without_points_is_told(rig):
    rig.heft.path = curve_through([(0.0, 0.0)])
    with pytest.raises(RuntimeError, match="Way"):
        bpy.ops.heft.bake()


def test_a_speed_that_is_keyed_to_nothing_is_told(rig):
    rig.heft.path = curve_through([(0.0, 0.0), (0.0, -2.5)])
    for frame, speed in ((1, 1.0), (30, 0.0)):
        rig.heft.path_speed = speed
        rig.keyframe_insert("heft.path_speed", frame=frame)
    with pytest.raises(RuntimeError, match="Path Speed is 0"):
        bpy.ops.heft.bake()
    assert rig.heft.report == "" or "Path Speed" in rig.heft.report
