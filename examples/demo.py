# SPDX-License-Identifier: GPL-3.0-or-later
"""The demo: a mannequin and its walk, saved as a .blend and as a film strip.

`python -m heft.examples.demo --output out`, in a Python that has bpy; `python3 run.py demo` makes one first.
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import bpy
import numpy as np
from mathutils import Vector

from ..blender_addon.film_strip import render_film_strip
from . import mannequin, walk

POSES = ("contact", "down", "passing", "up")


@contextmanager
def stage(name: str) -> Iterator[None]:
    """Say what is being done and how long it took; keep back what Blender prints meanwhile."""
    print(f"{name} … ", end="", flush=True)
    start = time.perf_counter()
    terminal = os.dup(1)
    try:
        with Path(os.devnull).open("w", encoding="utf-8") as nowhere:
            os.dup2(nowhere.fileno(), 1)
        yield
    finally:
        os.dup2(terminal, 1)
        os.close(terminal)
    print(f"{time.perf_counter() - start:.1f} s", flush=True)


def main(output: str | Path) -> None:
    """Write mannequin_walk.blend and mannequin_walk.png into a folder."""
    output = Path(output).resolve()
    output.mkdir(parents=True, exist_ok=True)
    with stage("Making a mannequin"):
        bpy.ops.wm.read_factory_settings(use_empty=True)
        scene = bpy.context.scene
        armature = mannequin.make_mannequin(bpy.context)
    with stage("Keying its walk"):
        action = walk.key_walk(armature)
        scene.render.fps = walk.FRAMES_PER_SECOND
        scene.frame_start, scene.frame_end = (int(frame) for frame in action.frame_range)
        make_studio(scene)
    blend = output / "mannequin_walk.blend"
    with stage(f"Saving {blend.name}"):
        # Without the old file in its place no backup copy is made beside it.
        blend.unlink(missing_ok=True)
        bpy.ops.wm.save_as_mainfile(filepath=str(blend), check_existing=False, compress=True)
    picture = output / "mannequin_walk.png"
    with stage(f"Rendering {picture.name}"):
        frames, captions = poses_of_cycle(scene.frame_start + walk.FRAMES_PER_CYCLE)
        render_film_strip(scene, frames, picture, subject=armature, captions=captions, width=176, height=320)
    print(f"{blend}\n{picture}")


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
    background.inputs["Color"].default_value = (0.85, 0.90, 1.0, 1.0)
    background.inputs["Strength"].default_value = 0.6

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

    sun = bpy.data.lights.new("Sun", "SUN")
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


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--output", default="out", help="the folder to write into")
    main(parser.parse_args().output)
