# SPDX-License-Identifier: GPL-3.0-or-later
"""Two who touch: a shove, a walk hand in hand, a hand up, and a lean back to back.

Bodies are keyed, feet and hands follow by IK, as an animator would do it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from ...blender_addon.typed import as_kind, settings_on
from .. import beginners, key_poses, mannequin, walk
from ..beginners import Key, arms
from .scene import GREY, RED, WOOD, Color, Place, Scene, block, choose, ground, tint, walker

if TYPE_CHECKING:
    import bpy

Held = Sequence[tuple[float, Place]]  # where a wrist is, m, at times in s

APART = 0.62
"""Between two who walk hand in hand, m."""

BACKS = 0.368
"""From the middle to the feet of who leans back, m: backs just touch."""


def actor(
    context: bpy.types.Context, name: str, keys: tuple[Key, ...], place: Place, turned: float, color: Color
) -> bpy.types.Object:
    """A mannequin that does what is keyed, on feet that stay where they are."""
    armature = mannequin.make_mannequin(context, name)
    armature.location, armature.rotation_euler.z = place, turned
    context.view_layer.update()
    for side in key_poses.SIDES:
        key_poses.stand_on(context, armature, side)
    scene = context.scene
    scene.frame_end = max(scene.frame_end, beginners.act(context, armature, keys))
    tint(armature, color)
    return armature


def lead_hand(context: bpy.types.Context, armature: bpy.types.Object, side: str, way: Held) -> None:
    """Have a wrist follow an empty that is keyed along a way."""
    import bpy

    target = bpy.data.objects.new(f"{armature.name} hand.{side}", None)
    target.empty_display_size = 0.05
    context.collection.objects.link(target)
    for time, place in way:
        target.location = place
        target.keyframe_insert("location", frame=key_poses.frame_at(context, time))
    forearm = armature.pose.bones[f"forearm.{side}"]
    arm = as_kind(forearm.constraints.new("IK"), bpy.types.KinematicConstraint)
    arm.target, arm.chain_count = target, 2
    forearm.lock_ik_y = forearm.lock_ik_z = True


def ready(context: bpy.types.Context, armatures: list[bpy.types.Object]) -> list[bpy.types.Object]:
    """Set them up, and let the bake go beside the IK."""
    import bpy

    for armature in armatures:
        choose(context, [armature])
        bpy.ops.heft.set_up()
        settings_on(armature).output = "MUTE"
    return armatures


def shove(context: bpy.types.Context) -> list[bpy.types.Object]:
    """One shoves the other, who is keyed to stand still."""
    bent = arms(40.0, elbow=60.0)
    shoves = (
        Key(0.0, (0.0, 0.0, -0.01), bones=bent),
        Key(0.6, (0.0, 0.05, -0.03), bones=bent),
        Key(0.9, (0.0, 0.05, -0.04), bones=bent),
        Key(1.15, (0.0, -0.12, -0.06), bones=bent | {"spine": (10.0, 0.0, 0.0)}),
        Key(1.35, (0.0, -0.12, -0.06), bones=bent | {"spine": (10.0, 0.0, 0.0)}),
        Key(2.1, (0.0, 0.0, -0.01), bones=bent),
        Key(3.5, (0.0, 0.0, -0.01), bones=bent),
    )
    stands = (Key(0.0, (0.0, 0.0, -0.01), bones=arms(0.0)), Key(3.5, (0.0, 0.0, -0.01), bones=arms(0.0)))
    pair = [
        actor(context, "Shoves", shoves, (0.0, 0.0, 0.0), 0.0, RED),
        actor(context, "Is shoved", stands, (0.0, -0.70, 0.0), math.pi, GREY),
    ]
    thrust = (
        (0.0, (0.30, -0.02, 0.88)),
        (0.6, (0.17, -0.22, 1.22)),
        (0.9, (0.16, -0.20, 1.24)),
        (1.12, (0.12, -0.66, 1.30)),
        (1.3, (0.12, -0.66, 1.30)),
        (2.1, (0.30, -0.02, 0.88)),
    )
    for side, sign in (("L", 1.0), ("R", -1.0)):
        lead_hand(context, pair[0], side, [(time, (sign * x, y, z)) for time, (x, y, z) in thrust])
    return ready(context, pair)


def hand_in_hand(context: bpy.types.Context) -> list[bpy.types.Object]:
    """Two walk side by side, in step, and hold hands."""
    cycles = 4
    pair = [
        walker(context, cycles=cycles, place=(sign * 0.5 * APART, 0.0, 0.0), name=name)
        for name, sign in (("Left", 1.0), ("Right", -1.0))
    ]
    stride = walk.FRAMES_PER_CYCLE / walk.FRAMES_PER_SECOND
    for armature, side, sign in zip(pair, "RL", (1.0, -1.0), strict=True):
        way = []
        for k in range(8 * cycles + 1):
            along = -walk.STRIDE * k / 8.0
            swing = 0.07 * math.sin(2.0 * math.pi * k / 8.0)
            way.append((k * stride / 8.0, (sign * 0.052, along + swing - 0.05, 0.90)))
        lead_hand(context, armature, side, way)
        settings_on(armature).output = "MUTE"
    tint(pair[0], RED)
    choose(context, pair)
    return pair


def lift(context: bpy.types.Context) -> list[bpy.types.Object]:
    """One sits, and is pulled up by both hands."""
    reach = arms(60.0, elbow=40.0)
    sits = (
        Key(0.0, (0.0, 0.42, -0.44), bones=reach),
        Key(0.7, (0.0, 0.42, -0.44), bones=reach | {"spine": (25.0, 0.0, 0.0)}),
        Key(1.5, (0.0, 0.22, -0.26), (12.0, 0.0, 0.0), reach | {"spine": (25.0, 0.0, 0.0)}),
        Key(2.3, (0.0, 0.02, -0.02), (2.0, 0.0, 0.0), reach),
        Key(3.3, (0.0, 0.0, -0.01), bones=reach),
    )
    lifts = (
        Key(0.0, (0.0, 0.02, -0.05), (6.0, 0.0, 0.0), reach | {"spine": (12.0, 0.0, 0.0)}),
        Key(0.7, (0.0, 0.08, -0.10), (0.0, 0.0, 0.0), reach | {"spine": (6.0, 0.0, 0.0)}),
        Key(1.5, (0.0, 0.20, -0.12), (-4.0, 0.0, 0.0), reach),
        Key(2.3, (0.0, 0.04, -0.02), bones=reach),
        Key(3.3, (0.0, 0.0, -0.01), bones=reach),
    )
    pair = [
        actor(context, "Sits", sits, (0.0, 0.0, 0.0), 0.0, GREY),
        actor(context, "Lifts", lifts, (0.0, -0.95, 0.0), math.pi, RED),
    ]
    meets = ((0.0, -0.20, 1.16), (0.7, -0.385, 1.15), (1.5, -0.635, 1.19), (2.3, -0.50, 1.15), (3.3, -0.48, 1.10))
    for sign, sides in ((1.0, "LR"), (-1.0, "RL")):
        for armature, side, along in zip(pair, sides, (0.14, -0.14), strict=True):
            lead_hand(context, armature, side, [(time, (sign * 0.17, y + along, z)) for time, y, z in meets])
    seat = block(context, "Seat", (0.5, 0.4, 0.40), (0.0, 0.60, 0.20), WOOD)
    floor = block(context, "Floor", (4.0, 4.0, 0.1), (0.0, 0.0, -0.05))
    ready(context, pair)
    ground(context, pair, [seat, floor])
    choose(context, pair)
    return pair


def back_to_back(context: bpy.types.Context) -> list[bpy.types.Object]:
    """Two lean against each other, back to back, and bend their knees; without the other each would fall."""
    lean = 10.0
    back = beginners.LEG * math.sin(math.radians(lean))
    high = beginners.LEG * (math.cos(math.radians(lean)) - 1.0) - 0.01
    bones = arms(10.0 - lean) | {"head": (12.0, 0.0, 0.0)}
    leans = tuple(
        Key(time, (0.0, back, high - down), (-lean, 0.0, 0.0), bones)
        for time, down in ((0.0, 0.0), (1.2, 0.0), (2.2, 0.1), (2.8, 0.1), (3.8, 0.0), (4.6, 0.0))
    )
    return ready(
        context,
        [
            actor(context, "Ahead", leans, (0.0, -BACKS, 0.0), 0.0, RED),
            actor(context, "Behind", leans, (0.0, BACKS, 0.0), math.pi, GREY),
        ],
    )


TOGETHER = "Select both and press **Bake**: "

SCENES = (
    Scene(
        "shove",
        "One shoves the other",
        (
            "Key one who thrusts both hands forward, into where the other stands.",
            "The other is keyed to stand still.",
            TOGETHER + "who is shoved steps back.",
        ),
        shove,
        camera=(-4.4, -1.2, 0.6),
        follows=False,
    ),
    Scene(
        "hand_in_hand",
        "Hand in hand",
        (
            "Key two walks side by side.",
            "Have the inner hands follow one empty by IK.",
            TOGETHER + "hands that stay at each other hold on, and pull.",
        ),
        hand_in_hand,
        camera=(-3.0, -5.0, 0.9),
    ),
    Scene(
        "lift",
        "Pulled up from a seat",
        (
            "Key one who sits and rises, and one who leans back.",
            "Have their hands follow the same empties by IK; mark the seat as terrain.",
            TOGETHER + "the one is lifted by the other's weight.",
        ),
        lift,
        camera=(-4.2, -1.6, 0.6),
        follows=False,
    ),
    Scene(
        "back_to_back",
        "Back to back",
        (
            "Key two who lean back, until their backs touch.",
            "Neither could stand so alone.",
            TOGETHER + "each bears the other.",
        ),
        back_to_back,
        camera=(-4.4, -1.4, 0.6),
        follows=False,
    ),
)
