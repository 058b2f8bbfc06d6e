# SPDX-License-Identifier: GPL-3.0-or-later
"""One contact problem of several worlds whose bodies touch or hold each other.

Their forests are joined into one, which the stepper solves as any other: law, strength, limits, grabs and all. What
comes of it goes back into the worlds, which keep the state between steps; so who parts again goes on alone.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from ...contact.detection.contacts import copy_contact
from ...contact.detection.detect import FEATURES, PAIR_FEATURES, PAIR_KEYS, SURFACES
from ...contact.detection.ridges import FACE_KEYS
from ...contact.detection.ridges import FEATURES as RIDGE_FEATURES
from ...maths.kernel import kernel
from ...maths.structure import Structure
from ...maths.vectors import row, scale, set_row
from .. import stepper
from ..grabs import Grab
from ..pushes import Push
from ..strength import Strength, TorqueLimits
from ..system import Parts, make_system
from ..workspace import Machine, make_memory, make_scratch
from ..world import ANOTHER, World
from .crossing import CROSSING_BITS, Crossing, name_of, named, named_bodies, named_factors, named_grab

Array = NDArray[np.float64]
Given = tuple[Array, Array, Array]  # torque, gain and implicit diagonal, as the stepper takes them
Pair = tuple[int, int]  # members, the first of them first

ROOM = 32  # contacts more than there are, that room is made for


class Place(Structure):
    """Where a member's things begin among all."""

    body: int
    position: int
    velocity: int
    root: int
    shape: int
    pair: int
    face: int
    limit: int
    grab: int


class Island:
    """Members of a company, joined; made anew where there is no room for their contacts any more."""

    def __init__(
        self, worlds: Mapping[int, World], later: Sequence[float], holds: Sequence[Grab], contacts: int
    ) -> None:
        """Join worlds by number; their clocks show so much less than the first's, s, by which `holds` are timed.

        Holds are grabs between members, by joined names; room is made for so many contacts and some more.
        """
        self.members = tuple(worlds)
        self._worlds = tuple(worlds.values())
        first = self._worlds[0]
        parts = [_joined(number, world, late) for (number, world), late in zip(worlds.items(), later, strict=True)]
        joined = Parts(
            bodies=tuple(body for part in parts for body in part.bodies),
            gravity=first.parts.gravity,
            shapes=tuple(shape for part in parts for shape in part.shapes),
            pairs=(),
            own_pairs=(),  # members have looked for these
            of_legs=np.zeros(0, dtype=np.bool_),
            inside=np.zeros(0),
            friction=first.parts.friction,
            factors={name: factor for part in parts for name, factor in part.factors.items()},
            grabs=(*(grab for part in parts for grab in part.grabs), *holds),
            pushes=tuple(push for part in parts for push in part.pushes),
            torque_limits=tuple(limits for part in parts for limits in part.torque_limits),
            motors=(0, sum(len(world.system.tree.velocity_body) for world in self._worlds)),
        )
        system = make_system(joined, first.system.terrain, first.system.settings)
        self.room = contacts + ROOM
        self.machine = Machine(system, make_memory(system, self.room), make_scratch(system, self.room))
        self._holds = len(holds)
        self._places = dict(zip(self.members, _places(self._worlds), strict=True))

    def solve(self, given: Sequence[Given], crossings: Mapping[Pair, Crossing], anchors: Array, pace: Array) -> int:
        """Find all members' next velocities under their laws and move them on, or none; the stepper's code.

        `anchors` (holds, 7) are those of the holds, which are filled where they begin, and `pace` (holds, 3) is theirs.
        """
        machine = self.machine
        memory, contacts = machine.memory, machine.scratch.contacts
        contacts.filled[0] = memory.known[0] = 0
        starts = []
        for member, world in zip(self.members, self._worlds, strict=True):
            starts.append(int(contacts.filled[0]))
            put_in(machine, world.machine, self._places[member])
        for pair, crossing in crossings.items():
            put_between(machine, crossing, *(self._places[one] for one in pair))
        own = len(memory.anchor) - self._holds
        memory.anchor[own:], memory.orientation[own:] = anchors[:, :3], anchors[:, 3:]
        memory.pace[own:] = pace
        stepper.move_bodies(machine)
        code: int = stepper.solve(machine, *self._given(given, starts))
        if code != stepper.STEPPED:
            return code
        for member, world, start in zip(self.members, self._worlds, starts, strict=True):
            take_out(machine, world.machine, self._places[member], start)
        worlds = dict(zip(self.members, self._worlds, strict=True))
        for pair, crossing in crossings.items():
            take_between(machine, crossing)
            for side, one in enumerate(pair):
                tell_of_touch(machine, crossing, worlds[one].machine, self._places[one], side)
        anchors[:, :3], anchors[:, 3:] = memory.anchor[own:], memory.orientation[own:]
        return code

    def _given(self, given: Sequence[Given], starts: Sequence[int]) -> Given:
        """All members' laws as one; nobody's answers to others' bodies."""
        velocities, contacts = len(self.machine.memory.v), int(self.machine.scratch.contacts.filled[0])
        torque = np.concatenate([one[0] for one in given])
        gain, implicit = np.zeros((0, 0)), np.zeros(0)
        if any(one[1].shape[1] for one in given):
            gain = np.zeros((velocities, 3 * contacts))
        if any(len(one[2]) for one in given):
            implicit = np.zeros(velocities)
        for member, world, start, (_, own_gain, own_implicit) in zip(
            self.members, self._worlds, starts, given, strict=True
        ):
            at = self._places[member].velocity
            if own_gain.shape[1]:
                first, last = at + world.system.motors
                gain[first:last, 3 * start : 3 * start + own_gain.shape[1]] = own_gain
            if len(own_implicit):
                implicit[at : at + len(own_implicit)] = own_implicit
        return torque, gain, implicit


