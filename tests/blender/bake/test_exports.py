# SPDX-License-Identifier: GPL-3.0-or-later
"""A bake leaves Blender by its own exporters and comes back the same: for games, and for animation libraries."""

import bpy
import numpy as np
import pytest
from heft.blender_addon.baking.gather import gather
from heft.blender_addon.baking.output import write
from heft.blender_addon.rig.reading import sample_armatures

from tests.blender.bake.keyed import disturbed

FRAMES = 105


def heads(rig, first=1.0):
    """Heads of bones in the world (nf, nb, 3), by the bones' names in order."""
    frames = first + np.arange(FRAMES)
    (found,) = sample_armatures(bpy.context.scene, bpy.context.view_layer, [rig], frames)
    order = np.argsort([bone.name for bone in rig.data.bones])
    return found.clip.position[:, order], sorted(bone.name for bone in rig.data.bones)


def bake(rig, name="CONTROLS"):
    rig.heft.output = name
    (found,) = gather(bpy.context, [rig])
    write(bpy.context, rig, found, disturbed(found.job))


def exported(kind, path):
    if kind == "gltf":
        bpy.ops.export_scene.gltf(
            filepath=str(path), export_animation_mode="ACTIVE_ACTIONS", export_force_sampling=True
        )
    else:
        bpy.ops.export_scene.fbx(
            filepath=str(path),
            add_leaf_bones=False,
            bake_anim_use_all_actions=False,
            bake_anim_use_nla_strips=False,
            bake_anim_simplify_factor=0.0,
        )


def imported(kind, path):
    before = set(bpy.data.objects)
    if kind == "gltf":
        bpy.ops.import_scene.gltf(filepath=str(path))
    else:
        bpy.ops.import_scene.fbx(filepath=str(path), automatic_bone_orientation=False)
    (found,) = [one for one in set(bpy.data.objects) - before if one.type == "ARMATURE"]
    return found


@pytest.mark.parametrize("reduce", [False, True])
@pytest.mark.parametrize("kind", ["gltf", "fbx"])
def test_poses_are_the_same_after_export_and_import(rig, tmp_path, kind, reduce):
    rig.heft.reduce = reduce
    bake(rig)
    asked, names = heads(rig)
    for other in list(bpy.data.objects):
        other.select_set(other == rig)
    path = tmp_path / f"bake.{'glb' if kind == 'gltf' else 'fbx'}"
    exported(kind, path)
    again = imported(kind, path)
    first = float(again.animation_data.action.frame_range[0])
    there, found = heads(again, first)
    assert found == names
    assert bpy.context.scene.render.fps == 24
    np.testing.assert_allclose(there, asked, atol=1e-3)


def test_a_bake_is_marked_as_an_asset_where_that_is_wanted(rig):
    bake(rig, "ACTION")
    assert rig.animation_data.action.asset_data is None
    rig.heft.mark_asset = True
    name = rig.animation_data.action.name
    bake(rig, "ACTION")
    assert rig.animation_data.action.asset_data is not None
    assert rig.animation_data.action.name == name
    bake(rig, "ACTION")
    assert [one.name for one in bpy.data.actions if one.asset_data] == [name]
