# SPDX-License-Identifier: GPL-3.0-or-later
"""A walk cycle for the mannequin, keyed the way an animator keys one.

Each step has the four classic poses: contact, down, passing, up. The body's channels are set at these; the second step
mirrors the first. The feet are placed (heel strike, flat, heel off over bent toes, toe off, swing) at the same poses
and at a few breakdowns between them; a two-bone solution turns their places into keys of thigh, shin, foot and toe.
Timing and ranges of motion are those of level walking at 1.3 m/s (Winter, "Biomechanics and Motor Control of Human
Movement"; Perry, "Gait Analysis"), in round numbers.

Lengths are in metres and angles in degrees. The figure walks towards -Y.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..blender_addon.typed import as_kind
from .mannequin import (
    ANKLE_HEIGHT,
    ANKLE_PLACE,
    ARM_ABDUCTION,
    BALL_HEIGHT,
    BALL_PLACE,
    ELBOW_FLEXION,
    FOOT_LENGTH,
    STATURE,
    cubic,
)

if TYPE_CHECKING:
    import bpy

Vector = NDArray[np.float64]
Matrix = NDArray[np.float64]

FRAMES_PER_SECOND = 24
FRAMES_PER_STEP = 13
FRAMES_PER_CYCLE = 2 * FRAMES_PER_STEP
STRIDE = 1.40
STEP_WIDTH = 0.09
TOE_OUT = 6.0
HEEL_STRIKE_LEAD = 0.305
"""How far ahead of the hips a foot comes down."""

CONTACT, DOWN, PASSING, UP = 0, 3, 7, 10
"""Frames of the four poses within a step."""
BREAKDOWNS = (2, 5, 12)
STEP_KEYS = sorted([CONTACT, DOWN, PASSING, UP, *BREAKDOWNS])
KEYS = [*STEP_KEYS, *(FRAMES_PER_STEP + key for key in STEP_KEYS)]

# The body at contact, down, passing and up of the step on the left foot. "Even" channels repeat in the step on the
# right, "odd" ones change sign; positive is: left side forward, to the left, right side lowered.
EVEN_CHANNELS = {
    "hip_height": (0.892, 0.892, 0.915, 0.912),
    "hip_advance": (0.006, 0.004, -0.006, -0.002),
    "pelvis_lean": (3.0, 4.0, 3.0, 2.5),
    "chest_lean": (3.5, 4.5, 3.0, 2.5),
    "head_lean": (1.0, 2.0, 1.0, 0.5),
}
ODD_CHANNELS = {
    "hip_shift": (0.003, 0.014, 0.022, 0.014),
    "pelvis_yaw": (6.0, 4.5, -1.0, -4.5),
    "pelvis_list": (1.0, 4.0, 3.0, 0.5),
    "chest_yaw": (-7.0, -5.5, 0.5, 5.0),
    "chest_list": (-0.5, -2.0, -1.5, 0.0),
}

# The left arm over a whole cycle that starts at the contact of the left foot; the right arm is half a cycle later. The
# elbow and the hand follow the shoulder by a frame or two.
ARM_CHANNELS = {
    "swing": (-24.0, -22.0, -5.0, 9.0, 20.0, 19.0, 4.0, -13.0),
    "elbow": (14.0, 12.0, 13.0, 18.0, 24.0, 27.0, 23.0, 18.0),
    "wrist": (6.0, 4.0, -3.0, -4.0, 2.0, 7.0, 11.0, 9.0),
}
ARM_HANG = 9.0
"""How far the arms hang from the vertical, seen from the front."""
ARM_TWIST = 14.0
"""How far they are turned inwards."""


class Stance(NamedTuple):
    """A foot on the ground: pitched (heel up is positive) about its heel, the ball or the tip of the toes."""

    pivot: str
    pitch: float
    toes: float  # pitch of the toes


class Swing(NamedTuple):
    """A foot in the air: how far its ankle is on its way (0-1), the ankle's height, and the pitch of foot and toes."""

    progress: float
    height: float
    pitch: float
    toes: float


