# SPDX-License-Identifier: GPL-3.0-or-later
"""From a character to the three-link model, or that of five: da Silva 2010, section 3.2.3 and figure 3-2.

The stance ankle is the base joint. A link points to the centre of mass of its bodies: the base from the ankle, the
others from the model's own hip, arms from its shoulders. It is turned there from its direction at rest by the shortest
way, so it never twists, and its angular velocity is that of the direction alone. All is seen along the heading of the
phase, so that the model's inertias lie as the character's do.
"""

import math

import numpy as np
from numpy.typing import NDArray

from ...character.three_link import BASE, UPPER, ThreeLink
from ...character.tree import Tree
from ...dynamics.forces import update_bias_force
from ...dynamics.inertia import factorize, solve, update_mass_matrix
from ...dynamics.jacobians import point_acceleration_bias
from ...dynamics.kinematics import point_velocity, update_kinematics, world_point
from ...dynamics.workspace import Workspace, make_workspace
from ...maths.kernel import inlined_kernel, kernel
from ...maths.rotations import (
    Quaternion,
    quaternion_conjugate,
    quaternion_multiply,
    quaternion_normalize,
    quaternion_rotate,
)
from ...maths.structure import Structure
from ...maths.vectors import Vector, add, add_scaled, cross, dot, row, row_angular, scale, set_row, subtract

Array = NDArray[np.float64]


class Model(Structure):
    """The model, and how the character is mapped to it."""

    tree: Tree  # of the model
    work: Workspace  # of the model
    link: NDArray[np.int64]  # (nb,) of each of the character's bodies; -1: none
    mass: Array  # (nl,) kg, of 3 links or 5
    ankle: NDArray[np.int64]  # (1,) the character's body whose joint is the base's
    place: Array  # (nl, 3) centres of mass of the character's limbs, in the world [update_limbs]
    velocity: Array  # (nl, 3) [update_limbs]
    q: Array  # (4 nl,) [map_to_model]
    v: Array  # (3 nl,) [map_to_model]
    acceleration: Array  # (nl, 3) of the model's centres of mass, along the heading [update_accelerations]
    rate: Array  # (3 nl,) the model's own acceleration [update_accelerations]


def make_model(three_link: ThreeLink) -> Model:
    """Allocate."""
    tree = three_link.model.tree
    links = len(tree.mass)
    return Model(
        tree=tree,
        work=make_workspace(tree),
        link=three_link.link,
        mass=tree.mass.copy(),
        ankle=np.array([three_link.foot], dtype=np.int64),
        place=np.zeros((links, 3)),
        velocity=np.zeros((links, 3)),
        q=np.zeros(4 * links),
        v=np.zeros(3 * links),
        acceleration=np.zeros((links, 3)),
        rate=np.zeros(3 * links),
    )


@kernel
def update_limbs(tree: Tree, bodies: Workspace, model: Model) -> None:
    """`place` and `velocity`; after `update_kinematics` of the character."""
    model.place[:] = 0.0
    model.velocity[:] = 0.0
    for b in range(tree.parent.shape[0]):
        k = model.link[b]
        if k >= 0:
            share = tree.mass[b] / model.mass[k]
            center = world_point(bodies, b, row(tree.center_of_mass, b))
            set_row(model.place, k, add_scaled(row(model.place, k), share, center))
            set_row(model.velocity, k, add_scaled(row(model.velocity, k), share, point_velocity(bodies, b, center)))


@kernel
def map_to_model(tree: Tree, bodies: Workspace, model: Model, heading: float) -> None:
    """`q` and `v`, seen along a heading (rad, about the vertical); after `update_kinematics` of the character."""
    update_limbs(tree, bodies, model)
    ankle = row(bodies.position, model.ankle[0])
    ankle_velocity = point_velocity(bodies, model.ankle[0], ankle)
    base = upper = (1.0, 0.0, 0.0, 0.0)
    base_rate = upper_rate = hip = hip_velocity = (0.0, 0.0, 0.0)
    links = model.mass.shape[0]
    for k in range(links):
        hangs = UPPER < k < links - 1
        origin, origin_velocity = hip, hip_velocity
        if hangs:
            shoulder = quaternion_rotate(upper, row(model.tree.offset_position, k))
            origin, origin_velocity = add(hip, shoulder), add(hip_velocity, cross(upper_rate, shoulder))
        arm = subtract(level(subtract(row(model.place, k), ankle), -heading), origin)
        speed = subtract(level(subtract(row(model.velocity, k), ankle_velocity), -heading), origin_velocity)
        turn = _shortest_turn(row(model.tree.center_of_mass, k), arm)
        rate = scale(1.0 / dot(arm, arm), cross(arm, speed))
        joint = turn
        relative = rate
        if k == BASE:
            base, base_rate = turn, rate
            hip = quaternion_rotate(turn, row(model.tree.offset_position, 1))
            hip_velocity = cross(rate, hip)
        elif hangs:
            joint = quaternion_multiply(quaternion_conjugate(upper), turn)
            relative = subtract(rate, upper_rate)
        else:
            joint = quaternion_multiply(quaternion_conjugate(base), turn)
            relative = subtract(rate, base_rate)
            if k == UPPER:
                upper, upper_rate = turn, rate
        relative = quaternion_rotate(quaternion_conjugate(turn), relative)
        for i in range(4):
            model.q[4 * k + i] = joint[i]
        for i in range(3):
            model.v[3 * k + i] = relative[i]


@kernel
def update_accelerations(model: Model, torque: Array) -> None:
    """`rate` and `acceleration`: forward dynamics of the model at `q` and `v` under `torque` (3 nl,)."""
    tree, work = model.tree, model.work
    update_kinematics(tree, work, model.q, model.v)
    update_mass_matrix(tree, work)
    update_bias_force(tree, work)
    factorize(tree, work)
    for i in range(torque.shape[0]):
        model.rate[i] = torque[i] - work.bias[i]
    solve(tree, work, model.rate)
    for k in range(model.mass.shape[0]):
        center = world_point(work, k, row(tree.center_of_mass, k))
        arm = subtract(center, row(work.position, 0))
        total = point_acceleration_bias(work, k, center)
        i = work.last_velocity[k]
        while i >= 0:
            motion = add(row(work.motion, i), cross(row_angular(work.motion, i), arm))
            total = add_scaled(total, model.rate[i], motion)
            i = tree.velocity_parent[i]
        set_row(model.acceleration, k, total)


@inlined_kernel
def level(a: Vector, angle: float) -> Vector:
    """Turned about the vertical."""
    c, s = math.cos(angle), math.sin(angle)
    return c * a[0] - s * a[1], s * a[0] + c * a[1], a[2]


@inlined_kernel
def _shortest_turn(start: Vector, end: Vector) -> Quaternion:
    """The rotation that carries one direction into another without twist; between opposites, none."""
    length = math.sqrt(dot(start, start) * dot(end, end))
    axis = cross(start, end)
    w = length + dot(start, end)
    if not w > 1e-12 * length:
        return 1.0, 0.0, 0.0, 0.0
    return quaternion_normalize((w, axis[0], axis[1], axis[2]))
