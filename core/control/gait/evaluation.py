# SPDX-License-Identifier: GPL-3.0-or-later
"""One step's law, Carensac et al., section 3, on Coros et al. 2010, as a kernel that allocates nothing.

Everything is evaluated where the simulator solves its step, at q_{k+1} and v_k, and along the heading of the moment:

    key poses    angles of the style between its poses, for all joints but the swinging leg's
    foot         on its way to where the inverted pendulum wants it, by inverse kinematics now and a moment later
    PD           Kp (q_d - q_{k+1} - h v_k) + Kd (v_d - v_k); what v_{k+1} changes goes on M's diagonal, h Kd + h² Kp
    gravity      torques that hold up what hangs from each joint but the standing leg's
    velocity     a force on the centre of mass for the speed that it lacks, by the standing leg's joints
    height       the same upwards, by the standing knee alone, which bears its share of the weight besides
    pelvis       turned by the standing hip, which takes over what waist and swinging hip exert on the pelvis
    ankle        no more than the ground can answer within the sole
"""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...character.tree import VELOCITIES_OF_JOINT, Tree
from ...contact.detection import Contacts
from ...dynamics.centroidal import center_of_mass_from_root, momentum_about_root
from ...dynamics.kinematics import difference_positions, point_velocity, vector_at
from ...dynamics.workspace import Workspace
from ...maths.dense import copy_into
from ...maths.kernel import inlined_kernel, inner_kernel
from ...maths.rotations import (
    Quaternion,
    quaternion_conjugate,
    quaternion_exp,
    quaternion_log,
    quaternion_multiply,
    quaternion_rotate,
    quaternion_row,
)
from ...maths.vectors import Vector, add, add_scaled, cross, dot, row, row_angular, scale, subtract
from .biped import NONE, Biped
from .leg import aim_thigh, bend_knee
from .pendulum import step_length
from .style import CHANNELS
from .velocity import BINS

Array = NDArray[np.float64]

PELVIS_PITCH, PELVIS_ROLL, PELVIS_YAW, TORSO_PITCH, TORSO_ROLL, TORSO_YAW, HEAD_PITCH = range(7)
STANCE_KNEE, SWING_FOOT, ARMS_OUT, STANCE_ARM, SWING_ARM, STANCE_ELBOW, SWING_ELBOW = range(7, len(CHANNELS))

LEFT, RIGHT = 0, 1
AHEAD = 0.01  # s, after which the swinging leg's pose gives its velocity
LANDING = 0.6  # phase from which a touch ends the step
SETTLING = 0.4  # phase by which the standing knee has left the angle it landed with
PATIENCE = 1.5  # phase at which it ends without one
SINKING = 0.4  # m/s at which a foot that is late goes on down
TOUCHING = 1e-3  # m
# Horizontal force on the centre of mass at most, of the weight.
PULL = 0.15
UPRIGHT = 0.8  # cosine of the largest angle between the vertical and an axis that counts as vertical
# Share of the sole within which the ground's force stays, and the time over which that force is averaged, s.
WITHIN, AVERAGE = 0.9, 0.02
# A step reaches this share of the hips' height at most, and the feet come this near sideways, m.
REACH, NARROWEST = 0.6, 0.05


class Walk(NamedTuple):
    """What is wanted, written before each step."""

    phases: Array  # (np,) of the key poses
    poses: Array  # (np, channels)
    numbers: Array  # (3,) step_seconds, clearance, width of the style
    speed: Array  # (2,) forward and to the left, m/s
    curve: Array  # (2, BINS) learnt, added to it; the second away from the standing side
    offset: Array  # (2,) learnt, the same
    heading: Array  # (1,) rad
    feedback: Array  # (7,) gains.Feedback
    implicit: NDArray[np.bool_]  # (1,) whether PD looks at the step's end


class Memory(NamedTuple):
    """What outlives a step of time."""

    stance: NDArray[np.int64]  # (1,) LEFT or RIGHT
    clock: Array  # (1,) s since the step began
    start: Array  # (3,) swinging ankle from the centre of mass along the heading, height from the standing ankle, m
    landed: Array  # (1,) bend of the standing knee as the step began, rad
    fresh: NDArray[np.bool_]  # (1,) the step begins: `start` and `landed` are to be found
    force: Array  # (2,) the ground's upward force, averaged, N; the centre's speed upwards before, m/s
    seen: Array  # (2, BINS) sums of speeds over the step
    counted: Array  # (BINS,) of them


