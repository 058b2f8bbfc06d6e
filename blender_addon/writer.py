# SPDX-License-Identifier: GPL-3.0-or-later
"""The one place that writes F-curves: poses over frames become a new action, in bulk."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

import bpy
import numpy as np
from numpy.typing import NDArray

from ..core.motion.key_fitting import Keys
from ..core.motion.quaternions import Array
from .rig.pose_space import Channels, RestBone, channels_of, rest_bones
from .slices import Work, whole
from .typed import as_kind

Rows = NDArray[np.intp]
Channelled = Mapping[str, Mapping[str, Array]]  # location, rotation and scale of bones

ROTATION_PATH = {"QUATERNION": "rotation_quaternion", "AXIS_ANGLE": "rotation_axis_angle"}
TRANSFORMS = {"location", "scale", "rotation_quaternion", "rotation_euler", "rotation_axis_angle"}
UNCHANGED = 1e-4
"""A scale that stays this near to 1 all along is not keyed."""
UNMOVED = 1e-6
"""A channel that stays within as much all along is keyed at its ends: what is read of what never moves is as rough."""
STRETCHED = {"CYCLES", "LIMITS"}
"""Modifiers of curves that do the same at another pace."""
ROUGH = 4.0 * float(np.finfo(np.float32).eps)
"""Shares of how far a bone is away, within which its place between others is not known."""


def write_action(
    armature: bpy.types.Object,
    frames: Array,
    pose: Array,
    name: str,
    *,
    slot: str = "",
    bones: Collection[str] | None = None,
    keep: bpy.types.Action | None = None,
) -> bpy.types.Action:
    """Make a new action with the poses (nf, nb, 4, 4) in the armature's space, keyed at the frames; not assigned yet.

    `slot` names its slot, by the armature unless given.
    `bones` limits what is keyed; the others are taken to have the given poses all the same. From the slot of the action
    `keep` that the armature has assigned, curves of anything else are carried over: custom properties, the object's.
    """
    channels = channels_to_key(resting_bones(armature, pose), pose, bones)
    slot = slot or armature.name
    carried = () if keep is None else assigned_curves(armature, keep)
    return whole(writing_channels(armature, frames, channels, name, slot=slot, carried=carried))


def resting_bones(armature: bpy.types.Object, pose: Array) -> list[RestBone]:
    """Return the bones that poses (nf, nb, 4, 4) are of."""
    resting = rest_bones(armature)
    if pose.shape[1] != len(resting):
        raise ValueError(f"{armature.name} has {len(resting)} bones, but the poses have {pose.shape[1]}.")
    return resting


def channels_to_key(
    resting: Sequence[RestBone], pose: Array, bones: Collection[str] | None = None
) -> dict[str, dict[str, Array]]:
    """Return what is to be keyed for poses (nf, nb, 4, 4) in the armature's space: of some bones, or of all.

    A connected bone has no location, and a scale that stays 1 is not keyed. A location that changes by no more than
    what Blender's numbers know of a place so far away is one that stays.
    """
    result = {}
    for number, (bone, channels) in enumerate(zip(resting, channels_of(resting, pose), strict=True)):
        if bones is not None and bone.name not in bones:
            continue
        stays = np.ptp(channels.location, axis=0) <= ROUGH * np.abs(pose[:, number, :3, 3]).max()
        location = np.where(stays, channels.location[0], channels.location)
        parts = {} if bone.connected else {"location": location}
        parts["rotation"] = channels.rotation
        if np.abs(channels.scale - 1.0).max() > UNCHANGED:
            parts["scale"] = channels.scale
        result[bone.name] = parts
    return result


def write_channels(
    armature: bpy.types.Object,
    frames: Array,
    channels: Channelled,
    name: str,
    *,
    slot: str,
    keep: bpy.types.Action | None = None,
) -> bpy.types.Action:
    """Make a new action with bones' location, rotation and scale as given, keyed at the frames; not assigned yet.

    `slot` is the name of its slot. Rotation is in the bone's own mode. The action is a copy of `keep`, where there is
    one, of which nothing else changes: neither other curves of that slot, nor other slots.
    """
    return whole(writing_channels(armature, frames, channels, name, slot=slot, keep=keep))


def writing_channels(
    armature: bpy.types.Object,
    frames: Array,
    channels: Channelled,
    name: str,
    *,
    slot: str,
    keep: bpy.types.Action | None = None,
    carried: Sequence[bpy.types.FCurve] = (),
    fits: Mapping[str, Mapping[str, Keys]] | None = None,
) -> Work[bpy.types.Action]:
    """Make it as `write_channels` does, a little at a time; left half-way, there is none.

    Curves of another action's that are to be `carried` over are those that the new one does not replace. Keys that
    `fits` has of a bone's part are written instead of one at every frame.
    """
    if keep is None:
        action, bag = new_action(name, slot)
    else:
        action = keep.copy()
        action.name, action.use_fake_user = name, False
        if action.asset_data is not None:
            action.asset_clear()
        bag = bag_of(action, f"OB{slot}")
        replaced = {
            f"{bone_path(bone)}.{kind_of(armature, bone, part)}" for bone, parts in channels.items() for part in parts
        }
        # what Heft keyed tells of the old action, not of the new one
        for curve in [one for one in bag.fcurves if one.data_path in replaced or one.data_path.startswith("heft.")]:
            bag.fcurves.remove(curve)
    uid, finished = action.session_uid, False
    try:
        for done, (bone, parts) in enumerate(channels.items()):
            for part, values in parts.items():
                path = f"{bone_path(bone)}.{kind_of(armature, bone, part)}"
                keys = (fits or {}).get(bone, {}).get(part)
                for index in range(values.shape[1]):
                    rows, slopes = needed_rows(frames, values[:, index]), None
                    if keys is not None and len(rows) > 2:
                        rows, slopes = keys.rows, keys.slopes[:, index]
                    write_curve(bag, path, index, bone, frames[rows], values[rows, index], slopes=slopes)
                    yield done / len(channels)
        yield from carry_over(carried, bag)
        finished = True
    finally:
        if not finished:
            discard_action(uid)
    return action


def discard_action(uid: int) -> None:
    """Take an action away that was not finished, if it is there."""
    for action in bpy.data.actions:
        if action.session_uid == uid:
            bpy.data.actions.remove(action)
            return


def bone_path(bone: str) -> str:
    """Return how the paths of a bone's curves begin."""
    return f'pose.bones["{bpy.utils.escape_identifier(bone)}"]'


