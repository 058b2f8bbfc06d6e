# SPDX-License-Identifier: GPL-3.0-or-later
"""From a scene to its film: a studio around it, a bake, a camera that goes along, and an animated picture."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import bpy
import numpy as np
from mathutils import Vector

from ...blender_addon.typed import as_kind, set_input, settings_on
from .. import demo, walk
from ..film import write_animated_webp
from .scene import Scene, choose

SIZE = (400, 300)
SKY = (0.30, 0.36, 0.43)
TILES = ((0.50, 0.52, 0.55), (0.39, 0.41, 0.44))
FAR = 24  # m, from the middle to where the floor ends
LIGHT = (-0.35, 0.45, 0.82)  # where it comes from, for Workbench
EVERY = 2  # frames from one picture to the next
QUALITY = 55
SMOOTH = 9.0  # frames over which a camera that goes along evens out steps


def make(scene: Scene) -> list[Mapping[str, Any]]:
    """Make a scene in an empty Blender, bake it, and put the studio around it; what is told of each who is baked."""
    bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)  # the extension stays enabled
    context = bpy.context
    context.scene.render.fps = walk.FRAMES_PER_SECOND
    context.scene.frame_end = 1
    armatures = scene.make(context)
    context.scene.frame_set(context.scene.frame_start)
    choose(context, armatures)
    bpy.ops.heft.bake()
    last = max(round(armature.animation_data.action.frame_range[1]) for armature in armatures)
    context.scene.frame_end = max(context.scene.frame_end, last)
    studio(context.scene, scene, armatures)
    return [json.loads(settings_on(armature).report) for armature in armatures]


def studio(blender: bpy.types.Scene, scene: Scene, armatures: Sequence[bpy.types.Object]) -> None:
    """A floor with a line at every metre, light, and a camera."""
    world = bpy.data.worlds.new("Studio")
    blender.world = world
    world.color = SKY
    if world.node_tree is None:  # Blender 5 gives every world its nodes, 4.5 asks for them
        world.use_nodes = True
    set_input(world.node_tree.nodes["Background"], "Color", (*SKY, 1.0))
    if scene.floor is not None:
        tile(blender, scene.floor)
    sun = as_kind(bpy.data.lights.new("Sun", "SUN"), bpy.types.SunLight)
    light = bpy.data.objects.new("Sun", sun)
    light.rotation_euler = Vector((0.45, -0.25, -0.85)).to_track_quat("-Z", "Y").to_euler()
    blender.collection.objects.link(light)
    lens = bpy.data.cameras.new("Camera")
    lens.lens = 58.0
    camera = bpy.data.objects.new("Camera", lens)
    blender.collection.objects.link(camera)
    blender.camera = camera
    aim(blender, camera, scene, armatures)


def tile(blender: bpy.types.Scene, height: float) -> None:
    """A floor in two greys, a metre each, so that whoever passes is seen to."""
    corners = [(float(x), float(y), height - 0.001) for y in range(-FAR, FAR + 1) for x in range(-FAR, FAR + 1)]
    wide = 2 * FAR + 1
    squares = [(row, column) for row in range(2 * FAR) for column in range(2 * FAR)]
    for shade, color in enumerate(TILES):
        faces = [
            (row * wide + column, row * wide + column + 1, (row + 1) * wide + column + 1, (row + 1) * wide + column)
            for row, column in squares
            if (row + column) % 2 == shade
        ]
        demo.add_surface(blender, "Floor", corners, faces, color)


def aim(
    blender: bpy.types.Scene, camera: bpy.types.Object, scene: Scene, armatures: Sequence[bpy.types.Object]
) -> None:
    """Stand aside and look at who acts, at every frame or once."""
    first, last = shown(blender, scene)
    frames = list(range(first, last + 1))
    places = np.array([middle(blender, armatures, frame) for frame in frames])
    if scene.follows:
        places = evened_out(places)
    else:
        places = np.broadcast_to(0.5 * (places.min(axis=0) + places.max(axis=0)), places.shape)
    for frame, place in zip(frames, places, strict=True):
        at = Vector(place.tolist())
        camera.location = at + Vector(scene.camera)
        camera.rotation_euler = (at - camera.location).to_track_quat("-Z", "Y").to_euler()
        camera.keyframe_insert("location", frame=frame)
        camera.keyframe_insert("rotation_euler", frame=frame)
        if not scene.follows:
            return


def shown(blender: bpy.types.Scene, scene: Scene) -> tuple[int, int]:
    """The first frame and the last."""
    return scene.frames or (blender.frame_start, blender.frame_end)


def middle(blender: bpy.types.Scene, armatures: Sequence[bpy.types.Object], frame: int) -> tuple[float, ...]:
    """Between the hips of all, at a frame."""
    blender.frame_set(frame)
    hips = [armature.matrix_world @ armature.pose.bones["pelvis"].head for armature in armatures]
    return (sum(hips, Vector()) / len(hips)).to_tuple()


def evened_out(places: np.ndarray[Any, np.dtype[np.float64]]) -> np.ndarray[Any, np.dtype[np.float64]]:
    """Their running mean, weighted by a bell curve; ends are held."""
    reach = int(3 * SMOOTH)
    weight = np.exp(-0.5 * (np.arange(-reach, reach + 1) / SMOOTH) ** 2)
    padded = np.pad(places, ((reach, reach), (0, 0)), mode="edge")
    columns = [np.convolve(column, weight / weight.sum(), mode="valid") for column in padded.T]
    return np.stack(columns, axis=1)


def film(scene: Scene, path: Path, size: tuple[int, int] = SIZE, every: int = EVERY) -> list[int]:
    """Render the scene that is open, with Workbench, as an animated picture; which frames."""
    blender = bpy.context.scene
    first, last = shown(blender, scene)
    frames = list(range(first, last + 1, every))
    set_workbench(blender, size)
    with tempfile.TemporaryDirectory() as folder:
        pictures = []
        for frame in frames:
            blender.frame_set(frame)
            pictures.append(Path(folder) / f"{frame:04}.webp")
            blender.render.filepath = str(pictures[-1])
            bpy.ops.render.render(write_still=True)
        path.parent.mkdir(parents=True, exist_ok=True)
        write_animated_webp(pictures, path, round(1000.0 * every / walk.FRAMES_PER_SECOND))
    return frames


def set_workbench(blender: bpy.types.Scene, size: tuple[int, int]) -> None:
    """Quick pictures with shadows."""
    image = blender.render.image_settings
    if hasattr(image, "media_type"):
        image.media_type = "IMAGE"
    image.file_format, image.color_mode, image.quality = "WEBP", "RGB", QUALITY
    blender.render.engine = "BLENDER_WORKBENCH"  # type: ignore[assignment]
    blender.display.render_aa = "FXAA"
    blender.display.light_direction = LIGHT
    shading = blender.display.shading
    shading.color_type, shading.show_shadows, shading.shadow_intensity = "MATERIAL", True, 0.35
    blender.view_settings.view_transform, blender.view_settings.exposure = "Standard", 1.0  # type: ignore[assignment]
    blender.render.resolution_x, blender.render.resolution_y = size
    blender.render.resolution_percentage = 100
