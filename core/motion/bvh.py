# SPDX-License-Identifier: GPL-3.0-or-later
"""BVH files as clips; `bvh_writing.py` writes them back.

A BVH file has no bones, only joints with frames parallel to the world's at rest; those frames are kept. A joint's tail
is its first child that lies elsewhere, or its end site. A joint's rotation is the product of its channels in the order
listed; its position channels, where it has any, take the place of its offset, as in Blender's importer.

Y up becomes Z up by a quarter turn about X, so a figure that faced +Z faces -Y, as Blender's figures do.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, NamedTuple

import numpy as np

from . import quaternions
from .clip import Clip, LocalPoses, Skeleton, from_local
from .quaternions import Array

LARGEST_FILE = 256 * 2**20  # bytes
MOST_JOINTS = 2000
LONGEST_NAME = 200
STUB = 0.05  # m: length given to a joint that has neither a child elsewhere nor an end site away from it

CHANNELS = ("Xposition", "Yposition", "Zposition", "Xrotation", "Yrotation", "Zrotation")
UP_IS_Y = np.array([math.sqrt(0.5), math.sqrt(0.5), 0.0, 0.0])
UP_IS_Z = np.array([1.0, 0.0, 0.0, 0.0])


class BvhJoint(NamedTuple):
    """A joint as the file has it, in its units and axes."""

    name: str
    parent: int
    offset: list[float]
    channels: list[int]  # indices into CHANNELS
    end: list[list[float]]  # offsets of end sites


@dataclass(frozen=True, eq=False)
class BvhFile:
    """What a file says, in its own units and axes; joints' channels follow each other in the columns."""

    source: str  # its name, for messages
    head: str  # its text up to and with the frame time, as it stands
    lines: tuple[str, ...]  # of the frames, as they stand
    joints: tuple[BvhJoint, ...]
    rate: float  # frames per second
    values: Array  # (frames, channels)


class _Lines:
    """The file's non-empty lines, with their numbers."""

    def __init__(self, text: str, source: str) -> None:
        self.source = source
        self.number = 0
        self._words: Iterator[tuple[int, list[str]]] = (
            (number, words) for number, line in enumerate(text.splitlines(), 1) if (words := line.split())
        )

    def next(self, expected: str) -> list[str]:
        self.number, words = next(self._words, (self.number + 1, []))
        if not words:
            raise self.error(f"the file ends where {expected} should follow")
        return words

    def rest(self) -> list[tuple[int, list[str]]]:
        return list(self._words)

    def error(self, what: str) -> ValueError:
        return ValueError(f"{self.source}, line {self.number}: {what}.")

    def expect(self, *words: str) -> None:
        found = self.next(f"'{' '.join(words)}'")
        if tuple(found) != words:
            raise self.error(f"expected '{' '.join(words)}', not '{_short(' '.join(found))}'")

    def floats(self, words: list[str]) -> list[float]:
        try:
            values = [float(word) for word in words]
        except ValueError:
            values = [math.nan]
        if not all(math.isfinite(value) for value in values):
            raise self.error(f"expected numbers, not '{_short(' '.join(words))}'")
        return values


def read_bvh(path: str | Path, unit: float = 1.0, up: Literal["Y", "Z"] = "Y") -> Clip:
    """The motion in a BVH file whose unit of length is `unit` metres; a ValueError names the line that is wrong."""
    return clip_of_bvh(read_bvh_file(path), unit, UP_IS_Y if up == "Y" else UP_IS_Z)


def parse_bvh(text: str, source: str, unit: float = 1.0, up: Literal["Y", "Z"] = "Y") -> Clip:
    """The motion in a BVH file's text; `source` names it in messages."""
    return clip_of_bvh(parse_bvh_file(text, source), unit, UP_IS_Y if up == "Y" else UP_IS_Z)


