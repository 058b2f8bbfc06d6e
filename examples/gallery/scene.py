# SPDX-License-Identifier: GPL-3.0-or-later
"""What a scene of the gallery is, and what scenes are put together from: walkers, blocks, ground, pushes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, NamedTuple

from ...blender_addon.typed import settings_on
from .. import key_poses, mannequin, walk

if TYPE_CHECKING:
    import bpy

Place = tuple[float, float, float]
Color = tuple[float, float, float]

STONE, WOOD, STEEL, RED = (0.44, 0.45, 0.48), (0.55, 0.40, 0.26), (0.30, 0.31, 0.34), (0.62, 0.16, 0.12)
GREY = (0.50, 0.52, 0.55)


class Scene(NamedTuple):
    """A film of the gallery: how it is made, and how it is looked at."""

    name: str  # of its files
    title: str
    lines: tuple[str, str, str]  # how it is done, for who wants to do it
    make: Callable[[bpy.types.Context], list[bpy.types.Object]]  # the armatures to bake, set up
    camera: Place = (-4.6, -3.4, 1.1)  # from what it looks at, m
    follows: bool = True  # the camera goes along
    frames: tuple[int, int] | None = None  # that are shown; all, if not said
    falls: bool = False  # somebody is meant to
    floor: float | None = 0.0  # where the studio's is, m; None: there is none


def walker(
    context: bpy.types.Context,
    *,
    cycles: int = 4,
    place: Place = (0.0, 0.0, 0.0),
    turned: float = 0.0,
    name: str = "Mannequin",
) -> bpy.types.Object:
    """A mannequin that walks so many strides from a place on, set up; turned about the vertical, rad."""
    import bpy

    armature = mannequin.make_mannequin(context, name)
    action = walk.key_walk(armature, cycles=cycles)
    armature.location, armature.rotation_euler.z = place, turned
    context.view_layer.update()
    scene = context.scene
    scene.frame_end = max(scene.frame_end, round(action.frame_range[1]))
    choose(context, [armature])
    bpy.ops.heft.set_up()
    return armature


def choose(context: bpy.types.Context, objects: Sequence[bpy.types.Object]) -> None:
    """Select these alone; the first is the active one."""
    for other in context.selected_objects:
        other.select_set(state=False)
    for one in objects:
        one.select_set(state=True)
    context.view_layer.objects.active = objects[0]


def block(
    context: bpy.types.Context, name: str, size: Place, place: Place, color: Color = STONE, turned: Place = (0, 0, 0)
) -> bpy.types.Object:
    """A box by its size and its middle, turned by Euler angles, rad."""
    import bpy

    x, y, z = (0.5 * side for side in size)
    corners = [(a, b, c) for a in (-x, x) for b in (-y, y) for c in (-z, z)]
    sides = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]
    mesh = bpy.data.meshes.new(name)
    mesh.from_pydata(corners, [], sides)
    mesh.materials.append(mannequin.make_material(name, color, roughness=0.8))
    result = bpy.data.objects.new(name, mesh)
    result.location, result.rotation_euler = place, turned
    context.collection.objects.link(result)
    return result


def ground(
    context: bpy.types.Context, armatures: Sequence[bpy.types.Object], pieces: Sequence[bpy.types.Object]
) -> bpy.types.Collection:
    """Make these the ground of who walks there."""
    import bpy

    collection = bpy.data.collections.new("Ground")
    context.scene.collection.children.link(collection)
    for piece in pieces:
        collection.objects.link(piece)
    for armature in armatures:
        settings_on(armature).terrain = collection
    context.view_layer.update()
    return collection


def push(
    context: bpy.types.Context,
    armature: bpy.types.Object,
    frame: int,
    newtons: float,
    direction: Place,
    *,
    frames: int = 2,
    bone: str = "chest",
) -> None:
    """An arrow that pushes a bone from a frame on."""
    import bpy

    context.scene.frame_set(frame)
    choose(context, [armature])
    armature.data.bones.active = armature.data.bones[bone]
    bpy.ops.heft.add_push(kind="CUSTOM", strength=newtons, duration=frames, direction=direction)
    show_arrow(context, armature, bone, frame, frames, direction)
    context.scene.frame_set(context.scene.frame_start)
    choose(context, [armature])


def show_arrow(
    context: bpy.types.Context,
    armature: bpy.types.Object,
    bone: str,
    frame: int,
    frames: int,
    direction: Place,
) -> None:
    """A mesh where an empty's arrow is, which no film shows: it flies to the body and is gone with the push."""
    import bpy
    from mathutils import Vector

    way = Vector(direction).normalized()
    aim = armature.matrix_world @ armature.pose.bones[bone].head
    shaft = bpy.data.objects.new("Arrow", arrow_mesh())
    context.collection.objects.link(shaft)
    shaft.rotation_euler = way.to_track_quat("Z", "Y").to_euler()
    for at, back in ((frame - 6, 0.9), (frame, 0.16), (frame + frames, 0.12)):
        shaft.location = aim - back * way
        shaft.keyframe_insert("location", frame=at)
    for at, hidden in ((frame - 7, True), (frame - 6, False), (frame + frames + 3, True)):
        shaft.hide_render = shaft.hide_viewport = hidden
        shaft.keyframe_insert("hide_render", frame=at)
        shaft.keyframe_insert("hide_viewport", frame=at)


def arrow_mesh() -> bpy.types.Mesh:
    """An arrow along Z whose tip is at the origin, half a metre long."""
    import math

    import bpy

    corners = 16
    rings = ((-0.5, 0.022), (-0.16, 0.022), (-0.16, 0.06), (0.0, 0.0015))
    vertices = [
        (radius * math.cos(2.0 * math.pi * k / corners), radius * math.sin(2.0 * math.pi * k / corners), z)
        for z, radius in rings
        for k in range(corners)
    ]
    faces = [
        (
            ring * corners + k,
            ring * corners + (k + 1) % corners,
            (ring + 1) * corners + (k + 1) % corners,
            (ring + 1) * corners + k,
        )
        for ring in range(len(rings) - 1)
        for k in range(corners)
    ]
    mesh = bpy.data.meshes.new("Arrow")
    mesh.from_pydata(vertices, [], [*faces, tuple(range(corners))[::-1]])
    mesh.materials.append(mannequin.make_material("Push", RED))
    return mesh


def tint(armature: bpy.types.Object, color: Color) -> None:
    """Give a figure another colour, to tell it from others."""
    for body in armature.children:
        for slot in body.material_slots:
            slot.material = mannequin.make_material(f"{armature.name} paint", color, roughness=0.6)


def end_at(context: bpy.types.Context, seconds: float) -> None:
    """Have the scene end so many seconds after it begins."""
    context.scene.frame_end = key_poses.frame_at(context, seconds)
