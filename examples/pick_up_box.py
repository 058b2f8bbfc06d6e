# SPDX-License-Identifier: GPL-3.0-or-later
"""A box that is picked up from the floor: the body by keys, the hands by IK on the box, whose way is keyed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from . import key_poses, mannequin

if TYPE_CHECKING:
    import bpy

SIZE = (0.36, 0.28, 0.40)
MASS = 8.0
"""kg"""
AHEAD = -0.40
"""Where its middle stands, m."""
LIFTED = (-0.48, 0.95)
"""Where its middle is carried to: ahead and up, m."""
DIP, BACK, LEAN = 0.36, 0.22, 62.0
"""How far the hips go down and back, m, and how far the trunk leans, degrees."""
TAKEN = 1.6
"""s"""


def pick_up_box(context: bpy.types.Context, place: key_poses.Place = (0.0, 0.0, 0.0)) -> bpy.types.Object:
    """A mannequin that bends down to a box, takes it between its hands and stands up with it."""
    import bpy

    before = set(context.scene.objects)
    armature = mannequin.make_mannequin(context)
    for side in key_poses.SIDES:
        key_poses.stand_on(context, armature, side)
    low, high = (0.0, BACK, -DIP), (0.0, 0.03, -0.02)
    times = (0.0, 0.35, 1.4, 1.9, 3.2, 4.0)
    key_poses.key_pelvis(context, armature, zip(times, (high, high, low, low, high, high), strict=True))
    for time, degrees in zip(times, (0.0, 0.0, LEAN, LEAN, 0.0, 0.0), strict=True):
        key_poses.turn(armature, "pelvis", "X", degrees, key_poses.frame_at(context, time))
    box = block(context, (0.0, AHEAD, 0.5 * SIZE[2]))
    guide = bpy.data.objects.new(f"{armature.name} box", None)
    context.collection.objects.link(guide)
    down, up = (0.0, AHEAD, 0.5 * SIZE[2]), (0.0, *LIFTED)
    for time, where in ((0.0, down), (TAKEN, down), (3.2, up), (4.0, up)):
        guide.location = where
        guide.keyframe_insert("location", frame=key_poses.frame_at(context, time))
    for side, sign in zip(key_poses.SIDES, (1.0, -1.0), strict=True):
        wrist = (sign * (0.5 * SIZE[0] + 0.03), guide.location.y + 0.06, guide.location.z + 0.12)
        reach = key_poses.hold(context, armature, f"forearm.{side}", wrist, guide)
        for time, influence in ((0.5, 0.0), (1.4, 1.0)):
            reach.influence = influence
            reach.keyframe_insert("influence", frame=key_poses.frame_at(context, time))
        key_poses.turn(armature, f"upper_arm.{side}", "X", -30.0, context.scene.frame_start)
    key_poses.put(context, before, place)
    key_poses.follow_keys(context, armature)
    context.scene.frame_set(key_poses.frame_at(context, TAKEN))
    box.select_set(True)
    bpy.ops.heft.add_prop(mass=MASS, shape="BOX")
    for side in key_poses.SIDES:
        armature.data.bones.active = armature.data.bones[f"hand.{side}"]
        box.select_set(True)
        bpy.ops.heft.add_grab(duration=0, kind="FULL")
    box.select_set(False)
    context.scene.frame_set(context.scene.frame_start)
    return armature


def block(context: bpy.types.Context, place: key_poses.Place) -> bpy.types.Object:
    """The box."""
    import bpy

    x, y, z = (0.5 * side for side in SIZE)
    corners = [(a, b, c) for a in (-x, x) for b in (-y, y) for c in (-z, z)]
    sides = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]
    mesh = bpy.data.meshes.new("Box")
    mesh.from_pydata(corners, [], sides)
    mesh.materials.append(mannequin.make_material("Box", (0.45, 0.30, 0.16), roughness=0.8))
    result = bpy.data.objects.new("Box", mesh)
    result.location = place
    context.collection.objects.link(result)
    return result
