# SPDX-License-Identifier: GPL-3.0-or-later
"""What beginners key, on the mannequin: few poses, gentle curves between them, and little thought for gravity.

Jumps float or have no time, feet glide, bodies lean on nothing, sit on air and come down from three metres. None of it
could happen as it is keyed, and all of it is to bake.

Lengths are in metres and angles in degrees, turns about the world's axes: the figure looks towards -Y, so that a turn
about X bends it forward, and swings a limb back. Places are the pelvis's, from where it rests.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from . import key_poses, mannequin

if TYPE_CHECKING:
    import bpy

Vector = NDArray[np.float64]
Turn = tuple[float, float, float]

LEG = (mannequin.HIP_HEIGHT - mannequin.ANKLE_HEIGHT) * mannequin.STATURE
"""From hip to ankle, m."""

UPPER_ARM, FOREARM = (
    length * mannequin.STATURE * math.cos(mannequin.ARM_ABDUCTION)
    for length in (mannequin.UPPER_ARM_LENGTH, mannequin.FOREARM_LENGTH + 0.5 * mannequin.HAND_LENGTH)
)
"""To the elbow, and from there to the middle of the hand, as seen from aside, m."""

TRUNK = (mannequin.SHOULDER_HEIGHT - mannequin.HIP_HEIGHT) * mannequin.STATURE
"""From hip to shoulder, m."""


class Key(NamedTuple):
    """A pose: where the pelvis is, how it is turned, and the turns of bones from their rest; others are at rest."""

    time: float  # s
    place: Turn = (0.0, 0.0, 0.0)
    turn: Turn = (0.0, 0.0, 0.0)
    bones: Mapping[str, Turn] = {}


def bent(degrees: float, side: str = "") -> dict[str, Turn]:
    """Legs, or one of them, bent so that the foot stays flat under the hip."""
    turns = {"thigh": -degrees, "shin": 2.0 * degrees, "foot": -degrees}
    return {f"{bone}.{s}": (turn, 0.0, 0.0) for bone, turn in turns.items() for s in (side or "LR")}


def down(degrees: float) -> float:
    """How far that lowers the pelvis, m."""
    return -LEG * (1.0 - math.cos(math.radians(degrees)))


def leg(side: str, hip: float, knee: float = 0.0, ankle: float = 0.0) -> dict[str, Turn]:
    """One leg, raised forward by the hip."""
    return {f"thigh.{side}": (-hip, 0.0, 0.0), f"shin.{side}": (knee, 0.0, 0.0), f"foot.{side}": (ankle, 0.0, 0.0)}


def arms(forward: float, side: str = "", elbow: float = 10.0) -> dict[str, Turn]:
    """Arms, or one of them, raised forward."""
    found: dict[str, Turn] = {}
    for s in side or "LR":
        found[f"upper_arm.{s}"], found[f"forearm.{s}"] = (-forward, 0.0, 0.0), (-elbow, 0.0, 0.0)
    return found


STAND = bent(4.0)
LOW = down(4.0)


def _strides(count: int, seconds: float, ahead: float, lift: float = 0.0) -> tuple[Key, ...]:
    """Steps on stiff legs, each so far ahead and so much higher; feet go where the hips take them."""
    keys = [Key(0.0, (0.0, 0.0, LOW), bones=STAND)]
    for k in range(1, count + 1):
        fore, aft = ("L", "R") if k % 2 else ("R", "L")
        swing = leg(fore, 25.0, 10.0) | leg(aft, -15.0, 10.0) | arms(20.0, aft) | arms(-15.0, fore)
        keys.append(Key(k * seconds, (0.0, -k * ahead, LOW + k * lift), bones=swing))
    last = keys[-1].place
    return (*keys, Key((count + 1) * seconds, last, bones=STAND))


def reaching(place: Turn, pitch: float, ahead: float, height: float) -> dict[str, Turn]:
    """A back bent forward by the pitch, and arms whose hands are so far before where the pelvis rests, and so high."""
    lean = math.radians(pitch)
    back = (mannequin.SHOULDER_HEIGHT - mannequin.LUMBAR_HEIGHT) * mannequin.STATURE
    fore = ahead + place[1] - back * math.sin(lean)
    up = height - mannequin.LUMBAR_HEIGHT * mannequin.STATURE - place[2] - back * math.cos(lean)
    far = min(math.hypot(fore, up), 0.999 * (UPPER_ARM + FOREARM))
    elbow = math.pi - math.acos((UPPER_ARM**2 + FOREARM**2 - far**2) / (2.0 * UPPER_ARM * FOREARM))
    inside = math.acos((UPPER_ARM**2 + far**2 - FOREARM**2) / (2.0 * UPPER_ARM * far))
    raised = math.atan2(fore, -up) - inside + lean
    return {"spine": (pitch, 0.0, 0.0)} | arms(math.degrees(raised), elbow=math.degrees(elbow))


def _swings(angles: Sequence[float], quarter: float, bar: float) -> tuple[Key, ...]:
    """Hanging from a bar so high, stretched, turned about it by each angle in turn; a quarter of a swing each."""
    length = TRUNK + UPPER_ARM + FOREARM
    keys: list[Key] = []
    for k, angle in enumerate(angles):
        a = math.radians(angle)
        up = bar - length * math.cos(a) - mannequin.HIP_HEIGHT * mannequin.STATURE
        ends = k in {0, len(angles) - 1}
        time = keys[-1].time + quarter * (1.0 if ends or k == 1 else 2.0) if keys else 0.0
        keys.append(Key(time, (0.0, length * math.sin(a), up), (angle, 0.0, 0.0), arms(178.0, elbow=2.0)))
    return tuple(keys)


def _leaning(degrees: float) -> Key:
    """Stiff, turned forward about the ankles by so much, hands level ahead."""
    a = math.radians(degrees)
    place = (0.0, -LEG * math.sin(a), LEG * (math.cos(a) - 1.0))
    feet = {f"foot.{s}": (-degrees, 0.0, 0.0) for s in "LR"}
    return Key(0.0, place, (degrees, 0.0, 0.0), feet | arms(90.0 + degrees, elbow=10.0))


ACTIONS: dict[str, tuple[Key, ...]] = {
    "floaty jump": (
        Key(0.0, (0.0, 0.0, LOW), bones=STAND),
        Key(0.4, (0.0, 0.0, down(45.0)), (25.0, 0.0, 0.0), bent(45.0) | arms(-40.0)),
        Key(1.2, (0.0, 0.0, 0.6), bones=bent(10.0) | arms(150.0)),
        Key(2.0, (0.0, 0.0, down(40.0)), (20.0, 0.0, 0.0), bent(40.0)),
        Key(2.5, (0.0, 0.0, LOW), bones=STAND),
    ),
    "jump too short": (
        Key(0.0, (0.0, 0.0, LOW), bones=STAND),
        Key(0.3, (0.0, 0.0, down(40.0)), (20.0, 0.0, 0.0), bent(40.0)),
        Key(0.42, (0.0, -0.5, 0.45), bones=bent(20.0)),
        Key(0.54, (0.0, -1.0, down(40.0)), (20.0, 0.0, 0.0), bent(40.0)),
        Key(1.2, (0.0, -1.0, LOW), bones=STAND),
    ),
    "sliding walk": _strides(4, 0.5, 0.6),
    "moonwalk": _strides(4, 0.5, -0.35),
    "stairs of air": _strides(4, 0.6, 0.3, 0.17),
    "lean on nothing": (
        Key(0.0, (0.0, 0.0, LOW), bones=STAND),
        Key(0.8, (0.25, 0.0, LOW - 0.04), (0.0, 25.0, 0.0), STAND | {"upper_arm.L": (0.0, -45.0, 0.0)}),
        Key(2.0, (0.25, 0.0, LOW - 0.04), (0.0, 25.0, 0.0), STAND | {"upper_arm.L": (0.0, -45.0, 0.0)}),
    ),
    "spin on one foot": (
        Key(0.0, (0.0, 0.0, LOW), bones=STAND),
        Key(0.4, (0.08, 0.0, LOW), (0.0, 0.0, 20.0), bent(4.0, "L") | leg("R", 60.0, 90.0)),
        Key(1.3, (0.08, 0.0, LOW), (0.0, 0.0, 380.0), bent(4.0, "L") | leg("R", 60.0, 90.0)),
        Key(1.8, (0.0, 0.0, LOW), (0.0, 0.0, 360.0), STAND),
    ),
    "sit down on air": (
        Key(0.0, (0.0, 0.0, LOW), bones=STAND),
        Key(0.9, (0.0, 0.42, -0.45), (5.0, 0.0, 0.0), leg("L", 90.0, 85.0) | leg("R", 90.0, 85.0)),
        Key(2.2, (0.0, 0.42, -0.45), (0.0, 0.0, 0.0), leg("L", 90.0, 90.0) | leg("R", 90.0, 90.0)),
    ),
    "dodge": (
        Key(0.0, (0.0, 0.0, LOW), bones=STAND),
        Key(0.2, (0.45, 0.0, down(35.0)), (0.0, 20.0, 0.0), bent(35.0)),
        Key(0.7, (0.45, 0.0, down(35.0)), (0.0, 20.0, 0.0), bent(35.0)),
        Key(1.0, (0.0, 0.0, LOW), bones=STAND),
    ),
    "forward roll": (
        Key(0.0, (0.0, 0.0, down(30.0)), (30.0, 0.0, 0.0), bent(30.0)),
        Key(0.4, (0.0, -0.5, -0.55), (110.0, 0.0, 0.0), bent(60.0) | arms(120.0)),
        Key(0.8, (0.0, -1.1, -0.70), (230.0, 0.0, 0.0), bent(65.0) | arms(60.0)),
        Key(1.2, (0.0, -1.7, -0.55), (340.0, 0.0, 0.0), bent(60.0) | arms(60.0)),
        Key(1.7, (0.0, -1.9, LOW), (360.0, 0.0, 0.0), STAND),
    ),
    "kick": (
        Key(0.0, (0.0, 0.0, LOW), bones=STAND),
        Key(0.3, (0.05, 0.0, LOW), bones=bent(4.0, "L") | leg("R", 40.0, 100.0)),
        Key(0.45, (0.05, 0.0, LOW), (-15.0, 0.0, 0.0), bent(4.0, "L") | leg("R", 105.0, 0.0, 30.0)),
        Key(0.7, (0.05, 0.0, LOW), bones=bent(4.0, "L") | leg("R", 40.0, 100.0)),
        Key(1.0, (0.0, 0.0, LOW), bones=STAND),
    ),
    "punch": (
        Key(0.0, (0.0, 0.0, LOW), bones=STAND | arms(30.0, elbow=100.0)),
        Key(0.25, (0.0, 0.05, LOW), (0.0, 0.0, -30.0), STAND | arms(0.0, "R", 130.0) | arms(30.0, "L", 100.0)),
        Key(0.35, (0.0, -0.12, LOW), (5.0, 0.0, 35.0), STAND | arms(90.0, "R", 0.0) | arms(20.0, "L", 110.0)),
        Key(0.9, (0.0, 0.0, LOW), bones=STAND | arms(30.0, elbow=100.0)),
    ),
    "death fall": (
        Key(0.0, (0.0, 0.0, LOW), bones=STAND),
        Key(0.5, (0.0, 0.25, -0.25), (-35.0, 0.0, 0.0), bent(25.0) | arms(40.0)),
        Key(0.9, (0.0, 0.6, -0.80), (-88.0, 0.0, 0.0), arms(20.0)),
        Key(1.6, (0.0, 0.6, -0.80), (-90.0, 0.0, 0.0), arms(10.0)),
    ),
    "landing from 3 m": (
        Key(0.0, (0.0, 0.0, 3.0), bones=STAND | arms(60.0)),
        Key(0.6, (0.0, 0.0, LOW), bones=STAND | arms(90.0)),
        Key(0.75, (0.0, 0.0, down(60.0)), (35.0, 0.0, 0.0), bent(60.0)),
        Key(1.6, (0.0, 0.0, LOW), bones=STAND),
    ),
    "hover": (
        Key(0.0, (0.0, 0.0, LOW), bones=STAND),
        Key(0.5, (0.0, 0.0, 0.5), bones=leg("L", 20.0, 40.0) | leg("R", 0.0, 30.0)),
        Key(1.5, (0.0, 0.0, 0.45), bones=leg("L", 20.0, 40.0) | leg("R", 0.0, 30.0)),
        Key(2.0, (0.0, 0.0, LOW), bones=STAND),
    ),
    "push-ups": tuple(
        Key(
            0.5 * k,
            (0.0, 0.0, height),
            (pitch, 0.0, 0.0),
            arms(85.0, elbow=elbow) | {"foot.L": (60.0, 0.0, 0.0)} | {"foot.R": (60.0, 0.0, 0.0)},
        )
        for k, (height, pitch, elbow) in enumerate(((-0.5, 70.0, 5.0), (-0.68, 82.0, 70.0), (-0.5, 70.0, 5.0)) * 1)
    ),
    "getting up": (
        Key(0.0, (0.0, 0.0, -0.80), (-90.0, 0.0, 0.0)),
        Key(0.7, (0.0, -0.1, -0.78), (-30.0, 0.0, 0.0), leg("L", 80.0, 90.0) | leg("R", 80.0, 90.0) | arms(-30.0)),
        Key(1.3, (0.0, -0.5, -0.55), (35.0, 0.0, 0.0), bent(65.0) | arms(40.0)),
        Key(2.0, (0.0, -0.5, LOW), bones=STAND),
    ),
    "backflip": (
        Key(0.0, (0.0, 0.0, down(50.0)), (30.0, 0.0, 0.0), bent(50.0) | arms(-40.0)),
        Key(0.3, (0.0, 0.1, 0.35), (-60.0, 0.0, 0.0), bent(20.0) | arms(150.0)),
        Key(0.6, (0.0, 0.4, 0.6), (-200.0, 0.0, 0.0), bent(60.0) | arms(60.0)),
        Key(0.9, (0.0, 0.7, 0.1), (-330.0, 0.0, 0.0), bent(30.0) | arms(60.0)),
        Key(1.0, (0.0, 0.8, down(40.0)), (-345.0, 0.0, 0.0), bent(40.0)),
        Key(1.6, (0.0, 0.8, LOW), (-360.0, 0.0, 0.0), STAND),
    ),
    "ladder": tuple(
        Key(
            0.6 * k,
            (0.0, 0.0, 0.28 * k),
            (8.0, 0.0, 0.0),
            arms(165.0, "LR"[k % 2], 10.0)
            | arms(120.0, "RL"[k % 2], 60.0)
            | bent(10.0, "LR"[k % 2])
            | bent(50.0, "RL"[k % 2]),
        )
        for k in range(4)
    ),
    "cartwheel": (
        Key(0.0, (0.0, 0.0, LOW), bones=STAND),
        Key(0.5, (0.5, 0.0, -0.25), (0.0, 80.0, 0.0), {"thigh.L": (0.0, 30.0, 0.0), "thigh.R": (0.0, -30.0, 0.0)}),
        Key(0.9, (1.1, 0.0, -0.05), (0.0, 180.0, 0.0), {"thigh.L": (0.0, 40.0, 0.0), "thigh.R": (0.0, -40.0, 0.0)}),
        Key(1.3, (1.7, 0.0, -0.2), (0.0, 290.0, 0.0), {"thigh.L": (0.0, 30.0, 0.0), "thigh.R": (0.0, -30.0, 0.0)}),
        Key(1.8, (2.0, 0.0, LOW), (0.0, 360.0, 0.0), STAND),
    ),
    "lean on a wall": (
        Key(0.0, (0.0, 0.0, LOW), bones=STAND),
        _leaning(24.0)._replace(time=0.8),
        _leaning(24.0)._replace(time=2.4),
        Key(3.2, (0.0, 0.0, LOW), bones=STAND),
    ),
    "swing on a bar": _swings((0.0, 16.0, -16.0, 16.0, 0.0), 0.55, 2.5),
    "climb on a ledge": (
        Key(0.0, (0.0, 0.0, LOW), bones=STAND),
        *(
            Key(time, place, bones=legs | reaching(place, pitch, 0.4, 1.2))
            for time, place, pitch, legs in (
                (0.6, (0.0, 0.0, LOW), 10.0, STAND),
                (0.9, (0.0, 0.0, LOW), 10.0, STAND),
                (1.5, (0.0, -0.12, 0.38), 20.0, leg("L", 20.0, 40.0) | leg("R", 10.0, 40.0)),
                (1.9, (0.0, -0.2, 0.42), 40.0, leg("L", 40.0, 60.0) | leg("R", 10.0, 50.0)),
            )
        ),
        Key(2.5, (0.0, -0.55, 1.2 + down(50.0)), bones=bent(50.0) | {"spine": (40.0, 0.0, 0.0)}),
        Key(3.2, (0.0, -0.55, 1.2 + LOW), bones=STAND),
        Key(3.7, (0.0, -0.55, 1.2 + LOW), bones=STAND),
    ),
    "drunken stop": (
        Key(0.0, (0.0, 0.0, LOW), bones=STAND),
        Key(0.6, (0.0, -0.7, LOW), (45.0, 0.0, 0.0), leg("L", 30.0, 10.0) | leg("R", -20.0, 10.0)),
        Key(0.7, (0.0, -0.7, LOW), (-20.0, 0.0, 0.0), STAND),
        Key(1.4, (0.0, -0.7, LOW), bones=STAND),
    ),
}
"""By name."""


def sampled(name: str, fps: float) -> tuple[Vector, dict[str, Vector]]:
    """An action by name, as `in_between` has it."""
    return in_between(ACTIONS[name], fps)


def in_between(keys: tuple[Key, ...], fps: float) -> tuple[Vector, dict[str, Vector]]:
    """The pelvis's places (n, 3), and rotation vectors (n, 3) of it and of all bones that turn, rad.

    From key to key they ease in and out, as keys do unless somebody says otherwise.
    """
    time = np.arange(round(keys[-1].time * fps) + 1) / fps
    bones = sorted({bone for key in keys for bone in key.bones})
    place = _eased(time, keys, [key.place for key in keys])
    turns = {bone: _eased(time, keys, [key.bones.get(bone, (0.0, 0.0, 0.0)) for key in keys]) for bone in bones}
    turns["pelvis"] = _eased(time, keys, [key.turn for key in keys])
    return place, {bone: np.radians(turn) for bone, turn in turns.items()}


def _eased(time: Vector, keys: tuple[Key, ...], values: list[Turn]) -> Vector:
    at = np.array([key.time for key in keys])
    k = np.clip(np.searchsorted(at, time, side="right") - 1, 0, len(at) - 2)
    share = np.clip((time - at[k]) / (at[k + 1] - at[k]), 0.0, 1.0)[:, None]
    rows = np.array(values)
    result: Vector = rows[k] + (rows[k + 1] - rows[k]) * share**2 * (3.0 - 2.0 * share)
    return result


def key(context: bpy.types.Context, name: str) -> bpy.types.Object:
    """A mannequin that does it, keyed on every frame."""
    armature = mannequin.make_mannequin(context, name.title())
    context.scene.frame_end = act(context, armature, ACTIONS[name])
    return armature


def act(context: bpy.types.Context, armature: bpy.types.Object, keys: tuple[Key, ...]) -> int:
    """Key a mannequin on every frame from the scene's first on; the last of them is returned."""
    from mathutils import Matrix

    render = context.scene.render
    place, turns = in_between(keys, render.fps / render.fps_base)
    first = context.scene.frame_start
    key_poses.key_pelvis(context, armature, ((k * render.fps_base / render.fps, tuple(p)) for k, p in enumerate(place)))
    for bone, turn in turns.items():
        posed = armature.pose.bones[bone]
        posed.rotation_mode = "QUATERNION"
        rest = posed.bone.matrix_local.to_3x3()
        for k, vector in enumerate(turn):
            angle = float(np.linalg.norm(vector))
            axis = vector.tolist() if angle else [1.0, 0.0, 0.0]
            spin = rest.inverted() @ Matrix.Rotation(angle, 3, axis) @ rest
            posed.rotation_quaternion = spin.to_quaternion()
            posed.keyframe_insert("rotation_quaternion", frame=first + k)
    return first + len(place) - 1
