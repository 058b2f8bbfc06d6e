# SPDX-License-Identifier: GPL-3.0-or-later
"""What two worlds have between them: pairs of shapes that may touch, candidates, and what is remembered of them.

Bodies and shapes are counted the first world's and then the second's, props included.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from ...character.parts import Body, Corner
from ...contact.detection import Contacts, make_contacts
from ...contact.detection.contacts import move_contact
from ...contact.detection.detect import PAIR_KEYS, detect_pair
from ...contact.shapes import Shape, Shapes, make_shapes
from ...maths.kernel import kernel
from ...maths.structure import Structure
from ...maths.vectors import Vector, add, cross, dot, row, row_angular, subtract
from ..grabs import Grab
from ..props import Prop, may_meet
from ..reach import FASTEST, fastest_of
from ..workspace import Machine
from ..world import World

Array = NDArray[np.float64]

# Names of contacts between worlds: after those of pairs within one, before those of faces.
CROSSING_KEYS = 1 << 52
CROSSING_BITS = 32
MOST = 64  # contacts between two characters; of more the nearest are kept


class Crossing(Structure):
    """Of two worlds with nb bodies, and room for nc candidates."""

    shapes: Shapes  # of both, with the pairs between them
    slack: Array  # (pairs,) how much deeper than touching each pair of shapes counts as touching, m
    extent: Array  # (nb,) largest distance of a body's shapes from its origin, m
    bodies: NDArray[np.int64]  # (2,) of each world
    shapes_of_first: int
    first_key: int  # of the contacts' names
    position: Array  # (nb, 3)
    quaternion: Array  # (nb, 4)
    contacts: Contacts
    known: NDArray[np.int64]  # (1,) contacts of the step before
    key: NDArray[np.int64]  # (nc,) their names
    basis: NDArray[np.bool_]  # (nc, sides + 2) which of their unknowns were basic


def make_crossing(first: World, second: World, friction: float, number: int) -> Crossing:
    """Allocate for two worlds; `friction` is the coefficient between their bodies, `number` that of the crossing."""
    own, others = (named(world.shapes, number) for number, world in enumerate((first, second)))
    bodies = [body for number, world in enumerate((first, second)) for body in named_bodies(world.parts.bodies, number)]
    props, of_others = (_props_of(world, number) for number, world in enumerate((first, second)))
    pairs = [
        (a.name, b.name)
        for a in own
        for b in others
        if not (isinstance(a, Corner) and isinstance(b, Corner))  # points never meet
        and may_meet(props.get(a.body), of_others.get(b.body))
    ]
    shapes = make_shapes(
        [*own, *others],
        {body.name: b for b, body in enumerate(bodies)},
        pairs=pairs,
        pair_friction=friction,
        friction=named_factors(first.parts.factors, 0) | named_factors(second.parts.factors, 1),
    )
    return Crossing(
        shapes=shapes,
        slack=np.zeros(len(shapes.pair)),
        extent=np.concatenate([first.system.extent, second.system.extent]),
        bodies=np.array([len(first.parts.bodies), len(second.parts.bodies)], dtype=np.int64),
        shapes_of_first=len(own),
        first_key=CROSSING_KEYS + (number << CROSSING_BITS),
        position=np.zeros((len(bodies), 3)),
        quaternion=np.zeros((len(bodies), 4)),
        contacts=make_contacts(MOST),
        known=np.zeros(1, dtype=np.int64),
        key=np.zeros(MOST, dtype=np.int64),
        basis=np.zeros((MOST, first.system.settings.sides + 2), dtype=np.bool_),
    )


def name_of(name: str, member: int) -> str:
    """What a body, shape or joint of that member is called among others'."""
    return f"{member}/{name}"


def named(shapes: Sequence[Shape], member: int) -> list[Shape]:
    """A member's shapes, by such names."""
    return [replace(shape, name=name_of(shape.name, member), body=name_of(shape.body, member)) for shape in shapes]


def _props_of(world: World, member: int) -> dict[str, Prop]:
    """A member's props, by such names."""
    return {name_of(prop.name, member): prop for prop in world.props}


def named_factors(factors: Mapping[str, float], member: int) -> dict[str, float]:
    """Factors of a member's shapes on friction, by such names."""
    return {name_of(name, member): factor for name, factor in factors.items()}


