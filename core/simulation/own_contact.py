# SPDX-License-Identifier: GPL-3.0-or-later
"""Contact of a character with itself: limbs that meet each other or the trunk.

A motion that is followed may lead an arm through a hip, since shapes are thicker than what they stand for. So nothing
of this is looked at until somebody pushes or the body strays from its motion; from then on bodies may be as deep in
each other as the motion has them (`deepest`), and no deeper; legs may be let cross where nothing else keeps a character
up. Once it is lost, what is inside each other is parted slowly, and as far as it has come out it may not go in again.
It is parted by positions (correction.py), so no energy comes of it.
"""

from collections.abc import Iterable
from functools import lru_cache
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from ..character import Character
from ..character.joint_roles import role
from ..character.parts import Corner
from ..character.tree import Tree
from ..contact.detection import Contacts, make_contacts
from ..contact.detection.detect import PAIR_KEYS, detect_pair
from ..contact.shapes import Shapes, make_shapes
from ..dynamics import body_poses
from ..dynamics.kinematics import update_positions
from ..dynamics.workspace import Workspace, make_workspace
from ..maths.kernel import kernel
from ..maths.vectors import cross, dot, row, subtract
from .reach import is_near
from .workspace import Machine

# Names of such contacts: after those of other pairs in a world, before those between worlds.
OWN_KEYS = 1 << 50
FRICTION = 0.5  # cloth on cloth
FELT = 10.0  # N, of a push from which on it is heeded
UNHEEDED, CROSSING, PUSHED, LOST = range(4)  # what is heeded; CROSSING: all but legs of each other
PARTS = 0.1  # m/s, at which what is inside each other is parted once the character is lost
LET_GO = 1.0  # m: as far apart no step makes them meet
LEVER = 0.01  # m from a joint's axis, below which it does not count as moving a contact


@lru_cache(maxsize=16)
def own_pairs(character: Character) -> tuple[tuple[str, str], ...]:
    """Names of shapes of a character that may meet each other.

    Those of bodies that a joint joins never do, and those of bodies with only one between them if they overlap in the
    neutral pose: hips and chest over a belly.
    """
    shapes = character.contacts
    body = [character.index(shape.body) for shape in shapes]
    overlapping = _overlapping(character)
    pairs = []
    for i, j in combinations(range(len(shapes)), 2):
        if isinstance(shapes[i], Corner) and isinstance(shapes[j], Corner):  # points never meet
            continue
        between = _joints_between(character, body[i], body[j])
        apart = len(between) > 2 or (len(between) == 2 and (i, j) not in overlapping)
        if apart and set(between) != {"fixed"}:
            pairs.append((shapes[i].name, shapes[j].name))
    return tuple(pairs)


def between_legs(character: Character, pairs: Iterable[tuple[str, str]]) -> NDArray[np.bool_]:
    """Which pairs are of one leg and another."""
    hip: dict[str, str | None] = {}
    for body in character.bodies:  # parents first
        above = hip.get(body.parent) if body.parent else None
        hip[body.name] = body.name if role(body.name) == "hip" else above
    own = {shape.name: hip[shape.body] for shape in character.contacts}
    return np.array([None not in (own[a], own[b]) and own[a] != own[b] for a, b in pairs], dtype=np.bool_)


def _joints_between(character: Character, a: int, b: int) -> list[str]:
    """The kinds of the joints that lead from one body to another."""
    ways = []
    for end in (a, b):
        way = [end]
        while character.tree.parent[way[-1]] >= 0:
            way.append(int(character.tree.parent[way[-1]]))
        ways.append(set(way))
    joined = ways[0] ^ ways[1]
    return [character.bodies[one].joint.kind for one in joined]


def deepest(character: Character, poses: NDArray[np.float64]) -> NDArray[np.float64]:
    """How deep each of `own_pairs` is in each other at most over poses (n, nq), m."""
    index = {body.name: b for b, body in enumerate(character.bodies)}
    shapes = make_shapes(character.contacts, index, pairs=own_pairs(character))
    depth = np.zeros(len(shapes.pair))
    update_deepest(character.tree, make_workspace(character.tree), shapes, poses, make_contacts(1), depth)
    return depth


