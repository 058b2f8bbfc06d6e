# SPDX-License-Identifier: GPL-3.0-or-later
"""Whom a scene's things are for, and where they are kept."""

from typing import Literal

import bpy

from ..typed import as_kind, settings_on

Display = Literal["SINGLE_ARROW", "SPHERE", "CIRCLE"]  # of an empty


def chosen_character(context: bpy.types.Context) -> bpy.types.Object | None:
    """Return the armature that is meant: the active one, a selected one, the active thing's, or the only one set up."""
    active = context.active_object
    if active is not None and active.type == "ARMATURE":
        return active
    selected = [other for other in context.selected_objects if other.type == "ARMATURE"]
    if len(selected) == 1:
        return selected[0]
    if active is not None:
        own = settings_on(active)
        for settings in (own.push, own.grab, own.foothold, own.weight):
            armature: bpy.types.Object | None = settings.armature
            if armature is not None:
                return armature
    known = [other for other in context.view_layer.objects if other.type == "ARMATURE" and settings_on(other).character]
    return known[0] if len(known) == 1 else None


def needs_character(cls: type[bpy.types.Operator], context: bpy.types.Context) -> bool:
    """For polls: whether it is clear which armature is meant."""
    if chosen_character(context) is None:
        cls.poll_message_set("Select the character's armature too")
        return False
    return True


def chosen_bone(armature: bpy.types.Object) -> str:
    """Return the active bone, else the one that the hips follow, else the first."""
    bone = armature.data.bones.active
    if bone is None:
        pelvis = settings_on(armature).roles.get("pelvis")
        names = pelvis.names() if pelvis else ()
        bone = armature.data.bones.get(names[0]) if names else None
    return (bone or armature.data.bones[0]).name


def check_own(armature: bpy.types.Object) -> None:
    """Refuse an armature whose settings cannot be changed."""
    if not armature.is_editable or (armature.library is not None and armature.override_library is None):
        raise ValueError(f"{armature.name} is linked from another file: make a library override of it first.")


def own_collection(context: bpy.types.Context, armature: bpy.types.Object, kind: str) -> bpy.types.Collection:
    """Return the armature's collection of terrain or props, made if it has none."""
    check_own(armature)
    collection: bpy.types.Collection | None = getattr(settings_on(armature), kind)
    if collection is None:
        collection = bpy.data.collections.new(f"{armature.name} {kind.title()}")
        context.scene.collection.children.link(collection)
        setattr(settings_on(armature), kind, collection)
    if not collection.is_editable or collection.library is not None:
        raise ValueError(f"The collection {collection.name} is linked from another file: choose one of your own.")
    return collection


def add_empty(
    context: bpy.types.Context,
    armature: bpy.types.Object,
    bone: str,
    name: str,
    display: Display,
    size: float,
    *,
    follows: bool = True,
) -> bpy.types.Object:
    """Add an empty at the middle of a bone, or one that goes with it in its own direction; it is the active object."""
    check_own(armature)
    empty = bpy.data.objects.new(name, None)
    empty.empty_display_type, empty.empty_display_size = display, size
    collection = context.collection if context.collection.is_editable else context.scene.collection
    collection.objects.link(empty)
    if follows:
        follow = as_kind(empty.constraints.new("COPY_LOCATION"), bpy.types.CopyLocationConstraint)
        follow.target, follow.subtarget, follow.head_tail, follow.use_offset = armature, bone, 0.5, True
    else:
        pose = armature.pose.bones[bone]
        empty.location = armature.matrix_world @ (0.5 * (pose.head + pose.tail))
    if context.mode == "OBJECT":
        for other in context.selected_objects:
            other.select_set(state=False)
        empty.select_set(state=True)
        context.view_layer.objects.active = empty
    return empty
