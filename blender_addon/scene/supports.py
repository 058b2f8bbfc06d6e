# SPDX-License-Identifier: GPL-3.0-or-later
"""What a bake rested on and the scene lacks, as its report tells it, made as meshes and grabs."""

from __future__ import annotations

import math
from typing import Any

import bpy
import numpy as np

from ..typed import settings_on
from ..writer import own_bag, write_steps
from .choosing import add_empty, own_collection

FLOOR = "Floor"  # the name of ground that takes the place of the level floor
MARK = 0.08  # m, of a grab
FACES = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]
ADDED = "supports_added"  # in a report whose supports are in the scene


def missing(report: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the supports of a report that are still to be added."""
    found: list[dict[str, Any]] = [] if report.get(ADDED) else report.get("supports", [])
    return found


def label(supports: list[dict[str, Any]]) -> str:
    """Return what a button says that adds them."""
    boxes = [box for support in supports if support["kind"] == "ground" for box in support["objects"]]
    steps = sum(box["name"] != FLOOR for box in boxes)
    parts = [f"the {steps} Steps" if steps > 1 else "the Ground"] if boxes else []
    for kind in ("seat", "ledge", "wall", "bar"):
        count = sum(support["kind"] == kind for support in supports)
        if count:
            parts.append(f"the {kind.title()}" if count == 1 else f"{count} {kind.title()}s")
    *more, last = parts
    return f"Add {', '.join(more)}{' and ' if more else ''}{last}"


def add(context: bpy.types.Context, armature: bpy.types.Object, supports: list[dict[str, Any]]) -> list[str]:
    """Make the objects and grabs of some supports where the bake had them, and return their names.

    What bodies meet goes to the character's terrain; bars are only seen, hands hold on by grabs.
    """
    settings, added = settings_on(armature), []
    unit = context.scene.unit_settings.scale_length * settings.scale
    chosen = context.view_layer.objects.active, list(context.selected_objects)
    for support in supports:
        is_ground = support["kind"] != "bar"
        collection = own_collection(context, armature, "terrain") if is_ground else context.scene.collection
        for box in support["objects"]:
            thing = make_box(box, unit)
            collection.objects.link(thing)
            added.append(thing.name)
            if box["name"] == FLOOR:
                settings.use_floor = False
        added += [make_grab(context, armature, grab, unit).name for grab in support["grabs"]]
    for other in context.selected_objects:
        other.select_set(state=False)
    for other in chosen[1]:
        other.select_set(state=True)
    context.view_layer.objects.active = chosen[0]
    return added


def make_box(box: dict[str, Any], unit: float) -> bpy.types.Object:
    """Return a box that stands on its place, its origin in the middle of its underside."""
    x, y, z = (np.array(box["size"]) / unit).tolist()
    corners = [(0.5 * a * x, 0.5 * b * y, c * z) for a in (-1, 1) for b in (-1, 1) for c in (0, 1)]
    mesh = bpy.data.meshes.new(box["name"])
    mesh.from_pydata(corners, [], FACES)
    thing = bpy.data.objects.new(box["name"], mesh)
    thing.location = (np.array(box["place"]) / unit).tolist()
    thing.rotation_euler.z = box["turn"]
    return thing


def make_grab(
    context: bpy.types.Context, armature: bpy.types.Object, grab: dict[str, Any], unit: float
) -> bpy.types.Object:
    """Return an empty in the place that a bone holds on to, switched on for as long as it does."""
    empty = add_empty(context, armature, grab["bone"], f"Grab {grab['bone']}", "SPHERE", MARK / unit, follows=False)
    empty.location = (np.array(grab["place"]) / unit).tolist()
    held = settings_on(empty).grab
    held.armature, held.bone, held.kind, held.holding = armature, grab["bone"], "POINT", True
    first, last = math.ceil(grab["frames"][0]), math.floor(grab["frames"][1])
    keys = np.array([(first - 1.0, 0.0), (float(first), 1.0), (last + 1.0, 0.0)])
    write_steps(own_bag(empty), "heft.grab.holding", "Grab", *keys.T)
    return empty
