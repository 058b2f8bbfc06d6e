# SPDX-License-Identifier: GPL-3.0-or-later
"""Grabs: a point of a body held to a place, or to another body, for a time. Two-sided, so no part of the LCP proper.

A point grab is three rows, a full one six, one that slides five. Rows are written in coordinates y in which the mass
matrix is the identity (equations.py); there they are made orthonormal, and everything else is projected onto what they
leave free. A row that follows from others (two hands of one body on one bar) is recognised as such and dropped, so
redundancy does no harm.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from ..character import check
from ..character.check import Quaternion, Vector
from ..contact.friction import first_tangent
from ..contact.terrain import RigidMotion
from ..dynamics.kinematics import world_point
from ..dynamics.workspace import Workspace
from ..maths.kernel import kernel
from ..maths.rotations import Quaternion as Quadruple
from ..maths.rotations import (
    quaternion_conjugate,
    quaternion_log,
    quaternion_multiply,
    quaternion_rotate,
    quaternion_row,
)
from ..maths.structure import Structure
from ..maths.vectors import Vector as Triple
from ..maths.vectors import add, cross, row, set_row, subtract

GrabKind = Literal["point", "full", "slide"]
SLIDES = 5  # rows of one that slides
ROWS: Mapping[GrabKind, int] = {"point": 3, "full": 6, "slide": SLIDES}
SHORTEST_AXIS = 1e-9  # m


@dataclass(frozen=True)
class Grab:
    """`point` of `body` is held from `start` on until `end`; with "full" the body's orientation is held too.

    With "slide" the orientation is held, and the point goes freely along an axis.
    What it is held to belongs to `other`, or to the world if that is None: `anchor` and `orientation` in that frame.
    Where they are None, things stay as they are found at `start`. With a `motion`, it is something in the world that
    moves so, whatever pulls at it: a boat, a saddle; anchor and orientation are in its frame.
    """

    body: str
    point: Vector = (0.0, 0.0, 0.0)  # in the body's frame, m
    kind: GrabKind = "point"
    start: float = -math.inf  # s
    end: float = math.inf  # s
    other: str | None = None
    anchor: Vector | None = None  # m
    orientation: Quaternion | None = None  # of the body in the other's frame, w-x-y-z
    axis: Vector = (1.0, 0.0, 0.0)  # along which it slides, in the body's frame
    motion: RigidMotion | None = None

    def __post_init__(self) -> None:
        check.name(self.body, "grab's body")
        owner = f"the grab by '{self.body}'"
        if self.kind not in get_args(GrabKind):
            raise ValueError(f"The kind of {owner} must be one of {', '.join(get_args(GrabKind))}, not {self.kind!r}.")
        if not self.start < self.end:
            raise ValueError(f"The end of {owner} must come after its start, not at {self.end}.")
        if self.other == self.body:
            raise ValueError(f"The body of {owner} cannot hold itself.")
        if self.motion is not None and self.other is not None:
            raise ValueError(
                f"What {owner} holds is a body or moves by itself: leave out its motion, or '{self.other}'."
            )
        object.__setattr__(self, "point", check.vector(self.point, "point", owner))
        object.__setattr__(self, "axis", check.vector(self.axis, "axis", owner))
        if not np.linalg.norm(self.axis) > SHORTEST_AXIS:
            raise ValueError(f"The axis of {owner} must not be zero.")
        if self.anchor is not None:
            object.__setattr__(self, "anchor", check.vector(self.anchor, "anchor", owner))
        if self.orientation is not None:
            object.__setattr__(self, "orientation", check.quaternion(self.orientation, "orientation", owner))


class Grabs(Structure):
    """All grabs (ng)."""

    body: NDArray[np.int64]  # (ng,)
    other: NDArray[np.int64]  # (ng,) -1 for the world
    rows: NDArray[np.int64]  # (ng,) 3, 5 or 6
    point: NDArray[np.float64]  # (ng, 3) in the body's frame
    start: NDArray[np.float64]  # (ng,) s
    end: NDArray[np.float64]  # (ng,) s
    anchor: NDArray[np.float64]  # (ng, 3) in the other's frame, NaN where it is to be found
    orientation: NDArray[np.float64]  # (ng, 4) the same
    axis: NDArray[np.float64]  # (ng, 3) unit, in the body's frame


def make_grabs(grabs: Sequence[Grab], body_index: Mapping[str, int]) -> Grabs:
    """Flatten."""
    for grab in grabs:
        for name in (grab.body, grab.other):
            if name is not None and name not in body_index:
                raise ValueError(f"A grab names an unknown body '{name}'.")
    return Grabs(
        body=np.array([body_index[grab.body] for grab in grabs], dtype=np.int64),
        other=np.array([-1 if grab.other is None else body_index[grab.other] for grab in grabs], dtype=np.int64),
        rows=np.array([ROWS[grab.kind] for grab in grabs], dtype=np.int64),
        point=np.array([grab.point for grab in grabs], dtype=np.float64).reshape(-1, 3),
        start=np.array([grab.start for grab in grabs], dtype=np.float64),
        end=np.array([grab.end for grab in grabs], dtype=np.float64),
        anchor=np.array([grab.anchor or (np.nan,) * 3 for grab in grabs], dtype=np.float64).reshape(-1, 3),
        orientation=np.array([grab.orientation or (np.nan,) * 4 for grab in grabs], dtype=np.float64).reshape(-1, 4),
        axis=np.array([np.array(grab.axis) / np.linalg.norm(grab.axis) for grab in grabs]).reshape(-1, 3),
    )


@kernel
def update_anchor(
    grabs: Grabs,
    g: int,
    bodies: Workspace,
    frame: NDArray[np.float64],
    anchor: NDArray[np.float64],
    orientation: NDArray[np.float64],
) -> None:
    """Fill row g of the anchors in use where it is NaN: where things are now, or what the grab itself says."""
    if not np.isnan(anchor[g, 0]):
        return
    place = world_point(bodies, grabs.body[g], row(grabs.point, g))
    turn = quaternion_row(bodies.quaternion, grabs.body[g])
    middle, held = held_frame(grabs, g, bodies, frame)
    back = quaternion_conjugate(held)
    place = quaternion_rotate(back, subtract(place, middle))
    turn = quaternion_multiply(back, turn)
    set_row(anchor, g, place)
    for k in range(4):
        orientation[g, k] = turn[k]
    if not np.isnan(grabs.anchor[g, 0]):
        set_row(anchor, g, row(grabs.anchor, g))
    if not np.isnan(grabs.orientation[g, 0]):
        for k in range(4):
            orientation[g, k] = grabs.orientation[g, k]


@kernel
def held_frame(grabs: Grabs, g: int, bodies: Workspace, frame: NDArray[np.float64]) -> tuple[Triple, Quadruple]:
    """Where what grab g holds is, and how it is turned: a body, or what moves by itself."""
    other = grabs.other[g]
    if other >= 0:
        return row(bodies.position, other), quaternion_row(bodies.quaternion, other)
    return row(frame, g), (frame[g, 3], frame[g, 4], frame[g, 5], frame[g, 6])


@kernel
def across_slide(grabs: Grabs, g: int, bodies: Workspace) -> tuple[Triple, Triple]:
    """Two directions of the world, at right angles to the axis along which grab g slides and to each other."""
    axis = quaternion_rotate(quaternion_row(bodies.quaternion, grabs.body[g]), row(grabs.axis, g))
    t = first_tangent(axis, (0.0, 0.0, 0.0))
    return t, cross(axis, t)


@kernel
def grab_error(
    grabs: Grabs,
    g: int,
    bodies: Workspace,
    frame: NDArray[np.float64],
    anchor: NDArray[np.float64],
    orientation: NDArray[np.float64],
) -> tuple[Triple, Triple, Triple]:
    """Where the point is in the world, how far from its anchor, and the rotation vector that orientation is off by."""
    point = world_point(bodies, grabs.body[g], row(grabs.point, g))
    middle, held = held_frame(grabs, g, bodies, frame)
    target = add(middle, quaternion_rotate(held, row(anchor, g)))
    turn = quaternion_multiply(held, quaternion_row(orientation, g))
    off = quaternion_multiply(quaternion_row(bodies.quaternion, grabs.body[g]), quaternion_conjugate(turn))
    return point, subtract(point, target), quaternion_log(off)
