# SPDX-License-Identifier: GPL-3.0-or-later
"""Tracks made of poses alone: nothing is optimised."""

import numpy as np
from heft.core.character.parts import Corner
from heft.core.control.track import Track
from heft.core.dynamics import body_poses
from heft.core.simulation import Grab

DT = 1.0 / 120.0


def soles(character):
    return [shape for shape in character.contacts if isinstance(shape, Corner)]


def held(character, q, points=(), grip=False):
    """Poses in which points (body, place) bear weight all along."""
    frames, count = len(q), len(points)
    return Track(
        DT,
        np.array(q),
        np.ones((frames, count), dtype=bool),
        np.tile((0.0, 0.0, 1.0), (frames, count, 1)),
        np.array([character.index(body) for body, _ in points], dtype=np.int64),
        np.array([place for _, place in points]).reshape(-1, 3),
        np.full(count, grip),
    )


def squatting(character, depth=0.1, frames=240):
    """Down and up again on flat feet, by hips, knees and ankles."""
    q = np.tile(character.neutral(), (frames + 1, 1))
    bend = np.sin(np.pi * np.arange(frames + 1) / frames) ** 2
    of = {b.name: int(character.tree.position_start[i]) for i, b in enumerate(character.bodies)}
    thigh, shank = (
        -character.bodies[character.index("left_shank")].position[2],
        -character.bodies[character.index("left_foot")].position[2],
    )
    for k, share in enumerate(bend):
        # both segments lean by the same height's worth: the hips stay over the ankles
        lean = np.arccos(1.0 - depth * share / (thigh + shank))
        hip = np.arcsin(shank / thigh * np.sin(lean))
        for side in ("left", "right"):
            start = of[f"{side}_thigh"]
            q[k, start : start + 4] = (np.cos(0.5 * hip), 0.0, -np.sin(0.5 * hip), 0.0)
            q[k, of[f"{side}_shank"]] = hip + lean
            q[k, of[f"{side}_foot"]] = -lean
        q[k, 2] -= thigh * (1.0 - np.cos(hip)) + shank * (1.0 - np.cos(lean))
    return held(character, q, [(shape.body, shape.position) for shape in soles(character)])


def hanging(character, height=2.6, frames=180):
    """Still, from both hands, arms up; and the grabs."""
    q = character.neutral()
    for side in ("left", "right"):
        start = int(character.tree.position_start[character.index(f"{side}_arm")])
        q[start : start + 4] = (0.0, 0.0, 1.0, 0.0)  # half a turn about Y: forward and up
    palm = (0.0, 0.0, -0.09)
    place, _ = body_poses(character, q)
    hands = [character.index(f"{side}_hand") for side in ("left", "right")]
    q[2] += height - place[hands, 2].mean() - 0.09
    points = [(f"{side}_hand", palm) for side in ("left", "right")]
    return held(character, [q] * frames, points, grip=True), [Grab(body, palm) for body, _ in points]
