# SPDX-License-Identifier: GPL-3.0-or-later
"""The swinging leg: its foot on its way to where the inverted pendulum wants it, by inverse kinematics."""

import math

from ...character.tree import HINGE
from ...dynamics.kinematics import point_velocity
from ...maths.kernel import inlined_kernel, kernel
from ...maths.rotations import quaternion_conjugate, quaternion_log, quaternion_multiply, quaternion_row
from ...maths.vectors import Vector, add_scaled, dot, row, subtract
from .biped import Biped
from .leg import aim_thigh, bend_knee
from .pendulum import returning_width, step_length
from .turns import set_ball, turned, twist
from .workspace import LEFT, SWING_FOOT, Machine

AHEAD = 0.01  # s, after which the leg's pose gives its velocity
SINKING = 0.4  # m/s at which a foot that is late goes on down
# Phase by which the foot is over its place. One that hurries jerks at the hip; but who walks in a plane falls ahead
# alone, and needs it sooner.
ARRIVAL, PLANAR_ARRIVAL = 1.0, 0.7
ROLLING = 0.3  # phase by which the foot has its toes as far down as the style wants
# Share of the learnt speed by which a foot is set back as well: who rolls over it is slower than over a flat one. With
# all of it two of four people fell at a metre a second.
PLACED = 0.3
REACH = 0.6  # of the hips' height, how far a step reaches at most


@kernel
def pose_swing(machine: Machine, center: Vector, velocity: Vector, phase: float, leaving: bool) -> None:
    """The swinging leg's goal, and by where it would be a moment later its velocity.

    A foot that is still `leaving` the ground rolls over its tip: one that went ahead at once dragged its toes along.
    """
    tree, bodies, biped, walk = machine.tree, machine.bodies, machine.biped, machine.walk
    memory, work = machine.memory, machine.work
    swing, heading = 1 - memory.stance[0], walk.heading[0]
    ankle, standing = row(bodies.position, biped.foot[swing]), row(bodies.position, biped.foot[1 - swing])
    if memory.fresh[0] or leaving:
        start = turned(subtract(ankle, center), -heading)
        memory.start[0], memory.start[1], memory.start[2] = start[0], start[1], ankle[2] - standing[2]
        memory.lifted[0] = phase
    down = math.asin(min(max(-bodies.rotation[biped.foot[swing], 2, 0], -1.0), 1.0))
    if memory.fresh[0]:
        memory.pitch[0], memory.fresh[0] = down, False
    thigh = biped.thigh[swing]
    hip = row(bodies.position, thigh)
    upper, lower, axis = row(biped.upper_leg, swing), row(biped.lower_leg, swing), row(biped.knee_axis, swing)
    sign = biped.knee_sign[swing]
    sideways = turned((0.0, sign, 0.0), heading)
    planar, hinge = tree.joint[thigh] == HINGE, row(tree.axis[thigh], 0)
    arrival = PLANAR_ARRIVAL if planar else ARRIVAL
    above = quaternion_multiply(quaternion_row(bodies.quaternion, 0), quaternion_row(tree.offset_quaternion, thigh))
    hip_velocity = point_velocity(bodies, 0, hip)
    i, k = tree.position_start[thigh], tree.velocity_start[thigh]
    j, l = tree.position_start[biped.shank[swing]], tree.velocity_start[biped.shank[swing]]
    first, knee = (1.0, 0.0, 0.0, 0.0), 0.0
    for moment in range(2):
        later = AHEAD * moment
        place, then = add_scaled(center, later, velocity), phase + later / walk.step_seconds[0]
        pitch = toes_down(machine, then)
        target = _swing_target(machine, place, velocity, standing, then, pitch, arrival)
        if leaving:
            rolled = _tip_ahead(biped, swing, down) - _tip_ahead(biped, swing, pitch)
            x, y = bodies.rotation[biped.foot[swing], 0, 0], bodies.rotation[biped.foot[swing], 1, 0]
            target = ankle[0] + rolled * x, ankle[1] + rolled * y, target[2]
        reach = subtract(target, add_scaled(hip, later, hip_velocity))
        if planar:
            reach = add_scaled(reach, -dot(reach, sideways), sideways)
        bend = bend_knee(upper, lower, axis, math.sqrt(dot(reach, reach)), sign)
        orientation = aim_thigh(upper, lower, axis, bend, reach, sideways)
        turn = quaternion_multiply(quaternion_conjugate(above), orientation)
        if moment == 0:
            first, knee = turn, bend
            if planar:
                work.goal[i] = twist(turn, hinge)
            else:
                set_ball(work.goal, i, turn)
            work.goal[j] = bend
        else:
            rate = quaternion_log(quaternion_multiply(quaternion_conjugate(first), turn))
            if planar:
                work.speed[k] = dot(rate, hinge) / AHEAD
            else:
                for a in range(3):
                    work.speed[k + a] = rate[a] / AHEAD
            work.speed[l] = (bend - knee) / AHEAD