# The left foot, by frames since its own contact; the right one is half a cycle later.
FOOT_KEYS: dict[int, Stance | Swing] = {
    0: Stance("heel", -20.0, -26.0),
    2: Stance("heel", -6.5, -7.0),
    3: Stance("heel", -1.5, 0.0),
    5: Stance("ball", 0.0, 0.0),
    7: Stance("ball", 0.0, 0.0),
    10: Stance("ball", 9.0, 0.0),
    12: Stance("ball", 20.0, 0.0),
    13: Stance("ball", 29.0, 0.0),
    15: Stance("tip", 55.5, 14.0),
    16: Stance("tip", 70.0, 34.0),
    18: Swing(0.165, 0.217, 62.0, 52.0),
    20: Swing(0.41, 0.180, 30.0, 25.0),
    23: Swing(0.82, 0.105, -13.0, -17.0),
    25: Swing(0.975, 0.094, -20.0, -26.0),
}

# The foot in its own plane: (forward, up) from the ankle, m. Heel and tip are where the flat sole begins and ends.
ANKLE_UP = ANKLE_HEIGHT * STATURE
HEEL = np.array([-(ANKLE_PLACE - 0.06) * FOOT_LENGTH * STATURE, -ANKLE_UP])
BALL = np.array([(BALL_PLACE - ANKLE_PLACE) * FOOT_LENGTH * STATURE, BALL_HEIGHT * STATURE - ANKLE_UP])
TIP = np.array([(0.95 - ANKLE_PLACE) * FOOT_LENGTH * STATURE, -ANKLE_UP])


def rotation(axis: str, degrees: float) -> Matrix:
    """Return the matrix of a turn about a coordinate axis."""
    c, s = np.cos(np.radians(degrees)), np.sin(np.radians(degrees))
    i, j = {"x": (1, 2), "y": (2, 0), "z": (0, 1)}[axis]
    matrix = np.eye(3)
    matrix[i, i] = matrix[j, j] = c
    matrix[i, j], matrix[j, i] = -s, s
    return matrix


def pitched(offset: Vector, degrees: float) -> Vector:
    """Turn (forward, up) so that the toes go down."""
    c, s = np.cos(np.radians(degrees)), np.sin(np.radians(degrees))
    return np.array([c * offset[0] + s * offset[1], -s * offset[0] + c * offset[1]])


def periodic_slopes(frames: Vector, values: Vector) -> Vector:
    """Return each key's slope per frame: that of the parabola through it and its neighbours, around the cycle."""
    before = np.roll(frames, 1)
    before[0] -= FRAMES_PER_CYCLE
    after = np.roll(frames, -1)
    after[-1] += FRAMES_PER_CYCLE
    step_in, step_out = frames - before, after - frames
    slope_in = (values - np.roll(values, 1, axis=0)) / step_in[:, None]
    slope_out = (np.roll(values, -1, axis=0) - values) / step_out[:, None]
    slopes: Vector = (slope_in * step_out[:, None] + slope_out * step_in[:, None]) / (step_in + step_out)[:, None]
    return slopes


def periodic_curve(frames: Vector, values: Vector, at: float) -> Vector:
    """Evaluate the curve through a cycle's keys."""
    slopes = periodic_slopes(frames, values)
    at %= FRAMES_PER_CYCLE
    i = int(np.searchsorted(frames, at, side="right")) - 1
    j = (i + 1) % len(frames)
    width = (frames[j] - frames[i]) % FRAMES_PER_CYCLE
    return cubic((at - frames[i]) / width, width, (values[i], values[j]), (slopes[i], slopes[j]))


