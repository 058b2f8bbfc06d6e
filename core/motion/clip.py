# SPDX-License-Identifier: GPL-3.0-or-later
"""A skeleton and its motion: the one form in which motion enters the core.

Everything is in metres, seconds and the world's frame, Z up; quaternions are w-x-y-z. A bone's frame has its origin at
the head. Blender's has Y along the bone to the tail, a BVH joint's is parallel to the world's at rest: nothing in the
core depends on which, since only changes from the rest pose count.
"""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from . import quaternions
from .quaternions import Array

MOST_BONES = 5000
SHORTEST_BONE = 1e-8  # m
LONGEST_DISTANCE = 1e6  # m


@dataclass(frozen=True)
class Skeleton:
    """Bones at rest. A parent comes before its children."""

    names: tuple[str, ...]  # (nb,)
    parent: NDArray[np.int64]  # (nb,) index of the parent bone, -1 for a root
    head: Array  # (nb, 3) at rest
    tail: Array  # (nb, 3) at rest
    orientation: Array  # (nb, 4) of the bone's frame at rest

    def __post_init__(self) -> None:
        count = len(self.names)
        if not 1 <= count <= MOST_BONES:
            raise ValueError(f"A skeleton has 1 to {MOST_BONES} bones, not {count}.")
        if len(set(self.names)) < count:
            twice = next(name for i, name in enumerate(self.names) if name in self.names[:i])
            raise ValueError(f"Two bones of the skeleton are named '{twice}'.")
        _check("parent", np.asarray(self.parent), (count,))
        for index, parent in enumerate(self.parent):
            if not -1 <= parent < index:
                raise ValueError(f"The parent of bone '{self.names[index]}' does not come before it.")
        for field, shape in (("head", (count, 3)), ("tail", (count, 3)), ("orientation", (count, 4))):
            values = getattr(self, field)
            _check(field, values, shape)
            for name, row in zip(self.names, values, strict=True):
                if not (np.abs(row) < LONGEST_DISTANCE).all():
                    raise ValueError(f"The {field} of bone '{name}' is not finite.")
        for name, length in zip(self.names, np.linalg.norm(self.tail - self.head, axis=1), strict=True):
            if length < SHORTEST_BONE:
                raise ValueError(f"Bone '{name}' has no length.")
        for name, length in zip(self.names, np.linalg.norm(self.orientation, axis=1), strict=True):
            if abs(length - 1.0) > 1e-4:
                raise ValueError(f"The orientation of bone '{name}' at rest is not a unit quaternion.")

    def index(self, name: str) -> int:
        """Index of the bone of that name, or ValueError."""
        try:
            return self.names.index(name)
        except ValueError:
            raise ValueError(f"The skeleton has no bone '{name}'.") from None

    @property
    def parent_offset(self) -> Array:
        """Heads (nb, 3) seen from the parent's frame at rest; a root's from the world."""
        inner = np.maximum(self.parent, 0)
        offset = quaternions.rotate(quaternions.conjugate(self.orientation[inner]), self.head - self.head[inner])
        return np.where((self.parent < 0)[:, None], self.head, offset)

    @property
    def parent_orientation(self) -> Array:
        """Orientations (nb, 4) in the parent's frame at rest; a root's in the world."""
        inner = np.maximum(self.parent, 0)
        local = quaternions.multiply(quaternions.conjugate(self.orientation[inner]), self.orientation)
        return np.where((self.parent < 0)[:, None], self.orientation, local)