def kind_of(armature: bpy.types.Object, bone: str, part: str) -> str:
    """Return the property of a bone that its location, rotation or scale is keyed on."""
    if part != "rotation":
        return part
    return ROTATION_PATH.get(armature.pose.bones[bone].rotation_mode, "rotation_euler")


def new_action(name: str, owner: str) -> tuple[bpy.types.Action, bpy.types.ActionChannelbag]:
    """Make an action with one slot, for an object of that name, and return it with the channels of that slot."""
    action = bpy.data.actions.new(name)
    slot = action.slots.new("OBJECT", owner)
    strip = action.layers.new("Layer").strips.new(type="KEYFRAME")
    return action, as_kind(strip, bpy.types.ActionKeyframeStrip).channelbag(slot, ensure=True)


def only_bag(action: bpy.types.Action) -> bpy.types.ActionChannelbag:
    """Return the channels of an action that `new_action` made."""
    return as_kind(action.layers[0].strips[0], bpy.types.ActionKeyframeStrip).channelbag(action.slots[0])


def slot_of(action: bpy.types.Action, identifier: str) -> bpy.types.ActionSlot:
    """Return the slot of that name."""
    return next(slot for slot in action.slots if slot.identifier == identifier)


def bag_of(action: bpy.types.Action, identifier: str) -> bpy.types.ActionChannelbag:
    """Return the channels of the slot of that name."""
    strip = as_kind(action.layers[0].strips[0], bpy.types.ActionKeyframeStrip)
    return strip.channelbag(slot_of(action, identifier), ensure=True)


def needed_rows(frames: Array, values: Array) -> Rows:
    """Return the rows that are keyed: all, but of what never moves the ends."""
    if len(frames) > 2 and np.ptp(values) <= UNMOVED:
        return np.array([0, len(frames) - 1])
    return np.arange(len(frames))


