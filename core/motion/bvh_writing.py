# SPDX-License-Identifier: GPL-3.0-or-later
"""Poses back into the BVH file that they came from: the same hierarchy, names, channels, order and frame time.

A joint's place in its parent cannot change unless it has position channels. What a pose moves it by, millimetres where
a character's joints are not exactly the file's, is made up for: each joint turns, by the shortest way, so that its
child lies where it should, seen from where the joint itself has come to lie. Errors so do not add up along a limb.

Of the two sets of three angles that make a rotation, and of all their whole turns, those are written that are nearest
to the frame before, so that no curve jumps.
"""

import numpy as np
from numpy.typing import NDArray

from . import quaternions
from .bvh import BvhFile, BvhJoint
from .quaternions import Array

LOCKED = 1e-7  # cosine of the middle angle, below which the outer two turn about one axis
CALM = 90.0  # degrees a frame: where no angle moves faster, each way to say it is as continuous as the other
LEAST = 1e-4  # of a length: shorter ones have no direction
FORM = "%.6f"


def write_bvh(file: BvhFile, unit: float, turn: Array, rows: NDArray[np.int64], poses: Array) -> bytes:
    """The file with the poses (n, joints, 4, 4) in place of those of its frames `rows` (n,); the others stay.

    `unit` and `turn` are those by which the file was read, see `clip_of_bvh`.
    """
    values = channels_of(file, unit, turn, rows, poses)
    lines = list(file.lines)
    for row, numbers in zip(rows.tolist(), values, strict=True):
        lines[row] = " ".join([FORM % number for number in numbers.tolist()]) + "\n"
    return (file.head + "".join(lines)).encode("utf-8", "surrogateescape")


def channels_of(file: BvhFile, unit: float, turn: Array, rows: NDArray[np.int64], poses: Array) -> Array:
    """The file's channels (n, channels) for poses (n, joints, 4, 4) of its frames `rows`."""
    joints, back = file.joints, quaternions.conjugate(turn)
    place = quaternions.rotate(back, poses[..., :3, 3]) / unit
    wanted = quaternions.from_matrix(poses[..., :3, :3])
    wanted = quaternions.multiply(quaternions.multiply(back, wanted), turn)
    children = [_child(joints, number) for number in range(len(joints))]
    at, facing = np.zeros_like(place), np.zeros_like(wanted)
    values = np.zeros((len(rows), file.values.shape[1]))
    column = 0
    for number, joint in enumerate(joints):
        up = facing[:, joint.parent] if joint.parent >= 0 else np.tile([1.0, 0.0, 0.0, 0.0], (len(rows), 1))
        origin = at[:, joint.parent] if joint.parent >= 0 else np.zeros((len(rows), 3))
        local = np.tile(np.array(joint.offset), (len(rows), 1))
        asked = quaternions.rotate(quaternions.conjugate(up), place[:, number] - origin)
        for channel in joint.channels:
            if channel < 3:
                local[:, channel] = asked[:, channel]
        at[:, number] = origin + quaternions.rotate(up, local)
        facing[:, number] = wanted[:, number]
        child = children[number]
        if child is not None:
            now = quaternions.rotate(wanted[:, number], np.tile(np.array(joints[child].offset), (len(rows), 1)))
            facing[:, number] = quaternions.multiply(_shortest(now, place[:, child] - at[:, number]), wanted[:, number])
        own = quaternions.multiply(quaternions.conjugate(up), facing[:, number])
        axes = [channel - 3 for channel in joint.channels if channel >= 3]
        before = file.values[rows[0] if len(rows) else 0, column : column + len(joint.channels)]
        turned = [k for k, channel in enumerate(joint.channels) if channel >= 3]
        angles = angles_of(own, axes, before[turned])
        if len(axes) < 3:
            facing[:, number] = quaternions.multiply(up, _rotation(angles, axes))
        for k, channel in enumerate(joint.channels):
            values[:, column + k] = local[:, channel] if channel < 3 else angles[:, turned.index(k)]
        column += len(joint.channels)
    return values


