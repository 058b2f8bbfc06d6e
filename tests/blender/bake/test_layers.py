# SPDX-License-Identifier: GPL-3.0-or-later
"""Bakes that lie over their source in the NLA: at influence 0 it is the source, at 1 the bake, and hand keys stay."""

import bpy
import numpy as np
import pytest
from heft.blender_addon.baking.gather import gather
from heft.blender_addon.baking.layers import nearest_euler
from heft.blender_addon.baking.output import write
from heft.blender_addon.baking.source import play, source_of
from heft.blender_addon.baking.stack import stack_of
from heft.blender_addon.controls.combining import as_combined, settled
from heft.blender_addon.rig.reading import sample_armatures
from heft.blender_addon.writer import new_action, write_curve
from heft.core.motion import quaternions
from mathutils import Euler

from tests.blender.bake.keyed import disturbed
from tests.blender.bake.test_controls import curves

FRAMES = np.arange(1.0, 106.0, 8.0)


def poses(rig):
    (found,) = sample_armatures(bpy.context.scene, bpy.context.view_layer, [rig], FRAMES)
    return found.pose


def bake(rig, layer, seed=0):
    rig.heft.layer = layer
    (found,) = gather(bpy.context, [rig])
    write(bpy.context, rig, found, disturbed(found.job, seed=seed))


def hand_key(rig, bone="head", angle=0.5):
    """Turn a bone by hand above the layer, as auto-keying does."""
    action = bpy.data.actions.new("By Hand")
    slot = action.slots.new("OBJECT", rig.name)
    bag = action.layers.new("Layer").strips.new(type="KEYFRAME").channelbag(slot, ensure=True)
    for index, value in enumerate(quaternions.exp(np.array([0.0, 0.0, angle]))):
        bag.fcurves.new(f'pose.bones["{bone}"].rotation_quaternion', index=index).keyframe_points.insert(1, value)
    rig.animation_data.action, rig.animation_data.action_slot = action, slot
    return action


def test_what_combine_makes_of_small_differences_is_known(rig):
    """Blender's own evaluation beside `as_combined`: the same, though neither is what was wanted."""
    rng = np.random.default_rng(2)
    count = 60
    frames = np.arange(1.0, count + 1.0)
    size = np.geomspace(1e-4, 0.3, count)[:, None]  # rad
    base = quaternions.normalize(rng.normal(size=(count, 4)).astype(np.float32).astype(np.float64))
    wanted = quaternions.multiply(base, quaternions.exp(size * quaternions.normalize(rng.normal(size=(count, 3)))))
    strips = [base, settled(quaternions.multiply(quaternions.conjugate(base), wanted))]
    animation = rig.animation_data
    animation.action = None
    rig.pose.bones["head"].rotation_mode = "QUATERNION"
    for values, blend in zip(strips, ("REPLACE", "COMBINE"), strict=True):
        action, bag = new_action("Strip", rig.name)
        for index in range(4):
            write_curve(bag, 'pose.bones["head"].rotation_quaternion', index, "head", frames, values[:, index])
        strip = animation.nla_tracks.new().strips.new("Strip", 1, action)
        strip.action_slot, strip.blend_type = action.slots[0], blend
    found = np.empty((count, 4))
    for row, frame in enumerate(frames):
        bpy.context.scene.frame_set(int(frame))
        found[row] = rig.evaluated_get(bpy.context.evaluated_depsgraph_get()).pose.bones["head"].rotation_quaternion

    def apart(one, other):  # rad; acos would know no small angles here either
        return 2.0 * np.linalg.norm(quaternions.multiply(quaternions.conjugate(one), other)[:, 1:], axis=1)

    found = quaternions.normalize(found)
    assert apart(as_combined(base, wanted), found).max() < 2e-6
    assert apart(wanted, found).max() > 1e-4


@pytest.fixture
def walking(rig):
    rig.pose.bones["head"].rotation_mode = "QUATERNION"
    rig.pose.bones["hand.L"].location = (0.0, 0.0, 0.0)
    source = rig.animation_data.action
    return rig, source, poses(rig), curves(source)


