# SPDX-License-Identifier: GPL-3.0-or-later
"""The demo: a mannequin's walk as it is keyed, and the same walk simulated, pushed and over a small step.

`python3 run.py demo`, `heft demo` and `blender --command heft demo` run it with Heft registered.
"""

from __future__ import annotations

import json
import os
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path

import bpy
import numpy as np
from mathutils import Vector

from ..blender_addon.film_strip import changed, place_of, read, render_film_strip
from ..blender_addon.film_strip import save as save_pixels
from ..blender_addon.typed import as_kind, set_input, settings_on
from . import mannequin, walk
from .film import write_animated_webp

LANE = 0.55
"""Half the distance between the two figures' ways."""
CYCLES, SECONDS = 7, 7.0
STEP_HEIGHT, STEP_FROM_TO = 0.02, (-12.0, -2.9)
PUSH, PUSH_FRAME, PUSH_FRAMES, PUSH_DIRECTION = 150.0, 44, 3, (0.0, -1.0, 0.0)
FRAMES_SHOWN = (38, 118)
PICTURE_MILLISECONDS = 83  # two frames

POSES = ("contact", "down", "passing", "up")


@contextmanager
def stage(name: str) -> Iterator[None]:
    """Say what is being done and how long it took; keep back what Blender prints meanwhile."""
    print(f"{name} … ", end="", flush=True)
    start = time.perf_counter()
    terminal = [os.dup(stream) for stream in (1, 2)]
    try:
        with Path(os.devnull).open("w", encoding="utf-8") as nowhere:
            for stream in (1, 2):
                os.dup2(nowhere.fileno(), stream)
        yield
    finally:
        for stream, kept in zip((1, 2), terminal, strict=True):
            os.dup2(kept, stream)
            os.close(kept)
    print(f"{time.perf_counter() - start:.1f} s", flush=True)


def main(output: str | Path) -> None:
    """Write mannequin_walk and mannequin_baked, each as .blend and .png, and a film (.mp4, .webp) into a folder."""
    output = Path(output).resolve()
    output.mkdir(parents=True, exist_ok=True)
    with stage("Making a mannequin"):
        bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)  # the extension stays enabled
        scene = bpy.context.scene
        armature = mannequin.make_mannequin(bpy.context)
    with stage("Keying its walk"):
        action = walk.key_walk(armature, cycles=CYCLES)
        scene.render.fps = walk.FRAMES_PER_SECOND
        scene.frame_start, scene.frame_end = (int(frame) for frame in action.frame_range.to_tuple())
        make_studio(scene)
    save(output / "mannequin_walk.blend")
    picture = output / "mannequin_walk.png"
    with stage(f"Rendering {picture.name}"):
        frames, captions = poses_of_cycle(scene.frame_start + walk.FRAMES_PER_CYCLE)
        render_film_strip(scene, frames, picture, subject=armature, captions=captions, width=176, height=320)
    with stage("Simulating it, with a push and over a step"):
        simulated = simulate_beside(armature)
    print(json.loads(settings_on(simulated).report)["why"])
    save(output / "mannequin_baked.blend")
    picture = output / "mannequin_baked.png"
    with stage(f"Rendering {picture.name}"):
        shown = np.linspace(FRAMES_SHOWN[0], FRAMES_SHOWN[1], 9).round().astype(int).tolist()
        rows = [output / f"{name}.part.png" for name in ("simulated", "keyed")]
        for row, subject, other in zip(rows, (simulated, armature), (armature, simulated), strict=True):
            with ExitStack() as without:
                for mesh in other.children:
                    without.enter_context(changed(mesh, hide_render=True))
                render_film_strip(scene, shown, row, subject=subject, width=176, height=320)
        stack(rows, picture)
    film = output / "mannequin_baked.mp4"
    with stage(f"Rendering {film.name}"):
        scene.frame_end = FRAMES_SHOWN[1]
        follow(scene, simulated)
        render_film(scene, film, width=640, height=360)
    film = output / "mannequin_baked.webp"
    with stage(f"Rendering {film.name}"), tempfile.TemporaryDirectory() as folder:
        write_animated_webp(render_pictures(scene, Path(folder), width=480, height=270), film, PICTURE_MILLISECONDS)