def angles_of(turn: Array, axes: list[int], first: Array) -> Array:
    """Degrees (n, len(axes)) about the axes in order that make the rotations (n, 4), each near to the one before.

    `first` (len(axes),) are angles that the first are to be near to. Of fewer than three axes, what they can make.
    """
    if not axes:
        return np.zeros((len(turn), 0))
    if len(axes) == 1:
        found = 2.0 * np.arctan2(turn[:, 1 + axes[0]], turn[:, 0])[:, None]
        return _near([found], first)
    order = [*axes, *(axis for axis in range(3) if axis not in axes)][:3]
    i, j, k = order
    sign = 1.0 if (j - i) % 3 == 1 else -1.0
    m = quaternions.matrix(turn)
    cosine = np.hypot(m[:, i, i], m[:, i, j])
    middle = np.arctan2(sign * m[:, i, k], cosine)
    outer = np.arctan2(-sign * m[:, j, k], m[:, k, k])
    inner = np.arctan2(-sign * m[:, i, j], m[:, i, i])
    locked = cosine < LOCKED
    if locked.any():  # the outer two turn about one axis: the first does it all
        outer = np.where(locked, np.arctan2(sign * m[:, k, j], m[:, j, j]), outer)
        inner = np.where(locked, 0.0, inner)
    ways = np.stack([outer, middle, inner], axis=1), np.stack([outer + np.pi, np.pi - middle, inner + np.pi], axis=1)
    return _near([way[:, : len(axes)] for way in ways], first)


def _near(ways: list[Array], first: Array) -> Array:
    """Of ways (n, m) to say the same angles that nearest to the one before, in degrees; whole turns are free."""
    before = np.asarray(first, dtype=np.float64)
    whole = [np.degrees(np.unwrap(way, axis=0)) for way in ways]
    if all(np.abs(np.diff(way, axis=0)).max(initial=0.0) < CALM for way in whole):
        nearest = [way + 360.0 * np.round((before - way[:1]) / 360.0) for way in whole]
        return min(nearest, key=lambda way: float(np.abs(way[:1] - before).sum()))
    result = np.zeros_like(ways[0])
    for row in range(len(result)):
        angles = np.degrees(np.stack([way[row] for way in ways]))
        angles += 360.0 * np.round((before - angles) / 360.0)
        result[row] = before = angles[int(np.argmin(np.round(np.abs(angles - before).sum(axis=1), 9)))]
    return result


def _rotation(angles: Array, axes: list[int]) -> Array:
    """Rotations (n, 4) of degrees (n, m) about axes, in order."""
    found = np.tile([1.0, 0.0, 0.0, 0.0], (len(angles), 1))
    for column, axis in enumerate(axes):
        vector = np.zeros((len(angles), 3))
        vector[:, axis] = np.radians(angles[:, column])
        found = quaternions.multiply(found, quaternions.exp(vector))
    return found


def _child(joints: tuple[BvhJoint, ...], number: int) -> int | None:
    """The one joint that hangs from another a way off, if it is one and cannot move by itself."""
    hanging = [k for k, joint in enumerate(joints) if joint.parent == number]
    size = max((float(np.linalg.norm(joint.offset)) for joint in joints), default=0.0)
    if len(hanging) != 1 or any(channel < 3 for channel in joints[hanging[0]].channels):
        return None
    return hanging[0] if float(np.linalg.norm(joints[hanging[0]].offset)) > LEAST * size else None


def _shortest(start: Array, end: Array) -> Array:
    """The shortest rotations (n, 4) that turn directions (n, 3) into others."""
    a = start / np.maximum(np.linalg.norm(start, axis=1, keepdims=True), 1e-12)
    b = end / np.maximum(np.linalg.norm(end, axis=1, keepdims=True), 1e-12)
    cosine = np.sum(a * b, axis=1, keepdims=True)
    turn = np.concatenate([1.0 + cosine, np.cross(a, b)], axis=1)
    useless = np.linalg.norm(turn, axis=1, keepdims=True) < 1e-6
    found: Array = quaternions.normalize(np.where(useless, np.array([1.0, 0.0, 0.0, 0.0]), turn))
    return found
