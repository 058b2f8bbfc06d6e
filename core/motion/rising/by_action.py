# SPDX-License-Identifier: GPL-3.0-or-later
"""The way up by an action: from how a body lies to the action's nearest pose, along it to its end, and to the goal.

The action is turned about the vertical and moved along the ground so that its pose lies where the body does.
"""

import itertools
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from scipy.ndimage import binary_closing, binary_opening, gaussian_filter1d, median_filter

from ...character import Character
from ...contact.terrain import Terrain
from ...dynamics import body_poses, difference
from ..cycle import Cycle
from ..quaternions import Array, rotate
from ..schedule import ContactPoint, Mask, contact_points, runs
from ..tracks import point_places
from .lying import bearing_points
from .rough import SLACK, STARTS, TOUCHES, Goal, Hold, Rough, ground_at, reached, sole, through, turned
from .ways import UP

TURNS = 2.0  # rad/s of the joint, or the body, that turns farthest on the way to the nearest pose
QUICKEST = 0.4  # s, of that way
LIES = 0.25  # of the way that its root rises, up to which an action lies
LEAVES = 0.5  # of the way from the action's end to the goal, after which the other foot leaves the ground
LEAP = 0.5  # s, less than half of which nothing need touch the ground
SMOOTH = 0.05  # s
SLOW = 0.3  # m/s of a point that stays where it is
SHORTEST = 0.1  # s, for which one does
FOLLOWS = 0.15  # s, over which the body follows feet that stay


class Nearest(NamedTuple):
    """The pose of an action that a body lies most like."""

    frame: int
    moved: Cycle  # of the action
    distance: float  # m, RMS over the bodies


def nearest(character: Character, q: Array, frames: Array) -> Nearest:
    """The pose (nq,) among frames (n, nq) whose bodies are least far, wherever that is and whichever way it faces.

    Heights count as they are over the ground that each is on; along the ground the best turn and shift are those of
    P. J. Schoenemann, "A generalized solution of the orthogonal Procrustes problem", 1966, in the plane.
    """
    here = body_poses(character, q)[0]
    there = np.array([body_poses(character, frame)[0] for frame in frames])
    middle, middles = here[:, :2].mean(axis=0), there[..., :2].mean(axis=1)
    a, b = here[:, :2] - middle, there[..., :2] - middles[:, None]
    turn = np.arctan2((b[..., 0] * a[:, 1] - b[..., 1] * a[:, 0]).sum(axis=1), (b * a).sum(axis=(1, 2)))
    c, s = np.cos(turn), np.sin(turn)
    laid = np.einsum("nij,nbj->nbi", np.stack((np.stack((c, -s), -1), np.stack((s, c), -1)), -2), b)
    height = here[:, 2] - here[:, 2].min(), there[..., 2] - there[..., 2].min(axis=1, keepdims=True)
    off = ((laid - a) ** 2).sum(axis=2) + (height[1] - height[0]) ** 2
    distance = np.sqrt(off.mean(axis=1))
    best = int(np.argmin(distance))
    x, y = (middle - Cycle((0.0, 0.0), float(turn[best])).move_points(np.append(middles[best], 0.0))[:2]).tolist()
    return Nearest(best, Cycle((x, y), float(turn[best])), float(distance[best]))


def put_down(character: Character, frames: Array, rate: float) -> Array:
    """An action (n, nq) on z = 0: who gets up lies, sits or stands on something all along, but for a leap.

    What is keyed by eye floats here and sinks there: no one height of a floor is right for it.
    """
    points = (*(point for point in contact_points(character) if point.foot), *bearing_points(character))
    lowest = (point_places(character, frames, points)[..., 2] - [point.radius for point in points]).min(axis=1)
    height = gaussian_filter1d(median_filter(lowest, round(LEAP * rate), mode="nearest"), SMOOTH * rate, mode="nearest")
    q = frames.copy()
    q[:, 2] -= height
    return q


def by_action(
    character: Character,
    terrain: Terrain,
    points: Sequence[ContactPoint],
    q: Array,
    goal: Goal,
    rate: float,
    slower: float,
    action: Array,
) -> Rough:
    """From positions (nq,) on; only what leads to the action and from it takes so many times the usual time."""
    found = nearest(character, q, action[: _rises(action)])
    frames = np.array([turned(character, one, found.moved) for one in action[found.frame :]])
    level = ground_at(terrain, np.append(q[:2], float(body_poses(character, q)[0][:, 2].min())))
    frames[:, 2] += level
    stays = _stays(character, terrain, points, frames, _still(character, points, frames, rate, level))
    frames[:, :2] += _shift(character, points, frames, stays, rate)
    seconds = max(float(np.abs(difference(character, q, frames[0])[3:]).max()) / TURNS, QUICKEST)
    times = [0.0, STARTS, STARTS + round(slower * seconds * rate) / rate]
    begun = through(character, [q, q, frames[0]], times, frames, rate)

    moved, height = _goal_at(character, terrain, points, frames[-1], goal, stays)
    ahead = np.array([turned(character, one, moved) for one in goal.q])
    ahead[:, 2] += height
    last = round(slower * UP * rate)
    ends = through(character, [frames[-1], ahead[0]], [0.0, last / rate], ahead, rate)

    first, count = len(begun), len(frames) - 1
    holds = []
    for i, start, stop, place in stays:
        name, to_end = points[i].name, stop == count
        if to_end and character.bodies[points[i].body].name == goal.foot and name in goal.points.names:
            known = goal.points.place[0, goal.points.names.index(name)]
            there = moved.move_points(known) + np.array([0.0, 0.0, height])
            holds.append(Hold(i, first + start, first + count + last, there))
        else:
            holds.append(Hold(i, first + start, first + stop + (round(LEAVES * last) if to_end else 0), place))
    whole = np.concatenate((begun, frames[:-1], ends, ahead))
    return Rough(whole, first + count + last, first + _lies(character, points, frames, level), holds, moved, height)


