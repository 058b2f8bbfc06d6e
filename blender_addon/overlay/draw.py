# SPDX-License-Identifier: GPL-3.0-or-later
"""Show characters over their rigs in the 3D Viewport."""

from typing import Any

import blf
import bpy
import gpu
import numpy as np
from bpy_extras.view3d_utils import location_3d_to_region_2d
from gpu_extras.batch import batch_for_shader

from ...core.motion import quaternions
from ...core.motion.quaternions import Array
from ..rig.reading import rotations_of
from ..typed import as_kind, notes_on, settings_on
from . import glance, live, record
from .data import Lines, character_lines, joined, read_character, read_rides

LINE_WIDTH = 1.5
LABEL_SIZE = 12.0
BESIDE = 8.0  # pixels at scale 1


def placement(armature: bpy.types.Object, rides_text: str, unit: float) -> dict[str, tuple[Array, Array]]:
    """Return where the bodies' frames stand in the pose that is shown, in metres; empty where bones are gone."""
    place = {}
    matrix = np.array(armature.matrix_world)
    for body, ride in read_rides(rides_text).items():
        bone: bpy.types.PoseBone | None = armature.pose.bones.get(ride.bone)
        if bone is None:
            return {}
        world = matrix @ np.array(bone.matrix)
        turn = quaternions.from_matrix(rotations_of(world[None, :3, :3]))[0]
        position = unit * world[:3, 3] + quaternions.rotate(turn, ride.position)
        place[body] = (position, quaternions.multiply(turn, ride.orientation))
    return place


def lines_of(context: bpy.types.Context, armature: bpy.types.Object) -> Lines | None:
    """Return the lines of an armature's character in the scene's own units, or None where it shows none."""
    settings = settings_on(armature)
    if not (settings.show_character and settings.character and settings.rides):
        return None
    unit = context.scene.unit_settings.scale_length * settings.scale
    evaluated = armature.evaluated_get(context.view_layer.depsgraph)
    stands = (settings.character, settings.rides, unit, *pose_of(evaluated))
    before, lines = _last.get(armature.session_uid, (None, None))
    if before == stands:
        return lines
    place = placement(evaluated, settings.rides, unit)
    found = character_lines(read_character(settings.character), place) if place else None
    lines = None if found is None else Lines(found.vertices / unit, found.colors)
    _last[armature.session_uid] = stands, lines
    return lines


def pose_of(armature: bpy.types.Object) -> tuple[tuple[str, ...], bytes, bytes]:
    """Return its bones, where it is, and how they stand in it."""
    matrices = np.empty(16 * len(armature.pose.bones), dtype=np.float32)
    armature.pose.bones.foreach_get("matrix", matrices)
    names = tuple(bone.name for bone in armature.pose.bones)
    return names, np.array(armature.matrix_world).tobytes(), matrices.tobytes()


_last: dict[int, tuple[tuple[object, ...], Lines | None]] = {}
"""What was drawn of armatures by session number, and how they stood: one picture is drawn over and over."""


def record_of(armature: bpy.types.Object) -> record.Record | None:
    """Return what is kept of the bake that the armature plays, or None."""
    animation = armature.animation_data
    action = animation.action if animation else None
    return record.unpack(notes_on(action).overlay) if action is not None and notes_on(action).overlay else None


def lines_of_bake(context: bpy.types.Context, armature: bpy.types.Object) -> Lines | None:
    """Return what there is to see of the bake that the armature plays, or None."""
    kept = record_of(armature)
    if kept is None:
        return None
    settings, scene = settings_on(armature), context.scene
    lines = record.lines_at(
        kept,
        scene.frame_current_final,
        ghost=settings.show_ghost,
        balance=settings.show_balance,
        forces=settings.show_forces,
        helped=settings.show_help,
        fall=settings.show_fall,
    )
    unit = scene.unit_settings.scale_length * settings.scale
    return None if lines is None else Lines(lines.vertices / unit, lines.colors)


def lines_of_pushes(context: bpy.types.Context, armature: bpy.types.Object) -> Lines | None:
    """Return an arrow for every push that acts on the armature now, or None."""
    settings = settings_on(armature)
    if not settings.show_pushes:
        return None
    unit = context.scene.unit_settings.scale_length * settings.scale
    segments = []
    for other in context.view_layer.objects:
        push = settings_on(other).push
        if other.type != "EMPTY" or push.armature not in {armature, settings.proxy_of} or not push.armature:
            continue
        if push.taken:
            start, force = unit * np.array(other.matrix_world.translation), np.array(push.force)
            if force.any():
                segments += record.arrow(start, start + record.PUSH_LENGTH * force, record.PUSH)
        elif push.strength:
            matrix = np.array(other.matrix_world)
            along = matrix[:3, 2] / max(float(np.linalg.norm(matrix[:3, 2])), 1e-9)
            start = unit * matrix[:3, 3]
            segments += record.arrow(start, start + record.PUSH_LENGTH * push.strength * along, record.PUSH)
    if not segments:
        return None
    lines = joined(segments)
    return Lines(lines.vertices / unit, lines.colors)


