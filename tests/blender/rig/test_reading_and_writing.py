# SPDX-License-Identifier: GPL-3.0-or-later
"""What is read is what Blender evaluates; what is written gives the same pose again, whatever a bone's flags."""

from itertools import product

import bpy
import numpy as np
import pytest
from heft.blender_addon import writer
from heft.blender_addon.rig import proxy
from heft.blender_addon.rig.pose_space import channels_of, euler, in_mode, pose_matrices, rest_bones
from heft.blender_addon.rig.reading import frame_numbers, read_skeleton, rotations_of, sample_armatures
from heft.core.motion import quaternions
from heft.examples import mannequin, walk
from mathutils import Euler, Matrix

from tests.blender.rig import rigs

MODES = ["QUATERNION", "AXIS_ANGLE", "XYZ", "XZY", "YXZ", "YZX", "ZXY", "ZYX"]
SCALES = ["FULL", "FIX_SHEAR", "ALIGNED", "AVERAGE", "NONE", "NONE_LEGACY"]


def make_rig(bones, name="Rig"):
    """An armature of (name, parent, head, tail, connected)."""
    rig = bpy.data.objects.new(name, bpy.data.armatures.new(name))
    bpy.context.collection.objects.link(rig)
    bpy.context.view_layer.objects.active = rig
    bpy.ops.object.mode_set(mode="EDIT")
    for bone, parent, head, tail, connected in bones:
        edit = rig.data.edit_bones.new(bone)
        edit.head, edit.tail = head, tail
        edit.roll = 0.3 * len(rig.data.edit_bones)
        if parent:
            edit.parent = rig.data.edit_bones[parent]
            edit.use_connect = connected
    bpy.ops.object.mode_set(mode="OBJECT")
    return rig


def chain_rig():
    return make_rig(
        [
            ("root", None, (0, 0, 0), (0, 0.2, 1), False),
            ("connected", "root", (0, 0.2, 1), (0, 0, 2), True),
            ("loose", "connected", (0.3, 0, 2.5), (0.3, 1, 2.5), False),
            ("tip", "loose", (0.3, 1, 2.5), (0.3, 1.5, 3.0), True),
        ]
    )


def sample(rig, frames):
    (sampling,) = sample_armatures(bpy.context.scene, bpy.context.view_layer, [rig], np.asarray(frames, dtype=float))
    return sampling


def shake(rig, frames=(1, 8, 15, 22), seed=0):
    """Keys all over the rig; large turns, so that angles wrap."""
    rng = np.random.default_rng(seed)
    for bone in rig.pose.bones:
        path = {"QUATERNION": "rotation_quaternion", "AXIS_ANGLE": "rotation_axis_angle"}.get(
            bone.rotation_mode, "rotation_euler"
        )
        for frame in frames:
            setattr(bone, path, rng.uniform(-2.5, 2.5, len(getattr(bone, path))))
            bone.keyframe_insert(path, frame=frame)
            if not bone.bone.use_connect:
                bone.location = rng.uniform(-0.5, 0.5, 3)
                bone.keyframe_insert("location", frame=frame)


def check_round_trip(rig, frames=None):
    """Action -> clip -> writer -> the same pose, to 0.05 degrees and 0.1 mm."""
    frames = frame_numbers(1, 22) if frames is None else frames
    before = sample(rig, frames)
    clip = before.clip
    pose = pose_matrices(clip.position, clip.orientation, before.object_matrix, before.unit)
    action = writer.write_action(rig, frames, pose, "Baked", keep=rig.animation_data and rig.animation_data.action)
    writer.assign_action(rig, action)
    after = sample(rig, frames).clip
    assert np.abs(after.position - clip.position).max() < 1e-4
    assert np.degrees(quaternions.angle(after.orientation, clip.orientation).max()) < 0.05
    return action


