# SPDX-License-Identifier: GPL-3.0-or-later
"""Walks that are led: along a path, after a target, by speed and heading, by hand on the stage."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from ...blender_addon.typed import as_kind, settings_on, shared_by
from .. import mannequin
from .scene import GREY, RED, Scene, choose, end_at, tint, walker

if TYPE_CHECKING:
    import bpy

STYLES = ("NORMAL", "MARCH", "SNEAK", "TIRED", "WIDE")
CHILD = 0.62
"""Of its parent's height."""
PAINTS = (None, (0.20, 0.32, 0.22), (0.24, 0.22, 0.34), GREY, (0.50, 0.36, 0.14))


def path(context: bpy.types.Context) -> list[bpy.types.Object]:
    """Along a curve."""
    walks = walker(context, cycles=4)
    places = [(0.0, 0.0), (0.0, -1.5), (1.3, -2.9), (-0.6, -4.6), (0.2, -6.0)]
    settings_on(walks).path = way(context, "Way", places)
    return [walks]


def way(context: bpy.types.Context, name: str, places: list[tuple[float, float]]) -> bpy.types.Object:
    """A smooth curve on the ground, drawn as a thin tube."""
    import bpy

    data = as_kind(bpy.data.curves.new(name, "CURVE"), bpy.types.Curve)
    data.dimensions, data.bevel_depth = "3D", 0.012
    spline = data.splines.new("BEZIER")
    spline.bezier_points.add(len(places) - 1)
    for point, (x, y) in zip(spline.bezier_points, places, strict=True):
        point.co = (x, y, 0.0)
        point.handle_left_type = point.handle_right_type = "AUTO"
    data.materials.append(mannequin.make_material(name, RED))
    curve = bpy.data.objects.new(name, data)
    context.scene.collection.objects.link(curve)
    return curve


def target(context: bpy.types.Context) -> list[bpy.types.Object]:
    """After a ball that rolls."""
    import bpy

    walks = walker(context, cycles=4)
    mesh = bpy.data.meshes.new("Ball")
    ball = bpy.data.objects.new("Ball", mesh)
    context.scene.collection.objects.link(ball)
    sphere(mesh, 0.16, RED)
    for frame, place in ((1, (0.0, -2.6, 0.16)), (70, (1.6, -3.4, 0.16)), (150, (-0.6, -5.4, 0.16))):
        ball.location = place
        ball.keyframe_insert("location", frame=frame)
    settings_on(walks).target = ball
    end_at(context, 8.0)
    return [walks]


def sphere(mesh: bpy.types.Mesh, radius: float, color: tuple[float, float, float]) -> None:
    """Fill a mesh with a ball."""
    import bmesh

    made = bmesh.new()
    bmesh.ops.create_uvsphere(made, u_segments=24, v_segments=14, radius=radius)
    made.to_mesh(mesh)
    made.free()
    mesh.polygons.foreach_set("use_smooth", [True] * len(mesh.polygons))
    mesh.materials.append(mannequin.make_material(mesh.name, color))


def styles(context: bpy.types.Context) -> list[bpy.types.Object]:
    """Five styles side by side, without a clip."""
    shared_by(context.scene).together = False
    found = []
    for k, (style, paint) in enumerate(zip(STYLES, PAINTS, strict=True)):
        walks = walker(context, cycles=1, place=(1.1 * (k - 2), 0.0, 0.0), name=style.title())
        if paint is not None:
            tint(walks, paint)
        settings = settings_on(walks)
        settings.controller, settings.gait.style = "GAIT", style
        settings.use_frame_range, settings.frame_start, settings.frame_end = True, 1, 110
        settings.course.forward = 0.8
        found.append(walks)
    context.scene.frame_end = 110
    choose(context, found)
    return found


def steered(context: bpy.types.Context) -> list[bpy.types.Object]:
    """Speed and heading by keys."""
    walks = walker(context, cycles=1)
    settings = settings_on(walks)
    settings.controller = "GAIT"
    settings.use_frame_range, settings.frame_start, settings.frame_end = True, 1, 200
    for frame, speed, heading in ((1, 0.8, 0.0), (48, 0.8, 0.0), (49, 0.8, 45.0), (110, 0.8, 45.0), (111, 0.8, -20.0)):
        settings.course.forward, settings.course.heading = speed, math.radians(heading)
        walks.keyframe_insert("heft.course.forward", frame=frame)
        walks.keyframe_insert("heft.course.heading", frame=frame)
    context.scene.frame_end = 200
    return [walks]


def child(context: bpy.types.Context) -> list[bpy.types.Object]:
    """A child that walks as its parent does."""
    import bpy

    parent = walker(context, cycles=4)
    small = walker(context, cycles=1, place=(-0.9, -1.0, 0.0), name="Child")
    small.scale = (CHILD, CHILD, CHILD)
    context.view_layer.update()
    choose(context, [small])
    bpy.ops.heft.set_up()
    settings_on(small).motion_from = parent
    tint(small, PAINTS[4] or GREY)
    choose(context, [parent, small])
    return [parent, small]


SCENES = (
    Scene(
        "child",
        "Like its parent",
        (
            "Select the child, and choose the parent under **Motion From**.",
            "The child's own keys are left alone.",
            "Press **Bake** with both selected: strides are as long as its legs allow.",
        ),
        child,
        camera=(-4.6, -4.2, 1.0),
    ),
    Scene(
        "path",
        "Along a drawn path",
        (
            "Press **Add Path**, and draw the curve as you like.",
            "The action stays a walk straight ahead.",
            "Press **Bake**: it takes the curve and stops at its end.",
        ),
        path,
        camera=(-3.4, -5.6, 2.6),
    ),
    Scene(
        "target",
        "After a ball",
        (
            "Choose an object as *Target*.",
            "Key where it goes.",
            "Press **Bake**: the walk turns after it, and stops there.",
        ),
        target,
        camera=(-3.0, -5.8, 2.4),
    ),
    Scene(
        "styles",
        "Five styles, no clip",
        (
            "Choose the method *Walk*: it needs a pose to start from, no walk.",
            "Choose a *Style*: normal, march, sneak, tired or wide.",
            "Press **Bake**.",
        ),
        styles,
        camera=(-2.4, -8.6, 1.7),
    ),
    Scene(
        "steered",
        "Speed and heading by keys",
        (
            "Choose the method *Walk*.",
            "Key *Speed* and *Heading* where they change.",
            "Press **Bake**: each step reads them as it begins.",
        ),
        steered,
        camera=(-3.2, -5.0, 2.0),
    ),
)
