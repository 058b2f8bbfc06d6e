# SPDX-License-Identifier: GPL-3.0-or-later
"""The motion that is simulated: an armature's action, or what a baked action was made from, played while it is read."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

import bpy

from ..typed import notes_on, settings_on
from ..writer import assigned_curves
from .stack import lifted, stack_of


class Unkeyed(NamedTuple):
    """A channel of a bone, and its value."""

    bone: str
    part: str  # such as "location"
    array_index: int
    value: float


class Layer(NamedTuple):
    """How an action lies over the NLA's tracks."""

    blend: Literal["REPLACE", "COMBINE", "ADD", "SUBTRACT", "MULTIPLY"]
    influence: float
    extrapolation: Literal["NOTHING", "HOLD", "HOLD_FORWARD"]


@dataclass(frozen=True)
class Source:
    """An action and its slot, none where the NLA or constraints alone move the armature.

    The action is known by its session number: while a bake goes on it may be undone, renamed or deleted.
    """

    uid: int | None
    name: str  # after which a new action is named
    slot: str  # its identifier
    layer: Layer
    muted: tuple[tuple[str, str], ...] = ()  # bones and constraints that an earlier bake muted
    unkeyed: tuple[Unkeyed, ...] = ()  # what the source does not key but an earlier bake does, as it was before

    def action(self) -> bpy.types.Action | None:
        """The action, if it is still there."""
        return next((action for action in bpy.data.actions if action.session_uid == self.uid), None)


def source_of(armature: bpy.types.Object) -> Source:
    """Return what is to be simulated; ValueError, in words for the user, where that cannot be told."""
    animation = armature.animation_data
    assigned = animation.action if animation else None
    baked = notes_on(assigned) if assigned is not None and notes_on(assigned).report else None
    stack = stack_of(armature)
    if baked is None and stack is not None:
        baked = notes_on(stack.action)
    kept = json.loads(baked.kept) if baked is not None and baked.kept else None
    layer = Layer(*kept["layer"]) if kept else layer_of(animation)
    muted = tuple((bone, constraint) for bone, constraint in kept["muted"]) if kept else ()
    unkeyed = tuple(Unkeyed(*one) for one in kept["unkeyed"]) if kept else ()
    chosen, slot = settings_on(armature).source_action, ""
    if chosen is None and baked is not None:
        chosen, slot = baked.source, baked.source_slot
    elif chosen is None or chosen == assigned:
        if assigned is not None and animation.action_slot is None:
            raise ValueError(f"{armature.name} uses the action {assigned.name} without a slot: choose a slot.")
        chosen, slot = assigned, animation.action_slot.identifier if assigned is not None else ""
    if chosen is None:
        return Source(None, armature.name, "", layer, muted, unkeyed)
    identifier = slot_for(armature, chosen, slot).identifier
    return Source(chosen.session_uid, chosen.name, identifier, layer, muted, unkeyed)


def shown_source(armature: bpy.types.Object) -> bpy.types.Action | None:
    """Return the action that a bake would start from, for panels: also where a baked one is assigned, or a layer."""
    animation = armature.animation_data
    assigned = animation.action if animation else None
    stack = stack_of(armature)
    played = assigned
    if assigned is not None and notes_on(assigned).source is not None:
        played = notes_on(assigned).source
    elif stack is not None:
        played = notes_on(stack.action).source
    return played


def slot_for(armature: bpy.types.Object, action: bpy.types.Action, identifier: str = "") -> bpy.types.ActionSlot:
    """Return an action's slot of that name, else the one that carries the armature's name, else the only one."""
    slots = [slot for slot in action.slots if slot.target_id_type in {"OBJECT", "UNSPECIFIED"}]
    for wanted in (identifier, f"OB{armature.name}"):
        for slot in slots:
            if slot.identifier == wanted:
                return slot
    if len(slots) == 1:
        return slots[0]
    raise ValueError(
        f"The action {action.name} has {len(slots) or 'no'} slots for {armature.name}: assign it and choose a slot."
    )


@contextlib.contextmanager
def playing(armature: bpy.types.Object, source: Source) -> Iterator[None]:
    """Have the armature play its source, no layer above it, and put back at the end what it played before."""
    with lifted(armature), _assigned(armature, source):
        yield


@contextlib.contextmanager
def _assigned(armature: bpy.types.Object, source: Source) -> Iterator[None]:
    animation = armature.animation_data
    before = (animation.action, animation.action_slot) if animation else (None, None)
    layer = layer_of(animation)
    action = source.action()
    slot = slot_for(armature, action, source.slot) if action is not None else None
    if (*before, layer) == (action, slot, source.layer) and not source.muted and not source.unkeyed:
        yield
        return
    if animation is None:
        animation = armature.animation_data_create()
    constraints = [found for name in source.muted if (found := constraint_of(armature, *name)) is not None]
    were_muted = [constraint.mute for constraint in constraints]
    values = values_of(armature, source.unkeyed)
    try:
        play(armature, source)
        yield
    finally:
        for constraint, mute in zip(constraints, were_muted, strict=True):
            constraint.mute = mute
        set_values(armature, values)
        assign(animation, *before, layer)