@pytest.mark.parametrize("layer", ["REPLACE", "COMBINE"])
@pytest.mark.parametrize("mode", ["QUATERNION", "XYZ", "AXIS_ANGLE"])
def test_influence_goes_from_the_source_to_the_bake(walking, layer, mode):
    rig, source, before, keys = walking
    for bone in rig.pose.bones:
        bone.rotation_mode = mode
    before = poses(rig)
    bake(rig, "ACTION")
    baked = poses(rig)
    assert np.abs(baked - before).max() > 0.05
    bake(rig, layer)
    stack = stack_of(rig)
    assert rig.animation_data.action is None
    assert (stack.strip.blend_type, [action for action in stack.below if action == source]) == (
        layer,
        [source],
    )
    # Blender combines quaternions by angles that it takes from their cosines, to a hundredth of a degree at best
    combined = layer == "COMBINE" and mode == "QUATERNION"
    np.testing.assert_allclose(poses(rig), baked, atol=3e-4 if combined else 2e-5)
    stack.strip.influence = 0.0
    np.testing.assert_allclose(poses(rig), before, atol=2e-5)
    stack.strip.influence = 0.5
    assert np.abs(poses(rig) - before).max() > 0.02
    assert np.abs(poses(rig) - baked).max() > 0.02
    assert curves(source) == keys


@pytest.mark.parametrize("layer", ["REPLACE", "COMBINE"])
def test_a_new_bake_replaces_its_own_layer_and_keeps_hand_keys(walking, layer):
    rig, source, before, keys = walking
    bake(rig, layer)
    by_hand = hand_key(rig)
    stack_of(rig).strip.influence = 0.75
    first = poses(rig)
    held = curves(by_hand)
    bake(rig, layer, seed=1)
    assert rig.animation_data.action == by_hand
    assert (curves(by_hand), curves(source)) == (held, keys)
    assert len(rig.animation_data.nla_tracks) == len(stack_of(rig).tracks)
    assert stack_of(rig).strip.influence == 0.75
    assert len([action for action in bpy.data.actions if action.heft.is_layer]) == 1
    assert np.abs(poses(rig) - first).max() > 0.02
    stack_of(rig).strip.influence = 0.0
    rig.animation_data.action = None
    np.testing.assert_allclose(poses(rig), before, atol=2e-5)


def test_the_same_job_with_a_layer_and_hand_keys_above(walking):
    """What is simulated again is the source, not what lies over it."""
    rig, *_ = walking
    (plain,) = gather(bpy.context, [rig])
    bake(rig, "COMBINE")
    hand_key(rig)
    (again,) = gather(bpy.context, [rig])
    np.testing.assert_allclose(again.job.clip.position, plain.job.clip.position, atol=1e-6)
    assert again.source.uid == plain.source.uid


def test_back_to_an_action_of_its_own(walking):
    rig, source, *_ = walking
    bake(rig, "ACTION")
    baked = poses(rig)
    bake(rig, "REPLACE")
    bake(rig, "ACTION")
    np.testing.assert_allclose(poses(rig), baked, atol=1e-5)
    assert stack_of(rig) is None
    assert len(rig.animation_data.nla_tracks) == 0
    assert rig.animation_data.action.heft.source == source


@pytest.mark.parametrize("layer", ["REPLACE", "COMBINE"])
def test_merging_down_moves_nothing(walking, layer):
    rig, source, _, keys = walking
    bake(rig, layer)
    by_hand = hand_key(rig)
    stack_of(rig).strip.influence = 0.5
    shown = poses(rig)
    assert bpy.ops.heft.merge_down() == {"FINISHED"}
    merged = rig.animation_data.action
    assert merged.name == f"{source.name} Merged"
    assert len(rig.animation_data.nla_tracks) == 0
    np.testing.assert_allclose(poses(rig), shown, atol=2e-5)
    assert curves(source) == keys
    assert by_hand.name in bpy.data.actions
    with pytest.raises(RuntimeError, match="has no layer"):
        bpy.ops.heft.merge_down()


