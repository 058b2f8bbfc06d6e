# SPDX-License-Identifier: GPL-3.0-or-later
"""From a result to what Blender keeps: a new action on the rig or on a proxy, its report, curves of diagnostics, props.

Everything is worked out before anything is written.
"""

from __future__ import annotations

import json
from dataclasses import dataclass

import bpy
import numpy as np

from ...core.job import BakeResult
from ...core.motion import quaternions
from ...core.motion.quaternions import Array
from ..overlay import record
from ..properties.armature import HEFT_PG_armature
from ..rig.pose_space import pose_matrices
from ..rig.proxy import columns_of, is_driven, make_proxy
from ..rig.reading import Sampling, ordered_bones
from ..writer import assign_action, only_bag, write_action, write_curve
from .gather import Gathered
from .mixing import mix, ramps
from .props import write_prop
from .source import constraint_of, playing, unkeyed_by

TOLERANCE = 1e-3
"""Metres, or about a tenth of a degree, to which fewer keys follow the motion."""
UNSCALED = 1e-4
FRAME = 1e-6  # frames


@dataclass(frozen=True)
class Motion:
    """What is keyed."""

    frames: Array  # (nf,)
    pose: Array  # (nf, nb, 4, 4) in the armature's space


def write(context: bpy.types.Context, armature: bpy.types.Object, gathered: Gathered, result: BakeResult) -> str:
    """Write a result; return the new action's name. ValueError, in words for the user, if the rig is another by now."""
    names = tuple(bone.name for bone in ordered_bones(armature))
    if names != result.bones:
        raise ValueError(f"The bones of {armature.name} have changed meanwhile: bake again.")
    settings: HEFT_PG_armature = armature.heft
    motion = motion_of(settings, gathered, result)
    output = settings.output
    if output == "AUTO":
        output = "PROXY" if is_driven(armature) else "ACTION"
    target, pose, bones = armature, motion.pose, taken_bones(settings, names)
    if output == "PROXY":
        target = proxy_of(context, armature)
        pose, bones = pose[:, columns_of(armature, target)], None
    with playing(armature, gathered.source):
        action = write_action(
            target,
            motion.frames,
            pose,
            f"{gathered.source.name} Simulated",
            bones=bones,
            keep=gathered.source.action() if target == armature else None,
            tolerance=TOLERANCE if settings.reduce else 0.0,
        )
        keyed = [(curve.data_path, curve.array_index) for curve in only_bag(action).fcurves]
        unkeyed = unkeyed_by(armature, gathered.source, keyed) if target == armature else []
    muted = [*gathered.source.muted, *(mute(armature, bones) if output == "MUTE" else ())]
    remember(action, gathered, result, json.dumps({"muted": muted, "unkeyed": unkeyed}))
    target.heft.report = armature.heft.report = result.report_text
    if settings.write_diagnostics:
        write_diagnostics(target, action, result)
    assign_action(target, action)
    for prop, poses in zip(gathered.props, np.swapaxes(result.prop_poses, 0, 1), strict=True):
        write_prop(prop, result.frames, poses, gathered.sampling.unit)
    return str(action.name)


def motion_of(settings: HEFT_PG_armature, gathered: Gathered, result: BakeResult) -> Motion:
    """Return the keyed and the simulated motion as one: outside the range, and for bones not taken, the keyed one."""
    sampling = gathered.sampling
    rows = rows_of(sampling, result.frames)
    simulated = armature_poses(result.poses, sampling, rows)
    names = sampling.clip.skeleton.names
    taken = taken_bones(settings, names)
    bones = np.ones(len(names)) if taken is None else np.array([float(name in taken) for name in names])
    ramp = ramps(result.frames, settings.blend_in, settings.blend_out if result.outcome == "completed" else 0)
    weight = float(settings.influence) * ramp[:, None] * bones[None]
    pose = mix(sampling.pose[rows], simulated, weight, sampling.clip.skeleton.parent)
    before = np.flatnonzero(sampling.frames < result.frames[0] - FRAME)
    after = np.flatnonzero(sampling.frames > result.frames[-1] + FRAME)
    if result.outcome != "completed" or settings.loop:
        after = after[:0]  # it lies somewhere, or has walked on
    return Motion(
        np.concatenate([sampling.frames[before], result.frames, sampling.frames[after]]),
        np.concatenate([sampling.pose[before], pose, sampling.pose[after]]),
    )


def rows_of(sampling: Sampling, frames: Array) -> np.ndarray:
    """Return the row of the source that is nearest to each frame; beyond its end, the last."""
    step = sampling.clip.frames_per_sample
    return np.clip(np.rint((frames - sampling.frames[0]) / step).astype(np.int64), 0, len(sampling.frames) - 1)


def armature_poses(poses: Array, sampling: Sampling, rows: np.ndarray | int) -> Array:
    """Return world poses (nf, nb, 4, 4), in metres, in the armature's space, with the source's scales."""
    rows = np.broadcast_to(rows, len(poses))
    turns = quaternions.from_matrix(poses[..., :3, :3])
    result = pose_matrices(poses[..., :3, 3], turns, sampling.object_matrix[rows], sampling.unit)
    scale = np.linalg.norm(sampling.pose[rows, :, :3, :3], axis=-2)
    if np.abs(scale - 1.0).max() > UNSCALED:
        result[..., :3, :3] *= scale[..., None, :]
    return result


def taken_bones(settings: HEFT_PG_armature, names: tuple[str, ...]) -> set[str] | None:
    """Return the bones whose simulated motion is taken; None for all."""
    chosen = {entry.name for entry in settings.chosen_bones}
    if settings.bones == "CHOSEN":
        return chosen & set(names)
    if settings.bones == "OTHERS":
        return set(names) - chosen
    return None


def proxy_of(context: bpy.types.Context, armature: bpy.types.Object) -> bpy.types.Object:
    """Return the proxy that an earlier bake made, or a new one."""
    wanted = {bone.name for bone in armature.data.bones}
    for other in context.view_layer.objects:
        if (
            other.type == "ARMATURE"
            and other.heft.proxy_of == armature
            and {bone.name for bone in other.data.bones} <= wanted
        ):
            return other
    proxy = make_proxy(context, armature)
    proxy.heft.proxy_of = armature
    return proxy


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


def remember(action: bpy.types.Action, gathered: Gathered, result: BakeResult, kept: str) -> None:
    """Keep on the action what it was made from, how it went, and what the overlay draws."""
    notes = action.heft
    notes.report, notes.kept = result.report_text, kept
    notes.source, notes.source_slot = gathered.source.action(), gathered.source.slot
    notes.overlay = record.pack(result, gathered.sampling.clip.skeleton.parent)


def write_diagnostics(armature: bpy.types.Object, action: bpy.types.Action, result: BakeResult) -> None:
    """Key what was measured on the armature's own properties."""
    bag = only_bag(action)
    feet = armature.heft.feet
    feet.clear()
    for name, values in sorted(result.curves.items()):
        path = PATHS.get(name)
        foot = name.removeprefix("contact_force_").removesuffix("_n")
        if path is None and foot != name:
            feet.add().name = foot
            path = f'heft.feet["{bpy.utils.escape_identifier(foot)}"].force'
        there = np.isfinite(values)
        if path is not None and there.any():
            write_curve(bag, path, 0, "Heft", result.frames[there], values[there])


PATHS = {
    "tracking_error_deg": "heft.tracking_error",
    "root_error_m": "heft.root_error",
    "balance_margin_m": "heft.balance_margin",
}
"""Where the curves of a result are shown, besides the feet's."""
