# SPDX-License-Identifier: GPL-3.0-or-later
"""What Auto Bake reads: by the short way what Bake does, and where that tells something else, by the long one."""

import time

import bpy
import numpy as np
from heft.blender_addon.baking.following import following
from heft.blender_addon.baking.gather import gather, gathering
from heft.blender_addon.baking.reader import Reader, relations_of
from heft.blender_addon.rig.mesh import Weights
from heft.blender_addon.rig.viewing import can_be_apart
from heft.blender_addon.slices import whole

from tests.blender.bake.test_following import LATER, settle
from tests.blender.scene.stage import add_box, key, mark

PATIENCE = 600.0  # s


def shortly(rig):
    (found,) = whole(gathering(bpy.context, [rig], shortly=Weights()))
    return found


def state(rig):
    flat = np.empty(4 * len(rig.pose.bones), np.float32)
    rig.pose.bones.foreach_get("rotation_quaternion", flat)
    names = [sorted(one.name for one in data) for data in (bpy.data.scenes, bpy.data.objects, bpy.data.meshes)]
    return bpy.context.scene.frame_current, flat.tobytes(), rig.animation_data.action.name, names


def same(rig):
    """Whether both ways tell the same, of the job and of what is written back."""
    (long,), short = gather(bpy.context, [rig]), shortly(rig)
    return long.job == short.job and np.array_equal(long.sampling.pose, short.sampling.pose)


def by_scene(rig):
    """A driver that asks the scene which frame it is."""
    driver = rig.pose.bones["head"].driver_add("rotation_quaternion", 1).driver
    driver.expression = "0.01 * now"
    variable = driver.variables.new()
    variable.name = "now"
    variable.targets[0].id_type, variable.targets[0].id = "SCENE", bpy.context.scene
    variable.targets[0].data_path = "frame_current"


def test_the_short_way_reads_the_same_and_leaves_everything_alone(rig):
    bpy.ops.heft.set_up()
    bpy.context.scene.frame_set(17)
    rig.data.bones.active = rig.data.bones["chest"]
    assert bpy.ops.heft.add_push(strength=30.0) == {"FINISHED"}
    box = add_box("Cart", 0.3, (3.0, 3.0, 0.1))
    key(box, "location", (1, (3.0, 3.0, 0.1)), (40, (3.5, 3.0, 0.2)))
    mark(rig, box)
    bpy.context.view_layer.objects.active = rig
    key(rig, "location", (1, (0.0, 0.0, 0.0)), (60, (0.1, 0.0, 0.0)))
    looks = rig.pose.bones["head"].constraints.new("COPY_ROTATION")
    looks.target, looks.influence = box, 0.1
    driver = rig.pose.bones["hand.L"].driver_add("rotation_quaternion", 1).driver
    driver.expression = "0.001 * frame"
    rig.pose.bones["hand.R"].rotation_quaternion = (0.9, 0.1, 0.3, 0.2)
    bpy.context.view_layer.update()
    before = state(rig)
    assert len(shortly(rig).job.scene.pushes) == 1
    assert state(rig) == before
    rig.pose.bones["hand.R"].rotation_quaternion = (0.9, 0.1, 0.3, 0.2)
    assert same(rig)
    rig.heft.use_frame_range, rig.heft.frame_start, rig.heft.frame_end = True, 5, 30
    assert same(rig)


def test_weights_are_known_until_a_mesh_changes(rig):
    bpy.ops.heft.set_up()
    weights = Weights()
    mesh = next(one for one in bpy.data.objects if one.type == "MESH")
    deforming = {bone.name for bone in rig.data.bones}
    before = weights.rows(mesh, deforming)
    assert weights.rows(mesh, deforming) is before
    mesh.vertex_groups[0].add(list(range(len(mesh.data.vertices))), 2.0, "REPLACE")
    weights.forget()
    after = weights.rows(mesh, deforming)
    assert {bone: rows.tolist() for bone, rows in after.items()} != {b: rows.tolist() for b, rows in before.items()}


def test_bodies_of_blenders_own_are_read_where_they_are(rig):
    scene = bpy.context.scene
    assert can_be_apart(scene)
    bpy.app.handlers.frame_change_post.append(lambda *_: None)
    try:
        assert not can_be_apart(scene)
    finally:
        bpy.app.handlers.frame_change_post.pop()
    bpy.ops.rigidbody.world_add()
    assert not can_be_apart(scene)


def test_what_moves_an_armature_is_told_apart(rig):
    before = relations_of(rig)
    rig.pose.bones["head"].rotation_quaternion = (0.9, 0.1, 0.3, 0.2)
    assert relations_of(rig) == before
    by_scene(rig)
    assert relations_of(rig) != before


def finished(reader):
    """What is read, in slices."""
    while (found := reader.go_on()) is None:
        pass
    return found


def test_where_the_short_way_tells_something_else_the_long_one_is_taken(rig):
    rig.heft.use_frame_range, rig.heft.frame_start, rig.heft.frame_end = True, 1, 10
    bpy.ops.heft.set_up()
    by_scene(rig)
    reader = Reader()
    assert reader.wants_check(rig)
    reader.begin(rig)
    short = finished(reader)
    reader.begin(rig, check=True)
    long = finished(reader)
    assert short.job != long.job
    (asked_for,) = gather(bpy.context, [rig])
    assert long.job == asked_for.job
    reader.note(rig, agrees=False)
    assert not reader.wants_check(rig)
    reader.begin(rig)
    assert finished(reader).job == asked_for.job


def test_what_was_read_is_checked_at_rest(rig):
    heft = rig.heft
    heft.use_frame_range, heft.frame_start, heft.frame_end = True, 1, 10
    bpy.ops.heft.set_up()
    assert same(rig)
    heft.auto_bake = True
    try:
        settle(rig)
        begun = time.monotonic()
        reader: Reader = following._reader
        while reader.wants_check(rig) or following.busy or following.waits:
            following.look(bpy.context, time.monotonic() + LATER)
            assert time.monotonic() - begun < PATIENCE
            time.sleep(0.01)
        baked = next(one for one in bpy.data.actions if one.heft.report)
        followed = [list(point.co) for curve in baked_curves(baked) for point in curve.keyframe_points]
        heft.auto_bake = False
        assert bpy.ops.heft.bake() == {"FINISHED"}
        curves = baked_curves(rig.animation_data.action)
        assert [list(point.co) for curve in curves for point in curve.keyframe_points] == followed
    finally:
        following.give_way()
        following.forget()


def baked_curves(action):
    return action.layers[0].strips[0].channelbags[0].fcurves
