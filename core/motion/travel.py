# SPDX-License-Identifier: GPL-3.0-or-later
"""Motion in place, as games and most libraries ship it: the speed is read off the standing foot, and put back.

A figure that walks in place slides its standing foot backwards at the speed at which it would go. Of the points of the
feet, those near their own lowest height that move on along the ground, alike from step to step, stand; the figure moves
on against them. Between steps, in the air, it goes on at the speed between those around. The motion carried along that
way is simulated, and what comes of it is brought back by the same way, so that a push still shows.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from scipy.linalg import solveh_banded
from scipy.ndimage import minimum_filter1d

from . import quaternions, roles
from .clip import Clip
from .quaternions import Array
from .resample import smoothed

Travel = Literal["auto", "in_place", "travelling"]

LOW = 0.04  # of the leg: points as near to their lowest height stand
HEEL = 0.06  # of the leg, behind the ankle
STRIDE = 0.6  # s: every foot stands at some time within it, before or after
CALM = 0.5  # of the speed: vertical speed of a point that stands
ALIKE = (0.6, 0.1)  # of the speed, by which a standing point's may differ from the figure's: at first, at last
ITERATIONS = 10
TRUNK, THIGHS, SHANKS, ARMS = 0.58, 0.20, 0.12, 0.10  # of the body's mass
SWAY = 12.0  # Hz
LAST, BEHIND, AHEAD = 3, 0.15, 0.03  # last steps; of the speed, by which what stands may differ at all, and forwards
STIFF, FULL_RATE = 1500.0, 120.0  # of the velocity against changing, at that many frames per second
SLOWEST = 0.2  # legs a second: a figure in place that is slower does not walk
STAYS = 0.25  # of the way: a figure that moves further than this by itself travels
KEEPS_ON = 0.3
STANDS, FEWEST = 0.1, 0.1  # of all frames so many need a point that stands, of a sprint too
STEADY = 1.0  # Hz: what sways faster than this, to and fro, goes nowhere
KNOT, AROUND = 0.25, 0.5  # s, within which the usual speed may change
NARROWEST = 0.15  # of the speed
MOST, STARTS, SHIFTS = 150, 12, 10  # samples, places and steps by which the densest velocity is found


@dataclass(frozen=True)
class Carried:
    """A clip that is carried along, and by what way."""

    clip: Clip
    way: Array  # (nf, 2) m, from the first frame on
    speed: float  # m/s, the usual one


def carry_along(clip: Clip, roles_of_bones: roles.Roles, travel: Travel = "auto") -> Carried | None:
    """The clip carried along, None where it travels by itself or stands. The clip is without damage, Z up."""
    if travel == "travelling" or len(clip.position) < 8:
        return None
    chains = roles.checked(roles_of_bones, clip.skeleton)
    velocity = _velocity(clip, chains)
    if velocity is None:
        return None
    way = np.zeros((len(velocity), 2))
    way[1:] = np.cumsum(0.5 * (velocity[1:] + velocity[:-1]), axis=0) / clip.rate
    length = float(np.linalg.norm(np.diff(way, axis=0), axis=1).sum())
    hips = clip.position[:, chains["pelvis"][0], :2]
    own = float(np.linalg.norm(np.ptp(hips, axis=0)))
    if travel == "auto" and own > STAYS * length:
        return None
    position = clip.position.copy()
    position[..., :2] += way[:, None]
    left = clip.position[:, chains["thigh.L"][0], :2] - clip.position[:, chains["thigh.R"][0], :2]
    if travel == "auto" and _keeps_on(velocity, left) < KEEPS_ON:
        return None
    speed = float(np.median(np.linalg.norm(velocity, axis=1)))
    return Carried(replace(clip, position=position), way, speed)


def _keeps_on(velocity: Array, left: Array) -> float:
    """How much of its speed a figure goes the same way all along, by its own left and right: who swings turns back."""
    left = left / np.maximum(np.linalg.norm(left, axis=1, keepdims=True), 1e-9)
    aside, ahead = np.sum(velocity * left, axis=1), velocity[:, 0] * left[:, 1] - velocity[:, 1] * left[:, 0]
    going = float(np.linalg.norm(velocity, axis=1).mean())
    return float(np.hypot(aside.mean(), ahead.mean())) / max(going, 1e-9)


def _velocity(clip: Clip, chains: Mapping[str, tuple[int, ...]]) -> Array | None:
    """The velocity (nf, 2) of a figure over the points of its feet that stand, None where none does steadily.

    Least squares, reweighted: low points that move as the figure goes on against them count, the fewer the more they
    stray, by a measure that narrows; between them the velocity changes as little as it can.
    """
    points, trust, leg = _points(clip, chains)
    speeds = np.gradient(points, axis=0) * clip.rate
    # in place a floor that is tilted along the way sinks or rises in time
    around = 2 * round(STRIDE * clip.rate) + 1
    height = points[..., 2] - minimum_filter1d(points[..., 2], around, axis=0, mode="nearest")
    nearness = trust * np.exp(-((height / (LOW * leg)) ** 2))
    sway = _sway(clip, chains)
    velocity = _usual(speeds, nearness, clip.rate)
    if np.median(np.linalg.norm(velocity, axis=1)) < SLOWEST * leg:
        return None
    weight = nearness
    for narrow in np.geomspace(*ALIKE, ITERATIONS):
        size = np.maximum(np.linalg.norm(velocity, axis=1), SLOWEST * leg)[:, None]
        stray = np.linalg.norm(speeds[..., :2] - velocity[:, None], axis=2) / (narrow * size)
        weight = nearness * np.exp(-(stray**2) - (speeds[..., 2] / (CALM * size)) ** 2)
        velocity = _smoothest(weight, speeds[..., :2], sway, clip.rate)
    for _ in range(LAST):
        size = np.maximum(np.linalg.norm(velocity, axis=1), SLOWEST * leg)[:, None]
        off = speeds[..., :2] - velocity[:, None]
        ahead = -np.einsum("npk,nk->np", off, velocity / size) / size  # as it goes, and not as it glides back
        stray = np.linalg.norm(off, axis=2) / (BEHIND * size)
        rolls = np.exp(-np.maximum(ahead, 0.0) / AHEAD)
        weight = nearness * rolls * np.exp(-(stray**2) - (speeds[..., 2] / (CALM * size)) ** 2)
        velocity = _smoothest(weight, speeds[..., :2], sway, clip.rate)
    goes = np.median(np.linalg.norm(smoothed(velocity, clip.rate, STEADY), axis=1)) > SLOWEST * leg
    return -velocity if goes and (weight.sum(axis=1) > STANDS).mean() > FEWEST else None


def _smoothest(weights: Array, speeds: Array, sway: Array, rate: float) -> Array:
    """The velocity v (nf, 2) that makes sum w |v - u|^2 + (second differences of v - s)^2 least.

    `weights` w (nf, points) are those of the points' speeds u (nf, points, 2). A body's centre of mass changes its
    speed as little as it can, and in the air not at all: `sway` s (nf, 2) is what it does against the hips that stay.
    """
    weight = weights.sum(axis=1)
    weighted = np.einsum("np,npk->nk", weights, speeds - sway[:, None])
    count = len(weight)
    stiff = STIFF * (rate / FULL_RATE) ** 4
    bands = np.zeros((3, count))
    ones = np.ones(count)
    ones[[0, -1]] = 0.0
    # D^T D of second differences, upper bands
    middle = 4.0 * ones
    middle[:-1] += ones[1:]
    middle[1:] += ones[:-1]
    bands[2] = stiff * middle + weight + 1e-9
    bands[1, 1:] = -2.0 * stiff * (ones[:-1] + ones[1:])
    bands[0, 2:] = stiff * ones[1:-1]
    result: Array = sway + solveh_banded(bands, weighted)
    return result


def _sway(clip: Clip, chains: Mapping[str, tuple[int, ...]]) -> Array:
    """The horizontal velocity (nf, 2) of the middle of the body's mass, by rough shares of its parts."""
    sides = roles.SIDES
    hips, knees, ankles = (
        np.mean([clip.position[:, chains[f"{part}.{side}"][0]] for side in sides], axis=0)
        for part in ("thigh", "shin", "foot")
    )
    above = next((role for role in ("neck", "head", "chest", "spine") if role in chains), "pelvis")
    parts = [(TRUNK, 0.5 * (hips + clip.position[:, chains[above][0]]))]
    parts += [(THIGHS, 0.5 * (hips + knees)), (SHANKS, 0.5 * (knees + ankles))]
    if all(f"forearm.{side}" in chains for side in sides):
        parts.append((ARMS, np.mean([clip.position[:, chains[f"forearm.{side}"][0]] for side in sides], axis=0)))
    whole = sum(share for share, _ in parts)
    middle = sum((share / whole * place[:, :2] for share, place in parts), np.zeros((len(hips), 2)))
    result: Array = smoothed(np.gradient(middle, axis=0) * clip.rate, clip.rate, SWAY)
    return result


