# SPDX-License-Identifier: GPL-3.0-or-later
"""One step's law, Carensac et al., section 3, on Coros et al. 2010, as a kernel that allocates nothing.

Everything is evaluated where the simulator solves its step, at q_{k+1} and v_k, and along the heading of the moment:

    key poses    angles of the style between its poses, for all joints but the swinging leg's
    foot         on its way to where the inverted pendulum wants it, by inverse kinematics now and a moment later
    PD           Kp (q_d - q_{k+1} - h v_k) + Kd (v_d - v_k); what v_{k+1} changes goes on M's diagonal, h Kd + h² Kp
    gravity      torques that hold up what hangs from each joint but the standing leg's
    velocity     a force on the centre of mass for the speed that it lacks, by the standing leg's joints
    height       the same upwards, by the standing knee alone, which bears its share of the weight besides
    pelvis       turned by the standing hip, which holds up what the leg carries, and takes over what waist and swinging
                 hip exert on the pelvis
    ankle        no more than the ground can answer within the sole; as the leg leans ahead, it bears the hips over the
                 tip, and the heel rises
"""

import math

import numpy as np
from numpy.typing import NDArray

from ...character.tree import HINGE, VELOCITIES_OF_JOINT
from ...dynamics.centroidal import center_of_mass_from_root, momentum_about_root
from ...dynamics.kinematics import difference_positions, integrate_positions, vector_at
from ...maths.dense import copy_into
from ...maths.kernel import inlined_kernel, kernel
from ...maths.rotations import (
    Quaternion,
    quaternion_conjugate,
    quaternion_exp,
    quaternion_log,
    quaternion_multiply,
    quaternion_row,
)
from ...maths.vectors import Vector, add, cross, dot, row, row_angular, scale
from .biped import NONE, UPRIGHT
from .heel import STEEPEST, heel_rise
from .stance import stand
from .swing import pose_swing, toes_down
from .turns import set_ball, turned
from .velocity import BINS
from .workspace import (
    ARMS_OUT,
    HEAD_PITCH,
    LEFT,
    PELVIS_PITCH,
    PELVIS_ROLL,
    PELVIS_YAW,
    STANCE_ARM,
    STANCE_ELBOW,
    STANCE_KNEE,
    SWING_ARM,
    SWING_ELBOW,
    TORSO_PITCH,
    TORSO_ROLL,
    TORSO_YAW,
    Machine,
    Walk,
)

Array = NDArray[np.float64]

BEGINNING = 1.5  # s by which a walk has its style, from the pose that it starts in
LEAVING = 0.15  # phase up to which the swinging foot is given time to leave the ground
LANDING = 0.6  # phase from which a touch ends the step
SETTLING = 0.4  # phase by which the standing knee has left the angle it landed with
PATIENCE = 1.5  # phase at which it ends without one
TOUCHING = 1e-3  # m
AVERAGE = 0.02  # s over which the ground's force is averaged


