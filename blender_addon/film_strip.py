# SPDX-License-Identifier: GPL-3.0-or-later
"""A film strip: the same figure at several frames, side by side in one picture.

Cycles renders it on the processor: that needs no screen and no graphics card, and gives the same picture everywhere.
"""

from __future__ import annotations

import contextlib
import math
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import bpy
import numpy as np
from mathutils import Vector
from numpy.typing import NDArray

from .typed import as_kind, set_input

Pixels = NDArray[np.float32]

PAPER, INK = 0.96, 0.25
"""Grey of the captions' ground and of their letters."""


def render_film_strip(
    scene: bpy.types.Scene,
    frames: Sequence[int],
    path: str | Path,
    *,
    subject: bpy.types.Object,
    width: int = 240,
    height: int = 400,
    camera: bpy.types.Object | None = None,
    captions: Sequence[str] | None = None,
    samples: int = 12,
) -> Path:
    """Render some frames of a scene, each `width` by `height` pixels, and save them side by side as one PNG.

    Without a camera of its own, one follows the subject, an armature, and sees it travel from left to right. The
    captions are the frames' numbers unless others are given. The scene is left as it was.
    """
    path = Path(path).resolve()
    path.parent.mkdir(parents=True, exist_ok=True)
    with contextlib.ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        stack.enter_context(render_settings(scene, width, height, samples))
        stack.enter_context(changed(scene, camera=scene.camera))
        stack.enter_context(kept_frame(scene))
        stack.enter_context(daylight(scene))
        places = [place_of(scene, subject, frame) for frame in frames]
        look = viewing_direction(places[-1] - places[0])
        follower = None if camera else stack.enter_context(temporary_camera(scene))
        scene.camera = camera or follower
        tiles = []
        for frame, place in zip(frames, places, strict=True):
            scene.frame_set(frame)
            if follower:
                aim(follower, place, look, subject.dimensions.z)
            tiles.append(render(scene, folder / f"{frame}.png"))
        texts = captions or [str(frame) for frame in frames]
        coverage = render_captions(texts, width, max(16, height // 12), folder)
    foot = PAPER + (INK - PAPER) * coverage
    save(np.concatenate([foot, np.concatenate(tiles, axis=1)]), path)
    return path


@contextlib.contextmanager
def changed(owner: Any, **values: Any) -> Iterator[None]:
    """Set attributes of an owner and put the old ones back at the end."""
    before = {name: getattr(owner, name) for name in values}
    for name, value in values.items():
        setattr(owner, name, value)
    try:
        yield
    finally:
        for name, value in before.items():
            setattr(owner, name, value)


@contextlib.contextmanager
def daylight(scene: bpy.types.Scene) -> Iterator[None]:
    """Lend an even sky to a scene that has no light of its own."""
    if scene.world is not None or any(one.type == "LIGHT" for one in scene.objects):
        yield
        return
    sky = bpy.data.worlds.new("Film strip")
    if sky.node_tree is None:  # Blender 5 gives every world its nodes, 4.5 asks for them
        sky.use_nodes = True
    set_input(sky.node_tree.nodes["Background"], "Color", (0.8, 0.85, 0.9, 1.0))
    try:
        with changed(scene, world=sky):
            yield
    finally:
        bpy.data.worlds.remove(sky)


@contextlib.contextmanager
def kept_frame(scene: bpy.types.Scene) -> Iterator[None]:
    """Go back to the current frame at the end."""
    frame, subframe = scene.frame_current, scene.frame_subframe
    try:
        yield
    finally:
        scene.frame_set(frame, subframe=subframe)


@contextlib.contextmanager
def render_settings(scene: bpy.types.Scene, width: int, height: int, samples: int) -> Iterator[None]:
    """Render small pictures in a second or so each, and put the scene's own settings back at the end."""
    with (
        changed(
            scene.render,
            engine="CYCLES",
            resolution_x=width,
            resolution_y=height,
            resolution_percentage=100,
            use_border=False,
            film_transparent=False,
            dither_intensity=0.0,
            use_persistent_data=True,
            filepath=scene.render.filepath,
        ),
        changed(scene.render.image_settings, file_format="PNG", color_mode="RGB", color_depth="8"),
        changed(scene.view_settings, view_transform="Standard"),
        changed(scene.cycles, device="CPU", samples=samples, use_adaptive_sampling=False, use_denoising=True, seed=0),
    ):
        yield


def place_of(scene: bpy.types.Scene, subject: bpy.types.Object, frame: int) -> Vector:
    """Return the middle of the figure's bones at a frame, at the height of its own origin."""
    scene.frame_set(frame)
    posed = subject.evaluated_get(bpy.context.evaluated_depsgraph_get())
    heads = [posed.matrix_world @ bone.head for bone in posed.pose.bones]
    place = sum(heads, Vector()) / len(heads)
    place.z = posed.matrix_world.translation.z
    return place


def viewing_direction(travel: Vector) -> Vector:
    """Return where a camera looks that sees travel go from left to right, a little from the front and from above."""
    forward = Vector((travel.x, travel.y, 0.0))
    forward = forward.normalized() if forward.length > 0.1 else Vector((0.0, -1.0, 0.0))
    left = Vector((-forward.y, forward.x, 0.0))
    turn = math.radians(20.0)
    return (left * math.cos(turn) - forward * math.sin(turn) - Vector((0.0, 0.0, 0.1))).normalized()


@contextlib.contextmanager
def temporary_camera(scene: bpy.types.Scene) -> Iterator[bpy.types.Object]:
    """Lend a camera with a long lens."""
    data = bpy.data.cameras.new("Film strip")
    data.sensor_fit, data.sensor_height, data.lens = "VERTICAL", 24.0, 85.0
    camera = bpy.data.objects.new("Film strip", data)
    scene.collection.objects.link(camera)
    try:
        yield camera
    finally:
        bpy.data.cameras.remove(data)


def aim(camera: bpy.types.Object, place: Vector, look: Vector, figure_height: float) -> None:
    """Stand the camera where the figure fills its picture from foot to head."""
    target = place + Vector((0.0, 0.0, 0.49 * figure_height))
    distance = 1.2 * figure_height * camera.data.lens / camera.data.sensor_height
    camera.location = target - distance * look
    camera.rotation_euler = look.to_track_quat("-Z", "Y").to_euler()


def render(scene: bpy.types.Scene, path: Path) -> Pixels:
    """Render the current frame and return its pixels (rows from the bottom, columns, red green blue)."""
    scene.render.filepath = str(path)
    bpy.ops.render.render(write_still=True, scene=scene.name)
    return read(path)


def read(path: Path) -> Pixels:
    """Return a picture's pixels (rows from the bottom, columns, red green blue)."""
    image = bpy.data.images.load(str(path))
    columns, rows = np.array(image.size).tolist()
    pixels = np.empty(rows * columns * image.channels, dtype=np.float32)
    image.pixels.foreach_get(pixels)  # type: ignore[attr-defined]  # 4.5's stubs take them for one number
    bpy.data.images.remove(image)
    return pixels.reshape(rows, columns, -1)[:, :, :3]


def render_captions(captions: Sequence[str], width: int, height: int, folder: Path) -> Pixels:
    """Return how far Blender's own font covers each pixel; every caption is in the middle of its `width` pixels."""
    scene = bpy.data.scenes.new("Captions")
    ink = bpy.data.materials.new("Captions")
    shader = glowing(ink)
    camera = bpy.data.cameras.new("Captions")
    fonts = [as_kind(bpy.data.curves.new("Caption", "FONT"), bpy.types.TextCurve) for _ in captions]
    try:
        camera.type, camera.ortho_scale = "ORTHO", float(len(captions))
        scene.camera = bpy.data.objects.new("Captions", camera)
        scene.camera.location = (len(captions) / 2, 0.0, 1.0)
        scene.collection.objects.link(scene.camera)
        for index, (font, caption) in enumerate(zip(fonts, captions, strict=True)):
            font.body, font.size = caption, 0.66 * height / width
            font.align_x, font.align_y = "CENTER", "CENTER"
            font.materials.append(shader)
            text = bpy.data.objects.new("Caption", font)
            text.location = (index + 0.5, 0.0, 0.0)
            scene.collection.objects.link(text)
        with render_settings(scene, width * len(captions), height, samples=16):
            return render(scene, folder / "captions.png")
    finally:
        bpy.data.scenes.remove(scene)
        bpy.data.cameras.remove(camera)
        for font in fonts:
            bpy.data.curves.remove(font)
        bpy.data.materials.remove(ink)


def glowing(material: bpy.types.Material) -> bpy.types.Material:
    """Make a material white without any light."""
    if material.node_tree is None:  # Blender 5 gives every material its nodes, 4.5 asks for them
        material.use_nodes = True
    shader = material.node_tree.nodes["Principled BSDF"]
    set_input(shader, "Base Color", (0.0, 0.0, 0.0, 1.0))
    set_input(shader, "Emission Color", (1.0, 1.0, 1.0, 1.0))
    set_input(shader, "Emission Strength", 1.0)
    return material


def save(pixels: Pixels, path: Path) -> None:
    """Write red, green and blue rows from the bottom as a PNG."""
    rows, columns = pixels.shape[:2]
    opaque = np.concatenate([pixels, np.ones((rows, columns, 1))], axis=2, dtype=np.float32)
    image = bpy.data.images.new(path.stem, columns, rows, alpha=False)
    image.pixels.foreach_set(opaque.ravel())  # type: ignore[arg-type, attr-defined]
    image.filepath_raw, image.file_format = str(path), "PNG"
    image.save()
    bpy.data.images.remove(image)