def lines_of_glance(context: bpy.types.Context, armature: bpy.types.Object) -> Lines | None:
    """Return what physics says of the action that the armature plays, or None."""
    known = glance.glance_of(armature)
    lines = None if known is None else glance.lines_at(known, context.scene.frame_current_final)
    unit = context.scene.unit_settings.scale_length * settings_on(armature).scale
    return None if lines is None else Lines(lines.vertices / unit, lines.colors)


def lines_of_live(context: bpy.types.Context, armature: bpy.types.Object) -> Lines | None:
    """Return what Auto Bake makes of the action that the armature plays, or None."""
    known = live.live_of(armature)
    lines = None if known is None else known.lines_at(context.scene.frame_current_final)
    unit = context.scene.unit_settings.scale_length * settings_on(armature).scale
    return None if lines is None else Lines(lines.vertices / unit, lines.colors)


def draw() -> None:
    """Draw what belongs to the selected armatures and the active one."""
    context = bpy.context
    if not as_kind(context.space_data, bpy.types.SpaceView3D).overlay.show_overlays:
        return
    for armature in armatures(context):
        for lines_for in (lines_of, lines_of_bake, lines_of_pushes, lines_of_glance, lines_of_live):
            lines = lines_for(context, armature)
            if lines is not None:
                draw_lines(context, lines)


def armatures(context: bpy.types.Context) -> list[bpy.types.Object]:
    """Return the selected ones and the active one."""
    found = {o.name: o for o in (*context.selected_objects, context.active_object) if o and o.type == "ARMATURE"}
    return list(found.values())


def write() -> None:
    """Write millimetres beside what is wrong, and newtons beside help."""
    context = bpy.context
    if not as_kind(context.space_data, bpy.types.SpaceView3D).overlay.show_overlays:
        return
    scale, font = context.preferences.system.ui_scale, 0
    for armature in armatures(context):
        known, kept, frame = glance.glance_of(armature), record_of(armature), context.scene.frame_current_final
        unit = context.scene.unit_settings.scale_length * settings_on(armature).scale
        labels = [] if known is None else [(*each, glance.BAD) for each in glance.labels_at(known, frame)]
        told = record.help_label(kept, frame) if kept is not None and settings_on(armature).show_help else None
        labels += [] if told is None else [(*told, record.HELP)]
        for place, text, color in labels:
            at = location_3d_to_region_2d(context.region, context.region_data, place / unit)
            if at is not None:
                blf.size(font, LABEL_SIZE * scale)
                blf.color(font, *color)
                blf.position(font, at.x + BESIDE * scale, at.y, 0.0)
                blf.draw(font, text)


def draw_lines(context: bpy.types.Context, lines: Lines) -> None:
    """Draw segments on top of everything."""
    shader = gpu.shader.from_builtin("POLYLINE_SMOOTH_COLOR")
    places: dict[str, Any] = {"pos": lines.vertices.astype(np.float32), "color": lines.colors.astype(np.float32)}
    batch = batch_for_shader(shader, "LINES", places)
    shader.uniform_float("viewportSize", (context.region.width, context.region.height))
    shader.uniform_float("lineWidth", LINE_WIDTH * context.preferences.system.ui_scale)
    gpu.state.blend_set("ALPHA")
    gpu.state.depth_test_set("NONE")
    batch.draw(shader)
    gpu.state.blend_set("NONE")


_handles: list[object] = []


def register() -> None:
    """Have Blender call `draw` with every 3D Viewport."""
    if not bpy.app.background:
        _handles.append(bpy.types.SpaceView3D.draw_handler_add(draw, (), "WINDOW", "POST_VIEW"))
        _handles.append(bpy.types.SpaceView3D.draw_handler_add(write, (), "WINDOW", "POST_PIXEL"))


def unregister() -> None:
    """Have it stop."""
    while _handles:
        bpy.types.SpaceView3D.draw_handler_remove(_handles.pop(), "WINDOW")
    _last.clear()