class Scratch(NamedTuple):
    """Arrays of one step, and the law."""

    pose: Array  # (channels,)
    goal: Array  # (nq,)
    speed: Array  # (nv,) goal's velocity
    error: Array  # (nv,)
    pd: Array  # (nv,) torque
    torque: Array  # (nv,) the law
    implicit: Array  # (nv,)


def make_memory() -> Memory:
    """Allocate."""
    return Memory(
        stance=np.zeros(1, dtype=np.int64),
        clock=np.zeros(1),
        start=np.zeros(3),
        landed=np.zeros(1),
        fresh=np.ones(1, dtype=np.bool_),
        force=np.zeros(2),
        seen=np.zeros((2, BINS)),
        counted=np.zeros(BINS),
    )


def make_scratch(nq: int, nv: int) -> Scratch:
    """Allocate."""
    return Scratch(
        pose=np.zeros(len(CHANNELS)),
        goal=np.zeros(nq),
        speed=np.zeros(nv),
        error=np.zeros(nv),
        pd=np.zeros(nv),
        torque=np.zeros(nv),
        implicit=np.zeros(nv),
    )


@inner_kernel
def update_law(
    tree: Tree,
    bodies: Workspace,
    contacts: Contacts,
    biped: Biped,
    walk: Walk,
    memory: Memory,
    work: Scratch,
    q: Array,
    v: Array,
    dt: float,
) -> bool:
    """Fill `work.torque` and `work.implicit`; True where the step is over, and the other leg is to stand."""
    stance = memory.stance[0]
    swing = 1 - stance
    side = 1.0 if stance == LEFT else -1.0
    phase = memory.clock[0] / walk.numbers[0]
    heading = walk.heading[0]
    _interpolate(walk, min(phase, 1.0), work.pose)
    mass = biped.numbers[0]
    center = add(row(bodies.position, 0), center_of_mass_from_root(bodies.composite))
    velocity = scale(1.0 / mass, momentum_about_root(bodies.momentum_map, v)[0])
    along = _turned(velocity, -heading)
    _note(memory, along, side, phase, dt, mass, biped.numbers[2])

    copy_into(biped.base, work.goal)
    work.speed[:] = 0.0
    _pose_arms(tree, biped, work, stance)
    knee = tree.position_start[biped.shank[stance]]
    if memory.fresh[0]:
        memory.landed[0] = q[knee] * biped.knee_sign[stance]
    # a knee that stretched at once after landing would throw the character up
    yields = max(1.0 - phase / SETTLING, 0.0)
    work.pose[STANCE_KNEE] += yields * (memory.landed[0] - work.pose[STANCE_KNEE])
    work.goal[knee] = biped.knee_sign[stance] * work.pose[STANCE_KNEE]
    _pose_swing(tree, bodies, biped, walk, memory, work, center, velocity, phase)
    difference_positions(tree, q, work.goal, work.error)
    yaw, roll = heading + side * work.pose[PELVIS_YAW], -side * work.pose[PELVIS_ROLL]
    pelvis = _orientation(yaw, work.pose[PELVIS_PITCH], roll)
    yaw, roll = heading + side * work.pose[TORSO_YAW], -side * work.pose[TORSO_ROLL]
    _face(tree, bodies, biped, work, biped.trunk[0], _orientation(yaw, work.pose[TORSO_PITCH], roll))
    # the standing foot is to lie flat, wherever it points: friction holds that, and the ankle must not pivot it
    pointing = math.atan2(bodies.rotation[biped.foot[stance], 1, 0], bodies.rotation[biped.foot[stance], 0, 0])
    _face(tree, bodies, biped, work, biped.foot[stance], _orientation(pointing, 0.0, 0.0))
    _face(tree, bodies, biped, work, biped.foot[swing], _orientation(heading, work.pose[SWING_FOOT], 0.0))
    _hold(tree, bodies, biped, walk, work, v, dt)
    _stand(tree, bodies, biped, walk, memory, work, center, along, phase, pelvis, dt)

    memory.clock[0] += dt
    return phase >= PATIENCE or (phase >= LANDING and _touches(tree, contacts, biped.foot[swing]))