def read_bvh_file(path: str | Path) -> BvhFile:
    """What a BVH file says; a ValueError names the line that is wrong."""
    path = Path(path)
    with path.open("rb") as file:
        content = file.read(LARGEST_FILE + 1)
    if len(content) > LARGEST_FILE:
        raise ValueError(f"{path.name} is larger than {LARGEST_FILE} bytes.")
    return parse_bvh_file(content.decode("utf-8", errors="surrogateescape"), path.name)


def parse_bvh_file(text: str, source: str) -> BvhFile:
    """What a BVH file's text says."""
    # bytes that are no text stay as they are in what is written back, and names go without them
    lines = _Lines(text.encode("utf-8", "surrogateescape").decode("utf-8", "replace"), source)
    lines.expect("HIERARCHY")
    joints = _read_hierarchy(lines)
    rate, values, first = _read_motion(lines, sum(len(joint.channels) for joint in joints))
    whole = text.splitlines(keepends=True)
    frames = tuple(line for line in whole[first:] if line.split())
    return BvhFile(source, "".join(whole[:first]), frames, tuple(joints), rate, values)


def clip_of_bvh(file: BvhFile, unit: float, turn: Array) -> Clip:
    """Its motion in metres, of which a unit of its own has `unit`, turned from its axes to the world's by (4,)."""
    if not 0.0 < unit < math.inf:
        raise ValueError(f"The unit of {file.source} must be a positive length, not {unit}.")
    joints, values = file.joints, file.values
    skeleton = _skeleton(joints, unit, turn)
    still = np.zeros((len(values), len(joints), 3))
    rest = Clip(skeleton, file.rate, still, np.tile(UP_IS_Z, (*still.shape[:2], 1)), first_frame=1.0)
    return from_local(rest, _local_poses(joints, values, unit, turn))


def _read_hierarchy(lines: _Lines) -> list[BvhJoint]:
    """The joints, up to and with the line MOTION."""
    joints: list[BvhJoint] = []
    names: set[str] = set()
    words = lines.next("'ROOT'")
    if words[0] != "ROOT":
        raise lines.error(f"expected 'ROOT', not '{_short(words[0])}'")
    open_joints: list[int] = []
    while True:
        if words[0] in {"ROOT", "JOINT"} and (words[0] == "ROOT") == (not open_joints):
            name = " ".join(words[1:])
            if not name or len(name) > LONGEST_NAME or not name.isprintable():
                raise lines.error("a joint needs a printable name")
            if name in names:
                raise lines.error(f"two joints are named '{name}'")
            if len(joints) >= MOST_JOINTS:
                raise lines.error(f"more than {MOST_JOINTS} joints")
            names.add(name)
            lines.expect("{")
            joints.append(BvhJoint(name, open_joints[-1] if open_joints else -1, _read_offset(lines), [], []))
            joints[-1].channels.extend(_read_channels(lines))
            open_joints.append(len(joints) - 1)
        elif words == ["End", "Site"] and open_joints:
            lines.expect("{")
            joints[open_joints[-1]].end.append(_read_offset(lines))
            lines.expect("}")
        elif words == ["}"] and open_joints:
            open_joints.pop()
        elif words == ["MOTION"] and not open_joints:
            return joints
        else:
            raise lines.error(f"unexpected '{_short(' '.join(words))}'")
        words = lines.next("'}' or 'MOTION'")


def _read_offset(lines: _Lines) -> list[float]:
    words = lines.next("'OFFSET'")
    if words[0] != "OFFSET" or len(words) != 4:
        raise lines.error("expected 'OFFSET' and three numbers")
    return lines.floats(words[1:])


def _read_channels(lines: _Lines) -> list[int]:
    words = lines.next("'CHANNELS'")
    known = len(words) >= 2 and words[0] == "CHANNELS" and all(word in CHANNELS for word in words[2:])
    if not known or words[1] != str(len(words) - 2) or len(set(words[2:])) < len(words) - 2:
        raise lines.error("expected 'CHANNELS', their number and their names, each once")
    return [CHANNELS.index(word) for word in words[2:]]