def save(blend: Path) -> None:
    """Save the file."""
    with stage(f"Saving {blend.name}"):
        # Without the old file in its place no backup copy is made beside it.
        blend.unlink(missing_ok=True)
        bpy.ops.wm.save_as_mainfile(filepath=str(blend), check_existing=False, compress=True)


def simulate_beside(keyed: bpy.types.Object) -> bpy.types.Object:
    """Add a second mannequin with the same walk beside the keyed one, push it, lay a step in its way, and bake it."""
    context, scene = bpy.context, bpy.context.scene
    simulated = mannequin.make_mannequin(context, "Simulated")
    walk.key_walk(simulated)
    keyed.location.x, simulated.location.x = LANE, -LANE
    tint(keyed)
    context.view_layer.objects.active = simulated
    bpy.ops.heft.set_up()

    corners = [(x, y, z) for z in (0.0, STEP_HEIGHT) for y in STEP_FROM_TO for x in (-2.0 * LANE, 0.0)]
    faces = [(0, 2, 3, 1), (4, 5, 7, 6), (0, 1, 5, 4), (2, 6, 7, 3), (0, 4, 6, 2), (1, 3, 7, 5)]
    add_surface(scene, "Step", corners, faces, (0.62, 0.48, 0.34))
    step = scene.objects["Step"]
    step.data.polygons.foreach_set("use_smooth", [False] * len(faces))
    ground = bpy.data.collections.new("Ground")
    scene.collection.children.link(ground)
    ground.objects.link(step)
    settings_on(simulated).terrain = ground

    scene.frame_set(PUSH_FRAME)
    simulated.data.bones.active = simulated.data.bones["chest"]
    bpy.ops.heft.add_push(strength=PUSH, duration=PUSH_FRAMES, direction=PUSH_DIRECTION)
    for other in context.selected_objects:
        other.select_set(state=False)
    context.view_layer.objects.active = simulated
    simulated.select_set(state=True)
    settings = settings_on(simulated)
    settings.loop, settings.loop_seconds = True, SECONDS
    settings.lookahead.adaptation, settings.lookahead.reset_phase = 0.003, True
    bpy.ops.heft.bake()
    return simulated


def tint(keyed: bpy.types.Object) -> None:
    """Make the keyed figure grey, to tell it from the simulated one."""
    for body in keyed.children:
        for slot in body.material_slots:
            slot.material = mannequin.make_material("Keyed", (0.45, 0.47, 0.50), roughness=0.6)


def stack(rows: Sequence[Path], path: Path) -> None:
    """Put pictures of one width on top of each other, the first at the bottom, and remove them."""
    pixels = []
    for row in rows:
        pixels.append(read(row))
        row.unlink()
    save_pixels(np.concatenate(pixels), path)


def follow(scene: bpy.types.Scene, subject: bpy.types.Object) -> None:
    """Key the camera so that it goes along with the figure, seen from its left and ahead."""
    camera = scene.camera
    camera.data.lens = 52.0
    for frame in range(scene.frame_start, scene.frame_end + 1, 4):
        place = place_of(scene, subject, frame) + Vector((LANE, 0.0, 0.85))
        camera.location = place + Vector((-4.6, -4.2, 0.9))
        camera.rotation_euler = (place - camera.location).to_track_quat("-Z", "Y").to_euler()
        camera.keyframe_insert("location", frame=frame)
        camera.keyframe_insert("rotation_euler", frame=frame)


def render_film(scene: bpy.types.Scene, path: Path, width: int, height: int) -> None:
    """Render all frames with Workbench, which is quick, as a film."""
    image, film = scene.render.image_settings, scene.render.ffmpeg
    if hasattr(image, "media_type"):  # from Blender 5 on a film is chosen before its format
        image.media_type = "VIDEO"
    image.file_format, film.format, film.codec = "FFMPEG", "MPEG4", "H264"
    film.constant_rate_factor = "HIGH"
    scene.render.engine = "BLENDER_WORKBENCH"  # type: ignore[assignment]
    scene.display.render_aa = "FXAA"  # without a graphics card a fifth of the time of samples
    shading = scene.display.shading
    shading.color_type, shading.show_shadows, shading.shadow_intensity = "MATERIAL", True, 0.35
    # Workbench has lights of its own, and dimmer ones than the studio's
    scene.view_settings.view_transform, scene.view_settings.exposure = "Standard", 1.0  # type: ignore[assignment]
    scene.render.resolution_x, scene.render.resolution_y, scene.render.filepath = width, height, str(path)
    bpy.ops.render.render(animation=True)