def test_undone_at_once_and_kept_in_files(walking, tmp_path):
    rig, _, before, _ = walking
    bpy.ops.ed.undo_push(message="before")
    bake(rig, "COMBINE")
    bpy.ops.ed.undo_push(message="baked")
    bpy.ops.ed.undo()
    rig = bpy.data.objects["Mannequin"]
    assert stack_of(rig) is None
    assert rig.animation_data.action == bpy.data.actions["Walk"]
    np.testing.assert_allclose(poses(rig), before, atol=1e-6)
    bake(rig, "COMBINE")
    hand_key(rig)
    shown = poses(rig)
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "layer.blend"))
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "layer.blend"))
    rig = bpy.data.objects["Mannequin"]
    np.testing.assert_allclose(poses(rig), shown, atol=1e-6)
    assert stack_of(rig).strip.action.heft.source.name == "Walk"


def from_file(path, *, linked):
    """The mannequin of a file in a new one."""
    bpy.ops.wm.read_homefile(use_empty=True)
    bpy.context.scene.render.fps, bpy.context.scene.frame_end = 24, 105
    with bpy.data.libraries.load(str(path), link=linked) as (_, asked):
        asked.objects = ["Mannequin"]
    (found,) = asked.objects
    found = found.override_create(remap_local_usages=True) if linked else found
    bpy.context.scene.collection.objects.link(found)
    bpy.context.view_layer.objects.active = found
    return found


@pytest.mark.parametrize("layer", ["REPLACE", "COMBINE"])
def test_appended_with_all_its_layers(walking, tmp_path, layer):
    rig, _, before, _ = walking
    bake(rig, layer)
    baked = poses(rig)
    hand_key(rig)
    shown = poses(rig)
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "layer.blend"))
    rig = from_file(tmp_path / "layer.blend", linked=False)
    np.testing.assert_allclose(poses(rig), shown, atol=1e-6)
    rig.animation_data.action = None
    np.testing.assert_allclose(poses(rig), baked, atol=1e-6)
    stack_of(rig).strip.influence = 0.0
    np.testing.assert_allclose(poses(rig), before, atol=2e-5)
    bake(rig, layer)
    np.testing.assert_allclose(poses(rig), before, atol=2e-5)  # it keeps the influence that it was given
    stack_of(rig).strip.influence = 1.0
    np.testing.assert_allclose(poses(rig), baked, atol=3e-4)


@pytest.mark.parametrize("layer", ["REPLACE", "COMBINE"])
def test_a_library_override_has_a_layer_of_its_own(walking, tmp_path, layer):
    rig, _, before, _ = walking
    bake(rig, "ACTION")
    baked = poses(rig)
    play(rig, source_of(rig))
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "library.blend"))
    rig = from_file(tmp_path / "library.blend", linked=True)
    assert rig.override_library is not None
    np.testing.assert_allclose(poses(rig), before, atol=1e-6)
    bake(rig, layer)
    np.testing.assert_allclose(poses(rig), baked, atol=3e-4)
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "shot.blend"))
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "shot.blend"))
    rig = next(found for found in bpy.data.objects if found.override_library)
    np.testing.assert_allclose(poses(rig), baked, atol=3e-4)
    stack_of(rig).strip.influence = 0.0
    np.testing.assert_allclose(poses(rig), before, atol=2e-5)
    assert all(action.library is None for action in bpy.data.actions if action.heft.is_layer)


def test_nearest_angles_are_the_same_rotations():
    rng = np.random.default_rng(0)
    for order in ("XYZ", "ZXY", "YXZ", "ZYX"):
        angles, base = rng.uniform(-9.0, 9.0, (2, 50, 3))
        found = nearest_euler(angles, base, order)
        assert (np.abs(found - base).sum(axis=1) <= np.abs(angles - base).sum(axis=1) + 1e-9).all()
        for one, other in zip(angles, found, strict=True):
            turns = [np.array(Euler(each, order).to_matrix()) for each in (one, other)]
            np.testing.assert_allclose(*turns, atol=1e-5)