@kernel
def update_law(machine: Machine, q: Array, v: Array, dt: float) -> bool:
    """Fill `work.torque` and `work.implicit`; True where the step is over, and the other leg is to stand."""
    tree, bodies, biped = machine.tree, machine.bodies, machine.biped
    walk, memory, work = machine.walk, machine.memory, machine.work
    stance = memory.stance[0]
    swing = 1 - stance
    side = 1.0 if stance == LEFT else -1.0
    phase = memory.clock[0] / walk.step_seconds[0]
    heading = walk.heading[0]
    _interpolate(walk, min(phase, 1.0), work.pose)
    begun = min(memory.clock[1] / BEGINNING, 1.0)
    # a style that came at once threw the character off as it began: a low one down, a bent one ahead
    for c in range(work.pose.shape[0]):
        work.pose[c] *= begun
    mass = biped.mass
    center = add(row(bodies.position, 0), center_of_mass_from_root(bodies.composite))
    velocity = scale(1.0 / mass, momentum_about_root(bodies.momentum_map, v)[0])
    along = turned(velocity, -heading)
    _note(machine, along, side, phase, dt)

    _lead_over(machine, begun)
    work.speed[:] = 0.0
    _pose_arms(machine, stance)
    knee = tree.position_start[biped.shank[stance]]
    if memory.fresh[0]:
        memory.landed[0] = q[knee] * biped.knee_sign[stance]
    # a knee that stretched at once after landing would throw the character up
    yields = max(1.0 - phase / SETTLING, 0.0)
    work.pose[STANCE_KNEE] += yields * (memory.landed[0] - work.pose[STANCE_KNEE])
    work.goal[knee] = biped.knee_sign[stance] * work.pose[STANCE_KNEE]
    leaving = phase < LEAVING and _touches(machine, biped.foot[swing])
    pose_swing(machine, center, velocity, phase, leaving)
    difference_positions(tree, q, work.goal, work.error)
    yaw, roll = heading + side * work.pose[PELVIS_YAW], -side * work.pose[PELVIS_ROLL]
    pelvis = _orientation(yaw, work.pose[PELVIS_PITCH], roll)
    if biped.trunk[0] != NONE:
        yaw, roll = heading + side * work.pose[TORSO_YAW], -side * work.pose[TORSO_ROLL]
        _face(machine, biped.trunk[0], _orientation(yaw, work.pose[TORSO_PITCH], roll))
    # the standing foot is to lie flat until its heel rises, wherever it points: friction holds that, and the ankle must
    # not pivot it
    pointing = math.atan2(bodies.rotation[biped.foot[stance], 1, 0], bodies.rotation[biped.foot[stance], 0, 0])
    rise = heel_rise(machine, phase)
    _face(machine, biped.foot[stance], _orientation(pointing, min(rise / biped.sole[stance, 1], STEEPEST), 0.0))
    pitch = toes_down(machine, phase)
    _face(machine, biped.foot[swing], _orientation(heading, pitch, 0.0))
    _hold(machine, v, dt)
    stand(machine, center, along, phase, pelvis, rise, dt)

    memory.clock[0] += dt
    memory.clock[1] += dt
    return phase >= PATIENCE or (phase >= LANDING and _touches(machine, biped.foot[swing]))


@kernel
def _lead_over(machine: Machine, begun: float) -> None:
    """The pose that the key poses are angles from: the walk's first one leads over to it as the style comes."""
    tree, biped, work = machine.tree, machine.biped, machine.work
    if begun < 1.0:
        difference_positions(tree, biped.start, biped.base, work.error)
        integrate_positions(tree, biped.start, work.error, begun, work.goal)
    else:
        copy_into(biped.base, work.goal)


@kernel
def _interpolate(walk: Walk, phase: float, out: Array) -> None:
    """Angles between the two poses around a phase."""
    after = 1
    while walk.phases[after] < phase:
        after += 1
    before = after - 1
    share = (phase - walk.phases[before]) / (walk.phases[after] - walk.phases[before])
    for c in range(out.shape[0]):
        out[c] = (1.0 - share) * walk.poses[before, c] + share * walk.poses[after, c]


@kernel
def _note(machine: Machine, along: Vector, side: float, phase: float, dt: float) -> None:
    """Remember the velocity for learning, and what upward force its change tells of."""
    memory, mass, gravity = machine.memory, machine.biped.mass, machine.biped.gravity
    share = min(dt / AVERAGE, 1.0)
    if memory.force[0] == 0.0:
        memory.force[0] = mass * gravity
    else:
        found = mass * ((along[2] - memory.force[1]) / dt + gravity)
        memory.force[0] += share * (min(max(found, 0.0), 3.0 * mass * gravity) - memory.force[0])
    memory.force[1] = along[2]
    k = min(int(phase * BINS), BINS - 1)
    memory.seen[0, k] += along[0]
    memory.seen[1, k] -= side * along[1]
    memory.counted[k] += 1.0


