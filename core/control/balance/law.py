# SPDX-License-Identifier: GPL-3.0-or-later
"""One step's law, da Silva 2010, section 3.3, as a kernel that allocates nothing.

Everything is evaluated where the simulator solves its step, at q_{k+1} and v_k (dynamics/stepping.py):

    riding     the reference goes along with what the character stands on, riding.py
    style      a_s, eq. 3.8: the reference's acceleration and a damped spring towards it, root included, whose place has
               a softer one and whose rows weigh more: where it is lost, all is
    balance    of the three-link model under its policy only that counts by which it accelerates otherwise than on its
               reference: the two bodies differ there already, and style knows better
    contacts   points that the reference puts its weight on, while they are near the ground: they are to move as on the
               reference, which is not at all but where a foot turns as it stands, what gap is left is to close; only
               those that touch bear force
    program    program.py, eq. 3.9
    joints     hold to what the program foresees by a weak implicit spring and damper on their composite inertia [PD]
"""

import numpy as np
from numpy.typing import NDArray

from ...character.tree import Tree
from ...contact.detection import Contacts
from ...contact.friction import first_tangent
from ...dynamics.jacobians import point_acceleration_bias
from ...dynamics.kinematics import difference_positions, point_velocity, world_point
from ...dynamics.workspace import Workspace
from ...maths.kernel import kernel
from ...maths.structure import Structure
from ...maths.vectors import Vector, add, add_scaled, cross, dot, row, row_angular, scale, set_row, subtract
from .mapping import Model, level, map_to_model, update_accelerations
from .program import ROOT, Program, make_program, solve_program
from .riding import TOUCHING, Ride, ground_at, update_ride

Array = NDArray[np.float64]

# A planned point nearer to the ground than this is led to it, m; with those alone that touch, walks fall.
NEAR = 0.03
# Motion of a planned point dies down by this rate, 1/s; its gap closes by that stiffness, 1/s².
STILL, CLOSING = 60.0, 900.0
PLACE = 3  # of a free root's velocities, those of its place
EDGES = 6  # of a grip, which may pull; a contact has four


class Points(Structure):
    """Points (np) of the character that the reference puts its weight on."""

    body: NDArray[np.int64]  # (np,)
    local: Array  # (np, 3) in the body's frame, m
    grip: NDArray[np.bool_]  # (np,) may pull as well as push


class Weights(Structure):
    """Numbers of the settings, for kernels."""

    stiffness: float
    root_stiffness: float  # of the root's place
    balance: float  # w_b / w_s
    contact: float
    friction: float
    strength: float


class Goal(Structure):
    """Where the character is to be, written before each step, in the world."""

    q: Array  # (nq,) at k + 1
    v: Array  # (nv,) v_k
    acceleration: Array  # (nv,) from there
    loaded: NDArray[np.bool_]  # (np,)
    normal: Array  # (np, 3) of the ground
    place: Array  # (np, 3) of the points at k + 1
    glide: Array  # (np, 3) by which they are to move along the ground
    model_q: Array  # (4 nl,) of the model at k + 1, along the heading
    model_v: Array  # (3 nl,) at k
    model_torque: Array  # (3 nl,) zero at the base
    model_gain: Array  # (3 nl, 6 nl) [K] on (q_{k+1}, v_k)
    model_acceleration: Array  # (nl, 3) of its centres of mass on the reference


class Scratch(Structure):
    """Arrays of one step, and the law."""

    program: Program
    error: Array  # (nv,)
    model_error: Array  # (6 nl,)
    model_torque: Array  # (3 nl,)
    edge: Array  # (nx, 3) the edges' directions in the world
    edge_row: NDArray[np.int64]  # (nx,) first row of the edge's point
    torque: Array  # (motors,)
    implicit: Array  # (motors,)


def make_goal(nq: int, nv: int, points: int, links: int) -> Goal:
    """Allocate."""
    return Goal(
        q=np.zeros(nq),
        v=np.zeros(nv),
        acceleration=np.zeros(nv),
        loaded=np.zeros(points, dtype=np.bool_),
        normal=np.zeros((points, 3)),
        place=np.zeros((points, 3)),
        glide=np.zeros((points, 3)),
        model_q=np.zeros(4 * links),
        model_v=np.zeros(3 * links),
        model_torque=np.zeros(3 * links),
        model_gain=np.zeros((3 * links, 6 * links)),
        model_acceleration=np.zeros((links, 3)),
    )


