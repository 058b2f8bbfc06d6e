# SPDX-License-Identifier: GPL-3.0-or-later
"""Motions made by a few lines of kinematics: roughly what a person does, and not yet possible physically."""

from itertools import pairwise
from typing import NamedTuple

import numpy as np
from heft.core.character import Character
from heft.core.character.parts import Corner
from heft.core.dynamics import PointForces, body_poses, difference, step
from heft.core.motion.cycle import Cycle
from heft.core.motion.schedule import ContactPoint, ContactSchedule, contact_points
from scipy.spatial.transform import Rotation

RATE = 120.0
HIP, THIGH, SHANK, ANKLE = (f * 1.75 for f in (0.05, 0.245, 0.246, 0.045))
HEEL, TOE, CHEST, SHOULDER, ARM = (f * 1.75 for f in (0.03, 0.115, 0.222, 0.11, 0.332))
SIDES = (("left", 1.0), ("right", -1.0))


class Motion(NamedTuple):
    character: Character
    q: np.ndarray
    v: np.ndarray
    rate: float
    schedule: ContactSchedule
    cycle: Cycle | None = None


def soles(character):
    return tuple(point for point in contact_points(character) if point.foot)


def corners(character):
    return tuple(
        ContactPoint(c.name, character.index(c.body), c.position, foot=True)
        for c in character.contacts
        if isinstance(c, Corner)
    )


def velocities(character, q):
    steps = [difference(character, a, b) * RATE for a, b in pairwise(q)]
    return np.array([*steps, steps[-1]])


def standing_pose(character, pelvis, turn, ankles, pitches, yaws=(0.0, 0.0)):
    """Positions with the pelvis at a place and the feet at theirs, by closed-form inverse kinematics."""
    q = character.neutral()
    tree = character.tree
    q[:3] = pelvis
    q[3:7] = turn.as_quat(scalar_first=True)
    for (side, sign), ankle, pitch, yaw in zip(SIDES, ankles, pitches, yaws, strict=True):
        foot = Rotation.from_euler("ZY", (yaw, pitch))
        d = turn.inv().apply(ankle - pelvis) - (0.0, sign * HIP, 0.0)
        length = min(np.linalg.norm(d), 0.9995 * (THIGH + SHANK))
        knee = np.arccos(np.clip((length**2 - THIGH**2 - SHANK**2) / (2.0 * THIGH * SHANK), -1.0, 1.0))
        straight = np.array([-SHANK * np.sin(knee), 0.0, -THIGH - SHANK * np.cos(knee)])
        lateral = (turn.inv() * foot).apply((0.0, 1.0, 0.0))
        thigh = Rotation.from_matrix(frame(d, lateral) @ frame(straight, np.array([0.0, 1.0, 0.0])).T)
        shank = turn * thigh * Rotation.from_euler("Y", knee)
        ankle_matrix = (shank.inv() * foot).as_matrix()
        start = {part: tree.position_start[character.index(f"{side}_{part}")] for part in ("thigh", "shank", "foot")}
        q[start["thigh"] : start["thigh"] + 4] = thigh.as_quat(scalar_first=True)
        q[start["shank"]] = knee
        q[start["foot"]] = np.arctan2(-ankle_matrix[2, 0], ankle_matrix[0, 0])
        q[start["foot"] + 1] = np.arctan2(-ankle_matrix[1, 2], ankle_matrix[1, 1])
    return q


def frame(first, near):
    x = first / np.linalg.norm(first)
    y = near - (near @ x) * x
    y /= np.linalg.norm(y)
    return np.column_stack((x, y, np.cross(x, y)))


def smooth(x):
    x = np.clip(x, 0.0, 1.0)
    return x**3 * (10.0 - 15.0 * x + 6.0 * x * x)


def sole_place(x, y, yaw, at):
    return np.array([x + at * np.cos(yaw), y + at * np.sin(yaw), 0.0])


def schedule_of(points, active, places):
    return ContactSchedule(tuple(points), active, np.where(active[:, :, None], places, 0.0))


