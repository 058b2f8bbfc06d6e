# SPDX-License-Identifier: GPL-3.0-or-later
"""Armatures as arrays: the skeleton at rest, and the evaluated pose of every frame in one pass.

What is read is what the viewport shows: constraints, drivers, IK, the NLA, parents and the object's own animation,
never raw curves. Lengths become metres here, once: by the object's scale and by the scene's unit scale.
"""

import contextlib
import functools
import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import bpy
import numpy as np
from numpy.typing import NDArray

from ...core.motion import quaternions
from ...core.motion.clip import Clip, Skeleton
from ...core.motion.quaternions import Array
from ...core.motion.upright import Up, stood_up, turn_of
from ..slices import AT_ONCE, Work, elsewhere, whole
from .viewing import View, in_place

Look = Callable[[int, bpy.types.Depsgraph], None]
Staged = Callable[[], contextlib.AbstractContextManager[object]]

LEAST_UNEVEN = 1e-3  # of an object's scale, or cosine between its axes: what is called scaled unevenly or sheared
FLATTEST = 1e-6  # of a cube's volume
LARGEST_LEAN = 1e-4  # cosine between axes that still counts as a right angle
SHORTEST_BONE = 1e-4  # of the rig's extent


@dataclass(frozen=True)
class Sampling:
    """One armature over time: its clip, and what the clip leaves out, for writing back."""

    clip: Clip
    frames: Array  # (nf,) of the scene
    unit: float  # metres per Blender unit
    object_matrix: Array  # (nf, 4, 4) of the armature object in the world, in Blender units
    pose: Array  # (nf, nb, 4, 4) of each bone in the armature's space, scale included
    own: Array | None = None  # the same by the armature's own keys, where the motion is another's

    @property
    def evaluated(self) -> Array:
        """The poses that the armature's own keys give."""
        return self.pose if self.own is None else self.own


def read_skeleton(armature: bpy.types.Object, unit_scale: float = 1.0, object_matrix: Array | None = None) -> Skeleton:
    """Return the bones at rest, in metres in the world; ValueError, in words for the user, for what cannot be read.

    `object_matrix` (4, 4) places the armature; its present place if not given.
    """
    bones = ordered_bones(armature)
    if not bones:
        raise ValueError(f"{armature.name} has no bones: add some, or choose another armature.")
    place = np.array(armature.matrix_world) if object_matrix is None else object_matrix
    check_scale(place, armature.name)
    rest = rest_matrices(armature)
    length = np.array([bone.length for bone in bones])
    world = place @ rest
    head = unit_scale * world[:, :3, 3]
    extent = float(np.linalg.norm(np.ptp(head, axis=0)))
    stretch = np.linalg.norm(world[:, :3, 1], axis=1)  # of each bone, under a place that is scaled unevenly
    size = np.maximum(unit_scale * stretch * length, SHORTEST_BONE * extent)  # of a bone without any, a hair's breadth
    index = {bone.name: i for i, bone in enumerate(bones)}
    return Skeleton(
        names=tuple(bone.name for bone in bones),
        parent=np.array([index[bone.parent.name] if bone.parent else -1 for bone in bones], dtype=np.int64),
        head=head,
        tail=head + (size / stretch)[:, None] * world[:, :3, 1],
        orientation=quaternions.from_matrix(turn_of_axes(place[:3, :3]) @ rest[:, :3, :3]),
    )


def ordered_bones(armature: bpy.types.Object) -> list[bpy.types.Bone]:
    """Return the armature's bones, parents before children."""
    return list(armature.data.bones)


def rest_matrices(armature: bpy.types.Object) -> Array:
    """Return each bone's matrix at rest (nb, 4, 4) in the armature's space."""
    bones = armature.data.bones
    flat = np.empty(16 * len(bones), dtype=np.float32)
    bones.foreach_get("matrix_local", flat)
    return flat.reshape(-1, 4, 4).transpose(0, 2, 1).astype(np.float64)