def render_pictures(scene: bpy.types.Scene, folder: Path, width: int, height: int) -> list[Path]:
    """Render every second frame from the first that is shown as a WebP picture, with what `render_film` has set."""
    image = scene.render.image_settings
    if hasattr(image, "media_type"):
        image.media_type = "IMAGE"
    image.file_format, image.color_mode, image.quality = "WEBP", "RGB", 60
    scene.render.resolution_x, scene.render.resolution_y = width, height
    pictures = []
    for frame in range(FRAMES_SHOWN[0], FRAMES_SHOWN[1], 2):
        scene.frame_set(frame)
        pictures.append(folder / f"{frame:04}.webp")
        scene.render.filepath = str(pictures[-1])
        bpy.ops.render.render(write_still=True)
    return pictures


def poses_of_cycle(first: int) -> tuple[list[int], list[str]]:
    """Return the frames of a cycle's eight poses and their names."""
    keys = (walk.CONTACT, walk.DOWN, walk.PASSING, walk.UP)
    frames = [first + step * walk.FRAMES_PER_STEP + key for step in (0, 1) for key in keys]
    return frames, [f"{frame}  {name}" for frame, name in zip(frames, POSES * 2, strict=True)]


def make_studio(scene: bpy.types.Scene) -> None:
    """Add a floor that rises behind the walk, with a line at every half metre, soft light and a camera."""
    world = bpy.data.worlds.new("Studio")
    scene.world = world
    if world.node_tree is None:  # Blender 5 gives every world its nodes, 4.5 asks for them
        world.use_nodes = True
    background = world.node_tree.nodes["Background"]
    set_input(background, "Color", (0.85, 0.90, 1.0, 1.0))
    set_input(background, "Strength", 0.6)

    travel = walk.STRIDE * (scene.frame_end - scene.frame_start) / walk.FRAMES_PER_CYCLE
    bend = np.linspace(0.0, np.pi / 2, 24)
    profile = [(-20.0, 0.0), *zip(3.0 + 4.0 * np.sin(bend), 4.0 - 4.0 * np.cos(bend), strict=True), (7.0, 14.0)]
    sweep = [(x, y, z) for x, z in profile for y in (-travel - 20.0, 20.0)]
    add_surface(
        scene, "Floor", sweep, [(k, k + 1, k + 3, k + 2) for k in range(0, len(sweep) - 2, 2)], (0.50, 0.52, 0.55)
    )

    edges = [-0.5 * half_metre + side for half_metre in range(-2, round(2 * travel) + 4) for side in (0.006, -0.006)]
    lines = [(x, y, 0.0005) for y in edges for x in (-0.6, 0.6)]
    add_surface(
        scene, "Half metres", lines, [(k, k + 2, k + 3, k + 1) for k in range(0, len(lines), 4)], (0.22, 0.23, 0.26)
    )

    sun = as_kind(bpy.data.lights.new("Sun", "SUN"), bpy.types.SunLight)
    sun.energy, sun.angle = 2.8, 0.12
    light = bpy.data.objects.new("Sun", sun)
    light.rotation_euler = Vector((0.45, -0.25, -0.85)).to_track_quat("-Z", "Y").to_euler()
    scene.collection.objects.link(light)

    lens = bpy.data.cameras.new("Camera")
    lens.lens = 50.0
    camera = bpy.data.objects.new("Camera", lens)
    middle = Vector((0.0, -travel / 2, 0.85))
    camera.location = middle + Vector((-10.5, -3.0, 1.0))
    camera.rotation_euler = (middle - camera.location).to_track_quat("-Z", "Y").to_euler()
    scene.collection.objects.link(camera)
    scene.camera = camera


def add_surface(
    scene: bpy.types.Scene,
    name: str,
    vertices: Sequence[tuple[float, float, float]],
    faces: Sequence[tuple[int, ...]],
    color: tuple[float, float, float],
) -> None:
    """Add a smooth mesh of one colour."""
    mesh = bpy.data.meshes.new(name)
    mesh.from_pydata(vertices, [], faces)
    mesh.polygons.foreach_set("use_smooth", [True] * len(faces))
    mesh.materials.append(mannequin.make_material(name, color, roughness=0.9))
    scene.collection.objects.link(bpy.data.objects.new(name, mesh))
