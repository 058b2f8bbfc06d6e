# SPDX-License-Identifier: GPL-3.0-or-later
"""What the mouse is on: the nearest part of a character, and where in the world the mouse pulls it to."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

import bpy
import numpy as np
from bpy_extras import view3d_utils
from mathutils import Vector

from ...core.motion import quaternions
from ...core.motion.quaternions import Array
from ..overlay.draw import placement
from ..typed import settings_on

NEAR = 40.0  # pixels at scale 1
BEFORE = 3.0  # m, from where a ball is thrown at most
LOWEST = 0.3  # m over the ground from where it is thrown at least
GRAVITY = 9.81


@dataclass(frozen=True)
class View:
    """A 3D Viewport, and a place in it."""

    region: bpy.types.Region
    data: bpy.types.RegionView3D
    mouse: tuple[float, float]  # pixels in the region

    def ray(self) -> tuple[Array, Array]:
        """Where one looks from, and which way, in the scene's units."""
        origin = view3d_utils.region_2d_to_origin_3d(self.region, self.data, self.mouse)
        way = view3d_utils.region_2d_to_vector_3d(self.region, self.data, self.mouse)
        return np.array(origin), np.array(way)

    def at_depth_of(self, place: Array) -> Array:
        """The place under the mouse that is as far away as another, in the scene's units."""
        return np.array(
            view3d_utils.region_2d_to_location_3d(self.region, self.data, self.mouse, Vector(place.tolist()))
        )

    def pixel(self, place: Array) -> Array | None:
        """Where a place of the scene is seen, None behind the viewer."""
        found = view3d_utils.location_3d_to_region_2d(self.region, self.data, Vector(place.tolist()))
        return None if found is None else np.array(found)


@dataclass(frozen=True)
class Part:
    """A point of a body."""

    body: str
    point: tuple[float, float, float]  # in the body's frame, m
    place: Array  # in the scene's units
    away: float  # pixels


def view_at(context: bpy.types.Context, x: int, y: int) -> View | None:
    """Return the 3D Viewport at a place of the window, None where there is none or something lies over it."""
    for area in context.window.screen.areas:
        if area.type != "VIEW_3D":
            continue
        inside = [r for r in area.regions if r.x <= x < r.x + r.width and r.y <= y < r.y + r.height]
        if not inside or any(region.type != "WINDOW" for region in inside):
            continue
        region = inside[0]
        space = area.spaces.active
        if isinstance(space, bpy.types.SpaceView3D) and space.region_3d is not None:
            return View(region, space.region_3d, (x - region.x, y - region.y))
    return None


def part_under(
    context: bpy.types.Context, armature: bpy.types.Object, bones: Collection[str], view: View
) -> Part | None:
    """Return the nearest of some bones to the mouse, as the point of the body that rides on it; None if all are far."""
    settings = settings_on(armature)
    unit = context.scene.unit_settings.scale_length * settings.scale
    shown = armature.evaluated_get(context.view_layer.depsgraph)
    place = placement(shown, settings.rides, unit)
    matrix, best = np.array(shown.matrix_world), None
    mouse, near = np.array(view.mouse), NEAR * context.preferences.system.ui_scale
    bodies = {ride: body for body, ride in riding(settings.rides).items() if ride in bones and body in place}
    for bone, body in bodies.items():
        pose = shown.pose.bones[bone]
        ends = [matrix[:3, :3] @ np.array(end) + matrix[:3, 3] for end in (pose.head, pose.tail)]
        seen = [view.pixel(end) for end in ends]
        if seen[0] is None or seen[1] is None:
            continue
        along = seen[1] - seen[0]
        share = float(np.clip((mouse - seen[0]) @ along / max(float(along @ along), 1e-9), 0.0, 1.0))
        away = float(np.linalg.norm(seen[0] + share * along - mouse))
        if away < near and (best is None or away < best.away):
            there = ends[0] + share * (ends[1] - ends[0])
            position, turn = place[body]
            x, y, z = quaternions.rotate(quaternions.conjugate(turn), unit * there - position).tolist()
            best = Part(body, (x, y, z), there, away)
    return best


def riding(rides: str) -> dict[str, str]:
    """Return the bones that bodies ride on, by the bodies' names."""
    from ..overlay.data import read_rides

    return {body: ride.bone for body, ride in read_rides(rides).items()}


def hips_of(context: bpy.types.Context, armature: bpy.types.Object) -> Array:
    """Return where the hips are, in the scene's units."""
    bone = settings_on(armature).chosen_roles()["pelvis"][0]
    shown = armature.evaluated_get(context.view_layer.depsgraph)
    return np.array(shown.matrix_world @ shown.pose.bones[bone].head)


def throw_at(target: Array, view: View, speed: float, unit: float) -> tuple[Array, Array]:
    """From where and how fast (m, m/s) a ball is thrown that is to hit a place (scene's units) under the mouse.

    It comes from where one looks from, or from nearer; and flies so much higher as it falls on its way.
    """
    origin, _ = view.ray()
    goal = unit * target
    way = goal - unit * origin
    far = float(np.linalg.norm(way))
    start = goal - way / max(far, 1e-9) * min(far, BEFORE)
    start[2] = max(start[2], LOWEST)
    seconds = max(float(np.linalg.norm(goal - start)) / speed, 1e-3)
    velocity = (goal - start) / seconds
    velocity[2] += 0.5 * GRAVITY * seconds
    return start, velocity


def away_from_viewer(view: View) -> Array:
    """The level direction (3,) in which one looks."""
    _, way = view.ray()
    level = np.array([way[0], way[1], 0.0])
    size = float(np.linalg.norm(level))
    if size < 1e-3:  # straight down: towards the top of the view
        up = np.array(view.data.view_rotation @ Vector((0.0, 1.0, 0.0)))
        level = np.array([up[0], up[1], 0.0])
        size = float(np.linalg.norm(level))
    found: Array = level / max(size, 1e-9)
    return found
