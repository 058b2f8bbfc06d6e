# SPDX-License-Identifier: GPL-3.0-or-later
"""From poses in the armature's space to the channels that an animator keys, for all frames at once, and continuously.

A bone's channels are relative to where its parent's pose and its own flags put it: the manual's "Relations" of a bone
(Inherit Rotation, Inherit Scale, Local Location). With P the parent's pose, R and R_p the bones' matrices at rest,
the default is pose = P R_p^-1 R channels.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import bpy
import numpy as np

from ...core.maths.angles import direction
from ...core.motion import quaternions
from ...core.motion.quaternions import Array
from .reading import ordered_bones, rest_matrices, rotations_of

AXES = {"X": 0, "Y": 1, "Z": 2}


@dataclass(frozen=True)
class RestBone:
    """One bone at rest, and how it hangs from its parent."""

    name: str
    parent: int  # index, -1 for a root
    rest: Array  # (4, 4) in the armature's space
    connected: bool
    inherit_rotation: bool
    inherit_scale: str  # of Bone.inherit_scale
    local_location: bool
    rotation_mode: str  # of PoseBone.rotation_mode


@dataclass(frozen=True)
class Channels:
    """What an animator keys of one bone, over frames."""

    location: Array  # (nf, 3)
    rotation: Array  # (nf, 3 or 4) in the bone's rotation mode
    scale: Array  # (nf, 3)


def rest_bones(armature: bpy.types.Object) -> list[RestBone]:
    """Read the bones of an armature, parents before children."""
    bones = ordered_bones(armature)
    index = {bone.name: i for i, bone in enumerate(bones)}
    poses = armature.pose.bones
    return [
        RestBone(
            name=bone.name,
            parent=index[bone.parent.name] if bone.parent else -1,
            rest=rest,
            connected=bone.use_connect and bone.parent is not None,
            inherit_rotation=bone.use_inherit_rotation,
            inherit_scale=bone.inherit_scale,
            local_location=bone.use_local_location,
            rotation_mode=poses[bone.name].rotation_mode,
        )
        for bone, rest in zip(bones, rest_matrices(armature), strict=True)
    ]


def channels_of(bones: Sequence[RestBone], pose: Array) -> list[Channels]:
    """Return the channels that give the poses (nf, nb, 4, 4) in the armature's space.

    A connected bone's location stays zero, whatever the poses ask; what hangs from it is placed by where it is then.
    """
    achieved = np.empty_like(pose)
    result = []
    for place, bone in enumerate(bones):
        above = bones[bone.parent].rest if bone.parent >= 0 else None
        channels, achieved[:, place] = channels_at(bone, above, achieved[:, bone.parent], pose[:, place])
        result.append(channels)
    return result


def channels_at(bone: RestBone, parent_rest: Array | None, parent: Array, pose: Array) -> tuple[Channels, Array]:
    """Return the channels that give one bone's poses (nf, 4, 4) under its parent's, and the poses that they do give.

    `parent_rest` (4, 4) is the parent at rest; None, and its poses do not matter, where there is no parent.
    """
    turn, shift, stretch = parent_transforms(bone, parent_rest, parent)
    local = inverse(turn) @ (pose[:, :3, :3] / stretch[:, None, :])
    rotation = rotations_of(local)
    scale = np.einsum("fij,fij->fj", rotation, local)
    if bone.connected:
        location = np.zeros((len(pose), 3))
    else:
        away = pose[:, :3, 3] - shift[:, :3, 3]
        location = np.einsum("fij,fj->fi", inverse(shift[:, :3, :3]), away)
    achieved = np.empty_like(pose)
    achieved[:, :3, :3] = turn @ (rotation * (scale * stretch)[:, None, :])
    achieved[:, :3, 3] = shift[:, :3, 3] + np.einsum("fij,fj->fi", shift[:, :3, :3], location)
    achieved[:, 3] = [0.0, 0.0, 0.0, 1.0]
    return Channels(location, in_mode(rotation, bone.rotation_mode), scale), achieved


def parent_transforms(bone: RestBone, parent_rest: Array | None, parent: Array) -> tuple[Array, Array, Array]:
    """Return what the channels of a bone are relative to.

    That is a matrix for rotation and scale (nf, 3, 3), one for location (nf, 4, 4), and a scale along the bone's own
    posed axes (nf, 3).
    """
    count = len(parent)
    unstretched = np.ones((count, 3))
    if parent_rest is None:
        shift = bone.rest.copy()
        if not bone.local_location:
            shift[:3, :3] = np.eye(3)
        return np.tile(bone.rest[:3, :3], (count, 1, 1)), np.tile(shift, (count, 1, 1)), unstretched
    offset = np.linalg.solve(parent_rest, bone.rest)
    shift = parent @ offset
    axes = parent[:, :3, :3]
    turn = inherited(bone, parent_rest[:3, :3], axes) @ offset[:3, :3]
    if bone.inherit_scale == "FIX_SHEAR":
        turn = without_shear(turn)
    stretch = np.linalg.norm(axes, axis=1) if bone.inherit_scale == "ALIGNED" else unstretched
    if not bone.local_location:
        shift[:, :3, :3] = axes
    return turn, shift, stretch


def inherited(bone: RestBone, parent_rest: Array, axes: Array) -> Array:
    """Return the part of the parent's posed axes (nf, 3, 3) that the bone's flags let through."""
    lengths = np.linalg.norm(axes, axis=1)[:, None, :]
    still = np.broadcast_to(parent_rest, axes.shape)
    if bone.inherit_scale in {"FULL", "FIX_SHEAR"}:
        return axes if bone.inherit_rotation else still * lengths
    if bone.inherit_scale == "NONE_LEGACY":
        return axes / lengths if bone.inherit_rotation else still
    turned = rotations_of(axes) if bone.inherit_rotation else still
    if bone.inherit_scale == "AVERAGE":
        turned = turned * np.cbrt(np.abs(np.linalg.det(axes)))[:, None, None]
    return turned


def without_shear(axes: Array) -> Array:
    """Return axes (nf, 3, 3) at right angles with the same volume: Y stays, X and Z give way to each other alike."""
    x, y, z = (axes[:, :, i] for i in range(3))
    along = y / np.linalg.norm(y, axis=1, keepdims=True)
    x, z = (v - np.einsum("fi,fi->f", v, along)[:, None] * along for v in (x, z))
    x_length, z_length = (np.linalg.norm(v, axis=1, keepdims=True) for v in (x, z))
    x, z = x / x_length, z / z_length
    # Unit vectors' sum and difference are at right angles; so are the sum and the difference of those.
    sine = np.linalg.norm(np.cross(x, z), axis=1, keepdims=True)
    total, difference = x + z, x - z
    total /= np.linalg.norm(total, axis=1, keepdims=True)
    difference /= np.linalg.norm(difference, axis=1, keepdims=True)
    x, z = (total + difference) / np.sqrt(2.0), (total - difference) / np.sqrt(2.0)
    return np.stack([x * x_length * np.sqrt(sine), y, z * z_length * np.sqrt(sine)], axis=2)


def in_mode(rotation: Array, mode: str) -> Array:
    """Return rotations (nf, 3, 3) as a bone keys them: quaternions in one hemisphere, axis and angle, or Euler."""
    quaternion = quaternions.continuous(quaternions.from_matrix(rotation))
    if mode == "QUATERNION":
        return quaternion
    if mode == "AXIS_ANGLE":
        return axis_angle(quaternion)
    return euler(rotation, mode)


def axis_angle(quaternion: Array) -> Array:
    """Return (nf, 4) angle and axis of successive quaternions; the axis does not turn over where the angle passes 0."""
    vector = quaternion[:, 1:]
    sine = np.linalg.norm(vector, axis=1)
    angle = 2.0 * direction(sine, quaternion[:, 0])
    turned = np.flatnonzero(sine > 1e-9)
    if len(turned) == 0:
        return np.column_stack([np.unwrap(angle), np.tile([0.0, 1.0, 0.0], (len(angle), 1))])
    # Where there is no turn any axis will do: that of the frame before, or of the first that has one.
    source = turned[np.maximum(np.searchsorted(turned, np.arange(len(angle)), side="right") - 1, 0)]
    axis = vector[source] / sine[source, None]
    over = np.einsum("fi,fi->f", axis[1:], axis[:-1]) < 0.0
    sign = np.cumprod(np.concatenate([[1.0], np.where(over, -1.0, 1.0)]))
    return np.column_stack([np.unwrap(sign * angle), sign[:, None] * axis])


def euler(rotation: Array, order: str) -> Array:
    """Return Euler angles (nf, 3) about X, Y, Z, each frame's solution the nearest to the frame before.

    "XYZ" turns about X first: R = R_z R_y R_x. With i, j, k the axes in that order and s their handedness, the middle
    angle is asin(-s R_ki); the other solution adds half a turn to the outer angles and mirrors the middle one.
    """
    i, j, k = (AXES[letter] for letter in order)
    s = 1.0 if (i, j, k) in {(0, 1, 2), (1, 2, 0), (2, 0, 1)} else -1.0
    sine = np.clip(-s * rotation[:, k, i], -1.0, 1.0)
    cosine = np.hypot(rotation[:, i, i], rotation[:, j, i])
    middle = direction(sine, cosine)
    first = direction(s * rotation[:, k, j], rotation[:, k, k])
    third = direction(s * rotation[:, j, i], rotation[:, i, i])
    locked = np.flatnonzero(cosine < 1e-6)
    for row in locked:
        # The outer axes coincide: keep the third angle, and let the first take the rest.
        third[row] = third[row - 1] if row else 0.0
        rest = (about(k, third[row]) @ about(j, middle[row])).T @ rotation[row]
        first[row] = np.arctan2(s * rest[k, j], rest[j, j])

    one = np.column_stack([first, middle, third])
    other = np.column_stack([first + np.pi, np.pi - middle, third + np.pi])
    # From the other solution a step to the other is as long as one to one: whether to change over at a frame does not
    # depend on where the frames before have led.
    change = _turns(one[1:] - other[:-1]) < _turns(one[1:] - one[:-1])
    start = _turns(other[:1]) < _turns(one[:1])
    changed = np.logical_xor.accumulate(np.concatenate([start, change]))
    chosen = np.where(changed[:, None], other, one)
    chosen -= 2.0 * np.pi * np.round(chosen[:1] / (2.0 * np.pi))
    angles = np.empty_like(chosen)
    angles[:, [i, j, k]] = np.unwrap(chosen, axis=0)
    return angles


def _turns(difference: Array) -> Array:
    """Sum of the angles (n, 3) between two sets, whole turns aside."""
    wrapped = difference - 2.0 * np.pi * np.round(difference / (2.0 * np.pi))
    total: Array = np.abs(wrapped).sum(axis=1)
    return total


def inverse(matrices: Array) -> Array:
    """Return the inverses of matrices (nf, 3, 3): cross products of columns over the determinant.

    numpy's own solves one small matrix after the other, ten times slower.
    """
    x, y, z = (matrices[:, :, i] for i in range(3))
    rows = np.stack([np.cross(y, z), np.cross(z, x), np.cross(x, y)], axis=1)
    result: Array = rows / np.einsum("fi,fi->f", rows[:, 0], x)[:, None, None]
    return result


def about(axis: int, angle: float) -> Array:
    """Return the rotation (3, 3) about a coordinate axis."""
    return quaternions.matrix(quaternions.exp(angle * np.eye(3)[axis]))


def pose_matrices(position: Array, orientation: Array, object_matrix: Array, unit_scale: float = 1.0) -> Array:
    """Return poses (nf, nb, 4, 4) in the armature's space from a clip's world positions and orientations.

    `object_matrix` (nf, 4, 4) is the armature's place in the world, in Blender units.
    """
    count, bones = position.shape[:2]
    axes = object_matrix[:, :3, :3]
    turn = np.swapaxes(rotations_of(axes), 1, 2)  # that undoes the place's, as in `reading.turn_of_axes`
    pose = np.zeros((count, bones, 4, 4))
    pose[:, :, 3, 3] = 1.0
    pose[:, :, :3, :3] = turn[:, None] @ quaternions.matrix(orientation)
    place = position / unit_scale - object_matrix[:, None, :3, 3]
    pose[:, :, :3, 3] = (inverse(axes)[:, None] @ place[..., None])[..., 0]
    return pose
