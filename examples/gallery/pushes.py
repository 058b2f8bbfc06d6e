# SPDX-License-Identifier: GPL-3.0-or-later
"""Pushes, and what becomes of who is pushed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...blender_addon.typed import settings_on
from .scene import STONE, Scene, block, end_at, ground, push, walker

if TYPE_CHECKING:
    import bpy

LEFT, RIGHT, AHEAD, BACK = (1.0, 0.0, 0.0), (-1.0, 0.0, 0.0), (0.0, -1.0, 0.0), (0.0, 1.0, 0.0)


def shoved_aside(context: bpy.types.Context) -> list[bpy.types.Object]:
    """Shoved from the right, it steps across."""
    walks = walker(context, cycles=5)
    push(context, walks, 40, 200.0, LEFT)
    return [walks]


def shoved_on(context: bpy.types.Context) -> list[bpy.types.Object]:
    """Shoved from behind."""
    walks = walker(context, cycles=5)
    push(context, walks, 44, 250.0, AHEAD)
    return [walks]


def held_up(context: bpy.types.Context) -> list[bpy.types.Object]:
    """Shoved from ahead."""
    walks = walker(context, cycles=5)
    push(context, walks, 44, 200.0, BACK)
    return [walks]


def crowd(context: bpy.types.Context) -> list[bpy.types.Object]:
    """Bumped into again and again."""
    walks = walker(context, cycles=6)
    for frame, newtons, way in ((30, 120.0, LEFT), (62, 150.0, RIGHT), (94, 120.0, LEFT)):
        push(context, walks, frame, newtons, way)
    return [walks]


def wind(context: bpy.types.Context) -> list[bpy.types.Object]:
    """A wind that freshens from aside."""
    import bpy

    walks = walker(context, cycles=5)
    walks.data.bones.active = walks.data.bones["chest"]
    bpy.ops.heft.add_push(strength=0.0, continuous=True, direction=LEFT)
    arrow = context.active_object
    for frame, newtons in ((30, 0.0), (50, 40.0), (90, 40.0), (110, 0.0)):
        settings_on(arrow).push.strength = newtons
        arrow.keyframe_insert("heft.push.strength", frame=frame)
    return [walks]


def tackled(context: bpy.types.Context) -> list[bpy.types.Object]:
    """Tackled from the side."""
    walks = walker(context, cycles=4)
    push(context, walks, 40, 900.0, LEFT, frames=4)
    return [walks]


def blast(context: bpy.types.Context) -> list[bpy.types.Object]:
    """Thrown back by a blast."""
    walks = walker(context, cycles=4)
    push(context, walks, 40, 2000.0, (0.3, 1.0, 0.15), frames=4)
    return [walks]


def faint(context: bpy.types.Context) -> list[bpy.types.Object]:
    """Strength fails."""
    walks = walker(context, cycles=4)
    settings = settings_on(walks)
    for frame, strength in ((1, 3.0), (46, 3.0), (54, 0.0)):
        settings.strength = strength
        walks.keyframe_insert("heft.strength", frame=frame)
    return [walks]


def down_the_stairs(context: bpy.types.Context) -> list[bpy.types.Object]:
    """Pushed at the top of a flight of stairs."""
    walks = walker(context, cycles=3)
    rise, going, steps, top = 0.16, 0.30, 9, 9 * 0.16
    walks.location.z = top
    context.view_layer.update()
    pieces = [block(context, "Landing", (2.4, 5.0, top), (0.0, 0.6, 0.5 * top))]
    for k in range(1, steps):
        height = top - rise * k
        pieces.append(
            block(context, "Step", (2.4, going, height), (0.0, -1.9 - going * (k - 0.5), 0.5 * height), STONE)
        )
    ground(context, [walks], pieces)
    push(context, walks, 36, 800.0, AHEAD, frames=4)
    end_at(context, 5.0)
    return [walks]


HOW_PUSHED = "Go to the frame, make the chest active, and press **Add Push**."

SCENES = (
    Scene(
        "shoved_aside",
        "Shoved from the side",
        (HOW_PUSHED, "Choose *Shove* and turn the arrow.", "Press **Bake**: it steps across and walks on."),
        shoved_aside,
        camera=(-2.6, -5.0, 1.1),
    ),
    Scene(
        "shoved_on",
        "Shoved from behind",
        (HOW_PUSHED, "Leave the arrow as it is: it points ahead.", "Press **Bake**."),
        shoved_on,
    ),
    Scene(
        "held_up",
        "Shoved from ahead",
        (HOW_PUSHED, "Turn the arrow around.", "Press **Bake**: it staggers, and goes on."),
        held_up,
    ),
    Scene(
        "crowd",
        "Through a crowd",
        (
            "Add three pushes from the left and from the right.",
            "Move their keys in the Dope Sheet.",
            "Press **Bake**: each is answered in turn.",
        ),
        crowd,
        camera=(-2.0, -5.2, 1.1),
    ),
    Scene(
        "wind",
        "Against a gust",
        (
            "Press **Add Push** and switch **Continuous** on.",
            "Key its *Strength* as the wind rises and falls.",
            "Press **Bake**: it leans and drifts.",
        ),
        wind,
        camera=(-2.0, -5.2, 1.1),
    ),
    Scene(
        "tackled",
        "Tackled",
        (HOW_PUSHED, "Choose *Tackle*.", "Press **Bake**: too much to stay up, so it reaches for the ground."),
        tackled,
        camera=(-3.0, -4.6, 1.2),
        frames=(16, 88),
        falls=True,
    ),
    Scene(
        "blast",
        "A blast",
        (HOW_PUSHED, "Choose *Blast*.", "Press **Bake**."),
        blast,
        camera=(-5.2, -2.2, 1.2),
        frames=(16, 92),
        falls=True,
    ),
    Scene(
        "faint",
        "Fainting",
        (
            "Open **Controller ▸ Strength**.",
            "Key *Strength* from 3 down to 0 within eight frames.",
            "Press **Bake**: the body gives way where it stands.",
        ),
        faint,
        frames=(20, 98),
        falls=True,
    ),
    Scene(
        "down_the_stairs",
        "Down the stairs",
        (
            "Mark the stairs as terrain.",
            "Add a push of 800 N at the top.",
            "Press **Bake**.",
        ),
        down_the_stairs,
        camera=(-5.6, -2.6, 0.8),
        frames=(1, 92),
        falls=True,
    ),
)