def _read_motion(lines: _Lines, channels: int) -> tuple[float, Array, int]:
    """Samples per second, the channels (frames, channels), and the number of lines before the first frame's."""
    words = lines.next("'Frames:'")
    if len(words) != 2 or words[0] != "Frames:" or not words[1].isdecimal() or len(words[1]) > 9:
        raise lines.error("expected 'Frames:' and their number")
    frames = int(words[1])
    words = lines.next("'Frame Time:'")
    if len(words) != 3 or words[:2] != ["Frame", "Time:"]:
        raise lines.error("expected 'Frame Time:' and a number")
    (seconds,) = lines.floats(words[2:])
    if not 1e-5 < seconds < 1e3:
        raise lines.error(f"a frame cannot take {seconds:g} seconds")
    first = lines.number
    rows = lines.rest()
    for lines.number, words in rows:  # so that an error names the line
        if len(words) != channels:
            raise lines.error(f"expected {channels} numbers, not {len(words)}")
    if frames == 0 or len(rows) != frames:
        raise lines.error(f"expected {frames} frames, found {len(rows)}" if frames else "there are no frames")
    try:
        values = np.array([words for _, words in rows], dtype=np.float64)
    except ValueError:
        values = np.full((1, 1), np.nan)
    if not np.isfinite(values).all():
        for lines.number, words in rows:
            lines.floats(words)
    return _rate(seconds), values, first


def _rate(seconds: float) -> float:
    """Frames per second; a frame time is printed with few digits, so what is nearly a whole rate is one."""
    rate = 1.0 / seconds
    return float(round(rate)) if abs(rate - round(rate)) < 2e-3 * rate and round(rate) > 0 else rate


def _skeleton(joints: Sequence[BvhJoint], unit: float, turn: Array) -> Skeleton:
    head = np.zeros((len(joints), 3))
    for i, joint in enumerate(joints):
        head[i] = np.multiply(joint.offset, unit) + (head[joint.parent] if joint.parent >= 0 else 0.0)
    tail = head + quaternions.rotate(quaternions.conjugate(turn), np.array([0.0, 0.0, STUB]))
    for i, joint in enumerate(joints):
        # the first place below it that lies elsewhere: children often start where their parent does
        below = {i}
        ends = [head[i] + np.multiply(offset, unit) for offset in joint.end]
        for k in range(i + 1, len(joints)):
            if joints[k].parent in below:
                below.add(k)
                ends += [head[k], *(head[k] + np.multiply(offset, unit) for offset in joints[k].end)]
        tail[i] = next((end for end in ends if np.linalg.norm(end - head[i]) > 1e-4), tail[i])
    return Skeleton(
        tuple(joint.name for joint in joints),
        np.array([joint.parent for joint in joints], dtype=np.int64),
        quaternions.rotate(turn, head),
        quaternions.rotate(turn, tail),
        np.tile([1.0, 0.0, 0.0, 0.0], (len(joints), 1)),
    )


def _local_poses(joints: Sequence[BvhJoint], values: Array, unit: float, turn: Array) -> LocalPoses:
    frames = len(values)
    place = np.zeros((frames, len(joints), 3))
    rotation = np.tile([1.0, 0.0, 0.0, 0.0], (frames, len(joints), 1))
    column = 0
    for i, joint in enumerate(joints):
        place[:, i] = joint.offset
        for channel in joint.channels:
            if channel < 3:
                place[:, i, channel] = values[:, column]
            else:
                vector = np.zeros((frames, 3))
                vector[:, channel - 3] = np.radians(values[:, column])
                rotation[:, i] = quaternions.multiply(rotation[:, i], quaternions.exp(vector))
            column += 1
    # In the turned world every frame is turned as well, so that frames at rest stay parallel to the world's.
    turned = quaternions.multiply(quaternions.multiply(turn, rotation), quaternions.conjugate(turn))
    return LocalPoses(quaternions.rotate(turn, unit * place), quaternions.continuous(turned))


def _short(text: str) -> str:
    return text if len(text) <= 40 else text[:37] + "..."