def test_reading_agrees_with_blender_at_every_frame():
    """Parent, animated object, constraint, driver, IK and a scale of 0.01, at whole and half frames."""
    rig = chain_rig()
    shake(rig)
    scene = bpy.context.scene
    scene.unit_settings.scale_length = 0.5
    scene.render.fps = 30
    carrier = bpy.data.objects.new("Carrier", None)
    target = bpy.data.objects.new("Target", None)
    for empty in (carrier, target):
        scene.collection.objects.link(empty)
        for frame in (1, 22):
            empty.location = (0.2 * frame, 1.0, 2.0)
            empty.keyframe_insert("location", frame=frame)
    carrier.scale = (0.01, 0.01, 0.01)
    rig.parent = carrier
    rig.rotation_euler = (1.57, 0.0, 0.4)
    for frame in (1, 22):
        rig.location.x = frame
        rig.keyframe_insert("location", frame=frame)
    pull = rig.pose.bones["tip"].constraints.new("IK")
    pull.target, pull.chain_count = target, 2
    driver = rig.pose.bones["loose"].driver_add("scale", 1).driver
    driver.expression = "1 + 0.01 * frame"
    rig.data.bones["tip"].inherit_scale = "NONE"

    frames = frame_numbers(1, 22, 0.5)
    sampling = sample(rig, frames)
    clip = sampling.clip
    assert clip.rate == 60.0
    assert clip.frames_per_sample == 0.5
    assert scene.frame_current == 1
    for row in (0, 7, 30, 42):
        scene.frame_set(int(frames[row]), subframe=frames[row] % 1.0)
        shown = rig.evaluated_get(bpy.context.view_layer.depsgraph)
        for column, name in enumerate(clip.skeleton.names):
            world = shown.matrix_world @ shown.pose.bones[name].matrix
            np.testing.assert_allclose(clip.position[row, column], 0.5 * np.array(world.translation), atol=1e-6)
            direction = quaternions.rotate(clip.orientation[row, column], np.array([0.0, 1.0, 0.0]))
            along = np.array(world.col[1].xyz.normalized())
            np.testing.assert_allclose(direction, along, atol=1e-5)


def test_several_armatures_in_one_pass():
    one, other = chain_rig(), make_rig([("a", None, (0, 0, 0), (0, 0, 1), False)], "Other")
    shake(one)
    shake(other, seed=3)
    seen = []
    bpy.app.handlers.frame_change_post.append(lambda scene, _graph: seen.append(scene.frame_current))
    frames = frame_numbers(1, 10)
    both = sample_armatures(bpy.context.scene, bpy.context.view_layer, [one, other], frames)
    assert seen[:10] == list(range(1, 11))
    assert len(seen) == 11  # and back to where it was
    np.testing.assert_array_equal(both[0].clip.position, sample(one, frames).clip.position)
    np.testing.assert_array_equal(both[1].clip.orientation, sample(other, frames).clip.orientation)


def test_the_assigned_slot_is_read_not_the_first():
    rig = chain_rig()
    action = bpy.data.actions.new("Two slots")
    strip = action.layers.new("Layer").strips.new(type="KEYFRAME")
    for name, height in (("First", 1.0), ("Second", 2.0)):
        slot = action.slots.new("OBJECT", name)
        curve = strip.channelbag(slot, ensure=True).fcurves.new('pose.bones["loose"].location', index=0)
        curve.keyframe_points.insert(1, height)
    rig.animation_data_create().action = action
    rig.animation_data.action_slot = action.slots[1]
    assert [curve.evaluate(1) for curve in writer.assigned_curves(rig, action)] == [2.0]
    moved = sample(rig, [1.0]).pose[0, 2, :3, 3] - np.array(rig.data.bones["loose"].matrix_local.translation)
    assert np.linalg.norm(moved) == pytest.approx(2.0, abs=1e-5)


def test_an_object_that_is_scaled_to_zero_cannot_be_read():
    with pytest.raises(ValueError, match="scaled to zero"):
        read_skeleton(chain_rig(), object_matrix=np.diag([0.0, 1.0, 1.0, 1.0]))


@pytest.mark.parametrize(
    "matrix",
    [
        Matrix.Diagonal((-1.0, 1.0, 1.0, 1.0)),
        Matrix.Diagonal((1.0, 2.0, 0.5, 1.0)),
        Matrix.Shear("XY", 4, (0.3, 0.0)),
        Matrix.Shear("XZ", 4, (0.3, -0.2)) @ Matrix.Diagonal((-1.0, 3.0, 1.0, 1.0)),
    ],
)
def test_what_is_read_and_written_under_any_object_is_the_same(matrix):
    """Heads where they are seen, and turns of bones that nothing but the object scales come back exactly."""
    rig = chain_rig()
    shake(rig)
    carrier = bpy.data.objects.new("Carrier", None)
    bpy.context.scene.collection.objects.link(carrier)
    rig.parent, rig.matrix_parent_inverse = carrier, matrix  # an object by itself cannot be sheared
    bpy.context.view_layer.update()
    np.testing.assert_allclose(np.array(rig.matrix_world), np.array(matrix), atol=1e-6)
    place = np.array(rig.matrix_world)
    frames = frame_numbers(1, 12)
    read = sample(rig, frames)
    seen = place @ read.pose
    np.testing.assert_allclose(read.clip.position, seen[..., :3, 3], atol=1e-5)
    np.testing.assert_allclose(read.clip.skeleton.tail - read.clip.skeleton.head, tails_seen(rig, place), atol=1e-5)
    back = pose_matrices(read.clip.position, read.clip.orientation, read.object_matrix)
    np.testing.assert_allclose(back[..., :3, 3], read.pose[..., :3, 3], atol=1e-5)
    turns = rotations_of(read.pose[..., :3, :3])
    np.testing.assert_allclose(back[..., :3, :3], turns, atol=2e-3)