def make_scratch(nv: int, points: int, links: int) -> Scratch:
    """Allocate."""
    edges = max(EDGES * points, 1)
    return Scratch(
        program=make_program(nv, 3 * (links + points), edges),
        error=np.zeros(nv),
        model_error=np.zeros(6 * links),
        model_torque=np.zeros(3 * links),
        edge=np.zeros((edges, 3)),
        edge_row=np.zeros(edges, dtype=np.int64),
        torque=np.zeros(nv - ROOT),
        implicit=np.zeros(nv - ROOT),
    )


class Machine(Structure):
    """All that a law reads and writes."""

    tree: Tree
    bodies: Workspace
    contacts: Contacts
    points: Points
    weights: Weights
    model: Model
    goal: Goal
    work: Scratch
    ride: Ride


@kernel
def update_law(machine: Machine, q: Array, v: Array, dt: float, balancing: bool, heading: float) -> int:
    """Fill `work.torque` and `work.implicit`; returns edges of the program, -1 where it has no answer."""
    tree, bodies = machine.tree, machine.bodies
    weights, goal, work = machine.weights, machine.goal, machine.work
    program, nv = work.program, v.shape[0]
    _take_along(machine, dt)
    difference_positions(tree, q, goal.q, work.error)
    for i in range(nv):
        stiffness = weights.root_stiffness if i < PLACE else weights.stiffness
        spring = stiffness * work.error[i] + 2.0 * np.sqrt(stiffness) * (goal.v[i] - v[i])
        program.target[i] = goal.acceleration[i] + spring
    rows = 0
    if balancing and weights.balance > 0.0:
        rows = _add_balance(machine, heading)
    rows, edges = _add_contacts(machine, rows)
    if not solve_program(program, bodies.mass_matrix, bodies.bias, rows, edges):
        return -1
    for j in range(nv - ROOT):
        i = ROOT + j
        inertia = bodies.mass_matrix[i, i]
        work.implicit[j] = inertia * dt * (2.0 * np.sqrt(weights.strength) + dt * weights.strength)
        torque = bodies.bias[i] + (bodies.diagonal[i] + work.implicit[j]) * program.acceleration[i]
        for k in range(nv):
            torque += bodies.mass_matrix[i, k] * program.acceleration[k]
        for e in range(edges):
            for a in range(3):
                torque -= program.rows[work.edge_row[e] + a, i] * work.edge[e, a] * program.share[e]
        work.torque[j] = torque
    return edges


@kernel
def _take_along(machine: Machine, dt: float) -> None:
    """Let the goal ride on what the character stands on."""
    bodies, contacts, points, goal = machine.bodies, machine.contacts, machine.points, machine.goal
    ride = machine.ride
    for a in range(3):
        goal.v[a] += ride.velocity[a]
    update_ride(bodies, contacts, points.body, points.local, goal.loaded, goal.place, ride, dt)
    for a in range(3):
        goal.q[a] += ride.shift[a]
        goal.acceleration[a] += ride.acceleration[a]
        for p in range(points.body.shape[0]):
            if not points.grip[p]:
                goal.place[p, a] += ride.shift[a]


