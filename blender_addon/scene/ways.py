# SPDX-License-Identifier: GPL-3.0-or-later
"""Where a walk is to lead: along a curve, or to where an object is at each moment."""

from __future__ import annotations

import bpy
import numpy as np

from ...core.motion.clip import Clip
from ...core.motion.path import USUAL, Path, towards
from ...core.motion.quaternions import Array
from ..typed import settings_on

POINTS, AHEAD = 4, 4.0  # of a new path, m
GOES = 0.3  # m/s: an action that goes slower is in place, and says nothing of its speed


class WayReader:
    """The curve as it is at the start, the speed and the target's place while the frames go by."""

    def __init__(self, armature: bpy.types.Object, frames: int, start: int) -> None:
        """Make room; the simulation is to begin at frame `start`."""
        settings = settings_on(armature)
        self._armature, self._start = armature, start
        self._curve, self._target = settings.path, settings.target
        self._speed: Array = np.zeros(frames)
        self._place: Array = np.zeros((frames, 3))
        self._drawn: Array = np.zeros((0, 3))
        self._stops: tuple[int, ...] = ()
        self._wait = settings.path_wait

    def look(self, row: int, graph: bpy.types.Depsgraph) -> None:
        """Read frame `row`."""
        self._speed[row] = settings_on(self._armature.evaluated_get(graph)).path_speed
        if self._target is not None:
            self._place[row] = self._target.evaluated_get(graph).matrix_world.translation
        if row == self._start and self._curve is not None:
            self._drawn, self._stops = drawn(self._curve, np.array(self._curve.evaluated_get(graph).matrix_world))

    def path(self, clip: Clip, hips: int, unit: float) -> Path | None:
        """Return where to go, None where the motion goes by itself; ValueError in words for the user."""
        first = self._start
        speed = self._speed[first:]
        if speed.any() and not speed.all():
            raise ValueError("Path Speed is 0 in some frames and more in others: key it above 0 throughout.")
        keyed = speed if speed.all() else np.zeros(0)
        time = np.arange(len(speed)) / clip.rate
        changes = len(keyed) > 0 and bool((keyed != keyed[0]).any())
        chosen = keyed if changes else keyed[:1]
        if self._curve is not None:
            if len(self._drawn) < 2:
                raise ValueError(f"The curve {self._curve.name} has no points to walk along: draw it in Edit Mode.")
            try:
                stops = self._stops if self._wait > 0.0 else ()
                return Path(unit * self._drawn, time[: len(chosen)], chosen, stops, self._wait if stops else 0.0)
            except ValueError as error:
                raise ValueError(f"{self._curve.name}: {error}") from error
        if self._target is None:
            return None
        own = clip.position[first:, hips]
        way = own[-1, :2] - own[0, :2]
        usual = float(np.hypot(*way)) / max((len(own) - 1) / clip.rate, 1e-9)
        pace = float(keyed[0]) if len(keyed) else (usual if usual > GOES else USUAL)
        place = unit * self._place[first:]
        ahead = way if usual > GOES else place[0, :2] - own[0, :2]
        found = towards(own[0], float(np.arctan2(ahead[1], ahead[0])), place, clip.rate, pace)
        keep = np.concatenate([[True], np.linalg.norm(np.diff(found, axis=0), axis=1) > 0.0])
        if keep.sum() < 2:
            raise ValueError(f"{self._armature.name} is at {self._target.name} already: move the target away.")
        try:
            return Path(found[keep], time[: len(chosen)], chosen, target_time=time, target=place[:, :2])
        except ValueError as error:
            raise ValueError(f"{self._target.name}: {error}") from error


def drawn(curve: bpy.types.Object, matrix: Array) -> tuple[Array, tuple[int, ...]]:
    """Return places (n, 3) along a curve object's splines, one after the other, in the world, and where one ends.

    Those are the numbers of places after which another spline begins. Of the curve alone: as thick as it may be shown,
    it is gone along its middle.
    """
    data = curve.data.copy()
    assert isinstance(data, bpy.types.Curve)
    data.bevel_mode, data.bevel_depth, data.extrude, data.use_path = "ROUND", 0.0, 0.0, False
    data.dimensions = "3D"
    line = bpy.data.objects.new("Heft path", data)
    mesh = line.to_mesh()
    places = np.empty(3 * len(mesh.vertices), dtype=np.float32)
    mesh.vertices.foreach_get("co", places)
    edges = np.empty(2 * len(mesh.edges), dtype=np.int32)
    mesh.edges.foreach_get("vertices", edges)
    joined = {(min(pair), max(pair)) for pair in edges.reshape(-1, 2).tolist()}
    stops = tuple(k for k in range(1, len(mesh.vertices) - 1) if (k, k + 1) not in joined)
    cyclic = len(data.splines) == 1 and data.splines[0].use_cyclic_u
    line.to_mesh_clear()
    bpy.data.objects.remove(line)
    bpy.data.curves.remove(data)
    found: Array = places.reshape(-1, 3).astype(np.float64)
    if cyclic and len(found):
        found = np.concatenate([found, found[:1]])
    world: Array = found @ matrix[:3, :3].T + matrix[:3, 3]
    return world, stops


def draw_ahead(context: bpy.types.Context, armature: bpy.types.Object) -> bpy.types.Object:
    """Return a new curve on the ground, from under the hips straight ahead."""
    roles = settings_on(armature).chosen_roles()
    unit = context.scene.unit_settings.scale_length * settings_on(armature).scale
    posed = armature.evaluated_get(context.evaluated_depsgraph_get())
    matrix = np.array(posed.matrix_world)

    def place(role: str) -> Array:
        head = np.array(posed.pose.bones[roles[role][0]].head)
        found: Array = matrix[:3, :3] @ head + matrix[:3, 3]
        return found

    hips, across = place("pelvis"), place("thigh.L") - place("thigh.R")
    ahead = np.array([across[1], -across[0], 0.0]) / max(float(np.hypot(*across[:2])), 1e-9)
    data = bpy.data.curves.new("Path", "CURVE")
    data.dimensions = "3D"
    spline = data.splines.new("BEZIER")
    spline.bezier_points.add(POINTS - 1)
    for number, point in enumerate(spline.bezier_points):
        point.co = (*(hips + number * AHEAD / (POINTS - 1) / unit * ahead)[:2], 0.0)
        point.handle_left_type = point.handle_right_type = "AUTO"
    curve = bpy.data.objects.new(f"Path {armature.name}", data)
    context.collection.objects.link(curve)
    return curve
