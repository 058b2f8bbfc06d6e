# SPDX-License-Identifier: GPL-3.0-or-later
"""Props: objects with a rigid body, as Blender's own physics has them, in the character's collection of props.

Mass, friction and shape are those of Physics ▸ Rigid Body, the size is the object's. And weights: objects that a bone
carries all the time.
"""

from __future__ import annotations

from collections.abc import Container, Sequence
from dataclasses import dataclass, replace
from typing import cast

import bpy
import numpy as np

from ...core.job import Load
from ...core.motion import quaternions
from ...core.motion.clip import Clip
from ...core.motion.quaternions import Array
from ...core.simulation import Prop
from ..typed import settings_on
from .attachment import attach
from .forms import SMALLEST, Box, Form, parts_of
from .takes import Clock, ball_taken

Vector = tuple[float, float, float]


@dataclass(frozen=True)
class SceneProp:
    """A prop and the object that shows it."""

    prop: Prop
    object_name: str  # full: with the library's, if linked
    origin: Vector  # of the object, in the prop's frame, m


def find_things(
    view_layer: bpy.types.ViewLayer, armature: bpy.types.Object
) -> tuple[list[bpy.types.Object], list[bpy.types.Object]]:
    """Return the props of a character that are shown, and the weights that it carries."""
    collection = settings_on(armature).props
    shown = [] if collection is None else collection.all_objects
    meshes = [
        one
        for one in shown
        # a ball is hidden until it is thrown
        if one.type == "MESH" and (settings_on(one).throw.taken or one.visible_get(view_layer=view_layer))
    ]
    parts = {part for one in meshes for part in parts_of(one)}
    meshes = [one for one in meshes if one not in parts]
    meshes.sort(key=lambda one: settings_on(one).throw.taken)
    return (
        [one for one in meshes if settings_on(one).weight.armature is None],
        [one for one in meshes if settings_on(one).weight.armature == armature],
    )


def prop_of(thing: bpy.types.Object, form: Form, taken: Container[str], clock: Clock) -> SceneProp:
    """Return the prop that an object is; `taken` are names that it cannot have."""
    body = thing.rigid_body
    if body is not None and body.type == "PASSIVE":
        raise ValueError(
            f"{thing.name} has a passive rigid body and cannot be a prop: make it Active; or take it out of the "
            "collection and press Mark as Terrain, if it stays or moves by keys."
        )
    if body is None:
        raise ValueError(
            f"{thing.name} is in the prop collection but has no active rigid body: press Add Prop for it, or take it "
            "out of the collection."
        )
    name = thing.name_full if thing.name_full not in taken else f"{thing.name_full} (prop)"
    if settings_on(thing).throw.taken:
        return SceneProp(ball_taken(thing, name, clock), thing.name_full, (0.0, 0.0, 0.0))
    box = form.box
    turn = {"orientation": tuple(box.orientation.tolist())}
    if form.shapes:
        shapes = [replace(shape, body=name) for shape in form.shapes]
        prop = Prop.of_shapes(name, shapes, body.mass, _vector(box.position), **turn)
        # the body's frame has its origin at the centre of mass
        away = quaternions.rotate(quaternions.conjugate(box.orientation), box.position - prop.body.position)
        return SceneProp(_as_said(prop, body), thing.name_full, _vector(away))
    middle = _vector(box.position + quaternions.rotate(box.orientation, box.center))
    x, y, z = box.half.tolist()
    if body.collision_shape == "BOX":
        prop = Prop.box(name, (x, y, z), body.mass, middle, **turn)
    elif body.collision_shape == "CAPSULE" and z - max(x, y) > SMALLEST:
        prop = Prop.capsule(name, max(x, y), 2.0 * (z - max(x, y)), body.mass, middle, **turn)
    else:
        prop = Prop.sphere(name, max(x, y, z), body.mass, middle, **turn)
    return SceneProp(_as_said(prop, body), thing.name_full, _vector(-box.center))


def _as_said(prop: Prop, body: bpy.types.RigidBodyObject) -> Prop:
    """With what its rigid body says of the surface and of whom it meets."""
    on = cast("Sequence[bool]", body.collision_collections)
    return replace(prop, friction=body.friction, groups=tuple(number for number, this in enumerate(on) if this))


def load_of(thing: bpy.types.Object, box: Box, armature: bpy.types.Object, clip: Clip, row: int) -> Load:
    """Return what an object weighs on its bone, as it lies to it in a frame of the clip: a ball of its size."""
    settings = settings_on(thing).weight
    attachment = attach(armature, settings.bone, clip, thing.name)
    middle = attachment.local(clip, row, box.position + quaternions.rotate(box.orientation, box.center))
    radius = float(np.cbrt(box.half.prod()))
    return Load(thing.name_full, attachment.body, settings.mass, _vector(middle), radius, not settings.surprise)


def _vector(values: Array) -> Vector:
    x, y, z = (float(value) for value in values)
    return x, y, z