@kernel
def _add_balance(machine: Machine, heading: float) -> int:
    """The first three rows for each link: its centre of mass, as the policy moves the model's."""
    tree, bodies, model, goal = machine.tree, machine.bodies, machine.model, machine.goal
    work, weight = machine.work, machine.weights.balance
    program = work.program
    links: int = model.mass.shape[0]
    map_to_model(tree, bodies, model, heading)
    n = model.v.shape[0]
    difference_positions(model.tree, goal.model_q, model.q, work.model_error[:n])
    for i in range(n):
        work.model_error[n + i] = model.v[i] - goal.model_v[i]
    for i in range(n):
        work.model_torque[i] = goal.model_torque[i]
        for j in range(2 * n):
            work.model_torque[i] -= goal.model_gain[i, j] * work.model_error[j]
    update_accelerations(model, work.model_torque)
    program.rows[: 3 * links] = 0.0
    for b in range(tree.parent.shape[0]):
        k = model.link[b]
        if k >= 0:
            center = world_point(bodies, b, row(tree.center_of_mass, b))
            _add_rows(machine, b, tree.mass[b] / model.mass[k], center, program.rows, 3 * k)
    for k in range(links):
        change = level(subtract(row(model.acceleration, k), row(goal.model_acceleration, k)), heading)
        for a in range(3):
            at = 3 * k + a
            program.weight[at] = weight
            program.aim[at] = change[a]
            for i in range(goal.acceleration.shape[0]):
                program.aim[at] += program.rows[at, i] * goal.acceleration[i]
    return 3 * links


@kernel
def _add_contacts(machine: Machine, rows: int) -> tuple[int, int]:
    """Three rows for each planned point near the ground, and edges for those that touch; returns how many there are."""
    bodies, contacts, points, weights = machine.bodies, machine.contacts, machine.points, machine.weights
    goal, work = machine.goal, machine.work
    program, edges = work.program, 0
    for p in range(points.body.shape[0]):
        if not goal.loaded[p]:
            continue
        b = points.body[p]
        place = world_point(bodies, b, row(points.local, p))
        miss, normal = subtract(place, row(goal.place, p)), row(goal.normal, p)
        moving, friction, gap = subtract(point_velocity(bodies, b, place), row(goal.glide, p)), 1.0, dot(normal, miss)
        grip = points.grip[p]
        if not grip:
            ground = ground_at(bodies, contacts, b, place)
            if ground.found:
                normal, gap, friction = ground.normal, ground.gap, ground.friction
                moving = subtract(moving, ground.velocity)
            if gap > NEAR:
                continue
            miss = scale(gap, normal)
        bias = point_acceleration_bias(bodies, b, place)
        program.rows[rows : rows + 3] = 0.0
        _add_rows(machine, b, 1.0, place, program.rows, rows)
        for a in range(3):
            program.weight[rows + a] = weights.contact
            program.aim[rows + a] = -STILL * moving[a] - CLOSING * miss[a] - bias[a]
        if grip or gap < TOUCHING:
            edges = _add_edges(work, rows, edges, normal, weights.friction * friction, grip)
        rows += 3
    return rows, edges


@kernel
def _add_edges(work: Scratch, at: int, edges: int, normal: Vector, friction: float, grip: bool) -> int:
    """The directions in which the point of these rows may be pushed: friction's pyramid, or all for a grip."""
    first = first_tangent(normal, (0.0, 0.0, 0.0))
    second = cross(normal, first)
    up = (0.0, 0.0, 0.0) if grip else normal
    size = 1.0 if grip else friction
    for tangent in (first, second):
        for sign in (size, -size):
            set_row(work.edge, edges, add_scaled(up, sign, tangent))
            edges = _finish_edge(work, at, edges)
    if grip:
        for sign in (1.0, -1.0):
            set_row(work.edge, edges, scale(sign, normal))
            edges = _finish_edge(work, at, edges)
    return edges


@kernel
def _finish_edge(work: Scratch, at: int, edge: int) -> int:
    program = work.program
    work.edge_row[edge] = at
    for i in range(ROOT):
        program.edges[i, edge] = 0.0
        for a in range(3):
            program.edges[i, edge] += program.rows[at + a, i] * work.edge[edge, a]
    return edge + 1


@kernel
def _add_rows(machine: Machine, b: int, share: float, point: Vector, out: Array, first: int) -> None:
    """Add a share of J of a point of body b to three rows."""
    tree, bodies = machine.tree, machine.bodies
    arm = subtract(point, row(bodies.position, 0))
    i = bodies.last_velocity[b]
    while i >= 0:
        motion = add(row(bodies.motion, i), cross(row_angular(bodies.motion, i), arm))
        for a in range(3):
            out[first + a, i] += share * motion[a]
        i = tree.velocity_parent[i]
