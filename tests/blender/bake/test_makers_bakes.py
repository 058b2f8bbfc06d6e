# SPDX-License-Identifier: GPL-3.0-or-later
"""Two of the oddest makers' files, baked at the first press: legs without feet, and a rig that its parent shears."""

import json

import bpy
import numpy as np
import pytest
from heft.blender_addon.rig.reading import frame_numbers, sample_armatures
from heft.examples import mannequin, walk

from tests.blender.rig import makers, rigs
from tests.blender.rig.makers_cases import cases

pytestmark = pytest.mark.usefixtures("heft_enabled")
SECONDS = 1.0


def sampled(rig, frames):
    (sampling,) = sample_armatures(bpy.context.scene, bpy.context.view_layer, [rig], frames)
    return sampling.clip


def bake(rig):
    """The report, of the first second."""
    bpy.context.view_layer.objects.active = rig
    rig.select_set(True)
    rig.heft.use_frame_range = True
    rig.heft.frame_start, rig.heft.frame_end = 2, 2 + round(SECONDS * bpy.context.scene.render.fps)
    assert bpy.ops.heft.bake() == {"FINISHED"}
    return json.loads(rig.heft.report)


def test_legs_without_feet_walk(tmp_path):
    bpy.context.scene.render.fps = 24
    made = mannequin.make_mannequin(bpy.context)
    walk.key_walk(made)
    clip = sampled(made, frame_numbers(1.0, 60.0, 0.5))
    bpy.data.objects.remove(made)
    makers.write(cases()["no feet"][0], clip, tmp_path / "walk.bvh")
    bpy.ops.import_anim.bvh(filepath=str(tmp_path / "walk.bvh"), update_scene_fps=True)
    rig = rigs.armature()
    before = sampled(rig, frame_numbers(2.0, 31.0))
    report = bake(rig)
    assert report["outcome"] == "completed"
    assert report["help_max"] == 0.0
    after = sampled(rig, frame_numbers(2.0, 31.0))
    assert after.skeleton.names == before.skeleton.names
    assert np.linalg.norm(after.position - before.position, axis=2).mean() < 0.1


def test_a_rig_that_its_parent_shears_is_baked_where_it_is_seen():
    bpy.context.scene.render.fps = 24
    rig = mannequin.make_mannequin(bpy.context)
    walk.key_walk(rig)
    carrier = bpy.data.objects.new("Carrier", None)
    bpy.context.scene.collection.objects.link(carrier)
    carrier.scale, rig.rotation_euler, rig.parent = (1.0, 1.1, 1.0), (0.0, 0.0, 0.7), carrier
    bpy.context.view_layer.update()
    frames = frame_numbers(2.0, 26.0)
    before = sampled(rig, frames)
    assert bake(rig)["outcome"] == "completed"
    away = np.linalg.norm(sampled(rig, frames).position - before.position, axis=2)
    assert away.mean() < 0.06
