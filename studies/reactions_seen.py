# SPDX-License-Identifier: GPL-3.0-or-later
"""Pushes, falls and loads on the mannequin, as film strips to look at."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import bpy
import heft
from heft.blender_addon.film_strip import place_of, render_film_strip
from heft.examples import key_poses, mannequin
from mathutils import Vector

INTRODUCTION = """# Reactions, seen

The mannequin and motions made by script, baked by look-ahead control with default settings: eight pushes for a tenth of
a second on four motions, four falls, one that gets up again, and loads in one hand. Above each picture is what the
report says. Who stands takes steps that the action does not have, and limbs meet each other from the push on. Written
by `run.py study reactions_seen`.
"""
FPS = 24
EVERY, PICTURES = 4, 9  # frames between pictures, and how many
AWAY = 6.0  # m of the camera
SIDES = {"ahead": (0.0, -1.0, 0.0), "back": (0.0, 1.0, 0.0), "left": (1.0, 0.0, 0.0), "right": (-1.0, 0.0, 0.0)}


def walk() -> bpy.types.Object:
    """It faces -Y."""
    bpy.ops.heft.add_mannequin()
    armature = bpy.context.active_object
    armature.heft.loop, armature.heft.loop_seconds = True, 5.0
    return armature


def walk_and_rise() -> bpy.types.Object:
    """It gets up when it has fallen."""
    armature = walk()
    armature.heft.loop_seconds, armature.heft.get_up = 13.0, True
    return armature


def idle() -> bpy.types.Object:
    """It stands for three seconds."""
    armature = mannequin.make_mannequin(bpy.context, "Idle")
    key_poses.key_pelvis(bpy.context, armature, ((0.0, (0.0, 0.0, 0.0)), (3.0, (0.0, 0.0, 0.0))))
    bpy.context.scene.frame_end = 1 + 3 * FPS
    bpy.ops.heft.set_up()
    armature.heft.controller = "LOOKAHEAD"
    return armature


def squat() -> bpy.types.Object:
    """Down and up again."""
    bpy.ops.heft.add_key_poses(scene="SQUAT")
    armature = bpy.context.active_object
    armature.heft.controller = "LOOKAHEAD"
    return armature


@dataclass(frozen=True)
class Scene:
    """A motion, and what happens to it."""

    motion: Callable[[], bpy.types.Object]
    what: str
    frame: int = 40
    newtons: float = 0.0
    side: str = "left"
    seconds: float = 0.1
    load: float = 0.0  # kg in the left hand
    every: int = EVERY  # frames between pictures


PUSHES = {
    "walk_ahead": Scene(walk, "Walking, 300 N ahead", 40, 300.0, "ahead"),
    "walk_back": Scene(walk, "Walking, 250 N back", 40, 250.0, "back"),
    "walk_left": Scene(walk, "Walking, 250 N to its left", 40, 250.0, "left"),
    "walk_right": Scene(walk, "Walking, 250 N to its right", 40, 250.0, "right"),
    "idle_back": Scene(idle, "Standing, 200 N back", 20, 200.0, "back"),
    "idle_left": Scene(idle, "Standing, 200 N to its left", 20, 200.0, "left"),
    "squat_ahead": Scene(squat, "Squatting, 200 N ahead", 30, 200.0, "ahead"),
    "carrying_left": Scene(
        walk, "Walking with 10 kg in the left hand, 250 N to its left", 40, 250.0, "left", load=10.0
    ),
}
FALLS = {f"fall_{side}": Scene(walk, f"Walking, 900 N for 0.2 s, {side}", 40, 900.0, side, 0.2) for side in SIDES}
RISINGS = {
    "get_up": Scene(
        walk_and_rise, "Walking, 900 N for 0.2 s to its left, with Get Up", 40, 900.0, "left", 0.2, every=30
    )
}
LOADS = {
    "load_none": Scene(walk, "Nothing in the hand", load=0.0),
    "load": Scene(walk, "10 kg in the left hand", load=10.0),
    "load_heavy": Scene(walk, "20 kg in the left hand", load=20.0),
}


def add_push(armature: bpy.types.Object, scene: Scene) -> None:
    """At the chest."""
    bpy.context.scene.frame_set(scene.frame)
    armature.data.bones.active = armature.data.bones["chest"]
    frames = max(1, round(scene.seconds * FPS))
    strength = scene.newtons * scene.seconds * FPS / frames
    bpy.ops.heft.add_push(kind="CUSTOM", strength=strength, duration=frames, direction=SIDES[scene.side])
    bpy.context.view_layer.objects.active = armature


def add_bucket(armature: bpy.types.Object, scene: Scene) -> None:
    """Below the left hand."""
    bpy.context.scene.frame_set(1)
    hand = armature.matrix_world @ armature.pose.bones["hand.L"].tail
    bpy.ops.mesh.primitive_cylinder_add(radius=0.12, depth=0.25, location=hand - Vector((0.0, 0.0, 0.12)))
    bucket = bpy.context.active_object
    armature.select_set(True)
    bpy.context.view_layer.objects.active = armature
    armature.data.bones.active = armature.data.bones["hand.L"]
    bucket.select_set(True)
    bpy.ops.heft.add_prop(carried=True)
    bucket.heft.weight.mass = scene.load


def baked(scene: Scene) -> tuple[bpy.types.Object, dict[str, str]]:
    """The armature after its bake, and the report."""
    bpy.ops.wm.read_factory_settings(use_empty=True)
    heft.register()
    bpy.context.scene.render.fps = FPS
    armature = scene.motion()
    bpy.ops.heft.set_up()
    if scene.newtons:
        add_push(armature, scene)
    if scene.load:
        add_bucket(armature, scene)
    bpy.ops.heft.bake()
    return armature, json.loads(armature.heft.report)


def strip(armature: bpy.types.Object, scene: Scene, path: Path) -> None:
    """From just before the push on; from ahead of what goes aside, from the side of what goes ahead or back."""
    context = bpy.context
    first = scene.frame - scene.every
    frames = [first + scene.every * k for k in range(PICTURES)]
    camera = bpy.data.objects.new("Camera", bpy.data.cameras.new("Camera"))
    camera.data.lens = 75.0
    context.scene.collection.objects.link(camera)
    aside = bool(scene.load) or scene.side in {"left", "right"}
    away = Vector((-0.35, -1.0, 0.12)) if aside else Vector((1.0, -0.35, 0.12))
    for frame in frames:
        place = place_of(context.scene, armature, frame)
        place.z = 0.95
        camera.location = place + AWAY * away
        camera.rotation_euler = (place - camera.location).to_track_quat("-Z", "Y").to_euler()
        camera.keyframe_insert("location", frame=frame)
        camera.keyframe_insert("rotation_euler", frame=frame)
    bpy.ops.mesh.primitive_plane_add(size=60.0)
    render_film_strip(context.scene, frames, path, subject=armature, camera=camera, width=130, height=240, samples=8)


def study(folder: Path) -> str:
    """The page; its pictures go to the folder."""
    page = [INTRODUCTION]
    for title, scenes in (("Pushes", PUSHES), ("Falls", FALLS), ("Getting up", RISINGS), ("Loads", LOADS)):
        page += [f"## {title}", ""]
        for name, scene in scenes.items():
            armature, report = baked(scene)
            picture = folder / f"reactions_{name}.png"
            strip(armature, scene, picture)
            heft.unregister()
            page += [f"{scene.what}: {report['why']}", "", f"![{scene.what}]({picture.name})", ""]
    return "\n".join(page)