def squat(frames=120, depth=0.25):
    """Down and up again on flat feet."""
    character = Character.preset("muico29")
    places = np.array([[(0.0, s * HIP, 0.0)] for _, s in SIDES]).reshape(2, 3)
    height = THIGH + SHANK + ANKLE - 0.02
    q = []
    for k in range(frames + 1):
        bend = np.sin(np.pi * k / frames) ** 2
        pelvis = np.array([-0.25 * depth * bend, 0.0, height - depth * bend])
        turn = Rotation.from_euler("Y", 0.9 * depth * bend)
        q.append(standing_pose(character, pelvis, turn, np.add(places, (0.0, 0.0, ANKLE)), (0.0, 0.0)))
    q = np.array(q)
    points = soles(character)
    active = np.ones((frames + 1, len(points)), bool)
    place = np.array(
        [sole_place(0.0, np.sign(p.position[1] + s) * HIP, 0.0, p.position[0]) for p, s in with_side(points)]
    )
    return Motion(
        character, q, velocities(character, q), RATE, schedule_of(points, active, np.tile(place, (frames + 1, 1, 1)))
    )


def with_side(points):
    return [(point, 1.0 if point.name.startswith("left") else -1.0) for point in points]


def walk(strides=1, stride=1.1, frames=132, turn=0.0, heel_off=0.3, lift=0.05, points_of=soles, name="muico29"):
    """A periodic walk with flat feet that roll off over the toes; `strides` periods of it, as a cycle."""
    character = Character.preset(name)
    points = points_of(character)
    total = strides * frames
    duty = 0.62
    q, active, place = [], np.zeros((total + 1, len(points)), bool), np.zeros((total + 1, len(points), 3))
    height = THIGH + SHANK + ANKLE - 0.035

    def on_path(s):
        """Place and heading at the arc length s of a circle (or a line)."""
        if turn == 0.0:
            return np.array([s, 0.0]), 0.0
        heading = turn * s / stride
        radius = stride / turn
        return radius * np.array([np.sin(heading), 1.0 - np.cos(heading)]), heading

    def footstep(number, sign):
        """The sole's place in the stance of that number: under the body at mid-stance."""
        phase = number + (0.0 if sign > 0.0 else 0.5) + 0.5 * duty
        centre, heading = on_path(stride * phase)
        return centre + sign * 0.8 * HIP * np.array([-np.sin(heading), np.cos(heading)]), heading

    for k in range(total + 1):
        t = k / frames
        centre, heading = on_path(stride * t)
        sway = 0.025 * np.cos(2.0 * np.pi * (t - 0.5 * duty))
        pelvis = np.array([*(centre + sway * np.array([-np.sin(heading), np.cos(heading)])), height])
        pelvis[2] += 0.012 * np.cos(4.0 * np.pi * (t - 0.5 * duty))
        ankles, pitches, yaws = [], [], []
        for _, sign in SIDES:
            own = t - (0.0 if sign > 0.0 else 0.5)
            number, phase = int(np.floor(own + 1e-9)), 0.0
            phase = own - number
            here, yaw = footstep(number, sign)
            there, next_yaw = footstep(number + 1, sign)
            pitch = heel_off * smooth((phase - 0.42) / (duty - 0.42))
            x, z = TOE - TOE * np.cos(pitch) + ANKLE * np.sin(pitch), ANKLE * np.cos(pitch) + TOE * np.sin(pitch)
            swing = smooth((phase - duty) / (1.0 - duty))
            if phase > duty:
                pitch = heel_off * (1.0 - smooth((phase - duty) / (0.7 * (1.0 - duty))))
                x, z = x * (1.0 - swing), ANKLE + (z - ANKLE) * (1.0 - swing) + lift * np.sin(np.pi * swing) ** 2
            at = here + swing * (there - here)
            yaw = yaw + swing * (next_yaw - yaw)
            ankles.append(np.array([at[0] + x * np.cos(yaw), at[1] + x * np.sin(yaw), z]))
            pitches.append(pitch)
            yaws.append(yaw)
            for i, (point, side) in enumerate(with_side(points)):
                if side == sign:
                    active[k, i] = phase < duty if point.position[0] > 0.0 else phase < 0.42
                    across = point.position[1] * np.array([-np.sin(yaw), np.cos(yaw)])
                    place[k, i] = sole_place(*(here + across), yaw, point.position[0])
        q.append(standing_pose(character, pelvis, Rotation.from_euler("Z", heading), ankles, pitches, yaws))
    q = np.array(q)
    end, heading = on_path(stride * strides)
    cycle = Cycle((end[0], end[1]), heading)
    return Motion(character, q, velocities(character, q), RATE, schedule_of(points, active, place), cycle)


