# SPDX-License-Identifier: GPL-3.0-or-later
"""The scenes of key poses, keyed and baked, as film strips."""

import json
from pathlib import Path
from typing import NamedTuple

import bpy
import heft
import numpy as np
from heft.blender_addon.film_strip import render_film_strip
from heft.blender_addon.film_strip import save as save_pixels
from mathutils import Vector


class Shot(NamedTuple):
    """How one scene is shown."""

    title: str
    note: str
    height: float  # m, of what the camera looks at
    ahead: float  # m, how far ahead of the origin that is
    away: float  # m, of the camera
    frames: tuple[int, ...]


EVENLY = (1, 22, 34, 48, 62, 78, 97)
SCENES = {
    "CHIN_UP": Shot(
        "Chin-up from two key poses", "Hanging and up; hands held by IK, and by grabs.", 1.62, -0.1, 4.6, EVENLY
    ),
    "SQUAT": Shot(
        "Squat with 30 kg from three key poses", "Stand, squat, stand; feet held by IK.", 0.92, -0.1, 4.6, EVENLY
    ),
    "JUMP_TO_BAR": Shot(
        "Jump to a bar",
        "Stand, crouch, take off, catch, swing; a transition of half a second after the catch.",
        1.45,
        0.75,
        8.2,
        (1, 18, 25, 31, 40, 48, 60, 75),
    ),
    "PICK_UP_BOX": Shot(
        "Picking up a box of 8 kg",
        "Stand, bend, stand; the box is moved by the hands alone, and the plan knows nothing of it.",
        0.92,
        0.25,
        5.2,
        (1, 20, 34, 48, 56, 66, 78, 97),
    ),
}
INTRODUCTION = """# Key poses

The scenes of Add ▸ Armature: above as keyed, below as baked by replanning control, which follows the keys as they
are, without correcting their physics first. Written by `run.py study key_poses`.
"""


def strip(armature: bpy.types.Object, path: Path, shot: Shot) -> np.ndarray:
    """Render the frames, seen from the side and a little from ahead; rows from below."""
    scene = bpy.context.scene
    lens = bpy.data.cameras.new("Camera")
    lens.lens = 62.0
    camera = bpy.data.objects.new("Camera", lens)
    scene.collection.objects.link(camera)
    target = Vector((0.0, -shot.ahead, shot.height))
    camera.location = target + Vector((shot.away, -0.5 * shot.away, 0.15))
    camera.rotation_euler = (target - camera.location).to_track_quat("-Z", "Y").to_euler()
    render_film_strip(scene, shot.frames, path, subject=armature, camera=camera, width=150, height=330, samples=16)
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
    for name, shot in SCENES.items():
        bpy.ops.wm.read_factory_settings(use_empty=True)
        heft.register()
        bpy.context.scene.render.fps = 24
        bpy.ops.heft.add_key_poses(scene=name)
        armature = bpy.context.active_object
        bpy.context.scene.frame_end = shot.frames[-1]
        picture = folder / f"key_poses_{name.lower()}.png"
        keyed = strip(armature, picture, shot)
        bpy.ops.heft.bake()
        baked = strip(armature, picture, shot)
        save_pixels(np.concatenate([baked, keyed]), picture)
        report = json.loads(armature.heft.report)
        heft.unregister()
        page += [f"## {shot.title}", "", f"{shot.note} {report['why']}", "", f"![{shot.title}]({picture.name})", ""]
    return "\n".join(page)