@kernel
def _pose_arms(machine: Machine, stance: int) -> None:
    """Arms swing about the trunk's left axis, elbows bend, the head nods."""
    tree, biped, work = machine.tree, machine.biped, machine.work
    for k in range(2):
        forward = work.pose[STANCE_ARM] if k == stance else work.pose[SWING_ARM]
        out = work.pose[ARMS_OUT] if k == LEFT else -work.pose[ARMS_OUT]
        if biped.arm[k] != NONE and tree.joint[biped.arm[k]] == HINGE:
            work.goal[tree.position_start[biped.arm[k]]] -= tree.axis[biped.arm[k], 0, 1] * forward
        elif biped.arm[k] != NONE:
            turn = quaternion_multiply(quaternion_exp((0.0, -forward, 0.0)), quaternion_exp((out, 0.0, 0.0)))
            _turn_ball(machine, biped.arm[k], turn)
        if biped.elbow[k] != NONE:
            bend = work.pose[STANCE_ELBOW] if k == stance else work.pose[SWING_ELBOW]
            work.goal[tree.position_start[biped.elbow[k]]] += biped.elbow_sign[k] * bend
    if biped.head[0] != NONE:
        _turn_ball(machine, biped.head[0], quaternion_exp((0.0, work.pose[HEAD_PITCH], 0.0)))


@inlined_kernel
def _turn_ball(machine: Machine, b: int, turn: Quaternion) -> None:
    """Turn the goal of a ball, in the axes of the body above."""
    tree, work = machine.tree, machine.work
    offset = quaternion_row(tree.offset_quaternion, b)
    i = tree.position_start[b]
    own = (work.goal[i], work.goal[i + 1], work.goal[i + 2], work.goal[i + 3])
    turned = quaternion_multiply(turn, quaternion_multiply(offset, own))
    set_ball(work.goal, i, quaternion_multiply(quaternion_conjugate(offset), turned))


@inlined_kernel
def _face(machine: Machine, b: int, wanted: Quaternion) -> None:
    """The error of a body's joint is by how much the body is turned otherwise in the world than wanted."""
    tree, bodies, biped, work = machine.tree, machine.bodies, machine.biped, machine.work
    own = quaternion_row(bodies.quaternion, b)
    turn = quaternion_log(quaternion_multiply(wanted, quaternion_conjugate(own)))
    start = tree.velocity_start[b]
    for i in range(start, start + VELOCITIES_OF_JOINT[tree.joint[b]]):
        # about the vertical an ankle keeps its place, or the leg would spin over a foot that stands
        if b == biped.trunk[0] or abs(bodies.motion[i, 5]) < UPRIGHT:
            work.error[i] = dot(row_angular(bodies.motion, i), turn)


@kernel
def _hold(machine: Machine, v: Array, dt: float) -> None:
    """PD and gravity of every joint, as if none stood."""
    tree, bodies, biped, walk = machine.tree, machine.bodies, machine.biped, machine.walk
    work = machine.work
    after = dt if walk.implicit[0] else 0.0
    gravity = vector_at(tree.gravity, 0)
    for i in range(6, v.shape[0]):
        b = tree.velocity_body[i]
        lacks = work.speed[i] - v[i]
        work.pd[i] = biped.stiffness[i] * (work.error[i] + after * lacks) + biped.damping[i] * lacks
        weight = scale(bodies.composite[b, 0], gravity)
        moment = cross((bodies.composite[b, 1], bodies.composite[b, 2], bodies.composite[b, 3]), gravity)
        work.torque[i] = work.pd[i] - dot(row(bodies.motion, i), weight) - dot(row_angular(bodies.motion, i), moment)
        work.implicit[i] = after * (biped.damping[i] + after * biped.stiffness[i])


@kernel
def _touches(machine: Machine, foot: int) -> bool:
    """Whether the foot, or what hangs from it, is on the ground."""
    tree, contacts = machine.tree, machine.contacts
    for c in range(contacts.filled[0]):
        b = contacts.body[c]
        if (b == foot or tree.parent[b] == foot) and contacts.gap[c] < TOUCHING:
            return True
    return False


@inlined_kernel
def _orientation(yaw: float, pitch: float, roll: float) -> Quaternion:
    """About the body's own forward axis, then the left one, then the vertical."""
    turn = quaternion_multiply(quaternion_exp((0.0, 0.0, yaw)), quaternion_exp((0.0, pitch, 0.0)))
    return quaternion_multiply(turn, quaternion_exp((roll, 0.0, 0.0)))
