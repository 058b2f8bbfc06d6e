# SPDX-License-Identifier: GPL-3.0-or-later
"""Things to put around a character, and the reading of them."""

import bpy
import numpy as np
from heft.blender_addon.rig.reading import frame_numbers, sample_armatures
from heft.blender_addon.scene.reading import SceneReader
from heft.blender_addon.scene.takes import Clock

FRAMES = frame_numbers(1, 40)


def read(rig, frames=FRAMES, start=0):
    """The surroundings of a rig, and its clip."""
    watch = SceneReader(bpy.context, rig, len(frames), start)
    (sampling,) = sample_armatures(
        bpy.context.scene, bpy.context.view_layer, [rig], frames, [rig.heft.scale], watch.look
    )
    clip = sampling.clip
    return watch.surroundings(clip, Clock(float(frames[start]), clip.rate, 120.0)), clip


def scene_of(rig, **kwargs):
    return read(rig, **kwargs)[0].scene


def select(*chosen):
    """The last is the active one."""
    bpy.context.view_layer.update()
    for other in bpy.context.view_layer.objects:
        other.select_set(other in chosen)
    bpy.context.view_layer.objects.active = chosen[-1]


def activate_bone(rig, name):
    select(rig)
    rig.data.bones.active = rig.data.bones[name]


def add_mesh(name, vertices, faces, location=(0.0, 0.0, 0.0), edges=()):
    mesh = bpy.data.meshes.new(name)
    mesh.from_pydata([tuple(map(float, v)) for v in vertices], edges, faces)
    thing = bpy.data.objects.new(name, mesh)
    thing.location = location
    bpy.context.scene.collection.objects.link(thing)
    return thing


def add_box(name="Box", size=1.0, location=(0.0, 0.0, 0.0)):
    """A cube about its origin."""
    corners = 0.5 * size * np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)])
    faces = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]
    return add_mesh(name, corners, faces, location)


def mark(rig, *meshes):
    select(*meshes, rig)
    assert bpy.ops.heft.mark_terrain() == {"FINISHED"}


def key(thing, path, *keys):
    """Straight lines between (frame, value)."""
    for frame, value in keys:
        setattr(thing, path, value)
        thing.keyframe_insert(path, frame=frame)
    bag = thing.animation_data.action.layers[0].strips[0].channelbag(thing.animation_data.action_slot)
    for curve in bag.fcurves:
        for point in curve.keyframe_points:
            point.interpolation = "LINEAR"
