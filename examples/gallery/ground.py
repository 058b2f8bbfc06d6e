# SPDX-License-Identifier: GPL-3.0-or-later
"""Walks over ground that the keys know nothing of."""

from __future__ import annotations

import math
import random
from typing import TYPE_CHECKING

from .scene import STEEL, STONE, WOOD, Scene, block, ground, walker

if TYPE_CHECKING:
    import bpy

RISE, GOING, STEPS = 0.15, 0.30, 7
STAIRS_FROM = -1.6
"""Of a flight of stairs: rise and going of a step, how many, and where they begin, m."""
RUBBLE = 70
"""Stones."""


def stairs(context: bpy.types.Context) -> list[bpy.types.Object]:
    """Up a flight of stairs."""
    walks = walker(context, cycles=4)
    steps = []
    for k in range(STEPS):
        top, far = RISE * (k + 1), STAIRS_FROM - GOING * STEPS - 3.0
        near = STAIRS_FROM - GOING * k
        steps.append(block(context, "Step", (1.4, near - far, top), (0.0, 0.5 * (near + far), 0.5 * top)))
    ground(context, [walks], steps)
    return [walks]


def rubble(context: bpy.types.Context) -> list[bpy.types.Object]:
    """Over loose stones."""
    chance = random.Random(4)  # noqa: S311  # nothing secret
    walks = walker(context, cycles=5)
    stones = []
    for _ in range(RUBBLE):
        size = (chance.uniform(0.25, 0.6), chance.uniform(0.25, 0.6), chance.uniform(0.04, 0.14))
        place = (chance.uniform(-0.6, 0.6), chance.uniform(-6.2, -1.2), chance.uniform(-0.02, 0.01))
        turned = (chance.uniform(-0.12, 0.12), chance.uniform(-0.12, 0.12), chance.uniform(0.0, 3.0))
        stones.append(block(context, "Stone", size, place, STONE, turned))
    ground(context, [walks], stones)
    return [walks]


def hill(context: bpy.types.Context) -> list[bpy.types.Object]:
    """Up a ramp of 10 degrees and down again."""
    walks = walker(context, cycles=6)
    slope, length = math.radians(10.0), 2.6
    rise, run = length * math.sin(slope), length * math.cos(slope)
    first, flat = -1.5, 1.0
    half = 0.2
    pieces = []
    for middle, turned in ((first - 0.5 * run, -slope), (first - 1.5 * run - flat, slope)):
        lift = 0.5 * rise - half * math.cos(slope)
        aside = half * math.sin(turned)
        pieces.append(
            block(context, "Ramp", (1.6, length, 2 * half), (0.0, middle + aside, lift), WOOD, (turned, 0.0, 0.0))
        )
    pieces.append(block(context, "Top", (1.6, flat, rise), (0.0, first - run - 0.5 * flat, 0.5 * rise), WOOD))
    ground(context, [walks], pieces)
    return [walks]


def kerb(context: bpy.types.Context) -> list[bpy.types.Object]:
    """Onto a pavement and off again."""
    walks = walker(context, cycles=5)
    pavement = block(context, "Pavement", (1.8, 2.2, 0.12), (0.0, -3.2, 0.06))
    ground(context, [walks], [pavement])
    return [walks]


def deck(context: bpy.types.Context) -> list[bpy.types.Object]:
    """On a ship that rolls."""
    walks = walker(context, cycles=5)
    planks = block(context, "Deck", (3.0, 9.0, 0.2), (0.0, -3.4, -0.1), WOOD)
    rails = [block(context, "Rail", (0.06, 9.0, 0.06), (x, -3.4, 0.9), STEEL) for x in (-1.45, 1.45)]
    posts = [
        block(context, "Post", (0.05, 0.05, 0.9), (x, -3.4 + y, 0.45), STEEL)
        for x in (-1.45, 1.45)
        for y in (-4.4, -2.2, 0.0, 2.2, 4.4)
    ]
    context.view_layer.update()
    for part in (*rails, *posts):
        part.parent = planks
        part.matrix_parent_inverse = planks.matrix_world.inverted()
    for frame in range(1, 141, 2):
        seconds = (frame - 1) / 24.0
        grown = min(seconds / 1.5, 1.0)
        planks.rotation_euler.y = math.radians(4.0) * grown * math.sin(2.0 * math.pi * seconds / 3.2)
        planks.keyframe_insert("rotation_euler", frame=frame)
    ground(context, [walks], [planks])
    return [walks]


SCENES = (
    Scene(
        "stairs",
        "Up the stairs",
        (
            "The action is a walk on level ground.",
            "Select the steps and the armature, and press **Mark as Terrain**.",
            "Press **Bake**: feet take the stairs step by step.",
        ),
        stairs,
        camera=(-4.4, -2.2, 0.9),
    ),
    Scene(
        "rubble",
        "Over rubble",
        (
            "Seventy stones lie where the walk goes.",
            "Select them and the armature, and press **Mark as Terrain**.",
            "Press **Bake**: each foot finds its own height and tilt.",
        ),
        rubble,
        camera=(-3.4, -2.6, 0.6),
    ),
    Scene(
        "hill",
        "Over a ramp",
        (
            "Two ramps of 10 degrees and a flat top are marked as terrain.",
            "The action stays a level walk.",
            "Press **Bake**: strides shorten uphill and soles lie flat on the slope.",
        ),
        hill,
    ),
    Scene(
        "kerb",
        "On and off the pavement",
        (
            "Put a slab of 12 cm in the way of the walk.",
            "Select it and the armature, and press **Mark as Terrain**.",
            "Press **Bake**.",
        ),
        kerb,
    ),
    Scene(
        "deck",
        "On a ship's deck",
        (
            "Key the deck's rotation as a swell would turn it.",
            "Mark it as terrain: ground that moves is read at every frame.",
            "Press **Bake**.",
        ),
        deck,
        camera=(1.2, -5.8, 1.2),
        floor=-2.5,
    ),
)
