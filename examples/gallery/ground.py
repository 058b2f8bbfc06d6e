# SPDX-License-Identifier: GPL-3.0-or-later
"""Walks over ground that the keys know nothing of."""

from __future__ import annotations

import math
import random
from typing import TYPE_CHECKING

from .. import mannequin
from .scene import STEEL, STONE, WOOD, Scene, block, ground, walker

if TYPE_CHECKING:
    import bpy

RISE, GOING, STEPS = 0.15, 0.30, 7
STAIRS_FROM = -1.6
"""Of a flight of stairs: rise and going of a step, how many, and where they begin, m."""
RUBBLE = 70
"""Stones."""
GRASS = (0.22, 0.34, 0.14)
SPEED = 0.9
"""Of the walkway, m/s."""


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


def meadow(context: bpy.types.Context) -> list[bpy.types.Object]:
    """Over ground that rises and falls everywhere."""
    import bpy

    walks = walker(context, cycles=5)
    columns, rows, cell = 28, 72, 0.14
    places = [((i - 0.5 * columns) * cell, 1.5 - k * cell) for k in range(rows + 1) for i in range(columns + 1)]
    sides = [
        (a, a + columns + 1, a + columns + 2, a + 1)
        for k in range(rows)
        for a in range(k * (columns + 1), k * (columns + 1) + columns)
    ]
    mesh = bpy.data.meshes.new("Meadow")
    mesh.from_pydata([(x, y, bump(x, y)) for x, y in places], [], sides)
    mesh.polygons.foreach_set("use_smooth", [True] * len(mesh.polygons))
    mesh.materials.append(mannequin.make_material("Grass", GRASS, roughness=0.9))
    field = bpy.data.objects.new("Meadow", mesh)
    context.collection.objects.link(field)
    ground(context, [walks], [field])
    return [walks]


def bump(x: float, y: float) -> float:
    """Height of the meadow, m: level where the walk begins."""
    begun = min(max(-0.7 * (y + 0.6), 0.0), 1.0)
    waves = math.sin(3.3 * y + 0.8 * x) + 0.6 * math.sin(2.1 * y - 2.4 * x + 1.0) + 0.5 * math.sin(4.6 * x + 0.4)
    return 0.03 * begun * waves


def across(context: bpy.types.Context) -> list[bpy.types.Object]:
    """Along a slope that falls to the side."""
    walks = walker(context, cycles=5)
    tilt = math.radians(8.0)
    slope = block(context, "Slope", (2.6, 9.5, 0.1), (0.0, -3.4, -0.05 / math.cos(tilt)), WOOD, (0.0, tilt, 0.0))
    ground(context, [walks], [slope])
    return [walks]


def walkway(context: bpy.types.Context) -> list[bpy.types.Object]:
    """On a walkway that starts to move."""
    walks = walker(context, cycles=5)
    belt = block(context, "Belt", (1.2, 14.0, 0.1), (0.0, -3.0, -0.05), STEEL)
    lines = [block(context, "Line", (1.2, 0.03, 0.004), (0.0, 3.75 - 0.5 * k, 0.0), STONE) for k in range(28)]
    for k in range(12):
        block(context, "Post", (0.05, 0.05, 0.95), (0.75, 1.0 - 1.2 * k, 0.475), STONE)
    block(context, "Rail", (0.07, 13.3, 0.05), (0.75, -5.6, 0.95), STONE)
    context.view_layer.update()
    for line in lines:
        line.parent = belt
        line.matrix_parent_inverse = belt.matrix_world.inverted()
    for frame in range(1, 141, 2):
        seconds = (frame - 1) / 24.0
        speeding = min(seconds, 2.0)
        belt.location.y = -3.0 - SPEED * (0.25 * speeding * speeding + max(seconds - 2.0, 0.0))
        belt.keyframe_insert("location", frame=frame)
    ground(context, [walks], [belt])
    return [walks]


SCENES = (
    Scene(
        "meadow",
        "Over a meadow",
        (
            "A mesh of bumps of ten centimetres is the ground.",
            "Select it and the armature, and press **Mark as Terrain**.",
            "Press **Bake**: heights and tilts of soles follow the ground.",
        ),
        meadow,
        camera=(-3.6, -3.4, 0.9),
        floor=None,
    ),
    Scene(
        "across",
        "Across a slope",
        (
            "A slope of 8 degrees falls to the side.",
            "Mark it as terrain; the action stays a level walk.",
            "Press **Bake**: one knee bends more, and ankles tilt.",
        ),
        across,
        camera=(0.6, -5.2, 0.8),
        floor=-1.5,
    ),
    Scene(
        "walkway",
        "On a moving walkway",
        (
            "Key the belt's place: it sets off while the walk begins.",
            "Mark it as terrain: ground that moves carries along who stands on it.",
            "Press **Bake**.",
        ),
        walkway,
        camera=(-4.2, -3.0, 1.0),
        floor=-0.11,
    ),
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
