# SPDX-License-Identifier: GPL-3.0-or-later
"""What the character stands on, and the reference that goes along with it.

A platform that moves takes the reference with it, and ground that is higher or lower than the reference has it raises
or lowers it: without that the root's spring pulls the character off its feet. Platforms may be terrain that moves or
props, a see-saw for one.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...contact.detection import Contacts
from ...dynamics.kinematics import point_velocity, world_point
from ...dynamics.workspace import Workspace
from ...maths.kernel import kernel
from ...maths.structure import Structure
from ...maths.vectors import Vector, add, dot, row, scale, subtract

# A planned point nearer to the ground than this bears force, m. With those alone that touch, and no others led, walks
# fall.
TOUCHING = 0.006
# A point found by contact detection is the planned one if it is as near to it, m.
SAME_POINT = 1e-3
# In which the reference takes on the ground's velocity and its height, s.
LAG = 0.1


class Ride(Structure):
    """Where the reference has been taken to, in the world; kept from step to step."""

    shift: NDArray[np.float64]  # (3,) m
    velocity: NDArray[np.float64]  # (3,) m/s
    acceleration: NDArray[np.float64]  # (3,) m/s², of this step


class Ground(NamedTuple):
    """What is below a point."""

    found: bool
    normal: Vector
    gap: float
    friction: float
    velocity: Vector  # of its material


def make_ride() -> Ride:
    """Allocate."""
    return Ride(np.zeros(3), np.zeros(3), np.zeros(3))


@kernel
def ground_at(bodies: Workspace, contacts: Contacts, b: int, place: Vector) -> Ground:
    """The contact candidate at a point of a body; that of two bodies lies half-way between them."""
    for c in range(contacts.filled[0]):
        own, other = contacts.body[c] == b, contacts.other[c]
        if not (own or other == b):
            continue
        reach = SAME_POINT + (0.5 * abs(contacts.gap[c]) if other >= 0 else 0.0)
        way = subtract(row(contacts.point, c), place)
        if dot(way, way) < reach * reach:
            normal, velocity = row(contacts.normal, c), row(contacts.velocity, c)
            if not own:
                normal, other = scale(-1.0, normal), contacts.body[c]
            if other >= 0:
                velocity = point_velocity(bodies, other, row(contacts.point, c))
            return Ground(True, normal, contacts.gap[c], contacts.friction[c], velocity)
    return Ground(False, (0.0, 0.0, 0.0), 0.0, 0.0, (0.0, 0.0, 0.0))


@kernel
def update_ride(
    bodies: Workspace,
    contacts: Contacts,
    body: NDArray[np.int64],
    local: NDArray[np.float64],
    stands: NDArray[np.bool_],
    place: NDArray[np.float64],
    ride: Ride,
    dt: float,
) -> None:
    """Go on by a step. Points (np) `local` on bodies `body` stand where `stands` says, and their `place` is (np, 3).

    In the air nothing is taken on: a leap keeps the velocity that it began with.
    """
    speed, height, count = (0.0, 0.0, 0.0), 0.0, 0
    for p in range(body.shape[0]):
        if stands[p]:
            at = world_point(bodies, body[p], row(local, p))
            ground = ground_at(bodies, contacts, body[p], at)
            if ground.found and ground.gap < TOUCHING:
                speed = add(speed, ground.velocity)
                height += at[2] - ground.gap * ground.normal[2] - place[p, 2]
                count += 1
    for a in range(3):
        ride.acceleration[a] = (speed[a] / count - ride.velocity[a]) / LAG if count > 0 else 0.0
        ride.velocity[a] += dt * ride.acceleration[a]
        ride.shift[a] += dt * ride.velocity[a]
    if count > 0:
        ride.shift[2] += dt * (height / count - ride.shift[2]) / LAG
