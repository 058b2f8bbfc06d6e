# SPDX-License-Identifier: GPL-3.0-or-later
"""The demo: a mannequin and its walk, saved as a .blend and as a film strip.

`python -m heft.examples.demo --output out`, in a Python that has bpy; `python3 run.py demo` makes one first.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import bpy
from mathutils import Vector

from ..blender_addon.film_strip import render_film_strip
from . import mannequin, walk

POSES = ("contact", "down", "passing", "up")


@contextmanager
def stage(name: str) -> Iterator[None]:
    """Say what is being done, and how long it took."""
    print(f"{name} … ", end="", flush=True)
    start = time.perf_counter()
    yield
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
        bpy.ops.wm.save_as_mainfile(filepath=str(blend), check_existing=False)
    with stage("Rendering mannequin_walk.png"):
        frames, captions = poses_of_cycle(scene.frame_start + walk.FRAMES_PER_CYCLE)
        picture = render_film_strip(
            scene, frames, output / "mannequin_walk.png", subject=armature, captions=captions, samples=48
        )
    print(f"Wrote {blend} and {picture.name}")


def poses_of_cycle(first: int) -> tuple[list[int], list[str]]:
    """Return the frames of a cycle's eight poses and their names."""
    keys = (walk.CONTACT, walk.DOWN, walk.PASSING, walk.UP)
    frames = [first + step * walk.FRAMES_PER_STEP + key for step in (0, 1) for key in keys]
    return frames, [f"{frame}  {name}" for frame, name in zip(frames, POSES * 2, strict=True)]


def make_studio(scene: bpy.types.Scene) -> None:
    """Add a floor with a line at every half metre, soft light and a camera."""
    world = bpy.data.worlds.new("Studio")
    scene.world = world
    if world.node_tree is None:  # Blender 5 gives every world its nodes, 4.5 asks for them
        world.use_nodes = True
    background = world.node_tree.nodes["Background"]
    background.inputs["Color"].default_value = (0.80, 0.83, 0.88, 1.0)
    background.inputs["Strength"].default_value = 0.75

    floor = bpy.data.meshes.new("Floor")
    floor.from_pydata([(-40, -40, 0), (40, -40, 0), (40, 40, 0), (-40, 40, 0)], [], [(0, 1, 2, 3)])
    floor.materials.append(mannequin.make_material("Floor", (0.62, 0.64, 0.67)))
    scene.collection.objects.link(bpy.data.objects.new("Floor", floor))

    travel = walk.STRIDE * (scene.frame_end - scene.frame_start) / walk.FRAMES_PER_CYCLE
    marks = bpy.data.meshes.new("Half metres")
    vertices, faces = [], []
    for half_metre in range(-2, round(2 * travel) + 4):
        y = -0.5 * half_metre
        faces.append([4 * len(faces) + i for i in range(4)])
        vertices += [(-0.6, y - 0.006, 0.001), (0.6, y - 0.006, 0.001), (0.6, y + 0.006, 0.001), (-0.6, y + 0.006, 0.001)]
    marks.from_pydata(vertices, [], faces)
    marks.materials.append(mannequin.make_material("Half metres", (0.30, 0.32, 0.36)))
    scene.collection.objects.link(bpy.data.objects.new("Half metres", marks))

    sun = bpy.data.lights.new("Sun", "SUN")
    sun.energy, sun.angle = 3.0, 0.25
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


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--output", default="out", help="the folder to write into")
    main(parser.parse_args().output)
