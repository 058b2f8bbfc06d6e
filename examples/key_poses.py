# SPDX-License-Identifier: GPL-3.0-or-later
"""Scenes of a few key poses, keyed as an animator keys them: the root by keys, hands or feet held by IK.

Each makes a mannequin, what it holds or stands on, and the settings by which a bake follows the keys as they are.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import TYPE_CHECKING, Literal

from ..blender_addon.typed import as_kind, settings_on
from . import mannequin

if TYPE_CHECKING:
    import bpy

Place = tuple[float, float, float]

SIDES = ("L", "R")
TIMES = (0.0, 0.35, 1.4, 1.9, 3.2, 4.0)
"""Seconds at which poses are keyed: the first, held; the second, held; the first again, held."""
BAR_HEIGHT, BAR_WIDTH, BAR_THICKNESS = 2.30, 1.6, 0.016
RISE, BACK = 0.40, 0.16
"""How far a chin-up lifts the body, and how far behind the bar, m."""
DIP, LEAN = 0.34, 42.0
"""How far a squat lowers the hips, m, and leans the trunk, degrees."""
BARBELL, BARBELL_LENGTH = 30.0, 1.5
"""kg and m"""


def chin_up(context: bpy.types.Context, place: Place = (0.0, 0.0, 0.0)) -> bpy.types.Object:
    """A mannequin that hangs from a bar and pulls itself up: two key poses of the root, held in turn."""
    import bpy

    before = set(context.scene.objects)
    armature = mannequin.make_mannequin(context)
    bar = rod(context, "Bar", BAR_WIDTH, BAR_THICKNESS, (0.0, 0.0, BAR_HEIGHT))
    for side, sign in zip(SIDES, (1.0, -1.0), strict=True):
        hold(context, armature, f"forearm.{side}", (0.24 * sign, 0.0, BAR_HEIGHT - 0.02), bar)
        raise_arm(armature, side, context.scene.frame_start)
    reach = (
        BAR_HEIGHT
        - 0.02
        - mannequin.STATURE * (mannequin.SHOULDER_HEIGHT + mannequin.UPPER_ARM_LENGTH + mannequin.FOREARM_LENGTH)
    )
    hang = reach - 0.02
    low, high = (0.0, 0.0, hang), (0.0, BACK, hang + RISE)
    key_pelvis(context, armature, zip(TIMES, (low, low, high, high, low, low), strict=True))
    put(context, before, place)
    follow_keys(context, armature)
    context.scene.frame_set(context.scene.frame_start)
    for side in SIDES:
        armature.data.bones.active = armature.data.bones[f"hand.{side}"]
        bpy.ops.heft.add_grab(duration=0)
    return armature


def squat(context: bpy.types.Context, place: Place = (0.0, 0.0, 0.0)) -> bpy.types.Object:
    """A mannequin that stands, squats and stands again: three key poses; a barbell lies on its shoulders."""
    import bpy

    before = set(context.scene.objects)
    armature = mannequin.make_mannequin(context)
    for side in SIDES:
        stand_on(context, armature, side)
    low, high = (0.0, 0.20, -DIP), (0.0, 0.0, -0.02)
    key_pelvis(context, armature, zip(TIMES, (high, high, low, low, high, high), strict=True))
    for time, degrees in zip(TIMES, (0.0, 0.0, LEAN, LEAN, 0.0, 0.0), strict=True):
        turn(armature, "pelvis", "X", degrees, frame_at(context, time))
    chest = armature.data.bones["chest"].matrix_local.to_translation()
    height = 0.98 * mannequin.SHOULDER_HEIGHT * mannequin.STATURE
    bar = rod(context, "Barbell", BARBELL_LENGTH, BAR_THICKNESS, (0.0, chest.y + 0.10, height))
    put(context, before, place)
    follow_keys(context, armature)
    context.scene.frame_set(context.scene.frame_start)
    armature.data.bones.active = armature.data.bones["chest"]
    bar.select_set(True)
    bpy.ops.heft.add_prop(mass=BARBELL, carried=True)
    bar.select_set(False)
    return armature


def stand_on(
    context: bpy.types.Context, armature: bpy.types.Object, side: str
) -> tuple[bpy.types.Constraint, bpy.types.Constraint]:
    """Keep a foot flat where it is: its ankle by IK of the leg, its turn by a copy; return both constraints."""
    import bpy

    foot = armature.data.bones[f"foot.{side}"]
    target = bpy.data.objects.new(f"{armature.name} foot.{side}", None)
    target.empty_display_size = 0.05
    context.collection.objects.link(target)
    target.matrix_world = armature.matrix_world @ foot.matrix_local
    shin = armature.pose.bones[f"shin.{side}"]
    leg = as_kind(shin.constraints.new("IK"), bpy.types.KinematicConstraint)
    leg.target, leg.chain_count = target, 2
    shin.lock_ik_y = shin.lock_ik_z = True
    turned = armature.pose.bones[f"foot.{side}"].constraints.new("COPY_ROTATION")
    flat = as_kind(turned, bpy.types.CopyRotationConstraint)
    flat.target = target
    turn(armature, f"thigh.{side}", "X", -10.0, context.scene.frame_start)
    turn(armature, f"shin.{side}", "X", 20.0, context.scene.frame_start)
    return leg, flat


def put(context: bpy.types.Context, before: set[bpy.types.Object], place: Place) -> None:
    """Move everything that was added since to where it belongs."""
    for added in set(context.scene.objects) - before:
        if added.parent is None:
            added.location += type(added.location)(place)
    context.view_layer.update()


def rod(context: bpy.types.Context, name: str, length: float, radius: float, place: Place) -> bpy.types.Object:
    """A round rod along X."""
    import bpy

    corners = 16
    vertices = [
        (x, radius * math.cos(2.0 * math.pi * k / corners), radius * math.sin(2.0 * math.pi * k / corners))
        for x in (-0.5 * length, 0.5 * length)
        for k in range(corners)
    ]
    sides = [(k, (k + 1) % corners, corners + (k + 1) % corners, corners + k) for k in range(corners)]
    mesh = bpy.data.meshes.new(name)
    mesh.from_pydata(vertices, [], [*sides, tuple(range(corners))[::-1], tuple(range(corners, 2 * corners))])
    mesh.materials.append(mannequin.make_material(name, (0.30, 0.31, 0.34), roughness=0.4))
    result = bpy.data.objects.new(name, mesh)
    result.location = place
    context.collection.objects.link(result)
    return result


def hold(
    context: bpy.types.Context,
    armature: bpy.types.Object,
    bone: str,
    place: Place,
    parent: bpy.types.Object,
) -> bpy.types.Constraint:
    """Keep the tip of a two-bone chain at a place, by the constraint returned."""
    import bpy

    target = bpy.data.objects.new(f"{armature.name} {bone}", None)
    target.empty_display_size = 0.05
    context.collection.objects.link(target)
    target.location = [a - b for a, b in zip(place, parent.location.to_tuple(), strict=True)]
    target.parent = parent
    elbow = armature.pose.bones[bone]
    constraint = as_kind(elbow.constraints.new("IK"), bpy.types.KinematicConstraint)
    constraint.target, constraint.chain_count = target, 2
    elbow.lock_ik_y = elbow.lock_ik_z = True
    return constraint


def raise_arm(armature: bpy.types.Object, side: str, frame: int) -> None:
    """Swing the arm forward and up, so that IK bends its elbow forward."""
    turn(armature, f"upper_arm.{side}", "X", -170.0, frame)


def turn(armature: bpy.types.Object, bone: str, axis: Literal["X", "Y", "Z"], degrees: float, frame: int) -> None:
    """Turn a bone about one of the world's axes through its head, from rest, and key it."""
    from mathutils import Matrix

    posed = armature.pose.bones[bone]
    rest = posed.bone.matrix_local
    posed.rotation_mode = "QUATERNION"
    spin = rest.to_3x3().inverted() @ Matrix.Rotation(math.radians(degrees), 3, axis) @ rest.to_3x3()
    posed.rotation_quaternion = spin.to_quaternion()
    posed.keyframe_insert("rotation_quaternion", frame=frame)


def frame_at(context: bpy.types.Context, seconds: float) -> int:
    """Return the frame so many seconds after the scene's first."""
    render = context.scene.render
    return context.scene.frame_start + round(seconds * render.fps / render.fps_base)


def key_pelvis(
    context: bpy.types.Context,
    armature: bpy.types.Object,
    places: Iterable[tuple[float, Place]],
) -> None:
    """Key where the pelvis is from its rest, in metres, at times in seconds."""
    root = armature.pose.bones["pelvis"]
    way = root.bone.matrix_local.to_3x3().inverted()
    for time, place in places:
        root.location = way @ type(root.location)(place)
        root.keyframe_insert("location", frame=frame_at(context, time))


def follow_keys(context: bpy.types.Context, armature: bpy.types.Object) -> None:
    """Have a bake follow the keys as they are."""
    import bpy

    context.view_layer.objects.active = armature
    bpy.ops.heft.set_up()
    settings_on(armature).controller, settings_on(armature).optimise = "REPLANNING", False
    settings_on(armature).output = "MUTE"