def check_scale(matrix: Array, name: str) -> None:
    """ValueError where an object's matrix leaves nothing of it in some direction.

    Anything else will do. Under a place that is sheared, scaled unevenly or mirrored bones are where they are seen, and
    turn as the nearest rotation of that place takes them: what is written back is seen where the simulation has it.
    """
    lengths = np.linalg.norm(matrix[:3, :3], axis=0)
    if lengths.min() < 1e-9 or abs(np.linalg.det(matrix[:3, :3] / lengths)) < FLATTEST:
        raise ValueError(f"{name} is scaled to zero: scale it up.")


def is_even(matrix: Array) -> bool:
    """Return whether an object's matrix turns and scales alike in all directions, without mirroring."""
    axes = matrix[:3, :3]
    lengths = np.linalg.norm(axes, axis=0)
    cosines = (axes / lengths).T @ (axes / lengths) - np.eye(3)
    even = np.abs(cosines).max() <= LEAST_UNEVEN and np.ptp(lengths) <= LEAST_UNEVEN * lengths.mean()
    return bool(even and np.linalg.det(axes) > 0.0)


def mean_scale(matrix: Array) -> float:
    """Return how much longer an object's matrix makes things: of an uneven one that by which volumes tell it."""
    return float(np.cbrt(abs(np.linalg.det(matrix[:3, :3]))))


def turn_of_axes(axes: Array) -> Array:
    """Return the rotation (3, 3) that the axes of an object's matrix turn by; of mirrored ones with all three reversed.

    It is Q of the polar decomposition A = Q P: since A R = (Q R) (R^T P R), Q R is nearest to A R for any rotation R.
    """
    result: Array = rotations_of(axes[None])[0]
    return result


def frame_numbers(start: float, end: float, step: float = 1.0) -> Array:
    """Return the frames from start to end, both included where the step allows."""
    return start + step * np.arange(int(np.floor((end - start) / step + 1e-9)) + 1, dtype=np.float64)


def sample_armatures(
    scene: bpy.types.Scene,
    view_layer: bpy.types.ViewLayer,
    armatures: Sequence[bpy.types.Object],
    frames: Array,
    scales: Sequence[float] | None = None,
    look: Look | None = None,
    ups: Sequence[Up] | None = None,
) -> list[Sampling]:
    """Read the evaluated poses of all armatures at all frames; the scene is evaluated once per frame.

    Frames may be fractions, at even steps. `scales` are metres per metre of the scene, one for each armature, for rigs
    that were not built to scale, `ups` which axis is up in the motion of each: what lies on its side is read as if the
    armature stood. `look` is called at every frame, with its row, to read whatever else there is.
    """
    view = functools.partial(in_place, scene, view_layer)
    return whole(sampling_armatures(scene, view, armatures, frames, scales, look, ups, at_once=math.inf))


def sampling_armatures(
    scene: bpy.types.Scene,
    view: View,
    armatures: Sequence[bpy.types.Object],
    frames: Array,
    scales: Sequence[float] | None = None,
    look: Look | None = None,
    ups: Sequence[Up] | None = None,
    *,
    staged: Staged = contextlib.nullcontext,
    at_once: float = AT_ONCE,
) -> Work[list[Sampling]]:
    """Read them as `sample_armatures` does, a little at a time, as `visiting` does; frames are evaluated in a view."""
    if len(frames) == 0:
        raise ValueError("There are no frames to read: choose a longer range.")
    units = scene.unit_settings.scale_length * np.array(scales or [1.0] * len(armatures))
    counts = [len(armature.pose.bones) for armature in armatures]
    flat = [np.empty((len(frames), 16 * count), dtype=np.float32) for count in counts]
    place = [np.empty((len(frames), 4, 4)) for _ in armatures]

    def see(row: int, graph: bpy.types.Depsgraph) -> None:
        for index, armature in enumerate(armatures):
            evaluated = armature.evaluated_get(graph)
            evaluated.pose.bones.foreach_get("matrix", flat[index][row])
            place[index][row] = np.array(evaluated.matrix_world)
        if look is not None:
            look(row, graph)

    yield from visiting(view, frames, see, staged=staged, at_once=at_once)
    for index, up in enumerate(ups or ()):
        place[index] = standing_matrix(up) @ place[index]
    rate = scene.render.fps / scene.render.fps_base
    found = []
    for index, armature in enumerate(armatures):
        order = {bone.name: row for row, bone in enumerate(armature.pose.bones)}
        columns = [order[bone.name] for bone in ordered_bones(armature)]
        for matrix in place[index][[0, -1]]:
            check_scale(matrix, armature.name)
        unit = float(units[index])
        skeleton = read_skeleton(armature, unit, place[index][0])
        make = functools.partial(_sampling, skeleton, rate, flat[index], columns, place[index], unit, frames)
        found.append((yield from elsewhere(make)) if at_once < math.inf else make())
    return found