def jump(rise=0.2, hang=1.0):
    """Squat, take off, fly, land and stand; flight lasts `hang` times as long as gravity allows."""
    character = Character.preset("muico29")
    height, low = THIGH + SHANK + ANKLE - 0.02, 0.22
    speed = np.sqrt(2.0 * 9.81 * rise)
    down, push, land, rest = 40, 30, 40, 30
    flight = round(hang * 2.0 * speed / 9.81 * RATE)
    top = height - 0.01
    z, foot = [], []
    z += [height - low * smooth(k / down) for k in range(down)]
    for k in range(push):  # from rest to the speed of take-off
        x = k / push
        T = push / RATE
        rise_of_push = top - (height - low)
        # cubic with the given end speed
        a, b = 3.0 * rise_of_push - speed * T, speed * T - 2.0 * rise_of_push
        z.append(height - low + a * x * x + b * x**3)
    for k in range(flight + 1):
        x = k / flight
        z.append(top + 4.0 * rise * x * (1.0 - x))
    for k in range(1, land):
        x, T = k / land, land / RATE
        # lands with the speed of the fall and comes to rest
        dip = -speed * T * x * (1.0 - x) ** 2
        z.append(top + dip)
    z += [top] * rest
    foot = np.zeros(len(z))
    first = down + push
    for k in range(flight + 1):
        x = k / flight
        foot[first + k] = 4.0 * rise * x * (1.0 - x)
    q, points = [], soles(character)
    active = np.ones((len(z), len(points)), bool)
    active[first + 1 : first + flight] = False
    for level, lift in zip(z, foot, strict=True):
        ankles = [np.array([0.0, s * HIP, ANKLE + lift]) for _, s in SIDES]
        q.append(standing_pose(character, np.array([0.0, 0.0, level]), Rotation.identity(), ankles, (0.0, 0.0)))
    q = np.array(q)
    place = np.array([sole_place(0.0, s * HIP, 0.0, p.position[0]) for p, s in with_side(points)])
    return Motion(
        character, q, velocities(character, q), RATE, schedule_of(points, active, np.tile(place, (len(z), 1, 1)))
    )


def hang(frames=120, swing=0.25):
    """Arms up, holding a bar with both hands, swinging to and fro."""
    character = Character.preset("muico29")
    tree = character.tree
    up = character.neutral()
    hands = []
    for side, _ in SIDES:
        start = tree.position_start[character.index(f"{side}_arm")]
        up[start : start + 4] = Rotation.from_euler("Y", -np.pi + 0.3).as_quat(scalar_first=True)
        elbow = tree.position_start[character.index(f"{side}_forearm")]
        up[elbow] = -0.4
        hands.append(ContactPoint(f"{side}_grip", character.index(f"{side}_hand"), (0.0, 0.0, -0.08), grab=True))
    grips = grip_places(character, up, hands)
    bar = grips.mean(axis=0)
    q = []
    for k in range(frames + 1):
        turn = Rotation.from_euler("Y", swing * np.sin(2.0 * np.pi * k / frames))
        pose = up.copy()
        pose[:3] = np.add(turn.apply(up[:3] - bar), (0.0, 0.0, 2.2))
        pose[3:7] = turn.as_quat(scalar_first=True)
        q.append(pose)
    q = np.array(q)
    places = grips - bar + (0.0, 0.0, 2.2)
    active = np.ones((frames + 1, 2), bool)
    schedule = schedule_of(hands, active, np.tile(places, (frames + 1, 1, 1)))
    return Motion(character, q, velocities(character, q), RATE, schedule)


def grip_places(character, q, hands):
    origin, orientation = body_poses(character, q)
    return np.array(
        [origin[h.body] + Rotation.from_quat(orientation[h.body], scalar_first=True).apply(h.position) for h in hands]
    )


def check_physics(reference, every, tolerance):
    """Every so manieth step leads to the next state under all its forces, help included."""
    points = reference.schedule.points
    bodies, local = [point.body for point in points], [point.position for point in points]
    for k in range(0, reference.steps, every):
        contacts = PointForces(bodies, local, reference.force[k])
        q, v = step(reference.character, reference.q[k], reference.v[k], reference.torque[k], 1 / RATE, contacts)
        np.testing.assert_allclose(q, reference.q[k + 1], atol=1e-9)
        np.testing.assert_allclose(v, reference.v[k + 1], atol=tolerance)
