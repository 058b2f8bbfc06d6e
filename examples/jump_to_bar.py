# SPDX-License-Identifier: GPL-3.0-or-later
"""A broad jump to a bar, on which the body swings: keyed as an animator would who knows how things fall.

The push-off gains speed evenly, the flight is a parabola, the swing that of a pendulum. What the catch does to the body
is not keyed: from the moment the hands hold on, a transition leads from where the body is back to the keys.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Literal

from ..blender_addon.typed import settings_on
from ..blender_addon.writer import own_bag
from . import key_poses, mannequin

if TYPE_CHECKING:
    import bpy

GRAVITY = 9.81
CROUCH_TIME, CROUCH, CROUCH_BACK, CROUCH_LEAN = 0.7, -0.36, 0.10, 36.0
"""When the body is lowest, s, how far below and behind standing, m, and how far it leans, degrees."""
LEAVE, LEAVE_AHEAD, LEAVE_LEAN = -0.03, -0.15, 26.0
"""Where the pelvis is when the feet leave the ground: its height and place over standing, m; and the lean, degrees."""
RISE_SPEED, AHEAD_SPEED = 2.0, -0.6
"""m/s up and ahead as the feet leave; the bar is at the top of the flight."""
TURN = 6.0
"""How much further the body leans in the air, as the arms come up, degrees; nothing else turns it there."""
PENDULUM = 1.30
"""Length of a pendulum that swings as a body does that hangs from its hands, m."""
SWINGS = ((0.25, 0.0), (0.5, -1.0), (0.75, 0.0), (1.0, 0.85), (1.25, 0.0), (1.5, -0.7), (1.75, 0.0))
"""The swing: time in periods since it would have been at its back, angle as a share of that there."""
TRANSITION = 0.5
"""s"""
UP = 1
"""Which of the pelvis bone's own axes points up."""

Keyed = tuple[float, key_poses.Place, float]
"""When, in seconds; where the pelvis is from its rest, m; how far the body leans, degrees."""


def jump_to_bar(context: bpy.types.Context, place: key_poses.Place = (0.0, 0.0, 0.0)) -> bpy.types.Object:
    """A mannequin that crouches, jumps, takes hold of a bar and swings on it."""
    import bpy

    before = set(context.scene.objects)
    armature = mannequin.make_mannequin(context)
    push = 2.0 * (LEAVE - CROUCH) / RISE_SPEED
    leaves = CROUCH_TIME + push
    caught = leaves + RISE_SPEED / GRAVITY
    top = LEAVE + 0.5 * RISE_SPEED**2 / GRAVITY
    at = LEAVE_AHEAD + AHEAD_SPEED * (caught - leaves)

    rest = armature.data.bones["pelvis"].head_local.z
    up = mannequin.SHOULDER_HEIGHT + mannequin.UPPER_ARM_LENGTH + mannequin.FOREARM_LENGTH
    length = mannequin.STATURE * up - rest - 0.02  # from the bar to the pelvis, elbows hardly bent
    first = math.radians(LEAVE_LEAN + TURN)
    bar_place = (0.0, at - length * math.sin(first), rest + top + length * math.cos(first))

    places: list[Keyed] = [
        (0.0, (0.0, 0.0, -0.02), 0.0),
        (0.2, (0.0, 0.0, -0.02), 0.0),
        (CROUCH_TIME, (0.0, CROUCH_BACK, CROUCH), CROUCH_LEAN),
        (leaves, (0.0, LEAVE_AHEAD, LEAVE), LEAVE_LEAN),
        (caught, (0.0, at, top), math.degrees(first)),
    ]
    for time, angle in swing(first, AHEAD_SPEED / length):
        y, z = bar_place[1] + length * math.sin(angle), bar_place[2] - rest - length * math.cos(angle)
        places.append((caught + time, (0.0, y, z), math.degrees(angle)))
    key_poses.key_pelvis(context, armature, [(time, where) for time, where, _ in places])
    for time, _, degrees in places:
        key_poses.turn(armature, "pelvis", "X", degrees, key_poses.frame_at(context, time))
    frame = {name: key_poses.frame_at(context, time) for name, time in (("leaves", leaves), ("caught", caught))}
    fall(armature, {key_poses.frame_at(context, CROUCH_TIME): "EASE_IN", frame["leaves"]: "EASE_OUT"})
    bar = key_poses.rod(context, "Bar", key_poses.BAR_WIDTH, key_poses.BAR_THICKNESS, bar_place)
    for side, sign in zip(key_poses.SIDES, (1.0, -1.0), strict=True):
        for constraint in key_poses.stand_on(context, armature, side):
            let_go(constraint, frame["leaves"], frame["leaves"] + 4)
        grip = key_poses.hold(context, armature, f"forearm.{side}", (0.24 * sign, bar_place[1], bar_place[2]), bar)
        for time, degrees in ((0.2, 0.0), (CROUCH_TIME, 30.0), (leaves, -165.0), (caught, -178.0)):
            key_poses.turn(armature, f"upper_arm.{side}", "X", degrees, key_poses.frame_at(context, time))
        let_go(grip, frame["caught"], frame["leaves"])
    key_poses.put(context, before, place)
    key_poses.follow_keys(context, armature)
    settings_on(armature).replanning.transition = TRANSITION
    context.scene.frame_set(frame["caught"])
    for side in key_poses.SIDES:
        armature.data.bones.active = armature.data.bones[f"hand.{side}"]
        bpy.ops.heft.add_grab(duration=0)
    context.scene.frame_set(context.scene.frame_start)
    return armature


def swing(first: float, speed: float) -> list[tuple[float, float]]:
    """Return times since the catch, s, and angles behind the bar, rad: where it turns, and where it passes below."""
    quickness = math.sqrt(GRAVITY / PENDULUM)
    widest = math.hypot(first, speed / quickness)
    since = math.acos(first / widest) / quickness  # it would have been at its back
    period = 2.0 * math.pi / quickness
    return [(part * period - since, share * widest) for part, share in SWINGS]


def fall(armature: bpy.types.Object, easing: dict[int, Literal["EASE_IN", "EASE_OUT"]]) -> None:
    """Have the pelvis gain speed evenly from some of its keys on, or lose it; ahead it keeps what it has gained."""
    for curve in own_bag(armature).fcurves:
        if not curve.data_path.endswith('["pelvis"].location'):
            continue
        for key in curve.keyframe_points:
            if round(key.co.x) in easing:
                key.easing = easing[round(key.co.x)]
                flies = key.easing == "EASE_OUT" and curve.array_index != UP
                key.interpolation = "LINEAR" if flies else "QUAD"


def let_go(constraint: bpy.types.Constraint, held: int, free: int) -> None:
    """Key that a constraint acts at one frame and does not at another."""
    for frame, influence in ((held, 1.0), (free, 0.0)):
        constraint.influence = influence
        constraint.keyframe_insert("influence", frame=frame)
