# SPDX-License-Identifier: GPL-3.0-or-later
"""The list of contact candidates that detection fills and the stepper reads."""

import numpy as np
from numpy.typing import NDArray

from ...maths.kernel import inlined_kernel
from ...maths.structure import Structure
from ...maths.vectors import Vector, dot, row, set_row

# Cosine above which two candidates of one point press the same way; only the nearer one is kept.
SAME_WAY = 0.95


class Contacts(Structure):
    """Up to nc candidates; the first filled[0] rows are filled.

    `key` names what touches what: it is the same from step to step for the same corner on the same surface, so warm
    starts and labels can follow a contact. Keys are unique within a list.
    """

    filled: NDArray[np.int64]  # (1,) number of candidates
    body: NDArray[np.int64]  # (nc,) body that the normal pushes
    other: NDArray[np.int64]  # (nc,) body that is pushed the other way, -1 for terrain
    surface: NDArray[np.int64]  # (nc,) surface of the terrain, -1 for a body
    shape: NDArray[np.int64]  # (nc,) shape on `body`
    key: NDArray[np.int64]  # (nc,) name of the contact
    point: NDArray[np.float64]  # (nc, 3) in the world, m: on the body against terrain, half-way between two bodies
    normal: NDArray[np.float64]  # (nc, 3) unit, from the other towards the body
    gap: NDArray[np.float64]  # (nc,) m, negative where they overlap
    friction: NDArray[np.float64]  # (nc,) coefficient
    velocity: NDArray[np.float64]  # (nc, 3) of the terrain's material at the point, m/s; zero between bodies
    polygon: NDArray[np.float64]  # (2, 80, 3) scratch of clipping faces: of hulls as many corners as both have
    quadrants: NDArray[np.int64]  # (16,) scratch


def make_contacts(capacity: int) -> Contacts:
    """Allocate a list."""
    size = max(int(capacity), 1)
    return Contacts(
        filled=np.zeros(1, dtype=np.int64),
        body=np.zeros(size, dtype=np.int64),
        other=np.zeros(size, dtype=np.int64),
        surface=np.zeros(size, dtype=np.int64),
        shape=np.zeros(size, dtype=np.int64),
        key=np.zeros(size, dtype=np.int64),
        point=np.zeros((size, 3)),
        normal=np.zeros((size, 3)),
        gap=np.zeros(size),
        friction=np.zeros(size),
        velocity=np.zeros((size, 3)),
        polygon=np.zeros((2, 80, 3)),
        quadrants=np.zeros(16, dtype=np.int64),
    )


@inlined_kernel
def add_contact(
    contacts: Contacts,
    begin: int,
    body: int,
    other: int,
    surface: int,
    shape: int,
    key: int,
    point: Vector,
    normal: Vector,
    gap: float,
    friction: float,
    velocity: Vector,
) -> None:
    """Append a candidate.

    Of rows from `begin` on, those of the same point of a shape, one that presses the same way is kept: the nearer (two
    surfaces that lie in one another). A full list gives up its widest gap for a smaller one.
    """
    at = contacts.filled[0]
    for i in range(begin, contacts.filled[0]):
        if dot(row(contacts.normal, i), normal) > SAME_WAY:
            if gap >= contacts.gap[i]:
                return
            at = i
            break
    if at == contacts.gap.shape[0]:
        at = 0
        for i in range(1, contacts.gap.shape[0]):
            if contacts.gap[i] > contacts.gap[at]:
                at = i
        if gap >= contacts.gap[at]:
            return
    elif at == contacts.filled[0]:
        contacts.filled[0] += 1
    contacts.body[at] = body
    contacts.other[at] = other
    contacts.surface[at] = surface
    contacts.shape[at] = shape
    contacts.key[at] = key
    set_row(contacts.point, at, point)
    set_row(contacts.normal, at, normal)
    contacts.gap[at] = gap
    contacts.friction[at] = friction
    set_row(contacts.velocity, at, velocity)


@inlined_kernel
def copy_contact(source: Contacts, i: int, target: Contacts, at: int) -> None:
    """Put a candidate into a row of a list, the same or another."""
    target.body[at] = source.body[i]
    target.other[at] = source.other[i]
    target.surface[at] = source.surface[i]
    target.shape[at] = source.shape[i]
    target.key[at] = source.key[i]
    target.gap[at] = source.gap[i]
    target.friction[at] = source.friction[i]
    set_row(target.point, at, row(source.point, i))
    set_row(target.normal, at, row(source.normal, i))
    set_row(target.velocity, at, row(source.velocity, i))


@inlined_kernel
def move_contact(contacts: Contacts, source: int, target: int) -> None:
    """Put a candidate into another row."""
    copy_contact(contacts, source, contacts, target)
