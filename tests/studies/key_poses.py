# SPDX-License-Identifier: GPL-3.0-or-later
"""The scenes of key poses, keyed and baked, as film strips: `run.py study key_poses`."""

import json
from pathlib import Path

import bpy
import heft
import numpy as np
from heft.blender_addon.film_strip import render_film_strip
from heft.blender_addon.film_strip import save as save_pixels
from mathutils import Vector

FRAMES = (1, 22, 34, 48, 62, 78, 97)
SCENES = {
    "CHIN_UP": ("Chin-up from two key poses", "Hanging and up; hands held by IK, and by grabs.", 1.62),
    "SQUAT": ("Squat with 30 kg from three key poses", "Stand, squat, stand; feet held by IK.", 0.92),
}
INTRODUCTION = """# Key poses

What Add ▸ Armature offers, above as it is keyed, below as it is baked by replanning control with the keys followed as
they are: no motion was optimised. Written by `run.py study key_poses`.
"""


def strip(armature: bpy.types.Object, path: Path, height: float) -> np.ndarray:
    """Render the frames, seen from the side and a little from ahead; rows from below."""
    scene = bpy.context.scene
    lens = bpy.data.cameras.new("Camera")
    lens.lens = 62.0
    camera = bpy.data.objects.new("Camera", lens)
    scene.collection.objects.link(camera)
    camera.location = (4.6, -2.2, height + 0.15)
    camera.rotation_euler = (Vector((0.0, 0.1, height)) - camera.location).to_track_quat("-Z", "Y").to_euler()
    render_film_strip(scene, FRAMES, path, subject=armature, camera=camera, width=150, height=330, samples=16)
    bpy.data.objects.remove(camera)
    image = bpy.data.images.load(str(path))
    columns, lines = image.size
    pixels = np.array(image.pixels[:], dtype=np.float32).reshape(lines, columns, -1)[:, :, :3]
    bpy.data.images.remove(image)
    path.unlink()
    return pixels


def study(folder: Path) -> str:
    """The page; two pictures go to the folder."""
    page = [INTRODUCTION]
    for name, (title, note, height) in SCENES.items():
        bpy.ops.wm.read_factory_settings(use_empty=True)
        heft.register()
        bpy.context.scene.render.fps = 24
        bpy.ops.heft.add_key_poses(scene=name)
        armature = bpy.context.active_object
        bpy.context.scene.frame_end = FRAMES[-1]
        picture = folder / f"key_poses_{name.lower()}.png"
        keyed = strip(armature, picture, height)
        bpy.ops.heft.bake()
        baked = strip(armature, picture, height)
        save_pixels(np.concatenate([baked, keyed]), picture)
        report = json.loads(armature.heft.report)
        heft.unregister()
        page += [f"## {title}", "", f"{note} {report['why']}", "", f"![{title}]({picture.name})", ""]
    return "\n".join(page)
