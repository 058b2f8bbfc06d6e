# SPDX-License-Identifier: GPL-3.0-or-later
"""Ties of props: Blender's rigid body constraints, as Physics ▸ Rigid Body Constraint sets them on an empty.

Fixed, Point, Hinge and Slider hold a prop to another, or to where it is if the other is none. Two points on a hinge's
axis hold it as well as the hinge does; one with limits is a joint. A slider goes along the empty's X axis.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import bpy
import numpy as np

from ...core.motion import quaternions
from ...core.motion.quaternions import Array
from ...core.simulation import Prop
from ..rig.reading import rotations_of
from ..typed import as_kind
from .attachment import place_of
from .props import SceneProp

APART = 0.2  # m: half the way between the points that make a hinge
KNOWN = ("FIXED", "POINT", "HINGE", "SLIDER")


@dataclass(frozen=True)
class Tie:
    """A constraint, and where it is."""

    empty: bpy.types.Object
    place: Array  # (3,) m
    hinge: Array  # (3,) the way of a hinge's axis, unit
    slider: Array  # (3,) the way that a slider goes, unit


def find_ties(view_layer: bpy.types.ViewLayer) -> list[bpy.types.Object]:
    """Return the objects with a rigid body constraint that is switched on."""
    return [one for one in view_layer.objects if one.rigid_body_constraint and one.rigid_body_constraint.enabled]


def look_at(empty: bpy.types.Object, graph: bpy.types.Depsgraph, unit: float) -> Tie:
    """Return a constraint as it is in the frame."""
    matrix = np.array(empty.evaluated_get(graph).matrix_world)
    turn = rotations_of(matrix[None, :3, :3])[0]
    return Tie(empty, place_of(matrix, unit), turn[:, 2], turn[:, 0])


def tied(props: Sequence[SceneProp], ties: Sequence[Tie]) -> tuple[list[SceneProp], list[str]]:
    """Return the props with what holds them, and a note for each constraint that Heft does not know."""
    found = {prop.object_name: prop for prop in props}
    notes = []
    for tie in ties:
        constraint = tie.empty.rigid_body_constraint
        ends = [one.name_full for one in (constraint.object1, constraint.object2) if one is not None]
        own = next((name for name in ends if name in found), None)
        if own is None:
            continue
        if constraint.type not in KNOWN:
            kinds = as_kind(constraint.bl_rna.properties["type"], bpy.types.EnumProperty).enum_items
            notes.append(
                f"{tie.empty.name} is a {kinds[constraint.type].name} constraint, which Heft does not know, so "
                f"{own} is not held by it: choose Fixed, Point, Hinge or Slider."
            )
            continue
        other = next((found[name].prop for name in ends if name in found and name != own), None)
        limits = _limits(constraint, own)
        if limits is None:
            found[own] = replace(found[own], prop=_held(found[own].prop, constraint.type, tie, other))
        elif other is None and not found[own].prop.ties:
            found[own] = _hinged(found[own], tie, *limits)
        else:
            found[own] = replace(found[own], prop=_held(found[own].prop, constraint.type, tie, other))
            notes.append(
                f"{own} turns about {tie.empty.name} without its limits, because it also hangs from another prop or "
                "constraint: hang it from the world alone to have them."
            )
    return [found[prop.object_name] for prop in props], notes


def _limits(constraint: bpy.types.RigidBodyConstraint, own: str) -> tuple[float, float] | None:
    """How far a prop may turn about its hinge from where it is, rad, if that has limits: those of the first object."""
    if constraint.type != "HINGE" or not constraint.use_limit_ang_z:
        return None
    lower, upper = constraint.limit_ang_z_lower, constraint.limit_ang_z_upper
    if lower > upper:  # for Blender, too, no limit
        return None
    first = constraint.object1
    return (lower, upper) if first is not None and first.name_full == own else (-upper, -lower)


def _hinged(held: SceneProp, tie: Tie, lower: float, upper: float) -> SceneProp:
    """The prop on a hinge with limits; its body's frame then lies on that."""
    prop = held.prop
    back = quaternions.conjugate(np.array(prop.body.orientation))
    axis, point = (
        [float(value) for value in quaternions.rotate(back, way)]
        for way in (tie.hinge, tie.place - np.array(prop.body.position))
    )
    hung = prop.hinged((axis[0], axis[1], axis[2]), (point[0], point[1], point[2]), lower, upper)
    x, y, z = (float(a) - float(b) for a, b in zip(held.origin, point, strict=True))
    return replace(held, prop=hung, origin=(x, y, z))


def _held(prop: Prop, kind: str, tie: Tie, other: Prop | None) -> Prop:
    name = None if other is None else other.name
    if kind == "FIXED":
        return prop.fixed(name)
    back = quaternions.conjugate(np.array(prop.body.orientation))
    if kind == "SLIDER":
        x, y, z = (float(value) for value in quaternions.rotate(back, tie.slider))
        return prop.sliding((x, y, z), name)
    places = [tie.place] if kind == "POINT" else [tie.place - APART * tie.hinge, tie.place + APART * tie.hinge]
    points = [quaternions.rotate(back, place - np.array(prop.body.position)) for place in places]
    return prop.tied_at(*((float(x), float(y), float(z)) for x, y, z in points), other=name)
