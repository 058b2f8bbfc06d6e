# SPDX-License-Identifier: GPL-3.0-or-later
"""Motions of a few key poses for `jain42`, interpolated by inverse kinematics: nothing about them is physical."""

from typing import NamedTuple

import numpy as np
from heft.core.character import Character
from heft.core.character.parts import Body, Corner, Joint, Sphere
from heft.core.control.track import Track
from heft.core.dynamics import body_poses
from heft.core.motion.inverse_kinematics import Targets, reach
from heft.core.motion.limits import widened
from heft.core.motion.quaternions import Array, rotate
from heft.core.simulation import Grab, Prop

RATE = 120.0
DT = 1.0 / RATE
PALM = (0.0, 0.0, -0.09)
SIDES = ("left", "right")
FREE_WRISTS = 1e-2  # mobility of joints that need not move


class Motion(NamedTuple):
    """Poses, who bears weight when, and what holds on in the simulation."""

    character: Character
    track: Track
    grabs: tuple[Grab, ...] = ()
    props: tuple[Prop, ...] = ()


def smooth(x: Array) -> Array:
    """From 0 to 1, without jumps of acceleration."""
    x = np.clip(x, 0.0, 1.0)
    result: Array = x**3 * (10.0 - 15.0 * x + 6.0 * x * x)
    return result


def keyed(times: Array, values: Array, seconds: float) -> Array:
    """A curve through keys, eased in and out of each; a row for each frame."""
    t = np.arange(round(seconds * RATE) + 1) / RATE
    result = np.full(len(t), values[0])
    for a, b, x, y in zip(times, times[1:], values, values[1:], strict=False):
        result = np.where(t >= a, x + (y - x) * smooth((t - a) / (b - a)), result)
    return result


def track_of(character: Character, q: Array, points: list[tuple[str, tuple, bool]], active: Array) -> Track:
    """Poses (nf, nq) with points (body, place, grip), active (nf, np)."""
    after = np.concatenate((active, active[-1:], active[-1:]))
    return Track(
        DT,
        q,
        after[1:-1] & after[2:],
        np.tile((0.0, 0.0, 1.0), (*active.shape, 1)),
        np.array([character.index(body) for body, _, _ in points], dtype=np.int64),
        np.array([place for _, place, _ in points]).reshape(-1, 3),
        np.array([grip for _, _, grip in points]),
    )


def soles(character: Character) -> list[tuple[str, tuple, bool]]:
    return [(shape.body, shape.position, False) for shape in character.contacts if isinstance(shape, Corner)]


def hands() -> list[tuple[str, tuple, bool]]:
    return [(f"{side}_hand", PALM, True) for side in SIDES]


def places(character: Character, q: Array, points: list[tuple[str, tuple, bool]]) -> Array:
    """Of points (np, 3) in the world."""
    position, turn = body_poses(character, q)
    body = [character.index(name) for name, _, _ in points]
    found: Array = position[body] + rotate(turn[body], np.array([place for _, place, _ in points]))
    return found


def solved(character: Character, q: Array, points: list[tuple[str, tuple, bool]], wanted: Array, moving: str) -> Array:
    """Poses (nf, nq) with points at places (nf, np, 3), by joints of the bodies whose names hold one of `moving`."""
    mobility = np.zeros(character.nv)
    for i, b in enumerate(character.tree.velocity_body):
        if i >= 6 and any(part in character.bodies[b].name for part in moving.split()):
            mobility[i] = 1.0
    body = np.array([character.index(name) for name, _, _ in points], dtype=np.int64)
    local = np.array([place for _, place, _ in points])
    return reach(
        character, q, Targets(body, local, np.ascontiguousarray(wanted), np.full(wanted.shape, 1e-7)), mobility
    )


def bent(character: Character) -> Array:
    """The neutral pose with knees and elbows off their stops."""
    q = character.neutral()
    for side in SIDES:
        q[character.tree.position_start[character.index(f"{side}_forearm")]] = -0.3
        q[character.tree.position_start[character.index(f"{side}_shank")]] = 0.15
    return q


