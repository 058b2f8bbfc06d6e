# SPDX-License-Identifier: GPL-3.0-or-later
"""What the stepper reads and writes: a `System` that never changes, a `Memory` that is the state, and scratch.

All bodies, the character's first and then the props', form one forest: one `Tree` of several roots, one q, one v.
"""

import math

import numpy as np
from numpy.typing import NDArray

from ..character.tree import Tree
from ..contact import lcp
from ..contact.detection import Contacts, make_contacts
from ..contact.lcp import LcpWorkspace
from ..contact.shapes import BOX, HULL, Shapes
from ..contact.terrain import Terrain, TerrainPose, make_pose
from ..dynamics.limits import JointLimits
from ..dynamics.workspace import Workspace, make_workspace
from ..maths.structure import Structure
from .grabs import Grabs
from .pushes import Pushes
from .strength import HeldLaw, Limited, make_held_law


class Settings(Structure):
    """Numbers of the time step."""

    dt: float  # s
    margin: float  # gap below which a contact enters even if nothing approaches, m
    depth: float  # how far inside a mesh a point is still found, m
    sides: int  # of the friction pyramids, 4 or 6
    restitution: float  # share of the speed of approach that a touch gives back
    anticipating: bool  # rows n . v + gap / dt >= 0 before touching; otherwise a point enters once it touches


class System(Structure):
    """The forest and everything that acts on it."""

    tree: Tree
    shapes: Shapes
    own: Shapes  # the same with the pairs of a character's own that may meet (own_contact.py)
    of_legs: NDArray[np.bool_]  # (no,) which of these are of one leg and another
    inside: NDArray[np.float64]  # (no,) how deep the motion that is followed has these in each other, m; or (0,)
    extent: NDArray[np.float64]  # (nb,) largest distance of a body's shapes from its origin, m
    chain: NDArray[np.int64]  # (nb, nv) velocities that move the body, ascending
    chain_length: NDArray[np.int64]  # (nb,)
    terrain: Terrain
    limits: JointLimits
    grabs: Grabs
    pushes: Pushes
    side: NDArray[np.float64]  # (sides, 2) cosine and sine of the pyramid's edges
    motors: NDArray[np.int64]  # (2,) first velocity that a motor drives, and the one after the last
    limited: Limited
    settings: Settings


class Memory(Structure):
    """The state. A step's outcome depends on nothing else, to the last bit."""

    q: NDArray[np.float64]  # (nq,)
    v: NDArray[np.float64]  # (nv,)
    moving: NDArray[np.bool_]  # (1,) whether `momentum` is known; it is not before the first step
    momentum: NDArray[np.float64]  # (6 nr,) of each tree, as in the dynamics' workspace
    clock: NDArray[np.float64]  # (1,) s
    steps: NDArray[np.int64]  # (1,) steps taken since the reset
    impulse: NDArray[np.float64]  # (nb, 6) force times time and its moment about the body's origin, for the next step
    heeded: NDArray[np.int64]  # (1,) whether a character's own shapes meet each other (own_contact.py)
    deep: NDArray[np.float64]  # (no,) how deep in each other they may be, m; infinite until they are looked at
    anchor: NDArray[np.float64]  # (ng, 3) of the grabs, NaN before they begin
    orientation: NDArray[np.float64]  # (ng, 4) the same
    pace: NDArray[np.float64]  # (ng, 3) at which the anchor moves in the other's frame, along the world's axes, m/s
    # what is held and moves by itself: its place and orientation (ng, 7); its pace is that of the world's origin then,
    # as if that moved with it, and spin (ng, 3) its angular velocity, rad/s
    frame: NDArray[np.float64]
    spin: NDArray[np.float64]
    known: NDArray[np.int64]  # (1,) contacts and limits of the step before
    key: NDArray[np.int64]  # (nc + nl,) their names; limits are -1 - index
    stuck: NDArray[np.float64]  # (nc + nl, 3) where friction holds a corner on the terrain; NaN where it does not
    basis: NDArray[np.bool_]  # (nc + nl, sides + 2) which of their unknowns were basic: a start for the next LCP


class Outcome(Structure):
    """What the last step found."""

    lcp_residual: NDArray[np.float64]  # (1,) scaled, of the LCP
    residual: NDArray[np.float64]  # (1,) worst miss of a row as checked here, m/s or rad/s
    counts: NDArray[np.int64]  # (4,) LCP's status, unknowns, pivots; 1 if positions were corrected
    contact_force: NDArray[np.float64]  # (nc, 3) on `body` of each candidate, in the world, N
    wrench: NDArray[np.float64]  # (nb, 6) of all contacts on a body: force, and moment about its origin, in the world
    grab_force: NDArray[np.float64]  # (ng, 6) on the body at the point: force, then torque, in the world
    limit_torque: NDArray[np.float64]  # (nl,) N m, at least zero
    torque: NDArray[np.float64]  # (nv,) that motors applied


