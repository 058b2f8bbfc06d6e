# SPDX-License-Identifier: GPL-3.0-or-later
"""Motions whose contacts are known because they were made so: a root that glides over feet placed by construction."""

from functools import cache
from typing import NamedTuple

import numpy as np
from heft.core.character import Character
from heft.core.motion import fit
from heft.core.motion.fit import Trajectory
from heft.core.motion.prepare import prepare

from tests.core.motion.skeletons import CMU_ROLES, cmu

THIGH, SHANK, ANKLE, HIP = 0.245 * 1.75, 0.246 * 1.75, 0.045 * 1.75, 0.05 * 1.75  # of muico29
PERIOD, STANCE = 1.2, 0.72  # s
SPEED, ROOT_HEIGHT, LIFT = 1.0, 0.8, 0.12


class Walk(NamedTuple):
    character: Character
    trajectory: Trajectory
    stances: dict[str, list[tuple[float, float, float]]]  # by foot: from, to (s), and where the ankle is (x, m)


def glide(rate=120.0, seconds=4.0, slip=0.0, sink=0.0, heading=0.0):
    """muico29 walks along `heading`: the ankle stands still, flies on at constant speed, and stands again.

    While a foot stands it may `slip` (m/s) forward and `sink` (m) into the ground in the middle of its stance.
    """
    character = Character.preset("muico29")
    time = np.arange(round(seconds * rate) + 1) / rate
    q = np.tile(character.neutral(), (len(time), 1))
    q[:, 0], q[:, 2] = SPEED * time, ROOT_HEIGHT
    stances = {}
    tree = character.tree
    for side, offset in (("left", 0.0), ("right", 0.5 * PERIOD)):
        ankle, height = np.zeros(len(time)), np.full(len(time), ANKLE)
        stances[f"{side}_foot"] = []
        for step in range(-2, int(seconds / PERIOD) + 2):
            start = offset + step * PERIOD
            # under the hip in the middle of the stance
            place = SPEED * (start + 0.5 * STANCE)
            stands = (time >= start - 1e-9) & (time <= start + STANCE + 1e-9)
            within = (time - start)[stands] / STANCE
            ankle[stands] = place + slip * STANCE * (within - 0.5)
            height[stands] -= sink * np.sin(np.pi * within)
            flies = (time > start + STANCE) & (time < start + PERIOD)
            share = (time - start - STANCE)[flies] / (PERIOD - STANCE)
            ankle[flies] = place + SPEED * PERIOD * share
            height[flies] += LIFT * np.sin(np.pi * share)
            if stands.any():
                stances[f"{side}_foot"].append((max(start, 0.0), min(start + STANCE, time[-1]), place))
        bend(character, q, tree, side, ankle - q[:, 0], height - q[:, 2])
    turn(q, heading)
    return Walk(character, Trajectory(rate, q, fit.velocities(character, q, rate)), stances)


def bend(character, q, tree, side, forward, up):
    """Pitch hip, knee and ankle (closed form of two links): the ankle there, seen from the hip, and the foot level."""
    reach = np.hypot(forward, up)
    assert reach.max() < THIGH + SHANK
    knee = np.pi - np.arccos((THIGH**2 + SHANK**2 - reach**2) / (2.0 * THIGH * SHANK))
    lean = np.arctan2(-forward, -up)  # of the line from hip to ankle; pitch about +Y carries a leg backwards
    hip = lean - np.arctan2(SHANK * np.sin(knee), THIGH + SHANK * np.cos(knee))
    start = tree.position_start[character.index(f"{side}_thigh")]
    q[:, start], q[:, start + 1 : start + 4] = np.cos(0.5 * hip), 0.0
    q[:, start + 2] = np.sin(0.5 * hip)
    q[:, tree.position_start[character.index(f"{side}_shank")]] = knee
    q[:, tree.position_start[character.index(f"{side}_foot")]] = -(hip + knee)


def turn(q, heading):
    """Turn a trajectory, whose root is upright along X, about the vertical through the origin."""
    c, s = np.cos(heading), np.sin(heading)
    q[:, :2] = q[:, :2] @ np.array([[c, s], [-s, c]])
    q[:, 3:7] = (np.cos(0.5 * heading), 0.0, 0.0, np.sin(0.5 * heading))


@cache
def captured(name):
    """Character and trajectory of a real clip, by the start of its name."""
    found = prepare(cmu(name), CMU_ROLES)
    return found.plan.character, found.trajectory