def write_curve(
    bag: bpy.types.ActionChannelbag,
    path: str,
    index: int,
    group: str,
    frames: Array,
    values: Array,
    interpolation: str = "LINEAR",
    slopes: Array | None = None,
) -> bpy.types.FCurve:
    """Write one F-curve with keys at the frames, straight lines between them or steps ("CONSTANT").

    With `slopes` per frame it is a Bezier curve, whose handles reach a third of the way to the next key.
    """
    kinds = as_kind(bpy.types.Keyframe.bl_rna.properties["interpolation"], bpy.types.EnumProperty).enum_items
    curve = new_curve(bag, path, index, group)
    points = curve.keyframe_points
    points.add(len(frames))
    points.foreach_set("co", np.column_stack([frames, values]).astype(np.float32).ravel())
    if slopes is not None:
        interpolation = "BEZIER"
        gaps = np.diff(frames, prepend=2 * frames[0] - frames[1], append=2 * frames[-1] - frames[-2]) / 3.0
        for handle, reach in (("handle_left", -gaps[:-1]), ("handle_right", gaps[1:])):
            ends = np.column_stack([frames + reach, values + slopes * reach])
            points.foreach_set(handle, ends.astype(np.float32).ravel())
            free = as_kind(bpy.types.Keyframe.bl_rna.properties[f"{handle}_type"], bpy.types.EnumProperty).enum_items
            points.foreach_set(f"{handle}_type", np.full(len(frames), free["ALIGNED"].value, np.uint8))
    # bytes, as Blender keeps them: anything else is set key by key
    points.foreach_set("interpolation", np.full(len(frames), kinds[interpolation].value, np.uint8))
    curve.update()
    return curve


def write_steps(bag: bpy.types.ActionChannelbag, path: str, group: str, frames: Array, values: Array) -> None:
    """Write one F-curve that keeps each key's value until the next; keys of nothing look unlike others."""
    curve = write_curve(bag, path, 0, group, frames, values, "CONSTANT")
    for point in curve.keyframe_points:
        point.type = "EXTREME" if point.co.y else "BREAKDOWN"


def check_stretch(action: bpy.types.Action) -> None:
    """ValueError, in words for the user, where an action has curves whose times cannot be multiplied."""
    for bag in bags_of(action):
        for curve in bag.fcurves:
            if len(curve.sampled_points):
                raise ValueError(f"{action.name} has curves of samples: convert them to keyframes first.")
            for modifier in curve.modifiers:
                if modifier.type not in STRETCHED:
                    kind = modifier.type.replace("FNGENERATOR", "BUILT-IN FUNCTION").title()
                    raise ValueError(f"{action.name} has a {kind} modifier: bake its curve to keyframes first.")


def stretch_action(action: bpy.types.Action, times: float) -> tuple[float, float]:
    """Have all of an action's curves last so many times as long, from its first key on; return its frames since then.

    Keys stay where they are between their neighbours: nothing is rounded to whole frames.
    """
    first = float(action.curve_frame_range[0])

    def later(frame: float) -> float:
        return first + times * (frame - first)

    for bag in bags_of(action):
        for curve in bag.fcurves:
            points = curve.keyframe_points
            for attribute in ("co", "handle_left", "handle_right"):
                ends = np.empty(2 * len(points), dtype=np.float32)
                points.foreach_get(attribute, ends)
                ends[::2] = first + times * (ends[::2].astype(np.float64) - first)
                points.foreach_set(attribute, ends)
            for modifier in curve.modifiers:
                if modifier.use_restricted_range:
                    modifier.frame_end, modifier.frame_start = later(modifier.frame_end), later(modifier.frame_start)
                    modifier.blend_in, modifier.blend_out = times * modifier.blend_in, times * modifier.blend_out
            curve.update()
    for marker in action.pose_markers:
        marker.frame = round(later(marker.frame))
    if action.use_frame_range:
        action.frame_end, action.frame_start = later(action.frame_end), later(action.frame_start)
    return first, float(action.curve_frame_range[1])


def bags_of(action: bpy.types.Action) -> list[bpy.types.ActionChannelbag]:
    """Return the channels of all slots."""
    return [
        bag
        for layer in action.layers
        for strip in layer.strips
        if isinstance(strip, bpy.types.ActionKeyframeStrip)
        for bag in strip.channelbags
    ]


