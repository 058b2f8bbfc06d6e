# SPDX-License-Identifier: GPL-3.0-or-later
"""The standing heel rises as the leg leans ahead, so that the hips do not sink.

A leg that turns over a foot that lies flat lowers the hips by 6 cm at a brisk walk. Then the other foot lands under a
bent knee, which has to lift the body again with two to four times the torque that a person's gives: the knee gave way,
and who walked at a metre a second sank down within a minute. A person's foot rolls: the hips hardly sink until they
are over its tip, and turn over that from there on.
"""

import math

from ...maths.kernel import inlined_kernel, kernel
from ...maths.rotations import quaternion_exp, quaternion_rotate
from ...maths.vectors import Vector, add, dot, row, scale, subtract
from .turns import turned
from .workspace import STANCE_KNEE, Machine

STEEPEST = 0.35  # rad, by how much the foot's tip is turned down at most
# Of the hips' height, by how much they may sink first. Heels that rose at once took a walker's speed, who at 0.7 m/s
# had none to spare.
SINKING = 0.015
LATE = 0.1  # phase after the step's end by which the heel is let down, for the other foot to reach the ground


@inlined_kernel
def standing_leg(machine: Machine) -> Vector:
    """From hip to ankle, in the thigh's frame, with the knee bent as it is to be."""
    biped, stance = machine.biped, machine.memory.stance[0]
    bent = biped.knee_sign[stance] * machine.work.pose[STANCE_KNEE]
    turn = quaternion_exp(scale(bent, row(biped.knee_axis, stance)))
    return add(row(biped.upper_leg, stance), quaternion_rotate(turn, row(biped.lower_leg, stance)))


@kernel
def heel_rise(machine: Machine, phase: float) -> float:
    """How far the standing ankle is to rise from where it is over a flat foot, m."""
    bodies, biped, stance = machine.bodies, machine.biped, machine.memory.stance[0]
    hip, ankle = row(bodies.position, biped.thigh[stance]), row(bodies.position, biped.foot[stance])
    tip, depth = biped.sole[stance, 1], biped.sole[stance, 3]
    down = math.asin(min(max(-bodies.rotation[biped.foot[stance], 2, 0], -1.0), 1.0))
    lean = turned(subtract(hip, ankle), -machine.walk.heading[0])[0]
    lean += tip * (1.0 - math.cos(down)) + depth * math.sin(down)  # from where the ankle would be over a flat foot
    if lean <= 0.0:
        return 0.0
    leg = standing_leg(machine)
    reach = dot(leg, leg)
    tall = math.sqrt(reach) + depth
    beyond = max(lean - tip, 0.0)
    wanted = math.sqrt(max(tall * tall - beyond * beyond, 0.0)) - SINKING * biped.height
    flat = math.sqrt(max(reach - lean * lean, 0.0)) + depth
    rise: float = min(max((1.0 + LATE - phase) / LATE, 0.0), 1.0) * max(wanted - flat, 0.0)
    return rise