def _joined(member: int, world: World, later: float) -> Parts:
    """A member's parts by joined names, with times as on the first's clock, which shows so much more, s."""
    parts = world.parts
    return parts._replace(
        bodies=tuple(named_bodies(parts.bodies, member)),
        shapes=tuple(named(parts.shapes, member)),
        factors=named_factors(parts.factors, member),
        grabs=tuple(
            replace(named_grab(grab, member), start=grab.start + later, end=grab.end + later) for grab in parts.grabs
        ),
        pushes=tuple(_named_push(push, member, later) for push in parts.pushes),
        torque_limits=tuple(_named_limits(limits, member, later) for limits in parts.torque_limits),
    )


def _named_push(push: Push, member: int, later: float) -> Push:
    return replace(push, body=name_of(push.body, member), start=push.start + later)


def _named_limits(limits: TorqueLimits, member: int, later: float) -> TorqueLimits:
    strength = Strength(limits.strength.time + later, limits.strength.share)
    return TorqueLimits({name_of(joint, member): most for joint, most in limits.most.items()}, strength)


def _places(worlds: Sequence[World]) -> list[Place]:
    """Where each world's things begin."""
    places = []
    at = dict.fromkeys(Place._fields, 0)
    for world in worlds:
        places.append(Place(**at))
        tree, system = world.system.tree, world.system
        counts = {
            "body": len(tree.parent),
            "position": len(tree.rest),
            "velocity": len(tree.velocity_body),
            "root": int((tree.parent < 0).sum()),
            "shape": len(system.shapes.kind),
            "pair": len(system.shapes.pair) + len(system.own.pair),
            "face": len(system.shapes.solids.normal),
            "limit": len(system.limits.kind),
            "grab": len(system.grabs.body),
        }
        at = {name: value + counts[name] for name, value in at.items()}
    return places