@dataclass(frozen=True)
class Clip:
    """Evenly sampled poses of a skeleton. Missing samples may be NaN until `damage` has repaired them."""

    skeleton: Skeleton
    rate: float  # samples per second
    position: Array  # (nf, nb, 3) of each bone's head
    orientation: Array  # (nf, nb, 4) of each bone's frame; successive samples in one hemisphere
    first_frame: float = 0.0  # the source's own number of sample 0, so that messages can name frames as its user does
    frames_per_sample: float = 1.0  # of the source's frames

    def __post_init__(self) -> None:
        if not (0.0 < self.rate < 1e6 and np.isfinite(self.first_frame) and 0.0 < self.frames_per_sample < 1e6):
            raise ValueError(f"The rate of a clip must be positive, not {self.rate} samples per second.")
        if len(self.position) < 1:
            raise ValueError("The clip has no frames.")
        count = (len(self.position), len(self.skeleton.names))
        _check("position", self.position, (*count, 3))
        _check("orientation", self.orientation, (*count, 4))
        length = np.linalg.norm(self.orientation, axis=2)
        wrong = np.argwhere(np.abs(length - 1.0) > 1e-4)
        if len(wrong):
            raise ValueError(f"The orientation of {self.where(*wrong[0])} is not a unit quaternion.")
        wrong = np.argwhere(np.abs(self.position).max(axis=2) > LONGEST_DISTANCE)
        if len(wrong):
            raise ValueError(f"The position of {self.where(*wrong[0])} is not finite.")

    def frame(self, sample: int) -> float:
        """The source's number of a sample."""
        return self.first_frame + float(sample) * self.frames_per_sample

    def where(self, sample: int, bone: int) -> str:
        """A bone and a frame in words."""
        return f"bone '{self.skeleton.names[bone]}' in frame {self.frame(sample):g}"

    def cut(self, start: int, stop: int) -> "Clip":
        """Samples start to stop - 1."""
        return Clip(
            self.skeleton,
            self.rate,
            self.position[start:stop],
            self.orientation[start:stop],
            self.frame(start),
            self.frames_per_sample,
        )


def scaled_skeleton(skeleton: Skeleton, factor: float) -> Skeleton:
    """The skeleton with all lengths times a factor."""
    return replace(skeleton, head=factor * skeleton.head, tail=factor * skeleton.tail)


def scaled(clip: Clip, factor: float) -> Clip:
    """The clip with all lengths times a factor, in the same time."""
    return replace(clip, skeleton=scaled_skeleton(clip.skeleton, factor), position=factor * clip.position)


def shifted(clip: Clip, way: Array) -> Clip:
    """The clip and its skeleton moved as a whole by (3,)."""
    skeleton = replace(clip.skeleton, head=clip.skeleton.head + way, tail=clip.skeleton.tail + way)
    return replace(clip, skeleton=skeleton, position=clip.position + way)


def turned_skeleton(skeleton: Skeleton, turn: Array) -> Skeleton:
    """The skeleton turned as a whole by (4,)."""
    return replace(
        skeleton,
        head=quaternions.rotate(turn, skeleton.head),
        tail=quaternions.rotate(turn, skeleton.tail),
        orientation=quaternions.multiply(turn, skeleton.orientation),
    )


def turned(clip: Clip, turn: Array) -> Clip:
    """The clip and its skeleton turned as a whole by (4,) about the world's origin."""
    return replace(
        clip,
        skeleton=turned_skeleton(clip.skeleton, turn),
        position=quaternions.rotate(turn, clip.position),
        orientation=quaternions.continuous(quaternions.multiply(turn, clip.orientation)),
    )


@dataclass(frozen=True)
class LocalPoses:
    """Poses of bones in their parents' frames; roots' in the world."""

    position: Array  # (nf, nb, 3)
    orientation: Array  # (nf, nb, 4), successive samples in one hemisphere


def to_local(clip: Clip) -> LocalPoses:
    """Each bone seen from its parent."""
    parent = clip.skeleton.parent
    inner, root = np.maximum(parent, 0), parent < 0
    back = quaternions.conjugate(clip.orientation[:, inner])
    place = quaternions.rotate(back, clip.position - clip.position[:, inner])
    turn = quaternions.multiply(back, clip.orientation)
    place[:, root], turn[:, root] = clip.position[:, root], clip.orientation[:, root]
    return LocalPoses(place, quaternions.continuous(turn))


def from_local(like: Clip, local: LocalPoses) -> Clip:
    """The clip whose bones have these poses in their parents' frames; all else as in `like`."""
    place, turn = local.position.copy(), quaternions.normalize(local.orientation)
    for bone, parent in enumerate(like.skeleton.parent):
        if parent >= 0:
            place[:, bone] = place[:, parent] + quaternions.rotate(turn[:, parent], place[:, bone])
            turn[:, bone] = quaternions.multiply(turn[:, parent], turn[:, bone])
    return Clip(like.skeleton, like.rate, place, quaternions.continuous(turn), like.first_frame, like.frames_per_sample)


def _check(name: str, array: NDArray[np.generic], shape: tuple[int, ...]) -> None:
    if np.shape(array) != shape:
        raise ValueError(f"The shape of {name} must be {shape}, not {np.shape(array)}.")