@inlined_kernel
def toes_down(machine: Machine, phase: float) -> float:
    """Pitch wanted of the swinging foot: the style's, to which it comes from the one that it left with.

    One that turned its toes down at once would thrust them back over the ground.
    """
    memory, work = machine.memory, machine.work
    part = min(phase / ROLLING, 1.0)
    own = 1.0 - part * part * (3.0 - 2.0 * part)
    pitch: float = own * memory.pitch[0] + (1.0 - own) * work.pose[SWING_FOOT]
    return pitch


@inlined_kernel
def _tip_ahead(biped: Biped, side: int, pitch: float) -> float:
    """How far its tip is ahead of the ankle of a foot with its toes down by that."""
    ahead: float = biped.sole[side, 1] * math.cos(pitch) - biped.sole[side, 3] * math.sin(pitch)
    return ahead


@kernel
def _swing_target(
    machine: Machine,
    center: Vector,
    velocity: Vector,
    standing: Vector,
    phase: float,
    pitch: float,
    arrival: float,
) -> Vector:
    """Where the swinging ankle is to be, in the world: from where it left to where the pendulum comes to rest."""
    biped, walk, memory = machine.biped, machine.walk, machine.memory
    side = 1.0 if memory.stance[0] == LEFT else -1.0
    heading, height, gravity = walk.heading[0], center[2] - standing[2], biped.gravity
    along = turned(velocity, -heading)
    tall = max(height + biped.sole[1 - memory.stance[0], 3], 0.1)
    most = REACH * biped.height
    wanted = walk.speed[0] + PLACED * walk.offset[0]
    x = walk.feedback.step_forward * step_length(tall, along[0], gravity) - walk.feedback.step_speed * wanted
    y = walk.feedback.step_sideways * step_length(tall, along[1], gravity) - walk.feedback.step_speed * walk.speed[1]
    x = min(max(x, -most), most)
    wider = returning_width(biped.apart + walk.width, tall, walk.step_seconds[0], gravity)
    # further out than the standing foot as well: feet that may not cross cannot catch a fall to that side
    y = min(max(y - side * wider, -most), most)
    part = min((phase - memory.lifted[0]) / (arrival - memory.lifted[0]), 1.0)
    left = 1.0 - part * part * (3.0 - 2.0 * part)
    x, y = left * memory.start[0] + (1.0 - left) * x, left * memory.start[1] + (1.0 - left) * y
    lift = walk.clearance * math.sin(math.pi * min(phase, 1.0)) ** 2
    lift -= SINKING * walk.step_seconds[0] * max(phase - 1.0, 0.0)
    swing, stance = 1 - memory.stance[0], memory.stance[0]
    lowest = max(biped.sole[swing, 1] * math.sin(pitch), biped.sole[swing, 0] * math.sin(pitch))
    ground = biped.sole[swing, 3] * math.cos(pitch) + lowest - biped.sole[stance, 3]
    z = standing[2] + ground + left * max(memory.start[2] - ground, 0.0) + lift
    flat = turned((x, y, 0.0), heading)
    return center[0] + flat[0], center[1] + flat[1], z
