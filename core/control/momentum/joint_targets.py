# SPDX-License-Identifier: GPL-3.0-or-later
"""What joints and limbs should do next: g1 and g2 of Ye and Liu 2010, eq. 13, from the reference as it is warped."""

import numpy as np
from numpy.typing import NDArray

from ...dynamics.jacobians import fill_jacobian
from ...dynamics.kinematics import difference_positions, integrate_positions, update_positions, world_point
from ...maths.kernel import kernel
from ...maths.rotations import (
    quaternion_conjugate,
    quaternion_exp,
    quaternion_log,
    quaternion_multiply,
    quaternion_rotate,
    quaternion_row,
)
from ...maths.vectors import Vector, add, add_scaled, row, scale, subtract
from .machine import Machine
from .model import set_part
from .pose import FOLLOW
from .timing import split

Array = NDArray[np.float64]


@kernel
def _reference_pose(machine: Machine, at: float, out: Array) -> None:
    """The reference's positions between two frames, where nothing is moved."""
    route = machine.route
    k, share = split(at, route.q.shape[0] - 1)
    difference_positions(machine.tree, route.q[k], route.q[k + 1], machine.difference)
    integrate_positions(machine.tree, route.q[k], machine.difference, share, out)


@kernel
def aim(machine: Machine, forward: float) -> None:
    """Add the joints' velocities [g1] to `target`, and fill the limbs' [g2]: those of the reference as it is warped."""
    route, bodies, pose = machine.route, machine.bodies, machine.pose
    dt, at = route.dt, machine.memory.clock[1] + forward
    _reference_pose(machine, at + forward, machine.ahead)
    _reference_pose(machine, at, machine.outcome.wanted)
    difference_positions(machine.tree, machine.outcome.wanted, machine.ahead, machine.difference)
    for i in range(pose.target.shape[0]):
        pose.target[i] += machine.difference[i] / dt
    difference_positions(machine.tree, machine.memory.q, machine.outcome.wanted, machine.off)
    for i in range(pose.target.shape[0]):
        pose.target[i] += FOLLOW * machine.off[i] / dt
    k, share = split(at + forward, route.q.shape[0] - 1)
    for n in range(route.limb_body.shape[0]):
        b = route.limb_body[n]
        place = add(scale(1.0 - share, row(route.limb_place[k], n)), scale(share, row(route.limb_place[k + 1], n)))
        place = add(place, row(machine.memory.moved, n))
        begin, end = quaternion_row(route.limb_turn[k], n), quaternion_row(route.limb_turn[k + 1], n)
        way = quaternion_log(quaternion_multiply(quaternion_conjugate(begin), end))
        wanted = quaternion_multiply(begin, quaternion_exp(scale(share, way)))
        now = quaternion_row(bodies.quaternion, b)
        turn = quaternion_rotate(now, quaternion_log(quaternion_multiply(quaternion_conjugate(now), wanted)))
        point = row(route.limb_point[k], n)
        place = add(place, quaternion_rotate(wanted, point))
        set_part(pose.limb_point[n], 0, point)
        set_part(pose.limb[n], 0, scale(1.0 / dt, subtract(place, world_point(bodies, b, point))))
        set_part(pose.limb[n], 3, scale(1.0 / dt, turn))


@kernel
def straighten(machine: Machine) -> None:
    """Change the limbs' velocities by what the joints' arcs take them off the straight way in a step: Newton's step.

    Without it the feet in stance are off their places by up to half a millimetre, the square of a step.
    """
    route, bodies, pose, dt = machine.route, machine.bodies, machine.pose, machine.route.dt
    integrate_positions(machine.tree, machine.memory.q, machine.memory.v, dt, machine.ahead)
    update_positions(machine.tree, machine.next, machine.ahead)
    for n in range(route.limb_body.shape[0]):
        b = route.limb_body[n]
        point = row(pose.limb_point, n)
        now, then = world_point(bodies, b, point), world_point(machine.next, b, point)
        fill_jacobian(machine.tree, bodies, b, now, pose.jacobian)
        for i in range(3):
            chord = 0.0
            for j in range(machine.memory.v.shape[0]):
                chord += pose.jacobian[i, j] * machine.memory.v[j]
            pose.limb[n, i] += chord - (then[i] - now[i]) / dt


@kernel
def turned(machine: Machine, at: float) -> Vector:
    """Phi of the pose: the reference's, and the angular momentum that would take the reference there in unit time.

    The sum of angular momentum over time says less and less of how the body is turned; as with the centre of mass
    (section 6), what the pose has is fed back. After `target` and `solve_velocities`.
    """
    route, off = machine.route, machine.off
    k, share = split(at, route.q.shape[0] - 1)
    phi = add(scale(1.0 - share, row(route.turned, k)), scale(share, row(route.turned, k + 1)))
    own = (0.0, 0.0, 0.0)
    for i in range(off.shape[0]):
        own = add_scaled(own, -off[i], (machine.pose.map[3, i], machine.pose.map[4, i], machine.pose.map[5, i]))
    return add(phi, own)
