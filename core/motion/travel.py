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

from . import quaternions, roles
from .clip import Clip
from .quaternions import Array
from .resample import smoothed

Travel = Literal["auto", "in_place", "travelling"]

LOW = 0.04  # of the leg: points as near to their lowest height stand
ANKLE = 0.1  # how far an ankle is to be believed
CALM = 0.5  # of the speed: vertical speed of a point that stands
ALIKE = (0.6, 0.1)  # of the speed, by which a standing point's may differ from the figure's: at first, at last
ITERATIONS = 10
STIFF, FULL_RATE = 1000.0, 120.0  # of the velocity against changing, at that many frames per second
SLOWEST = 0.35  # legs a second: a figure in place that is slower does not walk
STAYS = 0.25  # of the way: a figure that moves further than this by itself travels
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
    speed = float(np.median(np.linalg.norm(velocity, axis=1)))
    return Carried(replace(clip, position=position), way, speed)


def _velocity(clip: Clip, chains: Mapping[str, tuple[int, ...]]) -> Array | None:
    """The velocity (nf, 2) of a figure over the points of its feet that stand, None where none does steadily.

    Least squares, reweighted: low points that move as the figure goes on against them count, the fewer the more they
    stray, by a measure that narrows; between them the velocity changes as little as it can.
    """
    points, trust, leg = _points(clip, chains)
    speeds = np.gradient(points, axis=0) * clip.rate
    height = points[..., 2] - np.percentile(points[..., 2], 3.0, axis=0)
    nearness = trust * np.exp(-((height / (LOW * leg)) ** 2))
    velocity = _usual(speeds, nearness, clip.rate)
    if np.median(np.linalg.norm(velocity, axis=1)) < SLOWEST * leg:
        return None
    weight = nearness
    for narrow in np.geomspace(*ALIKE, ITERATIONS):
        size = np.maximum(np.linalg.norm(velocity, axis=1), SLOWEST * leg)[:, None]
        stray = np.linalg.norm(speeds[..., :2] - velocity[:, None], axis=2) / (narrow * size)
        weight = nearness * np.exp(-(stray**2) - (speeds[..., 2] / (CALM * size)) ** 2)
        velocity = _smoothest(np.einsum("np,npk->nk", weight, speeds[..., :2]), weight.sum(axis=1), clip.rate)
    goes = np.median(np.linalg.norm(smoothed(velocity, clip.rate, STEADY), axis=1)) > SLOWEST * leg
    return -velocity if goes and (weight.sum(axis=1) > STANDS).mean() > FEWEST else None


def _smoothest(weighted: Array, weight: Array, rate: float) -> Array:
    """The velocity v (nf, 2) that makes sum w |v - u|^2 + (second differences of v)^2 least; `weighted` is w u."""
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
    result: Array = solveh_banded(bands, weighted)
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
    """Ankles, balls and tips of both feet (nf, 6, 3) or fewer, how far each is to be believed, and a leg's length.

    An ankle rolls forward over a foot that stands; ball and tip stay where they are.
    """
    skeleton = clip.skeleton
    bones = []
    leg = 0.0
    for side in roles.SIDES:
        foot, toe = chains[f"foot.{side}"], chains.get(f"toe.{side}", ())
        bones += [foot[0], *toe[:1]]
        hip, knee = (clip.position[:, chains[f"{part}.{side}"][0]] for part in ("thigh", "shin"))
        ankle = clip.position[:, foot[0]]
        leg += 0.5 * float(np.median(np.linalg.norm(knee - hip, axis=1) + np.linalg.norm(ankle - knee, axis=1)))
    heads = clip.position[:, bones]
    last = [(chains.get(f"toe.{side}") or chains[f"foot.{side}"])[-1] for side in roles.SIDES]
    tips = []
    for bone in last:
        reach = skeleton.tail[bone] - skeleton.head[bone]
        local = quaternions.rotate(quaternions.conjugate(skeleton.orientation[bone]), reach)
        tips.append(clip.position[:, bone] + quaternions.rotate(clip.orientation[:, bone], local))
    balls = [chains.get(f"toe.{side}", ())[:1] for side in roles.SIDES]
    trust = np.array([1.0 if (bone,) in balls else ANKLE for bone in bones] + [1.0, 1.0])
    return np.concatenate([heads, np.stack(tips, axis=1)], axis=1), trust, leg
