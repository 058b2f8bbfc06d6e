# SPDX-License-Identifier: GPL-3.0-or-later
"""Carried along: in a boat, on a horse's back, on a swing. Hands, feet and seat hold on to what moves."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING

from ...blender_addon.typed import settings_on
from .. import beginners, key_poses, mannequin, walk
from ..beginners import Key, arms
from .scene import STEEL, WOOD, Place, Scene, block, choose
from .things import furniture
from .two import lead_hand

if TYPE_CHECKING:
    import bpy

Swings = Callable[[float], tuple[Place, Place]]  # where something is, and how it is turned, by seconds

SECONDS = 5.0
SEA = (0.16, 0.30, 0.44)
HAIR = (0.34, 0.22, 0.13)

BACK = 1.32
"""Of a horse, m."""

STRIDE = 0.62
"""Of its canter, s."""

PIVOT, SWUNG, BOARD = 2.75, 26.0, 2.16
"""Of the swing: how high it hangs, m, how far it is drawn back, degrees, and how far below its hinge one sits, m."""

LONG, HANGS = 2.11, 2.9
"""Of a pendulum that swings as it does, m, and how far it is turned where it hangs still, degrees."""


def sit(
    context: bpy.types.Context, name: str, seat: Place, bones: dict[str, tuple[float, float, float]]
) -> bpy.types.Object:
    """A mannequin whose hips are at a place, keyed to stay as it is."""
    armature = mannequin.make_mannequin(context, name)
    hip = mannequin.HIP_HEIGHT * mannequin.STATURE
    place = (seat[0], seat[1], seat[2] - hip)
    keys = tuple(Key(time, place, bones=bones) for time in (0.0, SECONDS))
    scene = context.scene
    scene.frame_end = max(scene.frame_end, beginners.act(context, armature, keys))
    return armature


def go_along(child: bpy.types.Object, parent: bpy.types.Object) -> None:
    """Have it move with another from where both are now."""
    child.parent = parent
    child.matrix_parent_inverse = parent.matrix_world.inverted()


def keyed(context: bpy.types.Context, thing: bpy.types.Object, at: Swings) -> None:
    """Key where a thing is and how it is turned, by seconds, on every frame from the first to the last."""
    scene = context.scene
    for frame in range(scene.frame_start, scene.frame_end + 1):
        thing.location, thing.rotation_euler = at((frame - scene.frame_start) / walk.FRAMES_PER_SECOND)
        thing.keyframe_insert("location", frame=frame)
        thing.keyframe_insert("rotation_euler", frame=frame)
    scene.frame_set(scene.frame_start)


def hold_on(
    context: bpy.types.Context, armature: bpy.types.Object, thing: bpy.types.Object, firm: tuple[str, ...]
) -> None:
    """Hands and feet hold on to a thing all along, and firmly what is named."""
    import bpy

    context.scene.frame_set(context.scene.frame_start)
    choose(context, [armature])
    bpy.ops.heft.set_up()
    settings_on(armature).output = "MUTE"
    for bone in (*firm, "hand.L", "hand.R", "foot.L", "foot.R"):
        choose(context, [armature, thing])
        armature.data.bones.active = armature.data.bones[bone]
        bpy.ops.heft.add_grab(duration=0, kind="FULL" if bone in firm else "POINT")
    choose(context, [armature])


def boat(context: bpy.types.Context) -> list[bpy.types.Object]:
    """A passenger in a boat that gathers way through waves."""
    planks: list[tuple[Place, Place]] = [
        ((0.0, 0.0, 0.05), (0.9, 3.2, 0.06)),
        ((0.0, 0.12, 0.40), (1.0, 0.32, 0.06)),
        ((0.0, -1.62, 0.32), (0.9, 0.06, 0.56)),
        ((0.0, 1.62, 0.32), (0.9, 0.06, 0.56)),
        *(((x, 0.0, 0.32), (0.06, 3.3, 0.56)) for x in (-0.5, 0.5)),
    ]
    hull = furniture(context, "Boat", planks, (0.0, 0.0, 0.4), 0.0, WOOD)
    legs = {
        f"{bone}.{side}": (turn, 0.0, 0.0)
        for side in "LR"
        for bone, turn in (("thigh", -80.0), ("shin", 42.0), ("foot", 38.0))
    }
    sits = sit(context, "Passenger", (0.0, 0.12, 0.93), legs | arms(20.0, elbow=30.0))
    for side, sign in (("L", 1.0), ("R", -1.0)):
        key_poses.hold(context, sits, f"forearm.{side}", (0.47 * sign, -0.12, 1.06), hull)
    context.view_layer.update()
    go_along(sits, hull)

    def sails(time: float) -> tuple[Place, Place]:
        grown = min(time / 1.5, 1.0)
        grown = grown * grown * (3.0 - 2.0 * grown)
        way = 2.0 * (time - 0.75 + 0.75 * math.exp(-time / 0.75))
        heave = 0.14 * math.sin(2.0 * math.pi * time / 2.1)
        pitch = math.radians(9.0) * math.sin(2.0 * math.pi * time / 2.1 + 1.1)
        roll = math.radians(8.0) * math.sin(2.0 * math.pi * time / 2.9)
        return (0.0, -way, 0.4 + grown * heave), (grown * pitch, grown * roll, 0.0)

    keyed(context, hull, sails)
    block(context, "Sea", (30.0, 40.0, 0.1), (0.0, -4.0, 0.28), SEA)
    hold_on(context, sits, hull, ("pelvis",))
    return [sits]


def horse(context: bpy.types.Context) -> bpy.types.Object:
    """A wooden horse whose trunk stands at its back's height; its legs are keyed to canter."""
    parts: list[tuple[Place, Place]] = [
        ((0.0, 0.05, -0.25), (0.44, 1.35, 0.48)),
        ((0.0, -0.78, 0.06), (0.20, 0.40, 0.66)),
        ((0.0, -1.06, 0.32), (0.16, 0.52, 0.22)),
        ((0.0, 0.82, -0.25), (0.08, 0.22, 0.36)),
    ]
    trunk = furniture(context, "Horse", parts, (0.0, 0.0, BACK), 0.0, HAIR)
    phases = {(0.16, -0.48): 0.0, (-0.16, -0.48): 0.18, (0.16, 0.55): 0.42, (-0.16, 0.55): 0.55}
    for (x, y), phase in phases.items():
        upper = furniture(context, "Thigh", [((0.0, 0.0, -0.25), (0.16, 0.22, 0.52))], (x, y, BACK - 0.38), 0.0, HAIR)
        lower = furniture(context, "Shank", [((0.0, 0.0, -0.24), (0.10, 0.12, 0.5))], (x, y, BACK - 0.86), 0.0, HAIR)
        context.view_layer.update()
        go_along(lower, upper)
        go_along(upper, trunk)

        keyed(context, upper, leg_part(upper, 26.0, phase))
        keyed(context, lower, leg_part(lower, 62.0, phase, below=True))
    return trunk