@inner_kernel
def _interpolate(walk: Walk, phase: float, out: Array) -> None:
    """Angles between the two poses around a phase."""
    after = 1
    while walk.phases[after] < phase:
        after += 1
    before = after - 1
    share = (phase - walk.phases[before]) / (walk.phases[after] - walk.phases[before])
    for c in range(out.shape[0]):
        out[c] = (1.0 - share) * walk.poses[before, c] + share * walk.poses[after, c]


@inner_kernel
def _note(memory: Memory, along: Vector, side: float, phase: float, dt: float, mass: float, gravity: float) -> None:
    """Remember the velocity for learning, and what upward force its change tells of."""
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


@inner_kernel
def _pose_arms(tree: Tree, biped: Biped, work: Scratch, stance: int) -> None:
    """Arms swing about the trunk's left axis, elbows bend, the head nods."""
    for k in range(2):
        forward = work.pose[STANCE_ARM] if k == stance else work.pose[SWING_ARM]
        out = work.pose[ARMS_OUT] if k == LEFT else -work.pose[ARMS_OUT]
        if biped.arm[k] != NONE:
            turn = quaternion_multiply(quaternion_exp((0.0, -forward, 0.0)), quaternion_exp((out, 0.0, 0.0)))
            _turn_ball(tree, work, biped.arm[k], turn)
        if biped.elbow[k] != NONE:
            bend = work.pose[STANCE_ELBOW] if k == stance else work.pose[SWING_ELBOW]
            work.goal[tree.position_start[biped.elbow[k]]] += biped.elbow_sign[k] * bend
    if biped.head[0] != NONE:
        _turn_ball(tree, work, biped.head[0], quaternion_exp((0.0, work.pose[HEAD_PITCH], 0.0)))


@inlined_kernel
def _turn_ball(tree: Tree, work: Scratch, b: int, turn: Quaternion) -> None:
    """Turn the goal of a ball, in the axes of the body above."""
    offset = quaternion_row(tree.offset_quaternion, b)
    i = tree.position_start[b]
    own = (work.goal[i], work.goal[i + 1], work.goal[i + 2], work.goal[i + 3])
    turned = quaternion_multiply(turn, quaternion_multiply(offset, own))
    _set_ball(work.goal, i, quaternion_multiply(quaternion_conjugate(offset), turned))


@inlined_kernel
def _set_ball(goal: Array, i: int, a: Quaternion) -> None:
    goal[i], goal[i + 1], goal[i + 2], goal[i + 3] = a[0], a[1], a[2], a[3]


@inner_kernel
def _pose_swing(
    tree: Tree,
    bodies: Workspace,
    biped: Biped,
    walk: Walk,
    memory: Memory,
    work: Scratch,
    center: Vector,
    velocity: Vector,
    phase: float,
) -> None:
    """The swinging leg's goal, and by where it would be a moment later its velocity."""
    swing, heading = 1 - memory.stance[0], walk.heading[0]
    ankle, standing = row(bodies.position, biped.foot[swing]), row(bodies.position, biped.foot[1 - swing])
    if memory.fresh[0]:
        start = _turned(subtract(ankle, center), -heading)
        memory.start[0], memory.start[1], memory.start[2] = start[0], start[1], ankle[2] - standing[2]
        memory.fresh[0] = False
    thigh = biped.thigh[swing]
    hip = row(bodies.position, thigh)
    upper, lower, axis = row(biped.upper_leg, swing), row(biped.lower_leg, swing), row(biped.knee_axis, swing)
    sign = biped.knee_sign[swing]
    sideways = _turned((0.0, sign, 0.0), heading)
    above = quaternion_multiply(quaternion_row(bodies.quaternion, 0), quaternion_row(tree.offset_quaternion, thigh))
    hip_velocity = point_velocity(bodies, 0, hip)
    i, k = tree.position_start[thigh], tree.velocity_start[thigh]
    j, l = tree.position_start[biped.shank[swing]], tree.velocity_start[biped.shank[swing]]
    first, knee = (1.0, 0.0, 0.0, 0.0), 0.0
    for moment in range(2):
        later = AHEAD * moment
        place = add_scaled(center, later, velocity)
        target = _swing_target(biped, walk, memory, place, velocity, standing, phase + later / walk.numbers[0], work)
        reach = subtract(target, add_scaled(hip, later, hip_velocity))
        bend = bend_knee(upper, lower, axis, math.sqrt(dot(reach, reach)), sign)
        orientation = aim_thigh(upper, lower, axis, bend, reach, sideways)
        turn = quaternion_multiply(quaternion_conjugate(above), orientation)
        if moment == 0:
            first, knee = turn, bend
            _set_ball(work.goal, i, turn)
            work.goal[j] = bend
        else:
            rate = quaternion_log(quaternion_multiply(quaternion_conjugate(first), turn))
            for a in range(3):
                work.speed[k + a] = rate[a] / AHEAD
            work.speed[l] = (bend - knee) / AHEAD