class Groups(Structure):
    """Rows of the contact problem: groups (ngr) are joint limits, of one row, then contacts: normal, two tangents."""

    limit: NDArray[np.int64]  # (nl,) joint limits that take part
    support: NDArray[np.int64]  # (ngr, nv) velocities that a group's rows touch, ascending
    support_length: NDArray[np.int64]  # (ngr,)
    common: NDArray[np.int64]  # (nv,) those of two groups
    rows: NDArray[np.float64]  # (ngr, nv, 3) in y coordinates; filled on the support only
    first: NDArray[np.int64]  # (ngr,) a group's first unknown in the contact problem; -1: it takes no part
    gain: NDArray[np.float64]  # (nv 3 nc,) what the law adds to the effect of contacts that take part, in y coordinates
    answer: NDArray[np.float64]  # (3, 3 nc) how a group's rows move by that
    stuck: NDArray[np.float64]  # (nc, 3) where the terrain has carried what friction holds there; NaN where it does not
    tangent: NDArray[np.float64]  # (nc, 3) first tangent of a contact; the second is normal x first
    speed: NDArray[np.float64]  # (ngr, 3) of the rows at `free`, less the surface's
    gap: NDArray[np.float64]  # (ngr,) m or rad
    allowed: NDArray[np.float64]  # (ngr,) fastest approach that the row allows, m/s or rad/s; negative for a bounce
    come: NDArray[np.float64]  # (ngr,) how far the last step has brought a contact's bodies together, m; 0 of limits
    lost: NDArray[np.float64]  # (ngr, nr, 3) part of the rows along the orthonormal rows of grabs
    lean: NDArray[np.float64]  # (ngr,) of the first rows at `repair`
    delassus: NDArray[np.float64]  # (ngr, ngr, 9) J M^-1 J^T in blocks, without the law; of groups that take part
    block: NDArray[np.float64]  # (9,) one block with the law
    impulse: NDArray[np.float64]  # (ngr, 3) found, in normal and tangents, N s or N m s


class Held(Structure):
    """Rows (nr) of grabs, in y coordinates."""

    rows: NDArray[np.float64]  # (nr, nv)
    orthonormal: NDArray[np.float64]  # (nr, nv) the same, made orthonormal
    triangle: NDArray[np.float64]  # (nr, nr) rows_k = sum over l <= k of triangle_lk orthonormal_l
    error: NDArray[np.float64]  # (nr,) m or rad
    speed: NDArray[np.float64]  # (nr,) at which the rows are led, m/s or rad/s
    led: NDArray[np.float64]  # (nr,) the same along `orthonormal`
    impulse: NDArray[np.float64]  # (nr,) N s or N m s


class Scratch(Structure):
    """Arrays of one step."""

    bodies: Workspace  # kinematics and equation of motion at q_{k+1}
    pose: TerrainPose
    contacts: Contacts
    groups: Groups
    held: Held
    zero: NDArray[np.float64]  # (nv,)
    q_next: NDArray[np.float64]  # (nq,)
    v_next: NDArray[np.float64]  # (nv,)
    root: NDArray[np.float64]  # (nv,) D^(-1/2) of M + diagonal = L^T D L
    start: NDArray[np.float64]  # (nv,) v_k in y coordinates
    load: NDArray[np.float64]  # (nv,) y without contacts, limits and grabs, then with the law's answer to contacts
    free: NDArray[np.float64]  # (nv,) y without contacts and limits, with grabs
    change: NDArray[np.float64]  # (nv,) what is added to it
    repair: NDArray[np.float64]  # (nv,) y of a velocity that only corrects positions
    matrix: NDArray[np.float64]  # (nm^2,) of the LCP
    vector: NDArray[np.float64]  # (nm,)
    repair_matrix: NDArray[np.float64]  # (ngr^2,) of the LCP that corrects positions
    repair_vector: NDArray[np.float64]  # (ngr,)
    lcp: LcpWorkspace
    weak: HeldLaw
    outcome: Outcome


class Machine(Structure):
    """All that a step reads and writes."""

    system: System
    memory: Memory
    scratch: Scratch

    @property
    def room(self) -> tuple[int, int]:
        """For how many contacts there is room, and for how many unknowns."""
        return len(self.scratch.contacts.gap), len(self.scratch.vector)