def leg_part(part: bpy.types.Object, wide: float, late: float, *, below: bool = False) -> Swings:
    """How a part of a leg swings, so many degrees wide and such a share of the stride late; below the knee it folds."""
    place = (part.location.x, part.location.y, part.location.z)

    def swings(time: float) -> tuple[Place, Place]:
        angle = 2.0 * math.pi * (time / STRIDE - late)
        bent = min(math.sin(angle - 1.3), 0.0) if below else math.sin(angle)
        return place, (math.radians(wide) * bent, 0.0, 0.0)

    return swings


def rider(context: bpy.types.Context) -> list[bpy.types.Object]:
    """A rider on a cantering horse."""
    astride = {
        f"{bone}.{side}": (turn, sign * out, 0.0)
        for side, sign in (("L", -1.0), ("R", 1.0))
        for bone, turn, out in (("thigh", -52.0, 24.0), ("shin", 62.0, 0.0), ("foot", -10.0, 0.0))
    }
    rides = sit(context, "Rider", (0.0, 0.02, BACK + 0.11), astride | arms(25.0, elbow=50.0))
    carries = horse(context)
    for side, sign in (("L", 1.0), ("R", -1.0)):
        key_poses.hold(context, rides, f"forearm.{side}", (0.10 * sign, -0.36, BACK + 0.32), carries)
    context.view_layer.update()
    go_along(rides, carries)

    def canters(time: float) -> tuple[Place, Place]:
        angle = 2.0 * math.pi * time / STRIDE
        heave, pitch = 0.045 * math.sin(angle), math.radians(5.0) * math.sin(angle + 1.2)
        return (0.0, -2.6 * time, BACK + heave), (pitch, math.radians(1.5) * math.sin(0.5 * angle), 0.0)

    keyed(context, carries, canters)
    hold_on(context, rides, carries, ("pelvis",))
    return [rides]