def own_bag(owner: bpy.types.Object) -> bpy.types.ActionChannelbag:
    """Return where the curves of an object's assigned slot are, all made if need be; ValueError where it cannot be.

    An object that has no action yet gets one of its own.
    """
    animation = owner.animation_data or owner.animation_data_create()
    if animation.action is None:
        animation.action = bpy.data.actions.new(owner.name)
    action = animation.action
    if not action.is_editable:
        raise ValueError(f"The action {action.name} of {owner.name} is linked from another file: make it local first.")
    if animation.action_slot is None:
        animation.action_slot = action.slots.new("OBJECT", owner.name)
    layer = action.layers[0] if action.layers else action.layers.new("Layer")
    strip = layer.strips[0] if layer.strips else layer.strips.new(type="KEYFRAME")
    return as_kind(strip, bpy.types.ActionKeyframeStrip).channelbag(animation.action_slot, ensure=True)


def remove_curves(bag: bpy.types.ActionChannelbag, start: str) -> None:
    """Remove the curves whose path begins so."""
    for curve in [curve for curve in bag.fcurves if curve.data_path.startswith(start)]:
        bag.fcurves.remove(curve)


def new_curve(bag: bpy.types.ActionChannelbag, path: str, index: int, group: str) -> bpy.types.FCurve:
    """Make an F-curve in a group; from 5.0 on Blender does both at once."""
    if bpy.app.version >= (5, 0, 0):
        return bag.fcurves.new(path, index=index, group_name=group)  # type: ignore[call-arg]
    curve = bag.fcurves.new(path, index=index)
    curve.group = bag.groups.get(group) or bag.groups.new(group)
    return curve


def carry_over(curves: Sequence[bpy.types.FCurve], bag: bpy.types.ActionChannelbag) -> Work[None]:
    """Copy curves that a new action's do not replace. An old location must not move a new pose.

    What Heft keyed tells of the old action, not of the new one.
    """
    written = {(curve.data_path, curve.array_index) for curve in bag.fcurves}
    posed = {path.rpartition(".")[0] for path, _ in written if path.startswith("pose.bones[")}
    for curve in curves:
        path = curve.data_path
        owner, _, part = path.rpartition(".")
        if (path, curve.array_index) in written or path.startswith("heft.") or (owner in posed and part in TRANSFORMS):
            continue
        group = curve.group.name if curve.group else ""
        copy = new_curve(bag, path, curve.array_index, group or "Object")
        count = len(curve.keyframe_points)
        copy.keyframe_points.add(count)
        for attribute, width, kind in (
            ("co", 2, np.float32),
            ("handle_left", 2, np.float32),
            ("handle_right", 2, np.float32),
            ("interpolation", 1, np.int32),
            ("easing", 1, np.int32),
            ("handle_left_type", 1, np.int32),
            ("handle_right_type", 1, np.int32),
        ):
            values = np.empty(width * count, dtype=kind)
            curve.keyframe_points.foreach_get(attribute, values)
            copy.keyframe_points.foreach_set(attribute, values)
        copy.extrapolation = curve.extrapolation
        copy.update()
        yield 1.0


def assigned_curves(armature: bpy.types.Object, action: bpy.types.Action) -> list[bpy.types.FCurve]:
    """Return the F-curves of the slot that the armature has assigned, none where it has no slot."""
    animation = armature.animation_data
    slot = animation.action_slot if animation else None
    if slot is None:
        return []
    return [
        curve
        for layer in action.layers
        for strip in layer.strips
        if isinstance(strip, bpy.types.ActionKeyframeStrip) and (bag := strip.channelbag(slot)) is not None
        for curve in bag.fcurves
    ]


def assign_action(
    armature: bpy.types.Object, action: bpy.types.Action, slot: bpy.types.ActionSlot | None = None
) -> None:
    """Make an action the armature's; it says all by itself, whatever the NLA plays beneath it."""
    animation = armature.animation_data or armature.animation_data_create()
    animation.action = action
    animation.action_slot = action.slots[0] if slot is None else slot
    animation.action_blend_type, animation.action_influence = "REPLACE", 1.0
    animation.action_extrapolation = "HOLD"


__all__ = [
    "Channels",
    "assign_action",
    "assigned_curves",
    "own_bag",
    "remove_curves",
    "write_action",
    "write_channels",
    "write_curve",
    "write_steps",
]
