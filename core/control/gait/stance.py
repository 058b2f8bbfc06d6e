# SPDX-License-Identifier: GPL-3.0-or-later
"""The standing leg: speed, height and the pelvis are in its hands, as far as its sole can answer."""

import math

from ...character.tree import VELOCITIES_OF_JOINT, Tree
from ...dynamics.kinematics import vector_at
from ...dynamics.workspace import Workspace
from ...maths.kernel import inlined_kernel, kernel
from ...maths.rotations import (
    Quaternion,
    quaternion_conjugate,
    quaternion_log,
    quaternion_multiply,
    quaternion_row,
)
from ...maths.vectors import Vector, add, add_scaled, cross, dot, row, row_angular, scale, subtract
from .biped import NONE, UPRIGHT
from .heel import standing_leg
from .turns import turned
from .velocity import BINS
from .workspace import LEFT, Machine

# Horizontal force on the centre of mass at most, of the weight.
PULL = 0.15
# m that the heel is to rise, from which on the ankle bears all the weight at the sole's tip
BORNE = 0.03


@kernel
def stand(
    machine: Machine, center: Vector, along: Vector, phase: float, wanted: Quaternion, rise: float, dt: float
) -> None:
    """The standing leg: what its joints add for velocity, height and the pelvis, and how far its ankle may go."""
    tree, bodies, biped, walk = machine.tree, machine.bodies, machine.biped, machine.walk
    memory, work = machine.memory, machine.work
    stance, swing, heading = memory.stance[0], 1 - memory.stance[0], walk.heading[0]
    mass, side = biped.mass, 1.0 if memory.stance[0] == LEFT else -1.0
    weight = mass * biped.gravity
    k = min(int(min(phase, 1.0) * BINS), BINS - 1)
    x = walk.speed[0] + walk.curve[0, k] + walk.offset[0] - along[0]
    y = walk.speed[1] - side * walk.curve[1, k] - along[1]
    most = PULL * weight
    x = min(max(mass * walk.feedback.speed_forward * x, -most), most)
    y = min(max(mass * walk.feedback.speed_sideways * y, -most), most)
    force = turned((x, y, 0.0), heading)
    hip, foot, shank = row(bodies.position, biped.thigh[stance]), biped.foot[stance], biped.shank[stance]
    ankle = row(bodies.position, foot)

    i = tree.velocity_start[shank]
    leg = standing_leg(machine)
    lacks = math.sqrt(dot(leg, leg)) - (hip[2] - ankle[2])
    up = mass * walk.feedback.height * lacks + walk.feedback.support * weight
    pushed = (force[0], force[1], min(max(up, 0.0), 2.0 * weight))
    work.torque[i] = work.pd[i] - _lever(bodies, i, center, pushed)

    start = tree.velocity_start[foot]
    held, rising = walk.within * memory.force[0], min(rise / BORNE, 1.0)
    for i in range(start, start + VELOCITIES_OF_JOINT[tree.joint[foot]]):
        torque = work.pd[i] - _lever(bodies, i, center, force)
        turning = turned(row_angular(bodies.motion, i), -heading)
        # a torque about the left presses the tip down, the other way round the heel
        ahead, behind = held * biped.sole[stance, 1], held * biped.sole[stance, 0]
        ahead *= 1.0 + rising * (walk.pushing - 1.0)
        bearing = rising * memory.force[0] * biped.sole[stance, 1]
        beside = held * biped.sole[stance, 2]
        if abs(turning[2]) > UPRIGHT:
            work.torque[i] = torque
        elif abs(turning[1]) > abs(turning[0]):
            if turning[1] < 0.0:
                ahead, behind, bearing = -behind, -ahead, -bearing
            torque += bearing
            work.torque[i] = min(max(torque, behind), ahead)
        else:
            work.torque[i] = min(max(torque, -beside), beside)

    own = quaternion_row(bodies.quaternion, 0)
    error = quaternion_log(quaternion_multiply(wanted, quaternion_conjugate(own)))
    spin = row_angular(bodies.velocity, 0)
    after = dt if walk.implicit[0] else 0.0
    total = scale(biped.pelvis[0], add_scaled(error, -after, spin))
    total = add_scaled(total, -biped.pelvis[1], spin)
    # without its weight the free side of the pelvis would hang, and starts were lost to it
    total = add(total, add(cross(subtract(center, hip), force), _held_moment(tree, bodies, biped.thigh[stance], hip)))
    for b in (biped.trunk[0], biped.thigh[swing]):
        if b == NONE:
            continue
        first = tree.velocity_start[b]
        for i in range(first, first + VELOCITIES_OF_JOINT[tree.joint[b]]):
            total = add_scaled(total, work.torque[i], row_angular(bodies.motion, i))
    first = tree.velocity_start[biped.thigh[stance]]
    for i in range(first, first + VELOCITIES_OF_JOINT[tree.joint[biped.thigh[stance]]]):
        work.torque[i] = -dot(row_angular(bodies.motion, i), total)
        work.implicit[i] = after * (biped.pelvis[1] + after * biped.pelvis[0])


@inlined_kernel
def _held_moment(tree: Tree, bodies: Workspace, thigh: int, hip: Vector) -> Vector:
    """Moment about the standing hip that holds up all that the leg carries."""
    carried = bodies.composite[0, 0] - bodies.composite[thigh, 0]
    first = subtract(_first_moment(bodies, 0), _first_moment(bodies, thigh))
    arm = add_scaled(first, -carried, subtract(hip, row(bodies.position, 0)))
    return cross(vector_at(tree.gravity, 0), arm)


@inlined_kernel
def _first_moment(bodies: Workspace, body: int) -> Vector:
    """Of the body and all that hangs from it, about the root's point."""
    return bodies.composite[body, 1], bodies.composite[body, 2], bodies.composite[body, 3]


@inlined_kernel
def _lever(bodies: Workspace, i: int, place: Vector, force: Vector) -> float:
    """Axis of velocity i times the moment, about its joint, of a force at a place in the world."""
    arm = subtract(place, row(bodies.position, 0))
    return dot(row(bodies.motion, i), force) + dot(row_angular(bodies.motion, i), cross(arm, force))