def on_a_swing(context: bpy.types.Context) -> list[bpy.types.Object]:
    """On a swing that hangs from a hinge, and swings as its weight and the rider's have it."""
    import bpy

    hip = mannequin.HIP_HEIGHT * mannequin.STATURE
    legs = {
        f"{bone}.{side}": (turn, 0.0, 0.0)
        for side in "LR"
        for bone, turn in (("thigh", -84.0), ("shin", 60.0), ("foot", 10.0))
    }
    armature = mannequin.make_mannequin(context, "Swings")
    quick = math.sqrt(9.81 / LONG)
    count = round(SECONDS * walk.FRAMES_PER_SECOND)
    keys: list[Key] = []
    ways: dict[str, list[tuple[float, Place]]] = {"L": [], "R": []}
    for k in range(count + 1):
        time = k / walk.FRAMES_PER_SECOND
        degrees = HANGS + (SWUNG - HANGS) * math.cos(quick * time)
        angle = math.radians(degrees)
        place = (0.0, BOARD * math.sin(angle), PIVOT - BOARD * math.cos(angle) - hip)
        keys.append(Key(time, place, (degrees, 0.0, 0.0), legs | arms(70.0, elbow=60.0)))
        for side, sign in (("L", 1.0), ("R", -1.0)):
            ways[side].append((time, (0.23 * sign, *swung(angle, -0.14, BOARD - 0.30))))
    context.scene.frame_end = beginners.act(context, armature, tuple(keys))
    for side, way in ways.items():
        lead_hand(context, armature, side, way)
    drawn = math.radians(SWUNG)
    swing = block(context, "Swing", (0.56, 0.34, 0.03), (0.0, *swung(drawn, -0.1, BOARD + 0.125)), WOOD, (drawn, 0, 0))
    ropes = [
        block(
            context,
            "Rope",
            (0.02, 0.02, BOARD + 0.12),
            (x, *swung(drawn, -0.2, 0.5 * BOARD + 0.06)),
            STEEL,
            (drawn, 0, 0),
        )
        for x in (-0.27, 0.27)
    ]
    context.view_layer.update()
    for rope in ropes:
        go_along(rope, swing)
    for x in (-0.7, 0.7):
        block(context, "Post", (0.08, 0.08, PIVOT), (x, 0.0, 0.5 * PIVOT), STEEL)
    block(context, "Beam", (1.48, 0.08, 0.08), (0.0, 0.0, PIVOT), STEEL)
    context.view_layer.update()
    choose(context, [armature])
    bpy.ops.heft.set_up()
    choose(context, [armature, swing])
    bpy.ops.heft.add_prop(mass=8.0, shape="BOX")
    hinge = bpy.data.objects.new("Hinge", None)
    context.collection.objects.link(hinge)
    hinge.location, hinge.rotation_euler = (0.0, 0.0, PIVOT), (0.0, 0.5 * math.pi, 0.0)
    context.view_layer.update()
    choose(context, [hinge])
    bpy.ops.rigidbody.constraint_add(type="HINGE")
    hinge.rigid_body_constraint.object1 = swing
    settings_on(armature).output, settings_on(armature).recovery = "MUTE", False
    for bone in ("pelvis", "hand.L", "hand.R"):
        choose(context, [armature, swing])
        armature.data.bones.active = armature.data.bones[bone]
        bpy.ops.heft.add_grab(duration=0)
    choose(context, [armature])
    return [armature]


def swung(angle: float, ahead: float, below: float) -> tuple[float, float]:
    """Y and Z of a place on the swing, so far ahead of and below its hinge, when that is turned."""
    c, s = math.cos(angle), math.sin(angle)
    return ahead * c + below * s, PIVOT + ahead * s - below * c


HELD = "Give hands, feet and seat an **Add Grab** each, with it selected."

SCENES = (
    Scene(
        "boat",
        "In a boat",
        (
            "Key the boat, and parent the character to it.",
            HELD,
            "Press **Bake**: seat, hands and feet give what the waves ask for, and no more.",
        ),
        boat,
        camera=(-4.4, -3.0, 1.0),
        floor=None,
    ),
    Scene(
        "rider",
        "A rider",
        (
            "Key the horse, and parent the rider to it.",
            HELD,
            "Press **Bake**: seat, hands and feet give what each bound asks for.",
        ),
        rider,
        camera=(-6.4, -3.4, 0.2),
    ),
    Scene(
        "swing",
        "On a swing",
        (
            "Press **Add Prop** with the swing selected, and give it a *Hinge* under Physics ▸ Rigid Body Constraint.",
            "Key the character as it swings; hands and hips hold the swing by **Add Grab**.",
            "Press **Bake**: both swing as their weight has it.",
        ),
        on_a_swing,
        camera=(-5.6, -2.6, 0.3),
        follows=False,
    ),
)
