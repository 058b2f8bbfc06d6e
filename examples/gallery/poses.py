# SPDX-License-Identifier: GPL-3.0-or-later
"""A few key poses, and what physics makes between them."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

from .. import jump_to_bar, key_poses, pick_up_box
from .scene import RED, STEEL, WOOD, Scene, block, choose, end_at, walker
from .ways import sphere

if TYPE_CHECKING:
    import bpy

BALLS = 16


def chin_up(context: bpy.types.Context) -> list[bpy.types.Object]:
    """Two poses on a bar."""
    armature = key_poses.chin_up(context)
    end_at(context, 4.0)
    return [armature]


def squat(context: bpy.types.Context) -> list[bpy.types.Object]:
    """Three poses under a barbell."""
    armature = key_poses.squat(context)
    end_at(context, 4.0)
    for x in (-0.7, 0.7):
        plates(context, x)
    return [armature]


def plates(context: bpy.types.Context, x: float) -> None:
    """Discs on the barbell, for the eye: the bar already weighs what all of it does."""
    bar = next(one for one in context.scene.objects if one.name.startswith("Barbell"))
    disc = key_poses.rod(context, "Disc", 0.05, 0.16, (0.0, 0.0, 0.0))
    disc.parent = bar
    disc.location = (x, 0.0, 0.0)
    disc.data.materials[0].diffuse_color = (*STEEL, 1.0)


def jump(context: bpy.types.Context) -> list[bpy.types.Object]:
    """A jump to a bar, and a swing."""
    armature = jump_to_bar.jump_to_bar(context)
    end_at(context, 4.5)
    return [armature]


def box(context: bpy.types.Context) -> list[bpy.types.Object]:
    """A box from the floor."""
    armature = pick_up_box.pick_up_box(context)
    end_at(context, 4.0)
    return [armature]


def carry(
    context: bpy.types.Context, armature: bpy.types.Object, thing: bpy.types.Object, bone: str, mass: float
) -> None:
    """Have a bone bear a thing of so many kilograms."""
    import bpy

    context.view_layer.update()
    choose(context, [armature, thing])
    armature.data.bones.active = armature.data.bones[bone]
    bpy.ops.heft.add_prop(mass=mass, carried=True)
    choose(context, [armature])


def suitcase(context: bpy.types.Context) -> list[bpy.types.Object]:
    """A load in one hand."""
    walks = walker(context, cycles=4)
    hand = walks.matrix_world @ walks.pose.bones["hand.L"].tail
    case = block(context, "Suitcase", (0.16, 0.5, 0.36), (hand.x, hand.y, hand.z - 0.2), WOOD)
    carry(context, walks, case, "hand.L", 14.0)
    return [walks]


def rucksack(context: bpy.types.Context) -> list[bpy.types.Object]:
    """A load on the back."""
    walks = walker(context, cycles=4)
    chest = walks.matrix_world @ walks.pose.bones["chest"].head
    sack = block(context, "Rucksack", (0.32, 0.24, 0.5), (chest.x, chest.y + 0.26, chest.z + 0.12), RED)
    carry(context, walks, sack, "chest", 25.0)
    return [walks]


def kicks_boxes(context: bpy.types.Context) -> list[bpy.types.Object]:
    """Through a heap of boxes."""
    import bpy

    walks = walker(context, cycles=5)
    boxes = []
    for row, (y, count) in enumerate(((-2.4, 3), (-3.2, 2), (-4.0, 3))):
        for k in range(count):
            x = (k - 0.5 * (count - 1)) * 0.34
            boxes.append(block(context, "Box", (0.26, 0.26, 0.26), (x, y, 0.131), WOOD, (0.0, 0.0, 0.3 * (k + row))))
    context.view_layer.update()
    choose(context, [walks, *boxes])
    bpy.ops.heft.add_prop(mass=1.0, shape="BOX")
    choose(context, [walks])
    return [walks]


def kicks_balls(context: bpy.types.Context) -> list[bpy.types.Object]:
    """Through light balls that lie about."""
    import bpy

    chance = random.Random(7)  # noqa: S311  # nothing secret
    walks = walker(context, cycles=5)
    balls = []
    for k in range(BALLS):
        radius = chance.uniform(0.09, 0.14)
        mesh = bpy.data.meshes.new("Ball")
        sphere(mesh, radius, (RED, WOOD, (0.16, 0.30, 0.44))[k % 3])
        ball = bpy.data.objects.new("Ball", mesh)
        ball.location = (0.34 * (k % 4 - 1.5) + chance.uniform(-0.05, 0.05), -1.7 - 0.34 * (k // 4), radius + 0.001)
        context.collection.objects.link(ball)
        balls.append(ball)
    context.view_layer.update()
    choose(context, [walks, *balls])
    bpy.ops.heft.add_prop(mass=0.3, shape="SPHERE")
    choose(context, [walks])
    return [walks]


ADDED = "Choose **Add ▸ Armature ▸ {}**."

SCENES = (
    Scene(
        "chin_up",
        "A chin-up from two poses",
        (
            ADDED.format("Mannequin on a Bar"),
            "Two poses of the body are keyed; the hands hold on by **Add Grab**.",
            "Press **Bake**: arms and legs do the rest.",
        ),
        chin_up,
        camera=(-3.3, -5.0, 0.1),
        follows=False,
    ),
    Scene(
        "squat",
        "A squat with 30 kg",
        (
            ADDED.format("Mannequin with a Barbell"),
            "Three poses are keyed; the barbell is a weight on the chest.",
            "Press **Bake**.",
        ),
        squat,
        camera=(-3.9, -3.3, 0.6),
        follows=False,
    ),
    Scene(
        "jump_to_bar",
        "A jump to a bar",
        (
            ADDED.format("Mannequin Jumping to a Bar"),
            "Crouch, take-off, catch and swing are keyed.",
            "Press **Bake**: the catch throws the body as its weight does.",
        ),
        jump,
        camera=(-7.6, -2.0, 0.2),
        follows=False,
    ),
    Scene(
        "pick_up_box",
        "Picking up a box",
        (
            ADDED.format("Mannequin with a Box"),
            "The body is keyed; the hands follow the box by IK.",
            "Press **Bake**: the back gives way a little under 8 kg.",
        ),
        box,
        camera=(-3.8, -2.4, 0.6),
        follows=False,
    ),
    Scene(
        "suitcase",
        "A suitcase of 14 kg",
        (
            "Put a mesh into the hand, and make the hand active.",
            "Press **Add Weight** and set its mass.",
            "Press **Bake**: the body leans to the other side.",
        ),
        suitcase,
        camera=(2.2, -5.0, 0.8),
    ),
    Scene(
        "rucksack",
        "A rucksack of 25 kg",
        (
            "Put a mesh behind the back, and make the chest active.",
            "Press **Add Weight** and set its mass.",
            "Press **Bake**: the body leans forward under it.",
        ),
        rucksack,
        camera=(-4.4, -2.2, 0.9),
        frames=(10, 94),
    ),
    Scene(
        "balls",
        "Through a heap of balls",
        (
            "Select the balls and the armature, and press **Add Prop**.",
            "Choose *Sphere* as their shape, and 300 g.",
            "Press **Bake**: balls are kicked aside, and the walk goes on.",
        ),
        kicks_balls,
        camera=(-2.6, -4.4, 1.0),
    ),
    Scene(
        "boxes",
        "Through a heap of boxes",
        (
            "Select the boxes and the armature, and press **Add Prop**.",
            "Give each a kilogram.",
            "Press **Bake**: feet kick them out of the way.",
        ),
        kicks_boxes,
        camera=(-3.2, -3.4, 1.3),
    ),
)