def body_at(frame: float) -> dict[str, float]:
    """Return the body's channels at a frame of the cycle."""
    poses = np.array([CONTACT, DOWN, PASSING, UP], dtype=float)
    poses = np.concatenate([poses, poses + FRAMES_PER_STEP])
    columns: dict[str, tuple[float, ...]] = {name: (*values, *values) for name, values in EVEN_CHANNELS.items()}
    columns |= {name: (*values, *(-v for v in values)) for name, values in ODD_CHANNELS.items()}
    values = periodic_curve(poses, np.array(list(columns.values())).T, frame)
    channels = dict(zip(columns, values.tolist(), strict=True))
    arm_values = np.array(list(ARM_CHANNELS.values())).T
    for suffix, lag in ((".L", 0), (".R", FRAMES_PER_STEP)):
        arm = periodic_curve(poses, arm_values, frame + lag)
        channels |= {name + suffix: value for name, value in zip(ARM_CHANNELS, arm.tolist(), strict=True)}
    return channels


def stance_ankle(foot: Stance) -> Vector:
    """Return the ankle (forward of where it stands when the foot is flat, up from the floor)."""
    ankle = np.array([0.0, ANKLE_UP])
    if foot.pivot == "heel":
        ankle += HEEL + pitched(-HEEL, foot.pitch)
    else:
        ball = BALL if foot.pivot == "ball" else TIP + pitched(BALL - TIP, foot.toes)
        ankle += ball + pitched(-BALL, foot.pitch)
    return ankle


TOE_OFF = max(key for key, foot in FOOT_KEYS.items() if isinstance(foot, Stance))


def foot_at(key: int) -> tuple[Vector, float, float]:
    """Return an ankle (outward and forward of its footprint, up), the pitch of the foot and that of the toes."""
    foot = FOOT_KEYS[key]
    if isinstance(foot, Stance):
        forward, up = stance_ankle(foot)
        outward, forward = forward * np.sin(np.radians(TOE_OUT)), forward * np.cos(np.radians(TOE_OUT))
        return np.array([outward, forward, up]), foot.pitch, foot.toes
    leave, arrive = foot_at(TOE_OFF)[0], foot_at(CONTACT)[0] + [0.0, STRIDE, 0.0]
    ankle = leave + foot.progress * (arrive - leave)
    ankle[2] = foot.height
    return ankle, foot.pitch, foot.toes


class Rig:
    """Rest pose of an armature with the mannequin's bones."""

    def __init__(self, armature: bpy.types.Object) -> None:
        bones = armature.data.bones
        self.names = [bone.name for bone in bones]
        self.parent = {bone.name: bone.parent.name if bone.parent else None for bone in bones}
        self.rest = {bone.name: np.array(bone.matrix_local.to_3x3()) for bone in bones}
        self.head = {bone.name: np.array(bone.head_local) for bone in bones}
        self.length = {bone.name: float(bone.length) for bone in bones}

    def local(self, name: str, world: dict[str, Matrix]) -> Matrix:
        """Return a bone's own rotation, as its pose channels have it, from world rotations."""
        parent = self.parent[name]
        carried = np.eye(3) if parent is None else world[parent] @ self.rest[parent].T
        own: Matrix = self.rest[name].T @ carried.T @ world[name]
        return own


def leg_pose(rig: Rig, suffix: str, hip: Vector, ankle: Vector, forward: Vector) -> tuple[Matrix, Matrix]:
    """Return the world rotations of thigh and shin that put the ankle in place, the knee towards `forward`."""
    thigh, shin = rig.length["thigh" + suffix], rig.length["shin" + suffix]
    reach = ankle - hip
    distance = float(np.linalg.norm(reach))
    if distance >= thigh + shin:
        raise ValueError(f"the leg is {distance - thigh - shin:.3f} m too short for this pose")
    along = reach / distance
    x = np.cross(forward, along)
    x /= np.linalg.norm(x)
    front = np.cross(along, x)
    cosine = (thigh**2 + distance**2 - shin**2) / (2 * thigh * distance)
    knee = hip + thigh * (cosine * along + np.sqrt(1 - cosine**2) * front)
    rotations = []
    for start, end in ((hip, knee), (knee, ankle)):
        y = (end - start) / np.linalg.norm(end - start)
        rotations.append(np.column_stack([x, y, np.cross(x, y)]))
    return rotations[0], rotations[1]