@kernel
def update_deepest(
    tree: Tree,
    bodies: Workspace,
    shapes: Shapes,
    poses: NDArray[np.float64],
    contacts: Contacts,
    depth: NDArray[np.float64],
) -> None:
    """The same, for what is deeper than `depth`."""
    for f in range(poses.shape[0]):
        update_positions(tree, bodies, poses[f])
        for k in range(shapes.pair.shape[0]):
            contacts.filled[0] = 0
            detect_pair(shapes, k, bodies.position, bodies.quaternion, 0.0, contacts)
            if contacts.filled[0] > 0:
                depth[k] = max(depth[k], -contacts.gap[0])


def _overlapping(character: Character) -> set[tuple[int, int]]:
    """Which shapes do in the neutral pose."""
    index = {body.name: b for b, body in enumerate(character.bodies)}
    body = [index[shape.body] for shape in character.contacts]
    numbers = [(i, j) for i, j in combinations(range(len(body)), 2) if body[i] != body[j]]
    names = [(character.contacts[i].name, character.contacts[j].name) for i, j in numbers]
    shapes = make_shapes(character.contacts, index, pairs=names)
    position, quaternion = body_poses(character, character.neutral())
    contacts, found = make_contacts(1), set()
    for k, pair in enumerate(numbers):
        contacts.filled[0] = 0
        detect_pair(shapes, k, position, quaternion, 0.0, contacts)
        if contacts.filled[0]:
            found.add(pair)
    return found


@kernel
def find_own_contacts(machine: Machine, reach: float) -> None:
    """Add the candidates between a character's own shapes, by gaps that count from how deep they may be."""
    system, memory, bodies, contacts = machine.system, machine.memory, machine.scratch.bodies, machine.scratch.contacts
    shapes = system.own
    for k in range(shapes.pair.shape[0]):
        found = contacts.filled[0]
        if found == contacts.gap.shape[0]:
            return
        if memory.heeded[0] == CROSSING and system.of_legs[k]:
            memory.deep[k] = np.inf
            continue
        a, b = shapes.body[shapes.pair[k, 0]], shapes.body[shapes.pair[k, 1]]
        apart = subtract(row(bodies.position, a), row(bodies.position, b))
        near = system.extent[a] + system.extent[b] + reach
        if dot(apart, apart) < near * near:
            detect_pair(shapes, k, bodies.position, bodies.quaternion, reach, contacts)
        depth = max(-contacts.gap[found], 0.0) if contacts.filled[0] > found else 0.0
        if memory.heeded[0] < LOST:
            memory.deep[k] = max(min(memory.deep[k], depth), system.inside[k])
        else:
            memory.deep[k] = max(min(memory.deep[k], depth) - PARTS * system.settings.dt, 0.0)
        if contacts.filled[0] > found:
            contacts.gap[found] += memory.deep[k]
            contacts.key[found] += OWN_KEYS - PAIR_KEYS
            if not (_has_lever(machine, found) and is_near(machine, found)):
                contacts.filled[0] = found


@kernel
def let_go_of_own_contacts(machine: Machine) -> bool:
    """Leave such candidates out of this step, where they make it one without an answer; whether there were any.

    A limb squeezed between two others may have none within rounding. What comes in by one step is parted again.
    """
    contacts, found = machine.scratch.contacts, False
    for i in range(contacts.filled[0]):
        if OWN_KEYS <= contacts.key[i] < 2 * OWN_KEYS:
            contacts.gap[i] = LET_GO
            found = True
    return found


@kernel
def _has_lever(machine: Machine, i: int) -> bool:
    """Whether any joint between two bodies moves them along a contact's normal: none does where both end in joints."""
    parent, position, contacts = machine.system.tree.parent, machine.scratch.bodies.position, machine.scratch.contacts
    a, b = contacts.body[i], contacts.other[i]
    point, normal = row(contacts.point, i), row(contacts.normal, i)
    while a != b:
        upper = max(a, b)  # parents come before their children
        arm = cross(subtract(point, row(position, upper)), normal)
        if dot(arm, arm) > LEVER * LEVER:
            return True
        if a == upper:
            a = parent[a]
        else:
            b = parent[b]
    return False
