# SPDX-License-Identifier: GPL-3.0-or-later
"""The controls' next channels, from where a rig's bones are and where they are to be: pure data, all frames at once.

A bone that is to be moved by D in the armature's space (its target times the inverse of its evaluated pose) has its
control moved by D too. With Q what the control is carried along by, the control's channels are those of D E under the
parent's Q E_parent. Where nothing but such a carrying is between them this is exact; where there is more, such as
bones that follow two others half-way, it is done again from where the bones are then.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from ...core.motion import quaternions
from ...core.motion.quaternions import Array
from ..rig.pose_space import Channels, RestBone, channels_at
from ..rig.reading import rotations_of
from .drives import Drive

STRAIGHT = 0.01  # of a chain's length: a bend by less says nothing of its plane

Changes = dict[str, dict[str, Array]]
"""By control, the parts of its channels that are new: location, rotation."""


def next_channels(
    bones: Sequence[RestBone],
    drives: Sequence[Drive],
    pose: Array,
    target: Mapping[str, Array],
    channels: Mapping[str, Channels],
) -> Changes:
    """Return what the drives' controls are to have, so that bones at `pose` (nf, nb, 4, 4) come to their targets.

    `bones` are in the order of `pose`; `channels` are what the controls have now.
    """
    place = {bone.name: index for index, bone in enumerate(bones)}
    still = np.tile(np.eye(4), (len(pose), 1, 1))
    moved: dict[str, Array] = {}
    changes: Changes = {}
    for drive in drives:
        bone = bones[place[drive.control]]
        here = pose[:, place[drive.control]]
        carried = _shared([moved.get(name, still) for name in drive.carriers] or [still], here[:, :3, 3])
        asked = displacement(pose[:, place[drive.bone]], target[drive.bone])
        change = changes.setdefault(drive.control, {})
        now = channels[drive.control]
        if drive.does in {"ROLL", "POLE"}:
            angle, axis, turn = _bend(
                [pose[:, place[name], :3, 3] for name in (drive.root, drive.bone, drive.below)],
                [target[name][:, :3, 3] for name in (drive.root, drive.bone, drive.below)],
                carried[:, :3, :3],
            )
            if drive.does == "ROLL":
                change["rotation"] = now.rotation + angle[:, None] * [0.0, 1.0, 0.0]
                continue
            turn = quaternions.matrix(quaternions.exp(angle[:, None] * axis)) @ turn
            from_root = here[:, :3, 3] - pose[:, place[drive.root], :3, 3]
            goal = still.copy()
            goal[:, :3, :3] = carried[:, :3, :3]
            goal[:, :3, 3] = target[drive.root][:, :3, 3] + _times(turn, from_root)
            goal[:, :3, 3] -= _times(goal[:, :3, :3], here[:, :3, 3])
        elif drive.does == "PLACE":
            goal = asked
            if drive.point:
                goal = asked.copy()
                gap = pose[:, place[drive.bone], :3, 3] - pose[:, place[drive.point], :3, 3]
                goal[:, :3, 3] += _times(asked[:, :3, :3], gap)
        elif drive.does == "MOVE":
            goal = about_head(carried[:, :3, :3], carried, here[:, :3, 3])
            goal[:, :3, 3] += _times(asked[:, :3, :3] - carried[:, :3, :3], here[:, :3, 3])
            goal[:, :3, 3] += asked[:, :3, 3] - carried[:, :3, 3]
        elif drive.does == "TWEAK":
            twist = _twist(carried @ pose[:, place[drive.bone]], target[drive.bone])
            axis = _times(carried[:, :3, :3], rotations_of(here[:, :3, :3])[:, :, 1])
            turn = quaternions.matrix(quaternions.exp(twist[:, None] * axis)) @ carried[:, :3, :3]
            goal = about_head(turn, carried, here[:, :3, 3])
            head = pose[:, place[drive.bone], :3, 3]
            goal[:, :3, 3] += target[drive.bone][:, :3, 3] - _times(carried[:, :3, :3], head) - carried[:, :3, 3]
        else:
            turn = asked[:, :3, :3]
            if drive.does == "SWING":
                turn = displacement(pose[:, place[drive.below]], target[drive.below])[:, :3, :3]
                turn = _swing(_times(turn, pose[:, place[drive.bone], :3, 1]), target[drive.bone][:, :3, 1]) @ turn
            goal = about_head(turn, carried, here[:, :3, 3])
        moved[drive.control] = goal
        above = bones[bone.parent] if bone.parent >= 0 else None
        found, _ = channels_at(
            bone, above.rest if above else None, carried @ pose[:, bone.parent] if above else still, goal @ here
        )
        if drive.does in {"PLACE", "MOVE", "TWEAK", "POLE"}:
            change["location"] = found.location
        if drive.does not in {"MOVE", "POLE"}:
            change["rotation"] = found.rotation
    return changes


def displacement(pose: Array, target: Array) -> Array:
    """Return the rigid motions (nf, 4, 4) that bring poses to targets, whatever their scales."""
    result = np.zeros_like(pose)
    result[:, :3, :3] = rotations_of(target[:, :3, :3]) @ np.swapaxes(rotations_of(pose[:, :3, :3]), 1, 2)
    result[:, :3, 3] = target[:, :3, 3] - _times(result[:, :3, :3], pose[:, :3, 3])
    result[:, 3, 3] = 1.0
    return result


def about_head(turn: Array, carried: Array, head: Array) -> Array:
    """Return the motions that turn bones about their heads, where these are carried to."""
    result = carried.copy()
    result[:, :3, :3] = turn
    result[:, :3, 3] = _times(carried[:, :3, :3], head) + carried[:, :3, 3] - _times(turn, head)
    return result


def off_by(pose: Array, target: Array) -> tuple[Array, Array]:
    """Return how far poses (..., 4, 4) are from targets: lengths between the heads, and angles in degrees."""
    away = np.linalg.norm(target[..., :3, 3] - pose[..., :3, 3], axis=-1)
    return away, degrees_between(rotations_of(pose[..., :3, :3]), rotations_of(target[..., :3, :3]))


def degrees_between(one: Array, other: Array) -> Array:
    """Return the angles between rotations (..., 3, 3): the length of their difference is sqrt(8) sin(angle / 2)."""
    length = np.linalg.norm(one - other, axis=(-2, -1))
    return np.asarray(np.degrees(2.0 * np.arcsin(np.minimum(length / np.sqrt(8.0), 1.0))))


def _shared(motions: Sequence[Array], head: Array) -> Array:
    """What a bone is carried by: one, or half-way between two."""
    if len(motions) == 1:
        return motions[0]
    result = np.tile(np.eye(4), (len(head), 1, 1))
    result[:, :3, 3] = np.mean([_times(m[:, :3, :3], head) + m[:, :3, 3] - head for m in motions], axis=0)
    return result


def _bend(old_chain: Sequence[Array], new_chain: Sequence[Array], carried: Array) -> tuple[Array, Array, Array]:
    """Return the angles by which the plane of a chain is to turn about its new line from root to end, and these lines.

    Also the turns that bring the old lines there. Where the chain is straight the plane is nowhere: the angle goes on
    from the frames before to those after.
    """
    (root, middle, end), (new_root, new_middle, new_end) = old_chain, new_chain
    line, new_line = end - root, new_end - new_root
    length = np.linalg.norm(new_line, axis=1)
    axis = new_line / np.maximum(length, 1e-12)[:, None]
    turn = _swing(_times(carried, line), new_line) @ carried
    old, new = _times(turn, middle - root), new_middle - new_root
    old, new = (part - np.einsum("fi,fi->f", part, axis)[:, None] * axis for part in (old, new))
    angle = np.arctan2(np.einsum("fi,fi->f", np.cross(old, new), axis), np.einsum("fi,fi->f", old, new))
    bent = np.minimum(np.linalg.norm(old, axis=1), np.linalg.norm(new, axis=1)) > STRAIGHT * length
    rows = np.flatnonzero(bent)
    if len(rows) == 0:
        return np.zeros(len(angle)), axis, turn
    return np.interp(np.arange(len(angle)), rows, np.unwrap(angle[rows])), axis, turn


def _swing(start: Array, end: Array) -> Array:
    """Return the least turns (nf, 3, 3) that bring vectors to the direction of others, by quaternions' half angle."""
    start, end = (part / np.maximum(np.linalg.norm(part, axis=1), 1e-12)[:, None] for part in (start, end))
    cosine = np.einsum("fi,fi->f", start, end)
    half = np.column_stack([np.maximum(1.0 + cosine, 1e-12), np.cross(start, end)])
    return quaternions.matrix(quaternions.normalize(half))


def _twist(pose: Array, target: Array) -> Array:
    """Return the angles by which bones are to turn about their Y, once that points where it is to."""
    rotation = rotations_of(pose[:, :3, :3])
    goal = rotations_of(target[:, :3, :3])
    across = _times(_swing(rotation[:, :, 1], goal[:, :, 1]), rotation[:, :, 0])
    return np.unwrap(
        np.arctan2(np.einsum("fi,fi->f", across, goal[:, :, 2]), np.einsum("fi,fi->f", across, goal[:, :, 0]))
    )


def _times(matrices: Array, vectors: Array) -> Array:
    return np.asarray(np.einsum("fij,fj->fi", matrices, vectors))