def tails_seen(rig, place):
    """From head to tail of the bones at rest, in the world."""
    return np.array([place[:3, :3] @ (bone.tail_local - bone.head_local) for bone in rig.data.bones])


def test_skeleton_of_an_fbx_like_import_is_in_metres():
    """Bones a hundred times too long under an object scaled by 0.01."""
    rig = make_rig([("a", None, (0, 0, 0), (0, 0, 50), False), ("b", "a", (0, 0, 50), (0, 0, 80), True)])
    rig.scale = (0.01, 0.01, 0.01)
    bpy.context.view_layer.update()
    skeleton = read_skeleton(rig)
    np.testing.assert_allclose(skeleton.tail[:, 2], [0.5, 0.8], atol=1e-6)
    np.testing.assert_allclose(np.linalg.norm(skeleton.orientation, axis=1), 1.0)


@pytest.mark.parametrize("mode", MODES)
def test_round_trip_in_every_rotation_mode(mode):
    rig = chain_rig()
    for bone in rig.pose.bones:
        bone.rotation_mode = mode
    shake(rig)
    action = check_round_trip(rig)
    curves = writer.assigned_curves(rig, action)
    assert not any('"connected"].location' in curve.data_path for curve in curves)
    assert any('"loose"].location' in curve.data_path for curve in curves)
    assert {curve.group.name for curve in curves} == {"root", "connected", "loose", "tip"}


def test_round_trip_under_a_parent_with_scale_and_an_animated_object():
    rig = chain_rig()
    shake(rig)
    carrier = bpy.data.objects.new("Carrier", None)
    bpy.context.scene.collection.objects.link(carrier)
    carrier.scale, carrier.rotation_euler = (0.01,) * 3, (1.57, 0.2, 0.0)
    rig.parent = carrier
    for frame in (1, 22):
        rig.location.x = 10.0 * frame
        rig.keyframe_insert("location", frame=frame)
    action = check_round_trip(rig)
    assert any(curve.data_path == "location" for curve in writer.assigned_curves(rig, action))  # carried over


def test_round_trip_of_the_mannequins_walk():
    rig = mannequin.make_mannequin(bpy.context)
    walk.key_walk(rig, frame_start=1)
    check_round_trip(rig, frame_numbers(1, 40))


@pytest.mark.parametrize("uneven", [False, True])
def test_channels_agree_with_blender_for_all_flags(uneven):
    """Blender's own pose of random channels, taken apart again."""
    rng = np.random.default_rng(1)
    rig = make_rig([("root", None, (0, 0, 0.2), (0.1, 0.3, 0.8), False)])
    bpy.ops.object.mode_set(mode="EDIT")
    for number, (rotation, scale, location) in enumerate(product([True, False], SCALES, [True, False])):
        edit = rig.data.edit_bones.new(f"b{number}")
        edit.head = rng.normal(size=3)
        edit.tail = np.array(edit.head) + rng.normal(size=3)
        edit.parent = rig.data.edit_bones["root"]
        edit.use_inherit_rotation, edit.inherit_scale, edit.use_local_location = rotation, scale, location
    bpy.ops.object.mode_set(mode="OBJECT")
    for bone in rig.pose.bones:
        bone.rotation_quaternion = quaternions.normalize(rng.normal(size=4))
        bone.location = rng.normal(size=3)
    rig.pose.bones["root"].scale = (1.3, 0.7, 1.1) if uneven else (1.2, 1.2, 1.2)
    bpy.context.view_layer.update()
    bones = rest_bones(rig)
    pose = np.array([[np.array(rig.pose.bones[bone.name].matrix) for bone in bones]])
    for bone, channels in zip(bones, channels_of(bones, pose), strict=True):
        posed = rig.pose.bones[bone.name]
        between = quaternions.angle(channels.rotation[0], np.array(posed.rotation_quaternion))
        assert between < 1e-4, bone
        np.testing.assert_allclose(channels.location[0], posed.location, atol=1e-5, err_msg=str(bone))
        np.testing.assert_allclose(channels.scale[0], posed.scale, atol=1e-5, err_msg=str(bone))