def visiting(
    view: View,
    frames: Array,
    see: Look,
    *,
    staged: Staged = contextlib.nullcontext,
    at_once: float = AT_ONCE,
) -> Work[None]:
    """Go through frames in a view and `see` each, by its row; what is seen at once is `staged`.

    In between users' scenes are at their own frame. Then the frame before is gone to once more, since simulations of
    Blender's own go on from nowhere else.
    """
    row = 0
    while row < len(frames):
        until = time.monotonic() + at_once
        with staged(), view() as seen:
            for frame in frames[max(row - 1, 0) : row]:
                go_to(seen.scene, float(frame))
            for frame in frames[row:]:
                go_to(seen.scene, float(frame))
                see(row, seen.view_layer.depsgraph)
                row += 1
                if time.monotonic() > until:
                    break
        yield row / len(frames)


def go_to(scene: bpy.types.Scene, frame: float) -> None:
    """Evaluate the scene at a frame, or between two."""
    before = int(np.floor(frame))
    scene.frame_set(before, subframe=frame - before)


def standing_matrix(up: Up) -> Array:
    """Return the matrix (4, 4) that brings an axis of the world up."""
    matrix = np.eye(4)
    matrix[:3, :3] = quaternions.matrix(turn_of(up))
    return matrix


def stood(sampling: Sampling, up: Up) -> Sampling:
    """Return what would have been read with that axis up."""
    if up == "Z":
        return sampling
    return replace(
        sampling, clip=stood_up(sampling.clip, up), object_matrix=standing_matrix(up) @ sampling.object_matrix
    )


def _sampling(
    skeleton: Skeleton,
    rate: float,
    flat: NDArray[np.float32],
    columns: list[int],
    place: Array,
    unit: float,
    frames: Array,
) -> Sampling:
    # Blender hands matrices out column by column.
    pose = flat.reshape(len(frames), -1, 4, 4).transpose(0, 1, 3, 2)[:, columns].astype(np.float64)
    world = place[:, None] @ pose
    step = float(frames[1] - frames[0]) if len(frames) > 1 else 1.0
    clip = Clip(
        skeleton=skeleton,
        rate=rate / step,
        position=unit * world[..., :3, 3],
        orientation=quaternions.continuous(quaternions.from_matrix(rotations_of(world[..., :3, :3]))),
        first_frame=float(frames[0]),
        frames_per_sample=step,
    )
    return Sampling(clip, frames, unit, place, pose)


def rotations_of(matrices: Array) -> Array:
    """Return the rotations (..., 3, 3) nearest to matrices that also scale, and shear under an uneven parent.

    Where the axes are at right angles that is their directions; elsewhere the polar decomposition.
    """
    lengths = np.sqrt(np.einsum("...ij,...ij->...j", matrices, matrices))
    unit: Array = matrices / np.maximum(lengths, 1e-30)[..., None, :]
    x, y, z = (unit[..., i] for i in range(3))
    leaning = sum(np.abs(np.einsum("...i,...i->...", a, b)) for a, b in ((x, y), (y, z), (z, x))) > LARGEST_LEAN
    if leaning.any():
        u, _, vt = np.linalg.svd(matrices[leaning])
        unit[leaning] = u @ vt
    mirrored = np.einsum("...i,...i->...", np.cross(x, y), z) < 0.0
    unit[mirrored] *= -1.0
    return unit
