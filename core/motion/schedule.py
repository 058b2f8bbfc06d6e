# SPDX-License-Identifier: GPL-3.0-or-later
"""When which point of a character touches what it stands on, and where it is to stay: plain data.

Frames count from zero at the trajectory's own rate. An animator sees and edits intervals; the optimiser and the
controllers read arrays. Each can be made from the other without loss.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..character import Character
from ..character.parts import Capsule, Corner, Sphere
from ..dynamics import body_poses
from .quaternions import Array, conjugate, multiply, rotate

Mask = NDArray[np.bool_]

SAME_PLACE = 0.01  # m: a capsule that ends this near to the next limb's joint ends in a joint, not in a knob


class ContactPoint(NamedTuple):
    """A point of a body, or the centre of a ball of some radius around it, that may bear weight."""

    name: str
    body: int  # index in the character's bodies
    position: tuple[float, float, float]  # in the body's frame, m
    radius: float = 0.0  # m
    foot: bool = False  # one of the ends of a sole
    grab: bool = False  # holds on: may pull as well as push
    moves: bool = False  # holds on to what moves as the clip does: a trapeze, a partner
    rests: bool = False  # lies on something for as long as it is said to, and only pushes: a seat
    help: bool = False  # of the root: its force is given by nothing, see spacetime/help.py


class Interval(NamedTuple):
    """A stretch of frames in which a point touches, as an animator edits it: both frames are part of it."""

    point: str
    start_frame: int
    end_frame: int


@dataclass(frozen=True, eq=False)
class ContactSchedule:
    """Points (np) over frames (nf). Where a point is active, `place` says where it is to be."""

    points: tuple[ContactPoint, ...]
    active: Mask  # (nf, np)
    # (nf, np, 3) of the point in the world, m (a ball's centre); constant while on, unless it moves; zero elsewhere
    place: Array

    def __post_init__(self) -> None:
        shape = (len(self.active), len(self.points))
        if self.active.shape != shape or self.place.shape != (*shape, 3):
            raise ValueError(
                f"A schedule of {len(self.points)} points cannot have arrays of the shapes {self.active.shape} and "
                f"{self.place.shape}."
            )
        if not np.isfinite(self.place).all():
            raise ValueError("All positions of a contact schedule must be finite.")

    @property
    def names(self) -> tuple[str, ...]:
        """Of the points (np,)."""
        return tuple(point.name for point in self.points)

    @property
    def body(self) -> NDArray[np.int64]:
        """(np,) the body of each point."""
        return np.array([point.body for point in self.points], dtype=np.int64)

    @property
    def position(self) -> Array:
        """(np, 3) each point in its body's frame."""
        return np.array([point.position for point in self.points], dtype=np.float64).reshape(-1, 3)

    @property
    def intervals(self) -> list[Interval]:
        """What an animator sees."""
        return to_intervals(self.points, self.active)

    def cut(self, start: int, stop: int) -> "ContactSchedule":
        """Frames start to stop - 1."""
        return ContactSchedule(self.points, self.active[start:stop], self.place[start:stop])


def runs(mask: Mask) -> list[tuple[int, int]]:
    """Start and stop (the frame after the last) of every run of true in a row (nf,)."""
    edges = np.flatnonzero(np.diff(np.concatenate([[0], mask.astype(np.int8), [0]])))
    return [(int(start), int(stop)) for start, stop in edges.reshape(-1, 2)]


def to_intervals(points: Sequence[ContactPoint], active: Mask) -> list[Interval]:
    """Intervals of each point in turn, in the order of time."""
    return [
        Interval(point.name, start, stop - 1)
        for index, point in enumerate(points)
        for start, stop in runs(active[:, index])
    ]


def from_intervals(points: Sequence[ContactPoint], intervals: Iterable[Interval], frames: int) -> Mask:
    """The active points (nf, np) of intervals, cut to frames 0 to frames - 1; ValueError for what makes no sense."""
    index = {point.name: i for i, point in enumerate(points)}
    active = np.zeros((frames, len(points)), dtype=np.bool_)
    for interval in intervals:
        if interval.point not in index:
            raise ValueError(f"There is no contact point '{interval.point}'; choose from {', '.join(index) or 'none'}.")
        if interval.end_frame < interval.start_frame:
            raise ValueError(
                f"The contact of '{interval.point}' ends in frame {interval.end_frame}, before it starts in frame "
                f"{interval.start_frame}."
            )
        active[max(interval.start_frame, 0) : max(interval.end_frame + 1, 0), index[interval.point]] = True
    return active


@lru_cache(maxsize=8)
def contact_points(character: Character) -> tuple[ContactPoint, ...]:
    """The points of a character that may bear weight: heel and toe of every sole, hands, knees, seat and so on.

    A body's corners are its sole: heel and toe are the middles of its rear and front corners, seen from the root in the
    neutral pose. A sphere is one point; a capsule has one at each end, except where the next limb goes on from there.
    """
    position, quaternion = body_poses(character, character.neutral())
    faces = conjugate(quaternion[0])
    points: list[ContactPoint] = []
    for index, body in enumerate(character.bodies):
        shapes = [shape for shape in character.contacts if shape.body == body.name]
        corners = np.array([shape.position for shape in shapes if isinstance(shape, Corner)]).reshape(-1, 3)
        points += _sole(body.name, index, corners, rotate(multiply(faces, quaternion[index]), corners)[:, 0])
        for shape in shapes:
            if isinstance(shape, Sphere):
                points.append(ContactPoint(shape.name, index, shape.position, shape.radius))
            elif isinstance(shape, Capsule):
                joints = [
                    rotate(conjugate(quaternion[index]), position[child] - position[index])
                    for child, other in enumerate(character.bodies)
                    if other.parent == body.name
                ]
                points += [
                    ContactPoint(f"{shape.name}_{end}", index, place, shape.radius)
                    for end, place in (("start", shape.start), ("end", shape.end))
                    if all(np.linalg.norm(joint - place) > SAME_PLACE for joint in joints)
                ]
    return tuple(points)


def _sole(name: str, body: int, corners: Array, forward: Array) -> list[ContactPoint]:
    """Heel and toe of a body with these corners, which lie `forward` (n,) along the root's X."""
    if len(corners) == 0:
        return []
    middle = 0.5 * (forward.min() + forward.max())
    if np.ptp(forward) < SAME_PLACE:
        return [ContactPoint(name, body, _vector(corners.mean(axis=0)), foot=True)]
    return [
        ContactPoint(f"{name}_heel", body, _vector(corners[forward < middle].mean(axis=0)), foot=True),
        ContactPoint(f"{name}_toe", body, _vector(corners[forward >= middle].mean(axis=0)), foot=True),
    ]


def _vector(a: Array) -> tuple[float, float, float]:
    x, y, z = a.tolist()
    return x, y, z