def _stays(
    character: Character, terrain: Terrain, points: Sequence[ContactPoint], frames: Array, still: Mask
) -> list[Hold]:
    """Where points come to rest, each where it is once those that rest already are where they stay."""
    begin = sorted((start, stop - 1, i) for i in range(len(points)) for start, stop in runs(still[:, i]))
    stays: list[Hold] = []
    for start, group in itertools.groupby(begin, key=lambda one: one[0]):
        pose, around = frames[start], [hold for hold in stays if hold.stop > start]
        if around:
            there = np.array([hold.place for hold in around])[None]
            own = [points[hold.point] for hold in around]
            pose = reached(character, pose[None], own, there, np.full(there.shape, SLACK))[0]
        for _, stop, i in group:
            place = point_places(character, pose[None], [points[i]])[0, 0]
            stays.append(Hold(i, start, stop, np.append(place[:2], ground_at(terrain, place) + points[i].radius)))
    return stays


def _still(character: Character, points: Sequence[ContactPoint], q: Array, rate: float, level: float) -> Mask:
    """Which points (n, np) of an action, which was made on level ground, stay where they are on it.

    As keyed by eye feet glide while they are all that it stands on.
    """
    place = point_places(character, q, points)
    low = place[..., 2] - [point.radius for point in points] - level < TOUCHES
    speed = np.linalg.norm(np.gradient(place, 1.0 / rate, axis=0), axis=2)
    still: Mask = low & (speed < SLOW)
    heavy = np.array([not point.foot for point in points])
    lacks: Mask = ~np.any(np.column_stack((still, low[:, heavy])), axis=1)
    still |= low & ~heavy & lacks[:, None]
    shortest = np.ones((round(SHORTEST * rate), 1), dtype=np.bool_)
    margin = len(shortest)
    padded = np.pad(still, ((margin, margin), (0, 0)), "edge")
    steady: Mask = np.asarray(binary_opening(binary_closing(padded, shortest), shortest), dtype=np.bool_)
    return steady[margin:-margin]


def _shift(
    character: Character, points: Sequence[ContactPoint], frames: Array, stays: Sequence[Hold], rate: float
) -> Array:
    """By how much (n, 2) the body is moved along the ground for what it stands on to stay."""
    if not stays:
        return np.zeros((len(frames), 2))
    total, count = np.zeros((len(frames), 2)), np.zeros(len(frames))
    for hold in stays:
        span = slice(hold.start, hold.stop + 1)
        total[span] += (hold.place - point_places(character, frames[span], [points[hold.point]])[:, 0])[:, :2]
        count[span] += 1.0
    known = np.flatnonzero(count)
    mean = total[known] / count[known, None]
    whole = np.column_stack([np.interp(np.arange(len(frames)), known, mean[:, k]) for k in range(2)])
    smooth: Array = gaussian_filter1d(whole, FOLLOWS * rate, axis=0, mode="nearest")
    return smooth


def _lies(character: Character, points: Sequence[ContactPoint], frames: Array, level: float) -> int:
    """How many frames of an action lie or sit: up to the last in which more than its feet are near the ground."""
    heavy = [point for point in points if not point.foot]
    low = point_places(character, frames, heavy)[..., 2] - [point.radius for point in heavy] - level < TOUCHES
    return int(np.flatnonzero(low.any(axis=1))[-1]) + 1 if low.any() else 0


def _goal_at(
    character: Character,
    terrain: Terrain,
    points: Sequence[ContactPoint],
    pose: Array,
    goal: Goal,
    stays: Sequence[Hold],
) -> tuple[Cycle, float]:
    """By what the goal is moved, to go on from an action's last pose with its foot where that stands, and how high."""
    facing = rotate(pose[3:7], np.array([1.0, 0.0, 0.0]))
    heading = float(np.arctan2(facing[1], facing[0]))
    own = [i for i, point in enumerate(points) if character.bodies[point.body].name == goal.foot]
    places = {hold.point: hold.place for hold in stays if hold.point in own}  # the last of each
    here = sole(character, points, goal.foot, pose)
    if len(places) == len(own):
        here = np.mean(list(places.values()), axis=0)
    there = sole(character, points, goal.foot, turned(character, goal.q[0], Cycle((0.0, 0.0), heading)))
    x, y = (here - there)[:2].tolist()
    return Cycle((x, y), heading), ground_at(terrain, here)


def _rises(action: Array) -> int:
    """How many frames of an action lie: from the last in which its root is low on, it rises for good."""
    height = action[:, 2]
    low = height < height.min() + LIES * max(float(height[-1] - height.min()), 0.0)
    return int(np.flatnonzero(low)[-1]) + 1 if low[:-1].any() else len(action) - 1