@inner_kernel
def _swing_target(
    biped: Biped,
    walk: Walk,
    memory: Memory,
    center: Vector,
    velocity: Vector,
    standing: Vector,
    phase: float,
    work: Scratch,
) -> Vector:
    """Where the swinging ankle is to be, in the world: from where it left to where the pendulum comes to rest."""
    side = 1.0 if memory.stance[0] == LEFT else -1.0
    heading, height, gravity = walk.heading[0], center[2] - standing[2], biped.numbers[2]
    along = _turned(velocity, -heading)
    tall = max(height + biped.sole[1 - memory.stance[0], 3], 0.1)
    most = REACH * biped.numbers[1]
    x = walk.feedback[2] * step_length(tall, along[0], gravity) - walk.feedback[4] * walk.speed[0]
    y = walk.feedback[3] * step_length(tall, along[1], gravity) - walk.feedback[4] * walk.speed[1]
    x = min(max(x, -most), most)
    y = min(max(y - side * walk.numbers[2], -most), most)
    # the feet do not cross: the standing one's place, seen from the centre
    beside = _turned(subtract(standing, center), -heading)[1]
    y = min(y, beside - NARROWEST) if side > 0.0 else max(y, beside + NARROWEST)
    left = (1.0 - min(phase, 1.0)) ** 2
    x, y = left * memory.start[0] + (1.0 - left) * x, left * memory.start[1] + (1.0 - left) * y
    lift = walk.numbers[1] * math.sin(math.pi * min(phase, 1.0)) - SINKING * walk.numbers[0] * max(phase - 1.0, 0.0)
    swing, stance = 1 - memory.stance[0], memory.stance[0]
    pitch = work.pose[SWING_FOOT]
    toes_down = max(biped.sole[swing, 1] * math.sin(pitch), biped.sole[swing, 0] * math.sin(pitch))
    ground = biped.sole[swing, 3] * math.cos(pitch) + toes_down - biped.sole[stance, 3]
    z = standing[2] + ground + left * max(memory.start[2] - ground, 0.0) + lift
    flat = _turned((x, y, 0.0), heading)
    return center[0] + flat[0], center[1] + flat[1], z


@inlined_kernel
def _face(tree: Tree, bodies: Workspace, biped: Biped, work: Scratch, b: int, wanted: Quaternion) -> None:
    """The error of a body's joint is by how much the body is turned otherwise in the world than wanted."""
    own = quaternion_row(bodies.quaternion, b)
    turn = quaternion_log(quaternion_multiply(wanted, quaternion_conjugate(own)))
    start = tree.velocity_start[b]
    for i in range(start, start + VELOCITIES_OF_JOINT[tree.joint[b]]):
        # about the vertical an ankle keeps its place, or the leg would spin over a foot that stands
        if b == biped.trunk[0] or abs(bodies.motion[i, 5]) < UPRIGHT:
            work.error[i] = dot(row_angular(bodies.motion, i), turn)


@inner_kernel
def _hold(tree: Tree, bodies: Workspace, biped: Biped, walk: Walk, work: Scratch, v: Array, dt: float) -> None:
    """PD and gravity of every joint, as if none stood."""
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