def pose_at(rig: Rig, key: int) -> tuple[Vector, dict[str, Matrix]]:
    """Return the pelvis' place and every bone's own rotation at one key of the cycle."""
    body = body_at(key)

    def facing(yaw: float, list_: float, lean: float) -> Matrix:
        return rotation("z", -yaw) @ rotation("y", -list_) @ rotation("x", lean)

    pelvis = np.array([body["pelvis_yaw"], body["pelvis_list"], body["pelvis_lean"]])
    chest = np.array([body["chest_yaw"], body["chest_list"], body["chest_lean"]])
    head = np.array([0.0, 0.0, body["head_lean"]])
    spine, neck = (pelvis + chest) / 2, (chest + head) / 2
    trunk = {"pelvis": pelvis, "spine": spine, "chest": chest, "neck": neck, "head": head}
    world = {name: facing(*angles) @ rig.rest[name] for name, angles in trunk.items()}
    advance = STRIDE * key / FRAMES_PER_CYCLE + body["hip_advance"]
    place = np.array([body["hip_shift"], -advance, body["hip_height"]])

    for suffix, side in ((".L", 1.0), (".R", -1.0)):
        add_arm(rig, world, body, suffix, side)
        step_key = key if side > 0 else (key + FRAMES_PER_STEP) % FRAMES_PER_CYCLE
        # Where the footprint lies: the left one at 0; the right one half a stride behind until its next contact.
        footprint = HEEL_STRIKE_LEAD + (0.0 if side > 0 else (-0.5 if key < FRAMES_PER_STEP else 0.5) * STRIDE)
        add_leg(rig, world, place, suffix, side, step_key, footprint)
    return place, {name: rig.local(name, world) for name in rig.names}


def add_arm(rig: Rig, world: dict[str, Matrix], body: dict[str, float], suffix: str, side: float) -> None:
    """Hang an arm from the chest and swing it."""
    swing = body["swing" + suffix]
    chest = world["chest"] @ rig.rest["chest"].T
    shoulder = chest @ rotation("z", -side * 0.15 * swing)
    world["clavicle" + suffix] = shoulder @ rig.rest["clavicle" + suffix]
    hang = rotation("y", side * (np.degrees(ARM_ABDUCTION) - ARM_HANG))
    arm = chest @ rotation("x", -swing) @ rotation("z", -side * ARM_TWIST) @ hang
    world["upper_arm" + suffix] = arm @ rig.rest["upper_arm" + suffix]
    bend = {"forearm": body["elbow" + suffix] - np.degrees(ELBOW_FLEXION), "hand": body["wrist" + suffix]}
    for name, angle in bend.items():
        bone, parent = name + suffix, str(rig.parent[name + suffix])
        world[bone] = world[parent] @ rig.rest[parent].T @ rig.rest[bone] @ rotation("x", angle)


def add_leg(
    rig: Rig,
    world: dict[str, Matrix],
    place: Vector,
    suffix: str,
    side: float,
    key: int,
    footprint: float,
) -> None:
    """Put a foot where its key has it and reach for it with the leg."""
    (outward, forward, up), pitch, toes = foot_at(key)
    ankle = np.array([side * (STEP_WIDTH / 2 + outward), -(footprint + forward), up])
    pelvis = world["pelvis"] @ rig.rest["pelvis"].T
    hip = place + pelvis @ (rig.head["thigh" + suffix] - rig.head["pelvis"])
    turn = rotation("z", side * TOE_OUT)
    world["thigh" + suffix], world["shin" + suffix] = leg_pose(rig, suffix, hip, ankle, turn @ [0.0, -1.0, 0.0])
    world["foot" + suffix] = turn @ rotation("x", pitch) @ rig.rest["foot" + suffix]
    world["toe" + suffix] = turn @ rotation("x", toes) @ rig.rest["toe" + suffix]