def _usual(speeds: Array, nearness: Array, rate: float) -> Array:
    """The horizontal velocity (nf, 2) that low points have most around each frame: where theirs are densest."""
    frames = np.arange(len(speeds))
    sample, point = np.nonzero(nearness > 0.1)
    if len(sample) < 8:
        return np.zeros((len(frames), 2))
    found, low = speeds[sample, point, :2], nearness[sample, point]
    fast = float(np.percentile(np.linalg.norm(found, axis=1), 75.0))
    width = max(NARROWEST * fast, 0.05)
    knots = np.linspace(0.0, len(frames) - 1.0, max(2, round(len(frames) / rate / KNOT) + 1))
    modes: list[Array] = []
    for knot in knots:
        inside = np.flatnonzero(np.abs(sample - knot) < 3.0 * AROUND * rate)
        if len(inside) < 8:
            modes.append(modes[-1] if modes else found.mean(axis=0))
            continue
        inside = inside[:: max(1, len(inside) // MOST)]
        near = low[inside] * np.exp(-(((sample[inside] - knot) / (AROUND * rate)) ** 2))
        here = found[inside]
        centres = here[:: max(1, len(here) // STARTS)]
        for _ in range(SHIFTS):
            pull = near * np.exp(-np.sum((here - centres[:, None]) ** 2, axis=2) / width**2) + 1e-12
            centres = pull @ here / pull.sum(axis=1, keepdims=True)
        modes.append(centres[int(np.argmax(pull.sum(axis=1)))])
    return np.column_stack([np.interp(frames, knots, np.array(modes)[:, k]) for k in range(2)])


def _points(clip: Clip, chains: Mapping[str, tuple[int, ...]]) -> tuple[Array, Array, float]:
    """Heels, balls and tips of both feet (nf, 6, 3) or fewer, how far each is to be believed, and a leg's length.

    A foot comes down on its heel, stands on its ball, and leaves over its tip.
    """
    skeleton = clip.skeleton
    points, trust = [], []
    leg = 0.0
    for side in roles.SIDES:
        foot, toe = chains[f"foot.{side}"], chains.get(f"toe.{side}", ())
        hip, knee = (clip.position[:, chains[f"{part}.{side}"][0]] for part in ("thigh", "shin"))
        ankle = clip.position[:, foot[0]]
        leg += 0.5 * float(np.median(np.linalg.norm(knee - hip, axis=1) + np.linalg.norm(ankle - knee, axis=1)))
        last = (toe or foot)[-1]
        reach = skeleton.tail[last] - skeleton.head[last]
        local = quaternions.rotate(quaternions.conjugate(skeleton.orientation[last]), reach)
        tip = clip.position[:, last] + quaternions.rotate(clip.orientation[:, last], local)
        ball = clip.position[:, toe[0]] if toe else tip
        points += [_heel(ankle, ball, clip.orientation[:, foot[0]], leg), ball, *([tip] if toe else [])]
        trust += [1.0] * (3 if toe else 2)
    return np.stack(points, axis=1), np.array(trust), leg


def _heel(ankle: Array, ball: Array, turn: Array, leg: float) -> Array:
    """Where the heel is (nf, 3): behind the ankle, as low as the ball when the foot lies as flat as it ever does."""
    low = [np.abs(place[:, 2] - np.percentile(place[:, 2], 10.0)) for place in (ankle, ball)]
    flat = np.argsort(low[0] + low[1])[: max(3, len(ankle) // 10)]
    back = quaternions.conjugate(turn[flat])
    up = np.median(quaternions.rotate(back, np.array([0.0, 0.0, 1.0])), axis=0)
    up /= max(float(np.linalg.norm(up)), 1e-9)
    ahead = np.median(quaternions.rotate(back, ball[flat] - ankle[flat]), axis=0)
    drop = float(ahead @ up)
    forward = ahead - drop * up
    forward /= max(float(np.linalg.norm(forward)), 1e-9)
    result: Array = ankle + quaternions.rotate(turn, drop * up - HEEL * leg * forward)
    return result