@kernel
def _joined_key(key: int, place: Place) -> int:
    """A contact's or limit's name among all, which is as of shapes, pairs, faces and limits counted on."""
    if key < 0:
        return key - place.limit
    if key >= FACE_KEYS:
        return key + (place.face << RIDGE_FEATURES)
    if key >= PAIR_KEYS:
        return key + place.pair * PAIR_FEATURES
    return key + place.shape * 2 * FEATURES * SURFACES


@kernel
def _own_key(key: int, place: Place) -> int:
    """And back."""
    if key < 0:
        return key + place.limit
    if key >= FACE_KEYS:
        return key - (place.face << RIDGE_FEATURES)
    if key >= PAIR_KEYS:
        return key - place.pair * PAIR_FEATURES
    return key - place.shape * 2 * FEATURES * SURFACES


@kernel
def put_in(whole: Machine, part: Machine, place: Place) -> None:
    """A member's state, candidates and what it remembers of them."""
    memory, own = whole.memory, part.memory
    _copy(own.q, 0, memory.q, place.position, own.q.shape[0])
    _copy(own.v, 0, memory.v, place.velocity, own.v.shape[0])
    _copy(own.momentum, 0, memory.momentum, 6 * place.root, own.momentum.shape[0])
    _copy_rows(own.impulse, 0, memory.impulse, place.body, own.impulse.shape[0])
    _copy_rows(own.anchor, 0, memory.anchor, place.grab, own.anchor.shape[0])
    _copy_rows(own.orientation, 0, memory.orientation, place.grab, own.orientation.shape[0])
    _copy_rows(own.pace, 0, memory.pace, place.grab, own.pace.shape[0])
    _copy_rows(own.frame, 0, memory.frame, place.grab, own.frame.shape[0])
    _copy_rows(own.spin, 0, memory.spin, place.grab, own.spin.shape[0])
    memory.moving[0] = True
    if place.body == 0:
        memory.clock[0], memory.steps[0] = own.clock[0], own.steps[0]
    for g in range(own.known[0]):
        at = memory.known[0]
        memory.key[at] = _joined_key(own.key[g], place)
        _copy_rows(own.stuck, g, memory.stuck, at, 1)
        for k in range(own.basis.shape[1]):
            memory.basis[at, k] = own.basis[g, k]
        memory.known[0] += 1
    contacts, candidates = whole.scratch.contacts, part.scratch.contacts
    for c in range(candidates.filled[0]):
        at = contacts.filled[0]
        copy_contact(candidates, c, contacts, at)
        contacts.key[at] = _joined_key(candidates.key[c], place)
        contacts.body[at] += place.body
        contacts.shape[at] += place.shape
        if contacts.other[at] >= 0:
            contacts.other[at] += place.body
        contacts.filled[0] += 1


@kernel
def put_between(whole: Machine, crossing: Crossing, first: Place, second: Place) -> None:
    """Candidates between two members and what is remembered of them; after all members' own."""
    memory, contacts, candidates = whole.memory, whole.scratch.contacts, crossing.contacts
    for g in range(crossing.known[0]):
        at = memory.known[0]
        if at == memory.key.shape[0]:
            break
        memory.key[at] = crossing.key[g]
        for k in range(crossing.basis.shape[1]):
            memory.basis[at, k] = crossing.basis[g, k]
        memory.known[0] += 1
    for c in range(candidates.filled[0]):
        at = contacts.filled[0]
        copy_contact(candidates, c, contacts, at)
        contacts.body[at] += first.body
        contacts.other[at] += second.body - crossing.bodies[0]
        contacts.shape[at] += first.shape
        contacts.filled[0] += 1