@inner_kernel
def _stand(
    tree: Tree,
    bodies: Workspace,
    biped: Biped,
    walk: Walk,
    memory: Memory,
    work: Scratch,
    center: Vector,
    along: Vector,
    phase: float,
    wanted: Quaternion,
    dt: float,
) -> None:
    """The standing leg: what its joints add for velocity, height and the pelvis, and how far its ankle may go."""
    stance, swing, heading = memory.stance[0], 1 - memory.stance[0], walk.heading[0]
    mass, side = biped.numbers[0], 1.0 if memory.stance[0] == LEFT else -1.0
    weight = mass * biped.numbers[2]
    k = min(int(min(phase, 1.0) * BINS), BINS - 1)
    x = walk.speed[0] + walk.curve[0, k] + walk.offset[0] - along[0]
    y = walk.speed[1] - side * (walk.curve[1, k] + walk.offset[1]) - along[1]
    most = PULL * weight
    x = min(max(mass * walk.feedback[0] * x, -most), most)
    y = min(max(mass * walk.feedback[1] * y, -most), most)
    force = _turned((x, y, 0.0), heading)
    hip, foot, shank = row(bodies.position, biped.thigh[stance]), biped.foot[stance], biped.shank[stance]
    ankle = row(bodies.position, foot)

    i = tree.velocity_start[shank]
    upper, lower = row(biped.upper_leg, stance), row(biped.lower_leg, stance)
    axis = row(biped.knee_axis, stance)
    bent = biped.knee_sign[stance] * work.pose[STANCE_KNEE]
    leg = add(upper, quaternion_rotate(quaternion_exp(scale(bent, axis)), lower))
    lacks = math.sqrt(dot(leg, leg)) - (hip[2] - ankle[2])
    up = mass * walk.feedback[5] * lacks + walk.feedback[6] * weight
    pushed = (force[0], force[1], min(max(up, 0.0), 2.0 * weight))
    work.torque[i] = work.pd[i] - _lever(bodies, i, center, pushed)

    start = tree.velocity_start[foot]
    held = WITHIN * memory.force[0]
    for i in range(start, start + VELOCITIES_OF_JOINT[tree.joint[foot]]):
        torque = work.pd[i] - _lever(bodies, i, center, force)
        turning = _turned(row_angular(bodies.motion, i), -heading)
        # a torque about the left presses the tip down, the other way round the heel
        ahead, behind = held * biped.sole[stance, 1], held * biped.sole[stance, 0]
        beside = held * biped.sole[stance, 2]
        if abs(turning[2]) > UPRIGHT:
            work.torque[i] = torque
        elif abs(turning[1]) > abs(turning[0]):
            if turning[1] < 0.0:
                ahead, behind = -behind, -ahead
            work.torque[i] = min(max(torque, behind), ahead)
        else:
            work.torque[i] = min(max(torque, -beside), beside)

    own = quaternion_row(bodies.quaternion, 0)
    error = quaternion_log(quaternion_multiply(wanted, quaternion_conjugate(own)))
    spin = row_angular(bodies.velocity, 0)
    after = dt if walk.implicit[0] else 0.0
    total = scale(biped.pelvis[0], add_scaled(error, -after, spin))
    total = add_scaled(total, -biped.pelvis[1], spin)
    total = add(total, cross(subtract(center, hip), force))
    for b in (biped.trunk[0], biped.thigh[swing]):
        first = tree.velocity_start[b]
        for i in range(first, first + VELOCITIES_OF_JOINT[tree.joint[b]]):
            total = add_scaled(total, work.torque[i], row_angular(bodies.motion, i))
    first = tree.velocity_start[biped.thigh[stance]]
    for i in range(first, first + 3):
        work.torque[i] = -dot(row_angular(bodies.motion, i), total)
        work.implicit[i] = after * (biped.pelvis[1] + after * biped.pelvis[0])


@inlined_kernel
def _lever(bodies: Workspace, i: int, place: Vector, force: Vector) -> float:
    """Axis of velocity i times the moment, about its joint, of a force at a place in the world."""
    arm = subtract(place, row(bodies.position, 0))
    return dot(row(bodies.motion, i), force) + dot(row_angular(bodies.motion, i), cross(arm, force))


@inner_kernel
def _touches(tree: Tree, contacts: Contacts, foot: int) -> bool:
    """Whether the foot, or what hangs from it, is on the ground."""
    for c in range(contacts.filled[0]):
        b = contacts.body[c]
        if (b == foot or tree.parent[b] == foot) and contacts.gap[c] < TOUCHING:
            return True
    return False


@inlined_kernel
def _turned(a: Vector, angle: float) -> Vector:
    """Turned about the vertical."""
    c, s = math.cos(angle), math.sin(angle)
    return c * a[0] - s * a[1], s * a[0] + c * a[1], a[2]


@inlined_kernel
def _orientation(yaw: float, pitch: float, roll: float) -> Quaternion:
    """About the body's own forward axis, then the left one, then the vertical."""
    turn = quaternion_multiply(quaternion_exp((0.0, 0.0, yaw)), quaternion_exp((0.0, pitch, 0.0)))
    return quaternion_multiply(turn, quaternion_exp((roll, 0.0, 0.0)))