@pytest.mark.parametrize("order", MODES[2:])
def test_euler_angles_against_mathutils(order):
    rng = np.random.default_rng(2)
    angles = rng.uniform(-3.0, 3.0, (100, 3))
    angles[:3] = [[0.3, np.pi / 2, 0.1], [np.pi / 2, 0.2, 0.1], [0.2, 0.3, -np.pi / 2]]  # two of them locked
    rotation = np.array([np.array(Euler(row, order).to_matrix()) for row in angles])
    again = np.array([np.array(Euler(row, order).to_matrix()) for row in euler(rotation, order)])
    np.testing.assert_allclose(again, rotation, atol=2e-5)


@pytest.mark.parametrize("mode", MODES)
def test_channels_do_not_jump(mode):
    """Three turns about an axis that stays away from every order's lock."""
    angle = np.linspace(0.0, 6.0 * np.pi, 400)
    axis = np.array([0.1, 0.2, 1.0]) if mode[0] == "Z" or mode[-1] == "Z" else np.array([1.0, 0.1, 0.2])
    turns = quaternions.exp(angle[:, None] * axis / np.linalg.norm(axis))
    channels = in_mode(quaternions.matrix(turns), mode)
    assert np.abs(np.diff(channels, axis=0)).max() < 0.1


def test_rotations_of_sheared_matrices_are_the_nearest():
    rng = np.random.default_rng(3)
    matrices = rng.normal(size=(50, 3, 3))
    matrices[np.linalg.det(matrices) < 0.0] *= -1.0
    rotations = rotations_of(matrices)
    np.testing.assert_allclose(np.swapaxes(rotations, 1, 2) @ rotations, np.tile(np.eye(3), (50, 1, 1)), atol=1e-12)
    stretch = np.swapaxes(rotations, 1, 2) @ matrices  # of the polar decomposition: symmetric
    np.testing.assert_allclose(stretch, np.swapaxes(stretch, 1, 2), atol=1e-12)


def test_only_the_named_bones_are_keyed_and_other_curves_stay():
    rig = chain_rig()
    shake(rig)
    rig["face"] = 0.0
    rig.keyframe_insert('["face"]', frame=5)
    frames = frame_numbers(1, 22)
    before = sample(rig, frames)
    source = rig.animation_data.action
    action = writer.write_action(rig, frames, before.pose, "Part", bones={"root"}, keep=source)
    writer.assign_action(rig, action)
    counts = {curve.data_path: len(curve.keyframe_points) for curve in writer.assigned_curves(rig, action)}
    assert counts['pose.bones["root"].rotation_quaternion'] == 22
    assert counts['pose.bones["tip"].rotation_quaternion'] == 4
    assert counts['["face"]'] == 1
    np.testing.assert_allclose(sample(rig, frames).pose, before.pose, atol=1e-5)


def test_a_proxy_of_a_constrained_rig_moves_alike(rigify_file):
    rig = rigs.open_rigify(rigify_file)
    rig.scale = (0.5, 0.5, 0.5)
    for name, shift in (("torso", 0.1), ("foot_ik.L", -0.2), ("hand_ik.R", 0.3)):
        bone = rig.pose.bones[name]
        for frame in (1, 9):
            bone.location = (shift * frame / 9, 0.05 * frame, -shift)
            bone.keyframe_insert("location", frame=frame)
    assert proxy.is_driven(rig)
    made = proxy.make_proxy(bpy.context, rig)
    assert not proxy.is_driven(made)
    frames = frame_numbers(1, 9)
    source = sample(rig, frames)
    columns = proxy.columns_of(rig, made)
    writer.assign_action(made, writer.write_action(made, frames, source.pose[:, columns], "Baked"))
    baked = sample(made, frames).clip
    assert np.abs(baked.position - source.clip.position[:, columns]).max() < 1e-4
    between = quaternions.angle(baked.orientation, source.clip.orientation[:, columns])
    assert np.degrees(between.max()) < 0.05
    assert len(made.data.bones) < 200 < len(rig.data.bones)