def play(armature: bpy.types.Object, source: Source) -> None:
    """Have the armature, which has animation data, play its source from now on."""
    action = source.action()
    slot = slot_for(armature, action, source.slot) if action is not None else None
    assign(armature.animation_data, action, slot, source.layer)
    set_values(armature, source.unkeyed)
    for name in source.muted:
        constraint = constraint_of(armature, *name)
        if constraint is not None:
            constraint.mute = False


def plays(armature: bpy.types.Object, source: Source) -> bool:
    """Return whether the armature plays its source itself."""
    animation = armature.animation_data
    return animation is not None and animation.action is not None and animation.action == source.action()


def values_of(armature: bpy.types.Object, channels: Iterable[Unkeyed]) -> list[Unkeyed]:
    """Return the same channels with their present values; those of bones that are gone are left out."""
    bones = armature.pose.bones
    return [
        one._replace(value=getattr(bones[one.bone], one.part)[one.array_index]) for one in channels if one.bone in bones
    ]


def set_values(armature: bpy.types.Object, channels: Iterable[Unkeyed]) -> None:
    """Set channels of bones."""
    for one in channels:
        bone: bpy.types.PoseBone | None = armature.pose.bones.get(one.bone)
        if bone is not None:
            getattr(bone, one.part)[one.array_index] = one.value


def unkeyed_by(armature: bpy.types.Object, source: Source, keyed: Iterable[tuple[str, int]]) -> list[Unkeyed]:
    """Return those of the keyed channels of bones that the source, which is playing, does not key."""
    action = source.action()
    own = set() if action is None else {(c.data_path, c.array_index) for c in assigned_curves(armature, action)}
    known = {(one.bone, one.part, one.array_index): one for one in source.unkeyed}
    found = []
    for path, index in keyed:
        bone, part = bone_of(path)
        if bone in armature.pose.bones and (path, index) not in own:
            value = getattr(armature.pose.bones[bone], part)[index]
            found.append(known.get((bone, part, index), Unkeyed(bone, part, index, value)))
    return found


def bone_of(path: str) -> tuple[str, str]:
    """Return the bone and the part of it that a curve's path names; empty for other paths."""
    head, _, part = path.rpartition(".")
    if not (head.startswith('pose.bones["') and head.endswith('"]')):
        return "", ""
    return bpy.utils.unescape_identifier(head.removeprefix('pose.bones["').removesuffix('"]')), part


def layer_of(animation: bpy.types.AnimData | None) -> Layer:
    """Return how the assigned action lies over the NLA's tracks."""
    if animation is None:
        return Layer("REPLACE", 1.0, "HOLD")
    return Layer(animation.action_blend_type, animation.action_influence, animation.action_extrapolation)


def assign(
    animation: bpy.types.AnimData, action: bpy.types.Action | None, slot: bpy.types.ActionSlot | None, layer: Layer
) -> None:
    """Assign an action and its slot, or none."""
    if animation.use_tweak_mode:
        raise ValueError("The NLA Editor is in tweak mode: leave it first.")
    animation.action = action
    if action is not None:
        animation.action_slot = slot
    animation.action_blend_type, animation.action_influence, animation.action_extrapolation = layer


def constraint_of(armature: bpy.types.Object, bone: str, constraint: str) -> bpy.types.Constraint | None:
    """Return a bone's constraint, None where either is gone."""
    posed: bpy.types.PoseBone | None = armature.pose.bones.get(bone)
    found: bpy.types.Constraint | None = None if posed is None else posed.constraints.get(constraint)
    return found


def mute(armature: bpy.types.Object, bones: set[str] | None) -> list[tuple[str, str]]:
    """Mute the constraints of bones, and return which they are."""
    found = [
        (bone.name, constraint.name)
        for bone in armature.pose.bones
        if bones is None or bone.name in bones
        for constraint in bone.constraints
        if not constraint.mute
    ]
    for names in found:
        constraint = constraint_of(armature, *names)
        if constraint is not None:
            constraint.mute = True
    return found


def unmute(armature: bpy.types.Object, muted: Sequence[tuple[str, str]]) -> None:
    """Have constraints act again that an earlier bake muted: the controls work by them."""
    for names in muted:
        constraint = constraint_of(armature, *names)
        if constraint is not None:
            constraint.mute = False
