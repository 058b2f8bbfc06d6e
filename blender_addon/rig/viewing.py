# SPDX-License-Identifier: GPL-3.0-or-later
"""Where motion is looked at: in the scene itself, or in one of its own that has nothing but what is looked at.

A frame of a whole scene takes as long as its meshes do, a millisecond of one mannequin; an armature alone takes a
thirtieth of that, and what users see stays at its frame. What the armature hangs on comes along by itself. What asks
the scene itself for something cannot be told there: so whoever looks apart checks now and then that it tells the same.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Collection, Iterator
from typing import NamedTuple

import bpy

NAME = "Heft Reading"
LIKE = ("use_gravity", "gravity", "frame_start", "frame_end")
LIKE_RENDER = ("fps", "fps_base", "frame_map_old", "frame_map_new", "use_simplify", "simplify_subdivision")


class Seen(NamedTuple):
    """What is evaluated, frame by frame."""

    scene: bpy.types.Scene
    view_layer: bpy.types.ViewLayer


View = Callable[[], contextlib.AbstractContextManager[Seen]]


@contextlib.contextmanager
def in_place(scene: bpy.types.Scene, view_layer: bpy.types.ViewLayer) -> Iterator[Seen]:
    """Look at the scene itself, which is at its own frame again in the end."""
    now, part = scene.frame_current, scene.frame_subframe
    try:
        yield Seen(scene, view_layer)
    finally:
        scene.frame_set(now, subframe=part)


@contextlib.contextmanager
def apart(scene: bpy.types.Scene, objects: Collection[bpy.types.Object]) -> Iterator[Seen]:
    """Look at some of its objects in a scene like it, which is gone in the end."""
    other = bpy.data.scenes.new(NAME)
    try:
        for name in LIKE:
            setattr(other, name, getattr(scene, name))
        for name in LIKE_RENDER:
            setattr(other.render, name, getattr(scene.render, name))
        other.unit_settings.scale_length = scene.unit_settings.scale_length
        other.camera = scene.camera
        for one in objects:
            other.collection.objects.link(one)
        yield Seen(other, other.view_layers[0])
    finally:
        bpy.data.scenes.remove(other)


def can_be_apart(scene: bpy.types.Scene) -> bool:
    """Whether nothing is there that is known to tell something else of another scene: bodies, and others' scripts."""
    handlers = (*bpy.app.handlers.frame_change_pre, *bpy.app.handlers.frame_change_post)
    return scene.rigidbody_world is None and not handlers
