# SPDX-License-Identifier: GPL-3.0-or-later
"""What each bone of a rig moves, by trying: every one is turned and moved a little, and the rig evaluated.

So constraints of whatever kind, drivers and switches count as they are, and nothing need be known of them.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ...core.motion import quaternions
from ...core.motion.quaternions import Array
from ..rig.pose_space import RestBone
from ..rig.reading import rotations_of
from ..slices import Work
from .recording import PART_OF_MODE, Recorded
from .solving import displacement

TURN = 0.1  # rad
ASIDE = quaternions.exp(TURN * np.array([0.6, 0.5, 0.6245]))  # about no axis of a bone
MOVE = 0.01  # of the rig's size
ALIKE = 0.03  # of what was done, by which a bone that goes along may differ
FELT = 0.01  # of what was done, that counts as moved by it
OBEYED = 0.7  # of a turn, that is left of it where constraints overrule a bone

Flags = NDArray[np.bool_]
Evaluate = Callable[[Recorded, int], Array]


@dataclass(frozen=True)
class Responses:
    """By names, and of all of them the bone of the row to that of the column."""

    place: Mapping[str, int]
    rest: Array  # (nb, 4, 4)
    pose: Array  # (nb, 4, 4) in which it was tried
    size: float  # of the whole rig
    turns: Flags  # the other one is turned by as much
    swings: Flags  # the other one's direction is, its twist may not be
    carries: Flags  # turning takes its head along
    moves: Flags  # moving it moves the whole other one by as much
    touches: Flags  # it does something

    def of(self, table: Flags, one: str, other: str) -> bool:
        """Look an answer up."""
        return bool(table[self.place[one], self.place[other]])

    def touched(self, one: str, others: Collection[str]) -> frozenset[str]:
        """Which of the others a bone does something to."""
        return frozenset(other for other in others if self.of(self.touches, one, other))


def responses_of(
    bones: Sequence[RestBone], tried: Collection[str], base: Recorded, evaluate: Evaluate
) -> Work[Responses]:
    """Try bones from the one row of a recording; `evaluate` returns the poses (nb, 4, 4) of a row of another."""
    place = {bone.name: index for index, bone in enumerate(bones)}
    pose = evaluate(base, 0)
    size = float(np.linalg.norm(np.ptp(pose[:, :3, 3], axis=0)))
    count = len(bones)
    tables = {name: np.zeros((count, count), np.bool_) for name in ("turns", "swings", "carries", "moves", "touches")}
    for done, bone in enumerate(bones):
        if bone.name not in tried:
            continue
        row = place[bone.name]
        answer = evaluate(with_channels(base, bone, turned=True), 0)
        for name, found in turned_along(pose, answer, row, size).items():
            tables[name][row] |= found
        for way in (1.0, -1.0):  # what is stretched out goes one way only
            answer = evaluate(with_channels(base, bone, moved=way * MOVE * size), 0)
            for name, found in moved_along(pose, answer, row, size).items():
                tables[name][row] |= found
        yield done / count
    return Responses(place, np.array([bone.rest for bone in bones]), pose, size, **tables)


def with_channels(base: Recorded, bone: RestBone, *, turned: bool = False, moved: float = 0.0) -> Recorded:
    """Return a recording of one row in which a bone is turned, or moved."""
    column = base.place[bone.name]
    parts = {part: values.copy() for part, values in base.parts.items()}
    if turned:
        kind = PART_OF_MODE.get(bone.rotation_mode, "rotation_euler")
        rotation = parts[kind][:, column]
        if kind == "rotation_quaternion":
            rotation = quaternions.multiply(quaternions.normalize(rotation), ASIDE)
        elif kind == "rotation_axis_angle":
            rotation = rotation + np.array([TURN, 0.0, 0.0, 0.0])
        else:
            rotation = rotation + TURN * np.array([0.6, 0.5, 0.6245])
        parts[kind][:, column] = rotation
    parts["location"][:, column] += moved * np.array([0.6, 0.5, 0.6245])
    return Recorded(base.place, base.frames, base.object_matrix, parts, base.properties)


def turned_along(pose: Array, answer: Array, row: int, size: float) -> dict[str, Flags]:
    """What bones do when that of the row is turned."""
    motion = displacement(pose, answer)
    own = motion[row]
    angle = float(angles_of(own[None, :3, :3])[0])
    nothing = np.zeros(len(pose), np.bool_)
    if angle < OBEYED * TURN or angle > 3.0 * TURN:
        return {"touches": nothing}
    away = angles_of(motion[:, :3, :3])
    shift = np.linalg.norm(answer[:, :3, 3] - pose[:, :3, 3], axis=1)
    touches = (away > FELT * angle) | (shift > FELT * angle * 0.1 * size)
    apart = angles_of(np.swapaxes(motion[:, :3, :3], 1, 2) @ own[:3, :3])
    axes, after = (rotations_of(each[:, :3, :3])[:, :, 1] for each in (pose, answer))
    off = np.linalg.norm(after - axes @ own[:3, :3].T, axis=1)
    went = np.linalg.norm(after - axes, axis=1)
    rigid = pose[:, :3, 3] @ own[:3, :3].T + own[:3, 3]
    far = np.linalg.norm(answer[:, :3, 3] - rigid, axis=1)
    carries = far < ALIKE * np.maximum(np.linalg.norm(rigid - pose[:, :3, 3], axis=1), FELT * angle * size)
    turns = apart < ALIKE * angle
    return {"turns": turns, "swings": (off < ALIKE * went) & touches, "carries": carries & touches, "touches": touches}


def moved_along(pose: Array, answer: Array, row: int, size: float) -> dict[str, Flags]:
    """What bones do when that of the row is moved."""
    shift = answer[:, :3, 3] - pose[:, :3, 3]
    length = float(np.linalg.norm(shift[row]))
    if length < 0.1 * MOVE * size:
        return {}
    turn = angles_of(displacement(pose, answer)[:, :3, :3])
    off = np.linalg.norm(shift - shift[row], axis=1)
    touches = (np.linalg.norm(shift, axis=1) > FELT * length) | (turn * size > FELT * length)
    return {"moves": (off < ALIKE * length) & (turn * 0.1 * size < ALIKE * length), "touches": touches}


def angles_of(turns: Array) -> Array:
    """The angles (n,) of rotations (n, 3, 3)."""
    found: Array = quaternions.angle(quaternions.from_matrix(turns), np.array([1.0, 0.0, 0.0, 0.0]))
    return found