def named_bodies(bodies: Sequence[Body], member: int) -> list[Body]:
    """A member's bodies, and their joints, by such names."""
    return [
        replace(
            body,
            name=name_of(body.name, member),
            parent=None if body.parent is None else name_of(body.parent, member),
            joint=replace(body.joint, name=name_of(body.joint.name, member)),
        )
        for body in bodies
    ]


def named_grab(grab: Grab, member: int) -> Grab:
    """A member's grab, by such names."""
    return replace(
        grab,
        body=name_of(grab.body, member),
        other=None if grab.other is None else name_of(grab.other, member),
    )


@kernel
def update_box(machine: Machine, low: Array, high: Array) -> float:
    """The box (3,) to (3,) around all that may touch; returns the speed of the fastest, m/s."""
    extent, position = machine.system.extent, machine.scratch.bodies.position
    low[:], high[:] = np.inf, -np.inf
    for b in range(extent.shape[0]):
        if extent[b] > 0.0:
            for k in range(3):
                low[k] = min(low[k], position[b, k] - extent[b])
                high[k] = max(high[k], position[b, k] + extent[b])
    return fastest_of(machine)


@kernel
def meet(crossing: Crossing, first: Machine, second: Machine, least: float) -> None:
    """Take the depth, if more than the `least`, m, to which two begin inside each other for one at which they touch."""
    contacts = crossing.contacts
    _take_places(crossing, first, second)
    for k in range(crossing.shapes.pair.shape[0]):
        contacts.filled[0] = 0
        detect_pair(crossing.shapes, k, crossing.position, crossing.quaternion, 0.0, contacts)
        crossing.slack[k] = 0.0
        for i in range(contacts.filled[0]):
            if -contacts.gap[i] > max(least, crossing.slack[k]):
                crossing.slack[k] = -contacts.gap[i]
    contacts.filled[0] = 0


@kernel
def _take_places(crossing: Crossing, first: Machine, second: Machine) -> None:
    """Those of both worlds' bodies."""
    for side in range(2):
        bodies, at = (second if side else first).scratch.bodies, side * crossing.bodies[0]
        for b in range(crossing.bodies[side]):
            for k in range(3):
                crossing.position[at + b, k] = bodies.position[b, k]
            for k in range(4):
                crossing.quaternion[at + b, k] = bodies.quaternion[b, k]


@kernel
def find_crossing(crossing: Crossing, first: Machine, second: Machine) -> int:
    """Candidates between two worlds that have begun a step; returns how many."""
    settings, contacts = first.system.settings, crossing.contacts
    _take_places(crossing, first, second)
    reach = settings.margin + settings.dt * min(fastest_of(first) + fastest_of(second), FASTEST)
    contacts.filled[0] = 0
    for k in range(crossing.shapes.pair.shape[0]):
        a, b = crossing.shapes.body[crossing.shapes.pair[k, 0]], crossing.shapes.body[crossing.shapes.pair[k, 1]]
        apart = subtract(row(crossing.position, a), row(crossing.position, b))
        near = crossing.extent[a] + crossing.extent[b] + reach
        if dot(apart, apart) < near * near:
            found = contacts.filled[0]
            detect_pair(crossing.shapes, k, crossing.position, crossing.quaternion, reach, contacts)
            for i in range(found, contacts.filled[0]):
                contacts.gap[i] += crossing.slack[k]
    count = 0
    for i in range(contacts.filled[0]):
        point = row(contacts.point, i)
        velocity = subtract(
            _velocity_at(crossing, first, second, contacts.body[i], point),
            _velocity_at(crossing, first, second, contacts.other[i], point),
        )
        approach = -dot(row(contacts.normal, i), velocity)
        limit = settings.margin + settings.dt * max(approach, 0.0) if settings.anticipating else 0.0
        if not contacts.gap[i] <= limit:
            continue
        if count < i:
            move_contact(contacts, i, count)
        contacts.key[count] += crossing.first_key - PAIR_KEYS
        count += 1
    contacts.filled[0] = count
    return count


@kernel
def _velocity_at(crossing: Crossing, first: Machine, second: Machine, body: int, point: Vector) -> Vector:
    """Of a body's material point in the world."""
    own = body < crossing.bodies[0]
    bodies = (first if own else second).scratch.bodies
    b = body if own else body - crossing.bodies[0]
    arm = subtract(point, row(bodies.position, 0))
    return add(row(bodies.velocity, b), cross(row_angular(bodies.velocity, b), arm))