def squat(depth: float = 0.35, seconds: float = 4.0, back: float = 0.17, lean: float = 0.75) -> Motion:
    """Three key poses: stand, squat, stand."""
    character = Character.preset("jain42")
    down = keyed(np.array([0.3, 1.5, 1.9, 3.2]), np.array([0.02, depth, depth, 0.02]), seconds)
    share = (down - 0.02) / (depth - 0.02)
    q = np.tile(bent(character), (len(down), 1))
    q[:, 2] -= down
    q[:, 0] -= back * share
    q[:, 3], q[:, 5] = np.cos(0.5 * lean * share), np.sin(0.5 * lean * share)
    feet = soles(character)
    wanted = np.tile(places(character, character.neutral(), feet), (len(q), 1, 1))
    q = solved(character, q, feet, wanted, "thigh shank foot")
    active = np.ones((len(q), len(feet)), dtype=bool)
    return Motion(widened(character, q), track_of(character, q, feet, active))


def chin_up(rise: float = 0.35, seconds: float = 5.0, bar: float = 2.3) -> Motion:
    """Two key poses, hanging and up, by the root's height; the hands stay on the bar."""
    character = Character.preset("jain42")
    hang = bent(character)
    for side in SIDES:
        start = int(character.tree.position_start[character.index(f"{side}_arm")])
        hang[start : start + 4] = (np.cos(1.45), 0.0, -np.sin(1.45), 0.0)
    grips = hands()
    hang[2] += bar - places(character, hang, grips)[:, 2].mean()
    up = keyed(np.array([0.5, 1.7, 2.5, 3.9]), np.array([0.0, rise, rise, 0.0]), seconds)
    q = np.tile(hang, (len(up), 1))
    q[:, 2] += up
    wanted = np.tile(places(character, hang, grips), (len(q), 1, 1))
    q = solved(character, q, grips, wanted, "clavicle arm hand")
    active = np.ones((len(q), 2), dtype=bool)
    grabs = tuple(Grab(f"{side}_hand", PALM) for side in SIDES)
    return Motion(widened(character, q), track_of(character, q, grips, active), grabs)


def lift(mass: float = 30.0, seconds: float = 6.0) -> Motion:
    """The squat with hands that take a barbell in its middle pose and bring it up; the plan knows of no weight."""
    motion = squat(seconds=seconds)
    character, q = motion.character, motion.track.q.copy()
    taken = 1.9
    t = np.arange(len(q)) / RATE
    shoulder = np.array([body_poses(character, pose)[0][character.index("left_arm")] for pose in q])
    low = shoulder[round(taken * RATE), 2] - 0.60
    bar = keyed(np.array([taken, 3.2]), np.array([low, shoulder[-1, 2] - 0.62]), seconds)
    grips = hands()
    hanging = np.array([places(character, pose, grips) for pose in q])
    on = np.stack([np.stack([np.full(len(q), 0.22), np.full(len(q), y), bar], axis=1) for y in (0.28, -0.28)], axis=1)
    reach_out = smooth((t - 0.5) / (taken - 0.6))[:, None, None]
    q = solved(character, q, grips, hanging + reach_out * (on - hanging), "clavicle arm hand")
    # Outside the hands' reach: balls at 0.6 m touched them, and what toppled was this scene.
    plate = 0.95
    moment = mass * plate**2
    body = Body(
        "barbell", None, Joint("barbell", "free"), mass, np.diag([moment, 0.1, moment]), position=(0.22, 0.0, low)
    )
    plates = tuple(
        Sphere(f"plate_{side}", "barbell", (0.0, y, 0.0), low) for side, y in (("left", plate), ("right", -plate))
    )
    grabs = tuple(Grab(f"{side}_hand", PALM, start=taken, other="barbell") for side in SIDES)
    feet = soles(character)
    active = np.ones((len(q), len(feet)), dtype=bool)
    return Motion(widened(character, q), track_of(character, q, feet, active), grabs, (Prop(body, plates),))


def flight(bar: float = 2.9, speed: float = 1.2, caught: float = 0.3) -> Motion:
    """Arms up through the air, as after a broad jump, on the parabola on which the hands meet a bar at `caught` s."""
    hang = chin_up(bar=bar)
    character, pose = hang.character, hang.track.q[0]
    t = np.arange(round(2.0 * RATE)) / RATE - caught
    q = np.tile(pose, (len(t), 1))
    q[:, 0] += speed * t
    q[:, 2] += -0.5 * 9.81 * t * t
    grips = hands()
    active = np.zeros((len(q), len(grips)), dtype=bool)
    grabs = tuple(Grab(f"{side}_hand", PALM, start=caught) for side in SIDES)
    return Motion(character, track_of(character, q, grips, active), grabs)
