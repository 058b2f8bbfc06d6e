# SPDX-License-Identifier: GPL-3.0-or-later
"""Thrown props: nowhere, until they are at their place with their velocity.

Until then one is put back far above everything before each step, where it touches nothing: so it is part of the same
equations from the start, and what happens to the others is the same as if it were not there at all.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..character.check import Quaternion
from ..character.parts import Body
from ..character.tree import Tree
from .props import Prop, turned
from .workspace import Memory

Array = NDArray[np.float64]

ABOVE = 1000.0  # m, where they are before; as far apart as things are wide
APART = 50.0  # m
NEVER = np.inf  # s


@dataclass
class Throw:
    """One thrown prop: a free body of its own."""

    body: Body
    start: float  # s
    q: Array  # (7,) where it appears
    v: Array  # (6,)
    positions: slice  # in the world's q
    velocities: slice  # in its v
    momentum: slice  # of the trees' momenta
    away: Array  # (7,) where it is before

    def is_there(self, time: float, dt: float) -> bool:
        """Whether it has been thrown before the step that begins at a time."""
        return time > self.start + 0.5 * dt

    def place(self, memory: Memory, time: float, dt: float) -> None:
        """Put it where it is before the step that begins at a time, unless it is on its way."""
        if self.is_there(time, dt):
            return
        thrown = time > self.start - 0.5 * dt
        memory.q[self.positions] = self.q if thrown else self.away
        memory.v[self.velocities] = self.v if thrown else 0.0
        memory.momentum[self.momentum] = _momentum(self.body, self.q, self.v) if thrown else 0.0


def make_throws(props: Sequence[Prop], first: int, tree: Tree, rest: Array) -> list[Throw]:
    """Of the props that are thrown; `first` is the first prop's body, `rest` (nq,) all positions at first."""
    roots = np.flatnonzero(tree.parent < 0)
    found = []
    for number, prop in enumerate(props):
        if prop.thrown is None:
            continue
        b = first + number
        q, v, tree_number = int(tree.position_start[b]), int(tree.velocity_start[b]), int(np.searchsorted(roots, b))
        found.append(
            Throw(
                body=prop.body,
                start=prop.thrown,
                q=rest[q : q + 7].copy(),
                v=np.array(prop.velocity),
                positions=slice(q, q + 7),
                velocities=slice(v, v + 6),
                momentum=slice(6 * tree_number, 6 * tree_number + 6),
                away=np.array([0.0, 0.0, ABOVE + APART * number, 1.0, 0.0, 0.0, 0.0]),
            )
        )
    return found


def _momentum(body: Body, q: Array, v: Array) -> Array:
    """Linear, and angular about the centre of mass, (6,) in the world."""
    turn: Quaternion = (float(q[3]), float(q[4]), float(q[5]), float(q[6]))
    off, spin = np.cross(v[3:], body.center_of_mass).tolist(), (np.array(body.inertia) @ v[3:]).tolist()
    linear = body.mass * (v[:3] + turned(turn, (off[0], off[1], off[2])))
    return np.concatenate((linear, turned(turn, (spin[0], spin[1], spin[2]))))
