# SPDX-License-Identifier: GPL-3.0-or-later
"""The way over the ground on a root bone or taken off, and by Blender's exporters to games and back."""

import bpy
import numpy as np
import pytest
from heft.blender_addon.baking.output import write
from heft.blender_addon.baking.root_motion import Choice, way_of
from heft.blender_addon.rig.reading import frame_numbers, sample_armatures
from heft.core.motion import quaternions
from heft.examples import mannequin, walk
from mathutils import Matrix

from tests.blender.bake.keyed import result_of
from tests.blender.bake.test_motion_from import add_armature, given, sampled
from tests.core.motion.skeletons import rooted

LAST = 60
UP = np.array([0.0, 0.0, 1.0])


@pytest.fixture
def walker(heft_enabled):
    """A rig with a root bone on the ground, on which the mannequin's walk is baked."""
    bpy.context.scene.render.fps = 24
    made = mannequin.make_mannequin(bpy.context)
    walk.key_walk(made)
    rig = add_armature(rooted(), "Hero")
    found = given(rig, made, LAST)
    bpy.data.actions.remove(made.animation_data.action)
    bpy.data.objects.remove(made)
    return rig, found


def baked(walker, kind, **options):
    rig, found = walker
    rig.heft.root_motion = kind
    for name, value in options.items():
        setattr(rig.heft, name, value)
    write(bpy.context, rig, found, result_of(found.job))
    return sampled(rig, frame_numbers(1.0, LAST))


def place(clip, name):
    return clip.position[:, clip.skeleton.index(name)]


def test_the_way_of_a_known_motion():
    """Straight on at 1 m/s, then along a circle: the way is that, without the bobbing of the hips."""
    time = np.arange(400) / 100.0
    for rate in (0.0, 0.5):
        heading = rate * time
        hips = np.tile(np.eye(4), (len(time), 1, 1))
        hips[:, :3, :3] = quaternions.matrix(quaternions.exp(heading[:, None] * UP))
        ahead = np.column_stack([np.cos(heading), np.sin(heading), np.zeros_like(heading)])
        way = np.cumsum(ahead, axis=0) / 100.0
        hips[:, :3, 3] = way + [[0.0, 0.0, 1.0]] + 0.03 * np.sin(12.0 * time)[:, None] * UP
        found = way_of(hips, UP, 100.0, Choice("ROOT", turns=True, rises=False))
        inner = slice(60, -60)
        away = np.diff(found @ np.array([*way[0], 1.0]), axis=0)[inner, :3] * 100.0
        np.testing.assert_allclose(np.linalg.norm(away, axis=1), 1.0, atol=0.02)
        np.testing.assert_allclose(away[:, 2], 0.0, atol=1e-9)
        turns = quaternions.from_matrix(found[inner, :3, :3])
        turned = quaternions.angle(turns[0], turns[-1])
        np.testing.assert_allclose(turned, rate * (time[inner][-1] - time[inner][0]), atol=1e-6)
    still = way_of(hips, UP, 100.0, Choice("ROOT", turns=False, rises=False))
    np.testing.assert_allclose(still[:, :3, :3], np.tile(np.eye(3), (len(time), 1, 1)), atol=1e-12)


def test_the_root_takes_the_way_and_no_bone_moves(walker):
    plain = baked(walker, "NONE")
    moved = baked(walker, "ROOT")
    body = [i for i, name in enumerate(plain.skeleton.names) if name != "master"]
    np.testing.assert_allclose(moved.position[:, body], plain.position[:, body], atol=1e-4)
    np.testing.assert_allclose(place(plain, "master"), 0.0, atol=1e-6)
    root, hips = place(moved, "master"), place(moved, "pelvis")
    np.testing.assert_allclose(root[:, 2], 0.0, atol=1e-5)
    along = (hips - hips[0])[:, :2] - (root - root[0])[:, :2]
    assert np.abs(along).max() < 0.12  # at the ends the way begins and ends gently
    assert np.abs(root[-1, :2]).max() > 1.0


def test_in_place_nothing_travels(walker):
    plain, still = baked(walker, "NONE"), baked(walker, "IN_PLACE")
    np.testing.assert_allclose(place(still, "master"), 0.0, atol=1e-6)
    assert np.ptp(place(still, "pelvis")[:, :2], axis=0).max() < 0.15
    np.testing.assert_allclose(place(still, "pelvis")[:, 2], place(plain, "pelvis")[:, 2], atol=1e-4)
    away = [place(clip, "foot.L") - place(clip, "pelvis") for clip in (plain, still)]
    np.testing.assert_allclose(np.linalg.norm(away[0], axis=1), np.linalg.norm(away[1], axis=1), atol=1e-4)


def test_without_a_root_it_is_told(heft_enabled):
    bpy.context.scene.render.fps = 24
    made = mannequin.make_mannequin(bpy.context)
    walk.key_walk(made)
    found = given(made, None, LAST)
    made.heft.root_motion = "ROOT"
    with pytest.raises(ValueError, match="no bone above its hips"):
        write(bpy.context, made, found, result_of(found.job))


def test_a_proxy_without_the_root_is_told(walker):
    rig, _ = walker
    rig.heft.output = "PROXY"
    rig.data.bones["master"].use_deform = False
    with pytest.raises(ValueError, match="switch on Deform of master"):
        baked(walker, "ROOT")


def test_turned_objects_are_upright_too(walker):
    """As imported files often lie: the object is turned, and the armature's own Z is not up."""
    rig, found = walker
    plain = baked(walker, "NONE")
    rig.data.transform(Matrix.Rotation(-np.pi / 2.0, 4, "X"))
    rig.rotation_euler.x = np.pi / 2.0
    bpy.context.view_layer.update()
    made = mannequin.make_mannequin(bpy.context)
    walk.key_walk(made)
    found = given(rig, made, LAST)
    moved = baked((rig, found), "ROOT")
    np.testing.assert_allclose(place(moved, "master")[:, 2], 0.0, atol=1e-4)
    np.testing.assert_allclose(place(moved, "foot.L"), place(plain, "foot.L"), atol=2e-3)


@pytest.mark.parametrize("form", ["gltf", "fbx"])
@pytest.mark.parametrize("kind", ["ROOT", "IN_PLACE"])
def test_to_a_game_and_back(walker, tmp_path, form, kind):
    """Blender's own exporters: each bone's head is where it was."""
    clip = baked(walker, kind)
    rig, _ = walker
    bpy.context.scene.frame_start, bpy.context.scene.frame_end = 1, LAST
    for other in bpy.context.view_layer.objects:
        other.select_set(other == rig)
    if form == "gltf":
        bpy.ops.export_scene.gltf(filepath=str(tmp_path / "hero.glb"), use_selection=True, export_force_sampling=True)
    else:
        bpy.ops.export_scene.fbx(filepath=str(tmp_path / "hero.fbx"), use_selection=True, bake_anim_simplify_factor=0.0)
    bpy.data.objects.remove(rig)
    if form == "gltf":
        bpy.ops.import_scene.gltf(filepath=str(tmp_path / "hero.glb"))
    else:
        bpy.ops.import_scene.fbx(filepath=str(tmp_path / "hero.fbx"))
    (back,) = (one for one in bpy.data.objects if one.type == "ARMATURE")
    first = back.animation_data.action.frame_range[0]
    (found,) = sample_armatures(
        bpy.context.scene, bpy.context.view_layer, [back], frame_numbers(first, first + LAST - 1)
    )
    for name in clip.skeleton.names:
        np.testing.assert_allclose(place(found.clip, name), place(clip, name), atol=1e-3)