@kernel
def take_out(whole: Machine, part: Machine, place: Place, start: int) -> None:
    """A member's next state, what it is to remember, and what the step found; its candidates are from `start` on."""
    memory, own = whole.memory, part.memory
    _copy(memory.q, place.position, own.q, 0, own.q.shape[0])
    _copy(memory.v, place.velocity, own.v, 0, own.v.shape[0])
    _copy(memory.momentum, 6 * place.root, own.momentum, 0, own.momentum.shape[0])
    _copy_rows(memory.anchor, place.grab, own.anchor, 0, own.anchor.shape[0])
    _copy_rows(memory.orientation, place.grab, own.orientation, 0, own.orientation.shape[0])
    own.impulse[:] = 0.0
    own.steps[0] += 1
    own.clock[0] = own.steps[0] * part.system.settings.dt
    limits, limit, candidates = part.system.limits.kind.shape[0], place.limit, part.scratch.contacts.filled[0]
    count = 0
    c = -start
    for g in range(memory.known[0]):
        key = memory.key[g]
        if key < 0:
            mine = limit <= -1 - key < limit + limits
        else:
            mine = 0 <= c < candidates
            c += 1
        if mine:
            own.key[count] = _own_key(key, place)
            _copy_rows(memory.stuck, g, own.stuck, count, 1)
            for k in range(own.basis.shape[1]):
                own.basis[count, k] = memory.basis[g, k]
            count += 1
    own.known[0] = count
    found, outcome = whole.scratch.outcome, part.scratch.outcome
    _copy(whole.scratch.q_next, place.position, part.scratch.q_next, 0, own.q.shape[0])
    _copy(whole.scratch.v_next, place.velocity, part.scratch.v_next, 0, own.v.shape[0])
    _copy_rows(found.contact_force, start, outcome.contact_force, 0, candidates)
    _copy_rows(found.wrench, place.body, outcome.wrench, 0, outcome.wrench.shape[0])
    _copy_rows(found.grab_force, place.grab, outcome.grab_force, 0, outcome.grab_force.shape[0])
    _copy(found.limit_torque, limit, outcome.limit_torque, 0, limits)
    _copy(found.torque, place.velocity, outcome.torque, 0, own.v.shape[0])
    outcome.residual[0], outcome.lcp_residual[0] = found.residual[0], found.lcp_residual[0]
    for k in range(found.counts.shape[0]):
        outcome.counts[k] = found.counts[k]


@kernel
def take_between(whole: Machine, crossing: Crossing) -> None:
    """What is to be remembered of the contacts between two members."""
    memory, count = whole.memory, 0
    for g in range(memory.known[0]):
        if _is_between(memory.key[g], crossing):
            crossing.key[count] = memory.key[g]
            for k in range(crossing.basis.shape[1]):
                crossing.basis[count, k] = memory.basis[g, k]
            count += 1
    crossing.known[0] = count


@kernel
def tell_of_touch(whole: Machine, crossing: Crossing, part: Machine, place: Place, side: int) -> None:
    """Add the contacts between two members to the step's contacts of the first or second of them."""
    found, contacts = whole.scratch.contacts, part.scratch.contacts
    sign = -1.0 if side else 1.0
    for c in range(found.filled[0]):
        at = contacts.filled[0]
        if at == contacts.gap.shape[0]:
            break
        if not _is_between(found.key[c], crossing):
            continue
        copy_contact(found, c, contacts, at)
        contacts.body[at] = (found.other[c] if side else found.body[c]) - place.body
        contacts.other[at] = ANOTHER
        contacts.shape[at] = -1 if side else found.shape[c] - place.shape
        set_row(contacts.normal, at, scale(sign, row(found.normal, c)))
        set_row(part.scratch.outcome.contact_force, at, scale(sign, row(whole.scratch.outcome.contact_force, c)))
        contacts.filled[0] += 1


@kernel
def _is_between(key: int, crossing: Crossing) -> bool:
    """Whether a contact of that name is one of a crossing's."""
    return crossing.first_key <= key < crossing.first_key + (1 << CROSSING_BITS)


@kernel
def _copy(source: Array, start: int, target: Array, at: int, count: int) -> None:
    for i in range(count):
        target[at + i] = source[start + i]


@kernel
def _copy_rows(source: Array, start: int, target: Array, at: int, count: int) -> None:
    for i in range(count):
        for k in range(source.shape[1]):
            target[at + i, k] = source[start + i, k]
