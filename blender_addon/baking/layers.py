# SPDX-License-Identifier: GPL-3.0-or-later
"""A bake as a layer: the source in a track of the NLA, the bake in the track above it, and keys by hand above both."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

import bpy
import numpy as np

from ...core.motion import quaternions
from ...core.motion.quaternions import Array
from ..controls.combining import settled
from ..controls.recording import PART_OF_MODE, Recorded, Recorder
from ..rig.pose_space import AXES
from ..rig.reading import frame_numbers, sample_armatures
from ..typed import notes_on
from ..writer import assign_action, bag_of, new_action, remove_curves, slot_of, write_channels, write_curve
from .source import Unkeyed, bone_of, slot_for
from .stack import stack_of

UNCHANGED = 1e-6
NEUTRAL = {
    "location": (0.0, 0.0, 0.0),
    "rotation_quaternion": (1.0, 0.0, 0.0, 0.0),
    "rotation_euler": (0.0, 0.0, 0.0),
    "rotation_axis_angle": (0.0, 0.0, 0.0, 0.0),
    "scale": (1.0, 1.0, 1.0),
}
"""What adds nothing to a pose, as Blender combines it."""


def lay(
    scene: bpy.types.Scene,
    armature: bpy.types.Object,
    action: bpy.types.Action,
    slot: str,
    source: bpy.types.Action | None,
    kind: Literal["REPLACE", "COMBINE"],
    unkeyed: Sequence[Unkeyed],
) -> None:
    """Put a bake over its source; one that lay there gives way, and what is keyed by hand above stays.

    Channels that the source does not key have no value beneath a track: what they had is kept in a track of its own.
    """
    animation = armature.animation_data or armature.animation_data_create()
    stack = stack_of(armature)
    rest = next((action for action in stack.below if notes_on(action).is_beneath), None) if stack else None
    if rest is not None:
        fill(bag_of(rest, rest.slots[0].identifier), scene.frame_start, unkeyed)
    if stack is not None:
        strip = stack.strip
        notes_on(stack.action).is_layer = False  # it may have been kept
        strip.action, strip.action_slot = action, slot_of(action, slot)
    else:
        if unkeyed:
            rest, bag = new_action(f"{action.name} Unkeyed", armature.name)
            notes_on(rest).is_beneath = True
            fill(bag, scene.frame_start, unkeyed)
            add_strip(scene, animation, rest, rest.slots[0], "Heft Unkeyed")
        if source is not None:
            add_strip(scene, animation, source, slot_for(armature, source, slot), "Heft Source")
        strip = add_strip(scene, animation, action, slot_of(action, slot), "Heft Bake")
        strip.use_animated_influence = True
        keys = strip.fcurves.find("influence").keyframe_points
        for key in list(keys):  # Blender makes one of 0; without any the influence is a slider, until it is keyed
            keys.remove(key)
        strip.influence = 1.0
    notes_on(action).is_layer = True
    strip.name, strip.blend_type = action.name, kind
    stretch(scene, strip, action, source)
    if animation.action in {source, action}:
        animation.action = None
        animation.action_blend_type, animation.action_influence = "COMBINE", 1.0
        animation.action_extrapolation = "HOLD"


def add_strip(
    scene: bpy.types.Scene,
    animation: bpy.types.AnimData,
    action: bpy.types.Action,
    slot: bpy.types.ActionSlot,
    name: str,
) -> bpy.types.NlaStrip:
    """Add a track on top that plays an action as if it were assigned."""
    track = animation.nla_tracks.new()
    track.name = name
    strip = track.strips.new(action.name, int(action.frame_range[0]), action)
    strip.action_slot, strip.extrapolation = slot, "HOLD"
    stretch(scene, strip, action)
    return strip


def stretch(scene: bpy.types.Scene, strip: bpy.types.NlaStrip, *actions: bpy.types.Action | None) -> None:
    """Have a strip play its action in time over all of the scene: before and after its keys as the action would."""
    ranges = [action.frame_range for action in actions if action is not None]
    first = min(float(scene.frame_start), *(float(one[0]) for one in ranges))
    last = max(float(scene.frame_end), *(float(one[1]) for one in ranges))
    strip.use_sync_length = False
    strip.scale = strip.repeat = 1.0
    strip.frame_end = max(strip.frame_end, last)
    strip.action_frame_start, strip.action_frame_end = first, last
    strip.frame_start, strip.frame_end = first, last


def fill(bag: bpy.types.ActionChannelbag, frame: float, unkeyed: Sequence[Unkeyed]) -> None:
    """Key constant values, and nothing else."""
    remove_curves(bag, "")
    for one in unkeyed:
        path = f'pose.bones["{bpy.utils.escape_identifier(one.bone)}"].{one.part}'
        write_curve(bag, path, one.array_index, one.bone, np.array([float(frame)]), np.array([one.value]))


def difference(
    armature: bpy.types.Object, channels: Mapping[str, Mapping[str, Array]], recorded: Recorded
) -> dict[str, dict[str, Array]]:
    """Return the channels that Combine adds to what was recorded to give others; those that add nothing are left out.

    Combine adds locations and angles, multiplies scales, and lets a quaternion follow the one beneath.
    """
    result: dict[str, dict[str, Array]] = {}
    for name, parts in channels.items():
        mode = armature.pose.bones[name].rotation_mode
        for part, values in parts.items():
            kind = PART_OF_MODE.get(mode, "rotation_euler") if part == "rotation" else part
            base = recorded.parts[kind][:, recorded.place[name]]
            neutral = np.array(NEUTRAL[kind])
            if kind == "scale":
                added = values / np.where(base == 0.0, 1.0, base)
            elif kind == "rotation_quaternion":
                added = quaternions.multiply(quaternions.conjugate(quaternions.normalize(base)), values)
                added = settled(quaternions.continuous(added if added[0, 0] >= 0.0 else -added))
            elif kind == "rotation_euler":
                added = nearest_euler(values, base, mode) - base
            else:
                added = values - base + neutral
            if np.abs(added - neutral).max() > UNCHANGED:
                result.setdefault(name, {})[part] = added
    return result


def nearest_euler(angles: Array, base: Array, order: str) -> Array:
    """Return angles (nf, 3) of the same rotations, each the nearest to a base, turns and the other solution allowed."""
    outer = [AXES[order[0]], AXES[order[2]]]
    other = angles.copy()
    other[:, outer] += np.pi
    other[:, AXES[order[1]]] = np.pi - other[:, AXES[order[1]]]
    one, other = (found - 2.0 * np.pi * np.round((found - base) / (2.0 * np.pi)) for found in (angles, other))
    nearer = np.abs(other - base).sum(axis=1) < np.abs(one - base).sum(axis=1) - UNCHANGED
    return np.where(nearer[:, None], other, one)


def merge_down(context: bpy.types.Context, armature: bpy.types.Object) -> bpy.types.Action:
    """Put the source, the layer above it and what is keyed by hand above both into one new action, and assign that.

    ValueError, in words for the user, where there is no layer.
    """
    stack = stack_of(armature)
    if stack is None:
        raise ValueError(f"{armature.name} has no layer: bake with Layer set to Replace or Combine first.")
    animation = armature.animation_data
    baked, source = stack.action, notes_on(stack.action).source
    identifier = stack.strip.action_slot.identifier
    played = [(baked, identifier)]
    if animation.action is not None and animation.action_slot is not None:
        played.append((animation.action, animation.action_slot.identifier))
    paths = {curve.data_path for action, slot in played for curve in bag_of(action, slot).fcurves}
    actions = [action for action in (source, baked, animation.action) if action is not None]
    frames = frame_numbers(
        min(action.frame_range[0] for action in actions), max(action.frame_range[1] for action in actions)
    )
    recorder = Recorder(armature, len(frames))
    (sampling,) = sample_armatures(context.scene, context.view_layer, [armature], frames, look=recorder.look)
    recorded = recorder.recorded(frames, sampling.object_matrix)
    channels: dict[str, dict[str, Array]] = {}
    for path in sorted(paths):
        bone, part = bone_of(path)
        if bone in recorded.place and part in recorded.parts:
            kind = "rotation" if part.startswith("rotation") else part
            channels.setdefault(bone, {})[kind] = recorded.parts[part][:, recorded.place[bone]]
    merged = write_channels(
        armature,
        frames,
        channels,
        f"{source.name if source else armature.name} Merged",
        slot=identifier[2:],
        keep=source,
    )
    take_off(armature)
    assign_action(armature, merged, slot_of(merged, identifier))
    return merged


def take_off(armature: bpy.types.Object) -> None:
    """Take the tracks of a layer away; what is keyed by hand above is kept in the file."""
    stack = stack_of(armature)
    if stack is None:
        return
    animation = armature.animation_data
    if animation.action is not None and not notes_on(animation.action).report:
        animation.action.use_fake_user = True
    notes_on(stack.action).is_layer = False
    for track in stack.tracks:
        animation.nla_tracks.remove(track)