def make_scratch(system: System, capacity: int) -> Scratch:
    """Allocate for up to `capacity` contacts."""
    tree = system.tree
    nv = len(tree.velocity_body)
    nl, ng = len(system.limits.kind), len(system.grabs.body)
    groups, rows = nl + capacity, int(system.grabs.rows.sum())
    unknowns = nl + capacity * (system.settings.sides + 2)
    return Scratch(
        bodies=make_workspace(tree),
        pose=make_pose(system.terrain),
        contacts=make_contacts(capacity),
        groups=Groups(
            limit=np.zeros(nl, dtype=np.int64),
            support=np.zeros((groups, nv), dtype=np.int64),
            support_length=np.zeros(groups, dtype=np.int64),
            common=np.zeros(nv, dtype=np.int64),
            rows=np.zeros((groups, nv, 3)),
            first=np.zeros(groups, dtype=np.int64),
            gain=np.zeros(nv * 3 * capacity),
            answer=np.zeros((3, 3 * capacity)),
            stuck=np.zeros((capacity, 3)),
            tangent=np.zeros((capacity, 3)),
            speed=np.zeros((groups, 3)),
            gap=np.zeros(groups),
            allowed=np.zeros(groups),
            come=np.zeros(groups),
            lost=np.zeros((groups, rows, 3)),
            lean=np.zeros(groups),
            delassus=np.zeros((groups, groups, 9)),
            block=np.zeros(9),
            impulse=np.zeros((groups, 3)),
        ),
        held=Held(
            rows=np.zeros((rows, nv)),
            orthonormal=np.zeros((rows, nv)),
            triangle=np.zeros((rows, rows)),
            error=np.zeros(rows),
            speed=np.zeros(rows),
            led=np.zeros(rows),
            impulse=np.zeros(rows),
        ),
        zero=np.zeros(nv),
        q_next=np.zeros(len(tree.rest)),
        v_next=np.zeros(nv),
        root=np.zeros(nv),
        start=np.zeros(nv),
        load=np.zeros(nv),
        free=np.zeros(nv),
        change=np.zeros(nv),
        repair=np.zeros(nv),
        matrix=np.zeros(unknowns * unknowns),
        vector=np.zeros(unknowns),
        repair_matrix=np.zeros(groups * groups),
        repair_vector=np.zeros(groups),
        lcp=lcp.make_workspace(unknowns),
        weak=make_held_law(nv, int(system.motors[1] - system.motors[0]), capacity),
        outcome=Outcome(
            lcp_residual=np.zeros(1),
            residual=np.zeros(1),
            counts=np.zeros(4, dtype=np.int64),
            contact_force=np.zeros((capacity, 3)),
            wrench=np.zeros((len(tree.parent), 6)),
            grab_force=np.zeros((ng, 6)),
            limit_torque=np.zeros(nl),
            torque=np.zeros(nv),
        ),
    )


def make_memory(system: System, capacity: int) -> Memory:
    """Allocate the state: nothing has happened yet."""
    nb, ng = len(system.tree.parent), len(system.grabs.body)
    groups = len(system.limits.kind) + capacity
    return Memory(
        q=system.tree.rest.copy(),
        v=np.zeros(len(system.tree.velocity_body)),
        moving=np.zeros(1, dtype=np.bool_),
        momentum=np.zeros(6 * int((system.tree.parent < 0).sum())),
        clock=np.zeros(1),
        steps=np.zeros(1, dtype=np.int64),
        impulse=np.zeros((nb, 6)),
        heeded=np.zeros(1, dtype=np.int64),
        deep=np.full(len(system.own.pair), np.inf),
        anchor=np.full((ng, 3), np.nan),
        orientation=np.full((ng, 4), np.nan),
        pace=np.zeros((ng, 3)),
        frame=np.tile([0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0], (ng, 1)),
        spin=np.zeros((ng, 3)),
        known=np.zeros(1, dtype=np.int64),
        key=np.zeros(groups, dtype=np.int64),
        stuck=np.full((groups, 3), np.nan),
        basis=np.zeros((groups, system.settings.sides + 2), dtype=np.bool_),
    )


def chains(tree: Tree) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Velocities that move each body, ascending, and how many."""
    nb, nv = len(tree.parent), len(tree.velocity_body)
    chain, length = np.zeros((nb, nv), dtype=np.int64), np.zeros(nb, dtype=np.int64)
    for b in range(nb):
        own = np.flatnonzero(tree.velocity_body == b)
        inherited = chain[tree.parent[b], : length[tree.parent[b]]] if tree.parent[b] >= 0 else own[:0]
        length[b] = len(inherited) + len(own)
        chain[b, : length[b]] = np.concatenate([inherited, own])
    return chain, length


def extents(shapes: Shapes, bodies: int) -> NDArray[np.float64]:
    """Radius of each body's shapes about its origin."""
    extent = np.zeros(bodies)
    for i, b in enumerate(shapes.body):
        reach = max(np.linalg.norm(shapes.start[i]), np.linalg.norm(shapes.end[i])) + shapes.radius[i]
        if shapes.kind[i] == BOX:
            reach += np.linalg.norm(shapes.half_extents[i])
        elif shapes.kind[i] == HULL:
            first, last = shapes.solids.vertex[shapes.solid[i] : shapes.solid[i] + 2]
            reach = np.linalg.norm(shapes.solids.place[first:last], axis=1).max()
        extent[b] = max(extent[b], reach)
    return extent


def pyramid(sides: int) -> NDArray[np.float64]:
    """Edges of a friction pyramid in the tangent plane, opposites exactly opposite (contact.friction)."""
    half = [(math.cos(angle), math.sin(angle)) for angle in (2.0 * math.pi * k / sides for k in range(sides // 2))]
    return np.array([*half, *((-x, -y) for x, y in half)])
