# SPDX-License-Identifier: GPL-3.0-or-later
"""What a prop is touched by: the collision shape of its rigid body, as Physics ▸ Rigid Body ▸ Collisions has it.

Box, Sphere and Capsule have the size of the object. Convex Hull, Cylinder and Cone are hulls, Mesh is cut into hulls,
and a Compound Parent has the shapes of its children.
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import bpy
import numpy as np

from ...core.character import Capsule, Sphere
from ...core.contact.hulls import THINNEST, corners_of, thickness
from ...core.contact.pieces import pieces_of
from ...core.contact.shapes import Box as BoxShape
from ...core.contact.shapes import Hull, Shape, moved
from ...core.motion import quaternions
from ...core.motion.quaternions import Array
from ..rig.reading import rotations_of
from .attachment import place_of
from .terrain import read_mesh

SMALLEST = 1e-4  # m: half an extent of a box
SIDES = 16  # of a cylinder or a cone
SIMPLE = ("BOX", "SPHERE", "CAPSULE")
Vector = tuple[float, float, float]


class Box(NamedTuple):
    """The box around an object, at its axes, in metres."""

    half: Array  # (3,) extents
    center: Array  # (3,) in the object's frame
    position: Array  # (3,) of the object's origin in the world
    orientation: Array  # (4,) of the object in the world


class Form(NamedTuple):
    """Where an object is and how large, and the shapes of a prop that is more than a box, a ball or a capsule."""

    box: Box
    shapes: tuple[Shape, ...] = ()  # in the object's frame


def box_around(evaluated: bpy.types.Object, unit: float) -> Box:
    """Return the box around an evaluated object."""
    matrix = np.array(evaluated.matrix_world)
    turn = rotations_of(matrix[None, :3, :3])[0]
    corners = np.array(evaluated.bound_box)
    local = unit * corners @ (turn.T @ matrix[:3, :3]).T
    low, high = local.min(axis=0), local.max(axis=0)
    half = 0.5 * (high - low)
    if not half.max() > SMALLEST:
        raise ValueError(f"{evaluated.name} has no size: give it a mesh, or scale it up.")
    orientation = quaternions.from_matrix(turn[None])[0]
    return Box(np.maximum(half, SMALLEST), 0.5 * (low + high), place_of(matrix, unit), orientation)


def form_of(thing: bpy.types.Object, graph: bpy.types.Depsgraph, unit: float) -> Form:
    """Return what a prop is in this frame; ValueError in a sentence for the user."""
    evaluated = thing.evaluated_get(graph)
    body = thing.rigid_body
    if body is None or body.collision_shape in SIMPLE:
        return Form(box_around(evaluated, unit))
    if body.collision_shape != "COMPOUND":
        return Form(box_around(evaluated, unit), tuple(_shapes(thing, graph, unit, thing.name_full)))
    matrix = np.array(evaluated.matrix_world)
    turn = rotations_of(matrix[None, :3, :3])[0]
    nothing = np.full(3, SMALLEST)
    box = Box(nothing, np.zeros(3), place_of(matrix, unit), quaternions.from_matrix(turn[None])[0])
    shapes: list[Shape] = []
    for child in parts_of(thing):
        there = np.array(child.evaluated_get(graph).matrix_world)
        w, x, y, z = quaternions.from_matrix((turn.T @ rotations_of(there[None, :3, :3])[0])[None])[0].tolist()
        shift = _vector(turn.T @ (place_of(there, unit) - box.position))
        shapes += [moved(shape, shift, (w, x, y, z)) for shape in _shapes(child, graph, unit, child.name_full)]
    if not shapes:
        raise ValueError(
            f"{thing.name} is a Compound Parent without parts: parent objects with rigid bodies to it, or choose "
            "another shape under Physics ▸ Rigid Body."
        )
    # each by a name of its own, of the prop
    named = [replace(one, name=f"{thing.name_full} {k}", body=thing.name_full) for k, one in enumerate(shapes)]
    return Form(box, tuple(named))


def parts_of(thing: bpy.types.Object) -> list[bpy.types.Object]:
    """Return the objects whose shapes a compound has: its children with rigid bodies, as in Blender."""
    if thing.rigid_body is None or thing.rigid_body.collision_shape != "COMPOUND":
        return []
    return sorted((one for one in thing.children if one.rigid_body is not None), key=lambda one: one.name_full)


def _shapes(thing: bpy.types.Object, graph: bpy.types.Depsgraph, unit: float, name: str) -> list[Shape]:
    """Return an object's own shapes in its frame."""
    body, evaluated = thing.rigid_body, thing.evaluated_get(graph)
    kind = "BOX" if body is None else body.collision_shape
    if kind == "COMPOUND":
        raise ValueError(f"{thing.name} is a Compound Parent within another: Blender has these one deep only.")
    box = box_around(evaluated, unit)
    if kind in SIMPLE:
        return [_simple(kind, box, name)]
    if kind in {"CYLINDER", "CONE"}:
        return [_hull(f"{name} 0", name, _round(kind, box))]
    matrix = np.array(evaluated.matrix_world)
    turn = rotations_of(matrix[None, :3, :3])[0]
    vertices, triangles = read_mesh(evaluated)
    vertices = unit * vertices @ (turn.T @ matrix[:3, :3]).T
    flat = f"{thing.name} is flat, and cannot be a prop by its mesh: choose Box under Physics ▸ Rigid Body."
    if thickness(vertices) < THINNEST:
        raise ValueError(flat)
    pieces = [corners_of(vertices)] if kind == "CONVEX_HULL" else pieces_of(vertices, triangles)
    if not pieces:
        raise ValueError(flat)
    return [_hull(f"{name} {k}", name, corners) for k, corners in enumerate(pieces)]


def _simple(kind: str, box: Box, name: str) -> Shape:
    x, y, z = box.half.tolist()
    if kind == "BOX":
        return BoxShape(name, name, (x, y, z), _vector(box.center))
    if kind == "CAPSULE" and z - max(x, y) > SMALLEST:
        up = np.array([0.0, 0.0, z - max(x, y)])
        return Capsule(name, name, _vector(box.center - up), _vector(box.center + up), max(x, y))
    return Sphere(name, name, _vector(box.center), max(x, y, z))


def _round(kind: str, box: Box) -> Array:
    """Return the corners of a cylinder or a cone along the object's Z axis."""
    angle = 2.0 * np.pi * np.arange(SIDES) / SIDES
    ring = max(box.half[:2]) * np.column_stack([np.cos(angle), np.sin(angle)])
    low = np.column_stack([ring, np.full(SIDES, -box.half[2])])
    high = np.array([[0.0, 0.0, box.half[2]]]) if kind == "CONE" else low * (1.0, 1.0, -1.0)
    return np.asarray(box.center + np.concatenate([low, high]))


def _hull(name: str, body: str, corners: Array) -> Hull:
    return Hull(name, body, tuple(_vector(corner) for corner in corners))


def _vector(values: Array) -> Vector:
    x, y, z = (float(value) for value in values)
    return x, y, z