def key_walk(armature: bpy.types.Object, *, cycles: int = 4, frame_start: int = 1) -> bpy.types.Action:
    """Key `cycles` strides of walking on a mannequin at its rest place, and return the new action.

    The last key is the first one, moved forward by the strides walked.
    """
    import bpy
    from mathutils import Matrix as BlenderMatrix

    rig = Rig(armature)
    poses = [pose_at(rig, key) for key in KEYS]
    keys = np.array(KEYS, dtype=float)

    action = bpy.data.actions.new("Walk")
    slot = action.slots.new(id_type="OBJECT", name=armature.name)
    strip = as_kind(action.layers.new("Layer").strips.new(type="KEYFRAME"), bpy.types.ActionKeyframeStrip)
    channelbag = strip.channelbag(slot, ensure=True)
    for name in rig.names:
        group = channelbag.groups.new(name)
        bone = armature.pose.bones[name]
        bone.rotation_mode = "QUATERNION"
        turns = np.array([BlenderMatrix(turn[name].tolist()).to_quaternion() for _, turn in poses])
        turns *= np.sign(turns[:, :1])  # one hemisphere: no bone turns by more than half a circle from rest
        write_curves(channelbag, group, bone.path_from_id("rotation_quaternion"), keys, turns, cycles, frame_start)

    # A pelvis travels in the frame of its own bone.
    to_bone = rig.rest["pelvis"].T
    places = np.array([to_bone @ (place - rig.head["pelvis"]) for place, _ in poses])
    path = armature.pose.bones["pelvis"].path_from_id("location")
    travel = to_bone @ [0.0, -STRIDE, 0.0]
    write_curves(channelbag, channelbag.groups["pelvis"], path, keys, places, cycles, frame_start, travel)

    animation = armature.animation_data_create()
    animation.action = action
    animation.action_slot = slot
    return action


def write_curves(
    channelbag: bpy.types.ActionChannelbag,
    group: bpy.types.ActionGroup,
    path: str,
    keys: Vector,
    values: Vector,
    cycles: int,
    frame_start: int,
    travel: Vector | float = 0.0,
) -> None:
    """Write one F-curve per column of `values`, repeated over the cycles and moved by `travel` each time."""
    drift = np.broadcast_to(travel, values.shape[1:])
    slopes = periodic_slopes(keys, values - np.outer(keys / FRAMES_PER_CYCLE, drift)) + drift / FRAMES_PER_CYCLE
    last = cycles * FRAMES_PER_CYCLE
    frames = np.append(np.concatenate([keys + FRAMES_PER_CYCLE * c for c in range(cycles)]), last)
    column = np.concatenate([values + drift * c for c in range(cycles)] + [values[:1] + drift * cycles])
    slopes = np.concatenate([slopes] * cycles + [slopes[:1]])
    gap = np.diff(frames)
    before, after = np.append(gap[0], gap) / 3, np.append(gap, gap[-1]) / 3
    for index in range(values.shape[1]):
        curve = channelbag.fcurves.new(path, index=index)
        curve.group = group
        points = curve.keyframe_points
        points.add(len(frames))
        y, slope = column[:, index], slopes[:, index]
        x = frames + frame_start
        points.foreach_set("co", np.column_stack([x, y]).ravel())
        # With handles a third of the way along, the Bezier curve is the cubic with these slopes.
        points.foreach_set("handle_left", np.column_stack([x - before, y - slope * before]).ravel())
        points.foreach_set("handle_right", np.column_stack([x + after, y + slope * after]).ravel())
        for point in points:
            point.interpolation = "BEZIER"
            point.handle_left_type = point.handle_right_type = "ALIGNED"
        curve.update()
